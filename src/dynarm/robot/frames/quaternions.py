"""Unit quaternions x, y, z, w of a base that moves freely, as they come from outside."""

from __future__ import annotations

import numpy as np

from ...border.kinds import FloatArray
from ...errors import InputError

NEAR = 1e-6  # of one: lengths that were meant to be one
EXACT = 1e-14  # likewise, but for rounding
PLACES = slice(3, 7)  # of a free base's coordinates


def with_unit_quaternion(q: FloatArray, what: str = "q") -> FloatArray:
    """Coordinates (..., nq) of a free base with quaternions of length one; refused where they are far from it."""
    if q.ndim == 0 or q.shape[-1] < PLACES.stop:
        return q  # refused by their number
    quaternion = q[..., PLACES]
    length = np.sqrt(np.einsum("...i,...i->...", quaternion, quaternion))
    off = float(np.max(np.abs(length - 1), initial=0.0, where=~np.isnan(length)))
    if off <= EXACT:
        return q
    if off > NEAR:
        worst = float(length.ravel()[np.nanargmax(np.abs(length - 1))])
        raise InputError(
            f"{what} holds a quaternion of length {worst:.9g} at entries 3 to 6 (x, y, z, w); divide it by its length"
        )
    mended = np.array(q, dtype=float)
    mended[..., PLACES] /= length[..., None]
    return mended
