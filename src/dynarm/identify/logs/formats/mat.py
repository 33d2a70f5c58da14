"""Plain arrays of MATLAB's .mat files, versions 4 to 7: real or complex numbers, truth values; all else by its name.

A reader of our own, because the usual one runs compiled code over unchecked lengths: a damaged file ends Python there.
Here every length is compared with the bytes that are there, and what is compressed is unpacked up to a bound.

    file      128 bytes of header, then elements (version 5 to 7); matrices one after another (version 4)
    element   tag (type, size), bytes, filled up to 8; small ones hold type, size and up to 4 bytes in 8
    matrix    elements: flags, dimensions, name, real part, imaginary part; columns one after another
"""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from ....border.files import content, named, opened, room, size_of
from ....errors import FormatError
from .table import Table, check_names, check_room, text_column

_TYPES = {
    1: "i1",
    2: "u1",
    3: "i2",
    4: "u2",
    5: "i4",
    6: "u4",
    7: "f4",
    9: "f8",
    12: "i8",
    13: "u8",
}
_MATRIX, _COMPRESSED = 14, 15
_CLASSES = {1: "a cell array", 2: "a struct", 3: "an object", 4: "text", 5: "a sparse matrix"}
_NUMERIC = range(6, 16)
_COMPLEX, _LOGICAL = 0x800, 0x200
_MOST_AXES = 8
_SHOWN = 256  # bytes that show how large a variable is


class _Damaged(Exception):
    """A length that leads out of the file, or a type that is none."""


def read_mat(path: Path) -> Table:
    """The variables by name; those that are no plain arrays say what they are."""
    data = content(path)
    if data[:8] == b"\x89HDF\r\n\x1a\n" or data[512:520] == b"\x89HDF\r\n\x1a\n":
        raise _new(path)
    try:
        if 0 in data[:4]:
            return _checked(path, _version_4(data))
        if len(data) < 128:
            raise _Damaged("it ends within its header")
        order = {b"IM": "<", b"MI": ">"}.get(data[126:128])
        if order is None:
            raise _Damaged("its header does not tell the order of bytes")
        (version,) = struct.unpack_from(f"{order}H", data, 124)
        if version == 0x200:
            raise _new(path)
        if version != 0x100:
            raise _Damaged(f"version {version:#x}")
        return _checked(path, _version_5(path, data, order))
    except (_Damaged, struct.error, zlib.error) as error:
        raise FormatError(
            f"{named(path)}: damaged or not a .mat file ({error}); export the log again"
        ) from None


def _new(path: Path) -> FormatError:
    return FormatError(
        f"{named(path)}: a MATLAB v7.3 file; save it with save(..., '-v7') and try again"
    )


def _checked(path: Path, variables: Iterator[tuple[str, np.ndarray]]) -> Table:
    pairs = list(variables)
    check_names(path, (name for name, _ in pairs))
    return dict(pairs)


def weight(path: Path) -> int:
    """Bytes of all variables, as far as they can be told without unpacking them."""
    size = size_of(path)
    if size <= 128:
        return size
    with opened(path) as file:
        head = file.read(128)
        order = {b"IM": "<", b"MI": ">"}.get(head[126:])
        if order is None or 0 in head[:4]:
            return size
        total, at = 0, 128
        while len(tag := file.read(_SHOWN)) >= 8:
            kind, length = struct.unpack_from(f"{order}II", tag)
            total += _unpacked_size(tag[8:], order) if kind == _COMPRESSED else length
            at += 8 + length
            file.seek(at)
    return max(total, size)


def _unpacked_size(packed: bytes, order: str) -> int:
    """What the tag of a compressed variable tells; 0 where it has none."""
    try:
        head = zlib.decompressobj().decompress(packed, 8)
    except zlib.error:
        return 0
    return int(struct.unpack_from(f"{order}II", head)[1]) if len(head) == 8 else 0


# ---- versions 5 to 7


def _version_5(path: Path, data: bytes, order: str) -> Iterator[tuple[str, np.ndarray]]:
    left = room(len(data))
    at = 128
    while at < len(data):
        if len(data) - at < 8:
            raise _Damaged("it ends within a tag")
        kind, size = struct.unpack_from(f"{order}II", data, at)
        body = data[at + 8 : at + 8 + size]
        if len(body) != size:
            raise _Damaged(f"{size} bytes are promised at {at} and {len(body)} are there")
        at += 8 + size
        if kind == _COMPRESSED:
            kind, body = _unpacked(path, body, order, left)
            left -= len(body)
        if kind != _MATRIX:
            raise _Damaged(f"an element of type {kind} stands where a variable should")
        variable = _matrix(body, order)
        if variable is not None:
            yield variable


def _unpacked(path: Path, packed: bytes, order: str, most: int) -> tuple[int, bytes]:
    """Type and bytes of a compressed element that has at most so many."""
    stream = zlib.decompressobj()
    head = stream.decompress(packed, 8)
    if len(head) < 8:
        raise _Damaged("a compressed variable has no tag")
    kind, size = struct.unpack(f"{order}II", head)
    check_room(path, size, most)
    body = stream.decompress(stream.unconsumed_tail, size) if size else b""
    if len(body) != size:
        raise _Damaged(f"a compressed variable promises {size} bytes and holds {len(body)}")
    if stream.decompress(stream.unconsumed_tail, 1):
        raise _Damaged("a compressed variable holds more than it promises")
    if not stream.eof:
        raise _Damaged("a compressed variable ends early")
    return kind, body


def _matrix(body: bytes, order: str) -> tuple[str, np.ndarray] | None:
    """Name and value of a variable; None for the unnamed one in which MATLAB keeps what belongs to objects."""
    parts = _elements(body, order)
    flags = _numbers(*next(parts, (0, b"")), order)
    if len(flags) != 2:
        raise _Damaged("a variable without flags")
    kind = int(flags[0]) & 0xFF
    if kind > 15:
        return None  # functions and objects of newer kinds, which are laid out otherwise
    shape = tuple(int(n) for n in _numbers(*next(parts, (0, b"")), order))
    _, letters = next(parts, (0, b""))
    name = letters.decode("utf-8", "replace")
    if not name:
        return None
    if kind not in _NUMERIC:
        return name, text_column(f"{_CLASSES.get(kind, 'something unknown')} of MATLAB")
    if not 2 <= len(shape) <= _MOST_AXES or min(shape) < 0:
        raise _Damaged(f"'{named(name)}' has dimensions {shape[:_MOST_AXES]}")
    value = _part(name, next(parts, None), shape, order)
    if int(flags[0]) & _COMPLEX:
        value = value + 1j * _part(name, next(parts, None), shape, order)
    elif int(flags[0]) & _LOGICAL:
        value = value != 0
    return name, _columns(value)


def _part(
    name: str, element: tuple[int, bytes] | None, shape: tuple[int, ...], order: str
) -> np.ndarray:
    """Real or imaginary part of an array."""
    if element is None:
        raise _Damaged(f"'{named(name)}' has no numbers")
    values = _numbers(*element, order)
    if len(values) != math.prod(shape):
        raise _Damaged(f"'{named(name)}' has {len(values)} numbers for dimensions {shape}")
    return values.reshape(shape, order="F")


def _elements(body: bytes, order: str) -> Iterator[tuple[int, bytes]]:
    """Type and bytes of each part of a variable."""
    at = 0
    while len(body) - at >= 8:
        kind, size = struct.unpack_from(f"{order}II", body, at)
        if kind >> 16:  # small: both in one word, and the bytes in the other
            kind, size, start, end = kind & 0xFFFF, kind >> 16, at + 4, at + 8
            if size > 4:
                raise _Damaged(f"a small element of {size} bytes")
        else:
            start = at + 8
            end = start + size + -size % 8
        if start + size > len(body):
            raise _Damaged(f"an element of {size} bytes leads out of its variable")
        yield kind, body[start : start + size]
        at = end


def _numbers(kind: int, data: bytes, order: str) -> np.ndarray:
    if kind not in _TYPES:
        raise _Damaged(f"numbers of type {kind}")
    dtype = np.dtype(order + _TYPES[kind])
    if len(data) % dtype.itemsize:
        raise _Damaged(f"{len(data)} bytes are no whole number of {dtype}")
    return np.frombuffer(data, dtype=dtype)


def _columns(value: np.ndarray) -> np.ndarray:
    """MATLAB's matrices as (N,) or (N, k); single numbers as (1,)."""
    if value.ndim == 2 and 1 in value.shape:
        value = value.ravel()
    return value.astype(float) if value.dtype.kind in "iuf" else value


# ---- version 4: [type, rows, columns, complex?, length of the name], the name, real part, imaginary part

_TYPES_4 = ("f8", "f4", "i4", "i2", "u2", "u1")


def _version_4(data: bytes) -> Iterator[tuple[str, np.ndarray]]:
    at = 0
    while at < len(data):
        if len(data) - at < 20:
            raise _Damaged("it ends within a header")
        order = "<" if struct.unpack_from("<i", data, at)[0] in range(5000) else ">"
        kind, rows, columns, imaginary, length = struct.unpack_from(f"{order}5i", data, at)
        machine, number, matter = kind // 1000, kind // 10 % 10, kind % 10
        if machine not in (0, 1) or number >= len(_TYPES_4) or min(rows, columns, length) < 0:
            raise _Damaged(f"a header at {at} that is none")
        name = data[at + 20 : at + 20 + length].rstrip(b"\0").decode("latin-1")
        at += 20 + length
        dtype = np.dtype(order + _TYPES_4[number])
        size = rows * columns * dtype.itemsize
        parts = [data[at + k * size : at + (k + 1) * size] for k in range(1 + (imaginary != 0))]
        if any(len(part) != size for part in parts):
            raise _Damaged(f"'{named(name)}' is cut off")
        at += size * len(parts)
        if matter:
            yield name, text_column(f"{'text' if matter == 1 else 'a sparse matrix'} of MATLAB")
            continue
        real, *rest = (
            np.frombuffer(part, dtype).reshape((rows, columns), order="F") for part in parts
        )
        yield name, _columns(real + 1j * rest[0] if rest else real)
