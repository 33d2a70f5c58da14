"""The links that a recursion on gathered links wants, from the values of the minimal parameters alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..algebra.vectors import Scalar
from ..dynamics.own.gathered_links import Mass
from ..dynamics.own.minimal_loads import combined, load_matrix, masses_of
from ..robot.frames.chain import chain_of
from .units import product

if TYPE_CHECKING:
    from .minimal import MinimalParameters


def entry_matrix(minimal: MinimalParameters) -> np.ndarray:
    """(entries, p): the entries of the gathered links are this matrix times the values, armatures left out.

    Ten entries of a free base (m, h, Q) first; of each rotational joint h_x h_y Q_xx Q_xy Q_yy Q_xz Q_yz, of each
    translational one m h_x h_y h_z. Entries that no joint force feels are rows of zeros.
    """
    rows = load_matrix(chain_of(minimal.arm), minimal.tree)
    wide = np.column_stack([rows, np.zeros((len(rows), minimal.arm.n * minimal.armature))])
    own = wide[:, list(minimal.kept)]
    if minimal.convention == "lin1995":
        return own
    return product(own, minimal.convert("lin1995"))


def loads(minimal: MinimalParameters, values: Sequence[Scalar]) -> tuple[list[Mass], Mass]:
    """The gathered link of each joint, and that of a free base, for these values: numbers, batches or symbols.

    The joint forces of `gathered_newton_euler` on them are those of the robot; armatures that stay parameters of their
    own are the drives' share, not the links'.
    """
    return masses_of(minimal.tree, combined(entry_matrix(minimal), values))
