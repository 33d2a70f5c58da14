"""A chain in numbers of many digits: the same robot, its angles and parameters taken for exactly what the doubles say.

Whole quarter turns stay exact, as they are in `chain_of`; other angles are the doubles themselves, and their cosines
and sines have all the digits. What is zero in the chain stays a plain 0.
"""

from __future__ import annotations

from dataclasses import replace

from ...algebra.precise import Precision
from ...algebra.vectors import Scalar, Sym3, Vec3, cos, sin
from ..arm import Arm
from ..joint import Joint
from .chain import Chain, Limb, chain_of, quarters


def precise_chain(arm: Arm, of: Precision) -> Chain:
    """The chain of an arm with constants of that precision."""
    chain = chain_of(arm)
    limbs = zip(chain.joints, arm.joints, strict=True)
    first = chain.joints[0]
    made = [
        _limb(limb, None if limb is first and chain.serial else joint, of) for limb, joint in limbs
    ]
    gravity = Vec3(*(_number(x, of) for x in chain.gravity))
    return replace(chain, joints=tuple(made), gravity=gravity)


def _limb(limb: Limb, joint: Joint | None, of: Precision) -> Limb:
    """A limb with all its digits; joint: whose angles it has, None where they belong to the base."""
    theta: Scalar = limb.theta
    angles: dict[str, Scalar] = {}
    if joint is not None:
        if quarters(theta) is None:
            theta = of(theta)
        for letter, angle in (("a", joint.alpha), ("b", joint.beta), ("g", joint.gamma)):
            if getattr(limb, f"s{letter}").__class__ is float:  # no whole quarter turn
                x = of(angle)
                angles |= {f"c{letter}": cos(x), f"s{letter}": sin(x)}
    return replace(
        limb,
        **angles,
        theta=theta,
        **{name: _number(getattr(limb, name), of) for name in ("a", "d", "b", "m")},
        h=Vec3(*(_number(x, of) for x in limb.h)),
        J=Sym3(*(_number(x, of) for x in limb.J)),
    )


def _number(x: Scalar, of: Precision) -> Scalar:
    return of(x) if x != 0 else 0
