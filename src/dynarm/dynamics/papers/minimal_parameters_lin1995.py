"""Minimal linear combinations of the inertia parameters (MLCs): inertia constants of composite bodies and Theorem 2.

[lin1995]  S.-K. Lin, Minimal linear combinations of the inertia parameters of a manipulator, IEEE Trans. Robotics
           and Automation 11 (1995) 360-373, section II, Theorem 2; (86), (87). The second convention is that of
           [linfang1999], (C2).
Frames     Composite body i is links i to n; everything of it is about origin i, in frame i. z = R_b is the axis of
           joint i+1 in frame i, s = b + d z the displacement from origin i to origin i+1. u is the axis of joint r,
           the first rotational one, in frame i: constant for i < s, joint s being the first rotational one not
           parallel to joint r. Joints are counted from 0 here, and r = n, s = n where there are none.
Differs    The last row of the diagonal matrix of (12), (13) is 0 0 U_33 (the scan shows both); (C2) has 0 0 0, so the
           two papers' values differ. Item 5 of Theorem 2 needs (u)_z squared, as in (87). delta_j = 0 requires u // g
           also where no joint stands before j, and asks every joint before j, translational ones and those before r
           included, to be parallel to u. Theorem 2 holds for g != 0 only.
           Scalars may be anything linear: fed with unit vectors, the formulas give the rows of the matrix from the
           natural parameters to the combinations. `pair` is -[a x][b x] - [b x][a x] = 2 (a.b) E - a b' - b a'.

    (8)  c^_i = k_i + l_i        first moment of the composite body, about origin i
    (9)  J^_i = U_i + V_i        its inertia tensor
    (10) k_i  = m_i c_i + m^ s + z k_z      joint i+1 rotational;    m_i c_i + m^ b + R k    translational
    (11) l_i  = R [c^_x, c^_y, l_z]                                  R (l + m^ d)
    (12) U_i  = J_i - m^ [s x][s x] + R diag(U_22, U_22, U_33) R' + pair(s, z k_z)           rotational
    (13) V_i  = R (V + U - diag(U_22, U_22, U_33)) R' + pair(s, l_i)
    (14) U_i  = J_i + R U R' - m^ [b x][b x] + pair(b, R k)                                  translational
    (15) V_i  = R (V - m^ [d x][d x] + m^ pair(d, b) + pair(d, c^) + pair(b, l)) R'
    (86) kappa1_i = -u_y k_x + u_x k_y      (87) kappa2_i = -u_z (u_x k_x + u_y k_y) + (1 - u_z^2) k_z
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ...algebra.vectors import (
    SYM_ZERO,
    ZERO,
    Scalar,
    Sym3,
    Vec3,
    X,
    Z,
    add,
    mul,
    pair,
    square_skew,
    sub,
    total,
)
from ...robot.frames.chain import Chain, Step, pose

TOLERANCE = 1e-4  # [rad]: files write pi/2 as 1.5708; no log can tell axes this close apart
LENGTH = 1e-2  # times the angle's tolerance, in units of the robot's size: lengths taken for zero
ROUNDING = 1e-13  # what rounding alone may leave of a zero; beyond it a decision is not exact
WRITTEN = 1e-10  # what a file's digits may leave of it (1.57079632679); beyond it, doubtful


# ---- inertia constants of composite bodies


@dataclass(frozen=True, slots=True, eq=False)
class Constants:
    """Mass of composite body i and the constant parts of its first moment and inertia tensor."""

    m: Scalar
    k: Vec3
    U: Sym3


def constants(
    chain: Chain,
    steps: Sequence[Step],
    third: bool = True,
    apart: Callable[[int, Constants], bool] | None = None,
) -> list[Constants]:
    """m^, k and U of every composite body, whatever the steps' rotational joints stand at.

    third: U_33 of joint i+1 goes into U_i as in (12); False: it stays outside, the convention of linfang1999.
    apart: whether mass and first moment of a translational joint stay out of the bodies within.
    """
    last = chain.joints[-1]
    folded = [Constants(last.m, last.h, last.J)]
    for i in range(chain.n - 1, 0, -1):
        body, outer, step = chain.joints[i - 1], chain.joints[i], steps[i]
        m, k, U = folded[-1].m, folded[-1].k, folded[-1].U
        b, s, z = X * step.a, step.s, step.z
        if apart is not None and not outer.revolute and apart(i, folded[-1]):
            folded.append(Constants(body.m, body.h, body.J + step.fall_sym(U)))
            continue
        if outer.revolute:
            kz = z * k.z
            first = body.h + s * m + kz  # (10)
            disc = _turned_disc(z, U.yy, U.zz if third else 0)
            tensor = body.J - square_skew(s) * m + disc + pair(s, kz)  # (12)
        else:
            moved = step.fall(k)
            first = body.h + b * m + moved  # (10)
            tensor = body.J + step.fall_sym(U) - square_skew(b) * m + pair(b, moved)  # (14)
        folded.append(Constants(add(body.m, m), first, tensor))
    return folded[::-1]


def _turned_disc(z: Vec3, across: Scalar, along: Scalar) -> Sym3:
    """R diag(across, across, along) R' of a rotation with third column z."""
    rest = sub(along, across)
    zz = Sym3(
        mul(z.x, z.x), mul(z.x, z.y), mul(z.y, z.y), mul(z.x, z.z), mul(z.y, z.z), mul(z.z, z.z)
    )

    def entry(square: Scalar) -> Scalar:
        # along itself, where the axis is an axis of the frame: the difference would round it to the size of across
        whole = square.__class__ in (int, float) and square == 1
        return along if whole else add(across, mul(square, rest))

    xy, xz, yz = (mul(x, rest) for x in (zz.xy, zz.xz, zz.yz))
    return Sym3(entry(zz.xx), xy, entry(zz.yy), xz, yz, entry(zz.zz))


def varying(
    chain: Chain, steps: Sequence[Step], fixed: Sequence[Constants], third: bool = True
) -> list[tuple[Vec3, Sym3]]:
    """l and V of every composite body in a pose: what its first moment and tensor have beyond k and U (8), (9)."""
    pairs = [(ZERO, SYM_ZERO)]
    for outer, step, of in zip(chain.joints[:0:-1], steps[:0:-1], fixed[:0:-1], strict=True):
        l, V = pairs[-1]
        c = of.k + l  # (8)
        if outer.revolute:
            l = step.fall(Vec3(c.x, c.y, l.z))  # (11)
            rest = Sym3(
                sub(of.U.xx, of.U.yy), of.U.xy, 0, of.U.xz, of.U.yz, 0 if third else of.U.zz
            )
            V = step.fall_sym(V + rest) + pair(step.s, l)  # (13)
        else:
            d, b = Z * step.d, step.rise(X * step.a)
            inner = V - square_skew(d) * of.m + pair(d, b) * of.m + pair(d, c) + pair(b, l)
            l = step.fall(l + d * of.m)  # (11)
            V = step.fall_sym(inner)  # (15)
        pairs.append((l, V))
    return pairs[::-1]


# ---- Theorem 2: which combinations are minimal


@dataclass(frozen=True, slots=True)
class Decision:
    """One question about the geometry: what was measured, and what it was taken for."""

    question: str
    joints: tuple[int, ...]
    measured: float  # sine of an angle, or a length over the robot's size
    limit: float
    yes: bool

    @property
    def exact(self) -> bool:
        """Whether the answer is the geometry's own: a no, or a yes but for rounding."""
        return not self.yes or self.measured <= ROUNDING

    @property
    def doubtful(self) -> bool:
        """Whether the answer is the tolerance's, not the geometry's."""
        return self.yes and self.measured > WRITTEN


@dataclass(frozen=True, slots=True, eq=False)
class Structure:
    """What Theorem 2 asks of the geometry: joints r and s, delta, sigma, and the axis of joint r in frames i < s."""

    revolute: tuple[bool, ...]
    r: int
    s: int
    delta: tuple[bool, ...]
    sigma: tuple[bool, ...]
    axes: tuple[Vec3, ...]  # u_r in frame i for r <= i < s
    decisions: tuple[Decision, ...]

    @property
    def n(self) -> int:
        return len(self.revolute)

    @property
    def exact(self) -> bool:
        """Whether every decision is exact, and with it whatever is computed from the combinations."""
        return all(d.exact for d in self.decisions)

    def axis(self, i: int) -> Vec3:
        """u_r in frame i, r <= i < s."""
        return self.axes[i - self.r]


def structure_of(chain: Chain, tolerance: float = TOLERANCE) -> Structure:
    """The decisions of Theorem 2 for a chain. With tolerance 0 only rounding is forgiven, and every answer is exact.

    Gravity that is not a plain number is taken as pointing anywhere.
    """
    tolerance = max(tolerance, ROUNDING)
    n, kinds = chain.n, tuple(b.revolute for b in chain.joints)
    steps = pose(chain, [0] * n)
    r = kinds.index(True) if True in kinds else n
    asked: list[Decision] = []
    axes, s = _axes_before_s(kinds, steps, r, tolerance, asked)
    sigma = [
        not revolute and r < i < s and _across(axes[i - r]) > 0 for i, revolute in enumerate(kinds)
    ]
    lonely = _all_along(kinds, steps, chain.gravity, r, axes, tolerance, asked) if r < n else []
    delta = [kinds[i] and r <= i < s and not lonely[i - r] for i in range(n)]
    return Structure(kinds, r, s, tuple(delta), tuple(sigma), tuple(axes), tuple(asked))


def _across(u: Vec3) -> float:
    """Sine of the angle between u and z."""
    return math.hypot(u.x, u.y)


def _axes_before_s(
    kinds: Sequence[bool], steps: Sequence[Step], r: int, limit: float, asked: list[Decision]
) -> tuple[list[Vec3], int]:
    """u_r in frames r ... s-1, exactly +-z where joint i was taken for parallel, and s."""
    axes: list[Vec3] = []
    u = Z
    for i in range(r, len(kinds)):
        if i > r:
            u = steps[i].rise(u)
            decision = Decision("parallel", (r, i), _across(u), limit, _across(u) <= limit)
            asked.append(decision)
            if kinds[i] and not decision.yes:
                return axes, i
            if decision.yes:
                u = Vec3(0, 0, 1 if u.z > 0 else -1)
        axes.append(u)
    return axes, len(kinds)


def _all_along(
    kinds: Sequence[bool],
    steps: Sequence[Step],
    gravity: Vec3,
    r: int,
    axes: Sequence[Vec3],
    limit: float,
    asked: list[Decision],
) -> list[bool]:
    """For joints r ... s-1: whether gravity, every axis before it and every displacement from joint r on is along u."""
    size = sum(abs(step.a) + abs(step.d) for step in steps[1:]) or 1.0
    u, along = Z, True
    for k in range(r, 0, -1):
        u = steps[k].fall(u)
        along = _ask(asked, "parallel", (k - 1, r), _across(u), limit) and along
    along = _ask_gravity(asked, gravity, u, r, limit) and along
    parallel = [along]
    way = ZERO
    for i in range(r + 1, r + len(axes)):
        if not along:
            parallel.append(False)
            continue
        along = along and _across(axes[i - 1 - r]) == 0
        way = steps[i].rise(way + steps[i].s)
        if kinds[i]:
            along = along and _ask(asked, "no offset", (r, i), _across(way) / size, limit * LENGTH)
            way = ZERO
        parallel.append(along)
    return parallel


def _ask(
    asked: list[Decision], question: str, joints: tuple[int, ...], measured: float, limit: float
) -> bool:
    asked.append(Decision(question, joints, measured, limit, measured <= limit))
    return asked[-1].yes


def _ask_gravity(asked: list[Decision], gravity: Vec3, u: Vec3, r: int, limit: float) -> bool:
    if not all(isinstance(x, (int, float)) for x in gravity):
        return False
    size = math.hypot(*gravity)
    off = gravity.cross(u)
    return _ask(asked, "along gravity", (r,), math.hypot(*off) / size if size else 0.0, limit)


# ---- the combinations, by joint and kind

GENERAL = ("U_11-22", "U_12", "U_13", "U_23", "U_33", "k_x", "k_y")


def layout(structure: Structure) -> list[tuple[int, str]]:
    """The joint and the kind of every combination of Theorem 2, in order."""
    entries = []
    for i in range(structure.n):
        entries += [(i, kind) for kind in _kinds_of(structure, i)]
    return entries


def _kinds_of(structure: Structure, i: int) -> tuple[str, ...]:
    """Theorem 2 for one joint."""
    if structure.revolute[i]:
        if i >= structure.s:
            return GENERAL  # item 2
        return ("U_33", "k_x", "k_y") if structure.delta[i] else ("U_33",)  # item 1
    if i > structure.s:
        return "m", "k_x", "k_y", "k_z"  # items 3 and 4
    return ("m", "kappa1", "kappa2") if structure.sigma[i] else ("m",)  # items 3 and 5


def name_of(i: int, kind: str) -> str:
    """The name of a combination: U2_11-22, k3_x, m3, kappa1_3."""
    if kind.startswith("kappa"):
        return f"{kind}_{i + 1}"
    return f"{kind[0]}{i + 1}{kind[1:]}"


def combinations(structure: Structure, fixed: Sequence[Constants]) -> list[Scalar]:
    """The minimal linear combinations, in the order of `layout`."""
    return [_combination(structure, i, kind, fixed[i]) for i, kind in layout(structure)]


def _combination(structure: Structure, i: int, kind: str, of: Constants) -> Scalar:
    k, U = of.k, of.U
    if kind == "kappa1":
        u = structure.axis(i)
        return sub(mul(u.x, k.y), mul(u.y, k.x))  # (86)
    if kind == "kappa2":
        u = structure.axis(i)
        along = add(mul(u.x, k.x), mul(u.y, k.y))
        return total(-mul(u.z, along), mul(u.x * u.x + u.y * u.y, k.z))  # (87)
    entries = {
        "m": of.m,
        "k_x": k.x,
        "k_y": k.y,
        "k_z": k.z,
        "U_12": U.xy,
        "U_13": U.xz,
        "U_23": U.yz,
        "U_33": U.zz,
    }
    return sub(U.xx, U.yy) if kind == "U_11-22" else entries[kind]
