"""A chain whose links are known by their minimal linear combinations only: what the minimal formulations compute with.

[lin1995]  S.-K. Lin, Minimal linear combinations of the inertia parameters of a manipulator, IEEE Trans. Robotics
           and Automation 11 (1995) 360-373, (38)-(43), (91)-(93).
Frames     u is the axis of joint m_i, the next rotational one outwards, in frame i; joints between are translational.
Differs    (43) is circular as printed; its first two entries are those of the next rotational joint outwards, 0 for
           the outermost. R diag(g, g, -U_33) R' is written g E - (U_33 + g) u u'. The constant part of D_i that (42)
           makes of the values of lin1995 is, entry by entry, what linfang1999 (C2) calls U_i: one vector of numbers
           drives inverse dynamics and mass matrix.
           By (31) a tensor diag(x, x, 0) may move from D_i to the next rotational joint inwards without changing any
           joint force. As printed, x makes the constant part of D_22 zero. Where the values are numbers, x is chosen
           for each joint so that Psi psi(D) is cheapest: D_22 = 0, D_11 = 0, or S_33 = 0 with S = tr(D)/2 E - D, which
           saves a multiplication and an addition for a link without symmetry. Also then, origins that may stand
           anywhere on their axes (`slid`: the last one, and where the next axis is parallel) are moved to where d = 0.
           What rounding leaves where terms cancel is dropped, each entry against the terms it is made of (`Weighed`).

    (38) D_i  = U*_i - diag(U*_22, U*_22, 0) + sum of d_k W_k over the translational joints k up to m_i
    (40) G    = diag(g, g, -U_33) in frame m_i,  g = (U* - U)_22 of joint m_i
    (41) (U* - U)_22 = (G_22) in frame i
    (42) U* - diag(U*_22, U*_22, 0) = U - diag(U_22, U_22, 0) + G - diag(G_22, G_22, 0)
    (91) D_i as (38) with the W_k constant
    (92) W_k  = R [[2 k_z, 0, -k_x], [0, 2 k_z, -k_y], [-k_x, -k_y, 0]] R', from frame k to frame i
    (93) (D_i)_33 = U*_33 + sum of 2 kappa2_k d_k       joints before s
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ...algebra.vectors import SYM_ZERO, ZERO, Scalar, Sym3, Vec3, Z, add, mul, sub
from ...robot.frames.chain import Chain, Step, pose, slid
from ...robot.frames.weighed import settled, weighed, weighed_chain
from .minimal_parameters_lin1995 import (
    Constants,
    Structure,
    combinations,
    constants,
    layout,
    structure_of,
)


@dataclass(frozen=True, slots=True, eq=False)
class MinimalBody:
    """One joint and what the minimal linear combinations know of its composite body; zeros stand for the rest."""

    revolute: bool
    m: Scalar = 0  # translational joints
    k: Vec3 = ZERO
    kappa1: Scalar = 0
    kappa2: Scalar = 0
    D: Sym3 = SYM_ZERO  # constant part of (38), D_22 = 0; before joint s only D_33
    W: tuple[tuple[int, Sym3], ...] = ()  # of translational joints up to the next rotational one
    form: Sym3 = SYM_ZERO  # D, or the same in the cheapest form
    spread: bool = False  # whether that form is tr(D)/2 E - D
    apart: bool = False  # a translational joint whose m and k are in no body within


@dataclass(frozen=True, slots=True, eq=False)
class MinimalChain:
    """Bodies from the base to the tip, gravity in frame 0, and the decisions of Theorem 2."""

    joints: tuple[MinimalBody, ...]
    gravity: Vec3
    structure: Structure
    # the same as the Newton-Euler recursion sees it: in the cheapest forms
    loads: tuple[MinimalBody, ...]
    along: tuple[Scalar, ...] | None = None  # d of rotational joints, what to add to other ones
    left: Scalar = 0  # how far origin n was moved back along its axis

    @property
    def n(self) -> int:
        return len(self.joints)

    def placed(self, steps: Sequence[Step]) -> Sequence[Step]:
        """The steps of a pose, between the origins that the bodies are written about."""
        if self.along is None:
            return steps
        return [
            _placed(step, d if body.revolute else add(step.d, d))
            for body, step, d in zip(self.joints, steps, self.along, strict=True)
        ]


def _placed(step: Step, d: Scalar) -> Step:
    return replace(step, d=d, s=Vec3(step.a, 0, 0) + step.z * d)


def minimal_chain(
    chain: Chain,
    structure: Structure | None = None,
    values: Sequence[Scalar] | None = None,
    folded: bool = True,
    third: bool = True,
) -> MinimalChain:
    """The chain in its minimal linear combinations.

    values: in the order of `layout(structure)`, numbers or symbols, those of lin1995 (third=False: of linfang1999);
    None: those of the chain itself, which are constants then and, if `folded`, spent on the cheapest form.
    structure: None: decided with no tolerance but rounding, so that the dynamics are exact.
    """
    structure = structure_of(chain, 0.0) if structure is None else structure
    steps: Sequence[Step] = pose(chain, [0] * chain.n)
    if values is not None:
        table = _table(structure, [weighed(x) for x in values])
        named = _starred(structure, steps, table) if third else table
        bodies = [_body(structure, i, of) for i, of in enumerate(named)]
        return _as_printed(chain, structure, steps, bodies)
    own = weighed_chain(chain)
    if not folded:
        return _as_printed(chain, structure, steps, _own(own, structure, steps))
    moved, placed, left = slid(own, steps)
    bodies = [_settled(body) for body in _own(moved, structure, placed)]
    loads = _folded(structure, placed, _own_apart(moved, structure, placed))
    along = tuple(
        new.d if body.revolute else sub(new.d, old.d)
        for body, new, old in zip(chain.joints, placed, steps, strict=True)
    )
    return MinimalChain(tuple(bodies), chain.gravity, structure, tuple(loads), along, left)


def _as_printed(
    chain: Chain, structure: Structure, steps: Sequence[Step], bodies: Sequence[MinimalBody]
) -> MinimalChain:
    """The chain without any form of its own: D as in (91)."""
    loads = [
        replace(b, form=b.D, W=_slides(structure, steps, bodies, i)) if b.revolute else b
        for i, b in enumerate(bodies)
    ]
    plain = (tuple(map(_settled, some)) for some in (bodies, loads))
    return MinimalChain(next(plain), chain.gravity, structure, next(plain))


def _settled(body: MinimalBody) -> MinimalBody:
    """The body in plain numbers, without what rounding left of zeros."""
    return replace(
        body,
        m=settled(body.m),
        k=Vec3(*map(settled, body.k)),
        kappa1=settled(body.kappa1),
        kappa2=settled(body.kappa2),
        D=Sym3(*map(settled, body.D)),
        W=tuple((j, Sym3(*map(settled, W))) for j, W in body.W),
        form=Sym3(*map(settled, body.form)),
    )


def _own(
    chain: Chain,
    structure: Structure,
    steps: Sequence[Step],
    apart: Callable[[int, Constants], bool] | None = None,
) -> list[MinimalBody]:
    """The bodies with the chain's own values."""
    fixed = constants(chain, steps, False, apart)
    table = _table(structure, combinations(structure, fixed))
    return [_body(structure, i, table[i]) for i in range(chain.n)]


def _own_apart(chain: Chain, structure: Structure, steps: Sequence[Step]) -> list[MinimalBody]:
    """The same with translational joints beyond s as bodies of their own, where that is cheaper."""
    chosen: set[int] = set()

    def apart(i: int, of: Constants) -> bool:
        if i > structure.s and _price_within(steps[i], of.k) > _price_apart(of.k):
            chosen.add(i)
        return i in chosen

    bodies = _own(chain, structure, steps, apart)
    return [replace(b, apart=i in chosen) for i, b in enumerate(bodies)]


def _price_within(step: Step, k: Vec3) -> int:
    """Operations of a translational joint whose k is in the bodies within: d W, rho, the force carried along d."""
    return 2 * sum(_there(x) for x in step.fall_sym(_slide_tensor(k, True))) + 5


def _price_apart(k: Vec3) -> int:
    """Operations that Omega k costs beyond what the other form spends on k."""
    return 4 * sum(map(_there, k))


def _table(structure: Structure, values: Sequence[Scalar]) -> list[dict[str, Scalar]]:
    """The values by joint and kind."""
    table: list[dict[str, Scalar]] = [{} for _ in range(structure.n)]
    for (i, kind), value in zip(layout(structure), values, strict=True):
        table[i][kind] = value
    return table


def _body(structure: Structure, i: int, of: dict[str, Scalar]) -> MinimalBody:
    """Joint i, its entries of U being those of linfang1999."""

    def get(kind: str) -> Scalar:
        return of.get(kind, 0)

    return MinimalBody(
        structure.revolute[i],
        get("m"),
        Vec3(get("k_x"), get("k_y"), get("k_z")),
        get("kappa1"),
        get("kappa2"),
        Sym3(get("U_11-22"), get("U_12"), 0, get("U_13"), get("U_23"), get("U_33")),
    )


def linfang_values(chain: Chain, structure: Structure, values: Sequence[Scalar]) -> list[Scalar]:
    """The values of linfang1999 from those of lin1995, both in the order of `layout(structure)`."""
    table = _table(structure, values)
    entries = _starred(structure, pose(chain, [0] * chain.n), table)
    return [entries[i][kind] for i, kind in layout(structure)]


def _starred(
    structure: Structure, steps: Sequence[Step], table: Sequence[dict[str, Scalar]]
) -> list[dict[str, Scalar]]:
    """Values of lin1995 by joint and kind with U* in the place of U."""
    entries: list[dict[str, Scalar]] = []
    g: Scalar = 0  # (U* - U)_22 of the next rotational joint outwards
    along: Scalar = 0  # its U_33
    u = ZERO  # its axis
    for i in range(structure.n - 1, -1, -1):
        of = dict(table[i])
        if structure.revolute[i]:
            G = _disc(u, g, along)  # (40)
            U = [of.get(f"U_{k}", 0) for k in ("11-22", "12", "13", "23", "33")]
            change = (sub(G.xx, G.yy), G.xy, G.xz, G.yz, G.zz)
            star = [add(x, y) for x, y in zip(U, change, strict=True)]  # (42)
            g, along, u = G.yy, U[-1], Z  # (41)
            of["U_33"] = star[-1]
            if i >= structure.s:
                of |= zip(("U_11-22", "U_12", "U_13", "U_23"), star[:-1], strict=True)
        entries.append(of)
        u = steps[i].fall(u)
    return entries[::-1]


def _disc(u: Vec3, g: Scalar, along: Scalar) -> Sym3:
    """R diag(g, g, -along) R' of a rotation with third column u."""
    rest = -add(along, g)
    uu = Sym3(
        mul(u.x, u.x), mul(u.x, u.y), mul(u.y, u.y), mul(u.x, u.z), mul(u.y, u.z), mul(u.z, u.z)
    )
    return Sym3(g, 0, g, 0, 0, g) + uu * rest


def _slides(
    structure: Structure,
    steps: Sequence[Step],
    bodies: Sequence[MinimalBody],
    i: int,
    spread: bool = False,
) -> tuple[tuple[int, Sym3], ...]:
    """W_k of each translational joint that moves body i >= s: up to the next rotational one, and not apart."""
    moved = []
    for j in range(i + 1, structure.n if i >= structure.s else 0):
        if structure.revolute[j]:
            break
        if bodies[j].apart:
            continue
        W = _slide_tensor(bodies[j].k, spread)
        for step in steps[j:i:-1]:
            W = step.fall_sym(W)  # (92)
        moved.append((j, W))
    return tuple(moved)


def _slide_tensor(k: Vec3, spread: bool) -> Sym3:
    """W_k in frame k, or tr(W)/2 E - W."""
    kz = mul(2, k.z)
    return Sym3(0, 0, 0, k.x, k.y, kz) if spread else Sym3(kz, 0, kz, -k.x, -k.y, 0)


def tensor(arm: MinimalChain, poses: Sequence[Step], i: int) -> Sym3:
    """D_i in a pose, or tr(D)/2 E - D where that is the cheaper form."""
    form = arm.loads[i].form
    for k, W in arm.loads[i].W:
        form = form + W * poses[k].d  # (38), (91)
    return form


def moment_along(arm: MinimalChain, poses: Sequence[Step], i: int) -> Scalar:
    """(D_i)_33 in a pose, for a rotational joint before s."""
    entry = arm.loads[i].form.zz
    for k in range(i + 1, arm.n):
        if arm.loads[k].revolute:
            break
        entry = add(entry, mul(mul(2, arm.loads[k].kappa2), poses[k].d))  # (93)
    return entry


def spread(D: Sym3) -> Sym3:
    """tr(D)/2 E - D."""
    half = mul(0.5, D.trace)
    return Sym3(sub(half, D.xx), -D.xy, sub(half, D.yy), -D.xz, -D.yz, sub(half, D.zz))


def _folded(
    structure: Structure, steps: Sequence[Step], bodies: Sequence[MinimalBody]
) -> list[MinimalBody]:
    """The bodies in their cheapest forms: from the outermost joint inwards, diag(x, x, 0) is handed on."""
    folded = []
    x: Scalar = 0
    u = ZERO
    for i in range(structure.n - 1, -1, -1):
        body = bodies[i]
        if body.revolute:
            body = replace(body, form=body.D - _disc(u, x, 0))
            x, u = 0, Z
            if i >= structure.s:
                x, body = _cheapest(body, steps[i + 1].a if i + 1 < structure.n else 0)
                body = replace(body, W=_slides(structure, steps, bodies, i, body.spread))
        folded.append(_settled(body))
        u = steps[i].fall(u)
    return folded[::-1]


def _cheapest(body: MinimalBody, b: Scalar) -> tuple[Scalar, MinimalBody]:
    """The x to hand inwards, and the body with the form that costs least; b is the next joint's."""
    D = body.form
    forms = []
    for x in (-D.yy, -D.xx):
        form = D + Sym3(x, 0, x, 0, 0, 0)
        forms.append((_price(form), x, replace(body, form=form)))
    x = mul(0.5, sub(D.zz, add(D.xx, D.yy)))
    form = spread(D + Sym3(x, 0, x, 0, 0, 0))
    forms.append((_price_spread(form, body.k, b), x, replace(body, form=form, spread=True)))
    _, x, chosen = min(forms, key=lambda form: form[0])
    return x, chosen


def _price(D: Sym3) -> int:
    """Operations of Psi psi(D) that its diagonal costs."""
    factors = (D.xx, D.yy, D.zz, sub(D.zz, D.yy), sub(D.xx, D.zz), sub(D.yy, D.xx))
    return 2 * sum(_there(f) for f in factors)


def _price_spread(S: Sym3, k: Vec3, b: Scalar) -> int:
    """The same in the other form, with the entries of Omega that nothing else wants: not k, b or other products."""
    missing = _there(S.xx) * (
        (not (_there(k.x) or _there(b) or _there(S.xy)))
        + (not (_there(k.x) or _there(b) or _there(S.xz)))
    )
    missing += _there(S.yy) * (
        (not (_there(k.y) or _there(S.xy))) + (not (_there(k.y) or _there(S.yz)))
    )
    return 4 * (_there(S.xx) + _there(S.yy) + _there(S.zz)) + missing


def _there(x: Scalar) -> bool:
    x = settled(x)
    return not (x.__class__ in (int, float) and x == 0)
