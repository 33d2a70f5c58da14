"""How certain drives and delay are, of what is left of positions after a fit by rollouts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...border.kinds import FloatArray
from .tracks import Track

_BLOCK = 0.25  # [s] stretches of time whose errors count as independent


def covariance(
    J: FloatArray, left: FloatArray, sigma: FloatArray, held: np.ndarray, tracks: Sequence[Track]
) -> tuple[FloatArray, np.ndarray]:
    """Of drives and delay, with errors of neighbouring samples dependent; which of them the log tells.

    (J'J)^-1 S (J'J)^-1, S by sums over blocks of time, and never less than if all samples were independent.
    """
    size = J.shape[2]
    A, b = J / sigma[:, None], left / sigma
    gram = np.tensordot(A, A, ([0, 1], [0, 1]))
    scale = np.sqrt(np.maximum(np.diag(gram), 1e-300))
    told = ~held & (scale > 1e-6 * np.sqrt(len(left)))
    keep = np.flatnonzero(told)
    unit = gram[np.ix_(keep, keep)] / np.outer(scale[keep], scale[keep])
    inverse = np.linalg.pinv(unit, rcond=1e-12, hermitian=True) / np.outer(scale[keep], scale[keep])
    scores = np.einsum("kji,kj->ki", A[:, :, keep], b)
    S = np.zeros_like(inverse)
    blocks, first = 0, 0
    for track in tracks:
        own = scores[first : first + len(track.t)]
        first += len(own)
        many = max(1, int((track.t[-1] - track.t[0]) / _BLOCK))
        for part in np.array_split(own, many):
            total = part.sum(axis=0)
            S += np.outer(total, total)
            blocks += 1
    spread = inverse @ S @ inverse * (blocks / max(blocks - len(keep) / max(J.shape[1], 1), 1))
    out = np.full((size, size), 0.0)
    ratio = np.sqrt(np.maximum(1.0, np.diag(inverse) / np.maximum(np.diag(spread), 1e-300)))
    out[np.ix_(keep, keep)] = spread * np.outer(ratio, ratio)
    out[~told, ~told] = np.inf
    return out, told


def within_samples(kd: FloatArray, tracks: Sequence[Track]) -> tuple[FloatArray, float]:
    """Covariance (n, n) of armatures, and variance of the delay, that come of what nobody sees between samples.

    Damping of kd that acts a time e late is an armature that is kd e less; e is anything within half a sample. Commands
    that are held until the next sample are half a sample later than those that go straight to it.
    """
    usual = float(np.median(np.diff(tracks[0].t)))
    return np.asarray(np.outer(kd, kd) * usual**2 / 12), usual**2 / 16
