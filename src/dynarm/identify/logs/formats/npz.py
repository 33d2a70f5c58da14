"""Arrays of an .npz file, read as what it is: a zip archive of short headers and plain bytes. Nothing is unpickled.

Some rows at a time, an array is a stream of bytes, or one for each of its columns where these are stored one behind the
other; zip's checksums are compared where an array is read to its end. Rows that are left out are read over.
"""

from __future__ import annotations

import io
import math
import sys
import warnings
import zipfile
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np

from ....border.files import LARGEST, named, opened, room, size_of
from ....errors import FormatError
from .table import Choose, InParts, Table, check_names, check_room, edges, text_column

_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # what NumPy writes
_HEADER = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
_ENDING = ".npy"
_SHOWN = 2  # rows that show what arrays hold
_STREAMS = 512  # that an array may be read from
_LONGEST_HEADER = 16 << 10  # bytes, with which NumPy's own reader refuses one


class _Array(NamedTuple):
    """An array of a file: where in its member the numbers begin, and how they lie."""

    member: zipfile.ZipInfo
    start: int
    shape: tuple[int, ...]
    fortran: bool
    dtype: np.dtype

    @property
    def rows(self) -> int:
        return self.shape[0] if self.shape else 1

    @property
    def width(self) -> int:
        """Numbers in a row."""
        return math.prod(self.shape[1:])


Arrays = dict[str, _Array | np.ndarray]  # by name; a text where there are no numbers


def read_npz(path: Path) -> Table:
    """The arrays by name; sizes are added up before one is unpacked."""
    most = room(size_of(path))
    with _opened(path, LARGEST) as archive:
        check_room(path, sum(m.file_size for m in _members(archive)), most)
        arrays = _arrays(path, archive)
        return {name: _whole(path, archive, name, one) for name, one in arrays.items()}


def npz_parts(
    path: Path, rows: int, first: int, last: int, choose: Choose, topic: str | None = None
) -> Generator[Table, None, None]:
    """The arrays from row `first` to `last` (0: all), `rows` rows each; single numbers are in every part.

    Of arrays with fewer rows than the others there is less in the last part, which is refused as it is of the whole.
    """
    most = room(size_of(path, sys.maxsize))
    with _opened(path, sys.maxsize) as archive:
        chosen = _chosen(path, archive, choose)
        cuts = edges(max(min(last or sys.maxsize, _longest(chosen)) - first, 0), rows)
        widths = [x.width * x.dtype.itemsize for x in chosen.values() if isinstance(x, _Array)]
        check_room(path, 2 * rows * sum(widths), most)
        takes = {name: _taker(path, archive, name, one, first) for name, one in chosen.items()}
        for low, high in pairwise(cuts):
            if high > low:
                yield {name: take(high - low) for name, take in takes.items()}


def weight(path: Path) -> int:
    """Bytes of all arrays of a file."""
    with _opened(path, sys.maxsize) as archive:
        return sum(m.file_size for m in _members(archive))


NPZ = InParts(npz_parts, weight)


# ---- what a file holds


@contextmanager
def _opened(path: Path, most: int) -> Iterator[zipfile.ZipFile]:
    with opened(path, most) as file, zipfile.ZipFile(file) as archive:
        yield archive


def _members(archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    return [m for m in archive.infolist() if m.filename.endswith(_ENDING)]


def _arrays(path: Path, archive: zipfile.ZipFile) -> Arrays:
    members = {m.filename.removesuffix(_ENDING): m for m in _members(archive)}
    check_names(path, (m.filename.removesuffix(_ENDING) for m in _members(archive)))
    return {name: _array(path, archive, name, member) for name, member in members.items()}


def _array(
    path: Path, archive: zipfile.ZipFile, name: str, member: zipfile.ZipInfo
) -> _Array | np.ndarray:
    """One array, whose header must promise just the bytes that are there."""
    if member.compress_type not in _METHODS or member.flag_bits & 1:
        raise FormatError(
            f"{named(path)}: '{named(name)}' is packed in a way that NumPy does not write"
        )
    with archive.open(member) as packed:
        stream = io.BytesIO(packed.read(_LONGEST_HEADER))
    version = np.lib.format.read_magic(stream)
    if version not in _HEADER:
        return text_column(f"an array of npy version {version[0]}.{version[1]}")
    with warnings.catch_warnings():  # the header is Python text, and Python has opinions on it
        warnings.simplefilter("ignore")
        shape, fortran, dtype = _HEADER[version](stream)
    if dtype.hasobject:
        return text_column("Python objects, which are not unpickled")
    if dtype.kind not in "biufcmMUS":
        return text_column(f"records of type {dtype}")
    there, wanted = member.file_size - stream.tell(), math.prod(shape) * dtype.itemsize
    if min(shape, default=0) < 0 or there != wanted:
        raise FormatError(
            f"{named(path)}: '{named(name)}' promises {wanted} bytes and holds {there}; export the log again"
        )
    if not dtype.itemsize:
        return text_column("empty texts")
    return _Array(member, stream.tell(), shape, fortran, dtype)


def _chosen(path: Path, archive: zipfile.ZipFile, choose: Choose) -> Arrays:
    """The arrays that are chosen by the first rows of all."""
    arrays = _arrays(path, archive)
    columns = choose({name: _shown(path, archive, name, one) for name, one in arrays.items()})
    return {name: one for name, one in arrays.items() if columns is None or name in columns}


def _shown(path: Path, archive: zipfile.ZipFile, name: str, one: _Array | np.ndarray) -> np.ndarray:
    """The first rows of an array; noughts for rows that no log has."""
    if isinstance(one, _Array) and one.width > _STREAMS:
        return np.broadcast_to(0.0, (min(one.rows, _SHOWN), *one.shape[1:]))
    return _taker(path, archive, name, one, 0)(_SHOWN)


def _longest(arrays: Arrays) -> int:
    return max((one.rows for one in arrays.values() if isinstance(one, _Array)), default=0)


# ---- numbers


def _whole(path: Path, archive: zipfile.ZipFile, name: str, one: _Array | np.ndarray) -> np.ndarray:
    if not isinstance(one, _Array):
        return one
    with archive.open(one.member) as stream:
        stream.seek(one.start)
        return _numbers(path, name, stream, one, one.shape)


def _numbers(
    path: Path, name: str, stream: IO[bytes], one: _Array, shape: tuple[int, ...]
) -> np.ndarray:
    """The next numbers of a stream, as many as make an array of that shape."""
    size = math.prod(shape) * one.dtype.itemsize
    data = stream.read(size)
    if len(data) != size:
        raise FormatError(f"{named(path)}: '{named(name)}' ends early; export the log again")
    array = np.frombuffer(data, one.dtype, math.prod(shape))
    return array.reshape(shape, order="F" if one.fortran else "C")


def _taker(
    path: Path, archive: zipfile.ZipFile, name: str, one: _Array | np.ndarray, first: int
) -> Callable[[int], np.ndarray]:
    """What gives the next rows of an array, from row `first` on; all of it, where it is a single one."""
    if not isinstance(one, _Array) or one.rows <= 1:
        whole = _whole(path, archive, name, one)
        return lambda count: whole
    lanes = one.width if one.fortran else 1
    if lanes > _STREAMS:
        raise FormatError(
            f"{named(path)}: the {lanes} columns of '{named(name)}' stand one behind the other; save it as "
            "np.ascontiguousarray gives it"
        )
    wide = one.width // lanes if lanes else 0
    streams = [archive.open(one.member) for _ in range(lanes)]
    for lane, stream in enumerate(streams):
        stream.seek(
            one.start + (lane * one.rows + min(first, one.rows)) * wide * one.dtype.itemsize
        )
    left = max(one.rows - first, 0)

    def take(count: int) -> np.ndarray:
        nonlocal left
        count = min(count, left)
        left -= count
        columns = [_numbers(path, name, stream, one, (count, wide)) for stream in streams]
        return np.hstack(columns).reshape(
            (count, *one.shape[1:]), order="F" if one.fortran else "C"
        )

    return take
