"""A CSV file of any size, so many rows at a time: blocks of whole lines are parsed with the header before them."""

from __future__ import annotations

import sys
from collections.abc import Collection, Generator, Iterator
from pathlib import Path
from typing import BinaryIO

import numpy as np

from ....border.files import named, opened
from ....errors import FormatError
from .apart import Choose
from .csv_text import LONGEST_LINE, Before, lines_of, no_rows, parsed
from .table import Table

_BLOCK = 8 << 20  # bytes that are parsed at a time
_WIDE = (b"\xff\xfe", b"\xfe\xff")  # files of two bytes a letter begin so
_HEAD = 64 << 10  # bytes in which a file shows where its lines end


def has_lines(path: Path) -> bool:
    """Whether a CSV file can be read line by line: not of two bytes a letter, nor with other ends of lines."""
    with opened(path, sys.maxsize) as file:
        head = file.read(_HEAD)
    return not head.startswith(_WIDE) and (b"\n" in head or len(head) < _HEAD)


def csv_rows(path: Path) -> int:
    """How many rows a CSV file has."""
    with opened(path, sys.maxsize) as file:
        header, _ = _header(path, file)
        return sum(_row_count(path, header, block) for block in _blocks(path, file))


def csv_parts(
    path: Path, rows: int, first: int = 0, last: int = 0, choose: Choose | None = None
) -> Generator[Table, None, None]:
    """The columns of a CSV file from row `first` to `last` (0: all), `rows` rows each; the last may have half more.

    choose: which columns, told by the first rows' table.
    """
    wanted = (last or sys.maxsize) - first
    held: list[Table] = []
    count = 0
    for table in _tables(path, first, choose):
        held.append(table)
        count += _length(table)
        while count >= rows + rows // 2 and wanted >= rows + rows // 2:
            whole = _joined(held)
            yield _rows(whole, 0, rows)
            held, count, wanted = [_rows(whole, rows, count)], count - rows, wanted - rows
        if count >= wanted:
            break
    if held and min(count, wanted) > 0:
        yield _rows(_joined(held), 0, min(count, wanted))


def _tables(path: Path, first: int, choose: Choose | None) -> Iterator[Table]:
    """Tables of whatever length, from row `first` on."""
    with opened(path, sys.maxsize) as file:
        header, before = _header(path, file)
        columns: Collection[str] | None = None
        for block in _blocks(path, file):
            if choose is not None:
                columns, choose = choose(_rows(parsed(path, header + block), 0, 2)), None
            skipped = min(first, _row_count(path, header, block)) if first else 0
            first -= skipped
            table: Table | None = None
            if not skipped or not first:
                table = parsed(path, header + block, before, columns)
                read = _length(table)
            else:
                read = skipped
            before = Before(
                before.lines + block.count(b"\n"), before.rows + read, before.size + len(block)
            )
            if table is not None and read > skipped:
                yield _rows(table, skipped, read)
        if not before.rows:
            parsed(path, header)  # refused where there is no header either
            raise no_rows(path)


def _header(path: Path, file: BinaryIO) -> tuple[bytes, Before]:
    """The file up to its header's line, and that nothing stands behind it yet."""
    lines: list[bytes] = []
    while line := _line(path, file, len(lines)):
        lines.append(line)
        if line.decode(errors="replace").removeprefix("\ufeff").partition("#")[0].strip():
            break
    return b"".join(lines), Before()


def _line(path: Path, file: BinaryIO, before: int) -> bytes:
    line = file.readline(LONGEST_LINE + 1)
    if len(line) > LONGEST_LINE:
        raise FormatError(
            f"{named(path)}: line {before + 1} has more than {LONGEST_LINE} letters; no row of a log has"
        )
    return line


def _blocks(path: Path, file: BinaryIO) -> Iterator[bytes]:
    """Some lines at a time; none ends inside a quoted cell."""
    lines: list[bytes] = []
    size, number, quoted = 0, 0, False
    while line := _line(path, file, number):
        number += 1
        lines.append(line)
        size += len(line)
        if b'"' in line:
            quoted ^= line.partition(b"#")[0].count(b'"') % 2 == 1
        if size >= _BLOCK and not quoted:
            yield b"".join(lines)
            lines, size = [], 0
    if lines:
        yield b"".join(lines)


def _row_count(path: Path, header: bytes, block: bytes) -> int:
    """How many rows a block holds."""
    if b'"' in block:
        return _length(parsed(path, header + block))
    return sum(1 for _ in lines_of(path, block))


def _length(table: Table) -> int:
    return len(next(iter(table.values()))) if table else 0


def _rows(table: Table, low: int, high: int) -> Table:
    return {name: column[low:high] for name, column in table.items()}


def _joined(tables: list[Table]) -> Table:
    if len(tables) == 1:
        return tables[0]
    return {name: np.concatenate([table[name] for table in tables]) for name in tables[0]}
