"""DataFrames, Series and arrays of whatever kind as plain columns, with the names that their columns had."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...border.arguments import shown
from ...border.files import named
from ...border.kinds import Outside
from ...errors import FormatError, InputError, KindError
from .formats.table import Table, check_names
from .numbers import floats, seconds


class Values(NamedTuple):
    """An argument's array; the names of its columns and its index where it came with such."""

    array: np.ndarray
    labels: tuple[str, ...] | None = None
    index: Outside = None


def is_frame(value: Outside) -> bool:
    """Whether it is a table with named columns and rows, as pandas makes them."""
    return hasattr(value, "columns") and hasattr(value, "index") and hasattr(value, "iloc")


def values_of(what: str, value: Outside) -> Values:
    """The argument as an array of any type; units and masked entries, which an array would drop, are refused."""
    if hasattr(value, "to_pandas"):  # xarray, polars, Arrow
        try:
            value = value.to_pandas()
        except Exception as error:
            raise KindError(
                f"{what} is {shown(type(value))}, which does not become a table ({named(str(error))}); give an array"
            ) from None
    if is_frame(value):
        columns = [column_of(value.iloc[:, k]) for k in range(value.shape[1])]
        labels = tuple(map(str, value.columns))
        kinds = {"m" if c.dtype.kind in "mM" else "c" for c in columns}
        if len(columns) > 1 and "m" in kinds:
            raise KindError(f"{what} has a column of dates; give columns of numbers")
        plain = [
            floats(f"{what} column '{named(n)}'", c)
            for n, c in zip(labels, columns)
            if "m" not in kinds
        ]
        array = np.column_stack(plain or columns) if columns else np.empty((len(value), 0))
        words = all(isinstance(name, str) for name in value.columns)
        return Values(array, labels if words else None, value.index)
    if hasattr(value, "iloc"):  # a Series
        return Values(column_of(value), None, value.index)
    if hasattr(value, "tz") and hasattr(value, "to_series"):  # a DatetimeIndex
        return Values(column_of(value.to_series()))
    if isinstance(value, np.ma.MaskedArray):
        if np.ma.is_masked(value):
            raise InputError(f"{what} has masked entries; leave those rows out")
        value = value.data
    if hasattr(value, "unit") or hasattr(value, "units"):
        raise KindError(f"{what} carries units of its own; give plain numbers in SI units")
    try:
        return Values(np.asarray(value))
    except (TypeError, ValueError, OverflowError):
        raise KindError(f"{what} is {shown(value)}; give an array of numbers") from None


def column_of(series: Outside) -> np.ndarray:
    """A column of pandas as NumPy's: moments of any zone in UTC, missing numbers as NaN."""
    if getattr(series.dtype, "tz", None) is not None:
        series = series.dt.tz_convert("UTC").dt.tz_localize(None)
    if hasattr(series.dtype, "categories"):
        series = series.astype(series.dtype.categories.dtype)
    array: np.ndarray = series.to_numpy()
    if array.dtype == object and len(array) and isinstance(array[0], (list, np.ndarray)):
        try:
            return np.array([np.asarray(row, dtype=float) for row in array])
        except (TypeError, ValueError):
            return array.astype(str)
    return array


def numbers_of(what: str, value: Outside) -> Values:
    """The argument as floats."""
    try:
        given = values_of(what, value)
        return given._replace(array=floats(what, given.array))
    except FormatError as error:
        raise KindError(f"{error}; give an array of numbers") from None


def seconds_of(what: str, value: Outside) -> Values:
    """The argument as times [s]; dates count from the first one."""
    try:
        given = values_of(what, value)
        return given._replace(array=seconds(what, given.array)[0])
    except FormatError as error:
        raise KindError(f"{error}; give an array of numbers") from None


def check_indexes(given: dict[str, Values]) -> None:
    """Refuse tables whose rows have different names: by place they would be paired wrongly."""
    first: tuple[str, Outside] | None = None
    for name, values in given.items():
        index = values.index
        if index is None or (index.dtype.kind in "iu" and np.array_equal(index, range(len(index)))):
            continue
        if first is None:
            first = name, index
        elif len(index) == len(first[1]) and not index.equals(first[1]):
            raise InputError(
                f"{first[0]} and {name} have different indexes; align them, as {name}.reindex({first[0]}.index) does"
            )


def columns_in_order(what: str, values: Values, names: Sequence[str]) -> np.ndarray:
    """The columns in the order of the names, where they are called so; as they stand where none is."""
    labels = values.labels
    if labels is None or labels == tuple(names) or not set(labels) & set(names):
        return values.array
    if len(set(labels)) != len(labels) or not set(names) <= set(labels):
        raise InputError(
            f"{what} has columns {', '.join(map(named, labels[:30]))}; joints are {', '.join(map(named, names[:30]))}: "
            "name all columns after joints, or none"
        )
    return values.array[:, [labels.index(name) for name in names]]


def table_of(frame: Outside) -> Table:
    """A frame's columns by name; an index that is a clock or has a name is one of them."""
    if hasattr(frame, "to_pandas"):
        frame = frame.to_pandas()
    if not is_frame(frame):
        raise KindError(f"frame is {shown(frame)}; give a DataFrame")
    names = ["_".join(map(str, n)) if isinstance(n, tuple) else str(n) for n in frame.columns]
    check_names("frame", names)
    table = {name: column_of(frame.iloc[:, k]) for k, name in enumerate(names)}
    index = frame.index
    if getattr(index, "nlevels", 1) == 1:
        clock = index.dtype.kind in "mM" or getattr(index.dtype, "tz", None) is not None
        name = str(index.name) if index.name is not None else "time"
        if (clock or index.name is not None) and name not in table:
            table[name] = column_of(index.to_series())
    if not table:
        raise FormatError("frame: holds no columns")
    return table
