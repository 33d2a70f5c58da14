"""The one place where arguments from outside are checked: words, numbers, arrays, lists, paths.

Each function gives back the value in the form that the rest of the library counts on, or raises an error that says
what came and what to give. DataFrames are put in order by `border.frames`; numbers in files are read by
`border.digits`. `shown` stands here as well, for refusals that only the caller can word.
"""

from __future__ import annotations

import math
import operator
import os
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import DynarmError, FileError, InputError, KindError
from .words import shown

if TYPE_CHECKING:
    import numpy as np

    from .kinds import Outside

__all__ = [
    "above_zero",
    "among",
    "check_finite",
    "each",
    "flag",
    "float_of",
    "items",
    "number",
    "numbers",
    "path_of",
    "positive",
    "real",
    "reals",
    "samples",
    "shown",
    "whole",
]

_PATH, _NAME = 4096, 255  # letters of a path, bytes of one name in it, that systems take


# ---- words and lists


def among(value: Outside, known: Collection[str]) -> bool:
    """Whether the value is one of these words, whatever it is."""
    return isinstance(value, str) and value in known


def flag(what: str, value: Outside) -> bool:
    """True or False; numbers and words are neither."""
    import numpy as np

    if not isinstance(value, (bool, np.bool_)):
        raise KindError(f"{what} is {shown(value)}; give True or False")
    return bool(value)


def items(what: str, value: Outside, wanted: str) -> list[Outside]:
    """What a list or other collection holds; a single text is none."""
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        raise KindError(f"{what} is {shown(value)}; give {wanted}")
    try:
        return list(value)
    except TypeError:  # an array without axes
        raise KindError(f"{what} is {shown(value)}; give {wanted}") from None


# ---- one number


def float_of(value: Outside) -> float:
    """The value as a float if it is one number; else a TypeError."""
    kind = getattr(getattr(value, "dtype", None), "kind", "f")
    if isinstance(value, (str, bytes, bool)) or kind not in "iuf":  # NumPy's bool, complex, dates
        raise TypeError
    return float(value)


def number(what: str, value: Outside) -> float:
    """A finite float."""
    try:
        one = float_of(value)
    except (TypeError, ValueError):
        raise KindError(f"{what} is {shown(value)}; give one number") from None
    except OverflowError:
        one = math.inf
    if not math.isfinite(one):
        raise InputError(f"{what} is {one}; give a finite number")
    return one


def real(
    what: str, value: Outside, wanted: str, fits: Callable[[float], bool] | None = None
) -> float:
    """A number that fits; infinity may pass, NaN never does. `wanted` says in words what fits."""
    try:
        one = float_of(value)
    except (TypeError, ValueError, OverflowError):
        raise KindError(f"{what} is {shown(value)}; give {wanted}") from None
    if math.isnan(one) or not (fits is None or fits(one)):
        raise InputError(f"{what} is {shown(value)}; give {wanted}")
    return one


def positive(x: float) -> bool:
    """Whether a number is above 0, be it infinite."""
    return x > 0


def above_zero(x: float) -> bool:
    """Whether a number is above 0 and finite."""
    return 0 < x < math.inf


def whole(what: str, value: Outside, least: int = 0, most: int = 2**31 - 1) -> int:
    """A whole number between two others; 3.0 is one, True is not."""
    try:
        if isinstance(value, bool):
            raise TypeError
        count = int(value) if float_of(value).is_integer() else operator.index(value)
    except (TypeError, ValueError, OverflowError):
        raise KindError(f"{what} is {shown(value)}; give a whole number") from None
    if not least <= count <= most:
        raise InputError(f"{what} is {shown(value)}; give a whole number from {least} to {most}")
    return count


# ---- several numbers


def reals(
    what: str, value: Outside, wanted: str = "numbers", names: Sequence[str] = ()
) -> np.ndarray:
    """Floats of any shape; the array itself where it holds such. Texts and complex numbers are refused.

    names: what the columns of a DataFrame may be called; see `border.frames`.
    """
    return _floats(what, value, wanted, names, (), truths=True)


def numbers(
    what: str,
    value: Outside,
    shape: tuple[int, ...] | None = None,
    names: Sequence[str] = (),
    rows: Sequence[str] = (),
) -> np.ndarray:
    """Finite floats of just this shape (None: of any), an array of their own; True and False are refused, too.

    names, rows: what the columns and the index of a DataFrame may be called; see `border.frames`.
    """
    wanted = "numbers" if shape is None else f"numbers in the shape {shape}"
    array = _floats(what, value, wanted, names, rows, truths=False)
    if shape is not None and array.shape != shape:
        raise InputError(f"{what} has shape {array.shape}; give shape {shape}")
    return check_finite(what, array.copy())


def check_finite(what: str, array: np.ndarray) -> np.ndarray:
    """The array itself, refused where an entry is NaN or infinite."""
    import numpy as np

    if not np.isfinite(array).all():
        raise InputError(f"{what} holds NaN or infinity; give finite numbers")
    return array


def each(
    what: str, value: Outside, shape: tuple[int, ...], names: Sequence[str] = ()
) -> np.ndarray:
    """Floats of the shape, from an array of it or from less that is repeated: one number for all, one a row."""
    import numpy as np

    array = reals(what, value, f"numbers in the shape {shape}", names)
    try:
        return np.broadcast_to(array, shape)
    except ValueError:
        raise InputError(f"{what} has shape {array.shape}; give one number or {shape}") from None


def samples(robot: str, n: int, names: Sequence[str] = (), **given: Outside) -> list[np.ndarray]:
    """(N, n) finite floats of each quantity of a motion, as many rows of each; one row may come alone."""
    import numpy as np

    arrays = []
    for name, value in given.items():
        array = np.atleast_2d(reals(name, value, f"numbers of shape (samples, {n})", names))
        if array.ndim != 2 or array.shape[1] != n:
            raise InputError(
                f"{name} has shape {np.shape(value)}, robot '{robot}' has {n} joints; give (samples, {n}), ordered as "
                "arm.joint_names"
            )
        if not len(array) or not np.isfinite(array).all():
            raise InputError(f"{name} is empty or holds NaN or infinity; give finite samples")
        arrays.append(array)
    if len({len(x) for x in arrays}) > 1:
        counts = ", ".join(f"{name} has {len(x)}" for name, x in zip(given, arrays, strict=True))
        raise InputError(f"{counts} samples; give as many of each")
    return arrays


def _floats(
    what: str, value: Outside, wanted: str, names: Sequence[str], rows: Sequence[str], truths: bool
) -> np.ndarray:
    """The value as floats; True and False are numbers only where `truths` says so."""
    import numpy as np

    from .frames import unlabelled

    # NumPy would read the texts, and take None for NaN
    no_numbers = (str, bytes, type(None)) + (() if truths else (bool, np.bool_))
    try:
        array = np.asarray(unlabelled(value, names, what, rows))
        if array.dtype.kind not in ("biufO" if truths else "iufO"):
            raise TypeError
        if array.dtype == object and any(isinstance(x, no_numbers) for x in array.ravel()):
            raise TypeError
        return np.asarray(array, dtype=float)
    except DynarmError:
        raise
    except (TypeError, ValueError):
        raise KindError(f"{what} is {shown(value)}; give {wanted}") from None
    except OverflowError:
        raise InputError(
            f"{what} is {shown(value)}, too large for float64; give {wanted}"
        ) from None


# ---- files


def path_of(what: str, value: Outside, wanted: str) -> Path:
    """A path that names something."""
    if not isinstance(value, (str, os.PathLike)) or not str(value).strip():
        raise KindError(f"{what} is {shown(value)}; give {wanted}")
    if isinstance(os.fspath(value), bytes):
        raise KindError(f"{what} is {shown(value)}; give the path as text")
    if "\0" in str(value):
        raise FileError(f"{shown(str(value))} holds a zero character; give a path")
    try:
        longest = max((len(os.fsencode(part)) for part in Path(value).parts), default=0)
    except UnicodeEncodeError:  # half of a pair of letters
        raise FileError(f"{what} is {shown(str(value))}, no path of this system") from None
    if len(str(value)) > _PATH or longest > _NAME:
        raise FileError(f"{what} is {shown(str(value))}, too long for a file's name; give a path")
    return Path(value)
