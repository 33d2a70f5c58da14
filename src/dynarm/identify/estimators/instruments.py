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

from ..preprocess import Preparation, Stretch, differentiate, low_pass
from ..regressor import Terms
from . import least_squares as estimators
from .factors import Factors, stream, triangle
from .least_squares import Solution

_SHARE = 0.999  # of a velocity's power lies below the band's edge
_SPARE = 1.5
_ABOVE = 20.0  # a line this much above the noise is motion


def _motion_band(pieces: Sequence[Stretch], how: Preparation) -> float:
    """Where the motion's frequencies end [Hz]: velocity power less that of white position noise.

    The noise is read off the positions between half and four fifths of the cut-off, above any motion.
    """
    assert how.cutoff is not None
    edges = [0.0]
    for piece in pieces:
        frequency = np.fft.rfftfreq(len(piece), 1 / piece.rate)
        quiet = (frequency > 0.5 * how.cutoff) & (frequency < 0.8 * how.cutoff)
        for q in piece.q.T:
            power = np.abs(np.fft.rfft((q - q.mean()) * np.hanning(len(q)))) ** 2
            floor = float(power[quiet].mean()) if quiet.any() else 0.0
            speed = np.where(power > _ABOVE * floor, power - floor, 0.0) * frequency**2
            total = np.cumsum(speed)
            if total[-1] > 0:
                edges.append(float(frequency[int(np.searchsorted(total, _SHARE * total[-1]))]))
    return max(edges) or how.cutoff


def simulated(piece: Stretch, edge: float) -> Stretch:
    """The motion of the model's closed loop along the stretch: its reference, limited to the band."""
    if edge >= 0.4 * piece.rate:
        return piece
    q = low_pass(piece.q, piece.rate, edge, 4, None)
    qd = differentiate(q, piece.rate)
    return replace(piece, q=q, qd=qd, qdd=differentiate(qd, piece.rate))


def instrumented(
    terms: Terms,
    factors: Factors,
    pieces: Sequence[Stretch],
    how: Preparation,
    plain: Solution,
) -> Solution:
    """The instrumental-variable solution with the joints' weights, iterated on them.

    [Z X y] of each joint is folded into one triangle [[Rz, Rzx, Rzy], ...]; then Rzx values = Rzy.
    """
    edge = _SPARE * _motion_band(pieces, how)
    exact = how.cutoff == np.inf  # states that were taken as they are have no noise to keep out
    doubles = list(pieces) if exact else [simulated(piece, edge) for piece in pieces]
    R: list[np.ndarray] = [np.zeros((0, 2 * len(s) + 1)) for s in terms.support]
    for real, model in zip(stream(terms, pieces, how), stream(terms, doubles, how), strict=True):
        for j in range(terms.n):
            rows = np.column_stack([model.Xy[j][:, :-1], real.Xy[j]])
            R[j] = triangle(np.vstack([R[j], rows]))
    weights, values, A = plain.weights, plain.values, np.zeros((0, 0))
    for _ in range(10):
        A, b = _joined(terms, R, weights)
        values = np.linalg.lstsq(A, b, rcond=1e-12)[0]
        sigma = estimators.deviations(factors, values)
        floor = 1e-12 * estimators.sizes(factors)
        new = 1 / np.maximum(sigma, np.where(floor > 0, floor, 1.0))
        still = np.abs(new / weights - 1).max() < 1e-6
        weights = new
        if still:
            break
    inverse = np.linalg.pinv(A, rcond=1e-12)  # (X'Z (Z'Z)^-1 Z'X)^-1 = A^-1 A^-T
    return replace(plain, values=values, weights=weights, covariance=inverse @ inverse.T, ridge=0.0)


def _joined(
    terms: Terms, R: Sequence[np.ndarray], weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Rzx and Rzy of all joints."""
    p = terms.size
    rows = []
    for j, support in enumerate(terms.support):
        k = len(support)
        wide = np.zeros((len(R[j]), 2 * p + 1))
        wide[:, support] = R[j][:, :k]
        wide[:, p + support] = R[j][:, k : 2 * k]
        wide[:, -1] = R[j][:, -1]
        rows.append(wide * weights[j])
    stacked = np.vstack(rows)
    whole = triangle(stacked)
    return whole[:p, p : 2 * p], whole[:p, -1]
