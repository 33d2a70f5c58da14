"""A channels declaration as records: every entry of the TOML file or dict is checked here, before a log is opened."""

from __future__ import annotations

import difflib
import os
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ...border.arguments import above_zero, numbers, path_of, real, shown
from ...border.files import named, text
from ...border.kinds import Outside
from ...errors import DynarmError, FormatError, KindError
from .formats.table import LONGEST_NAME, MOST_COLUMNS, listed
from .units import UNITS

CHANNELS = ("q", "qd", "qdd", "tau", "wrench", "reference", "base_wrench", "q_command")
_ENTRIES = ("columns", "file", "unit", "scale", "divide", "offset")
_KEYS = (
    *CHANNELS, "time", "rate", "joint_names", "missing", "coupling", "springs", "unmeasured",
)  # fmt: skip
_LARGEST = 1 << 20  # bytes of a declaration's file
# a key of hundreds of dotted parts takes tomllib minutes
_DOTTED = re.compile(r"(?:[^\s.,=\[\]{}#]{1,80}[ \t]*\.[ \t]*){30}")


@dataclass(frozen=True, slots=True)
class Channel:
    """Where one channel's numbers stand and how they become SI: factor(unit) (scale raw + offset)."""

    columns: str | tuple[str, ...]
    file: str | None = None
    unit: str | tuple[str | None, ...] | None = None
    scale: str | np.ndarray | None = None
    divide: str | np.ndarray | None = None
    offset: np.ndarray | None = None


@dataclass(frozen=True, slots=True)
class DriveTerms:
    """Pairs of joints whose motors are coupled, and joints with springs: by name, or by number from 1 on."""

    coupling: tuple[tuple[str | int, str | int], ...] = ()
    springs: tuple[str | int, ...] = ()


@dataclass(frozen=True, slots=True)
class Declaration:
    """What a log's columns are. `source` says where that was declared."""

    source: str
    channels: Mapping[str, Channel]
    rate: float | None = None
    time: str | None = None
    time_unit: str | None = None
    joint_names: tuple[str, ...] | None = None
    drop_missing: bool = False
    drives: DriveTerms | None = None
    unmeasured: tuple[int, ...] = ()  # columns of tau that no sensor measures, from 0 on


def load_declaration(path: Path | None, given: Outside) -> Declaration | None:
    """The declaration given, or else the one in the file beside the log; None where there is neither."""
    if isinstance(given, Mapping):
        return declared(given, "channels")
    if given is None:
        beside = [] if path is None else [path.with_suffix(".toml"), Path(f"{path}.toml")]
        given = next((p for p in beside if os.path.lexists(p)), None)
        if given is None:
            return None
    if not isinstance(given, (str, os.PathLike)):
        raise KindError(f"channels is {shown(given)}; give a TOML file or a dict")
    source = path_of("channels", given, "a TOML file or a dict")
    content = text(source, _LARGEST)
    if _DOTTED.search(content):
        raise FormatError(f"{named(source)}: a key has 30 parts; no declaration needs that")
    try:
        return declared(tomllib.loads(content), named(source))
    except tomllib.TOMLDecodeError as error:
        raise FormatError(f"{named(source)}: not a valid TOML file ({named(str(error))})") from None
    except (RecursionError, ValueError) as error:  # nested too deep; a number of too many digits
        if isinstance(error, FormatError):
            raise
        raise FormatError(
            f"{named(source)}: not a valid TOML file ({named(str(error)[:100])})"
        ) from None


def declared(given: Mapping[Outside, Outside], source: str) -> Declaration:
    """The records of a declaration, or an error that names the entry."""
    _check_keys(given, _KEYS, source)
    for key in ("q", "tau"):
        instead = key == "tau" and {"base_wrench", "q_command", "reference"} & set(given)
        if key not in given and not instead:
            raise FormatError(f"{source}: no [{key}]; name its columns")
    if ("rate" in given) == ("time" in given):
        raise FormatError(
            f"{source}: {'both' if 'rate' in given else 'neither'} time and rate; give time = 'column' or "
            "rate = 1000.0"
        )
    missing = given.get("missing", "refuse")
    if not isinstance(missing, str) or missing not in ("refuse", "drop"):
        raise FormatError(f"{source}: missing is {shown(missing)}; give 'refuse' or 'drop'")
    column, unit = _time(given["time"], source) if "time" in given else (None, None)
    names = given.get("joint_names")
    if names is not None:
        names = _names(names, f"{source}: joint_names")
    return Declaration(
        source=source,
        channels={k: _channel(given[k], f"{source}: [{k}]") for k in CHANNELS if k in given},
        rate=_rate(given["rate"], source) if "rate" in given else None,
        time=column,
        time_unit=unit,
        joint_names=names,
        drop_missing=missing == "drop",
        drives=_drives(given, names, source),
        unmeasured=_unmeasured(given, names, source),
    )


def _unmeasured(
    given: Mapping[Outside, Outside], names: tuple[str, ...] | None, source: str
) -> tuple[int, ...]:
    """The places of the joints whose torque no sensor measures."""
    joints = given.get("unmeasured", [])
    if not _joints(joints):
        raise FormatError(f"{source}: unmeasured is {shown(joints)}; give joints, such as [2]")
    if joints and "tau" not in given:
        raise FormatError(f"{source}: unmeasured names joints, but there is no [tau]")
    if names is None and any(isinstance(joint, str) for joint in joints):
        raise FormatError(
            f"{source}: unmeasured is {shown(joints)}; give numbers from 1 on, or joint_names"
        )
    places = []
    for joint in joints:
        if isinstance(joint, str) and joint not in (names or ()):
            raise FormatError(f"{source}: unmeasured: {unknown('joint', joint, names or ())}")
        places.append((names or ()).index(joint) if isinstance(joint, str) else joint - 1)
    if any(place < 0 for place in places):
        raise FormatError(f"{source}: unmeasured is {shown(joints)}; joints count from 1")
    return tuple(places)


def _drives(
    given: Mapping[Outside, Outside], names: tuple[str, ...] | None, source: str
) -> DriveTerms | None:
    """The coupled pairs and the springs; numbers become names where joints have some."""
    pairs, springs = given.get("coupling", []), given.get("springs", [])
    if not isinstance(pairs, (list, tuple)) or not all(_joints(pair, 2) for pair in pairs):
        raise FormatError(
            f"{source}: coupling is {shown(pairs)}; give pairs of joints, such as [[5, 6]]"
        )
    if not _joints(springs):
        raise FormatError(f"{source}: springs is {shown(springs)}; give joints, such as [2]")

    def called(joint: str | int) -> str | int:
        if names is None or isinstance(joint, str):
            return joint
        if not 1 <= joint <= len(names):
            raise FormatError(f"{source}: joint {joint} of {len(names)}; they count from 1")
        return names[joint - 1]

    if not pairs and not springs:
        return None
    both = tuple((called(one), called(other)) for one, other in pairs)
    return DriveTerms(both, tuple(map(called, springs)))


def _joints(given: Outside, count: int | None = None) -> bool:
    """Whether this is a list of joints, of so many."""
    if not isinstance(given, (list, tuple)) or count not in (None, len(given)):
        return False
    return all(isinstance(x, (str, int)) and not isinstance(x, bool) for x in given)


def unknown(what: str, name: str, known: Iterable[str]) -> str:
    """Words for a name that is not there, with those that are near it."""
    names = list(known)
    near = [] if len(name) > LONGEST_NAME else difflib.get_close_matches(name, names[:2000], 3, 0.5)
    hint = f"did you mean {' or '.join(map(named, near))}?" if near else f"one of: {listed(names)}"
    return f"unknown {what} '{named(name)}'; {hint}"


def _check_keys(given: Mapping[Outside, Outside], known: Iterable[str], source: str) -> None:
    for key in given:
        if not isinstance(key, str):
            raise FormatError(f"{source}: an entry is called {shown(key)}; give names as text")
        if key not in known:
            raise FormatError(f"{source}: {unknown('entry', key, known)}")


def _rate(given: Outside, source: str) -> float:
    try:
        return real("rate", given, "samples a second", above_zero)
    except DynarmError as error:
        raise FormatError(f"{source}: {error}") from None


def _time(given: Outside, source: str) -> tuple[str, str | None]:
    """Column and unit of time."""
    entry = {"column": given} if isinstance(given, str) else given
    if not isinstance(entry, Mapping):
        raise FormatError(
            f"{source}: time is {shown(given)}; give a column, or {{ column = , unit = }}"
        )
    _check_keys(entry, ("column", "unit"), f"{source}: in time")
    column = entry.get("column", "t")
    if not isinstance(column, str) or not column:
        raise FormatError(f"{source}: time column is {shown(column)}; give its name")
    return column, _unit(entry.get("unit"), f"{source}: time")


def _unit(given: Outside, what: str) -> str | None:
    if given is None:
        return None
    if not isinstance(given, str):
        raise FormatError(f"{what}: unit is {shown(given)}; give one of {', '.join(UNITS)}")
    if given not in UNITS:
        raise FormatError(f"{what}: {unknown('unit', given, UNITS)}")
    return given


def _channel(given: Outside, what: str) -> Channel:
    entry = given if isinstance(given, Mapping) else {"columns": given}
    _check_keys(entry, _ENTRIES, what)
    if "columns" not in entry:
        raise FormatError(f"{what} has no columns; name them")
    columns, file, unit = entry["columns"], entry.get("file"), entry.get("unit")
    if isinstance(columns, str) and not columns:
        raise FormatError(f"{what}: columns is ''; name them")
    if file is not None and (not isinstance(file, str) or not file.strip() or "\0" in file):
        raise FormatError(f"{what}: file is {shown(file)}; give the name of a file beside the log")
    units = tuple(_unit(u, what) for u in unit) if isinstance(unit, (list, tuple)) else None
    return Channel(
        columns=columns if isinstance(columns, str) else _names(columns, f"{what}: columns"),
        file=file,
        unit=_unit(unit, what) if units is None else units,
        scale=_factors(entry.get("scale"), f"{what}: scale"),
        divide=_factors(entry.get("divide"), f"{what}: divide"),
        offset=None if "offset" not in entry else _numbers(entry["offset"], f"{what}: offset"),
    )


def _names(given: Outside, what: str) -> tuple[str, ...]:
    """Names as text; whole numbers may name columns, too."""
    if isinstance(given, (list, tuple)) and 0 < len(given) <= MOST_COLUMNS:
        kinds = (str, int, np.integer)
        if all(isinstance(n, kinds) and not isinstance(n, bool) and n != "" for n in given):
            return tuple(map(str, given))
    raise FormatError(f"{what} is {shown(given)}; give a list of names")


def _factors(given: Outside, what: str) -> str | np.ndarray | None:
    if given is None or isinstance(given, str):
        return given
    return _numbers(given, what)


def _numbers(given: Outside, what: str) -> np.ndarray:
    """One number, a list or a matrix of finite ones."""
    wrong = FormatError(f"{what} is {shown(given)}; it is not made of finite numbers")
    try:
        return numbers(what, given)
    except (DynarmError, RecursionError):
        raise wrong from None
