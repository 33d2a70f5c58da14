"""Numbers from outside, checked: finite floats of the wanted shape, or an error that says what came."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..errors import InputError, KindError


def number(what: str, value: Any) -> float:
    """A finite float, or an error that says what came."""
    try:
        if isinstance(value, (str, bytes, bool)):
            raise TypeError
        number = float(value)
    except (TypeError, ValueError):
        raise KindError(f"{what} is {value!r}; give one number") from None
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise InputError(f"{what} is {number}; give a finite number")
    return number


def numbers(what: str, value: Any, shape: tuple[int, ...]) -> np.ndarray:
    """A finite float array of the given shape, or an error that says what came."""
    try:
        given = np.asarray(value)
        if given.dtype.kind in "USb" or (given.dtype == object and _holds_text(given)):
            raise TypeError
        array = np.array(given, dtype=float)
    except (TypeError, ValueError):
        text = repr(value)
        text = text if len(text) <= 100 else text[:97] + "..."
        raise KindError(f"{what} is {text}; give numbers in the shape {shape}") from None
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
    return any(isinstance(x, (str, bytes, bool)) for x in array.ravel())
