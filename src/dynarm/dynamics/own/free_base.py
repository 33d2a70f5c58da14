"""Where recursions begin and end: the motion of a base that stands still or moves freely, wrenches on their way to it.

Speeds of a free base are its linear and angular velocity in its own axes, and so are its accelerations: the origin is
accelerated by vd + w x v. Gravity, in the axes of the base, enters as an acceleration of the base against it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...algebra.vectors import ZERO, Mat3, Scalar, Vec3, Z, add, mul, sqrt, sub
from ...robot.frames.chain import Chain, Step
from ..papers.angular_motion_lin1995 import STILL, Spin, spin

Wrench = tuple[Vec3, Vec3]


@dataclass(frozen=True, slots=True, eq=False)
class BaseMotion:
    """Motion of the base's frame and origin, its velocity, what gravity adds to `a`, and the joints' own rates."""

    spin: Spin
    a: Vec3
    v: Vec3
    pull: Vec3
    qd: Sequence[Scalar]
    qdd: Sequence[Scalar]


def base_motion(arm: Chain, qd: Sequence[Scalar], qdd: Sequence[Scalar]) -> BaseMotion:
    """What the first joints begin with."""
    pull = -arm.gravity
    if arm.root is None:
        return BaseMotion(STILL, pull, ZERO, pull, qd, qdd)
    v, w = Vec3(*qd[:3]), Vec3(*qd[3:6])
    a = Vec3(*qdd[:3]) + w.cross(v) + pull
    return BaseMotion(spin(w, Vec3(*qdd[3:6])), a, v, pull, qd[6:], qdd[6:])


def handed(step: Step, f: Vec3, n: Vec3, once: bool = False) -> Wrench:
    """A wrench on link i as one on its parent; once: where the step turns no other vectors, which decides how."""
    fall = step.fall if once else step.whole.fall
    n = fall(n + (Z * step.d).cross(f))
    f = fall(f)
    return f, n + step.across.cross(f)


def rotation_of(quaternion: Sequence[Scalar]) -> Mat3:
    """The rotation matrix of a unit quaternion x, y, z, w: from the base's axes to the world's."""
    x, y, z, w = quaternion
    x2, y2, z2 = mul(2, x), mul(2, y), mul(2, z)
    xx, yy, zz = mul(x, x2), mul(y, y2), mul(z, z2)
    xy, xz, yz = mul(x, y2), mul(x, z2), mul(y, z2)
    wx, wy, wz = mul(w, x2), mul(w, y2), mul(w, z2)
    return Mat3(
        Vec3(sub(1, add(yy, zz)), sub(xy, wz), add(xz, wy)),
        Vec3(add(xy, wz), sub(1, add(xx, zz)), sub(yz, wx)),
        Vec3(sub(xz, wy), add(yz, wx), sub(1, add(xx, yy))),
    )


def unit(quaternion: Sequence[Scalar]) -> list[Scalar]:
    """The quaternion at unit length."""
    x, y, z, w = quaternion
    length = sqrt(add(add(mul(x, x), mul(y, y)), add(mul(z, z), mul(w, w))))
    return [entry / length for entry in quaternion]


def turning(quaternion: Sequence[Scalar], w: Vec3) -> list[Scalar]:
    """The rate of the unit quaternion x, y, z, w of a base that turns with angular velocity w, in its own axes."""
    x, y, z, real = quaternion
    axis = Vec3(x, y, z)
    half = w * 0.5
    return [*(half * real + axis.cross(half)), -axis.dot(half)]
