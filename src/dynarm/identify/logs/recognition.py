"""The usual column names of robot logs: q1, actual_q_0, <joint>_position, effort, positions, ..."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from ...border.files import named
from ...border.kinds import Outside
from ...errors import FormatError
from .base import BASE_FORCES, BASE_POSE, BASE_SPEEDS
from .declaration import Channel, Declaration
from .formats.table import Table, listed

_WORDS = {  # whole names of a channel, longest first where one begins another
    "q": "actual_q|measured_q|joint_positions?|joint_pos|positions?|pos|qpos|q|theta|angles?|observation.state",
    "qd": "actual_qd|measured_qd|joint_velocit(?:y|ies)|joint_vel|velocit(?:y|ies)|vel|qvel|qd|dq|q_dot|qdot|dtheta",
    "qdd": "actual_qdd|joint_accelerations?|accelerations?|acc|qacc|qdd|ddq|q_ddot",
    "tau": "tau_measured|measured_tau|tau_j|tau|joint_torques?|torques?|joint_efforts?|efforts?|ctrl",
    "drive": "actual_current|currents?|motor_currents?|actual_voltage",
    "reference": "target_q|target_positions?|q_ref|qg",
    "q_command": "q_commands?|q_cmd|commanded_q|positions?_commands?|position_cmd|joint_commands?|"
    "joint_position_commands?|commanded_positions?|command_positions?|qpos_cmd|q_des|q_target|commands?|cmd|action",
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
_TIMES: dict[str, str | None] = {
    **dict.fromkeys(("t", "time", "times", "timestamp")),
    **{
        f"{word}_{unit}": unit
        for word in ("t", "time", "timestamp")
        for unit in ("s", "ms", "us", "ns")
    },
}


def recognise(source: str, table: Table, place: str, joints: Sequence[str] = ()) -> Declaration:
    """A declaration made from the usual column names, or an error that shows how to write one in its place.

    joints: names of a robot's joints, which columns may carry before or after the channel's word.
    """
    entries: dict[str, dict[str, Outside]] = {}
    for channel, words in _WORDS.items():
        entry = _of_joints(table, words, joints) or _recognise(table, words)
        if entry:
            entries[channel] = entry
    names = entries.get("q", {}).get("joint_names")
    drive = entries.pop("drive", None)
    if "tau" not in entries and drive and "q_command" not in entries:
        raise _only_currents(source, drive["columns"], place)
    base = _base(table)
    instead = "tau" in base or {"q_command", "reference"} & set(entries)
    missing = [k for k in ("q", "tau") if k not in entries and not (k == "tau" and instead)]
    times = [name for name in table if name.lower() in _TIMES and table[name].ndim == 1]
    if not times:
        missing.append("time")
    if missing:
        raise FormatError(
            f"{source}: cannot tell which columns are {', '.join(missing)} among {listed(table)}; write "
            f"{named(place)}: time = '...' (or rate = 1000.0), [q] columns = [...], [tau] columns = [...]"
        )
    widths = {k: _width(table, v["columns"]) for k, v in entries.items()}
    wide = widths["q"]
    # arrays and numbered columns of a free base hold one position more than speeds
    known = (wide,) if base or wide <= 7 else (wide, wide - 1)
    if widths.get("tau", wide) not in known:
        raise FormatError(
            f"{source}: {wide} position columns but {widths['tau']} torque columns; declare the channels"
        )
    channels = {}
    for channel, entry in entries.items():
        columns = _in_order(entry, names)
        if columns is not None and widths[channel] in (
            known if channel not in ("reference", "q_command") else (wide,)
        ):
            channels[channel] = Channel(columns=columns, unit=entry.get("unit"))
        elif channel == "tau":  # others may be of other joints or of the motor side: left out
            raise FormatError(
                f"{source}: positions and torques name different joints; declare the channels"
            )
    return Declaration(
        source="recognised names",
        channels=_on_base(channels, base) if base else channels,
        time=times[0],
        time_unit=_TIMES[times[0].lower()],
        joint_names=names,
    )


def _only_currents(source: str, columns: str | Sequence[str], place: str) -> FormatError:
    """The refusal of a log that holds currents in the place of torques."""
    first = columns if isinstance(columns, str) else columns[0]
    return FormatError(
        f"{source}: holds drive currents ('{named(first)}', ...) and no torques; declare them with their gains: "
        f"[tau] columns = ..., unit = 'A', scale = [N m per A of each joint] in {named(place)}"
    )


def _base(table: Table) -> dict[str, tuple[str, ...]]:
    """The columns of a free base by channel; none where its pose is not there."""
    named_so = {
        "q": (BASE_POSE,),
        "qd": (BASE_SPEEDS,),
        "tau": (BASE_FORCES, tuple(f"tau_{name}" for name in BASE_SPEEDS)),
    }
    columns = {
        channel: next((names for names in choices if _all_there(table, names)), ())
        for channel, choices in named_so.items()
    }
    return {k: names for k, names in columns.items() if names} if columns["q"] else {}


def _all_there(table: Table, names: Sequence[str]) -> bool:
    return all(name in table and table[name].ndim == 1 for name in names)


def _on_base(channels: dict[str, Channel], base: dict[str, tuple[str, ...]]) -> dict[str, Channel]:
    """The channels of joints with those of the base before them; speeds of joints alone are left out."""
    whole: dict[str, Channel] = {}
    if "tau" in base:
        whole["base_wrench"] = Channel(columns=base["tau"])
    for name, channel in channels.items():
        if name == "tau" or isinstance(channel.columns, str):
            whole[name] = channel
        elif name in base:
            unit = channel.unit if isinstance(channel.unit, str) else None
            units = (*[None] * len(base[name]), *[unit] * len(channel.columns))
            whole[name] = Channel(columns=(*base[name], *channel.columns), unit=units)
    return whole


def _in_order(entry: dict[str, Outside], names: Sequence[str] | None) -> Outside:
    """A channel's columns in the order of the positions' joints; None where it names others."""
    own = entry.get("joint_names")
    if own is None or names is None or own == names:
        return entry["columns"]
    by_name = dict(zip(own, entry["columns"], strict=True))
    return tuple(by_name[n] for n in names) if sorted(own) == sorted(names) else None


def _of_joints(table: Table, words: str, joints: Sequence[str]) -> dict[str, Outside] | None:
    """One column for each of these joints, called <joint>_<word> or <word>_<joint>; all of them or none."""
    columns = []
    for joint in joints:
        name = re.escape(joint)
        either = re.compile(
            rf"(?:{name}[_./ ](?:{words})|(?:{words})[_./ \[]{name}\]?)", re.IGNORECASE
        )
        hits = [column for column in table if table[column].ndim == 1 and either.fullmatch(column)]
        if len(hits) != 1:
            return None
        columns += hits
    return {"columns": tuple(columns), "joint_names": tuple(joints)} if columns else None


def _width(table: Table, columns: Outside) -> int:
    """How many joints a recognised channel has."""
    if not isinstance(columns, str):
        return len(columns)
    return int(table[columns].shape[1]) if table[columns].ndim == 2 else 1


def _recognise(table: Table, words: str) -> dict[str, Outside] | None:
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
        entry: dict[str, Outside] = {"columns": tuple(hits[k][0] for k in sorted(hits))}
        if len(suffixes) == 1 and (suffix := suffixes.pop()):
            entry["unit"] = _SUFFIXES[suffix]
        return entry
    named = re.compile(rf"^(?:joint_?state[_./])?(.+?)[_./](?:{words})$", re.IGNORECASE)
    joints = [(m.group(1), name) for name in table if (m := named.match(name))]
    if joints and all(table[name].ndim == 1 for _, name in joints):
        return {
            "columns": tuple(name for _, name in joints),
            "joint_names": tuple(j for j, _ in joints),
        }
    whole = re.compile(rf"^(?:{words})$", re.IGNORECASE)
    arrays = [name for name in table if whole.match(name) and table[name].ndim <= 2]
    arrays = [name for name in arrays if np.size(table[name]) > 1]
    return {"columns": arrays[0]} if arrays else None
