"""A mobile manipulator out of one URDF: which of its links are wheels and casters, and everything else as the arm.

Which links are wheels is told in `urdf_wheels.py`. The ground lies below the lowest wheel; casters count as points that
carry weight, and their mass stays with the platform.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ..border.kinds import Outside
from ..errors import ModelError
from ..robot.arm import Arm
from ..robot.formats.tree import Tree, TreeJoint, listed
from ..robot.formats.urdf import read_tree
from ..robot.formats.whole import arm_of_tree
from ..robot.inertia import move_parameters, pack_parameters, unpack_parameters
from .platform import Base, Platform, Steering, Wheel
from .robot import MobileManipulator
from .urdf_wheels import DECLARE, GROUND, RADIUS, Mark, check_column, declared, radii_of


def robot_of_urdf(
    content: bytes,
    source: str,
    wheels: Outside = None,
    tip: str | None = None,
    friction: bool = False,
    snap: bool = True,
) -> MobileManipulator:
    """The mobile manipulator of a URDF document."""
    tree = read_tree(content, source, snap)
    if tip is not None:
        tree.check_link("tip", tip)
    poses = _poses(tree)
    marks, records = declared(tree, poses, wheels, radii_of(content, source))
    if not marks and not records:
        raise ModelError(f"{source}: no link of it is a wheel by name, axis and shape; {DECLARE}")
    ground = _ground(source, marks)
    for mark in marks:
        check_column(tree, poses, mark)
    made = [_wheel(tree, mark, ground) for mark in marks] + records
    if len(made) < 3:
        names = listed([mark.name for mark in marks])
        raise ModelError(
            f"{source}: it stands on three wheels or more, known are {names}; {DECLARE}"
        )
    arm = _arm(tree, [mark.joint for mark in marks], tip)
    body = _body(arm, poses, tree, marks, made)
    mass, com, inertia = unpack_parameters(body)
    if not mass > 0:
        raise ModelError(
            f"{source}: the platform has no mass apart from its wheels; give the base link an <inertial>"
        )
    assert arm.origin is not None
    mount = np.eye(4)
    mount[:3, 3] = -com
    return MobileManipulator(
        Platform(mass, inertia, float(com[2] - ground), _steering(source, made, com)),
        tuple(replace(w, x=w.x - com[0], y=w.y - com[1]) for w in made),
        Base(mount=mount),
        replace(arm, origin=replace(arm.origin, base=None)),
        friction=friction,
        name=tree.name,
    )


def _poses(tree: Tree) -> dict[str, np.ndarray]:
    """Every link in the root link, all joints at zero."""
    poses = {tree.root: np.eye(4)}
    for joint in tree.outwards(tree.root):
        poses[joint.child] = poses[joint.parent] @ joint.placement
    return poses


# ---- what becomes of them


def _steering(source: str, made: list[Wheel], com: np.ndarray) -> Steering | None:
    """Where the axles of a car meet: on the line of its fixed wheels; phi turns the middle of the others."""
    turned = [w for w in made if w.kind == "ackermann"]
    if not turned:
        return None
    axles = [w.x for w in made if w.kind == "fixed"]
    if not axles or max(axles) - min(axles) > GROUND:
        raise ModelError(
            f"{source}: the axles of 'ackermann' wheels meet on the line of fixed wheels, whose x are {axles}; give "
            "fixed wheels side by side, or declare the steered ones 'swerve' or 'fixed'"
        )
    x, y = (sum(getattr(w, key) for w in turned) / len(turned) for key in ("x", "y"))
    return Steering(x - com[0], y - com[1], sum(axles) / len(axles) - com[0])


def _ground(source: str, marks: list[Mark]) -> float:
    """Height of the ground in the root link: below the wheels, which must all stand on it."""
    known = [m for m in marks if m.radius is not None]
    if not marks:
        return 0.0
    if not known:
        names = listed([m.name for m in marks])
        raise ModelError(
            f"{source}: wheels {names} have no cylinder or sphere that tells their radius; {RADIUS}"
        )
    heights = {m.name: float(m.pose[2, 3]) - float(m.radius or 0.0) for m in known}
    first = [m for m in known if m.kind != "caster"] or known
    ground = min(heights[m.name] for m in first)
    off = [name for name, height in heights.items() if abs(height - ground) > GROUND]
    if off:
        gap = 1000 * (heights[off[0]] - ground)
        raise ModelError(
            f"{source}: {listed(off)} stands {gap:.0f} mm above the ground of the other wheels; {DECLARE}"
        )
    return ground


def _wheel(tree: Tree, mark: Mark, ground: float) -> Wheel:
    x, y, z = mark.pose[:3, 3]
    radius = float(z - ground)  # of casters and wheels alike: the centre stands so high
    if not radius > 0:
        raise ModelError(
            f"{tree.source}: the centre of wheel '{mark.name}' is not above the ground; {DECLARE}"
        )
    if mark.kind == "caster":
        return Wheel(x, y, radius, kind="caster", name=mark.name, **mark.more)
    if not mark.level:
        raise ModelError(
            f"{tree.source}: the axis of wheel '{mark.name}' is not level; declare it a caster or leave it out"
        )
    # the axle is y of a wheel that rolls along its x, forwards
    angle = float(np.arctan2(-mark.axis[0], mark.axis[1]))
    if abs(angle) > np.pi / 2 + 1e-9:
        angle -= np.copysign(np.pi, angle)
    if mark.kind == "swerve":
        angle = 0.0  # it turns itself
    own = tree.inertias[mark.joint.child]
    mass, _, inertia = unpack_parameters(np.zeros(10) if own is None else own)
    axis = mark.joint.axis / np.linalg.norm(mark.joint.axis)
    spin = float(axis @ inertia @ axis)
    turn = float(np.trace(inertia) - spin) / 2
    return Wheel(
        x,
        y,
        radius,
        mass,
        mark.kind,
        0.0 if abs(angle) < 1e-9 else angle,
        spin=spin,
        turn=turn,
        name=mark.name,
        **mark.more,
    )


def _arm(tree: Tree, joints: list[TreeJoint], tip: str | None) -> Arm:
    """The joints that are no part of wheels; those that follow others are held, with those that they follow."""
    held = {}
    for joint in joints:
        for step in [*tree.path(tree.root, joint.child)]:
            if step.movable:
                held[step.name] = 0.0
        for link in tree.under(joint.child):
            held |= {below.name: 0.0 for below in tree.below[link] if below.movable}
    if tip is None:
        for joint in tree.above.values():
            if joint.mimic is not None:
                held |= {joint.name: 0.0, joint.mimic.joint: 0.0}
    left = [j.name for j in tree.above.values() if j.movable and j.name not in held]
    if not left:
        raise ModelError(
            f"{tree.source}: apart from its wheels it has no joints; a mobile manipulator has an arm"
        )
    freeze = {name: value for name, value in held.items() if name in tree.joints}
    arm = arm_of_tree(tree, tip=tip, freeze=freeze, allow_massless=True)
    if not arm.branched:
        return arm
    assert arm.origin is not None
    reach = {link: _depth(arm, i) for i, link in enumerate(arm.origin.links)}
    tool = max(reach, key=lambda link: reach[link])
    return arm_of_tree(tree, tip=tip, freeze=freeze, allow_massless=True, tools=[tool])


def _depth(arm: Arm, i: int) -> int:
    steps = 0
    while i >= 0:
        i, steps = arm.parents[i], steps + 1
    return steps


def _body(
    arm: Arm,
    poses: Mapping[str, np.ndarray],
    tree: Tree,
    marks: list[Mark],
    made: list[Wheel],
) -> np.ndarray:
    """Ten parameters, in the root link, of all that is rigid with it but for the wheels as they are modelled."""
    assert arm.origin is not None
    body = np.zeros(10) if arm.origin.base is None else np.array(arm.origin.base)
    for mark, wheel in zip(marks, made, strict=False):
        if wheel.kind == "caster":
            continue
        assert wheel.spin is not None and wheel.turn is not None
        c, s = np.cos(wheel.angle), np.sin(wheel.angle)
        R = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        disk = np.diag([wheel.turn, wheel.spin, wheel.turn])
        modelled = pack_parameters(wheel.mass, np.zeros(3), disk)
        body = body - move_parameters(modelled, R, mark.pose[:3, 3])
    return body
