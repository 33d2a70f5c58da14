"""Columns that others make up whatever the motion, and which others these are."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

_ALIKE = 1e-8  # of a column: less is left of one that those before it make up
_SHARE = 1e-5  # of a column that another one must have in it


class Redundancy(NamedTuple):
    """Numbers of columns: lost ones, made up by those before them, and those that lost ones would lean on."""

    lost: np.ndarray
    leaning: np.ndarray


def redundancy(W: np.ndarray) -> Redundancy:
    """What columns W (N, p) at random states have in common."""
    size = np.linalg.norm(W, axis=0)
    R = np.asarray(np.linalg.qr(W / np.where(size > 0, size, 1.0), mode="r"))
    lost = np.abs(np.diag(R)) < _ALIKE
    own = np.flatnonzero(~lost)
    shares = np.linalg.lstsq(R[:, own], R[:, lost], rcond=None)[0]
    return Redundancy(np.flatnonzero(lost), own[(np.abs(shares) > _SHARE).any(axis=1)])
