"""sensor_msgs/JointState messages in CDR, as columns `<joint>_position`, `<joint>_velocity`, `<joint>_effort`."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ....border.files import named
from ....border.kinds import Outside
from ....errors import FormatError
from .table import Table, check_names

_USUAL = "/joint_states"
_LISTED = 20  # topics that a message names


class JointState(NamedTuple):
    """One message: stamp [s], joints, and position, velocity, effort."""

    stamp: float
    names: list[str]
    fields: list[np.ndarray]


def chosen_topic(
    path: Path, topics: Sequence[tuple[int, str, str]], asked: str | None = None
) -> int:
    """The key of the joint states' topic among (key, name, type): the one asked for, else /joint_states or the only."""
    wanted = {
        str(name): key for key, name, kind in reversed(topics) if str(kind).endswith("JointState")
    }
    if not wanted:
        shown = [named(f"{name} ({kind})") for _, name, kind in topics[:_LISTED]]
        raise FormatError(
            f"{named(path)}: no JointState topic; the bag holds {', '.join(shown) or 'no topic'}"
        )
    names = sorted(wanted)
    listed = ", ".join(map(named, names[:_LISTED]))
    if asked is not None:
        name = next((n for n in (asked, f"/{asked}") if n in wanted), None)
        if name is None:
            raise FormatError(
                f"{named(path)}: no JointState topic '{named(asked)}'; the bag holds {listed}"
            )
        return wanted[name]
    if len(names) > 1 and _USUAL not in wanted:
        raise FormatError(
            f"{named(path)}: {len(names)} topics hold joint states, {listed}; choose one, such as "
            f"topic='{named(names[0])}'"
        )
    return wanted.get(_USUAL, wanted[names[0]])


def decoded(path: Path, number: int, data: Outside) -> JointState:
    """The message; `number` counts from 1 and is said where it is damaged."""
    try:
        if not isinstance(data, (bytes, memoryview)):
            raise ValueError("no bytes")
        return _decoded(bytes(data))
    except (struct.error, IndexError, ValueError) as error:
        raise FormatError(
            f"{named(path)}: message {number} is damaged or no JointState ({named(str(error))}); record the bag again"
        ) from None


def _decoded(data: bytes) -> JointState:
    if data[0] or data[1] > 1:
        raise ValueError(f"encoding {data[0]}, {data[1]} is not plain CDR")
    order = "<" if data[1] else ">"
    at = 4

    def number(kind: str, size: int) -> Outside:
        nonlocal at
        at += -(at - 4) % size
        (value,) = struct.unpack_from(order + kind, data, at)
        at += size
        return value

    def text() -> str:
        nonlocal at
        size = number("I", 4)
        if at + size > len(data):
            raise ValueError("a text is cut off")
        value = data[at : at + max(size - 1, 0)].decode()
        at += size
        return value

    def doubles() -> np.ndarray:
        nonlocal at
        size = number("I", 4)
        if size:
            at += -(at - 4) % 8
        value = np.frombuffer(data, dtype=f"{order}f8", count=size, offset=min(at, len(data)))
        at += 8 * size
        return value.astype(float)

    stamp = number("i", 4) + 1e-9 * number("I", 4)
    text()  # frame_id
    names = [text() for _ in range(number("I", 4))]
    return JointState(stamp, names, [doubles() for _ in range(3)])


def columns(path: Path, messages: Sequence[tuple[int, JointState]]) -> Table:
    """The messages' columns and `time`; joints may come in another order each time."""
    if not messages:
        raise FormatError(f"{named(path)}: the joint state topic holds no messages")
    names = messages[0][1].names
    check_names(path, names)
    stamped = all(message.stamp > 0 for _, message in messages)
    time = np.array([message.stamp if stamped else stamp * 1e-9 for stamp, message in messages])
    table: Table = {"time": time}
    for field, word in enumerate(("position", "velocity", "effort")):
        values = _values(messages, names, field)
        if values is not None:
            table |= {f"{name}_{word}": values[:, k] for k, name in enumerate(names)}
    return table


def _values(
    messages: Sequence[tuple[int, JointState]], names: list[str], field: int
) -> np.ndarray | None:
    """(N, n) of one field, NaN where a joint is not in a message; None where messages leave the field out."""
    values = np.full((len(messages), len(names)), np.nan)
    for row, (_, message) in enumerate(messages):
        given = message.fields[field]
        if len(given) != len(message.names):
            return None
        if message.names == names:
            values[row] = given
        else:
            by_name = dict(zip(message.names, given, strict=True))
            values[row] = [by_name.get(name, np.nan) for name in names]
    return values
