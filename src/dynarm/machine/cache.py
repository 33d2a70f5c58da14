"""Object code on disk, with a small dictionary beside it, under keys that need no tracing.

An entry is one file: a magic line, the SHA-256 of all that follows, three lengths, key, metadata (JSON) and code. It is
read whole and believed only if magic, lengths, hash and key agree, for LLVM dies on damaged objects; whatever does not
agree counts as absent and is written anew. Writing goes to a temporary name and is renamed into place, so that two
processes and a full disk leave nothing half-written. Nothing is ever unpickled.

Whoever can write here can run code as the user, so the folder must be a real folder (no symbolic link), the user's own,
closed to everybody else; entries must be plain files of the user. Otherwise, and where the disk is read-only or
full, entries live in memory, and one warning says so.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import importlib.util
import json
import os
import stat
import struct
import sys
import threading
import time
import warnings
from collections import OrderedDict
from functools import cache as once
from pathlib import Path
from typing import Any

import numpy as np

from ..border.words import shown
from ..errors import DynarmWarning, InputError, KindError

MAGIC = b"dynarm object 1\n"
_HEAD = struct.Struct("<16s32sIIQ")
LARGEST = 1 << 30  # bytes; a larger file is not ours
REMEMBERED = 256  # entries kept in memory when there is no disk
STALE = 90 * 86400  # seconds after which an unused entry is swept away

_POSIX = (
    hasattr(os, "geteuid") and os.open in os.supports_dir_fd and os.rename in os.supports_dir_fd
)
_LOCK = threading.Lock()
_memory: OrderedDict[str, Entry] = OrderedDict()
_warned = False
_swept = False


@dataclasses.dataclass(frozen=True, slots=True)
class Entry:
    """What one key stands for: metadata that JSON can hold, and object code."""

    meta: dict[str, Any]
    code: bytes


def load(key: str) -> Entry | None:
    """The entry of a key, or None if there is none that can be trusted."""
    name = _file_name(key)
    with _LOCK:
        if key in _memory:
            _memory.move_to_end(key)
            return _memory[key]
    try:
        with _Folder(directory()) as folder:
            return _decoded(key, folder.read(name))
    except FileNotFoundError:
        return None
    except (OSError, RuntimeError) as error:
        _warn(error)
        return None


def store(key: str, entry: Entry) -> None:
    """Keep an entry: on disk if that is possible, else in memory until the process ends."""
    name, data = _file_name(key), _encoded(key, entry)
    try:
        place = directory()
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        with _Folder(place) as folder:
            folder.write(name, data)
            _sweep(folder)
    except (OSError, RuntimeError) as error:
        _warn(error)
        with _LOCK:
            _memory[key] = entry
            while len(_memory) > REMEMBERED:
                _memory.popitem(last=False)


def directory() -> Path:
    """Where entries live: $DYNARM_CACHE_DIR, else dynarm in the user's cache folder."""
    own = os.environ.get("DYNARM_CACHE_DIR")
    if own:
        return Path(own).expanduser().absolute()
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        given = os.environ.get("XDG_CACHE_HOME", "")
        base = given if os.path.isabs(given) else Path.home() / ".cache"
    return Path(base) / "dynarm"


def digest(*parts: Any) -> str:
    """A key: the hash of the parts, of dynarm's sources, of the libraries' versions and of the processor.

    Parts are None, numbers, strings, bytes, arrays, and tuples, lists, dictionaries and dataclasses of such.
    """
    h = hashlib.sha256(_surroundings())
    _feed(h, parts)
    return h.hexdigest()


def _feed(h: Any, part: Any) -> None:
    """Feed a value to a hash so that different values give different streams."""
    if part is None or isinstance(part, bool | int):
        data = f"{part.__class__.__name__}:{part}".encode()
    elif isinstance(part, float):
        data = b"float:" + part.hex().encode()
    elif isinstance(part, str):
        data = b"str:" + part.encode("utf-8", "surrogatepass")
    elif isinstance(part, bytes):
        data = b"bytes:" + part
    elif isinstance(part, np.ndarray | np.generic) and part.dtype.kind in "biuf":
        data = (
            f"array:{part.dtype.str}:{part.shape}:".encode() + np.ascontiguousarray(part).tobytes()
        )
    elif isinstance(part, tuple | list):
        h.update(f"list:{len(part)};".encode())
        for item in part:
            _feed(h, item)
        return
    elif isinstance(part, dict):
        h.update(b"dict;")
        _feed(h, sorted(part.items()))
        return
    elif dataclasses.is_dataclass(part) and not isinstance(part, type):
        h.update(f"record:{part.__class__.__qualname__};".encode())
        _feed(h, [(f.name, getattr(part, f.name)) for f in dataclasses.fields(part)])
        return
    else:
        raise KindError(
            f"{shown(part)} cannot be part of a cache key; give numbers, strings, arrays or records of them"
        )
    h.update(f"{len(data)}:".encode() + data)


@once
def _surroundings() -> bytes:
    """The hash of what compiled code depends on besides its own recipe."""
    from .llvm import host, versions

    h = hashlib.sha256()
    root = Path(__file__).parents[1]
    for path in sorted(root.rglob("*.py")):
        _feed(h, (path.relative_to(root).as_posix(), path.read_bytes()))
    _feed(h, (sys.version, np.__version__, versions(), _version_of("casadi"), host()))
    return h.digest()


def _version_of(package: str) -> list[str]:
    """What tells versions of a package apart, without importing it or reading its metadata, which would take longer."""
    found = importlib.util.find_spec(package)
    if found is None or found.origin is None:
        return []
    folder = Path(found.origin).parents[1]
    return sorted(name for name in os.listdir(folder) if name.startswith(f"{package}-"))


def _file_name(key: str) -> str:
    if not (isinstance(key, str) and 0 < len(key) <= 200 and key.isascii() and key.isalnum()):
        raise InputError(f"cache key {shown(key)} is not letters and digits; make it with digest()")
    return f"{key}.object"


def _encoded(key: str, entry: Entry) -> bytes:
    name, meta = key.encode(), json.dumps(entry.meta, separators=(",", ":")).encode()
    body = struct.pack("<IIQ", len(name), len(meta), len(entry.code)) + name + meta + entry.code
    return MAGIC + hashlib.sha256(body).digest() + body


def _decoded(key: str, data: bytes) -> Entry | None:
    """The entry if every byte of it is as it was written under this key, else None."""
    if len(data) < _HEAD.size:
        return None
    magic, check, name, meta, code = _HEAD.unpack_from(data)
    if magic != MAGIC or len(data) != _HEAD.size + name + meta + code:
        return None
    if hashlib.sha256(memoryview(data)[48:]).digest() != check:
        return None
    first, second = _HEAD.size + name, _HEAD.size + name + meta
    if data[_HEAD.size : first] != key.encode():
        return None
    return Entry(json.loads(data[first:second]), data[second:])


def _warn(error: Exception) -> None:
    global _warned
    with _LOCK:
        first, _warned = not _warned, True
    if first:
        text = f"compiled code is kept in memory only: {error}; set DYNARM_CACHE_DIR to a folder of your own"
        warnings.warn(text, DynarmWarning, stacklevel=4)


def _sweep(folder: _Folder) -> None:
    """Once a process, remove what nobody has used for long: old sources' entries are never asked for again."""
    global _swept
    with _LOCK:
        first, _swept = not _swept, True
    if first:
        folder.remove_older(time.time() - STALE)


class _Folder:
    """The cache folder, opened once and held, so that what was checked is what is used."""

    def __init__(self, path: Path):
        self.path = path
        self.handle: int | None = None

    def __enter__(self) -> _Folder:
        if _POSIX:
            try:
                self.handle = os.open(
                    self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
                )
            except NotADirectoryError:
                raise PermissionError(
                    f"{self.path} is not a folder (or a symbolic link to one)"
                ) from None
            found = os.fstat(self.handle)
            try:
                if found.st_uid != os.geteuid():
                    raise PermissionError(f"{self.path} belongs to user {found.st_uid}, not to you")
                if found.st_mode & 0o077:
                    raise PermissionError(
                        f"{self.path} is open to other users; close it with chmod 700"
                    )
            except PermissionError:
                os.close(self.handle)
                raise
        elif not self.path.is_dir():
            raise FileNotFoundError(self.path)
        return self

    def __exit__(self, *_: object) -> None:
        if self.handle is not None:
            os.close(self.handle)

    def _at(self, name: str) -> tuple[str, dict[str, int]]:
        """A name and the keyword that makes os functions look for it in this folder."""
        return (
            (name, {"dir_fd": self.handle})
            if self.handle is not None
            else (str(self.path / name), {})
        )

    def read(self, name: str) -> bytes:
        """The bytes of a plain file of the user; of anything else nothing."""
        place, at = self._at(name)
        flags = (
            os.O_RDONLY
            | getattr(os, "O_NOFOLLOW", 0)
            | getattr(os, "O_NONBLOCK", 0)
            | getattr(os, "O_BINARY", 0)
        )
        try:
            handle = os.open(place, flags, **at)
        except FileNotFoundError:
            raise
        except OSError:
            return b""  # a symbolic link, or a file that is closed to us
        try:
            found = os.fstat(handle)
            foreign = _POSIX and (found.st_uid != os.geteuid() or found.st_mode & 0o022)
            if not stat.S_ISREG(found.st_mode) or foreign or found.st_size > LARGEST:
                return b""
            with open(handle, "rb", closefd=False) as file:
                data = file.read()
        finally:
            os.close(handle)
        if time.time() - found.st_mtime > STALE / 10:
            with contextlib.suppress(OSError):
                os.utime(place, None, **at)  # type: ignore[arg-type]
        return data

    def write(self, name: str, data: bytes) -> None:
        """A file that appears under its name whole or not at all."""
        place, at = self._at(f".{name}.{os.getpid()}.{threading.get_ident()}.{time.monotonic_ns()}")
        flags = (
            os.O_WRONLY
            | os.O_CREAT
            | os.O_EXCL
            | getattr(os, "O_NOFOLLOW", 0)
            | getattr(os, "O_BINARY", 0)
        )
        handle = os.open(place, flags, 0o600, **at)
        try:
            with open(handle, "wb") as file:
                file.write(data)
            if self.handle is not None:
                os.rename(place, name, src_dir_fd=self.handle, dst_dir_fd=self.handle)
            else:
                os.replace(place, self.path / name)
        except BaseException:
            os.unlink(place, **at)
            raise

    def remove_older(self, moment: float) -> None:
        """Delete entries and leftovers that were last used before a moment."""
        try:
            with os.scandir(self.handle if self.handle is not None else self.path) as entries:
                for entry in entries:
                    ours = ".object" in entry.name and entry.is_file(follow_symlinks=False)
                    if ours and entry.stat(follow_symlinks=False).st_mtime < moment:
                        place, at = self._at(entry.name)
                        os.unlink(place, **at)
        except OSError:
            pass  # another process was faster
