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
    # whether these are the factors of M with rows and columns in reverse order
    inwards: bool = False

    def solve(self, b: Sequence[Scalar]) -> list[Scalar]:
        """x with M x = b."""
        return self._solve(b[::-1])[::-1] if self.inwards else self._solve(b)

    def _solve(self, b: Sequence[Scalar]) -> list[Scalar]:
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


def factorise(M: Rows, inwards: bool = False) -> LDL:
    """The factors of a symmetric positive definite matrix, of which one triangle is read.

    inwards: eliminated from the last row on. The mass matrix of a tree, joints after their parents, then fills no zero
    (Featherstone's branch-induced sparsity), and zeros cost nothing.
    """
    if inwards:
        turned = factorise([row[::-1] for row in M[::-1]])
        return LDL(turned.L, turned.inverse, True)
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
