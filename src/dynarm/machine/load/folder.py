"""The folder of the cache: plain files of the user, written whole, the longest unused swept away.

Whoever can write here can run code as the user, so the folder must be a real folder (no symbolic link), the user's own,
closed to everybody else; entries must be plain files of the user that nobody else can write to.
"""

from __future__ import annotations

import contextlib
import os
import stat
import threading
import time
from collections.abc import Iterator
from pathlib import Path

LARGEST = 1 << 30  # bytes; a larger file is not ours
NOTED = 3600  # seconds after which another use of an entry is noted in its time
ABANDONED = 3600  # seconds after which nobody is still writing a file

_POSIX = (
    hasattr(os, "geteuid") and os.open in os.supports_dir_fd and os.rename in os.supports_dir_fd
)


class Folder:
    """The cache folder, opened once and held, so that what was checked is what is used."""

    def __init__(self, path: Path):
        self.path = path
        self.handle: int | None = None

    def __enter__(self) -> Folder:
        if _POSIX:
            try:
                self.handle = os.open(
                    self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
                )
            except NotADirectoryError:
                raise PermissionError(
                    f"{self.path} is not a folder (or a symbolic link to one)"
                ) from None
            state = os.fstat(self.handle)
            try:
                if state.st_uid != os.geteuid():
                    raise PermissionError(f"{self.path} belongs to user {state.st_uid}, not to you")
                if state.st_mode & 0o077:
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
            state = os.fstat(handle)
            foreign = _POSIX and (state.st_uid != os.geteuid() or state.st_mode & 0o022)
            if not stat.S_ISREG(state.st_mode) or foreign or state.st_size > LARGEST:
                return b""
            with open(handle, "rb", closefd=False) as file:
                data = file.read()
        finally:
            os.close(handle)
        if abs(time.time() - state.st_mtime) > NOTED:
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

    def sweep(self, moment: float, most: int) -> None:
        """Delete what was last used before a moment, then the longest unused until at most so many bytes are left.

        The latest entry stays in any case. Other processes read, write and sweep at the same time: a file that is
        open can still be read by whoever opened it, and one that is gone is no loss.
        """
        files = sorted(self._files())
        total = sum(size for _, size, _ in files)
        abandoned = time.time() - ABANDONED
        latest = max((f for f in files if not _begun(f[2])), default=None)
        for file in files:
            used, size, name = file
            crowded = total > most and file != latest
            if used < abandoned if _begun(name) else used < moment or crowded:
                place, at = self._at(name)
                with contextlib.suppress(OSError):  # another process was faster, or has it open
                    os.unlink(place, **at)
                    total -= size

    def _files(self) -> Iterator[tuple[float, int, str]]:
        """When each entry and leftover was last used, its size and its name."""
        with (
            contextlib.suppress(OSError),
            os.scandir(self.handle if self.handle is not None else self.path) as entries,
        ):
            for entry in entries:
                with contextlib.suppress(OSError):
                    if ".object" in entry.name and entry.is_file(follow_symlinks=False):
                        status = entry.stat(follow_symlinks=False)
                        yield status.st_mtime, status.st_size, entry.name


def _begun(name: str) -> bool:
    """Whether a file is being written, or was when its process was killed."""
    return name.startswith(".")
