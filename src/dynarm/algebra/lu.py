"""Solution of a linear system by an unrolled L U without pivoting, over abstract scalars.

For matrices that are nearly symmetric and positive definite: those whose symmetric part is have such factors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .ldl import Rows
from .vectors import Scalar, mul, sub


@dataclass(frozen=True, slots=True, eq=False)
class LU:
    """A = L U with unit lower triangular L; `inverse` holds 1/diagonal of U, the only divisions."""

    L: tuple[tuple[Scalar, ...], ...]  # row i holds i entries
    U: tuple[tuple[Scalar, ...], ...]  # row i holds the n - i - 1 entries after the diagonal
    inverse: tuple[Scalar, ...]

    def solve(self, b: Sequence[Scalar]) -> list[Scalar]:
        """x with A x = b."""
        n, x = len(self.inverse), list(b)
        for i in range(n):
            for k in range(i):
                x[i] = sub(x[i], mul(self.L[i][k], x[k]))
        for i in reversed(range(n)):
            for k in range(i + 1, n):
                x[i] = sub(x[i], mul(self.U[i][k - i - 1], x[k]))
            x[i] = mul(x[i], self.inverse[i])
        return x


def factorise(A: Rows) -> LU:
    """The factors of a square matrix."""
    rows = [list(row) for row in A]
    L: list[tuple[Scalar, ...]] = []
    inverse: list[Scalar] = []
    for i, row in enumerate(rows):
        own: list[Scalar] = []
        for k in range(i):
            factor = mul(row[k], inverse[k])
            own.append(factor)
            for j in range(k + 1, len(rows)):
                row[j] = sub(row[j], mul(factor, rows[k][j]))
        L.append(tuple(own))
        inverse.append(1 / row[i])
    return LU(tuple(L), tuple(tuple(row[i + 1 :]) for i, row in enumerate(rows)), tuple(inverse))
