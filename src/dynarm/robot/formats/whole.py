"""The arm that is made of a tree of links and joints: the whole robot, or the chain to one link.

Without a tip the robot is taken whole, a tree where it branches; with one, between link `base` and link `tip` stands a
chain of movable joints. Everything else is made rigid: fixed joints, and joints that are held (`posture.py`); their
links are merged into the link that carries them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from ...border.kinds import Outside
from ...errors import FormatError, InputError, ModelError, UnknownName
from ..arm import Arm, Body, Friction, Joint, Mimic, Origin, SourceFile, Tool
from ..frames.dh import Frames, modified_dh
from ..frames.poses import inverse
from ..origin import ASTRAY, LEFT_OUT, MERGED
from .carried import CarriedLinks
from .change import Described
from .exact import exact_notes
from .posture import SEVERAL_DEGREES, Posture, posture
from .tree import MAX_JOINTS, Tree, TreeJoint, listed

_MOVING = "couplings, as asked, so that these joints move on their own: "


def arm_of_tree(
    tree: Tree,
    base: str | None = None,
    tip: str | None = None,
    joints: Sequence[str] | None = None,
    gravity: Outside = (0.0, 0.0, -9.81),
    allow_massless: bool = False,
    freeze: Outside = True,
    floating: bool = False,
    tools: Sequence[str] | None = None,
    mimic: bool = True,
) -> Arm:
    """The joints from link base outwards, to link tip or all of them, everything else merged."""
    loose = _loose(tree, mimic)
    if loose:
        alone = tree.uncoupled(loose)
        arm = arm_of_tree(
            alone, base, tip, joints, gravity, allow_massless, freeze, floating, tools
        )
        return _with_notes(arm, _loose_notes(arm, loose, mimic))
    root = tree.root if base is None else tree.check_link("base", base)
    if floating and base is None:
        root = _behind_free_joint(tree)
    end = _tip(tree, root, tip, joints, freeze, floating)
    path = list(tree.outwards(root)) if end is None else tree.path(root, end)
    stand = posture(tree, [joint for joint in path if joint.movable], freeze)
    _check_joints(tree, stand, root, end, floating)
    _check_order(stand, joints)
    carried = CarriedLinks(tree, root, stand)
    bare = not carried.tables[-1].any()
    if floating and bare and not allow_massless:
        raise ModelError(
            f"{tree.source}: base link '{root}' and what is fixed to it have no inertia, so it cannot move freely; "
            "add <inertial>, choose another base, or load with allow_massless=True"
        )
    _check_massless(tree, stand.kept, carried, allow_massless)
    frames = modified_dh(carried.segments, carried.parents, free=floating)
    arm = _arm(tree, root, tip, end, stand, carried, frames, gravity, floating, tools)
    if not tree.snapped:
        return arm
    parts = {*carried.places, *(tree.above[x].name for x in carried.places if x != root)}

    def described(one: Tree) -> Described:
        path = list(one.outwards(root)) if end is None else one.path(root, end)
        same = posture(one, [joint for joint in path if joint.movable], freeze)
        return _described(CarriedLinks(one, root, same), same, floating)

    return _with_notes(arm, exact_notes(tree, parts, described, gravity))


def _loose(tree: Tree, mimic: bool) -> dict[str, str]:
    """Joints that shall not follow those that their file says, or cannot: these are not in it."""
    known = tree.joints
    rules = [(j.name, j.mimic.joint) for j in known.values() if j.mimic]
    return {name: master for name, master in rules if not mimic or master not in known}


def _loose_notes(arm: Arm, loose: Mapping[str, str], mimic: bool) -> list[str]:
    if not mimic:
        return [LEFT_OUT + _MOVING + listed(list(loose))]
    names = [str(joint.name) for joint in arm.joints]
    moving = [f"'{name}' (to '{loose[name]}')" for name in names if name in loose]
    return [ASTRAY + ", ".join(moving)] if moving else []


def _with_notes(arm: Arm, notes: Sequence[str]) -> Arm:
    assert arm.origin is not None
    return replace(arm, origin=replace(arm.origin, notes=(*arm.origin.notes, *notes)))


def _described(carried: CarriedLinks, stand: Posture, free: bool) -> Described:
    places = {joint.name: i for i, joint in enumerate(stand.kept)}
    follows = {
        places[name]: (places[rule.joint], rule.multiplier, rule.offset)
        for name, rule in stand.follows.items()
    }
    return Described(carried.segments, carried.parents, carried.tables[-1], follows, free)


def _arm(
    tree: Tree,
    root: str,
    tip: str | None,
    end: str | None,
    stand: Posture,
    carried: CarriedLinks,
    frames: Frames,
    gravity: Outside,
    floating: bool,
    tools: Sequence[str] | None,
) -> Arm:
    """The arm out of its parts."""
    kept = stand.kept
    to_internal = [*(inverse(X) for X in frames.links), inverse(frames.base)]
    last = kept[-1].child if kept else root
    pose = None
    if not carried.branched:
        pose = carried.tool_pose(end or last, to_internal)
    origin = Origin(
        base_link=root,
        links=tuple(joint.child for joint in kept),
        frames=tuple(tuple(X.ravel().tolist()) for X in to_internal[:-1]),
        axes=tuple(tuple(s.axis.tolist()) for s in carried.segments),
        kinds=tuple(joint.kind for joint in kept),
        tip_link=end if tip is not None and end != last else None,
        notes=tuple(_notes(tree, stand, carried, floating)),
        rigid=tuple(stand.held.items()),
        snap=tree.exact,
        base=tuple(carried.tables[-1].tolist())
        if not floating and carried.tables[-1].any()
        else None,
    )
    made = [_joint(joint, i, frames, carried, stand) for i, joint in enumerate(kept)]
    return Arm(
        tuple(made),
        gravity=gravity,
        name=tree.name,
        base=None if floating else frames.base,
        tool=pose,
        origin=origin,
        floating=Body(parameters=tuple(carried.tables[-1].tolist())) if floating else None,
        tools=None if tools is None else _tools(tree, root, carried, to_internal, tools),
        file=SourceFile(_places(carried, to_internal)),
    )


def _places(
    carried: CarriedLinks, to_internal: Sequence[np.ndarray]
) -> tuple[tuple[str, int, tuple[float, ...]], ...]:
    """Every link with the joint that carries it and its pose in that joint's frame, or in the base link."""
    return tuple(
        (link, at.carrier, tuple((frame @ at.pose).ravel().tolist()))
        for link, at in carried.places.items()
        for frame in [to_internal[at.carrier] if at.carrier >= 0 else np.eye(4)]
    )


# ---- which joints


def _behind_free_joint(tree: Tree) -> str:
    """The link that moves freely: the root, or the one behind the only joint on it where that is a floating one."""
    below = tree.below[tree.root]
    return below[0].child if len(below) == 1 and below[0].kind == "floating" else tree.root


def _tip(
    tree: Tree,
    base: str,
    tip: str | None,
    joints: Sequence[str] | None,
    freeze: Outside,
    free: bool,
) -> str | None:
    """The last link of the chain, as asked or as the wanted joints say; None for the whole robot."""
    if tip is not None:
        return tree.check_link("tip", tip)
    movable = [joint for joint in tree.outwards(base) if joint.movable]
    if not movable and not free:
        raise ModelError(
            f"{tree.source}: no movable joint under link '{base}'; an arm on a fixed base needs at least one. "
            "If it is a body that moves freely, load it with floating=True"
        )
    if joints is None:
        return None
    by_name = tree.joints
    for name in joints:
        if name not in by_name:
            raise UnknownName("joint", name, by_name)
    stand = posture(tree, movable, freeze)
    if sorted(joints) == sorted(_independent(stand)):
        return None
    outermost = max(joints, key=lambda name: len(tree.path(tree.root, by_name[name].child)))
    return by_name[outermost].child


def _independent(stand: Posture) -> list[str]:
    return [joint.name for joint in stand.kept if joint.name not in stand.follows]


def _check_joints(tree: Tree, stand: Posture, base: str, end: str | None, free: bool) -> None:
    """Refuse, by name, what joints of one degree cannot be."""
    where = "on the chain " if end is not None else ""
    for joint in stand.kept:
        if joint.kind in SEVERAL_DEGREES:
            what = f"{tree.source}: joint '{joint.name}' {where or 'on the chain '}is {_word(joint.kind)}"
            if free and joint.kind == "floating":
                raise FormatError(
                    f"{what} and so is the base '{base}'; one part of a robot may move freely, hold the joint: "
                    f"freeze={{'{joint.name}': 0}}"
                )
            ways = " (with floating=True if it moves freely)" if joint.kind == "floating" else ""
            raise FormatError(
                f"{what}; choose base='{joint.child}' behind it{ways}, or hold it: freeze={{'{joint.name}': 0}}"
            )
        if not np.any(joint.axis):
            raise FormatError(
                f"{tree.source}: joint '{joint.name}' has axis 0 0 0; give it a direction"
            )
    if not stand.kept and not (free and end is None):
        raise ModelError(
            f"{tree.source}: no movable joint stands between '{base}' and '{end}'; choose base and tip apart"
            if end is not None
            else f"{tree.source}: every movable joint under link '{base}' is held; free at least one"
        )
    if len(stand.kept) > MAX_JOINTS:
        what = "robot" if end is None else "chain"
        raise ModelError(
            f"{tree.source}: the {what} has {len(stand.kept)} joints; at most {MAX_JOINTS} are supported"
        )


def _word(kind: str) -> str:
    return "a ball joint" if kind == "ball" else kind


def _check_order(stand: Posture, joints: Sequence[str] | None) -> None:
    names = _independent(stand)
    if joints is None or list(joints) == names:
        return
    why = "in another order" if sorted(joints) == sorted(names) else "not the joints of the chain"
    raise InputError(f"joints is {list(joints)}, {why}; the chain has {names}, in that order")


def _check_massless(
    tree: Tree, kept: Sequence[TreeJoint], carried: CarriedLinks, allow_massless: bool
) -> None:
    """Refuse links without inertia on a chain, and in a tree joints that move none at all."""
    if allow_massless:
        return
    idle = [not table.any() for table in carried.tables[:-1]]
    # a link without inertia between two joints is how trees write joints of two degrees
    if carried.branched:
        for i in range(len(idle) - 1, -1, -1):
            parent = carried.parents[i]
            if parent >= 0 and not idle[i]:
                idle[parent] = False
    bare = [joint.child for joint, nothing in zip(kept, idle, strict=True) if nothing]
    if bare:
        raise ModelError(
            f"{tree.source}: moving link{'s' * (len(bare) > 1)} {listed(bare)} and what is "
            f"{'carried by' if carried.branched else 'fixed to'} {'them have' if len(bare) > 1 else 'it has'} no "
            "inertia, so torques would silently be too small; add <inertial>, or load with allow_massless=True"
        )


# ---- the arm's parts


def _tools(
    tree: Tree,
    base: str,
    carried: CarriedLinks,
    to_internal: Sequence[np.ndarray],
    tools: Sequence[str],
) -> tuple[Tool, ...]:
    made = []
    for link in tools:
        tree.check_link("tools", link)
        if link not in carried.places:
            raise InputError(f"tool '{link}' does not hang on base '{base}'; leave it out")
        pose = carried.tool_pose(link, to_internal)
        made.append(Tool(link, carried.places[link].carrier, pose))
    return tuple(made)


def _joint(
    joint: TreeJoint, i: int, frames: Frames, carried: CarriedLinks, stand: Posture
) -> Joint:
    a, alpha, beta, d, theta = frames.steps[i]
    gamma, b = frames.branches[i]
    friction = (
        Friction(viscous=joint.damping, coulomb=joint.friction)
        if joint.damping or joint.friction
        else None
    )
    rule = stand.follows.get(joint.name)
    return Joint(
        kind="prismatic" if joint.kind == "prismatic" else "revolute",
        a=a,
        alpha=alpha,
        d=d,
        theta=theta,
        beta=beta,
        armature=joint.armature,
        friction=friction,
        name=joint.name,
        position_limits=joint.position_limits,
        velocity_limit=joint.velocity_limit,
        effort_limit=joint.effort_limit,
        parameters=tuple(frames.parameters[i].tolist()),
        parent=carried.parents[i],
        gamma=gamma,
        b=b,
        mimic=Mimic(rule.joint, rule.multiplier, rule.offset) if rule else None,
    )


def _notes(tree: Tree, stand: Posture, carried: CarriedLinks, floating: bool) -> list[str]:
    """What was made rigid and what is odd, for the arm's origin."""
    moving = [*(joint.child for joint in stand.kept)]
    rows = list(zip(moving, carried.merged[:-1], strict=True))
    if floating:
        rows.insert(0, (next(iter(carried.places)), carried.merged[-1]))
    lines = [f"{MERGED}'{link}': {', '.join(names)}" for link, names in rows if names]
    lines += stand.notes(tree)
    for j in stand.kept:
        if j.position_limits and j.position_limits[0] > j.position_limits[1]:
            low, high = j.position_limits
            lines.append(f"joint '{j.name}' has position limits {low} > {high}")
    return lines
