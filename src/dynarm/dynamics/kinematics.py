"""Poses, Jacobians, energies and momenta of chains and trees, over abstract scalars."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..algebra.vectors import IDENTITY, ZERO, Mat3, Scalar, Vec3, X, Y, Z, add, mul, total
from ..robot.frames.chain import Chain, Limb, Root, Step

Frame = tuple[Mat3, Vec3]  # rotation and origin, in the axes and from the origin of another frame
AXES = (X, Y, Z)


def frames(
    pose: Sequence[Step], root: Frame = (IDENTITY, ZERO), parents: Sequence[int] | None = None
) -> list[Frame]:
    """Rotation and origin of every link frame, carried outwards from the root."""
    links: list[Frame] = []
    for i, step in enumerate(pose):
        parent = i - 1 if parents is None else parents[i]
        R, p = links[parent] if parent >= 0 else root
        links.append((R @ step.R, p + R @ step.s))
    return links


def forward_kinematics(pose: Sequence[Step], root: Frame, tool: Frame) -> Frame:
    """Rotation and origin of the tool at the end of a chain, in the user's base link."""
    return within(frames(pose, root)[-1], tool)


def within(link: Frame, tool: Frame) -> Frame:
    """A frame that is given in another one, from the root."""
    R, p = link
    return R @ tool[0], p + R @ tool[1]


@dataclass(frozen=True, slots=True, eq=False)
class Carrier:
    """What Jacobians need of a robot in a pose: its links' frames from the root, and the root's own."""

    arm: Chain
    links: Sequence[Frame]
    root: Frame

    def columns(self, point: Vec3, joint: int) -> list[tuple[Vec3, Vec3]]:
        """For each speed the velocity of a point of that joint's link (-1: of the base) and the angular one."""
        moving = {joint, *self.arm.ancestors(joint)} if joint >= 0 else set()
        return [*self._base(point), *(self._own(j, point, j in moving) for j in range(self.arm.n))]

    def _base(self, point: Vec3) -> list[tuple[Vec3, Vec3]]:
        """The six speeds of a free base: along its axes, and about them."""
        if self.arm.root is None:
            return []
        R, p = self.root
        axes = [R @ e for e in AXES]
        return [(e, ZERO) for e in axes] + [(e.cross(point - p), e) for e in axes]

    def _own(self, j: int, point: Vec3, moves: bool) -> tuple[Vec3, Vec3]:
        if not moves:
            return ZERO, ZERO
        R, p = self.links[j]
        z = R @ Z
        return (z.cross(point - p), z) if self.arm.joints[j].revolute else (z, ZERO)


def jacobian(arm: Chain, pose: Sequence[Step], root: Frame, tool: Frame) -> list[tuple[Vec3, Vec3]]:
    """For each joint the linear velocity of the tool's origin and the angular velocity, base axes, per unit qd."""
    links = frames(pose, root, arm.parents)
    return Carrier(arm, links, root).columns(within(links[-1], tool)[1], arm.n - 1)


def velocities(arm: Chain, pose: Sequence[Step], qd: Sequence[Scalar]) -> list[tuple[Vec3, Vec3]]:
    """Velocity of each frame's origin and angular velocity of each link, in its own axes."""
    links: list[tuple[Vec3, Vec3]] = []
    begin, rates = _begun(arm, qd)
    for i, (joint, step, rate) in enumerate(zip(arm.joints, pose, rates, strict=True)):
        parent = arm.parent_of(i)
        v, w = links[parent] if parent >= 0 else begin
        v, w = step.rise(v + w.cross(step.s)), step.rise(w)
        links.append((v, w + Z * rate) if joint.revolute else (v + Z * rate, w))
    return links


def _begun(arm: Chain, qd: Sequence[Scalar]) -> tuple[tuple[Vec3, Vec3], Sequence[Scalar]]:
    """The base's own velocities, and the joints' rates."""
    if arm.root is None:
        return (ZERO, ZERO), qd
    return (Vec3(*qd[:3]), Vec3(*qd[3:6])), qd[6:]


def kinetic_energy(arm: Chain, pose: Sequence[Step], qd: Sequence[Scalar]) -> Scalar:
    """Kinetic energy [J]: the sum of (m v.v + w.J w)/2 + v.(w x h)."""
    moving: list[tuple[Limb | Root, tuple[Vec3, Vec3]]] = list(
        zip(arm.joints, velocities(arm, pose, qd), strict=True)
    )
    if arm.root is not None:
        moving.insert(0, (arm.root, _begun(arm, qd)[0]))
    energy: Scalar = 0
    for body, (v, w) in moving:
        twice = add(mul(body.m, v.dot(v)), w.dot(body.J @ w))
        energy = total(energy, mul(0.5, twice), v.dot(w.cross(body.h)))
    return energy


def first_moment(arm: Chain, pose: Sequence[Step], root: Frame) -> Vec3:
    """The sum of mass times position [kg m] of all moving links."""
    moment = ZERO
    for joint, (R, p) in zip(arm.joints, frames(pose, root, arm.parents), strict=True):
        moment = moment + (p * joint.m + R @ joint.h)
    if arm.root is not None:
        R, p = root
        moment = moment + (p * arm.root.m + R @ arm.root.h)
    return moment


def potential_energy(arm: Chain, pose: Sequence[Step], root: Frame, gravity: Vec3) -> Scalar:
    """Potential energy [J], zero with every mass at the origin of the user's base link; gravity in its axes."""
    return -gravity.dot(first_moment(arm, pose, root))


def mass(arm: Chain) -> Scalar:
    """Mass of all moving links [kg]."""
    own = [joint.m for joint in arm.joints]
    return total(*own) if arm.root is None else total(arm.root.m, *own)


def momentum(
    arm: Chain, pose: Sequence[Step], root: Frame, qd: Sequence[Scalar], about: Vec3
) -> tuple[Vec3, Vec3]:
    """Linear and angular momentum of all moving links about a point, in the axes of the root."""
    bodies: list[tuple[Limb | Root, Frame, tuple[Vec3, Vec3]]] = list(
        zip(arm.joints, frames(pose, root, arm.parents), velocities(arm, pose, qd), strict=True)
    )
    if arm.root is not None:
        bodies.insert(0, (arm.root, root, _begun(arm, qd)[0]))
    linear, angular = ZERO, ZERO
    for body, (R, p), (v, w) in bodies:
        own = v * body.m + w.cross(body.h)
        push = R @ own
        linear = linear + push
        angular = angular + R @ (body.J @ w + body.h.cross(v)) + (p - about).cross(push)
    return linear, angular
