"""Work on a stranger's file in another process: libraries of others may crash, hang, or take all the memory there is.

The child is a module of ours, `python -m MODULE`. It limits itself by `confine` and answers through `own_pipe`:
with JSON to a request on its standard input (`asked`, `served`), or with what its reader checks like a stranger's file.
A child whose module answers line after line (`requests`) is kept for the next file (`lent`), because to start one takes
half a second.
"""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from ..errors import FileError, FormatError
from .files import named
from .kinds import Outside

_SPARE = 800 << 20  # bytes of address space beyond what is there after the imports
REFUSED = "refused"  # the key of an answer that is a message
OVER = "over"  # the key of the line behind the last answer of a child that is kept
_KEPT = 4  # children that wait for further work,
_IDLE = 30.0  # and the seconds after which they end


def started(
    module: str, arguments: Sequence[str], source: str, instead: str = "", asking: bool = False
) -> subprocess.Popen[bytes]:
    """The module in a process of its own, with a pipe from it and, if it is asked something, one to it.

    instead: what to do where no process can be started.
    """
    if getattr(sys, "frozen", False) or not sys.executable:
        raise FileError(
            f"{source}: is read by a second Python, and this program cannot start one{instead}"
        )
    # the same packages as here, but not the folder one happens to stand in
    seen = os.pathsep.join(p for p in sys.path if p)
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    try:
        return subprocess.Popen(
            [sys.executable, "-P", "-m", module, *arguments],
            stdin=subprocess.PIPE if asking else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **threads, "PYTHONPATH": seen},
        )
    except (OSError, ValueError) as error:
        raise FileError(
            f"{source}: no second Python could be started to read it ({named(str(error))})"
        ) from None


def asked(module: str, request: bytes, source: str, seconds: float) -> dict[str, Outside]:
    """What the module answers to the request; source names the file in messages."""
    with started(module, (), source, asking=True) as child:
        try:
            answer, _ = child.communicate(request, timeout=seconds)
        except subprocess.TimeoutExpired:
            raise FormatError(
                f"{source}: not read after {seconds:g} seconds; make the file smaller"
            ) from None
        finally:
            child.kill()  # nothing, where it has ended
    return received(answer, child.returncode, source)


def received(answer: bytes, code: int, source: str) -> dict[str, Outside]:
    """The answer of a child that ended with the code; an error where it is none, or is a refusal."""
    try:
        said: dict[str, Outside] = json.loads(answer)
    except ValueError:
        raise FormatError(
            f"{source}: its reader broke off (code {code}); the file is damaged, or takes too much memory"
        ) from None
    if REFUSED in said:
        raise FormatError(f"{source}: {said[REFUSED]}")
    return said


# ---- children that are kept


@dataclass
class Lent:
    """A child that nobody else speaks to; `done` is set where it has answered all that it was asked."""

    child: subprocess.Popen[bytes]
    done: bool = False


_waiting: list[tuple[str, subprocess.Popen[bytes]]] = []  # modules and their children


@contextmanager
def lent(module: str, source: str, instead: str = "") -> Iterator[Lent]:
    """A child of the module that waits for a line; kept afterwards if all went well, else ended."""
    one = Lent(_kept(module) or started(module, (), source, instead, asking=True))
    try:
        yield one
    finally:
        if one.done and len(_waiting) < _KEPT:
            _waiting.append((module, one.child))
        else:
            _end(one.child)


def _kept(module: str) -> subprocess.Popen[bytes] | None:
    """A child of the module that still lives: it answers an empty line by another."""
    for entry in _waiting[::-1]:
        if entry[0] != module:
            continue
        try:
            _waiting.remove(entry)  # fails where another thread was quicker
        except ValueError:
            continue
        child = entry[1]
        assert child.stdin is not None and child.stdout is not None
        try:
            child.stdin.write(b"\n")
            child.stdin.flush()
            if child.stdout.readline(2) == b"\n":
                return child
        except OSError:
            pass
        _end(child)
    return None


def _end(child: subprocess.Popen[bytes]) -> None:
    try:
        child.kill()  # nothing, where it has ended
        with child:
            pass
    except OSError:
        pass  # what was still to be written to it


@atexit.register
def end_kept() -> None:
    """End the children that wait."""
    while _waiting:
        _end(_waiting.pop()[1])


def _forget() -> None:
    """Of a fork: the children are its parent's."""
    for _, child in _waiting:
        child.returncode = 0
        for pipe in (child.stdin, child.stdout):
            if pipe is not None:
                pipe.close()
    _waiting.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


def requests(pipe: IO[bytes]) -> Iterator[bytes]:
    """Of a child that is kept: the lines that it is sent, until nobody sends any, or none for long."""
    busy = threading.Lock()

    def leave() -> None:
        if busy.acquire(blocking=False):
            os._exit(0)

    while True:
        late = threading.Timer(_IDLE, leave)
        late.daemon = True
        late.start()
        line = sys.stdin.buffer.readline()
        late.cancel()
        with busy:
            if not line:
                return
            if line.strip():
                yield line
            else:
                pipe.write(line)
                pipe.flush()


def own_pipe() -> IO[bytes]:
    """Of the child: where its answer goes. Nobody else writes to that pipe; what libraries print goes nowhere."""
    pipe = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return pipe


def served(work: Callable[[bytes], dict[str, Outside]]) -> None:
    """Of the child: answer the request."""
    pipe = own_pipe()
    try:
        said = work(sys.stdin.buffer.read())
    except MemoryError:
        said = {REFUSED: "takes more memory than a robot should; make it smaller"}
    pipe.write(json.dumps(said).encode())
    pipe.flush()
    os._exit(0)  # whatever state a library is in, the answer is given


def confine(files: bool, spare: int = _SPARE, again: bool = False) -> None:
    """Of the child: no more memory than reading takes, no dump of it, and, without `files`, no further file at all.

    spare: bytes of address space beyond what is there now, after the imports; again: whether another call may count
    anew. Where the system has no such limits the checks of the parent remain.
    """
    pages = _pages()
    if pages is None:
        return
    import resource

    most = resource.getrlimit(resource.RLIMIT_AS)[1]
    limit = pages[0] + spare
    limit = limit if most == resource.RLIM_INFINITY else min(limit, most)
    resource.setrlimit(resource.RLIMIT_AS, (limit, most if again else limit))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if not files:
        resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))


def relaxed() -> int:
    """Of a child that is kept: the bytes that it holds between two files, where it may import what it needs."""
    pages = _pages()
    if pages is None:
        return 0
    import resource

    most = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    return pages[1]


def _pages() -> tuple[int, int] | None:
    """Bytes of address space, and of memory, of this process; None where the system does not tell."""
    try:
        import resource  # noqa: F401

        held = Path("/proc/self/statm").read_text().split()
    except (ImportError, OSError):
        return None
    size = os.sysconf("SC_PAGE_SIZE")
    return int(held[0]) * size, int(held[1]) * size
