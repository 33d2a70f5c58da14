"""Object code in executable memory, and memory given back; LLVM entered by one thread at a time.

LLVM's engine keeps some 10 kB of every library that it ever linked, and looks through all of them at each further one.
So an engine takes a few kernels only, and another one is made for the next few. Kernels keep their engine alive: what
it holds is returned with the last of them, and a process holds what its living kernels need, however many there were.
"""

from __future__ import annotations

import itertools
import mmap
from collections import deque
from collections.abc import Mapping

from ...border.forks import IMPORTS, LLVM
from ...border.kinds import Foreign
from ...errors import DynarmError, RoomError

LOCK = LLVM  # one thread at a time, and none while the process forks
SHARED = 16  # kernels of an engine: making one takes as long as linking two of them
LINKING = 8 << 20, 8  # bytes that linking may take: always, and for each byte of object code
COMPILING = 32 << 20, 64  # the same of compiling, for each character of LLVM's text
_NUMBERS = itertools.count()
# what nobody needs any more, until a thread has time to give it back
_BURIED: deque[Foreign] = deque()
_engine: tuple[Foreign, int] | None = None  # where the next kernel is linked, and how many were


class LoadedCode:
    """Exported names and their addresses; the machine code lives as long as this object.

    LLVM is told of its end under the lock. Whoever drops the last reference may hold other locks, so he does not wait
    for this one: the code is then given back by the next who has it.
    """

    __slots__ = ("__weakref__", "_tracker")

    def __init__(self, tracker: Foreign):
        self._tracker = tracker

    def __getitem__(self, name: str) -> int:
        address: int = self._tracker[name]
        return address

    def __del__(self, bury: Foreign = _BURIED, lock: Foreign = LOCK) -> None:
        bury.append(self._tracker)
        del self._tracker
        if lock.acquire(blocking=False):
            try:
                bury.clear()
            finally:
                lock.release()


def binding() -> Foreign:
    """llvmlite, imported while nobody forks: a child would wait for the end of the import forever."""
    with IMPORTS:
        try:
            import llvmlite.binding as llvm
        except OSError as error:
            reason = " ".join(str(error).split())
            raise RoomError(
                f"LLVM cannot be loaded: {reason}; install llvmlite anew, or allow the process more memory"
            ) from error
        return llvm


def check_room(need: tuple[int, int], size: int, what: str) -> None:
    """Refuse work for which address space is short, as LLVM ends the process where it gets no memory."""
    if not hasattr(mmap, "MAP_ANONYMOUS"):
        return  # Windows has no limit of this kind
    wanted = need[0] + need[1] * size
    try:
        mmap.mmap(-1, wanted, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS).close()
    except (OSError, OverflowError, MemoryError):
        raise RoomError(
            f"{what} may take {wanted >> 20} MB, and the process is not given as much; "
            "allow it more (ulimit -v, ulimit -d) or free some"
        ) from None


def linked(
    code: bytes, name: str, exports: tuple[str, ...], imports: Mapping[str, int]
) -> LoadedCode:
    """An object file in executable memory: a mapping of exported names to addresses, alive as long as it is kept."""
    with LOCK:
        llvm = binding()
        check_room(LINKING, len(code), f"loading '{name}'")
        builder = llvm.JITLibraryBuilder().add_object_img(code)
        for symbol in exports:
            builder.export_symbol(symbol)
        for symbol, address in imports.items():
            builder.import_symbol(symbol, address)
        try:
            return LoadedCode(builder.link(_next_engine(llvm), f"dynarm{next(_NUMBERS)}"))
        except RuntimeError as error:
            raise DynarmError(f"LLVM cannot load the code of '{name}': {error}") from error
        finally:
            _BURIED.clear()


def _next_engine(llvm: Foreign) -> Foreign:
    """The engine for one more kernel, a new one if the last one has its share."""
    global _engine
    if _engine is None or _engine[1] >= SHARED:
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        # the other linker maps code and constants apart, and ends the process where they come to lie 2 GB apart
        _engine = llvm.create_lljit_compiler(use_jit_link=True), 0
    engine, count = _engine
    _engine = engine, count + 1
    return engine
