"""How an arm on wheels stands in a pose: what each wheel carries, how far it is to tipping, what the ground allows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..border.arguments import real
from ..errors import InputError
from .console import print_json, say, show_table
from .options import numbers, refuse_given, turning

if TYPE_CHECKING:
    import numpy as np

    from ..border.kinds import Json
    from ..mobile.admissibility import Admissibility
    from ..mobile.limits import EmergencyStop, MobileLimits
    from ..mobile.robot import MobileManipulator

_NAMES = ("fx", "fy", "fz", "mx", "my", "mz")


@dataclass(frozen=True, slots=True, eq=False)
class Posed:
    """What acts on the robot and what is asked about it."""

    load: np.ndarray
    payload: float
    gravity: np.ndarray
    stop_from: float | None
    adhesion: float | None
    contact: str
    given: bool  # whether anything but the state was given
    slope: tuple[float, float]  # [degrees] nose up, left side up

    def push(self, robot: MobileManipulator, q: list[float]) -> np.ndarray:
        """Load on the tool with the weight of the payload, axes of the tool."""
        import numpy as np

        from ..mobile.outline import arm_frames

        still = np.array(q, float)
        still[:3] = 0.0
        R = arm_frames(robot, still)[-1][:3, :3]
        weight = self.payload * (R.T @ self.gravity)
        push: np.ndarray = self.load + np.concatenate([weight, np.zeros(3)])
        return push

    @property
    def told(self) -> str:
        """What acts on the robot, in a sentence."""
        up, left = self.slope
        parts = [f"{self.payload:g} kg at the tool"] if self.payload else []
        parts += ["a load on the tool"] if self.load.any() else []
        parts += [f"a slope of {up:g}° nose up and {left:g}° left side up"] if up or left else []
        return (
            f"With {', '.join(parts)}." if parts else "On level ground, with nothing at the tool."
        )


def asked_of(
    robot: MobileManipulator,
    acting: tuple[str | None, float | None, str | None],
    stop_from: float | None,
    adhesion: float | None,
    contact: str,
) -> Posed:
    """The options as numbers. acting: load, payload, slope as written."""
    import numpy as np

    from ..mobile.sharing import contact_word

    load, payload, slope = acting
    push = [0.0] * 6 if load is None else numbers("--load", load, 6, _NAMES, ())
    up, left = 0.0, 0.0
    if slope is not None:
        count = 2 if "," in slope else 1
        angles = numbers(
            "--slope", slope, count, ("nose up", "left side up")[:count], (True,) * count
        )
        up, left = (*angles, 0.0)[:2]
    if math.hypot(math.tan(up), math.tan(left)) > 1e3 or max(abs(up), abs(left)) >= math.pi / 2:
        raise InputError(f"--slope is {slope}; give angles below 90deg, such as 5deg")
    down = np.array([-math.tan(up), -math.tan(left), -1.0])
    gravity = robot.gravity * down / np.linalg.norm(down)
    if stop_from is not None:
        real("--stop-from", stop_from, "a speed above 0 m/s", lambda x: 0 < x < math.inf)
    given = any(x is not None for x in (load, payload, slope, stop_from))
    steep = math.degrees(up), math.degrees(left)
    way = contact_word(contact)
    return Posed(np.array(push), payload or 0.0, gravity, stop_from, adhesion, way, given, steep)


def posed(
    robot: MobileManipulator, q: list[float], q0: str | None, pose: str | None
) -> list[float]:
    """Coordinates with the arm in a pose."""
    if pose is None:
        return q
    refuse_given("and --pose both say where the arm is; leave one out", {"--q0": q0})
    names = robot.arm.joint_names
    return [
        *q[: len(q) - len(names)],
        *numbers("--pose", pose, len(names), names, turning(robot.arm)),
    ]


def stand(
    robot: MobileManipulator,
    q: list[float],
    z: list[float],
    tau: list[float] | None,
    locked: bool,
    asked: Posed,
    as_json: bool,
    html: str | None = None,
) -> int:
    """The ground under one state, the arm held, or with inputs tau."""
    if tau is not None:
        refuse_given(
            "is the page of a held arm or of a motion; leave --torque out", {"--html": html}
        )
        if asked.given:
            raise InputError(
                "--torque asks for a motion of its own; --load, --payload, --slope and --stop-from are about a held arm"
            )
        _moved(robot, q, z, tau, locked, asked, as_json)
        return 0
    push = asked.push(robot, q)
    rest = [0.0] * len(z)
    ground = robot.ground(q, z, rest, asked.gravity, push, asked.contact)
    limits, stop = _allowed(robot, q, z, asked, push)
    if html is not None:
        _write_page(robot, (q, z, push), asked, (limits, stop), html)
    judged = None
    if asked.adhesion is not None and not asked.given:
        inputs = robot.inverse_dynamics(q, z, rest)
        judged = robot.admissible(q, z, inputs, asked.adhesion, contact=asked.contact)
    if as_json:
        data = _data(robot, ground.forces, float(ground.measure), ground.status)
        data["admissible"] = None if judged is None else bool(judged)
        data["degrees_to_tip"] = float(ground.degrees)
        data["contact"] = asked.contact
        data["limits"] = None if limits is None else _limits_data(limits)
        data["stop"] = None if stop is None else {k: getattr(stop, k) for k in _STOP}
        data["files"] = [] if html is None else [html]
        print_json(data)
        return 0
    show_names(robot)
    show_forces(robot, ground.forces, ground.friction)
    say(ground.status)
    _show_judged(judged)
    _show_allowed(limits, stop, asked)
    if html is not None:
        say(f"wrote {html}")
    return 0


def _show_allowed(limits: MobileLimits | None, stop: EmergencyStop | None, asked: Posed) -> None:
    if limits is not None:
        say()
        say(f"What the ground allows at a friction of {asked.adhesion:g}, arm held", "bold")
        for line in str(limits).splitlines():
            say(f"  {line}")
    if stop is not None:
        say(f"stop: {stop.status}")


_STOP = ("speed", "deceleration", "time", "distance", "by", "contact", "status")


def _allowed(
    robot: MobileManipulator, q: list[float], z: list[float], asked: Posed, push: np.ndarray
) -> tuple[MobileLimits | None, EmergencyStop | None]:
    """Limits where a friction coefficient is given, and the stop, for which 0.6 is taken without one."""
    limits, stop = None, None
    if asked.adhesion is not None:
        acting = (asked.adhesion, asked.gravity, push, asked.contact)
        limits = robot.limits(q, z, *acting)
    if asked.stop_from is not None:
        if asked.adhesion is None:
            raise InputError("--stop-from needs --adhesion, the friction coefficient of the ground")
        acting = (asked.adhesion, asked.gravity, push, asked.contact)
        stop = robot.emergency_stop(q, asked.stop_from, *acting)
    return limits, stop


def _write_page(
    robot: MobileManipulator,
    state: tuple[list[float], list[float], np.ndarray],
    asked: Posed,
    allowed: tuple[MobileLimits | None, EmergencyStop | None],
    html: str,
) -> None:
    """The page of a held arm. state: q, z, load on the tool."""
    import numpy as np

    from ..mobile.limits import UNITS
    from ..mobile.outline import outline, platform_pose
    from ..mobile.sharing import CONTACTS, below
    from ..report.standing import Standing, standing_page

    q, z, push = state
    ways = [asked.contact, *(way for way in CONTACTS if way != asked.contact)]
    ways = ways[:1] if robot.support.determinate else ways
    rest = [0.0] * len(z)
    grounds = {way: robot.ground(q, z, rest, asked.gravity, push, way) for way in ways}
    up, about_x, about_y = below(robot, grounds[ways[0]].load)
    here = np.array([-about_y / up, about_x / up, 0.0, 1.0]) if up > 0 else np.full(4, np.nan)
    point = (platform_pose(np.array(q)) @ here)[:2]
    carried = None
    if asked.adhesion is not None:
        carried = robot.payload_map(asked.adhesion, gravity=asked.gravity, count=1000)
    shown = Standing(
        outline(robot, np.array(q)),
        grounds,
        point,
        *allowed,
        carried,
        asked.adhesion,
        UNITS,
        asked.told,
    )
    standing_page(robot, shown, html)


def _limits_data(limits: MobileLimits) -> Json:
    from ..mobile.limits import UNITS

    values = {name: float(getattr(limits, name)) for name in UNITS}
    return {"values": values, "units": UNITS, "by": limits.by, "others": limits.others}


def _moved(
    robot: MobileManipulator,
    q: list[float],
    z: list[float],
    tau: list[float],
    locked: bool,
    asked: Posed,
    as_json: bool,
) -> None:
    """The ground under a state with given inputs."""
    contact = robot.contact(q, z, tau, locked=locked, contact=asked.contact)
    judged = None
    if asked.adhesion is not None:
        judged = robot.admissible(q, z, tau, asked.adhesion, locked=locked, contact=asked.contact)
    if as_json:
        measure = float(contact.tipover.measure)
        data = _data(robot, contact.forces, measure, contact.status)
        data["degrees_to_tip"] = float(contact.tipover.degrees)
        data["contact"] = contact.contact
        data["admissible"] = None if judged is None else bool(judged)
        print_json(data)
        return
    show_names(robot)
    show_forces(robot, contact.forces, contact.friction_needed)
    say(contact.status)
    _show_judged(judged)


def _show_judged(judged: Admissibility | None) -> None:
    """The rows of (9), where they were asked for."""
    for line in () if judged is None else str(judged).splitlines():
        say(line)


def _data(robot: MobileManipulator, forces: np.ndarray, measure: float, status: str) -> Json:
    return {
        "robot": robot.name,
        "coordinates": robot.coordinate_names,
        "speeds": robot.speed_names,
        "inputs": robot.input_names,
        "mobility": robot.mobility,
        "wheel_forces": dict(zip(robot.wheel_names, forces.tolist(), strict=True)),
        "tipover_measure": measure,
        "status": status,
    }


def show_names(robot: MobileManipulator) -> None:
    """What the robot is, and what its arrays hold."""
    say(robot.name, "bold")
    for word, names in (
        ("coordinates q", robot.coordinate_names),
        ("speeds z", robot.speed_names),
        ("inputs tau", robot.input_names),
    ):
        say(f"  {word}: {', '.join(names)}")
    say(f"  {robot.mobility}")
    say()


def show_forces(robot: MobileManipulator, forces: np.ndarray, needed: np.ndarray) -> None:
    """The ground forces as a table, with the part of the load that each wheel has."""
    whole = float(forces[:, 2].sum())
    rows = [
        [*row, f"{100 * up / whole:.1f}" if whole > 0 else "-"]
        for row, up in zip(wheel_rows(robot, forces, needed), forces[:, 2], strict=True)
    ]
    heads = ["wheel", "rolling", "axle", "up", "friction needed", "% of load"]
    show_table("Ground forces [N]", heads, rows)


def wheel_rows(robot: MobileManipulator, forces: np.ndarray, needed: np.ndarray) -> list[list[str]]:
    """Forces of each wheel and the friction coefficient that holds it."""
    return [
        [name, *(f"{round(float(x), 2) + 0.0:.2f}" for x in force), f"{mu:.3f}"]
        for name, force, mu in zip(robot.wheel_names, forces, needed, strict=True)
    ]
