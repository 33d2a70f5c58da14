"""Redundancy that Theorem 2 does not cover: without gravity, and where reflected motor inertias join.

Which columns of the regressor are combinations of others is decided by elimination in a fixed order, on states that are
the same on every machine, and on geometry from which the tolerance has been taken away. Lengths are measured in the
robot's own there, and time in what its gravity makes of it, so that columns of all units may be compared: an arm of
micrometres has the parameters of the same arm of metres.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..algebra.vectors import Vec3
from ..dynamics.papers.minimal_chain_lin1995 import minimal_chain
from ..dynamics.papers.minimal_newton_euler_lin1995 import inverse_dynamics
from ..dynamics.papers.minimal_parameters_lin1995 import (
    LENGTH,
    ROUNDING,
    Structure,
    layout,
    structure_of,
)
from ..errors import InputError
from ..robot.arm import PARAMETER_NAMES
from ..robot.frames.chain import Chain, Limb, pose
from ..robot.frames.weighed import cut

# Of a column's length: what is left of it when it is a combination of others. On exact geometry this is 1e-15, and more
# than 1e-4 of columns that are none.
DEPENDENT = 1e-6
ROUNDED = (
    1e-12  # likewise, of what rounding alone leaves; of the longest column: those that are zero
)
FELT = 1e-6  # [1/s^2], of the robot's length: weaker gravity may be none beside a robot's accelerations
SIMPLE = 1e-9  # factors this close to a multiple of 1/2 are meant to be one
LEFT_OVER = 1e-14  # of the terms that make up an entry of a matrix: what rounding leaves of a zero


# ---- units: an entry that takes kg m^j to kg m^i has the unit m^(i-j)


def length_of(chain: Chain) -> float:
    """The robot's length [m]: of the lengths of its links together, the nearest power of two; 1 where all are 0."""
    size = sum(abs(b.a) + abs(b.d) for b in chain.joints)
    return 2.0 ** round(math.log2(size)) if size else 1.0


def units(chain: Chain, structure: Structure, armature: bool) -> np.ndarray:
    """The powers of the metre in the units of the combinations of Theorem 2, and of the armatures behind them."""
    powers = {"m": 0, "k": 1, "U": 2}
    own = [powers[kind[0]] for _, kind in layout(structure)]
    return np.array(own + [2 * b.revolute for b in chain.joints] * armature)


def natural_units(chain: Chain, armature: bool) -> np.ndarray:
    """The same of the natural parameters, ten a joint or eleven."""
    ten = [0 if p == "m" else 2 if p[0] == "I" else 1 for p in PARAMETER_NAMES]
    return np.array([u for b in chain.joints for u in ten + [2 * b.revolute] * armature])


@dataclass(frozen=True, slots=True, eq=False)
class Even:
    """What rows and columns of a matrix are divided by to be free of units: powers of two, so nothing is rounded."""

    rows: np.ndarray
    columns: np.ndarray

    @classmethod
    def of(cls, length: float, rows: np.ndarray, columns: np.ndarray) -> Even:
        return cls(length ** rows.astype(float), length ** -columns.astype(float))

    def down(self, matrix: np.ndarray) -> np.ndarray:
        """The matrix in the robot's own length."""
        return matrix / self.rows[:, None] / self.columns

    def up(self, matrix: np.ndarray) -> np.ndarray:
        """The matrix in metres again."""
        return matrix * self.rows[:, None] * self.columns

    def inverse(self, matrix: np.ndarray) -> np.ndarray:
        """The inverse of a matrix in metres, without what rounding left of zeros."""
        plain = self.down(matrix)
        back = np.linalg.inv(plain)
        size = np.abs(back)
        return Even(1 / self.columns, 1 / self.rows).up(
            cut(back, size @ np.abs(plain) @ size, LEFT_OVER)
        )


def product(A: np.ndarray, B: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
    """A B without what rounding left of zeros; weights: of the terms of B."""
    return cut(A @ B, np.abs(A) @ (np.abs(B) if weights is None else weights), LEFT_OVER)


# ---- merging


@dataclass(frozen=True, slots=True, eq=False)
class Merging:
    """Which of the combinations and armatures are kept, and what each takes up of the others."""

    kept: list[int]
    matrix: np.ndarray  # (kept, all)
    left: dict[int, float]  # of the merged ones: how much of their column no other column gives


def merging(chain: Chain, structure: Structure, tolerance: float, armature: bool) -> Merging:
    """What the combinations of Theorem 2, and the armatures behind them, are merged to.

    Theorem 2 holds for g != 0, and without armature nothing else is left to merge. Otherwise (and for a g that can
    hardly be felt) a column of the regressor that the columns before it give is merged into them.
    """
    total = len(layout(structure)) + (chain.n if armature else 0)
    length = length_of(chain)
    pull = max(float(np.max(np.abs(g))) for g in chain.gravity) / length
    if not armature and pull > FELT:
        return Merging(list(range(total)), np.eye(total), {})
    tidied, again = _tidied(_measured_in(chain, length), structure, tolerance)
    Y = _sampled_regressor(tidied, again, armature, math.sqrt(pull) if pull > FELT else 1.0)
    left = residues(Y, range(total), DEPENDENT)
    kept = [k for k in range(total) if left[k] > DEPENDENT]
    merge = np.zeros((len(kept), total))
    merge[np.arange(len(kept)), kept] = 1
    rest = {k: left[k] for k in range(total) if left[k] <= DEPENDENT}
    if rest:
        merge[:, list(rest)] = _factors(Y[:, kept], Y[:, list(rest)], list(rest.values()))
    own = units(chain, structure, armature)
    return Merging(kept, Even.of(length, own[kept], own).up(merge), rest)


def _measured_in(chain: Chain, length: float) -> Chain:
    """The geometry and gravity of a chain in another unit of length."""
    bodies = (replace(b, a=b.a / length, d=b.d / length) for b in chain.joints)
    return Chain(tuple(bodies), Vec3(*(g / length for g in chain.gravity)))


def _factors(basis: np.ndarray, others: np.ndarray, left: Sequence[float]) -> np.ndarray:
    """(kept, rest): the other columns in terms of the basis; what adds no more to one than is left of it is none."""
    lengths, size = np.linalg.norm(basis, axis=0), np.linalg.norm(others, axis=0)
    found = np.linalg.lstsq(basis / lengths, others, rcond=None)[0]
    floor = np.maximum(ROUNDED, 10 * np.array(left)) * np.maximum(size, ROUNDED * lengths.max())
    found = np.where(np.abs(found) <= floor, 0.0, found) / lengths[:, None]
    simple = np.round(2 * found) / 2
    return np.where(np.abs(found - simple) < SIMPLE, simple, found)


def _tidied(chain: Chain, structure: Structure, tolerance: float) -> tuple[Chain, Structure]:
    """The chain with angles near quarter turns and lengths and parts of gravity near zero set there.

    Near is the tolerance, or what of it leaves the decisions of Theorem 2 as they are: small angles may add up.
    """
    near = tolerance
    while near > ROUNDING:
        found = _set_exact(chain, near)
        again = structure_of(found, tolerance)
        if layout(again) == layout(structure):
            return found, again
        near /= 10
    return chain, structure


def _set_exact(chain: Chain, near: float) -> Chain:
    size = sum(abs(b.a) + abs(b.d) for b in chain.joints) or 1.0
    bodies = [_set_body_exact(b, near, near * LENGTH * size) for b in chain.joints]
    g = [float(x) for x in chain.gravity]
    limit = near * max(map(abs, g))
    return Chain(tuple(bodies), Vec3(*(0 if abs(x) <= limit else x for x in g)))


def _set_body_exact(body: Limb, angle: float, length: float) -> Limb:
    def turn(c: float, s: float) -> tuple[Any, Any]:
        if abs(s) <= angle:
            return (1 if c > 0 else -1), 0
        return (0, 1 if s > 0 else -1) if abs(c) <= angle else (c, s)

    (ca, sa), (cb, sb) = turn(body.ca, body.sa), turn(body.cb, body.sb)
    quarter = round(body.theta / (np.pi / 2)) * (np.pi / 2)
    return replace(
        body,
        a=0 if abs(body.a) <= length else body.a,
        d=0 if abs(body.d) <= length else body.d,
        theta=quarter if abs(quarter - body.theta) <= angle else body.theta,
        ca=ca,
        sa=sa,
        cb=cb,
        sb=sb,
    )


def _sampled_regressor(
    chain: Chain, structure: Structure, armature: bool, rate: float
) -> np.ndarray:
    """(samples n, all): columns of the regressor, at states spread evenly; the same on every machine.

    rate [1/s]: about how fast the joints move.
    """
    n, p = chain.n, len(layout(structure))
    samples = 3 * (p + n) + 20
    steps = np.sqrt(
        [x for x in range(2, 60 * n) if all(x % y for y in range(2, int(x**0.5) + 1))][: 3 * n]
    )
    spread = np.modf(np.outer(np.arange(1, samples + 1), steps))[0] * 2 - 1
    q, qd, qdd = (
        spread[:, k * n : (k + 1) * n].T * size
        for k, size in enumerate((np.pi, 2.0 * rate, 3.0 * rate**2))
    )
    arm = minimal_chain(chain, structure, list(np.eye(p)[:, :, None]), folded=False)
    tau = inverse_dynamics(arm, pose(chain, q), qd, qdd)
    Y = np.concatenate([np.broadcast_to(t, (p, samples)).T for t in tau])
    if armature:
        own = np.zeros((n, samples, n))
        own[np.arange(n), :, np.arange(n)] = qdd
        Y = np.column_stack([Y, own.reshape(-1, n)])
    return Y


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
        found = sorted(k for k, x in left.items() if x > limit)
        if len(found) == len(rows):
            return found
    raise InputError(
        "the minimal parameters of this robot cannot be told apart in double precision; "
        "give minimal_parameters a larger tolerance"
    )
