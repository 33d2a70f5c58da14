"""Robots by name or path: the built-in catalogue, loading and saving."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from ..border.arguments import flag, items, path_of
from ..border.files import content, named, size_of
from ..border.kinds import Given, Outside
from ..border.trial import on_trial
from ..border.words import shown
from ..border.written import drafted
from ..errors import FormatError, InputError, KindError, UnknownName
from .about import MAX_BYTES, built_in, catalogue
from .arm import Arm
from .doubts import warn_doubts
from .formats.toml_file import read_toml, write_toml

MAX_URDF = 16 * 2**20  # bytes
# the keywords of `load` that choose parts of a file, each with its value
Chosen = Mapping[str, Outside]


@dataclass(frozen=True, slots=True)
class RobotFormat:
    """A kind of robot file, told by the ending of its name: what reads it, what writes it, or what to do instead."""

    ending: str  # in small letters
    read: Callable[[bytes, str, Chosen], Arm] | None = None  # bytes, the name for messages, parts
    write: Callable[[Arm], str] | None = None
    most: int = MAX_URDF  # bytes of a file
    parts: bool = False  # whether parts of it may be chosen: all that `load` takes besides `strict`
    own: bool = False  # whether it names further files, and says its own gravity and which base moves freely
    # of a format that becomes another one first: path, the name for messages, arguments, packages -> bytes
    expand: Callable[[Path, str, Outside, Outside], bytes] | None = None
    # of a format that is not read: what it is, and what to do with {name} or {stem}
    instead: str = ""


def load(
    robot: str | os.PathLike[str],
    base: str | None = None,
    tip: str | None = None,
    joints: Sequence[str] | None = None,
    gravity: Given = None,
    strict: bool = False,
    allow_massless: bool = False,
    freeze: bool | Mapping[str, float] = True,
    floating: bool | None = None,
    tools: Sequence[str] | None = None,
    snap: bool = True,
    xacro: Mapping[str, str | float] | None = None,
    packages: Mapping[str, str | os.PathLike[str]] | None = None,
    mimic: bool = True,
) -> Arm:
    """The robot behind a built-in name or a path to a .urdf, .xacro, .xml (MJCF) or .toml file.

    Parameters
    ----------
    robot : path-like
        Name of a built-in robot, or a path to a .urdf, .xacro, .xml (MJCF) or .toml file.
    base : str, optional
        Link of a URDF, or body of an MJCF model, from which the robot is taken outwards;
        default: the root.
    tip : str, optional
        Link to which its chain is taken; default: none, the whole robot, a tree where it
        branches.
    joints : sequence of str, optional
        The joint names in their order, as a check (and, without a tip, to choose a chain).
    gravity : array_like (3,), optional
        Acceleration of gravity in the base link [m/s^2]; default: what a .toml file or an
        MJCF model says, else (0, 0, -9.81).
    strict : bool, default False
        An impossible inertia is an error, not a warning.
    allow_massless : bool, default False
        Accept moving links without any inertia.
    freeze : bool | Mapping[str, float], default True
        {joint: position, ...}: hold these joints there and merge their links. Joints off a
        chain are held at zero where they are not named; False: refuse them.
    floating : bool, optional
        The base link moves freely; default: where an MJCF model has a free joint, or a URDF
        no joint that moves. False: it is fixed.
    tools : sequence of str, optional
        Names of links, of an MJCF model bodies or sites, whose frames are the robot's
        tools.
    snap : bool, default True
        Rounded numbers of a URDF that were meant to be exact, such as an angle of 1.5708,
        are taken as such; arm.check() lists them. False: every number as written.
    xacro : Mapping[str, str | float], optional
        {argument: value, ...}: the arguments of a .xacro file.
    packages : Mapping[str, path-like], optional
        {name: folder, ...}: packages that a .xacro file includes from by $(find name); of an
        MJCF model further folders that its files may be in, by any name. Of all other files
        only those below its own folder are read.
    mimic : bool, default True
        Joints that follow others (<mimic>, equality of two joints) are no degrees of
        freedom of their own. False: all joints move on their own, as in mj_rne, and
        arm.check() lists them.

    Returns
    -------
    Arm
        The robot.

    Examples
    --------
    >>> arm = dynarm.load("panda")
    >>> arm.n, arm.joint_names[0]
    (7, 'panda_joint1')
    """
    path = path_of("robot", robot, "a built-in name (dynarm.catalogue()) or a path")
    wanted = None if joints is None else _joint_names(joints)
    kind = FORMATS.get(path.suffix.lower())
    if kind is not None and kind.read is not None and kind.parts:
        chosen: dict[str, Outside] = {
            "gravity": gravity,
            "allow_massless": allow_massless,
            "freeze": freeze,
            "base": base,
            "tip": tip,
            "joints": wanted,
            "floating": None if floating is None else flag("floating", floating),
            "snap": flag("snap", snap),
            "mimic": flag("mimic", mimic),
            "tools": None if tools is None else items("tools", tools, "a list of names of links"),
        }
        if kind.own:
            chosen["path"], chosen["packages"] = path, packages
        else:
            chosen["gravity"] = (0.0, 0.0, -9.81) if gravity is None else gravity
        inside = _text(path, kind, xacro, None if kind.own else packages)
        return warn_doubts(_at(path, kind.read(inside, named(path), chosen)), strict)
    if kind is not None and kind.read is None:
        text = kind.instead.format(name=path.name, stem=path.name.split(".")[0])
        raise FormatError(f"{named(path)} is {text}")
    _refuse_parts(robot, base is not None or tip is not None, "base and tip choose a chain")
    _refuse_macros(path, xacro, packages)
    others = floating or tools is not None or isinstance(freeze, Mapping)
    _refuse_parts(robot, others, "floating, tools and freeze choose parts")
    arm = _with_joints(_whole(path, kind), wanted)
    return warn_doubts(arm if gravity is None else replace(arm, gravity=gravity), strict)


def _with_joints(arm: Arm, wanted: list[str] | None) -> Arm:
    """The arm, refused where its joints are others than those asked for."""
    if wanted is not None and wanted != list(arm.joint_names):
        raise InputError(
            f"joints is {wanted}; robot '{arm.name}' has {list(arm.joint_names)}, in that order"
        )
    return arm


def _at(path: Path, arm: Arm) -> Arm:
    """The arm that knows where its URDF is; what a macro expands to is no file."""
    if arm.file is None or path.suffix.lower() != ".urdf":
        return arm
    return replace(arm, file=replace(arm.file, path=os.path.abspath(path)))


def _refuse_parts(robot: Outside, given: bool, words: str, what: str = "a URDF") -> None:
    if given:
        raise InputError(f"{words} of {what}; '{robot}' is not one, leave them out")


def _refuse_macros(path: Path, xacro: Outside, packages: Outside) -> None:
    given = xacro is not None or packages is not None
    _refuse_parts(path, given, "xacro and packages are for the macros", "a .xacro file")


def _text(path: Path, kind: RobotFormat, xacro: Outside, packages: Outside) -> bytes:
    """What the file holds, expanded where it is one of macros."""
    if kind.expand is None:
        _refuse_macros(path, xacro, packages)
        return content(path, kind.most)
    return kind.expand(path, named(path), xacro, packages)


def _whole(path: Path, kind: RobotFormat | None) -> Arm:
    """The robot of a file that has no parts to choose from, or of the catalogue."""
    if kind is None or kind.read is None:
        return _built_in(path)
    return kind.read(content(path, kind.most), named(path), {})


def _joint_names(joints: Outside) -> list[str]:
    names = items("joints", joints, "a list of joint names")
    if not names or not all(isinstance(name, str) for name in names):
        raise KindError(f"joints is {shown(joints)}; give a list of joint names")
    return names


def _built_in(path: Path) -> Arm:
    name = str(path)
    known = catalogue()
    if name in known:
        return read_toml(built_in(name), f"built-in robot '{name}'")
    if os.path.exists(path) or path.suffix or len(path.parts) > 1:
        raise FormatError(
            f"'{named(path)}' is neither a built-in robot nor a file ending in {_endings('read')}"
        )
    raise UnknownName("robot", named(path), known)


def save(arm: Arm, path: str | os.PathLike[str]) -> None:
    """Write the arm to x.toml, x.urdf or x.xml (MJCF); nothing is left half-written."""
    target = path_of("path", path, f"the name of a {_endings('write')} file")
    kind = FORMATS.get(target.suffix.lower())
    if kind is None or kind.write is None:
        raise FormatError(f"cannot save to '{named(target)}'; end the name in {_endings('write')}")
    text = kind.write(arm)
    try:
        written = text.encode("utf-8")
    except UnicodeEncodeError:
        raise InputError(
            "a name of the arm holds characters that UTF-8 cannot write; rename it"
        ) from None
    with drafted(target) as draft:
        draft.write_bytes(written)


def _endings(use: str) -> str:
    """The endings of the formats that are read, or written, as a sentence lists them."""
    *others, last = [kind.ending for kind in FORMATS.values() if getattr(kind, use) is not None]
    return " or ".join(part for part in (", ".join(others), last) if part)


# ---- the formats


def _read_urdf(text: bytes, source: str, chosen: Chosen) -> Arm:
    from .formats.urdf import arm_of_urdf

    return arm_of_urdf(text, source, **chosen)


def expand_xacro(path: Path, source: str, arguments: Outside, packages: Outside) -> bytes:
    """The URDF of a xacro file."""
    from .formats.xacro import expanded

    size_of(path, MAX_URDF)
    return expanded(path, source, arguments, packages)


def _write_urdf(arm: Arm) -> str:
    from .formats.urdf_text import write_urdf

    return write_urdf(arm)


def _read_mjcf(text: bytes, source: str, chosen: Chosen) -> Arm:
    from .formats.mjcf import arm_of_mjcf

    # MuJoCo has its own rules on mass, and reads numbers as written
    others = (
        "allow_massless",
        "snap",
    )
    return arm_of_mjcf(text, source, **{k: v for k, v in chosen.items() if k not in others})


def _write_mjcf(arm: Arm) -> str:
    from .formats.mjcf_text import write_mjcf

    return write_mjcf(arm)


def _read_toml(text: bytes, source: str, chosen: Chosen) -> Arm:
    return read_toml(text, source)


FORMATS: dict[str, RobotFormat] = {
    kind.ending: kind
    for kind in (
        RobotFormat(".urdf", _read_urdf, _write_urdf, MAX_URDF, parts=True),
        RobotFormat(".toml", _read_toml, write_toml, MAX_BYTES),
        RobotFormat(".xacro", _read_urdf, None, MAX_URDF, parts=True, expand=expand_xacro),
        RobotFormat(".xml", _read_mjcf, _write_mjcf, MAX_URDF, parts=True, own=True),
        RobotFormat(".mjcf", _read_mjcf, _write_mjcf, MAX_URDF, parts=True, own=True),
        RobotFormat(".sdf", instead="an SDF file; convert it to a URDF"),
        RobotFormat(".world", instead="an SDF world; convert the robot in it to a URDF"),
    )
}


@contextmanager
def extended(*formats: RobotFormat) -> Iterator[None]:
    """Inside, these formats stand in the table as well: how one is tried before it gets its row.

    A format that is refused may be replaced, one that is read may not.
    """
    for kind in formats:
        old = FORMATS.get(kind.ending)
        if old is not None and old.read is not None:
            raise ValueError(f"robots ending in {kind.ending} are read already")
    with on_trial(FORMATS, {kind.ending: kind for kind in formats}):
        yield
