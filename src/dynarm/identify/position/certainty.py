"""How certain drives and delay are, of what is left of positions after a fit by rollouts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...border.kinds import FloatArray
from .tracks import Track

ALIKE = 4.0  # samples, neighbours in time, that tell as much of rigid bodies as an independent one
_BLOCK = 0.25  # [s] stretches of time whose errors count as independent


def covariance(
    J: FloatArray,
    left: FloatArray,
    sigma: FloatArray,
    held: np.ndarray,
    tracks: Sequence[Track],
    believed: FloatArray | None = None,
) -> tuple[FloatArray, np.ndarray]:
    """Of all unknowns, with errors of neighbouring samples dependent; which of them the log tells.

    (J'J)^-1 S (J'J)^-1, S by sums over blocks of time, and never less than if all samples were independent. believed:
    the covariance of the last unknowns, rigid bodies, by what is known of them without a log. Rollouts that run away
    tell nothing.
    """
    size = J.shape[2]
    A, b = J / sigma[:, None], left / sigma
    known = 0 if believed is None else len(believed)
    with np.errstate(over="ignore", invalid="ignore"):
        gram = np.tensordot(A, A, ([0, 1], [0, 1]))
    if not np.isfinite(gram).all():
        return np.diag(np.full(size, np.inf)), np.zeros(size, bool)
    scale = np.sqrt(np.maximum(np.diag(gram), 1e-300))
    told = ~held & (scale > 1e-6 * np.sqrt(len(left)))
    told[size - known :] = True
    keep = np.flatnonzero(told)
    S, blocks = sums(np.einsum("kji,kj->ki", A[:, :, keep], b), tracks)
    whole = gram[np.ix_(keep, keep)]
    if believed is not None:
        prior = np.linalg.pinv(believed, 1e-12, hermitian=True)
        whole[-known:, -known:] += ALIKE * prior
        S[-known:, -known:] += ALIKE**2 * prior
    scale = np.sqrt(np.diag(whole))
    unit = whole / np.outer(scale, scale)
    inverse = np.linalg.pinv(unit, rcond=1e-12, hermitian=True) / np.outer(scale, scale)
    spread = inverse @ S @ inverse * (blocks / max(blocks - len(keep) / max(J.shape[1], 1), 1))
    out = np.full((size, size), 0.0)
    ratio = np.sqrt(np.maximum(1.0, np.diag(inverse) / np.maximum(np.diag(spread), 1e-300)))
    out[np.ix_(keep, keep)] = spread * np.outer(ratio, ratio)
    out[~told, ~told] = np.inf
    return out, told


def sums(scores: FloatArray, tracks: Sequence[Track]) -> tuple[FloatArray, int]:
    """(k, k) the products of sums of scores (N, k) over blocks of time, summed, and how many blocks there are."""
    S = np.zeros((scores.shape[1], scores.shape[1]))
    blocks, first = 0, 0
    for track in tracks:
        own = scores[first : first + len(track.t)]
        first += len(own)
        many = max(1, int((track.t[-1] - track.t[0]) / _BLOCK))
        for part in np.array_split(own, many):
            total = part.sum(axis=0)
            S += np.outer(total, total)
            blocks += 1
    return S, blocks


def within_samples(kd: FloatArray, tracks: Sequence[Track]) -> tuple[FloatArray, float]:
    """Covariance (n, n) of armatures, and variance of the delay, that come of what nobody sees between samples.

    Damping of kd that acts a time e late is an armature that is kd e less; e is anything within half a sample. Commands
    that are held until the next sample are half a sample later than those that go straight to it.
    """
    usual = float(np.median(np.diff(tracks[0].t)))
    return np.asarray(np.outer(kd, kd) * usual**2 / 12), usual**2 / 16
