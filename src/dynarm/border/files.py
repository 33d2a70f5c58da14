"""A user's file, opened once and by one door: it exists, is a regular file, and is not larger than it may be.

Devices and pipes are refused before a byte is read, because they may never end. What a packed file may grow to is
bounded by its own size (`room`), because a bomb of 1 MB unpacks to gigabytes and no recording does.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from ..errors import DynarmError, FileError, FileMissing, FormatError, one_line

LARGEST = 4 << 30  # bytes of a file
_ROOM = 256 << 20  # bytes that any file may unpack to,
_GROWTH = 100  # and how many times its own size
_LONG = 200  # letters of a path that a message shows


def named(path: str | os.PathLike[str]) -> str:
    """The path as a message shows it: on one line, printable, its end where it is long."""
    text = one_line(str(path))
    return text if len(text) <= _LONG else "..." + text[3 - _LONG :]


def room(size: int) -> int:
    """Bytes that a file of this size may unpack to."""
    return max(_ROOM, _GROWTH * size)


def size_of(path: Path, most: int = LARGEST) -> int:
    """Bytes of a regular file; FileMissing or FileError where it is none or has more than `most`."""
    with _explained(path):
        return _checked(path, os.stat(path), most)


def is_folder(path: Path) -> bool:
    """Whether the path is a folder; FileMissing or FileError where there is nothing or it cannot be looked at."""
    with _explained(path):
        return stat.S_ISDIR(os.stat(path).st_mode)


@contextmanager
def opened(path: Path, most: int = LARGEST) -> Iterator[BinaryIO]:
    """The regular file, open for reading. What was opened is looked at, so that it cannot be exchanged between."""
    size_of(path, most)
    # a pipe that took the file's place would wait for its writer, were it not for O_NONBLOCK
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    with _explained(path):
        file = os.fdopen(os.open(path, flags), "rb")
    with file:
        _checked(path, os.fstat(file.fileno()), most)
        yield file  # what goes wrong from here on is no matter of the path


def content(path: Path, most: int = LARGEST) -> bytes:
    """All bytes of a regular file that has no more than `most`."""
    with opened(path, most) as file, _explained(path):
        return file.read(os.fstat(file.fileno()).st_size)


def text(path: Path, most: int) -> str:
    """The UTF-8 text of a regular file that has no more than `most` bytes."""
    try:
        return content(path, most).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FormatError(
            f"{named(path)}: byte {error.start + 1} is not UTF-8; save it as UTF-8 text"
        ) from None


def _checked(path: Path, state: os.stat_result, most: int) -> int:
    if not stat.S_ISREG(state.st_mode):
        raise FileError(f"{named(path)} is {_kind(state.st_mode)}; give a regular file")
    if state.st_size > most:
        raise FileError(f"{named(path)} has {state.st_size} bytes; at most {most} are read")
    return state.st_size


def _kind(mode: int) -> str:
    kinds = (
        (stat.S_ISDIR, "a folder"),
        (stat.S_ISFIFO, "a pipe"),
        (stat.S_ISSOCK, "a socket"),
        (stat.S_ISCHR, "a device"),
        (stat.S_ISBLK, "a device"),
    )
    return next((word for test, word in kinds if test(mode)), "no regular file")


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    """What the system says about a path as one of our errors: missing, too long, no right to read it."""
    try:
        yield
    except DynarmError:
        raise
    except (FileNotFoundError, NotADirectoryError):
        raise FileMissing(f"{named(path)}: no such file") from None
    except OSError as error:
        raise FileError(
            f"{named(path)}: cannot be read ({(error.strerror or 'error').lower()}); check the path"
        ) from None
    except ValueError:  # a zero character, or half a letter that no file system knows
        raise FileError(f"{named(path)}: no path of this system; check its letters") from None
