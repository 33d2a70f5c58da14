"""Readers that work in another process, in a fork of this one: for many files, where a new Python takes too long.

A fork has what is imported here; it runs the module as `python -m` does, with the same limits that it gives itself.
"""

from __future__ import annotations

import os
import runpy
import select
import signal
import subprocess
import sys
import time
import traceback
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import ModuleType
from typing import IO, Self

from dynarm.border import apart

_PIECE = 1 << 16


class Forked:
    """What `subprocess.Popen` is for the readers."""

    def __init__(self, module: str, arguments: Sequence[str], asking: bool) -> None:
        (request, self._request), (answer, write) = os.pipe(), os.pipe()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of threads that are about to end
            self.pid = os.fork()
        if not self.pid:
            os.close(self._request)
            os.close(answer)
            _run(module, arguments, request, write)
        os.close(request)
        os.close(write)
        self.stdin: IO[bytes] = os.fdopen(self._request, "wb")
        if not asking:
            self.stdin.close()
        self.stdout: IO[bytes] = os.fdopen(answer, "rb")
        self.returncode: int | None = None

    def communicate(self, request: bytes, timeout: float) -> tuple[bytes, None]:
        """The answer to a request that fits into a pipe."""
        self.stdin.write(request)
        self.stdin.close()
        end, said = time.monotonic() + timeout, b""
        while select.select([self.stdout], [], [], max(end - time.monotonic(), 0))[0]:
            piece = os.read(self.stdout.fileno(), _PIECE)
            if not piece:
                self._wait()
                return said, None
            said += piece
        raise subprocess.TimeoutExpired("reader", timeout)

    def kill(self) -> None:
        if self.returncode is None:
            os.kill(self.pid, signal.SIGKILL)

    def _wait(self) -> None:
        if self.returncode is None:
            self.returncode = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stdout.close()
        self.stdin.close()
        self._wait()


def _run(module: str, arguments: Sequence[str], request: int, answer: int) -> None:
    """Of the fork: the module, and the end."""
    try:
        os.dup2(request, 0)
        os.dup2(answer, 1)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        sys.stdin = os.fdopen(0, "r")
        sys.argv = [module, *arguments]
        warnings.simplefilter("ignore")
        runpy.run_module(module, run_name="__main__")
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def _started(
    module: str, arguments: Sequence[str], source: str, instead: str = "", asking: bool = False
) -> Forked:
    return Forked(module, arguments, asking)


@contextmanager
def readers_forked() -> Iterator[None]:
    """Inside, every reader that works apart does so in a fork, which is kept as other readers are."""
    before = apart.started
    apart.started = _started  # type: ignore[assignment]
    try:
        yield
    finally:
        apart.started = before


@contextmanager
def patience(reader: ModuleType, seconds: float) -> Iterator[None]:
    """Inside, a reader waits that long only."""
    before = reader._PATIENCE
    reader._PATIENCE = seconds  # type: ignore[attr-defined]
    try:
        yield
    finally:
        reader._PATIENCE = before  # type: ignore[attr-defined]
