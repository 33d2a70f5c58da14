"""sensor_msgs/JointState messages in CDR, as columns `<joint>_position`, `<joint>_velocity`, `<joint>_effort`.

What holds of all messages is found out by looking through them once (`look`), so that a bag that is read some rows at a
time has the columns and the clock of the whole: header stamps where every message has one, else the stamps by which
they were recorded; a field where every message gives it for all of its joints; the joints of the first message.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ....border.files import named
from ....border.kinds import Outside
from ....errors import FormatError
from .table import Table, check_names, check_room, together

_USUAL = "/joint_states"
_LISTED = 20  # topics that a message names
_WORDS = ("position", "velocity", "effort")
_MESSAGES = 4096  # that are decoded at a time,
_BYTES = 4 << 20  # of no more bytes than that,
_NUMBERS = 1 << 20  # and of no more numbers
_MARKED = 20_000  # messages from one mark to the next
_SHOWN = 2  # rows that show what columns hold

Message = tuple[int, Outside]  # when it was recorded [ns], its bytes


class JointState(NamedTuple):
    """One message: stamp [s], joints, position, velocity, effort; where in it these begin, and its order of bytes."""

    stamp: float
    names: list[str]
    fields: list[np.ndarray]
    places: list[int]
    order: str


class Block(NamedTuple):
    """Some messages: when recorded [ns], stamps [s], the three fields (3, N, n), which of these all give, joints."""

    recorded: np.ndarray
    stamps: np.ndarray
    fields: np.ndarray
    given: np.ndarray
    names: list[str]


class JointTopic(NamedTuple):
    """What all messages of a topic hold: how many, joints, stamps, fields, first rows; marks: rows and their stamps."""

    rows: int
    names: list[str]
    stamped: bool
    given: list[bool]
    marks: list[tuple[int, int]]
    head: Table


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


def blocks(
    path: Path,
    messages: Iterable[Message],
    most: int,
    names: Sequence[str] | None = None,
    before: int = 0,
) -> Iterator[Block]:
    """The messages, of at most so many bytes, some thousand at a time; joints as named, or as in the first one.

    before: how many messages came already.
    """
    coming, total = iter(messages), 0
    for first in coming:
        state = decoded(path, before + 1, first[1])
        if names is None:
            check_names(path, state.names)
            names = state.names
        some = _some(coming, first, _NUMBERS // (3 * max(len(names), 1)))
        total += sum(len(data) for _, data in some if isinstance(data, bytes))
        check_room(path, total, most)
        yield _alike(state, some, names) or _one_by_one(path, some, names, before)
        before += len(some)


def _some(coming: Iterator[Message], first: Message, most: int) -> list[Message]:
    """The first message and those after it that are decoded with it."""
    some, size = [first], len(first[1])
    while len(some) < min(most, _MESSAGES) and size < _BYTES:
        message = next(coming, None)
        if message is None:
            break
        some.append(message)
        size += len(message[1]) if isinstance(message[1], bytes) else 0
    return some


def _alike(state: JointState, some: Sequence[Message], names: Sequence[str]) -> Block | None:
    """Messages that differ from the first in nothing but numbers, decoded at once; None where they do."""
    size = len(some[0][1])
    if any(not isinstance(data, bytes) or len(data) != size for _, data in some):
        return None
    raw = np.frombuffer(b"".join(data for _, data in some), np.uint8).reshape(len(some), size)
    fixed = np.ones(size, bool)
    fixed[4:12] = False
    for place, field in zip(state.places, state.fields, strict=True):
        fixed[place : place + 8 * len(field)] = False
    if (raw[:, fixed] != raw[0, fixed]).any():
        return None

    def numbers(place: int, count: int, kind: str) -> np.ndarray:
        dtype = np.dtype(state.order + kind)
        cells = np.ascontiguousarray(raw[:, place : place + count * dtype.itemsize])
        return cells.view(dtype).astype(float)

    fields = np.full((3, len(some), len(names)), np.nan)
    given = np.array([len(field) == len(state.names) for field in state.fields])
    at = {name: k for k, name in enumerate(state.names)}
    there = [k for k, name in enumerate(names) if name in at]
    for k in np.flatnonzero(given):
        values = numbers(state.places[k], len(state.names), "f8")
        fields[k][:, there] = values[:, [at[names[column]] for column in there]]
    stamps = numbers(4, 1, "i4")[:, 0] + 1e-9 * numbers(8, 1, "u4")[:, 0]
    return Block(_recorded(some), stamps, fields, given, list(names))


def _one_by_one(path: Path, some: Sequence[Message], names: Sequence[str], before: int) -> Block:
    """Messages of whatever joints; NaN where a joint is not in one."""
    fields = np.full((3, len(some), len(names)), np.nan)
    given, stamps = np.ones(3, bool), np.zeros(len(some))
    for row, (_, data) in enumerate(some):
        state = decoded(path, before + row + 1, data)
        stamps[row] = state.stamp
        for k, values in enumerate(state.fields):
            if len(values) != len(state.names):
                given[k] = False
                continue
            by_name = dict(zip(state.names, values, strict=True))
            fields[k, row] = [by_name.get(name, np.nan) for name in names]
    return Block(_recorded(some), stamps, fields, given, list(names))


def _recorded(some: Sequence[Message]) -> np.ndarray:
    return np.array([stamp for stamp, _ in some], dtype=np.int64)


def decoded(path: Path, number: int, data: Outside) -> JointState:
    """The message; `number` counts from 1 and is said where it is damaged."""
    try:
        if not isinstance(data, bytes):
            raise ValueError("no bytes")
        return _decoded(data)
    except (struct.error, IndexError, ValueError) as error:
        raise FormatError(
            f"{named(path)}: message {number} is damaged or no JointState ({named(str(error))}); record the bag again"
        ) from None


def _decoded(data: bytes) -> JointState:
    if data[0] or data[1] > 1:
        raise ValueError(f"encoding {data[0]}, {data[1]} is not plain CDR")
    order = "<" if data[1] else ">"
    at, places = 4, list[int]()

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
        places.append(at)
        value = np.frombuffer(data, dtype=f"{order}f8", count=size, offset=min(at, len(data)))
        at += 8 * size
        return value.astype(float)

    stamp = number("i", 4) + 1e-9 * number("I", 4)
    text()  # frame_id
    names = [text() for _ in range(number("I", 4))]
    return JointState(stamp, names, [doubles() for _ in range(3)], places, order)


def look(path: Path, some: Iterable[Block]) -> JointTopic:
    """What all messages hold; no more than some thousand are held."""
    rows, last, ordered, marks = 0, -(1 << 63), True, list[tuple[int, int]]()
    stamped, given = True, np.ones(3, bool)
    first: Block | None = None
    for block in some:
        first = first or _cut(block, 0, _SHOWN)
        stamped = stamped and bool((block.stamps > 0).all())
        given &= block.given
        start = int(block.recorded[0])
        ordered = ordered and start >= last and bool((np.diff(block.recorded) >= 0).all())
        if start > last and rows - (marks[-1][0] if marks else 0) >= _MARKED:
            marks.append((rows, start))
        rows, last = rows + len(block.stamps), int(block.recorded[-1])
    if first is None:
        raise FormatError(f"{named(path)}: the joint state topic holds no messages")
    held = JointTopic(rows, first.names, stamped, given.tolist(), marks if ordered else [], {})
    return held._replace(head=columns(held, first))


def _cut(block: Block, low: int, high: int) -> Block:
    return Block(
        block.recorded[low:high],
        block.stamps[low:high],
        block.fields[:, low:high],
        block.given,
        block.names,
    )


def held_of(values: Iterable[Outside], head: Table) -> JointTopic:
    """What is held, as another process tells it."""
    rows, names, stamped, given, marks = values
    return JointTopic(rows, names, stamped, given, [(row, stamp) for row, stamp in marks], head)


def columns(held: JointTopic, block: Block) -> Table:
    """The columns and `time` of some messages."""
    table: Table = {"time": block.stamps if held.stamped else block.recorded * 1e-9}
    for values, word, given in zip(block.fields, _WORDS, held.given, strict=True):
        if given:
            table |= {f"{name}_{word}": values[:, k] for k, name in enumerate(held.names)}
    return table


def whole(path: Path, messages: Iterable[Message], most: int) -> Table:
    """The columns of all messages, which may take so many bytes."""
    kept: list[Block] = []
    size = 0
    for block in blocks(path, messages, most):
        size += block.fields.nbytes
        check_room(path, size, most)
        kept.append(block)
    held = look(path, kept)
    return together([columns(held, block) for block in kept])
