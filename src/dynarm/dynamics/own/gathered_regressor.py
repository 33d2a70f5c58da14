"""The regressor of chains and trees on gathered links: joint forces by each of their entries, in closed form.

An entry of link i asks for a wrench (f, n) on it, known from the link's motion. What joint j feels of it is the rate of
work that the wrench does when j alone moves at unit speed: v . f + w . n with the partial velocities of link i, which
are carried outwards from joint j in few operations, once for all entries of the link.

    m: f = a        h_x: f = Omega x, n = x x a  (likewise y, z)        Q: n = axial(Omega Q - Q Omega')
"""

from __future__ import annotations

from collections.abc import Sequence

from ...algebra.vectors import ZERO, Scalar, Sym3, Vec3, X, Y, Z, add, mul
from ...robot.frames.chain import Chain, Step
from ..papers.angular_motion_lin1995 import Spin
from ..papers.minimal_newton_euler_lin1995 import spread_moment
from .free_base import Wrench, base_motion
from .gathered_newton_euler import moved

Rows = list[list[Scalar]]
Partial = tuple[Vec3, Vec3]  # velocity of a link's origin and angular velocity, in its axes
MASS, MOMENTS, PLANE = ("m",), ("x", "y", "z"), ("x", "y")
SPREAD = ("xx", "xy", "yy", "xz", "yz", "zz")


def regressor(
    arm: Chain, pose: Sequence[Step], qd: Sequence[Scalar], qdd: Sequence[Scalar]
) -> Rows:
    """(nv, entries): tau by the ten entries of a free base, seven of rotational and four of translational joints."""
    base = base_motion(arm, qd, qdd)
    first = arm.nv - arm.n
    rows: Rows = [[] for _ in range(arm.nv)]
    begin: dict[int, Partial] = {}
    if arm.root is not None:
        axes = (X, Y, Z)
        begin = dict(enumerate([*((e, ZERO) for e in axes), *((ZERO, e) for e in axes)]))
        _enter(rows, begin, _wrenches(base.spin, base.a, (*MASS, *MOMENTS, *SPREAD)))
    known: list[dict[int, Partial]] = []  # of each link, by speed
    for i, (spin, a) in enumerate(moved(arm, pose, base)):
        revolute = arm.joints[i].revolute
        parent = arm.parent_of(i)
        inner = known[parent] if parent >= 0 else begin
        own = {k: _outwards(pose[i], partial) for k, partial in inner.items()}
        own[first + i] = (ZERO, Z) if revolute else (Z, ZERO)
        known.append(own)
        entries = (*PLANE, *SPREAD[:5]) if revolute else (*MASS, *MOMENTS)
        _enter(rows, own, _wrenches(spin, a, entries))
    return rows


def _outwards(step: Step, partial: Partial) -> Partial:
    """Partial velocities of a link from those of its parent."""
    v, w = partial
    rise = step.whole.rise
    turned = rise(w)
    return rise(v + w.cross(step.across)) + turned.cross(Z * step.d), turned


def _wrenches(spin: Spin, a: Vec3, entries: Sequence[str]) -> list[Wrench]:
    """The wrench that each entry asks for, at one."""
    made: dict[str, Wrench] = {"m": (a, ZERO)}
    for name, e, column in zip(MOMENTS, (X, Y, Z), (spin.x, spin.y, spin.z), strict=True):
        made[name] = column, e.cross(a)
    for name in set(entries) & set(SPREAD):
        unit = Sym3(*(1 if key == name else 0 for key in SPREAD))
        made[name] = ZERO, spread_moment(unit, spin)
    return [made[name] for name in entries]


def _enter(rows: Rows, partials: dict[int, Partial], wrenches: Sequence[Wrench]) -> None:
    """Add the columns of a link."""
    for r, row in enumerate(rows):
        if r not in partials:
            row += [0] * len(wrenches)
            continue
        v, w = partials[r]
        row += [add(v.dot(f), w.dot(n)) for f, n in wrenches]


def combined(rows: Rows, matrix: Sequence[Sequence[float]]) -> Rows:
    """The rows times a constant matrix."""
    used = [[(k, x) for k, x in enumerate(column) if x] for column in zip(*matrix, strict=True)]
    products = []
    for row in rows:
        entries: list[Scalar] = []
        for column in used:
            value: Scalar = 0
            for k, factor in column:
                value = add(value, mul(factor, row[k]))
            entries.append(value)
        products.append(entries)
    return products
