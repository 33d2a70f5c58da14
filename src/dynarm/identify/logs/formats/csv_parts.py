"""A CSV file of any size, so many rows at a time: blocks of whole lines are parsed with the header before them."""

from __future__ import annotations

import codecs
import io
import sys
from collections.abc import Collection, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from ....border.files import named
from ....errors import FormatError
from .csv_packed import unpacked, weight
from .csv_text import LONGEST_LINE, WIDE, Before, lines_of, no_rows, not_text, parsed
from .table import Choose, InParts, Table, length, regrouped, some_rows

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer as Buffer

_BLOCK = 8 << 20  # bytes that are parsed at a time
_HEAD = 64 << 10  # bytes in which a file shows its letters and where its lines end


class _PlainText(io.RawIOBase):
    """Text in UTF-8 with plain ends of lines, of a file that is otherwise."""

    def __init__(self, path: Path, file: BinaryIO, encoding: str):
        self._path, self._file, self._name, self._read = path, file, encoding, 0
        decoder = codecs.getincrementaldecoder(encoding)()
        self._decoder = io.IncrementalNewlineDecoder(decoder, translate=True)
        self._left = b""

    def readable(self) -> bool:
        return True

    def readinto(self, into: Buffer) -> int:
        """The next bytes of the text."""
        while not self._left:
            raw = self._file.read(_HEAD)
            try:
                self._left = self._decoder.decode(raw, final=not raw).encode()
            except UnicodeError as error:
                start = error.start if isinstance(error, UnicodeDecodeError) else 0
                raise not_text(self._path, self._read + start, self._name) from None
            self._read += len(raw)
            if not raw:
                break
        view = memoryview(into).cast("B")
        count = min(len(view), len(self._left))
        view[:count], self._left = self._left[:count], self._left[count:]
        return count


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    """The file, to be read line by line, whatever its letters and its ends of lines."""
    with unpacked(path) as file:
        head = file.read(_HEAD)
        file.seek(0)
        wide = head.startswith(WIDE)
        if wide or (b"\n" not in head and b"\r" in head):
            plain = _PlainText(path, file, "utf-16" if wide else "utf-8-sig")
            yield io.BufferedReader(plain, _HEAD)
        else:
            yield file


def csv_parts(
    path: Path,
    rows: int,
    first: int = 0,
    last: int = 0,
    choose: Choose | None = None,
    topic: str | None = None,
) -> Generator[Table, None, None]:
    """The columns of a CSV file from row `first` to `last` (0: all), `rows` rows each; the last may have half more.

    choose: which columns, told by the first rows' table.
    """
    yield from regrouped(_tables(path, first, choose), rows, (last or sys.maxsize) - first)


CSV = InParts(csv_parts, weight)


def _tables(path: Path, first: int, choose: Choose | None) -> Iterator[Table]:
    """Tables of whatever length, from row `first` on."""
    with _opened(path) as file:
        header, before = _header(path, file)
        columns: Collection[str] | None = None
        for block in _blocks(path, file):
            if choose is not None:
                columns, choose = choose(some_rows(parsed(path, header + block), 0, 2)), None
            skipped = min(first, _row_count(path, header, block)) if first else 0
            first -= skipped
            table: Table | None = None
            if not skipped or not first:
                table = parsed(path, header + block, before, columns)
                read = length(table)
            else:
                read = skipped
            before = Before(
                before.lines + block.count(b"\n"), before.rows + read, before.size + len(block)
            )
            if table is not None and read > skipped:
                yield some_rows(table, skipped, read)
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
        return length(parsed(path, header + block))
    return sum(1 for _ in lines_of(path, block))
