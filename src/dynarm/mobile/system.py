"""A mobile manipulator as a system that the simulator moves, and the conditions of rolling that it watches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..algebra.vectors import Scalar
from ..graph.graph import Port
from ..machine.load.march import March
from ..simulation.events import Event
from ..simulation.inputs import Failed
from ..simulation.memory import Memory
from ..simulation.plant import SPEEDS
from ..simulation.system import Body, Layout, Linear, Rates, Switching, compiled
from .constraints import forwardness
from .run import RollingEvent
from .stability import tip_angles

if TYPE_CHECKING:
    from .robot import MobileManipulator

SINGULAR_STEERING = "singular steering"
Drives = Callable[[float, np.ndarray, np.ndarray], Sequence[np.ndarray]]


@dataclass(frozen=True, eq=False)
class RollingSystem:
    """Coordinates q, independent speeds z, inputs tau and a load on the end effector; every wheel rolls."""

    robot: MobileManipulator
    locked: bool = False  # the steering column is held

    @property
    def layout(self) -> Layout:
        f = self.robot.formulas
        return Layout(f.coordinates, f.n, f.inputs, 6)

    @property
    def extras(self) -> tuple[np.ndarray, ...]:
        return ()

    @property
    def speed_limits(self) -> list[float]:
        joints = self.robot.arm.joints
        return [
            *(SPEEDS[name != "v"] for name in self.robot.guidance.speeds),
            *(joint.velocity_limit or SPEEDS[joint.revolute] for joint in joints),
        ]

    @property
    def normalised(self) -> Callable[[Sequence[Scalar]], Sequence[Scalar]] | None:
        return None

    @property
    def memory(self) -> Memory | None:
        return None

    @property
    def linear(self) -> Callable[[np.ndarray, np.ndarray, np.ndarray], Linear] | None:
        return None

    def flow(self) -> Rates:
        layout, formulas = self.layout, self.robot.formulas

        def rates(x: Scalar, tau: Scalar, load: Scalar) -> list[Scalar]:
            return formulas.flow(x[layout.q], x[layout.qd], tau, load, self.locked)

        return rates

    def compiled(
        self, name: str, inputs: Sequence[Port], outputs: Sequence[Port], body: Body
    ) -> March:
        robot = self.robot
        key = f"mobile_{name}" + "_locked" * self.locked, self.locked
        return compiled(robot.marches, key, robot.formulas.recipe, (inputs, outputs), body)

    def switching(self, slack: float) -> Switching | None:
        return None

    def mass_matrix(self, q: np.ndarray) -> np.ndarray:
        """Of the speeds that are free; the same at every speed."""
        M = self.robot.functions["equations"](q, np.zeros(self.layout.speeds))[0]
        free = self.robot.formulas.free(self.locked)
        part: np.ndarray = M[..., free, :][..., free]
        return part

    def sample(self, k: int) -> RollingSystem:
        return self


@dataclass(slots=True, eq=False)
class Watch:
    """Margins of contact and adhesion on the way.

    Contact: the vertical force of each wheel where three carry the robot; with more, the tip-over angle about each
    side of the support polygon, for a wheel may be lifted while the robot stands. Adhesion: with vertical forces as
    springs share them (contact elastic), axle forces by the minimum-norm split.
    """

    system: RollingSystem
    friction: np.ndarray | None  # coefficient of each wheel against which adhesion is watched
    stop: bool = False  # the first loss ends the run
    drives: Drives | None = None  # inputs and load of the run that is watched

    def labels(self) -> list[tuple[str, str, int]]:
        """Kind, wheel (or axis) and place of every margin."""
        robot, names = self.system.robot, self.system.robot.wheel_names
        if robot.support.determinate:
            contact = list(names)
        else:
            contact = [f"{names[a]}-{names[b]}" for a, b in robot.support.axes]
        labels = [("contact", name, k) for k, name in enumerate(contact)]
        if self.friction is not None:
            labels += [
                ("adhesion", names[j], len(contact) + j)
                for j in dict.fromkeys(robot.formulas.rolling)
            ]
        return labels

    def margins(self, times: Sequence[float], q: np.ndarray, z: np.ndarray) -> np.ndarray:
        """(states, margins): what contact and adhesion leave; negative where they are lost."""
        robot = self.system.robot
        assert self.drives is not None
        each = [self.drives(*state) for state in zip(times, q, z, strict=True)]
        given = (np.array(column) for column in zip(*each, strict=True))
        outputs = robot.functions[self.control](q, z, *given)
        forces, ground = outputs[5], outputs[6]
        contact: np.ndarray = forces[..., 2]
        if not robot.support.determinate:
            contact = tip_angles(robot.support, ground[..., :3], ground[..., 3:])
        if self.friction is None:
            return contact
        grip = self.friction * forces[..., 2] - np.hypot(forces[..., 0], forces[..., 1])
        return np.concatenate([contact, grip], axis=-1)

    def values(
        self, times: Sequence[float], q: np.ndarray, z: np.ndarray
    ) -> Sequence[Sequence[float]]:
        """The margins behind each of the events, all from one call of the kernel."""
        columns = self.margins(times, q, z).T
        if not np.isfinite(columns).all():
            raise Failed(f"the wheel forces are no longer finite near t = {times[0]:.6g} s")
        rows = [columns[k].tolist() for *_, k in self.labels() for _ in self.sides]
        if self.system.robot.guidance.steered:
            rows.append([self.ahead(*state) for state in zip(times, q, z, strict=True)])
        return rows

    def ahead(self, t: float, q: np.ndarray, z: np.ndarray) -> float:
        """What changes its sign where the steering angle is singular."""
        robot = self.system.robot
        return float(forwardness(robot.guidance, robot.platform.steering, float(q[3])))

    @property
    def sides(self) -> tuple[bool, ...]:
        """What is told of a margin: that it is lost and, unless that ends the run, that it is found again."""
        return (True,) if self.stop else (True, False)

    @property
    def control(self) -> str:
        """The function that gives the forces."""
        held = self.system.locked and self.system.robot.guidance.steered
        return "control:locked" if held else "control"

    def events(self) -> list[Event]:
        """What is lost and found again; of a steered platform also the singular angle."""
        events = []
        for kind, name, k in self.labels():

            def margin(t: float, q: np.ndarray, z: np.ndarray, k: int = k) -> float:
                return float(self.margins([t], q[None], z[None])[0, k])

            for lost in self.sides:
                words, direction = _words(kind, name, lost), -1.0 if lost else 1.0
                events.append(Event(words, margin, self.stop, direction))
        if self.system.robot.guidance.steered:
            events.append(Event(SINGULAR_STEERING, self.ahead, True))
        return events

    def told(self, happened: Sequence[tuple[float, str]]) -> list[RollingEvent]:
        """The events of a run as records, by time."""
        records = {
            _words(kind, name, lost): (kind, name, lost)
            for kind, name, _ in self.labels()
            for lost in self.sides
        }
        return [RollingEvent(t, *records[words]) for t, words in sorted(happened)]


def _words(kind: str, wheel: str, lost: bool) -> str:
    return f"{wheel} {'loses' if lost else 'finds'} {kind}"
