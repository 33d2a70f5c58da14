"""Steps 1 to 4 of lin1995's section IV on a log: the paper's own recursion, each joint's small problem kept.

The motion of every link (57)-(62), the columns v_i of the joint's own combinations (97), (98), (103), (104), what the
joints beyond explain of its force (110), and what it hands to the next one come from
`papers.recursive_identification_lin1995`; friction and armature of the joint widen its A_i. Rows are filtered and
thinned as those of every other estimator.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...dynamics.papers.minimal_parameters_lin1995 import Structure, layout, structure_of
from ...dynamics.papers.recursive_identification_lin1995 import identify
from ...robot.frames.chain import chain_of, pose
from ..band import factor_for
from ..bodies import wrench_forces
from ..decimation import decimated, kept_rows
from ..regressor import Terms
from .factors import RowSource, triangle
from .least_squares import ROUNDING, lengths

MANY = 20_000  # rows beyond which a step keeps a triangle of its rows: the same problem, shorter


@dataclass(frozen=True, slots=True, eq=False)
class SmallProblem:
    """Rows of [A tau gamma] of one joint and the solution, as they were met from the tip inwards."""

    own: np.ndarray  # places of its unknowns among all
    rows: np.ndarray
    values: np.ndarray


def unheard_of(terms: Terms) -> str | None:
    """Why the paper's recursion does not speak of a model, or None."""
    arm = terms.arm
    if arm.floating or not chain_of(arm).serial or not arm.coupling.free:
        return "the paper speaks of chains on a fixed base"
    if terms.listed or terms.columns:
        return "the paper knows no terms that several joints share"
    if terms.rigid.sources is None:
        return "armatures are mixed with several minimal combinations"
    structure = structure_of(chain_of(arm))
    if len(layout(structure)) != terms.rigid.plain.count or len(terms.redundant):
        return "unknowns are merged"
    return None


def small_problems(source: RowSource, own: Sequence[np.ndarray]) -> dict[int, SmallProblem]:
    """Steps 1 to 4, from the last joint to the first. own: the places of each joint's unknowns."""
    terms, pieces = source.terms, source.pieces
    chain = chain_of(terms.arm)
    structure = structure_of(chain)
    q, qd, qdd = (np.concatenate([getattr(p, x) for p in pieces]) for x in ("q", "qd", "qdd"))
    tau = np.concatenate(
        [
            p.tau if p.wrench is None else p.tau - wrench_forces(terms.arm, p.q, p.wrench)
            for p in pieces
        ]
    )
    met: dict[int, SmallProblem] = {}

    def solve(i: int, A: Sequence[np.ndarray], gamma: np.ndarray) -> list[float]:
        both = [*(np.broadcast_to(x, len(q)) for x in A), tau[:, i], gamma]
        order = _order(structure, terms, i, own[i])
        rows = _thinned(source, i, np.column_stack(both))
        X = rows[:, :-2]
        w = pseudo_inverse(X)[0] @ rows[:, -1]
        placed = np.empty(len(w))
        placed[order] = w
        met[i] = SmallProblem(own[i], rows[:, [*np.argsort(order), -2, -1]], placed)
        return [float(x) for x in w]

    further = [_further(terms, i, own[i], qd[:, i], qdd[:, i]) for i in range(terms.n)]
    identify(chain, structure, pose(chain, [*q.T]), [*qd.T], [*qdd.T], [*tau.T], solve, own=further)
    return met


def _order(structure: Structure, terms: Terms, i: int, own: np.ndarray) -> np.ndarray:
    """Where the columns that the recursion makes, combinations of joint i and then its further ones, stand in `own`."""
    sources = terms.rigid.sources
    assert sources is not None
    columns = [c for c, (j, _) in enumerate(layout(structure)) if j == i]
    place = {int(c): k for k, c in enumerate(sources[0]) if c >= 0}
    named = [place[c] for c in columns]
    rest = [int(k) for k in own if k not in named]
    return np.array([int(np.flatnonzero(own == k)[0]) for k in (*named, *rest)], int)


def _further(
    terms: Terms, i: int, own: np.ndarray, v: np.ndarray, acc: np.ndarray
) -> list[np.ndarray]:
    """Columns of armature and friction among a joint's own unknowns."""
    sources, p, words = terms.rigid.sources, terms.rigid_size, len(terms.drive_names)
    assert sources is not None
    columns = []
    for k in map(int, own):
        if k >= p:
            columns.append(np.asarray(terms.drive_column((k - p) % words, i, v)))
        elif sources[0][k] < 0:
            columns.append(acc * terms.rigid.geared.max(axis=0)[sources[1][k]])
    return columns


def _thinned(source: RowSource, i: int, X: np.ndarray) -> np.ndarray:
    """The rows that take part, filtered and thinned piece by piece."""
    parts, first = [], 0
    for piece in source.pieces:
        factor = factor_for(source.how, piece.rate)
        wanted = kept_rows(len(piece), factor)
        part = X[first : first + len(piece)]
        first += len(piece)
        if factor > 1:
            part = decimated(part, factor, source.how.decimator, int(wanted[0]), len(wanted))
        else:
            part = part[wanted]
        parts.append(part[piece.keep[wanted, i]])
    return np.vstack(parts)


def pseudo_inverse(A: np.ndarray) -> tuple[np.ndarray, np.ndarray, bool]:
    """The pseudo-inverse, the singular values with columns of length one, and whether the rank is full."""
    scale = lengths(A)
    U, s, V = np.linalg.svd(A / scale, full_matrices=False)
    good = s > ROUNDING * s[0]
    full = bool(good.all()) and len(s) == A.shape[1]
    inverse = (V.T * np.where(good, 1 / np.where(good, s, 1), 0)) @ U.T / scale[:, None]
    return inverse, s, full


def shortened(rows: np.ndarray) -> np.ndarray:
    """The rows, or a triangle of them where they are many."""
    return triangle(np.array(rows)) if len(rows) > MANY else rows
