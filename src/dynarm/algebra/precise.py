"""Numbers of as many digits as one asks for: a scalar that formulas run on as they run on floats, by mpmath.

Sums and products with plain numbers are exact in those: 0.1 is the double nearest to it, and 0, 1, 2, 0.5 are
themselves. Products of two plain numbers are doubles: constants of a robot must be made `Precise` first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..border.extras import extra
from ..border.kinds import Foreign
from ..errors import DynarmError


class Precise:
    """One number of a given precision."""

    __slots__ = ("value",)
    __array_ufunc__ = None

    def __init__(self, value: Foreign):
        self.value = value

    def __add__(self, o: Precise | float) -> Precise:
        return Precise(self.value + _value(o))

    __radd__ = __add__

    def __sub__(self, o: Precise | float) -> Precise:
        return Precise(self.value - _value(o))

    def __rsub__(self, o: float) -> Precise:
        return Precise(o - self.value)

    def __mul__(self, o: Precise | float) -> Precise:
        return Precise(self.value * _value(o))

    __rmul__ = __mul__

    def __truediv__(self, o: Precise | float) -> Precise:
        return Precise(self.value / _value(o))

    def __rtruediv__(self, o: float) -> Precise:
        return Precise(o / self.value)

    def __neg__(self) -> Precise:
        return Precise(-self.value)

    def __abs__(self) -> Precise:
        return Precise(abs(self.value))

    def __float__(self) -> float:
        return float(self.value)

    def __eq__(self, o: object) -> bool:
        return bool(self.value == (o.value if isinstance(o, Precise) else o))

    def __lt__(self, o: Precise | float) -> bool:
        return bool(self.value < _value(o))

    def __gt__(self, o: Precise | float) -> bool:
        return bool(self.value > _value(o))

    def __le__(self, o: Precise | float) -> bool:
        return bool(self.value <= _value(o))

    def __ge__(self, o: Precise | float) -> bool:
        return bool(self.value >= _value(o))

    __hash__ = None  # type: ignore[assignment]

    def sin(self) -> Precise:
        return Precise(self.value.context.sin(self.value))

    def cos(self) -> Precise:
        return Precise(self.value.context.cos(self.value))

    def sqrt(self) -> Precise:
        return Precise(self.value.context.sqrt(self.value))

    def __repr__(self) -> str:
        return f"{self.__class__.__name__}({self.value})"


def _value(x: Precise | float) -> Foreign:
    return x.value if isinstance(x, Precise) else x


@dataclass(frozen=True, slots=True)
class Precision:
    """Makes numbers of so many decimal digits; computing keeps a few more."""

    digits: int
    make: Callable[[Foreign], Foreign]

    def __call__(self, x: float) -> Precise:
        """A double, exactly."""
        return Precise(self.make(x))


GUARD = 12  # digits beyond those that are asked for, for what sums of products lose


def precision(digits: int) -> Precision:
    """Numbers of so many digits, in a context of their own: other users of mpmath see nothing of it."""
    try:
        from mpmath import MPContext
    except ImportError:
        raise DynarmError(f"mpmath is not installed; {extra('symbolic')}") from None
    context = MPContext()
    context.dps = digits + GUARD
    return Precision(digits, context.mpf)
