"""Instrumental variables: a fit that noise in positions, velocities and accelerations does not bias.

Least squares shrinks values whose columns are noisy. Instruments are columns that share the motion with the regressor
but not its noise; values solve Z' W (X values - y) = 0. Here they are the regressor on the motion that the model itself
would follow: a computed-torque loop around it tracks its reference exactly, and the reference is the recorded motion
limited to the band that holds the motion, well below the cut-off with which X was computed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ...preprocess import Stretch, differentiate, smooth_positions, speeds_of
from ..estimator import Estimator
from ..factors import Factors, RowSource, block_edges, placed, stream, triangle
from ..least_squares import deviations, sizes
from ..problem import Problem, Solution
from . import wls

PASSES = 10
_SHARE = 0.999  # of a velocity's power lies below the band's edge
_SPARE = 1.5
_ABOVE = 20.0  # a line this much above the noise is motion


def _motion_band(sources: Sequence[RowSource]) -> float:
    """Where the motion's frequencies end [Hz]: velocity power less that of white position noise.

    The noise is read off the positions between half and four fifths of the cut-off, above any motion.
    """
    cutoff = sources[0].how.cutoff
    assert cutoff is not None
    edges = [0.0]
    for piece in (piece for source in sources for piece in source.pieces):
        frequency = np.fft.rfftfreq(len(piece), 1 / piece.rate)
        quiet = (frequency > 0.5 * cutoff) & (frequency < 0.8 * cutoff)
        for q in piece.q.T:
            power = np.abs(np.fft.rfft((q - q.mean()) * np.hanning(len(q)))) ** 2
            floor = float(power[quiet].mean()) if quiet.any() else 0.0
            speed = np.where(power > _ABOVE * floor, power - floor, 0.0) * frequency**2
            total = np.cumsum(speed)
            if total[-1] > 0:
                edges.append(float(frequency[int(np.searchsorted(total, _SHARE * total[-1]))]))
    return max(edges) or cutoff


def simulated(piece: Stretch, edge: float) -> Stretch:
    """The motion of the model's closed loop along the stretch: its reference, limited to the band."""
    if edge >= 0.4 * piece.rate:
        return piece
    free = piece.q.shape[1] != piece.qd.shape[1]
    q = smooth_positions(piece.q, free, piece.rate, edge, 4, None)
    qd = speeds_of(q, free, piece.rate)
    return replace(piece, q=q, qd=qd, qdd=differentiate(qd, piece.rate))


def solve(problem: Problem) -> Solution:
    """The instrumental-variable solution with the joints' weights, iterated on them; a prior takes no part.

    [Z X y] of each joint is folded into one triangle [[Rz, Rzx, Rzy], ...]; then Rzx values = Rzy.
    """
    if problem.instruments is None:
        problem = replace(problem, instruments=_folded(problem))
    factors, one = problem.factors, problem.drawn()
    assert one.instruments is not None
    R = one.instruments[0]
    plain = wls.solve(problem.free)
    weights, values, A = plain.weights, plain.values, np.zeros((0, 0))
    floor = 1e-12 * sizes(factors)
    still, done = False, 0
    while not still and done < PASSES:
        A, b = _all_joints(factors, R, weights)
        values = np.linalg.lstsq(A, b, rcond=1e-12)[0]
        new = 1 / np.maximum(deviations(factors, values), np.where(floor > 0, floor, 1.0))
        still = bool(np.abs(new / weights - 1).max() < 1e-6)
        weights, done = new, done + 1
    inverse = np.linalg.pinv(A, rcond=1e-12)  # (X'Z (Z'Z)^-1 Z'X)^-1 = A^-1 A^-T
    return replace(
        plain,
        problem=problem.free.settled,
        values=values,
        weights=weights,
        covariance=inverse @ inverse.T,
        iterations=done,
        status="solved" if still else f"weights still move after {done} passes",
    )


def covariance(solution: Solution, inflations: np.ndarray) -> np.ndarray:
    """(p, p) with autocorrelated residuals: that for white ones, times their mean inflation."""
    return np.asarray(solution.covariance * float(np.mean(inflations)))


def _folded(problem: Problem) -> list[list[np.ndarray]]:
    """R[block][joint] of [Z X y], blocks as in the factors."""
    edge = _SPARE * _motion_band(problem.sources)
    support = problem.factors.support
    return [block for source in problem.sources for block in _blocks(source, support, edge)]


def _blocks(
    source: RowSource, support: Sequence[np.ndarray], edge: float
) -> list[list[np.ndarray]]:
    """R[block][joint] of one source over more unknowns, its instruments limited to the band below the edge [Hz]."""
    terms, pieces, how = source.terms, source.pieces, source.how
    exact = how.cutoff == np.inf  # states that were taken as they are have no noise to keep out
    doubles = list(pieces) if exact else [simulated(piece, edge) for piece in pieces]
    R = [
        [np.zeros((0, 2 * len(s) + 1)) for s in terms.support]
        for edges in block_edges(pieces)
        for _ in edges[1:]
    ]
    for real, model in zip(stream(terms, pieces, how), stream(terms, doubles, how), strict=True):
        for j, part in enumerate(R[real.block]):
            rows = np.column_stack([model.Xy[j][:, :-1], real.Xy[j]])
            R[real.block][j] = triangle(np.vstack([part, rows]))
    return [
        [placed(part, own, s) for part, own, s in zip(block, terms.support, support, strict=True)]
        for block in R
    ]


def _all_joints(
    factors: Factors, R: Sequence[np.ndarray], weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Rzx and Rzy of all joints."""
    p = factors.size
    rows = []
    for j, support in enumerate(factors.support):
        k = len(support)
        wide = np.zeros((len(R[j]), 2 * p + 1))
        wide[:, support] = R[j][:, :k]
        wide[:, p + support] = R[j][:, k : 2 * k]
        wide[:, -1] = R[j][:, -1]
        rows.append(wide * weights[j])
    stacked = np.vstack(rows)
    whole = triangle(stacked)
    return whole[:p, p : 2 * p], whole[:p, -1]


ESTIMATOR = Estimator(solve, covariance, prior=False)
