"""Redundancy that Theorem 2 does not cover: without gravity, where reflected motor inertias join, where joints follow.

Which columns of the regressor are combinations of others is decided by elimination in a fixed order, on states that are
the same on every machine, and on geometry from which the tolerance has been taken away. Lengths are measured in the
robot's own there, and time in what its gravity makes of it, so that columns of all units may be compared: an arm of
micrometres has the parameters of the same arm of metres.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..algebra.vectors import Scalar, Vec3
from ..dynamics.own.minimal_tree import TreeStructure, tree_structure
from ..dynamics.papers.minimal_parameters_lin1995 import LENGTH, ROUNDING
from ..errors import InputError
from ..robot.coupling import Coupling
from ..robot.frames.chain import Chain, Limb
from .sampling import sampled_regressor
from .units import Even, length_of, units

# Of a column's length: what is left of it when it is a combination of others. On exact geometry this is 1e-15, and more
# than 1e-4 of columns that are none.
DEPENDENT = 1e-6
# The same where joints follow others: products of small angles leave as little as 1e-8 of columns that are none.
COUPLED = 1e-10
# likewise, of what rounding alone leaves; of the longest column: those that are zero
ROUNDED = 1e-12
FELT = 1e-6  # [1/s^2], of the robot's length: weaker gravity may be none beside a robot's accelerations
CLOSE = 1e-13  # of a column: what rounding leaves of it beside the columns that give it
ENDS = 4 * float(np.finfo(float).eps)  # of a factor: its last bits
SIMPLE = 1e-9  # factors this close to a multiple of 1/2 are meant to be one


@dataclass(frozen=True, slots=True, eq=False)
class Merging:
    """Which of the combinations and armatures are kept, and what each takes up of the others."""

    kept: list[int]
    matrix: np.ndarray  # (kept, all)
    left: dict[int, float]  # of the merged ones: how much of their column no other column gives


def merging(
    chain: Chain,
    tree: TreeStructure,
    coupling: Coupling,
    tolerance: float,
    armature: bool,
    anywhere: bool = False,
) -> Merging:
    """What the combinations of Theorem 2, and the armatures behind them, are merged to.

    Theorem 2 holds for g != 0, and without armature nothing else is left to merge; on a free base it holds always, and
    armatures, which no wrench of the base feels, stay apart. Otherwise (for a g that can hardly be felt, and where
    joints follow others) a column of the regressor that the columns before it give is merged into them. anywhere: for
    every direction of gravity; where joints follow others, one direction does not stand for all.
    """
    total = len(tree.layout()) + (chain.n if armature else 0)
    length = length_of(chain)
    pull = max(float(np.max(np.abs(g))) for g in chain.gravity) / length
    proved = tree.floating or (not armature and pull > FELT)
    if proved and coupling.free:
        return Merging(list(range(total)), np.eye(total), {})
    tidied, again = _tidied(_measured_in(chain, length), tree, tolerance, coupling.free)
    rate = math.sqrt(pull) if pull > FELT else 1.0
    followed = _followed_in(coupling, tree.revolute, length)
    turning = anywhere and not coupling.free
    Y = sampled_regressor(tidied, again, followed, armature, rate, turning)
    limit = DEPENDENT if coupling.free else COUPLED
    left = residues(Y, _order(total, chain.n * armature, coupling), limit)
    kept = [k for k in range(total) if left[k] > limit]
    merge = np.zeros((len(kept), total))
    merge[np.arange(len(kept)), kept] = 1
    rest = {k: left[k] for k in range(total) if left[k] <= limit}
    if rest:
        factors = _factors if coupling.free else _few_factors
        merge[:, list(rest)] = factors(Y[:, kept], Y[:, list(rest)], list(rest.values()))
    own = units(tree, armature)
    return Merging(kept, _ended(Even.of(length, own[kept], own).up(merge)), rest)


def _ended(factors: np.ndarray) -> np.ndarray:
    """Factors that are multiples of 1/2 but for their last bits without those."""
    simple = np.round(2 * factors) / 2
    return np.where(np.abs(factors - simple) <= ENDS * np.abs(simple), simple, factors)


def _order(total: int, armatures: int, coupling: Coupling) -> list[int]:
    """The combinations, and the armatures behind them: those of joints that follow others last."""
    first = total - armatures
    late = [i not in coupling.masters for i in range(armatures)]
    return [*range(first), *sorted(range(first, total), key=lambda k: late[k - first])]


def _measured_in(chain: Chain, length: float) -> Chain:
    """The geometry and gravity of a chain in another unit of length."""
    bodies = (replace(b, a=b.a / length, d=b.d / length, b=b.b / length) for b in chain.joints)
    gravity = Vec3(*(g / length for g in chain.gravity))
    return replace(chain, joints=tuple(bodies), gravity=gravity)


def _followed_in(coupling: Coupling, revolute: Sequence[bool], length: float) -> Coupling:
    """The coupling in another unit of length, which translational joints are measured in."""
    units = [1.0 if turns else length for turns in revolute]
    masters = [units[coupling.masters[k]] for k in coupling.of]
    factors = zip(coupling.multipliers, masters, units, strict=True)
    return replace(
        coupling,
        multipliers=tuple(factor * master / own for factor, master, own in factors),
        offsets=tuple(x / own for x, own in zip(coupling.offsets, units, strict=True)),
    )


def _factors(basis: np.ndarray, others: np.ndarray, left: Sequence[float]) -> np.ndarray:
    """(kept, rest): the other columns in terms of the basis; what adds no more to one than is left of it is none."""
    lengths, size = np.linalg.norm(basis, axis=0), np.linalg.norm(others, axis=0)
    factors = np.linalg.lstsq(basis / lengths, others, rcond=None)[0]
    floor = np.maximum(ROUNDED, 10 * np.array(left)) * np.maximum(size, ROUNDED * lengths.max())
    factors = np.where(np.abs(factors) <= floor, 0.0, factors) / lengths[:, None]
    simple = np.round(2 * factors) / 2
    rounded: np.ndarray = np.where(np.abs(factors - simple) < SIMPLE, simple, factors)
    return rounded


def _few_factors(basis: np.ndarray, others: np.ndarray, left: Sequence[float]) -> np.ndarray:
    """The same where columns of the basis may be nearly parallel: of few columns, solved for again without the others.

    Small multipliers have small factors, so what is small is left out only if the rest gives the column as well.
    """
    lengths, size = np.linalg.norm(basis, axis=0), np.linalg.norm(others, axis=0)
    longest = float(lengths.max())
    columns = [
        np.zeros(len(lengths))
        if length <= ROUNDED * longest
        else _few(basis / lengths, column / length, max(CLOSE, 10 * over)) * length / lengths
        for column, length, over in zip(others.T, size.tolist(), left, strict=True)
    ]
    factors = np.array(columns).T
    for k, column in enumerate(others.T):
        simple = np.round(2 * factors[:, k]) / 2
        rounded = np.where(np.abs(factors[:, k] - simple) < SIMPLE, simple, factors[:, k])
        if np.linalg.norm(basis @ rounded - column) <= max(CLOSE, 10 * left[k]) * size[k]:
            factors[:, k] = rounded
    return factors


def _few(basis: np.ndarray, column: np.ndarray, allowed: float) -> np.ndarray:
    """Factors of a column of length one, as few as give it."""
    whole = np.linalg.lstsq(basis, column, rcond=None)[0]
    for share in (1e-4, 1e-6, 1e-8, 1e-10, 1e-12):
        taken = np.flatnonzero(np.abs(whole) > share)
        some = np.zeros(len(whole))
        some[taken] = np.linalg.lstsq(basis[:, taken], column, rcond=None)[0]
        if np.linalg.norm(basis @ some - column) <= allowed:
            return some
    return np.asarray(whole)


def _tidied(
    chain: Chain, tree: TreeStructure, tolerance: float, upright: bool
) -> tuple[Chain, TreeStructure]:
    """The chain with angles near quarter turns, lengths and (upright) parts of gravity near zero set there.

    Near is the tolerance, or what of it leaves the decisions of Theorem 2 as they are: small angles may add up. Where
    joints follow others, no decision asks about gravity's direction, so that nobody would hear what was left out of it.
    """
    near = tolerance
    while near > ROUNDING:
        exact = _set_exact(chain, near)
        exact = exact if upright else replace(exact, gravity=chain.gravity)
        again = tree_structure(exact, tolerance)
        if again.layout() == tree.layout():
            return exact, again
        near /= 10
    return chain, tree


def _set_exact(chain: Chain, near: float) -> Chain:
    size = sum(abs(b.a) + abs(b.d) + abs(b.b) for b in chain.joints) or 1.0
    bodies = [_set_body_exact(b, near, near * LENGTH * size) for b in chain.joints]
    g = [float(x) for x in chain.gravity]
    limit = near * max(map(abs, g))
    gravity = Vec3(*(0 if abs(x) <= limit else x for x in g))
    return replace(chain, joints=tuple(bodies), gravity=gravity)


def _set_body_exact(body: Limb, angle: float, length: float) -> Limb:
    def turn(c: float, s: float) -> tuple[Scalar, Scalar]:
        if abs(s) <= angle:
            return (1 if c > 0 else -1), 0
        return (0, 1 if s > 0 else -1) if abs(c) <= angle else (c, s)

    (ca, sa), (cb, sb) = turn(body.ca, body.sa), turn(body.cb, body.sb)
    cg, sg = turn(body.cg, body.sg)
    quarter = round(body.theta / (np.pi / 2)) * (np.pi / 2)
    a, d, b = (0 if abs(x) <= length else x for x in (body.a, body.d, body.b))
    theta = quarter if abs(quarter - body.theta) <= angle else body.theta
    return replace(body, a=a, d=d, theta=theta, ca=ca, sa=sa, cb=cb, sb=sb, cg=cg, sg=sg, b=b)


def residues(rows: np.ndarray, order: Iterable[int], limit: float) -> dict[int, float]:
    """How much of each column, over its length, those before it that exceed the limit do not give.

    A column that is shorter than the longest one by more than the limit has as much left as that.
    """
    longest = float(np.linalg.norm(rows, axis=0).max()) or 1.0
    basis = np.zeros((rows.shape[0], 0))
    left = {}
    for k in order:
        size = float(np.linalg.norm(rows[:, k]))
        if size <= limit * longest:
            left[k] = size / longest
            continue
        v = rows[:, k] / size
        for _ in range(2):
            v = v - basis @ (basis.T @ v)
        left[k] = float(np.linalg.norm(v))
        if left[k] > limit:
            basis = np.column_stack([basis, v / left[k]])
    return left


def regular_columns(rows: np.ndarray, order: Sequence[int]) -> list[int]:
    """As many columns as there are rows, on which these are regular: the first in the given order that serve well.

    rows: free of units.
    """
    even = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    for limit in (1e-4, 1e-6, 1e-8, 1e-10, 1e-12):
        left = residues(even, order, limit)
        columns = sorted(k for k, x in left.items() if x > limit)
        if len(columns) == len(rows):
            return columns
    raise InputError(
        "the minimal parameters of this robot cannot be told apart in double precision; "
        "give minimal_parameters a larger tolerance"
    )
