"""Decimation of regressor and torque together: what is filtered on one side is filtered alike on the other."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ..border.kinds import Foreign

_FIR_SIDE = 6  # half length of the decimation filter, in samples of the coarse grid


def margin(factor: int, decimator: str) -> int:
    """Samples beyond each end of a block that its decimated samples depend on."""
    if factor == 1:
        return 0
    return _FIR_SIDE * factor if decimator == "fir" else 160 * factor


def decimated(x: np.ndarray, factor: int, decimator: str, first: int, count: int) -> np.ndarray:
    """The low-passed x (N, k) at `count` rows from `first` on, `factor` apart; ends go on flat (fir) or odd."""
    if factor == 1:
        return x[first : first + count]
    if decimator == "fir":
        return np.asarray(_fir_matrix(factor, first, count, len(x)) @ x)
    import scipy.signal as signal

    sos = signal.cheby1(8, 0.05, 0.8 / factor, output="sos")
    smoothed = signal.sosfiltfilt(sos, x, axis=0, padlen=min(24, len(x) - 2))
    return np.asarray(smoothed[first : first + count * factor : factor])


@lru_cache(maxsize=64)
def _fir_matrix(factor: int, first: int, count: int, length: int) -> Foreign:
    """(count, length) sparse: a windowed sinc about each kept row."""
    import scipy.signal as signal
    import scipy.sparse as sparse

    side = _FIR_SIDE * factor
    taps = signal.firwin(2 * side + 1, 0.8 / factor)
    centres = first + factor * np.arange(count)
    index = np.clip(centres[:, None] + np.arange(-side, side + 1), 0, length - 1)
    rows = np.repeat(np.arange(count), len(taps))
    return sparse.csr_matrix((np.tile(taps, count), (rows, index.ravel())), shape=(count, length))


def kept_rows(length: int, factor: int) -> np.ndarray:
    """Rows of a stretch that decimation keeps: the grid that ends on the last sample."""
    return np.arange((length - 1) % factor, length, factor)
