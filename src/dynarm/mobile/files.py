"""Mobile manipulators by name or path: the built-in catalogue, TOML in and out.

name = "..."        source = "where the numbers come from"        gravity = 9.81
[platform]          mass, inertia (diagonal or 3x3), height, steering = { x, y, axle }
[[wheels]]          name, x, y, radius, mass, kind, angle, ratio, spin, turn, driven, rolling, swivel, stiffness,
                    roller, trail, slide
[base]              mass, com, inertia, mount (4x4, or position = [x, y, z] with yaw)
arm = "puma560"     a built-in arm or a path, or a table [arm] as in an arm's own TOML file
[[arms]]            in its place, for several: arm, and where it stands in {v}: mount, or position with yaw

urdf = "tiago.urdf" in place of platform, base and arm; tip = "link"; wheels = ["joint", ...], { joint = "caster" } or
                    [[wheels]] where they are not recognised
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping
from dataclasses import fields, replace
from importlib import resources
from pathlib import Path

import numpy as np

from ..border.arguments import flag, number, numbers, path_of
from ..border.files import content, named
from ..border.kinds import Outside
from ..border.toml import known_keys, tables
from ..border.toml_text import toml_lines, toml_value
from ..border.words import shown
from ..border.written import drafted
from ..errors import DynarmError, FileError, FormatError, InputError, KindError, UnknownName
from ..robot.arm import Arm, Friction
from ..robot.formats.toml_file import arm_of_table, write_toml
from .platform import Base, Platform, Steering, Wheel
from .robot import MobileManipulator

MAX_BYTES = 4 * 2**20
MAX_URDF = 16 * 2**20
_TOP = (
    *("name", "source", "gravity", "friction", "platform", "wheels", "base", "arm", "arms"),
    *("urdf", "tip"),
)
_HEADER = re.compile(r"(\[\[?)([A-Za-z_][\w.]*\]\]?)")


def catalogue() -> tuple[str, ...]:
    """The names of the built-in mobile manipulators.

    Returns
    -------
    tuple[str, ...]
        The names; each is understood by `dynarm.mobile.load`.

    Examples
    --------
    >>> "tanner2001" in dynarm.mobile.catalogue()
    True
    """
    folder = resources.files(__package__) / "catalogue"
    return tuple(
        sorted(f.name.removesuffix(".toml") for f in folder.iterdir() if f.name.endswith(".toml"))
    )


def load(
    robot: str | os.PathLike[str],
    friction: bool | None = None,
    wheels: Outside = None,
    tip: str | None = None,
    snap: bool = True,
) -> MobileManipulator:
    """The mobile manipulator behind a built-in name or a path to a .toml or .urdf file.

    A URDF's platform frame {v} stands at the mass centre of all that is rigid with its root link.

    Parameters
    ----------
    robot : MobileManipulator
        A built-in name or a path to a .toml or .urdf file.
    friction : float or array_like (w,)
        Whether friction takes part, whatever the file says.
    wheels : sequence or dict, optional
        The wheels of a URDF, where they are not recognised by name, axis and shape: names
        of joints or links, {name: kind, ...} or {name: {"kind": "skid", "slide": 0.6},
        ...} (also radius [m], roller, stiffness, trail, driven, ratio), or mobile.Wheel
        records in the axes of the root link, on whose ground they stand.
    tip : str, optional
        Of a URDF, the link to which the arm is taken, joints off the way held at zero;
        default: all joints, those held that follow others. The load then acts on the link
        that most joints move.
    snap : bool, default True
        Of a URDF: rounded numbers that were meant to be exact are taken as such, as in
        `dynarm.load`.

    Returns
    -------
    MobileManipulator
        The robot.

    Examples
    --------
    >>> robot = dynarm.mobile.load("tanner2001")
    >>> robot.coordinate_names
    ('x', 'y', 'theta', 'phi', 'q1', 'q2')
    """
    if (
        isinstance(robot, bytes)
        or not isinstance(robot, (str, os.PathLike))
        or not str(robot).strip()
    ):
        raise KindError(
            f"robot is {shown(robot)}; give a built-in name (dynarm.mobile.catalogue()) or a path"
        )
    path = Path(robot)
    if path.suffix.lower() == ".urdf":
        return _urdf(path, bool(friction), wheels, tip, flag("snap", snap))
    if wheels is not None or tip is not None:
        raise InputError(
            f"wheels and tip choose parts of a URDF; '{path}' is not one, leave them out"
        )
    if path.suffix.lower() == ".toml":
        return _read(content(path, MAX_BYTES), named(path), friction, path.parent)
    known = catalogue()
    if str(robot) not in known:
        if path.suffix or len(path.parts) > 1:
            raise FormatError(
                f"'{path}' is not a mobile manipulator's file; it must end in .toml or .urdf"
            )
        raise UnknownName("mobile manipulator", str(robot), known)
    file = resources.files(__package__) / "catalogue" / f"{robot}.toml"
    return _read(file.read_bytes(), f"built-in robot '{robot}'", friction, Path())


def _urdf(
    path: Path, friction: bool, wheels: Outside, tip: str | None, snap: bool = True
) -> MobileManipulator:
    from .urdf import robot_of_urdf

    return robot_of_urdf(content(path, MAX_URDF), named(path), wheels, tip, friction, snap)


def _read(text: bytes, source: str, friction: bool | None, folder: Path) -> MobileManipulator:
    table = tables(text, source, MAX_BYTES)
    try:
        return _robot(table, friction, folder)
    except FileError:
        raise
    except DynarmError as error:
        raise FormatError(f"{source}: {error}") from None


def _robot(table: Mapping[str, Outside], friction: bool | None, folder: Path) -> MobileManipulator:
    given = known_keys(table, _TOP, "the file")
    if "urdf" in given:
        return _of_urdf(given, friction, folder)
    for key in ("platform", "wheels", "arms" if "arms" in given else "arm"):
        if key not in given:
            raise FormatError(
                f"there is no {key}; a mobile manipulator has platform, wheels, base and arm"
            )
    if not isinstance(given["wheels"], list):
        raise FormatError("wheels is not a list; write one [[wheels]] table a wheel")
    wheels = tuple(_wheel(row, f"wheel {j}") for j, row in enumerate(given["wheels"]))
    return MobileManipulator(
        _platform(given["platform"]),
        wheels,
        _base(given.get("base", {})),
        None if "arms" in given else _arm(given["arm"], folder),  # type: ignore[arg-type]
        arms=_arms(given, folder),
        gravity=given.get("gravity", 9.81),
        friction=given.get("friction", False) if friction is None else friction,
        name=given.get("name", "mobile"),
    )


def _of_urdf(
    given: Mapping[str, Outside], friction: bool | None, folder: Path
) -> MobileManipulator:
    """A URDF beside the file, with what the file says about its wheels."""
    others = sorted(set(given) & {"platform", "base", "arm", "arms"})
    if others or not isinstance(given["urdf"], str):
        raise FormatError(
            f"urdf is {shown(given['urdf'])}"
            + (f", and the file has {', '.join(others)} as well" if others else "")
            + "; give the path of a URDF, and besides it name, gravity, friction, tip and wheels"
        )
    wheels = given.get("wheels")
    if isinstance(wheels, list) and all(isinstance(row, Mapping) for row in wheels):
        wheels = [_wheel(row, f"wheel {j}") for j, row in enumerate(wheels)]
    rough = given.get("friction", False) if friction is None else friction
    robot = _urdf(folder / given["urdf"], flag("friction", rough), wheels, given.get("tip"))
    changed = {key: given[key] for key in ("name", "gravity") if key in given}
    return replace(robot, **changed) if changed else robot


def _platform(table: Outside) -> Platform:
    given = known_keys(table, [f.name for f in fields(Platform)], "platform")
    for key in ("mass", "inertia", "height"):
        if key not in given:
            raise FormatError(
                f"platform has no {key}; give mass [kg], inertia [kg m^2] and height [m]"
            )
    if "steering" in given:
        steering = known_keys(
            given["steering"], [f.name for f in fields(Steering)], "platform steering"
        )
        if "x" not in steering:
            raise FormatError(
                "platform steering has no x; give the reference wheel's place x, y and axle"
            )
        given["steering"] = Steering(**steering)
    return Platform(**given)


def _wheel(row: Outside, where: str) -> Wheel:
    given = known_keys(row, [f.name for f in fields(Wheel)], where)
    for key in ("x", "y", "radius"):
        if key not in given:
            raise FormatError(f"{where} has no {key}; give x, y and radius [m]")
    for key in ("rolling", "swivel"):
        if key in given:
            given[key] = Friction(
                **known_keys(given[key], [f.name for f in fields(Friction)], f"{where}: {key}")
            )
    return Wheel(**given)


def _base(table: Outside) -> Base:
    given = known_keys(table, ("mass", "com", "inertia", "mount", "position", "yaw"), "base")
    if "position" in given or "yaw" in given:
        if "mount" in given:
            raise FormatError("base has both mount and position or yaw; give one of the two")
        yaw = number("base: yaw", given.pop("yaw", 0.0))
        T = np.eye(4)
        if yaw:
            c, s = math.cos(yaw), math.sin(yaw)
            T[:2, :2] = [[c, -s], [s, c]]
        T[:3, 3] = numbers("base: position", given.pop("position", (0.0, 0.0, 0.0)), (3,))
        given["mount"] = T
    return Base(**given)


def _arms(given: Mapping[str, Outside], folder: Path) -> Outside:
    """Arms and where they stand; None: there is one, on the base's mount."""
    if "arms" not in given:
        return None
    if "arm" in given or not isinstance(given["arms"], list):
        raise FormatError(
            "arms is no list, or arm stands beside it; write one [[arms]] table an arm"
        )
    pairs = []
    for k, row in enumerate(given["arms"]):
        table = known_keys(row, ("arm", "mount", "position", "yaw"), f"arm {k}")
        if "arm" not in table:
            raise FormatError(f"arm {k} has no arm; give a built-in name or a path")
        place = {key: value for key, value in table.items() if key != "arm"}
        pairs.append((_arm(table["arm"], folder), _base(place).mount_pose))
    return pairs


def _arm(value: Outside, folder: Path) -> Arm:
    if isinstance(value, str):
        from ..robot.files import load as load_arm

        here = folder / value
        return load_arm(here if Path(value).suffix and os.path.exists(here) else value)
    return arm_of_table(value)


def save(robot: MobileManipulator, path: str | os.PathLike[str]) -> None:
    """Write the robot to x.toml, so that everything comes back bit by bit."""
    target = path_of("path", path, "the name of a .toml file")
    if target.suffix.lower() != ".toml":
        raise FormatError(f"cannot save to '{target}'; end the name in .toml")
    with drafted(target) as draft:
        draft.write_text(write(robot), encoding="utf-8")


def write(robot: MobileManipulator) -> str:
    """The robot as TOML text."""
    lines = [
        f"name = {toml_value(robot.name)}",
        f"gravity = {toml_value(robot.gravity)}",
        f"friction = {toml_value(robot.friction)}",
        "",
        "[platform]",
        *toml_lines(robot.platform),
    ]
    for wheel in robot.wheels:
        lines += ["", "[[wheels]]", *toml_lines(wheel)]
    base = robot.base
    rows = [list(base.mount[4 * k : 4 * k + 4]) for k in range(4)]
    lines += ["", "[base]", f"mass = {toml_value(base.mass)}", f"com = {toml_value(base.com)}"]
    lines += [f"inertia = {toml_value(base.inertia)}", f"mount = {toml_value(rows)}", "", "[arm]"]
    for line in write_toml(robot.arm).splitlines():
        header = _HEADER.fullmatch(line)
        lines.append(f"{header[1]}arm.{header[2]}" if header else line)
    return "\n".join(lines) + "\n"
