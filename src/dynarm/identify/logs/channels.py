"""Which columns of a log file are what: the channels declaration, its units, and the usual names recognised.

A declaration is a TOML file beside the log, or a dict:

    rate = 5000.0                   # samples a second, or
    time = "t"                      # a column; or a table: time = { column = "stamp", unit = "ms" }
    joint_names = ["shoulder", ...] # the robot's joints in the order of the columns; default: as the arm has them
    missing = "drop"                # leave rows with missing numbers out (default: refuse them)
    coupling = [[5, 6]]             # joints whose motors are coupled by gears: columns of the fit; names, or from 1 on
    springs = [2]                   # joints with a spring: a column in proportion to the position

    [q]                             # likewise [qd], [qdd], [tau], [wrench], [q_command] (commanded positions)
    columns = ["q1", "q2"]          # names, or a pattern "q{}" that counts from 0 or 1, or the name of one array
    file = "positions.csv"          # another file beside the log, row by row the same samples
    unit = "deg"                    # or one a joint; scale and offset are in this unit
    scale = [1.0, -1.0]             # number, list or matrix, or the name of a number in the file: raw values are
    divide = [[32, 0], [0, 32]]     # multiplied by scale, or by the inverse of divide (gear ratios, couplings)
    offset = [0, -90]               # then added

    value = factor(unit) * (scale * raw + offset)

On a free base [q] begins with x, y, z, qx, qy, qz, qw, its pose in the world, and [qd], [qdd] with six velocities in
its axes. [base_wrench] is the force and moment on it in its axes; [tau] may begin with these instead, or be left out.
joint_names name the joints. With [q_command] (or [reference], its other name) [tau] may be left out. Without a
declaration the base is recognised by columns called so: x ... qw, vx ... wz, fx ... mz (or tau_vx ... tau_wz).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from ...border.files import named
from ...border.kinds import Outside
from ...errors import FormatError, InputError
from .declaration import CHANNELS, Channel, Declaration, load_declaration, unknown
from .formats.table import Table, listed
from .numbers import floats, moment_of, seconds, since_first
from .readers import read_table
from .recognition import recognise
from .units import UNITS, factor

_FAR = 1e11  # s: in the year 5138, or milliseconds since 1970


def read_channels(path: Path, given: Outside, topic: str | None = None) -> dict[str, Outside]:
    """SI arrays of a log file by channel (t, q, tau, ...), and joint_names where they are known."""
    table = read_table(path, topic)
    declaration = load_declaration(path, given)
    if declaration is None:
        declaration = recognise(named(path), table, f"{path.with_suffix('.toml').name} beside it")
    return table_channels(named(path), table, declaration, path.parent)


def columns_of(table: Table, declaration: Declaration) -> set[str] | None:
    """The columns that a declaration speaks of; None where it speaks of one that the table lacks."""
    wanted = set() if declaration.time is None else {declaration.time}
    for entry in declaration.channels.values():
        wanted |= {name for name in (entry.scale, entry.divide) if isinstance(name, str)}
        if not isinstance(entry.columns, str):
            wanted |= set(entry.columns)
        elif "{}" not in entry.columns or entry.columns in table:
            wanted.add(entry.columns)
        else:
            before, _, after = entry.columns.partition("{}")
            wanted |= {f"{before}{k}{after}" for k in range(len(table) + 1)} & set(table)
    return wanted if wanted <= set(table) else None


def table_channels(
    source: str, table: Table, declaration: Declaration, folder: Path | None = None
) -> dict[str, Outside]:
    """SI arrays of a table by channel. folder: where the other files that are declared stand."""
    tables: dict[str, Table] = {}
    channels: dict[str, Outside] = {}
    for name in CHANNELS:
        entry = declaration.channels.get(name)
        if entry is None:
            continue
        where, columns = source, table
        if entry.file is not None:
            if folder is None:
                raise FormatError(
                    f"{declaration.source}: [{name}] names a file; a frame has none beside it"
                )
            where = named(folder / entry.file)
            if entry.file not in tables:
                tables[entry.file] = read_table(folder / entry.file)
            columns = tables[entry.file]
        with np.errstate(all="ignore"):  # what overflows is not finite, and is refused as such
            channels[name] = _channel(where, columns, name, entry, declaration.source)
    if declaration.unmeasured:
        channels["tau"] = _measured(channels["tau"], declaration)
    channels["t"], since = _time(source, table, declaration, len(channels["q"]))
    lengths = {name: len(value) for name, value in channels.items()}
    if len(set(lengths.values())) > 1:
        shown = ", ".join(f"{k} {v}" for k, v in lengths.items())
        raise FormatError(f"{source}: channels have different numbers of rows ({shown})")
    if not lengths["q"]:
        raise FormatError(f"{source}: holds no rows; export the log again")
    if declaration.joint_names is not None:
        channels["joint_names"] = declaration.joint_names
    if declaration.drives is not None:
        channels["drives"] = declaration.drives
    if since is not None:
        channels["since"] = since
    return _without_missing(source, channels, declaration.drop_missing)


def _measured(tau: Outside, declaration: Declaration) -> np.ndarray:
    """The torques, those that no sensor measures NaN throughout."""
    array = np.array(tau, float)
    array = array[:, None] if array.ndim == 1 else array
    most = max(declaration.unmeasured) + 1
    if most > array.shape[1]:
        raise FormatError(
            f"{declaration.source}: unmeasured holds joint {most}, [tau] has {array.shape[1]} columns"
        )
    array[:, list(declaration.unmeasured)] = np.nan
    return array


def _time(
    source: str, table: Table, declaration: Declaration, rows: int
) -> tuple[np.ndarray, np.datetime64 | None]:
    """(N,) [s], and the moment that it counts from, where the clock tells."""
    if declaration.rate is not None:
        return np.arange(rows) / declaration.rate, None
    name = str(declaration.time)
    column = _column(source, table, name)
    if column.ndim != 1:
        raise FormatError(
            f"{source}: time column '{named(name)}' has shape {column.shape}; it is not one column"
        )
    with np.errstate(all="ignore"):
        value, dated = seconds(f"{source}: column '{named(name)}'", column)
        scale = factor(declaration.time_unit, "time", declaration.source)
        if not len(value):
            return value, None
        if dated:
            return value, moment_of(column, 1.0)
        if declaration.time_unit is None and abs(value[0]) > _FAR:
            raise FormatError(
                f"{source}: time column '{named(name)}' begins at {value[0]:.6g}, hardly seconds; declare "
                f"time = {{ column = '{named(name)}', unit = 'ns' }} (or us, ms, s)"
            )
        whole = column.dtype.kind in "iu"
        since = moment_of(column if whole else value, scale)
        if since is None and not (scale != 1.0 and abs(value[0]) * scale > _FAR):
            return value * scale, None
        # from the first one: nanoseconds since 1970 would not fit a float's digits
        return since_first(column.astype(np.int64) if whole else value, scale), since


def _channel(where: str, table: Table, name: str, entry: Channel, source: str) -> np.ndarray:
    """One channel in SI units, (N, k)."""
    what = f"{source}: [{name}]"
    raw = _raw(where, table, entry.columns)
    n = raw.shape[1]
    units = entry.unit if isinstance(entry.unit, tuple) else (entry.unit,) * n
    if len(units) != n:
        raise FormatError(f"{what} has {len(units)} units for {n} columns")
    for unit in units:
        drive = unit is not None and UNITS[unit][0] == "drive"
        if drive and entry.scale is None and entry.divide is None:
            raise FormatError(
                f"{what} is in {unit}; give the drive gains as scale [N m per {unit}]"
            )
    factors = np.array([factor(u, name, source) for u in units])
    value = _scaled(raw, entry, table, what)
    if entry.offset is not None:
        if entry.offset.shape not in ((), (n,)):
            raise FormatError(
                f"{what} offset has shape {entry.offset.shape}; give a number or {n} numbers"
            )
        value = value + entry.offset
    in_si: np.ndarray = value * factors
    return in_si


def _scaled(raw: np.ndarray, entry: Channel, table: Table, what: str) -> np.ndarray:
    """scale * raw, or raw over divide; a matrix mixes the columns."""
    value = raw
    n = raw.shape[1]
    for key, given in (("scale", entry.scale), ("divide", entry.divide)):
        if given is None:
            continue
        if isinstance(given, str):
            if given not in table or np.size(table[given]) != 1:
                raise FormatError(
                    f"{what}: {key} = '{named(given)}' is not a single number of the file"
                )
            given = floats(f"{what}: {key} = '{named(given)}'", table[given]).reshape(())
        if given.shape not in ((), (n,), (n, n)):
            raise FormatError(
                f"{what}: {key} has shape {given.shape}; give a number, {n} numbers or {n} x {n}"
            )
        matrix = given * np.eye(n) if given.ndim < 2 else given
        if key == "divide":
            matrix = _inverse(matrix, what)
        value = value @ matrix.T
    return value


def _inverse(matrix: np.ndarray, what: str) -> np.ndarray:
    """The inverse; refused where rows depend on each other but for rounding, whatever their units."""
    largest = np.abs(matrix).max(axis=1, keepdims=True)
    if largest.all() and np.isfinite(matrix).all():
        evened = matrix / largest
        if np.linalg.svd(evened, compute_uv=False).min() > 1e-12:
            return np.linalg.inv(matrix)
    raise FormatError(f"{what}: divide is singular")


def _raw(where: str, table: Table, columns: str | tuple[str, ...]) -> np.ndarray:
    """The named columns, (N, k)."""
    if isinstance(columns, str):
        if "{}" not in columns or columns in table:
            value = _numbers(where, table, columns)
            if value.ndim not in (1, 2) or not value.shape[-1]:
                raise FormatError(
                    f"{where}: '{named(columns)}' has shape {value.shape}; give (samples, joints)"
                )
            return value[:, None] if value.ndim == 1 else value
        columns = tuple(_counted(where, table, columns))
    values = [_numbers(where, table, name) for name in columns]
    for name, value in zip(columns, values, strict=True):
        if value.ndim != 1:
            raise FormatError(
                f"{where}: '{named(name)}' has shape {value.shape}; name single columns"
            )
        if len(value) != len(values[0]):
            raise FormatError(
                f"{where}: '{named(name)}' has {len(value)} rows, '{named(columns[0])}' {len(values[0])}"
            )
    return np.column_stack(values)


def _counted(where: str, table: Table, pattern: str) -> Iterator[str]:
    """The columns that a pattern names, from 0 or 1 on."""
    before, _, after = pattern.partition("{}")
    if "{}" in after:
        raise FormatError(f"{where}: pattern '{named(pattern)}' has two places for a number")
    number = next((k for k in (0, 1) if f"{before}{k}{after}" in table), None)
    if number is None:
        raise FormatError(
            f"{where}: no column '{named(f'{before}1{after}')}'; the file has {listed(table)}"
        )
    while (name := f"{before}{number}{after}") in table:
        yield name
        number += 1


def _column(where: str, table: Table, name: str) -> np.ndarray:
    if name not in table:
        raise FormatError(f"{where}: {unknown('column', name, table)}")
    return table[name]


def _numbers(where: str, table: Table, name: str) -> np.ndarray:
    return floats(f"{where}: column '{named(name)}'", _column(where, table, name))


def _without_missing(source: str, channels: dict[str, Outside], drop: bool) -> dict[str, Outside]:
    """Refuse or drop rows with NaN or infinity."""
    arrays = {k: v for k, v in channels.items() if k not in ("joint_names", "drives", "since")}
    bad = np.zeros(len(channels["q"]), bool)
    for name, value in arrays.items():
        rows = ~np.isfinite(value.reshape(len(value), -1))
        if name == "tau":  # not measured at all is not missing
            rows &= ~np.isnan(value).all(axis=0)
        if rows.any() and not drop:
            row, column = np.argwhere(rows)[0]
            raise FormatError(
                f"{source}: {name}{f' column {column + 1}' if value.ndim > 1 else ''}, row {row + 1} is missing or not "
                f"finite ({rows.any(axis=1).sum()} such rows); remove them, or declare missing = 'drop' in the channels"
            )
        bad |= rows.any(axis=1)
    if bad.any():
        channels.update({k: v[~bad] for k, v in arrays.items()})
        channels["dropped"] = int(bad.sum())
    return channels


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
