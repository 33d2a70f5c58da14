"""Columns of whatever type as floats: numbers as they are, moments and durations in seconds, all else refused."""

from __future__ import annotations

import re

import numpy as np

from ...border.digits import NUMBER
from ...border.files import named
from ...border.kinds import Outside
from ...errors import FormatError

# what a column may hold: a number, or a word for what is missing
_NUMBER = re.compile(rf"\s*(?:{NUMBER}|[+-]?(?:nan|inf(?:inity)?))\s*", re.I | re.A)
_WRITTEN = re.compile(r"\d[-:]\d|\d\s*days?\b", re.A)  # a date, a time of the day, a duration
_SECONDS = {"W": 604800, "D": 86400, "h": 3600, "m": 60, "s": 1}
_NS = 1e9  # in a second
_CLOCK = (1e8, 1e10)  # s since 1970: from 1973 to 2286
_PARTS = {"ms": 1e3, "us": 1e6, "ns": 1e9, "ps": 1e12, "fs": 1e15, "as": 1e18}


def floats(what: str, column: np.ndarray) -> np.ndarray:
    """The column's numbers; empty cells are NaN. Complex numbers, truth values, dates and texts are refused."""
    kind = column.dtype.kind
    if kind in "iuf":
        return np.asarray(column, dtype=float)
    if kind == "c":
        raise FormatError(f"{what} holds complex numbers; give their real parts if they are meant")
    if kind == "b":
        raise FormatError(f"{what} holds True and False, not numbers")
    if kind in "mM":
        raise FormatError(f"{what} holds {_WORD[kind]}, not numbers; only time may")
    if kind in "OUST":
        values = [_number(what, row, cell) for row, cell in enumerate(column.flat)]
        return np.array(values, dtype=float).reshape(column.shape)
    raise FormatError(f"{what} is of type {named(str(column.dtype))}, not numbers")


_WORD = {"M": "dates", "m": "durations"}


def _number(what: str, row: int, value: Outside) -> float:
    """One cell as a float."""
    if isinstance(value, bytes):
        value = value.decode("latin-1")
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return np.nan
    try:
        if isinstance(value, str) and not value.strip():
            return np.nan
        fits = _NUMBER.fullmatch(value) if isinstance(value, str) else not isinstance(value, bool)
        if fits and not hasattr(value, "total_seconds"):
            return float(value)
    except (TypeError, ValueError, OverflowError):
        pass
    raise FormatError(f"{what}, row {row + 1} holds {_cell(value)}, not a number")


def _cell(value: Outside) -> str:
    """A cell as a message shows it."""
    text = repr(str(value)) if isinstance(value, str) else f"{value}"
    text = named(text)
    return text if len(text) <= 60 else text[:57] + "..."


def seconds(what: str, column: np.ndarray) -> tuple[np.ndarray, bool]:
    """Time [s], and whether the column's own type told its unit (dates count from the first one)."""
    if column.dtype.kind in "OUST":
        column = _moments(column)
    if column.dtype.kind not in "mM":
        return floats(what, column), False
    unit, step = np.datetime_data(column.dtype)
    if column.dtype.kind == "M" and unit in ("Y", "M"):
        column, unit, step = column.astype("M8[D]"), "D", 1
    if unit not in _SECONDS and unit not in _PARTS:
        raise FormatError(f"{what} holds {_WORD[column.dtype.kind]} without a unit of time")
    missing = np.isnat(column)
    ticks = column.astype(np.int64)
    if column.dtype.kind == "M" and not missing.all():
        ticks = _since_first(what, ticks, missing)
    value = ticks * float(step)
    value = value * _SECONDS[unit] if unit in _SECONDS else value / _PARTS[unit]
    return np.where(missing, np.nan, value), True


def clock_start(first: float) -> float:
    """What to count time [s] from: the first one where it is of a clock since 1970, else zero."""
    return first if _CLOCK[0] < first < _CLOCK[1] else 0.0


def moment_of(column: np.ndarray, scale: float) -> np.datetime64 | None:
    """When (UTC) the first entry of a column of times was, to the nanosecond, or None.

    scale: seconds of a unit of plain numbers, which tell it where they count from 1970.
    """
    first = _moments(column[:1]) if column.dtype.kind in "OUST" else column[:1]
    if first.dtype.kind == "M":
        return None if np.isnat(first[0]) else np.datetime64(first[0], "ns")
    if first.dtype.kind not in "iuf" or not clock_start(float(first[0]) * scale):
        return None
    whole, rest = _ticks(first, scale)
    ticks = int(whole[0]) * round(scale * _NS) + int(rest[0])
    return np.datetime64(ticks, "ns") if abs(ticks) < 2**63 else None


def since_first(column: np.ndarray, scale: float) -> np.ndarray:
    """Plain numbers of a time's unit in seconds from the first one, to the nanosecond.

    Whole nanoseconds, so that rows of one clock have the same times whichever row they are counted from (`earlier`).
    """
    whole, rest = _ticks(column, scale)
    passed = (whole - whole[0]) * round(scale * _NS) + (rest - rest[0])
    return np.asarray(passed / _NS, dtype=float)


def _ticks(column: np.ndarray, scale: float) -> tuple[np.ndarray, np.ndarray]:
    """Whole units of time and the nanoseconds beyond them; the sum would not fit a float's digits."""
    if column.dtype.kind in "iu":
        return column, np.zeros_like(column)
    whole = np.floor(column)
    return whole, np.rint((column - whole) * round(scale * _NS))


def earlier(t: np.ndarray, shift: int) -> np.ndarray:
    """Times [s] counted from a moment so many nanoseconds earlier: those that a clock's rows have from there."""
    return np.asarray((np.rint(t * _NS).astype(np.int64) + shift) / _NS)


def _since_first(what: str, ticks: np.ndarray, missing: np.ndarray) -> np.ndarray:
    """Ticks from the first moment; as floats since 1970 they would lose their last digits."""
    present = ticks[~missing]
    if int(present.max()) - int(present.min()) >= 2**63:
        raise FormatError(f"{what} spans more than any clock counts; mend its dates")
    since: np.ndarray = ticks - present[0]
    return since


def _moments(column: np.ndarray) -> np.ndarray:
    """Dates or durations that are written out or are Python's objects; the column itself where they are none."""
    cells = column.ravel()
    first = next((x for x in cells.tolist() if x is not None and x == x and x != ""), None)
    objects = hasattr(first, "microseconds") or hasattr(first, "year")
    if not objects and not (isinstance(first, str) and _WRITTEN.search(first)):
        return column
    import pandas as pd

    try:
        if hasattr(first, "microseconds") or (isinstance(first, str) and "day" in first):
            moments: np.ndarray = pd.to_timedelta(pd.Series(cells)).to_numpy()
        else:
            dates = pd.to_datetime(pd.Series(cells), utc=True, format="ISO8601")
            moments = dates.dt.tz_localize(None).to_numpy()
        return moments.reshape(column.shape)
    except (ValueError, TypeError, OverflowError):
        return column  # refused by the first cell that is no number
