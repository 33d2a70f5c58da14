"""Which columns of a log file are what: the channels declaration, its units, and the usual names recognised.

A declaration is a TOML file beside the log, or a dict:

    rate = 5000.0                   # samples a second, or
    time = "t"                      # a column; or a table: time = { column = "stamp", unit = "ms" }
    joint_names = ["shoulder", ...] # the robot's joints in the order of the columns; default: as the arm has them
    missing = "drop"                # leave rows with missing numbers out (default: refuse them)

    [q]                             # likewise [qd], [qdd], [tau], [wrench], [reference] (commanded positions)
    columns = ["q1", "q2"]          # names, or a pattern "q{}" that counts from 0 or 1, or the name of one array
    file = "positions.csv"          # another file beside the log, row by row the same samples
    unit = "deg"                    # or one a joint; scale and offset are in this unit
    scale = [1.0, -1.0]             # number, list or matrix, or the name of a number in the file: raw values are
    divide = [[32, 0], [0, 32]]     # multiplied by scale, or by the inverse of divide (gear ratios, couplings)
    offset = [0, -90]               # then added

    value = factor(unit) * (scale * raw + offset)
"""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..border.words import shown
from ..errors import FileError, FormatError, InputError, UnknownName
from .readers import Table, listed, read_table
from .recognition import recognise

CHANNELS = ("q", "qd", "qdd", "tau", "wrench", "reference")
_DEGREE = math.pi / 180
# unit -> (what it measures, factor to SI); currents and voltages become forces by their scale
UNITS: dict[str, tuple[str, float]] = {
    "rad": ("position", 1.0),
    "deg": ("position", _DEGREE),
    "rev": ("position", 2 * math.pi),
    "m": ("position", 1.0),
    "mm": ("position", 1e-3),
    "rad/s": ("velocity", 1.0),
    "deg/s": ("velocity", _DEGREE),
    "rpm": ("velocity", 2 * math.pi / 60),
    "m/s": ("velocity", 1.0),
    "mm/s": ("velocity", 1e-3),
    "rad/s^2": ("acceleration", 1.0),
    "deg/s^2": ("acceleration", _DEGREE),
    "m/s^2": ("acceleration", 1.0),
    "mm/s^2": ("acceleration", 1e-3),
    "Nm": ("force", 1.0),
    "N m": ("force", 1.0),
    "mNm": ("force", 1e-3),
    "kNm": ("force", 1e3),
    "N": ("force", 1.0),
    "A": ("drive", 1.0),
    "mA": ("drive", 1e-3),
    "V": ("drive", 1.0),
    "%": ("drive", 1.0),
    "s": ("time", 1.0),
    "ms": ("time", 1e-3),
    "us": ("time", 1e-6),
    "ns": ("time", 1e-9),
}
_MEASURES = {
    "q": ("position",),
    "reference": ("position",),
    "qd": ("velocity",),
    "qdd": ("acceleration",),
    "tau": ("force", "drive"),
    "wrench": ("force",),
    "time": ("time",),
}


def load_channels(path: Path, given: Any) -> tuple[dict[str, Any] | None, str]:
    """The declaration for a log and where it came from: the argument, the file beside the log, or None."""
    if isinstance(given, Mapping):
        return dict(given), "channels"
    if given is None:
        beside = [p for p in (path.with_suffix(".toml"), Path(f"{path}.toml")) if p.is_file()]
        if not beside:
            return None, ""
        given = beside[0]
    source = Path(given)
    try:
        return tomllib.loads(source.read_text(encoding="utf-8")), str(source)
    except OSError as error:
        raise FileError(f"{source}: cannot be read ({error.strerror})") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise FormatError(f"{source}: not a valid TOML file ({error})") from None


def read_channels(path: Path, given: Any) -> dict[str, Any]:
    """SI arrays of a log file by channel (t, q, tau, ...), and joint_names where they are known."""
    table = read_table(path)
    declared, source = load_channels(path, given)
    if declared is None:
        declared, source = recognise(path, table), "recognised names"
    known = {*CHANNELS, "time", "rate", "joint_names", "missing"}
    for key in declared:
        if key not in known:
            raise FormatError(f"{source}: {UnknownName('entry', key, known)}")
    for key in ("q", "tau"):
        if key not in declared:
            raise FormatError(f"{source}: no [{key}] for {path}; name its columns")
    found: dict[str, Any] = {}
    for name in CHANNELS:
        if name in declared:
            found[name] = _channel(path, table, name, declared[name], source)
    lengths = {name: len(value) for name, value in found.items()}
    if len(set(lengths.values())) > 1:
        listed = ", ".join(f"{k} {v}" for k, v in lengths.items())
        raise FormatError(f"{path}: channels have different numbers of rows ({listed})")
    found["t"] = _time(path, table, declared, source, lengths["q"])
    if "joint_names" in declared:
        found["joint_names"] = tuple(map(str, declared["joint_names"]))
    return _without_missing(path, found, declared.get("missing", "refuse"), source)


def _time(path: Path, table: Table, declared: Mapping[str, Any], source: str, rows: int) -> Any:
    if "rate" in declared:
        rate = declared["rate"]
        if not isinstance(rate, (int, float)) or not rate > 0:
            raise FormatError(f"{source}: rate is {shown(rate)}; give samples a second")
        return np.arange(rows) / rate
    entry = declared.get("time")
    if entry is None:
        raise FormatError(f"{source}: neither time nor rate; give time = 'column' or rate = 1000.0")
    entry = {"column": entry} if isinstance(entry, str) else dict(entry)
    value = _numbers(path, table, str(entry.get("column", "t")))
    factor = _factor(entry.get("unit", "s"), "time", source)
    if value.ndim != 1:
        raise FormatError(f"{path}: time column '{entry.get('column')}' is not one column")
    if factor == 1.0 or not len(value):
        return value
    return (value - value[0]) * factor  # nanoseconds since 1970 would not fit a float's digits


def _channel(path: Path, table: Table, name: str, entry: Any, source: str) -> np.ndarray:
    """One channel in SI units, (N, k)."""
    if isinstance(entry, (str, list)):
        entry = {"columns": entry}
    for key in entry:
        if key not in (known := {"columns", "file", "unit", "scale", "divide", "offset"}):
            raise FormatError(f"{source}: in [{name}]: {UnknownName('entry', key, known)}")
    if "file" in entry:
        path = path.parent / str(entry["file"])
        table = read_table(path)
    if "columns" not in entry:
        raise FormatError(f"{source}: [{name}] has no columns; name them")
    raw = _raw(path, table, entry["columns"])
    unit = entry.get("unit")
    units = [unit] * raw.shape[1] if not isinstance(unit, list) else unit
    if len(units) != raw.shape[1]:
        raise FormatError(f"{source}: [{name}] has {len(units)} units for {raw.shape[1]} columns")
    for one in set(units) - {None}:
        measure = UNITS.get(one, ("", 0))[0]
        if measure == "drive" and "scale" not in entry and "divide" not in entry:
            raise FormatError(
                f"{source}: [{name}] is in {one}; give the drive gains as scale [N m per {one}]"
            )
    factors = np.array([_factor(u, name, source) for u in units])
    value = _scaled(raw, entry, table, f"{source}: [{name}]")
    if "offset" in entry:
        value = value + _vector(entry["offset"], raw.shape[1], f"{source}: [{name}] offset")
    return value * factors


def _factor(unit: str | None, channel: str, source: str) -> float:
    if unit is None:
        return 1.0
    if unit not in UNITS:
        raise FormatError(f"{source}: {UnknownName('unit', unit, UNITS)}")
    measure, factor = UNITS[unit]
    if measure not in _MEASURES[channel]:
        raise FormatError(
            f"{source}: {channel} is declared in {unit}, a unit of {measure}; it measures {_MEASURES[channel][0]}"
        )
    return factor


def _scaled(raw: np.ndarray, entry: Mapping[str, Any], table: Table, what: str) -> np.ndarray:
    """scale * raw, or raw over divide; a matrix mixes the columns."""
    value = raw
    for key in ("scale", "divide"):
        if key not in entry:
            continue
        given = entry[key]
        if isinstance(given, str):
            if given not in table or np.size(table[given]) != 1:
                raise FormatError(f"{what}: {key} = '{given}' is not a single number of the file")
            given = float(np.ravel(table[given])[0])
        try:
            array = np.asarray(given, dtype=float)
        except (TypeError, ValueError):
            raise FormatError(f"{what}: {key} is not made of numbers ({shown(given)})") from None
        n = raw.shape[1]
        if array.shape not in ((), (n,), (n, n)):
            raise FormatError(
                f"{what}: {key} has shape {array.shape}; give a number, {n} numbers or {n} x {n}"
            )
        matrix = array * np.eye(n) if array.ndim < 2 else array
        if key == "divide":
            if abs(np.linalg.det(matrix)) == 0:
                raise FormatError(f"{what}: divide is singular")
            matrix = np.linalg.inv(matrix)
        value = value @ matrix.T
    return value


def _vector(given: Any, size: int, what: str) -> np.ndarray:
    try:
        array = np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        raise FormatError(f"{what} is not made of numbers ({shown(given)})") from None
    if array.shape not in ((), (size,)):
        raise FormatError(f"{what} has shape {array.shape}; give a number or {size} numbers")
    return array


def _raw(path: Path, table: Table, columns: Any) -> np.ndarray:
    """The named columns, (N, k)."""
    if isinstance(columns, str):
        if "{}" in columns:
            columns = _counted(path, table, columns)
        else:
            value = _numbers(path, table, columns)
            return value[:, None] if value.ndim == 1 else value
    values = [_numbers(path, table, str(name)) for name in columns]
    for name, value in zip(columns, values, strict=True):
        if value.ndim != 1:
            raise FormatError(f"{path}: '{name}' has shape {value.shape}; name single columns")
    return np.column_stack(values)


def _counted(path: Path, table: Table, pattern: str) -> list[str]:
    start = next((k for k in (0, 1) if pattern.format(k) in table), None)
    if start is None:
        raise FormatError(f"{path}: no column '{pattern.format(1)}'; the file has {listed(table)}")
    names: list[str] = []
    while pattern.format(start + len(names)) in table:
        names.append(pattern.format(start + len(names)))
    return names


def _numbers(path: Path, table: Table, name: str) -> np.ndarray:
    if name not in table:
        raise FormatError(f"{path}: {UnknownName('column', name, table)}")
    column = table[name]
    if column.dtype.kind not in "fiub":
        for row, value in enumerate(np.ravel(column)):
            try:
                float(value)
            except (TypeError, ValueError):
                raise FormatError(
                    f"{path}: column '{name}', row {row + 1} holds {shown(value)}, not a number"
                ) from None
    return np.asarray(column, dtype=float)


def _without_missing(
    path: Path, found: dict[str, Any], missing: str, source: str
) -> dict[str, Any]:
    """Refuse or drop rows with NaN or infinity."""
    if missing not in ("refuse", "drop"):
        raise FormatError(f"{source}: missing is {shown(missing)}; give 'refuse' or 'drop'")
    arrays = {k: v for k, v in found.items() if k != "joint_names"}
    bad = np.zeros(len(found["q"]), bool)
    for name, value in arrays.items():
        rows = ~np.isfinite(value.reshape(len(value), -1))
        if rows.any() and missing == "refuse":
            row, column = np.argwhere(rows)[0]
            raise FormatError(
                f"{path}: {name}{f' column {column + 1}' if value.ndim > 1 else ''}, row {row + 1} is missing or not "
                f"finite ({rows.any(axis=1).sum()} such rows); remove them, or declare missing = 'drop' in the channels"
            )
        bad |= rows.any(axis=1)
    if bad.any():
        found.update({k: v[~bad] for k, v in arrays.items()})
        found["dropped"] = int(bad.sum())
    return found


def check_same_names(names: Sequence[str], wanted: Sequence[str], source: str) -> list[int]:
    """Where each wanted joint stands among the log's joints; "elbow" may stand for "elbow_joint"."""
    places = {name: k for k, name in enumerate(names)}
    short = {_short(name): k for k, name in enumerate(names)}
    unique = len(short) == len(places) and len({_short(w) for w in wanted}) == len(wanted)
    missing = [w for w in wanted if w not in places and not (unique and _short(w) in short)]
    if missing:
        raise InputError(
            f"{source}: no data for joint {', '.join(missing)}; the log has {', '.join(names)}"
        )
    return [places[w] if w in places else short[_short(w)] for w in wanted]


def _short(name: str) -> str:
    return re.sub(r"^joint_|_joint$", "", name.lower())
