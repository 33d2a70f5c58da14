"""One damaged file under watch: what is read beside it, how long it takes, how much memory, what is left behind."""

from __future__ import annotations

import os
import resource
import signal
import site
import sys
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dynarm import DynarmError, DynarmWarning
from fuzz.kinds import Kind

READ, REFUSED = "read", "refused"
SECONDS = 10  # of the processor, for a file
MEMORY = 1 << 30  # bytes beyond what is there before the first file
LONGEST = 3000  # letters of a message
FORBIDDEN = (
    "os.system",
    "os.exec",
    "os.posix_spawn",
    "socket.connect",
    "pickle.find_class",
)
STARTING = ("subprocess.Popen", "os.fork")
LIBRARIES = tuple(
    {
        str(Path(p).resolve())
        for p in (sys.prefix, sys.base_prefix, *site.getsitepackages(), *sys.path)
        if p
    }
)
QUIET = ("/dev/null", "/dev/urandom", "/proc/self/", "/proc/cpuinfo", "/sys/")


class TooLong(BaseException):
    """A file took more of the processor than it may."""


class Watch:
    """What happens beside a file while it is read; Python tells by its audit events."""

    def __init__(self, folder: Path):
        self.folder, self.on, self.apart, self.seen = str(folder), False, False, set[str]()
        sys.addaudithook(self._heard)

    def _heard(self, event: str, args: tuple[object, ...]) -> None:
        if not self.on:
            return
        if event == "open":
            path = args[0]
            if isinstance(path, (str, bytes)) and not self._may(
                os.path.abspath(os.fsdecode(path)), args[1]
            ):
                self.seen.add(f"opened {os.fsdecode(path)}")
        elif event in FORBIDDEN or (event in STARTING and not self.apart):
            self.seen.add(f"{event} {args[:1]}"[:200])

    def _may(self, path: str, mode: object) -> bool:
        if path.startswith(self.folder):
            return True
        writing = isinstance(mode, str) and set(mode) & set("wax+")
        return not writing and path.startswith((*LIBRARIES, *QUIET))


def limited() -> None:
    """No more memory than MEMORY beyond what is there now; a handler for the processor's time."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * os.sysconf("SC_PAGE_SIZE") + MEMORY
    # where a process is started it limits itself
    resource.setrlimit(resource.RLIMIT_AS, (most, resource.getrlimit(resource.RLIMIT_AS)[1]))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    def late(*_: object) -> None:
        raise TooLong

    signal.signal(signal.SIGPROF, late)


@contextmanager
def timed(watch: Watch, apart: bool) -> Iterator[None]:
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    watch.seen.clear()
    watch.on, watch.apart = True, apart
    try:
        yield
    finally:
        watch.on = False
        signal.setitimer(signal.ITIMER_PROF, 0)


def judged(kind: Kind, seed: int, number: int, watch: Watch) -> str:
    """READ, REFUSED, or what is wrong in one line."""
    path = Path(watch.folder) / f"case{kind.ending}"
    try:
        data, rng = kind.case(seed, number)
    except Exception as error:
        return f"the damage itself failed: {type(error).__name__} {ascii(str(error))[:100]}"
    path.write_bytes(data)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        verdict = _tried(kind, path, rng, watch)
    strange = [w for w in told if not issubclass(w.category, DynarmWarning)]
    if verdict in (READ, REFUSED):
        if strange:
            w = strange[0]
            verdict = (
                f"{w.category.__name__} {_place(w.filename, w.lineno)}: {str(w.message)[:200]}"
            )
        elif watch.seen:
            verdict = f"outside: {sorted(watch.seen)[0]}"
        elif left := sorted(p.name for p in Path(watch.folder).iterdir() if p != path):
            verdict = f"left behind: {left}"
    for rest in Path(watch.folder).iterdir():
        rest.unlink()
    return " ".join(verdict.split())


def _tried(kind: Kind, path: Path, rng: object, watch: Watch) -> str:
    try:
        with timed(watch, kind.apart):
            kind.use(path, rng)  # type: ignore[arg-type]
    except DynarmError as error:
        text = str(error)
        if not text.isprintable() or len(text) > LONGEST or len(text) < 10:
            return f"message: {text[:300]!a}"
        return REFUSED
    except (Exception, TooLong) as error:
        last = next(
            (
                f
                for f in reversed(traceback.extract_tb(error.__traceback__))
                if "dynarm" in f.filename
            ),
            None,
        )
        place = _place(last.filename, last.lineno) if last else "?"
        return f"{type(error).__name__} {place}: {ascii(str(error))[:300]}"
    return READ


def _place(file: str, line: int | None) -> str:
    return f"{'/'.join(Path(file).parts[-2:])}:{line}"
