"""The usual column names of robot logs: q1, actual_q_0, <joint>_position, effort, positions, ..."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import FormatError
from .readers import Table, listed

_WORDS = {  # whole names of a channel, longest first where one begins another
    "q": "actual_q|measured_q|joint_positions?|joint_pos|positions?|pos|qpos|q|theta|angles?|observation.state",
    "qd": "actual_qd|measured_qd|joint_velocit(?:y|ies)|joint_vel|velocit(?:y|ies)|vel|qvel|qd|dq|q_dot|qdot|dtheta",
    "qdd": "actual_qdd|joint_accelerations?|accelerations?|acc|qacc|qdd|ddq|q_ddot",
    "tau": "tau_measured|measured_tau|tau_j|tau|joint_torques?|torques?|joint_efforts?|efforts?|ctrl",
    "drive": "actual_current|currents?|motor_currents?|actual_voltage",
    "reference": "target_q|target_positions?|q_ref|q_des|qg|q_cmd",
}
_SUFFIXES = {
    "deg": "deg",
    "rad": "rad",
    "degps": "deg/s",
    "radps": "rad/s",
    "nm": "Nm",
    "a": "A",
    "mm": "mm",
    "m": "m",
}
_TIMES = {
    "t": "s",
    "time": "s",
    "times": "s",
    "timestamp": "s",
    "t_s": "s",
    "time_s": "s",
    "t_ms": "ms",
}


def recognise(path: Path, table: Table) -> dict[str, Any]:
    """A declaration made from the usual column names, or an error that shows how to write one."""
    declared: dict[str, Any] = {}
    for channel, words in _WORDS.items():
        entry = _recognise(table, words)
        if entry:
            declared[channel] = entry
    names = declared.get("q", {}).pop("joint_names", None)
    for entry in declared.values():
        entry.pop("joint_names", None)
    drive = declared.pop("drive", None)
    if "tau" not in declared and drive:
        first = drive["columns"] if isinstance(drive["columns"], str) else drive["columns"][0]
        raise FormatError(
            f"{path}: holds drive currents ('{first}', ...) and no torques; declare them with their gains: "
            f"[tau] columns = ..., unit = 'A', scale = [N m per A of each joint] in {path.with_suffix('.toml').name}"
        )
    missing = [k for k in ("q", "tau") if k not in declared]
    times = [name for name in table if name.lower() in _TIMES]
    if not times:
        missing.append("time")
    if missing:
        raise FormatError(
            f"{path}: cannot tell which columns are {', '.join(missing)} among {listed(table)}; write "
            f"{path.with_suffix('.toml').name} beside it: time = '...' (or rate = 1000.0), [q] columns = [...], "
            "[tau] columns = [...]"
        )
    widths = {k: _width(table, v["columns"]) for k, v in declared.items()}
    for channel in list(widths):
        if widths[channel] != widths["q"] and channel not in ("q", "tau"):
            del declared[channel]  # a channel of other joints or of the motor side
    if widths["tau"] != widths["q"]:
        raise FormatError(
            f"{path}: {widths['q']} position columns but {widths['tau']} torque columns; declare the channels"
        )
    declared["time"] = {"column": times[0], "unit": _TIMES[times[0].lower()]}
    return declared | ({"joint_names": names} if names else {})


def _width(table: Table, columns: Any) -> int:
    """How many joints a recognised channel has."""
    if not isinstance(columns, str):
        return len(columns)
    return int(table[columns].shape[1]) if table[columns].ndim == 2 else 1


def _recognise(table: Table, words: str) -> dict[str, Any] | None:
    """Columns called word1, word_1, word[1], <joint>_word, or one array called word; with a unit's suffix or not."""
    numbered = re.compile(rf"^(?:{words})[_\[.]?(\d+)\]?(?:_([a-z]+))?$", re.IGNORECASE)
    hits: dict[int, tuple[str, str | None]] = {}
    for name in table:
        match = numbered.match(name)
        suffix = match.group(2) if match else None
        if match and (suffix is None or suffix.lower() in _SUFFIXES):
            hits.setdefault(int(match.group(1)), (name, suffix))
    first = min(hits, default=0)
    if hits and sorted(hits) == list(range(first, first + len(hits))):
        suffixes = {s.lower() if s else None for _, s in hits.values()}
        entry: dict[str, Any] = {"columns": [hits[k][0] for k in sorted(hits)]}
        if len(suffixes) == 1 and (suffix := suffixes.pop()):
            entry["unit"] = _SUFFIXES[suffix]
        return entry
    named = re.compile(rf"^(?:joint_?state[_./])?(.+?)[_./](?:{words})$", re.IGNORECASE)
    joints = [(m.group(1), name) for name in table if (m := named.match(name))]
    if joints and all(table[name].ndim == 1 for _, name in joints):
        return {"columns": [name for _, name in joints], "joint_names": [j for j, _ in joints]}
    whole = re.compile(rf"^(?:{words})$", re.IGNORECASE)
    arrays = [name for name in table if whole.match(name) and table[name].ndim <= 2]
    arrays = [name for name in arrays if np.size(table[name]) > 1]
    return {"columns": arrays[0]} if arrays else None
