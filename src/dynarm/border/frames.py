"""Numbers in whatever holds them, as plain arrays: DataFrames and Series by the names of columns, all else by place.

NumPy lets such objects decide what a function does to them, and pandas decides to go by columns: what comes from
outside is made an array here before anything is computed. pandas is never imported; who has a DataFrame has done so.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence

import numpy as np

from ..errors import DynarmError, InputError, KindError
from .kinds import Outside
from .words import shown

_SHOWN = 8  # names that a message lists
_REAL = "biuf"


def unlabelled(
    value: Outside, names: Sequence[str] = (), what: str = "the array", rows: Sequence[str] = ()
) -> Outside:
    """The value itself if NumPy alone decides what it means, else the plain array that it stands for.

    Columns of a DataFrame (the index of a Series) that are `names`, or `<name>_<what>`, are taken in the order of
    `names`, and others are left out; if none of them is, all are taken as they stand, and there must be as many. Some
    but not all: refused. Masked entries, axes with names (xarray), units, texts, objects and complex numbers: refused.
    rows: names that the index of a DataFrame may have, any order, matched as the columns are.
    """
    if is_plain(value):
        return value
    if isinstance(value, (list, tuple)):
        return _stacked([unlabelled(x, names, what) for x in value], what)
    _refuse_the_strange(value, what)
    pandas: Outside = sys.modules.get("pandas")
    frames: Outside = getattr(pandas, "DataFrame", ())
    series: Outside = getattr(pandas, "Series", ())
    if isinstance(value, frames):
        return _of_frame(value, names, rows, what)
    if isinstance(value, series):
        order = order_of(list(value.index), names, what, "entries")
        array = _of_column(value, what)
        return array if order is None else array[order]
    if hasattr(getattr(value, "dtype", None), "na_value"):  # an array of pandas' own
        return _of_column(value, what)
    array = _converted(value, what)
    columns = getattr(value, "columns", getattr(value, "column_names", None))
    if array.ndim == 2 and isinstance(columns, Iterable) and not isinstance(value, np.ndarray):
        order = order_of(list(columns), names, what, "columns")  # polars, pyarrow
        return array if order is None else array[:, order]
    return array


def is_plain(value: Outside) -> bool:
    """Whether a value is an array, a number, or a list that begins with such: nothing with a will of its own."""
    kind = type(value)
    if kind is np.ndarray or kind is float or kind is int:
        return True
    if kind is list or kind is tuple:
        return not value or is_plain(value[0])
    return value is None or isinstance(value, (np.generic, bool, complex, str, bytes))


def check_out(out: Outside, wanted: str = "a float64 array that can be written to") -> None:
    """Refuse what results cannot be written to entry by entry: a DataFrame, a masked array, a list."""
    for one in out if isinstance(out, tuple) else (out,):
        if one is not None and (
            not isinstance(one, np.ndarray) or isinstance(one, np.ma.MaskedArray)
        ):
            raise KindError(f"out is {type(one).__name__}; give {wanted}")


def _refuse_the_strange(value: Outside, what: str) -> None:
    """Refuse what would lose its meaning as a plain array."""
    kind = type(value).__name__
    if isinstance(value, np.ma.MaskedArray) and np.ma.getmaskarray(value).any():
        count = int(np.ma.getmaskarray(value).sum())
        raise InputError(
            f"{what} has {count} masked entries; fill them ({what}.filled(...)) or leave those samples out"
        )
    if hasattr(value, "dims") and hasattr(value, "coords"):
        raise KindError(
            f"{what} is an xarray {kind}, whose axes have names; give {what}.transpose(...).values with the "
            "joints on the last axis"
        )
    pandas = type(value).__module__.partition(".")[0] == "pandas"  # whose columns may have any name
    for unit in () if pandas else ("unit", "units"):
        if getattr(value, unit, None) is not None:
            raise KindError(f"{what} is a {kind} with a unit; give plain numbers in SI units")


def _of_frame(frame: Outside, names: Sequence[str], rows: Sequence[str], what: str) -> np.ndarray:
    """(rows, columns) of a pandas DataFrame."""
    if getattr(frame.columns, "nlevels", 1) > 1:
        raise KindError(
            f"{what} has columns of {frame.columns.nlevels} levels; choose one, for example frame['{what}']"
        )
    order = order_of(list(frame.columns), names, what, "columns")
    places = range(frame.shape[1]) if order is None else order
    columns = [_of_column(frame.iloc[:, k], f"{what}, column {k + 1}") for k in places]
    array = np.stack(columns, axis=1) if columns else np.zeros((len(frame), 0))
    if rows and (order := order_of(list(frame.index), rows, what, "rows")) is not None:
        array = array[order]
    return array


def _of_column(column: Outside, what: str) -> np.ndarray:
    """The numbers of a Series or of an array of pandas' own; what is missing is NaN."""
    kind = getattr(column.dtype, "kind", "O")
    if kind not in _REAL:
        raise KindError(f"{what} is of type {column.dtype}; give real numbers")
    if isinstance(column.dtype, np.dtype):
        return np.asarray(column)
    return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))


def _converted(value: Outside, what: str) -> np.ndarray:
    """What `__array__` gives; an object that has none is an array of type object, which nobody takes for numbers."""
    try:
        array = np.asarray(value)
    except DynarmError:
        raise
    except Exception as error:  # whatever a foreign __array__ raises
        raise KindError(
            f"{what} is a {type(value).__name__} that gives no array ({type(error).__name__}: {error}); give an array"
        ) from None
    return array.view(np.ndarray)


def _stacked(parts: list[Outside], what: str) -> np.ndarray:
    try:
        return np.array(parts)
    except ValueError:
        raise InputError(f"{what} is ragged; give entries of one shape") from None


def order_of(
    labels: list[Outside], names: Sequence[str], what: str, which: str
) -> list[int] | None:
    """Where the names stand among the labels; None to go by place."""
    places: dict[Outside, int] = {}
    twice = set()
    for k, label in enumerate(labels):
        if isinstance(label, str):
            twice |= {label} & places.keys()
            places[label] = k
    for wanted in (list(names), [f"{name}_{what}" for name in names]):
        known = [name for name in wanted if name in places]
        if not known:
            continue
        missing = [name for name in wanted if name not in places]
        if missing:
            raise InputError(
                f"the {which} of {what} name {_listed(known)} but not {_listed(missing)}; name all of them, or give "
                "a plain array to go by place"
            )
        if twice & set(wanted):
            raise InputError(
                f"the {which} of {what} name {_listed(sorted(twice & set(wanted)))} twice; keep one"
            )
        return [places[name] for name in wanted]
    if names and len(labels) != len(names):
        raise InputError(
            f"{what} has {len(labels)} {which} ({_listed(labels)}), not {len(names)}; give one for each of "
            f"{_listed(names)}"
        )
    return None


def _listed(names: Iterable[Outside]) -> str:
    """The names with commas, not too many."""
    texts = [shown(name) for name in names]
    more = f" and {len(texts) - _SHOWN} more" if len(texts) > _SHOWN else ""
    return ", ".join(texts[:_SHOWN]) + more
