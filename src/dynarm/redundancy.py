"""Redundancy that Theorem 2 does not cover: without gravity, and where reflected motor inertias join.

Which columns of the regressor are combinations of others is decided by elimination in a fixed order, on states that are
the same on every machine, and on geometry from which the tolerance has been taken away.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .algebra import Vec3
from .errors import InputError
from .papers.minimal_chain_lin1995 import minimal_chain
from .papers.minimal_newton_euler_lin1995 import inverse_dynamics
from .papers.minimal_parameters_lin1995 import LENGTH, ROUNDING, Structure, layout, structure_of
from .robot.chain import Body, Chain, pose

# Of a column's length: what is left of it when it is a combination of others. On exact geometry this is 1e-15, and more
# than 1e-4 of columns that are none.
DEPENDENT = 1e-6
ROUNDED = (
    1e-12  # likewise, of what rounding alone leaves; of the longest column: those that are zero
)
FELT = 1e-3  # [m/s^2]: weaker gravity may be none beside the accelerations of a robot
SIMPLE = 1e-9  # factors this close to a multiple of 1/2 are meant to be one


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
    weightless = not any(np.any(np.abs(np.asarray(g)) > FELT) for g in chain.gravity)
    if not armature and not weightless:
        return Merging(list(range(total)), np.eye(total), {})
    tidied, again = _tidied(chain, structure, tolerance)
    Y = _sampled_regressor(tidied, again, armature)
    left = residues(Y, range(total), DEPENDENT)
    kept = [k for k in range(total) if left[k] > DEPENDENT]
    merge = np.zeros((len(kept), total))
    merge[np.arange(len(kept)), kept] = 1
    rest = {k: left[k] for k in range(total) if left[k] <= DEPENDENT}
    if rest:
        merge[:, list(rest)] = _factors(Y[:, kept], Y[:, list(rest)], list(rest.values()))
    return Merging(kept, merge, rest)


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


def _set_body_exact(body: Body, angle: float, length: float) -> Body:
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


def _sampled_regressor(chain: Chain, structure: Structure, armature: bool) -> np.ndarray:
    """(samples n, all): columns of the regressor, at states spread evenly; the same on every machine."""
    n, p = chain.n, len(layout(structure))
    samples = 3 * (p + n) + 20
    steps = np.sqrt(
        [x for x in range(2, 60 * n) if all(x % y for y in range(2, int(x**0.5) + 1))][: 3 * n]
    )
    spread = np.modf(np.outer(np.arange(1, samples + 1), steps))[0] * 2 - 1
    q, qd, qdd = (
        spread[:, k * n : (k + 1) * n].T * size for k, size in enumerate((np.pi, 2.0, 3.0))
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
    longest = float(np.linalg.norm(rows, axis=0).max())
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
    """As many columns as there are rows, on which these are regular: the first in the given order that serve well."""
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
