"""Solution of a symmetric positive definite system by an unrolled L D L', over abstract scalars."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .vectors import Scalar, mul, sub

Rows = Sequence[Sequence[Scalar]]


@dataclass(frozen=True, slots=True, eq=False)
class LDL:
    """M = L D L' with unit lower triangular L; `inverse` holds 1/D, the only divisions."""

    L: tuple[tuple[Scalar, ...], ...]  # row i holds i entries
    inverse: tuple[Scalar, ...]

    def solve(self, b: Sequence[Scalar]) -> list[Scalar]:
        """x with M x = b."""
        n = len(self.inverse)
        x = list(b)
        for i in range(n):
            for k in range(i):
                x[i] = sub(x[i], mul(self.L[i][k], x[k]))
        x = [mul(value, inv) for value, inv in zip(x, self.inverse, strict=True)]
        for i in reversed(range(n)):
            for k in range(i + 1, n):
                x[i] = sub(x[i], mul(self.L[k][i], x[k]))
        return x


def factorise(M: Rows) -> LDL:
    """The factors of a symmetric positive definite matrix, whose lower triangle is read."""
    L: list[tuple[Scalar, ...]] = []
    inverse: list[Scalar] = []
    for i, given in enumerate(M):
        scaled: list[Scalar] = []  # L[i][k] D[k]
        row: list[Scalar] = []
        for j in range(i):
            v = given[j]
            for k in range(j):
                v = sub(v, mul(scaled[k], L[j][k]))
            scaled.append(v)
            row.append(mul(v, inverse[j]))
        pivot = given[i]
        for k in range(i):
            pivot = sub(pivot, mul(row[k], scaled[k]))
        L.append(tuple(row))
        inverse.append(1 / pivot)
    return LDL(tuple(L), tuple(inverse))
