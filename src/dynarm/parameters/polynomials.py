"""Polynomials in many symbols, expanded while they are computed: what equations of motion are written out with.

A monomial is one integer, a few bits for the exponent of each symbol, so that products of monomials are sums of
integers. Sines are kept at the power of one: where a square of theirs appears, 1 - cos^2 takes its place at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from ..algebra.vectors import Scalar

BITS = 6  # exponents up to 63
ONE = 1 << BITS


@dataclass(slots=True, eq=False)
class Ring:
    """The symbols that polynomials are made of, and which of them are sines of which cosines."""

    names: list[str] = field(default_factory=list)
    sines: dict[int, int] = field(default_factory=dict)  # place of a sine -> of its cosine

    def symbol(self, name: str) -> Polynomial:
        """A symbol, the same for the same name."""
        return Polynomial(self, {1 << BITS * self._place(name): 1})

    def angle(self, cosine: str, sine: str) -> tuple[Polynomial, Polynomial]:
        """Cosine and sine of an angle."""
        c, s = self._place(cosine), self._place(sine)
        self.sines[s] = c
        return self.symbol(cosine), self.symbol(sine)

    def _place(self, name: str) -> int:
        if name not in self.names:
            self.names.append(name)
        return self.names.index(name)

    def powers(self, monomial: int) -> Iterator[tuple[str, int]]:
        """The symbols of a monomial with their exponents."""
        for name in self.names:
            monomial, exponent = divmod(monomial, ONE)
            if exponent:
                yield name, exponent

    def reduced(self, terms: dict[int, float]) -> dict[int, float]:
        """The terms without squares of sines, whose exponents are two at most; zeros left out."""
        for s, c in self.sines.items():
            square, other = 2 << BITS * s, 2 << BITS * c
            for monomial in [m for m in terms if m & square]:
                x = terms.pop(monomial)
                rest = monomial - square
                terms[rest] = terms.get(rest, 0) + x
                terms[rest + other] = terms.get(rest + other, 0) - x
        return {m: x for m, x in terms.items() if x}


class Polynomial:
    """A sum of monomials with numbers before them."""

    __array_ufunc__ = None
    __slots__ = ("ring", "terms")

    def __init__(self, ring: Ring, terms: Mapping[int, float]):
        self.ring, self.terms = ring, terms

    def _terms_of(self, other: Scalar) -> Mapping[int, float]:
        return other.terms if isinstance(other, Polynomial) else {0: other} if other else {}

    def _with(self, other: Scalar, sign: int) -> Polynomial:
        terms = dict(self.terms)
        for m, x in self._terms_of(other).items():
            total = terms.get(m, 0) + sign * x
            if total:
                terms[m] = total
            else:
                terms.pop(m, None)
        return Polynomial(self.ring, terms)

    def __add__(self, other: Scalar) -> Polynomial:
        return self._with(other, 1)

    __radd__ = __add__

    def __sub__(self, other: Scalar) -> Polynomial:
        return self._with(other, -1)

    def __rsub__(self, other: Scalar) -> Polynomial:
        return (-self)._with(other, 1)

    def __neg__(self) -> Polynomial:
        return Polynomial(self.ring, {m: -x for m, x in self.terms.items()})

    def __mul__(self, other: Scalar) -> Polynomial:
        terms: dict[int, float] = {}
        for m, x in self._terms_of(other).items():
            for k, y in self.terms.items():
                terms[m + k] = terms.get(m + k, 0) + x * y
        return Polynomial(self.ring, self.ring.reduced(terms))

    __rmul__ = __mul__
