"""Numbers from outside, checked: finite floats of the wanted shape, or an error that says what came."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..border.arguments import float_of, shown
from ..border.frames import unlabelled
from ..errors import DynarmError, InputError, KindError


def number(what: str, value: Any) -> float:
    """A finite float, or an error that says what came."""
    try:
        number = float_of(value)
    except (TypeError, ValueError):
        raise KindError(f"{what} is {shown(value)}; give one number") from None
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise InputError(f"{what} is {number}; give a finite number")
    return number


def numbers(
    what: str,
    value: Any,
    shape: tuple[int, ...],
    names: Sequence[str] = (),
    rows: Sequence[str] = (),
) -> np.ndarray:
    """A finite float array of the given shape, or an error that says what came.

    names, rows: what the columns and the index of a DataFrame may be called; see `border.frames`.
    """
    try:
        given = np.asarray(unlabelled(value, names, what, rows))
        if given.dtype.kind not in "iufO" or (given.dtype == object and _holds_text(given)):
            raise TypeError
        array = np.array(given, dtype=float)
    except DynarmError:
        raise
    except (TypeError, ValueError):
        raise KindError(f"{what} is {shown(value)}; give numbers in the shape {shape}") from None
    except OverflowError:
        raise InputError(
            f"{what} holds a number too large for float64; give finite numbers"
        ) from None
    if array.shape != shape:
        raise InputError(f"{what} has shape {array.shape}; give shape {shape}")
    if not np.isfinite(array).all():
        raise InputError(f"{what} holds NaN or infinity; give finite numbers")
    return array


def _holds_text(array: np.ndarray) -> bool:
    return any(isinstance(x, (str, bytes, bool, np.bool_)) for x in array.ravel())
