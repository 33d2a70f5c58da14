"""Units of parameters: matrices free of them, so that columns of all units may be compared, and products without noise.

An entry that takes kg m^j to kg m^i has the unit m^(i-j). Lengths are measured in the robot's own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..dynamics.own.minimal_tree import LEFT_OVER, TreeStructure
from ..robot.arm import PARAMETER_NAMES
from ..robot.frames.chain import Chain
from ..robot.frames.weighed import cut


def length_of(chain: Chain) -> float:
    """The robot's length [m]: of the lengths of its links together, the nearest power of two; 1 where all are 0."""
    size = sum(abs(b.a) + abs(b.d) + abs(b.b) for b in chain.joints)
    return 2.0 ** round(math.log2(size)) if size else 1.0


def units(tree: TreeStructure, armature: bool) -> np.ndarray:
    """The powers of the metre in the units of the combinations of Theorem 2, and of the armatures behind them."""
    powers = {"m": 0, "k": 1, "U": 2}
    own = [powers[kind[0]] for _, kind in tree.layout()]
    return np.array(own + [2 * revolute for revolute in tree.revolute] * armature)


def natural_units(tree: TreeStructure, armature: bool) -> np.ndarray:
    """The same of the natural parameters: ten of a free base, ten a joint or eleven."""
    ten = [0 if p == "m" else 2 if p[0] == "I" else 1 for p in PARAMETER_NAMES]
    joints = [u for revolute in tree.revolute for u in ten + [2 * revolute] * armature]
    return np.array(ten * tree.floating + joints)


@dataclass(frozen=True, slots=True, eq=False)
class Even:
    """What rows and columns of a matrix are divided by to be free of units: powers of two, so nothing is rounded."""

    rows: np.ndarray
    columns: np.ndarray

    @classmethod
    def of(cls, length: float, rows: np.ndarray, columns: np.ndarray) -> Even:
        return cls(length ** rows.astype(float), length ** -columns.astype(float))

    def down(self, matrix: np.ndarray) -> np.ndarray:
        """The matrix in the robot's own length."""
        even: np.ndarray = matrix / self.rows[:, None] / self.columns
        return even

    def up(self, matrix: np.ndarray) -> np.ndarray:
        """The matrix in metres again."""
        metric: np.ndarray = matrix * self.rows[:, None] * self.columns
        return metric

    def inverse(self, matrix: np.ndarray) -> np.ndarray:
        """The inverse of a matrix in metres, without what rounding left of zeros."""
        plain = self.down(matrix)
        back = np.linalg.inv(plain)
        size = np.abs(back)
        return Even(1 / self.columns, 1 / self.rows).up(
            cut(back, size @ np.abs(plain) @ size, LEFT_OVER)
        )


def product(A: np.ndarray, B: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
    """A B without what rounding left of zeros; weights: of the terms of B."""
    return cut(A @ B, np.abs(A) @ (np.abs(B) if weights is None else weights), LEFT_OVER)
