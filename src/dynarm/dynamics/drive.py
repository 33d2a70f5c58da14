"""What the joints' drives add to rigid-body dynamics: reflected motor inertia and friction, over abstract scalars."""

from __future__ import annotations

from collections.abc import Sequence

from ..algebra.vectors import Scalar, add, magnitude, mul, sign, tanh, total
from ..robot.arm import Friction, Joint


def friction_force(friction: Friction | None, v: Scalar) -> Scalar:
    """Viscous, Coulomb and offset force [N m or N] that the drive must overcome at velocity v.

    With coefficients that differ by direction, f+ for v > 0 and f- for v < 0, f(v) v is written
    (f+ + f-)/2 v + (f+ - f-)/2 |v|, which has no branch.
    """
    if friction is None:
        return 0
    viscous = _both_ways(friction.viscous, friction.viscous_negative, v)
    direction = sign(v) if friction.shape == "sign" else tanh(v * (1 / friction.width))
    coulomb = _both_ways(friction.coulomb, friction.coulomb_negative, direction)
    return total(viscous, coulomb, friction.offset)


def _both_ways(positive: float, negative: float | None, x: Scalar) -> Scalar:
    if negative is None or negative == positive:
        return mul(positive, x)
    return add(mul((positive + negative) / 2, x), mul((positive - negative) / 2, magnitude(x)))


def drive_forces(
    joints: Sequence[Joint], qd: Sequence[Scalar], qdd: Sequence[Scalar]
) -> list[Scalar]:
    """Armature times acceleration plus friction, joint by joint [N m or N]."""
    return [
        add(mul(j.armature, acc), friction_force(j.friction, v))
        for j, v, acc in zip(joints, qd, qdd, strict=True)
    ]
