"""Robots by name or path: the built-in catalogue, loading and saving."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any

from ..border.arguments import flag, items, path_of
from ..border.files import content, named
from ..border.kinds import Given
from ..border.words import shown
from ..border.written import drafted
from ..errors import FormatError, InputError, KindError, UnknownName
from .arm import Arm
from .doubts import warn_doubts
from .formats.toml_file import MAX_BYTES, read_toml, write_toml

MAX_URDF = 16 * 2**20  # bytes
REFUSED = {
    ".xacro": "a xacro macro file; expand it first: xacro {name} > {stem}.urdf",
    ".xml": "an XML file, as MuJoCo's MJCF uses; export a URDF (if it is one already, rename it to {stem}.urdf)",
    ".mjcf": "a MuJoCo MJCF file; export a URDF",
    ".sdf": "an SDF file; convert it to a URDF",
    ".world": "an SDF world; convert the robot in it to a URDF",
}


def catalogue() -> tuple[str, ...]:
    """The names of the built-in robots."""
    folder = resources.files(__package__) / "catalogue"
    return tuple(
        sorted(f.name.removesuffix(".toml") for f in folder.iterdir() if f.name.endswith(".toml"))
    )


def load(
    robot: str | os.PathLike[str],
    base: str | None = None,
    tip: str | None = None,
    joints: Sequence[str] | None = None,
    gravity: Given = None,
    strict: bool = False,
    allow_massless: bool = False,
    freeze: bool | Mapping[str, float] = True,
    floating: bool = False,
    tools: Sequence[str] | None = None,
) -> Arm:
    """The robot behind a built-in name or a path to a .urdf or .toml file.

    base             link of a URDF from which the robot is taken outwards; default: the root
    tip              link to which its chain is taken; default: none, the whole robot, a tree where it branches
    joints           the joint names in their order, as a check (and, without a tip, to choose a chain)
    gravity          acceleration in the base link; default: (0, 0, -9.81), or what a .toml file says
    strict           an impossible inertia is an error, not a warning
    allow_massless   accept moving links without any inertia
    freeze           {joint: position, ...}: hold these joints there and merge their links. Joints off a chain are
                     held at zero where they are not named; False: refuse them
    floating         the base link moves freely
    tools            names of links whose frames are the robot's tools
    """
    path = path_of("robot", robot, "a built-in name (dynarm.catalogue()) or a path")
    name, suffix = path.name, path.suffix.lower()
    wanted = None if joints is None else _joint_names(joints)
    if suffix in REFUSED:
        text = REFUSED[suffix].format(name=name, stem=name.split(".")[0])
        raise FormatError(f"{named(path)} is {text}")
    if suffix == ".urdf":
        from .formats.urdf import arm_of_urdf

        arm = arm_of_urdf(
            content(path, MAX_URDF),
            named(path),
            gravity=(0.0, 0.0, -9.81) if gravity is None else gravity,
            allow_massless=allow_massless,
            freeze=freeze,
            base=base,
            tip=tip,
            joints=wanted,
            floating=flag("floating", floating),
            tools=None if tools is None else items("tools", tools, "a list of names of links"),
        )
        return warn_doubts(arm, strict)
    if any(value is not None for value in (base, tip)):
        raise InputError(
            f"base and tip choose a chain of a URDF; '{robot}' is not one, leave them out"
        )
    if floating or tools is not None or isinstance(freeze, Mapping):
        raise InputError(
            f"floating, tools and freeze choose parts of a URDF; '{robot}' is not one, leave them out"
        )
    arm = _of_toml(path) if suffix == ".toml" else _built_in(path)
    if wanted is not None and wanted != list(arm.joint_names):
        raise InputError(
            f"joints is {wanted}; robot '{arm.name}' has {list(arm.joint_names)}, in that order"
        )
    return warn_doubts(arm if gravity is None else replace(arm, gravity=gravity), strict)


def _of_toml(path: Path) -> Arm:
    return read_toml(content(path, MAX_BYTES), named(path))


def _joint_names(joints: Any) -> list[str]:
    names = items("joints", joints, "a list of joint names")
    if not names or not all(isinstance(name, str) for name in names):
        raise KindError(f"joints is {shown(joints)}; give a list of joint names")
    return names


def _built_in(path: Path) -> Arm:
    name = str(path)
    known = catalogue()
    if name in known:
        file = resources.files(__package__) / "catalogue" / f"{name}.toml"
        return read_toml(file.read_bytes(), f"built-in robot '{name}'")
    if os.path.exists(path) or path.suffix or len(path.parts) > 1:
        raise FormatError(
            f"'{named(path)}' is neither a built-in robot nor a file ending in .urdf or .toml"
        )
    raise UnknownName("robot", named(path), known)


def save(arm: Arm, path: str | os.PathLike[str]) -> None:
    """Write the arm to x.toml or x.urdf; nothing is left half-written."""
    target = path_of("path", path, "the name of a .toml or .urdf file")
    suffix = target.suffix.lower()
    if suffix == ".toml":
        text = write_toml(arm)
    elif suffix == ".urdf":
        from .formats.urdf_text import write_urdf

        text = write_urdf(arm)
    else:
        raise FormatError(f"cannot save to '{named(target)}'; end the name in .toml or .urdf")
    try:
        written = text.encode("utf-8")
    except UnicodeEncodeError:
        raise InputError(
            "a name of the arm holds characters that UTF-8 cannot write; rename it"
        ) from None
    with drafted(target) as draft:
        draft.write_bytes(written)
