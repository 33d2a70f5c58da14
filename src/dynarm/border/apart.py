"""Work on a stranger's file in another process: libraries of others may crash, hang, or take all the memory there is.

The child is a module of ours, `python -m MODULE`. It limits itself by `confine` and answers through `own_pipe`:
with JSON to a request on its standard input (`asked`, `served`), or with what its reader checks like a stranger's file.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO

from ..errors import FileError, FormatError
from .files import named
from .kinds import Outside

_SPARE = 800 << 20  # bytes of address space beyond what is there after the imports
REFUSED = "refused"  # the key of an answer that is a message


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


def confine(files: bool, spare: int = _SPARE) -> None:
    """Of the child: no more memory than reading takes, no dump of it, and, without `files`, no further file at all.

    spare: bytes of address space beyond what is there after the imports. Where the system has no such limits the
    checks of the parent remain.
    """
    try:
        import resource

        pages = int(Path("/proc/self/statm").read_text().split()[0])
    except (ImportError, OSError):
        return
    limit = pages * os.sysconf("SC_PAGE_SIZE") + spare
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if not files:
        resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))
