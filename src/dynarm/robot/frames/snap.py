"""Numbers of robot files that were meant to be exact, told by the digits with which they are written.

An angle of 1.5708 is a quarter turn that somebody rounded; one of 1.5708312 was measured. What is recognised:

    shortened      pi, pi/2 or pi/180 rounded or cut off after some decimals, or a whole multiple of that: 1.5708,
                   1.570796, 3.1415, 1.570795 (half of 3.14159), 1.570797 (90 times 0.0174533)
    single         what single precision leaves of an exact number: 4.37e-08 for 0, 1.57079637 for pi/2
    left over      what remains of a quarter turn after one so shortened was taken off: 3.6732e-06 = 1.5708 - pi/2
    micrometres    offsets of a micrometre at most, of a robot that is no smaller than a centimetre

All within 1e-4 rad of the exact angle. Each function gives the exact number, or None where there is nothing to change.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from itertools import product

import numpy as np

from .rounding import ROUNDING

NEAR = 1e-4  # [rad] no angle is moved further
SINGLE = 2.0**-23  # relative rounding of single precision
MICROMETRE = 1.0000001e-6  # [m], as written in any number of digits
SMALL_ROBOT = 0.01  # [m] where the largest offset is no longer, all of them stay

_PI = Decimal("3.14159265358979323846264338327950288419716939937510582097")
_QUARTER = math.pi / 2
_DIGITS = 45  # of the arithmetic with shortened numbers
_PLACES = range(4, 13)  # decimals of the shortened quarter turns whose remains are recognised
_ALIKE = 1e-3  # relative difference of remains: they come with a few digits of their own


@dataclass(frozen=True, slots=True)
class Snapped:
    """A number of a file that was taken as exact: whose it is, as it was written, as what it was taken."""

    owner: str  # the joint or link
    text: str
    meant: str


def exact_angle(text: str) -> float | None:
    """The multiple of pi/2 [rad] that an angle so written stands for."""
    value = float(text)
    turns = round(value / _QUARTER)
    exact = turns * _QUARTER
    apart = abs(value - exact)
    if apart == 0 or apart > NEAR:
        return None
    if apart <= SINGLE * max(1.0, abs(value)):
        return exact
    if turns == 0:
        return exact if _left_over(value) else None
    return exact if _is_short_multiple(text, turns) else None


def exact_offset(text: str, largest: float) -> float | None:
    """0 for an offset [m] of a micrometre at most, beside others of which the largest has the given size."""
    value = float(text)
    return 0.0 if value and abs(value) <= MICROMETRE and largest > SMALL_ROBOT else None


def exact_axis(axis: Sequence[float]) -> np.ndarray | None:
    """The coordinate axis for which a direction stands; its length stays."""
    v = np.asarray(axis, float)
    size = float(np.abs(v).max())
    parts = v / size if size else v
    tidy = np.where([x != 0 and _is_nothing(x) for x in parts.tolist()], 0.0, v)
    return tidy if np.count_nonzero(tidy) == 1 and (tidy != v).any() else None


def is_noted(text: str, exact: float) -> bool:
    """Whether more than the rounding of double precision lies between the two, so that it is worth a word."""
    return abs(float(text) - exact) > ROUNDING * max(1.0, abs(exact))


def meaning(exact: float) -> str:
    """An exact angle in words: 0, pi/2, -pi, 3 pi/2."""
    turns = round(exact / _QUARTER)
    if turns == 0:
        return "0"
    sign, whole = "-" * (turns < 0), abs(turns)
    factor, half = (whole // 2, "") if whole % 2 == 0 else (whole, "/2")
    return f"{sign}{'' if factor == 1 else f'{factor} '}pi{half}"


# ---- digits


def _is_nothing(x: float) -> bool:
    return abs(x) <= SINGLE or (abs(x) <= NEAR and _left_over(x))


def _is_short_multiple(text: str, turns: int) -> bool:
    with localcontext() as context:
        context.prec = _DIGITS
        d, quarter = abs(Decimal(text)), _PI / 2
        n = abs(turns)
        wholes = ((d, quarter * n), (d / n, quarter), (2 * d / n, _PI), (d / (90 * n), _PI / 180))
        return any(_shortened(short, whole) for short, whole in wholes)


def _shortened(short: Decimal, whole: Decimal) -> bool:
    """Whether the first number is the second rounded, or cut off, after its own last decimal."""
    exponent = short.normalize().as_tuple().exponent
    assert isinstance(exponent, int)
    unit = Decimal(1).scaleb(exponent)
    return abs(short - whole) <= unit / 2 or 0 <= whole - short < unit


def _remains() -> tuple[float, ...]:
    """What quarter turns shortened to some decimals differ by from exact ones."""
    sizes = set()
    for turns, places, half in product((1, 2, 3, 4), _PLACES, (Decimal("0.5"), Decimal(0))):
        whole, unit = _PI / 2 * turns, Decimal(1).scaleb(-places)
        short = int(whole / unit + half) * unit
        sizes.add(float(abs(short - whole)))
    return tuple(x for x in sizes if SINGLE < x <= NEAR)


_REMAINS = _remains()


def _left_over(x: float) -> bool:
    return any(abs(abs(x) - size) <= _ALIKE * size for size in _REMAINS)
