"""What an information matrix is worth, as a smooth number to be made small, with its slope.

condition   of the matrix M^ whose diagonal is one: log tr(M^^k) / k + log tr(M^^-k) / k, twice the log of the
            regressor's condition number as the sharpness k grows
logdet      -log det M
"""

from __future__ import annotations

import numpy as np

_LEAST = 1e-13  # eigenvalue of a matrix with ones on the diagonal that counts as zero


def condition_worth(M: np.ndarray, sharpness: float) -> tuple[float, np.ndarray]:
    """Twice the log of the condition number, smoothed, and its slope by M."""
    size = np.maximum(np.diag(M), 1e-100)
    s = 1 / np.sqrt(size)
    unit = M * s * s[:, None]
    values, vectors = np.linalg.eigh(unit)
    values = np.maximum(values, _LEAST)
    high, low = np.log(values) * sharpness, -np.log(values) * sharpness
    worth = (_log_sum(high) + _log_sum(low)) / sharpness
    weight = (_shares(high) - _shares(low)) / values
    G = (vectors * weight) @ vectors.T
    slope = G * s * s[:, None]
    slope[np.diag_indices_from(slope)] -= np.einsum("ij,ij->i", unit, G) / size
    return worth, slope


def volume_worth(M: np.ndarray) -> tuple[float, np.ndarray]:
    """-log det M and its slope."""
    values, vectors = np.linalg.eigh(M)
    values = np.maximum(values, _LEAST * max(float(values[-1]), 1e-300))
    return -float(np.log(values).sum()), -(vectors / values) @ vectors.T


def worst(worths: np.ndarray, sharpness: float) -> tuple[float, np.ndarray]:
    """A smooth largest of several numbers, and its slope by each."""
    return _log_sum(worths * sharpness) / sharpness, _shares(worths * sharpness)


def _log_sum(x: np.ndarray) -> float:
    top = float(x.max())
    return top + float(np.log(np.exp(x - top).sum()))


def _shares(x: np.ndarray) -> np.ndarray:
    part = np.exp(x - x.max())
    return np.asarray(part / part.sum())
