"""Arrays of an .npz file, read as what it is: a zip archive of short headers and plain bytes. Nothing is unpickled."""

from __future__ import annotations

import math
import warnings
import zipfile
from pathlib import Path
from typing import BinaryIO

import numpy as np

from ....border.files import named, opened, room, size_of
from ....errors import FormatError
from .table import Table, check_names, check_room, text_column

_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # what NumPy writes
_HEADER = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}


def read_npz(path: Path) -> Table:
    """The arrays by name; sizes are added up before one is unpacked."""
    most = room(size_of(path))
    with opened(path) as file, zipfile.ZipFile(file) as archive:
        members = [m for m in archive.infolist() if m.filename.endswith(".npy")]
        check_names(path, (m.filename.removesuffix(".npy") for m in members))
        check_room(path, sum(m.file_size for m in members), most)
        table = {}
        for member in members:
            name = member.filename.removesuffix(".npy")
            if member.compress_type not in _METHODS or member.flag_bits & 1:
                raise FormatError(
                    f"{named(path)}: '{named(name)}' is packed in a way that NumPy does not write"
                )
            with archive.open(member) as stream:
                table[name] = _array(path, name, stream, member.file_size)  # type: ignore[arg-type]
    return table


def _array(path: Path, name: str, stream: BinaryIO, size: int) -> np.ndarray:
    """The array of one member, whose header must promise just the bytes that are there."""
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
    there, wanted = size - stream.tell(), math.prod(shape) * dtype.itemsize
    if min(shape, default=0) < 0 or there != wanted:
        raise FormatError(
            f"{named(path)}: '{named(name)}' promises {wanted} bytes and holds {there}; export the log again"
        )
    if not dtype.itemsize:
        return text_column("empty texts")
    array = np.frombuffer(stream.read(wanted), dtype=dtype, count=math.prod(shape))
    return array.reshape(shape, order="F" if fortran else "C")
