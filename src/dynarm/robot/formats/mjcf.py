"""MuJoCo's MJCF: the arm of a model that MuJoCo itself has compiled.

Defaults, classes, includes, frames, attached models, compiler options and inertias of geoms are MuJoCo's own; what
comes from it are the numbers by which it computes (`mjcf_child.py`, a process of its own). What inverse dynamics of the
open tree does not feel is left out and said in `arm.check()`: closed loops, couplings on curves, tendons, springs,
gravity compensation, fluids. What an arm cannot be is refused by name: ball joints, armature of tendons, several free
robots.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from ...border.apart import asked
from ...border.extras import extra
from ...border.kinds import FloatArray, Outside
from ...errors import FileMissing, FormatError, InputError, ModelError, UnknownName
from ..arm import Arm
from ..origin import LEFT_OUT
from .mjcf_couplings import Couplings, couplings
from .mjcf_files import Document, Places, full_text, read_document, stand_in_text
from .mjcf_tree import WORLD, Compiled, tree_of
from .tree import Tree, listed
from .whole import arm_of_tree

_CHILD = "dynarm.robot.formats.mjcf_child"
_PATIENCE = 60.0  # seconds
_SIZES = (0.1, 0.25)  # of stand-ins for meshes [m]


def arm_of_mjcf(
    content: bytes,
    source: str,
    path: Path,
    *,
    base: str | None = None,
    tip: str | None = None,
    joints: Sequence[str] | None = None,
    gravity: Outside = None,
    freeze: Outside = True,
    floating: bool | None = None,
    tools: Sequence[str] | None = None,
    mimic: bool = True,
    packages: Outside = None,
) -> Arm:
    """The robot of an MJCF model, or its chain to body or site tip; source names it in messages."""
    frozen = freeze if isinstance(freeze, Mapping) else {}
    names = [name for name in (tip, *(tools or ())) if isinstance(name, str)]
    file = opened(content, source, path, base, floating, frozen, mimic, names, packages)
    model, stand, rules, tree = file.model, file.stand, file.rules, file.tree
    if rules.held:
        freeze = {**rules.held, **frozen}
    at = _gravity(model, stand) if gravity is None else gravity
    end = _only_end(tree, stand, model) if tip is None and joints is None else tip
    arm = arm_of_tree(tree, stand.base, end, joints, at, True, freeze, stand.free, tools)
    assert arm.origin is not None
    notes = (*arm.origin.notes, *_left_out(model, stand, rules))
    return replace(arm, origin=replace(arm.origin, notes=notes))


@dataclass(frozen=True, slots=True)
class Stand:
    """Where the robot stands."""

    roots: tuple[int, ...]  # bodies on the world that take part, with all that they carry
    top: int  # where the tree of links begins: the world, or the body that moves freely
    base: str  # the base link
    index: int  # of it among the bodies
    free: bool  # whether it moves freely
    fixed: bool = False  # whether free joints are taken as fixed
    dropped: tuple[str, ...] = ()  # free bodies that do not belong to it


@dataclass(frozen=True, slots=True, eq=False)
class Opened:
    """A model that MuJoCo has compiled, and the robot in it."""

    document: Document
    model: Compiled
    stand: Stand
    rules: Couplings
    tree: Tree


def opened(
    content: bytes,
    source: str,
    path: Path,
    base: str | None = None,
    floating: bool | None = None,
    frozen: Mapping[str, float] | None = None,
    mimic: bool = True,
    sites: Sequence[str] = (),
    packages: Outside = None,
) -> Opened:
    """The robot of an MJCF model as a tree of links; frozen: joints that are held; sites: what shall be links too."""
    if find_spec("mujoco") is None:
        raise FormatError(f"{source}: MJCF is read by the package mujoco; {extra('mjcf')}")
    document = read_document(content, path, Places.of(path, source, packages))
    model = Compiled.of(_compiled(document, source), source)
    stand = _stand(model, source, base, floating)
    inside = {
        name for root in stand.roots for i in model.under(root) for name, _ in model.own_joints(i)
    }
    rules = couplings(model, inside, frozen or {}, mimic)
    _check_tendons(model, source, mimic)
    tree = tree_of(model, source, stand.roots, stand.top, stand.fixed, rules.follows, sites)
    return Opened(document, model, stand, rules, tree)


def _check_tendons(model: Compiled, source: str, mimic: bool) -> None:
    """Refuse tendons that are part of the mass matrix; mimic=False: they tie no joints either."""
    heavy = [row["name"] or "unnamed" for row in model.numbers["tendons"] if row["heavy"]]
    if heavy and mimic:
        raise FormatError(
            f"{source}: tendon {listed(heavy)} has armature, which couples the inertias of its joints; dynarm has no "
            "tendons, take the armature out, or load without it by mimic=False"
        )


# ---- compiled by MuJoCo


def _compiled(document: Document, source: str) -> dict[str, Outside]:
    """The numbers of the model; without its meshes, where its inertias do not depend on them."""
    small = _asked(stand_in_text(document, _SIZES[0]), source)
    meshes = list(document.meshes())
    if not meshes:
        return small
    large = _asked(stand_in_text(document, _SIZES[1]), source)
    if small["bodies"] == large["bodies"]:
        return small
    pairs = zip(small["bodies"], large["bodies"], strict=True)
    bodies = [one["name"] or "unnamed" for one, other in pairs if one != other]
    try:
        whole = full_text(document)
    except FileMissing as error:
        raise FileMissing(
            f"{error}; it is a mesh, and the inertia of {'bodies' if len(bodies) > 1 else 'body'} {listed(bodies)} "
            "comes from meshes; put it there, or give these bodies <inertial>"
        ) from None
    return _asked(whole, source)


def _asked(model: tuple[str, Mapping[str, bytes]], source: str) -> dict[str, Outside]:
    text, assets = model
    head = {"text": text, "assets": [[name, len(data)] for name, data in assets.items()]}
    return asked(
        _CHILD,
        b"\n".join((json.dumps(head).encode(), b"".join(assets.values()))),
        source,
        _PATIENCE,
    )


# ---- which part of the world is the robot


def _stand(model: Compiled, source: str, base: Outside, floating: bool | None) -> Stand:
    if base is not None:
        return _on_base(model, source, base, floating)
    trees = model.trees()
    loose = [i for i in trees if model.free(i)]
    standing = [i for i in trees if not model.free(i) and model.moved(i)]
    if floating is False:
        return Stand(tuple(trees), 0, model.bodies[0], 0, False, fixed=True)
    robots = [i for i in loose if model.moved(i)]
    if not loose and floating:
        return _lifted(model, source, standing)
    if not robots and standing:
        parts = tuple(i for i in trees if i not in loose)
        return Stand(parts, 0, model.bodies[0], 0, False, dropped=_names(model, loose))
    candidates = robots or loose
    if len(candidates) == 1 and not standing:
        (root,) = candidates
        others = _names(model, [i for i in loose if i != root])
        return Stand((root,), root, model.bodies[root], root, True, dropped=others)
    if not candidates:
        raise ModelError(f"{source}: no joint moves any body; an arm needs at least one")
    free, rest = _names(model, candidates), _names(model, standing)
    stand = "stands" if len(rest) == 1 else "stand"
    standing_too = f" beside {listed(rest)}, which {stand} on the world" if rest else ""
    raise FormatError(
        f"{source}: {'bodies' if len(free) > 1 else 'body'} {listed(free)} move{'s' * (len(free) == 1)} "
        f"freely{standing_too}; a robot has one base, choose it: "
        f"base='{free[0]}'" + (f", or base='{WORLD}'" if rest else "")
    )


def _names(model: Compiled, bodies: Sequence[int]) -> tuple[str, ...]:
    return tuple(model.bodies[i] for i in bodies)


def _on_base(model: Compiled, source: str, base: Outside, floating: bool | None) -> Stand:
    """As the base says that was asked for."""
    if base not in model.bodies:
        raise UnknownName("body for base", base, model.bodies)
    index = model.bodies.index(base)
    trees = model.trees()
    loose = [i for i in trees if model.free(i)]
    if index == 0:
        if floating:
            raise InputError(f"base='{base}' is the world, which does not move; name a body")
        if floating is False:
            return Stand(tuple(trees), 0, base, 0, False, fixed=True)
        parts = tuple(i for i in trees if i not in loose)
        return Stand(parts, 0, base, 0, False, dropped=_names(model, loose))
    root = model.tree_of(index)
    free = model.free(index) if floating is None else floating
    return Stand((root,), index if index == root and free else 0, base, index, free, fixed=True)


def _lifted(model: Compiled, source: str, standing: Sequence[int]) -> Stand:
    """A robot that its file fixes to the world, and that is to move freely."""
    names = _names(model, standing)
    if len(standing) != 1 or model.own_joints(standing[0]):
        how = (
            f"joints hold body '{names[0]}' on the world, so no base is there to move freely"
            if len(standing) == 1
            else f"{len(standing)} bodies with joints stand on the world: {listed(names)}"
        )
        raise InputError(f"{source}: {how}; name the body that moves freely: base='...'")
    (root,) = standing
    return Stand((root,), root, model.bodies[root], root, True, fixed=True)


def _gravity(model: Compiled, stand: Stand) -> FloatArray:
    """The file's gravity, in the axes of a base that stands in the world."""
    g = np.array(model.numbers["gravity"])
    return g if stand.free else model.orientation(stand.index).T @ g


def _only_end(tree: Tree, stand: Stand, model: Compiled) -> str | None:
    """The body at the end of a robot that does not branch: its frame is the tool, wherever its joint is."""
    ends = tree.movable_ends(stand.base)
    if len(ends) != 1:
        return None
    (end,) = ends
    return tree.below[end][0].child if end not in model.bodies else None


# ---- what is left out


def _left_out(model: Compiled, stand: Stand, rules: Couplings) -> list[str]:
    """What the model of the arm does not hold, a line a kind."""
    numbers = model.numbers
    inside = sorted(i for root in stand.roots for i in model.under(root))
    joints = [(name, row) for i in inside for name, row in model.own_joints(i)]
    said = [
        _loop(model, row)
        for row in numbers["equalities"]
        if row["kind"] != "joint" and row["active"]
    ]
    said += rules.notes
    for row in numbers["tendons"]:
        if row["acts"]:
            said.append(f"tendon '{row['name']}' ({', '.join(row['acts'])})")
    for words, names in (
        ("springs of joints ", [n for n, row in joints if row["sprung"]]),
        ("damping beyond its linear term of joints ", [n for n, row in joints if row["curved"]]),
        (
            "gravity compensation of bodies ",
            [model.bodies[i] for i in inside if model.row(i)["lifted"]],
        ),
        (
            "armature, damping and friction of the free joints ",
            [n for n, row in joints if _dragged(row)],
        ),
        ("free bodies beside the robot: ", stand.dropped),
    ):
        if names:
            said.append(words + listed(names))
    if any(numbers["fluid"]):
        density, viscosity = numbers["fluid"]
        said.append(f"forces of the fluid around it (density {density:g}, viscosity {viscosity:g})")
    return [LEFT_OUT + line for line in said]


def _dragged(row: Mapping[str, Outside]) -> bool:
    return row["kind"] == "free" and any(row[key] for key in ("armature", "damping", "friction"))


def _loop(model: Compiled, row: Mapping[str, Outside]) -> str:
    label = f"'{row['name']}' " if row["name"] else ""
    if row["kind"] in ("connect", "weld"):
        return f"equality {label}({row['kind']}): the loop that it closes stays open, its forces are in no torque"
    return f"equality {label}({row['kind']}): its forces are in no torque"
