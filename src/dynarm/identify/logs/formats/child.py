"""The process that reads Parquet files and packed bags for another one, upon lines of JSON: [kind, path, room, ...].

Its own memory is limited anew for each file. It writes tables: a line of JSON, {"columns": [...]}, then the columns'
bytes; and a line {"over": true} behind the last one. What cannot be read is refused by a line {"refused": "..."}. Of a
Parquet file in parts the first table shows the first rows, upon which it is told which columns are wanted.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import IO

import numpy as np

from ....border.apart import OVER, REFUSED, confine, own_pipe, relaxed, requests
from ....border.files import named
from ....border.kinds import Foreign, Json, Outside
from ....errors import DynarmError, FormatError
from .joint_states import Message, blocks, chosen_topic, columns, held_of, look, whole
from .table import MOST_COLUMNS, Table, check_names, check_room, text_column

_SPARE = 1 << 30  # bytes of address space beyond what is there after the imports and what is read
_LONGEST_TEXT = 40
_BUFFER = 1 << 20  # bytes of a column that are read at a time
_SIDE_BY_SIDE = 16  # columns
_HEAD = 2  # rows that show what columns hold
_SWOLLEN = 512 << 20  # bytes with which a process does not wait for another file


def _parquet(path: Path, most: int) -> Iterator[Table]:
    with _opened_parquet(path, most) as file:
        check_room(path, 8 * file.metadata.num_columns * file.metadata.num_rows, most)
        groups = [file.metadata.row_group(k) for k in range(file.metadata.num_row_groups)]
        check_room(path, sum(group.total_byte_size for group in groups), most)
        table = file.read(use_threads=False)
    yield _columns(table)


@contextmanager
def _opened_parquet(path: Path, most: int) -> Iterator[Foreign]:
    """The file, with this process confined to what it may unpack to."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    pa.set_memory_pool(pa.system_memory_pool())
    confine(True, _SPARE + 4 * most, again=True)
    with path.open("rb") as stream, pq.ParquetFile(stream, buffer_size=_BUFFER) as file:
        about = file.metadata
        if about.num_columns > MOST_COLUMNS:
            raise FormatError(f"has {about.num_columns} columns; at most {MOST_COLUMNS} are read")
        check_names(path, file.schema_arrow.names)
        yield file


def _columns(table: Foreign) -> Table:
    return {
        name: _array(column) for name, column in zip(table.column_names, table.columns, strict=True)
    }


def _parquet_parts(path: Path, most: int, rows: int, first: int, last: int) -> Iterator[Table]:
    """A table of the first rows; then of the columns that are asked for tables of `rows` rows each, in order, from row
    `first` to `last` (0: the file's); the last may have half more."""
    import pyarrow as pa

    with _opened_parquet(path, most) as file:
        sizes = _sizes(file)
        yield _head(file, sizes)
        columns = json.loads(sys.stdin.buffer.readline())
        left = min(sum(sizes), last or sum(sizes)) - first
        waiting: list[Foreign] = []
        for batch in _batches(file, sizes, rows, first, max(left, 0), columns):
            waiting.append(batch)
            while sum(map(len, waiting)) >= rows and not 0 < left - rows < rows // 2:
                table = pa.Table.from_batches(waiting)
                yield _columns(table.slice(0, rows))
                left, waiting = left - rows, table.slice(rows).to_batches()
        if sum(map(len, waiting)):
            yield _columns(pa.Table.from_batches(waiting))


def _head(file: Foreign, sizes: Sequence[int]) -> Table:
    """The first rows, read some columns at a time, because each is unpacked by the page."""
    import pyarrow as pa

    names, head = file.schema_arrow.names, Table()
    for k in range(0, len(names), _SIDE_BY_SIDE):
        some = names[k : k + _SIDE_BY_SIDE]
        batches = list(_batches(file, sizes, _HEAD, 0, _HEAD, some))
        if batches:
            head |= _columns(pa.Table.from_batches(batches))
    return head


def _batches(
    file: Foreign,
    sizes: Sequence[int],
    rows: int,
    first: int,
    left: int,
    columns: Sequence[str] | None = None,
) -> Iterator[Foreign]:
    """The next `left` rows from row `first` on, row group by row group; what breaks says in which."""
    for group, size in enumerate(sizes):
        skipped, first = min(first, size), max(first - size, 0)
        if skipped == size or not left:
            continue
        batches = file.iter_batches(rows, [group], columns, use_threads=False)
        while left:
            try:
                batch = next(batches, None)
            except Exception as error:
                raise FormatError(
                    f"row group {group} is damaged ({error}); export the log again"
                ) from None
            if batch is None:
                break
            taken = batch.slice(skipped, left)
            skipped = max(skipped - len(batch), 0)
            left -= len(taken)
            if len(taken):
                yield taken


def _sizes(file: Foreign) -> list[int]:
    about = file.metadata
    return [about.row_group(k).num_rows for k in range(about.num_row_groups)]


def _parquet_groups(path: Path, most: int) -> Iterator[Table]:
    """How many rows each row group has."""
    with _opened_parquet(path, most) as file:
        yield {"rows": np.array(_sizes(file), dtype=np.int64)}


def _array(column: Foreign) -> np.ndarray:
    """A column of Arrow as NumPy's; nulls are NaN or NaT."""
    import pyarrow as pa

    kind, rows = column.type, len(column)
    test = pa.types
    if test.is_dictionary(kind):
        return _array(column.cast(kind.value_type))
    if test.is_decimal(kind):
        return _array(column.cast(pa.float64()))
    if test.is_time(kind):  # of the day
        whole = column.cast(pa.int32() if test.is_time32(kind) else pa.int64())
        return _array(whole.cast(pa.int64()).cast(pa.duration(kind.unit)))
    if test.is_date(kind):
        return _array(column.cast(pa.timestamp("ms")))
    if test.is_boolean(kind) and column.null_count:
        return text_column("True, False and nothing", rows)
    lists = test.is_list(kind) or test.is_large_list(kind) or test.is_fixed_size_list(kind)
    if lists and rows:
        return _of_lists(column)
    if test.is_string(kind) or test.is_large_string(kind):
        texts = [x or "" for x in column.to_pylist()]
        if max(map(len, texts), default=0) <= _LONGEST_TEXT:
            return np.array(texts, dtype=str)
        return text_column("text", rows)
    plain = test.is_integer(kind) or test.is_floating(kind) or test.is_boolean(kind)
    if plain or test.is_timestamp(kind) or test.is_duration(kind) or test.is_null(kind):
        array = column.cast(pa.float64()).to_numpy() if test.is_null(kind) else column.to_numpy()
        return array if array.dtype.kind in "biufmM" else text_column(str(kind), rows)
    return text_column(str(kind)[:_LONGEST_TEXT], rows)


def _of_lists(column: Foreign) -> np.ndarray:
    """(N, k) of a column that holds k numbers in every row."""
    import pyarrow.compute as pc

    lengths = pc.list_value_length(column).to_numpy()
    if column.null_count or len(set(lengths.tolist())) != 1:
        return text_column("lists of different lengths", len(column))
    inner = _array(pc.list_flatten(column))
    if inner.ndim != 1 or len(inner) != len(column) * int(lengths[0]):
        return text_column("lists of lists", len(column))
    return inner.reshape(len(column), int(lengths[0]))


# ---- bags


def _bag(path: Path, most: int, topic: str | None) -> Iterator[Table]:
    with _messages(path, most, topic) as messages:
        yield whole(path, messages, most)


def _bag_look(path: Path, most: int, topic: str | None) -> Iterator[Table]:
    """What all messages hold, and the columns of the first ones."""
    with _messages(path, most, topic) as messages:
        held = look(path, blocks(path, messages, most))
    yield {name: np.array(value) for name, value in held._asdict().items() if name != "head"}
    yield held.head


def _bag_tables(
    path: Path, most: int, topic: str | None, known: Sequence[Outside], first: int
) -> Iterator[Table]:
    """The columns from message `first` on, some thousand at a time; known: what all hold."""
    held = held_of(known, {})
    row, since = max((mark for mark in held.marks if mark[0] <= first), default=(0, None))
    with _messages(path, most, topic, since) as messages:
        for block in blocks(path, islice(messages, first - row, None), most, held.names, first):
            yield columns(held, block)


@contextmanager
def _messages(
    path: Path, most: int, topic: str | None, since: int | None = None
) -> Iterator[Iterator[Message]]:
    """The messages of a topic, all or those from a moment [ns] on, with this process confined to what they take."""
    from rosbags.rosbag2 import Reader

    confine(True, _SPARE + 4 * most, again=True)
    with Reader(path) as reader:
        topics = [(k, c.topic, c.msgtype) for k, c in enumerate(reader.connections)]
        chosen = reader.connections[chosen_topic(path, topics, topic)]
        same = [c for c in reader.connections if c.topic == chosen.topic]
        yield ((stamp, bytes(data)) for _, stamp, data in reader.messages(same, start=since))


_KINDS: dict[str, Callable[..., Iterator[Table]]] = {
    "parquet": _parquet,
    "parquet_groups": _parquet_groups,
    "parquet_parts": _parquet_parts,
    "bag": _bag,
    "bag_look": _bag_look,
    "bag_tables": _bag_tables,
}


def _said(path: Path, error: BaseException) -> str:
    """What a refusal says, without the path, which the other side puts before it."""
    if isinstance(error, DynarmError):
        return str(error).removeprefix(f"{named(path)}: ")
    if isinstance(error, MemoryError):
        return "unpacks to more than a file of its size should; save it without compression, or in parts"
    lines = str(error).strip().splitlines() or [type(error).__name__]
    reason = named(lines[0].replace(str(path), path.name))
    return f"damaged or not a {path.suffix or 'bag'} file ({reason}); export the log again"


def _sent(table: Table) -> tuple[Json, list[np.ndarray]]:
    """The line of JSON, and the arrays whose bytes follow it."""
    head, arrays = [], []
    for name, array in table.items():
        if array.strides == (0,) and array.dtype.kind == "U":  # one text for all rows
            head.append({"name": name, "says": str(array[0]), "rows": len(array)})
        else:
            head.append({"name": name, "dtype": array.dtype.str, "shape": array.shape})
            arrays.append(np.ascontiguousarray(array))
    return {"columns": head}, arrays


def _answer(pipe: IO[bytes], line: bytes) -> None:
    """Read the file and send it, a table at a time."""
    kind, name, most, *more = json.loads(line)
    path = Path(name)
    try:
        for table in _KINDS[kind](path, most, *more):
            head, arrays = _sent(table)
            _told(pipe, head, arrays)
        _told(pipe, {OVER: True})
    except (Exception, MemoryError) as error:
        _told(pipe, {REFUSED: _said(path, error)})


def _told(pipe: IO[bytes], head: Json, arrays: Sequence[np.ndarray] = ()) -> None:
    pipe.write(json.dumps(head).encode() + b"\n")
    for array in arrays:
        pipe.write(array.tobytes())
    pipe.flush()


def main() -> None:
    """Answer until nobody asks, or this process has grown."""
    pipe = own_pipe()
    for line in requests(pipe):
        _answer(pipe, line)
        if relaxed() > _SWOLLEN:
            os._exit(0)


if __name__ == "__main__":
    main()
