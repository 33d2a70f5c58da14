"""Tool pose, Jacobian and energies of a chain, over abstract scalars."""

from __future__ import annotations

from collections.abc import Sequence

from ..algebra.vectors import IDENTITY, ZERO, Mat3, Scalar, Vec3, Z, add, mul, total
from ..robot.frames.chain import Chain, Step

Frame = tuple[Mat3, Vec3]  # rotation and origin, in the axes and from the origin of another frame


def frames(pose: Sequence[Step], root: Frame = (IDENTITY, ZERO)) -> list[Frame]:
    """Rotation and origin of every link frame, carried outwards from the root."""
    R, p = root
    found = []
    for step in pose:
        p = p + R @ step.s
        R = R @ step.R
        found.append((R, p))
    return found


def forward_kinematics(pose: Sequence[Step], root: Frame, tool: Frame) -> Frame:
    """Rotation and origin of the tool in the user's base link."""
    R, p = frames(pose, root)[-1]
    return R @ tool[0], p + R @ tool[1]


def jacobian(arm: Chain, pose: Sequence[Step], root: Frame, tool: Frame) -> list[tuple[Vec3, Vec3]]:
    """For each joint the linear velocity of the tool's origin and the angular velocity, base axes, per unit qd."""
    links = frames(pose, root)
    R, p = links[-1]
    end = p + R @ tool[1]
    columns = []
    for joint, (R, p) in zip(arm.joints, links, strict=True):
        z = R @ Z
        columns.append((z.cross(end - p), z) if joint.revolute else (z, ZERO))
    return columns


def velocities(arm: Chain, pose: Sequence[Step], qd: Sequence[Scalar]) -> list[tuple[Vec3, Vec3]]:
    """Velocity of each frame's origin and angular velocity of each link, in its own axes."""
    v, w = ZERO, ZERO
    found = []
    for joint, step, rate in zip(arm.joints, pose, qd, strict=True):
        v, w = step.rise(v + w.cross(step.s)), step.rise(w)
        if joint.revolute:
            w = w + Z * rate
        else:
            v = v + Z * rate
        found.append((v, w))
    return found


def kinetic_energy(arm: Chain, pose: Sequence[Step], qd: Sequence[Scalar]) -> Scalar:
    """Kinetic energy [J]: the sum of (m v.v + w.J w)/2 + v.(w x h)."""
    energy: Scalar = 0
    for joint, (v, w) in zip(arm.joints, velocities(arm, pose, qd), strict=True):
        twice = add(mul(joint.m, v.dot(v)), w.dot(joint.J @ w))
        energy = total(energy, mul(0.5, twice), v.dot(w.cross(joint.h)))
    return energy


def potential_energy(arm: Chain, pose: Sequence[Step], root: Frame, gravity: Vec3) -> Scalar:
    """Potential energy [J], zero with every mass at the origin of the user's base link; gravity in its axes."""
    energy: Scalar = 0
    for joint, (R, p) in zip(arm.joints, frames(pose, root), strict=True):
        energy = add(energy, -gravity.dot(p * joint.m + R @ joint.h))
    return energy
