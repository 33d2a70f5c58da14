"""Links gathered: mass that two links could carry is given to the inner one, and few parameters are left.

Mass on the axis of a rotational joint belongs to the link before it as well as to its own, as does the second moment of
a link behind a translational joint; no joint force can tell. Handed inwards, it leaves seven numbers a rotational joint
and four a translational one, and ten of a base that moves freely: as many as there are minimal parameters, where no
joint is shielded by the base. On a tree what several links hand in is added up.

    rotational       h_x, h_y, Q_xx, Q_xy, Q_yy, Q_xz, Q_yz       handed in: m, h_z on the axis, Q_zz
    translational    m, h_x, h_y, h_z                             handed in: Q, turned

with the second moment Q = sum m r r', J = tr(Q) E - Q.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...algebra.vectors import SYM_ZERO, ZERO, Scalar, Sym3, Vec3, add, mul, sub
from ...robot.frames.chain import Chain, Limb, Root, Step


@dataclass(frozen=True, slots=True, eq=False)
class Mass:
    """Mass, first moment and second moment sum m r r' about the origin of a frame, in its axes."""

    m: Scalar = 0
    h: Vec3 = ZERO
    Q: Sym3 = SYM_ZERO

    def __add__(self, o: Mass) -> Mass:
        return Mass(add(self.m, o.m), self.h + o.h, self.Q + o.Q)

    @property
    def J(self) -> Sym3:
        """The inertia tensor tr(Q) E - Q."""
        Q = self.Q
        return Sym3(add(Q.yy, Q.zz), -Q.xy, add(Q.xx, Q.zz), -Q.xz, -Q.yz, add(Q.xx, Q.yy))

    def shifted(self, s: Vec3) -> Mass:
        """The same about an origin that stands s further back."""
        return Mass(self.m, self.h + s * self.m, self.Q + both(s, self.h) + square(s) * self.m)

    def fall(self, step: Step) -> Mass:
        """The same in the axes of the frame before."""
        return Mass(self.m, step.fall(self.h), step.fall_sym(self.Q))


def both(s: Vec3, h: Vec3) -> Sym3:
    """s h' + h s'; s, whose entries are doubled, is best the constant one."""
    xx, yy, zz = (mul(mul(2, p), q) for p, q in zip(s, h, strict=True))
    return Sym3(
        xx,
        add(mul(s.x, h.y), mul(s.y, h.x)),
        yy,
        add(mul(s.x, h.z), mul(s.z, h.x)),
        add(mul(s.y, h.z), mul(s.z, h.y)),
        zz,
    )


def square(s: Vec3) -> Sym3:
    """s s'."""
    return Sym3(
        mul(s.x, s.x), mul(s.x, s.y), mul(s.y, s.y), mul(s.x, s.z), mul(s.y, s.z), mul(s.z, s.z)
    )


def gathered(arm: Chain, pose: Sequence[Step]) -> tuple[list[Mass], Mass]:
    """The links' masses and moments, what two links could carry given to the inner one; and what the base is given."""
    if arm.loads is not None:
        known: tuple[list[Mass], Mass] = arm.loads
        return list(known[0]), known[1]
    own = [mass_of(body) for body in arm.joints]
    base = Mass() if arm.root is None else mass_of(arm.root)
    left: list[Mass] = []
    for i in range(arm.n - 1, -1, -1):
        kept, handed = _divided(arm.joints[i].revolute, pose[i], own[i])
        left.append(kept)
        parent = arm.parent_of(i)
        if parent >= 0:
            own[parent] = own[parent] + handed
        elif arm.root is not None:
            base = base + handed
    return left[::-1], base


def _divided(revolute: bool, step: Step, own: Mass) -> tuple[Mass, Mass]:
    """What a link keeps, and what it hands to its parent, about the parent's origin and in its axes."""
    h, Q = own.h, own.Q
    if not revolute:
        return Mass(own.m, h), Mass(Q=step.fall_sym(Q))
    z, s = step.z, step.s
    moved = z * h.z
    spread = square(z) * Q.zz + both(s, moved) + square(s) * own.m
    kept = Mass(0, Vec3(h.x, h.y, 0), Sym3(Q.xx, Q.xy, Q.yy, Q.xz, Q.yz, 0))
    return kept, Mass(own.m, moved + s * own.m, spread)


def mass_of(body: Limb | Root) -> Mass:
    """The mass of a link and its moments."""
    half = mul(0.5, body.J.trace)
    J = body.J
    Q = Sym3(sub(half, J.xx), -J.xy, sub(half, J.yy), -J.xz, -J.yz, sub(half, J.zz))
    return Mass(body.m, body.h, Q)
