"""The bytes of a CSV file, also of one that gzip packed: as many as a file of its size may hold."""

from __future__ import annotations

import gzip
import io
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from ....border.files import LARGEST, content, named, opened, room, size_of
from ....errors import FormatError
from .table import check_room

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer as Buffer

_ENDING = ".gz"
_GROWTH = 4  # times its size that a packed file is thought to hold
_BUFFER = 256 << 10  # bytes


def weight(path: Path) -> int:
    """Bytes of text in a file, about."""
    return size_of(path, sys.maxsize) * (_GROWTH if _packed(path) else 1)


def text_bytes(path: Path) -> bytes:
    """All bytes of a file."""
    if not _packed(path):
        return content(path)
    with unpacked(path, LARGEST) as file:
        return file.read()


@contextmanager
def unpacked(path: Path, most: int = sys.maxsize) -> Iterator[BinaryIO]:
    """The file, open for reading; one that is packed unpacks to no more than `most` bytes."""
    with opened(path, most) as file:
        if not _packed(path):
            yield file
            return
        most = min(most, room(size_of(path, sys.maxsize)))
        with gzip.GzipFile(fileobj=file) as stream:
            yield io.BufferedReader(_Unpacked(path, stream, most), _BUFFER)


def _packed(path: Path) -> bool:
    return path.suffix.lower() == _ENDING


class _Unpacked(io.RawIOBase):
    """What a packed file holds; refused where that is damaged, or more than a recording of its size."""

    def __init__(self, path: Path, stream: gzip.GzipFile, most: int):
        self._path, self._stream, self._most = path, stream, most

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return self._stream.seek(offset, whence)

    def tell(self) -> int:
        return self._stream.tell()

    def readinto(self, into: Buffer) -> int:
        """The next bytes."""
        view = memoryview(into).cast("B")
        try:
            data = self._stream.read(len(view))
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise FormatError(
                f"{named(self._path)}: cannot be unpacked ({named(str(error))}); export the log again"
            ) from None
        check_room(self._path, self._stream.tell(), self._most)
        view[: len(data)] = data
        return len(data)
