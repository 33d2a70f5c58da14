"""Object code on disk, with a small dictionary beside it, under keys that need no tracing.

An entry is one file: a magic line, the SHA-256 of all that follows, three lengths, key, metadata (JSON) and code. It is
read whole and believed only if magic, lengths, hash and key agree, for LLVM dies on damaged objects; whatever does not
agree counts as absent and is written anew. Writing goes to a temporary name and is renamed into place, so that two
processes and a full disk leave nothing half-written. Nothing is ever unpickled.

Where the folder cannot be trusted (`folder.py`), is read-only or full, entries live in memory, and one warning says so.
Entries that nobody used for long are deleted, and the longest unused ones where all together take too much.
"""

from __future__ import annotations

import dataclasses
import hashlib
import importlib.util
import json
import os
import re
import struct
import sys
import threading
import time
import warnings
from collections import OrderedDict
from functools import cache as once
from pathlib import Path

import numpy as np

from ...border.kinds import Json
from ...border.words import shown
from ...errors import DynarmWarning, InputError, KindError
from ..host import Host, host
from .folder import Folder

MAGIC = b"dynarm object 1\n"
_HEAD = struct.Struct("<16s32sIIQ")
REMEMBERED = 256  # entries kept in memory when there is no disk
STALE = 90 * 86400  # seconds after which an unused entry is swept away
LIMIT = 10**9  # bytes on disk, unless DYNARM_CACHE_LIMIT says otherwise
_SIZE = re.compile(r"\s*(\d{1,15}(?:\.\d{1,15})?)\s*([kmgt]?)(i?)b?\s*", re.ASCII | re.IGNORECASE)

Part = object  # what a key is made of: numbers, strings, bytes, arrays, and tuples, dictionaries and records of such

_LOCK = threading.RLock()
_memory: OrderedDict[str, Entry] = OrderedDict()
_warned = False
_written: int | None = None  # bytes since this process last swept; None if it never did


def _begin_anew() -> None:
    """After a fork: whoever of the parent held the lock is not here to release it."""
    global _LOCK
    _LOCK = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)


@dataclasses.dataclass(frozen=True, slots=True)
class Entry:
    """What one key stands for: metadata that JSON can hold, and object code."""

    meta: Json
    code: bytes


def load(key: str) -> Entry | None:
    """The entry of a key, or None if there is none that can be trusted."""
    name = _file_name(key)
    limit()  # what cannot be read is said before anything is compiled
    with _LOCK:
        if key in _memory:
            _memory.move_to_end(key)
            return _memory[key]
    try:
        with Folder(directory()) as folder:
            return _decoded(key, folder.read(name))
    except FileNotFoundError:
        return None
    except (OSError, RuntimeError) as error:
        _warn(error)
        return None


def store(key: str, entry: Entry) -> None:
    """Keep an entry: on disk if that is possible, else in memory until the process ends."""
    name, data, most = _file_name(key), _encoded(key, entry), limit()
    if len(data) > most:
        _remember(key, entry)
        return
    try:
        place = directory()
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        with Folder(place) as folder:
            folder.write(name, data)
            _sweep(folder, len(data), most)
    except (OSError, RuntimeError) as error:
        _warn(error)
        _remember(key, entry)


def _remember(key: str, entry: Entry) -> None:
    with _LOCK:
        _memory[key] = entry
        while len(_memory) > REMEMBERED:
            _memory.popitem(last=False)


def limit() -> int:
    """Bytes that entries may take on disk: $DYNARM_CACHE_LIMIT, such as 500MB or 2 GiB, else 1 GB."""
    given = os.environ.get("DYNARM_CACHE_LIMIT", "")
    if not given.strip():
        return LIMIT
    read = _SIZE.fullmatch(given)
    if read is None:
        raise InputError(
            f"DYNARM_CACHE_LIMIT is {given[:60]!r}; give a size such as 500MB or 2GB, 0 to write nothing"
        )
    number, prefix, binary = read.groups()
    unit = (1024 if binary else 1000) ** " kmgt".index(prefix.lower() or " ")
    return int(float(number) * unit)


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


def digest(*parts: Part) -> str:
    """A key: the hash of the parts, of dynarm's sources, of the libraries' versions and of the host.

    Parts are None, numbers, strings, bytes, arrays, and tuples, lists, dictionaries and dataclasses of such.
    """
    h = hashlib.sha256(_surroundings())
    h.update(_of_host(host()))
    _feed(h, parts)
    return h.hexdigest()


@once
def _of_host(target: Host) -> bytes:
    """The hash of all that a host's code is made and tuned by."""
    h = hashlib.sha256()
    _feed(h, target)
    return h.digest()


def _feed(h: hashlib._Hash, part: Part) -> None:
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
    from ..emit.llvm import versions
    from .engine import binding

    binding()
    h = hashlib.sha256()
    root = Path(__file__).parents[2]
    for path in sorted(root.rglob("*.py")):
        _feed(h, (path.relative_to(root).as_posix(), path.read_bytes()))
    _feed(h, (sys.version, np.__version__, versions(), _version_of("casadi")))
    return h.digest()


def _version_of(package: str) -> list[str]:
    """What tells versions of a package apart, without importing it or reading its metadata, which would take longer."""
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        return []
    folder = Path(spec.origin).parents[1]
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


def _sweep(folder: Folder, size: int, most: int) -> None:
    """Remove what is not used, with the first entry that a process writes and after each eighth of the limit.

    Seven eighths stay, so that one process never exceeds the limit; each further one may by an eighth.
    """
    global _written
    with _LOCK:
        due = _written is None or _written + size > most // 8
        _written = 0 if due else (_written or 0) + size
    if due:
        folder.sweep(time.time() - STALE, most - most // 8)
