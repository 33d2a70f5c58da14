"""What code is made for: a processor and all that is tuned to it, one record, asked of the machine or forced.

Which processor this is, LLVM says; what follows from its features is decided here, by pure functions, so that every
kind of processor can be tried on any other. `DYNARM_LANES` in the environment, or `on(host)` inside a program, forces
a smaller kind than the processor's own: code, cache entries and what kernels share are then those of the forced host.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import cache

from ..border.kinds import Outside
from ..errors import DynarmError, InputError

LANES = "DYNARM_LANES"
WIDTHS = (1, 2, 4, 8)
# Registers of 32 and of 16 that a program may fill; a few are left for constants and temporaries.
MANY, FEW = 26, 11
WOVEN_LANES = 8  # lanes from which on there are enough registers for arithmetic and moves at once
# Features of x86 (how their names begin) that a processor without so many lanes, or without multiply-adds, has not
_EIGHT = ("avx512", "avx10", "amx-avx512")
_MULTIPLY_ADDS = ("fma", "fma4")
_FOUR = ("avx", "f16c", "vaes", "vpclmulqdq", "xop", *_EIGHT, *_MULTIPLY_ADDS)


@dataclass(frozen=True, slots=True)
class Tuning:
    """What code for a processor is tuned by. No result depends on it, only how fast it comes.

    The numbers were measured on server processors of x86 and hold for their like; what differs from kind to kind is
    set in `_tuned`. Another processor gets other numbers here, and nowhere else.
    """

    # registers and moves
    registers: int = MANY  # values that a program may hold in vector registers
    # whether short kernels move their neighbours' inputs and outputs while they compute
    woven: bool = False
    woven_most: int = 600  # instructions up to which moves are felt enough to compile such a kernel
    # elements of dense ports on one side for which code of their own is worth compiling
    unrolled: int = 64
    copied: int = 8  # elements that are copied in one turn of a loop
    angles: int = 6  # angles whose sin and cos are computed side by side

    # how straight-line code runs
    latency: int = 4  # cycles from an arithmetic instruction to its result
    slow: int = 24  # the same of a slow one, such as a division
    ports: int = 2  # vector instructions that start in a cycle
    window: int = 97  # instructions that wait for their operands while later ones may start
    fetch: int = 6  # instructions that are fetched in a cycle
    pressure: int = 16  # values alive from which on an order by latency frees registers first
    move: float = 0.12  # cycles that a load or store takes from arithmetic
    # times its instructions' own time: what takes longer is waiting for results
    waiting: float = 1.05

    # how long code is: instructions, or weights of instructions and stores
    store: int = 3  # weight of a stored output: LLVM's scheduler looks at every pair of stores
    # weight of one function: some passes of LLVM are more than linear in its length
    piece: int = 1200
    brief: int = 300  # of pieces whose order waits: the next block begins while the last one waits
    long: int = 1600  # from which on fetching instructions, not waiting for results, decides
    cached: int = 4000  # of a kernel that still runs from a common instruction cache
    very_long: int = 20000  # from which on trying several orders takes longer than it gains
    huge: int = 20000  # from which on a scalar kernel takes longer to compile than it is worth
    hasty: int = 9000  # from which on LLVM's own scheduling takes longer than it gains
    slot: float = 2.0  # moves that a slot of a long program is worth: workspaces just fit the first-level cache
    # blocks of samples that go through each piece of a longer program in turn
    tile: int = 2

    # caches and memory
    line: int = 64  # bytes of a line of cache
    stage: tuple[int, int] = (16, 128)  # sizes of outputs that are written in whole lines
    # elements of an output up to which a kernel asks for its lines; stores of longer ones are quicker alone
    asked_most: int = 16
    soon: int = 4  # blocks ahead for which a woven kernel asks for lines
    past_caches: int = 20 << 20  # bytes of all outputs that no cache will hold until they are read
    stack: int = 1 << 16  # bytes; larger workspaces are taken from the heap


USUAL = Tuning()


@dataclass(frozen=True, slots=True)
class Host:
    """A processor: what it can do, and what code for it is tuned by."""

    triple: str
    cpu: str
    features: str  # as LLVM reads them: +avx2,-avx512f ...
    width: int  # lanes of a vector register; 1: numbers one by one
    fused: bool  # whether a multiply-add is one instruction
    tuning: Tuning = USUAL

    def tuned(self, **numbers: Outside) -> Host:
        """The same processor with some numbers of its tuning forced."""
        return replace(self, tuning=replace(self.tuning, **numbers))


def detected(triple: str, cpu: str, features: Mapping[str, bool]) -> Host:
    """The host of that name whose processor has the features that are true."""
    x86 = _is_x86(triple)
    width = 8 if features.get("avx512f") else 4 if features.get("avx2") else 2
    width = width if x86 else 2
    fused = bool(features.get("fma")) if x86 else True
    listed = ",".join(f"{'+' if has else '-'}{name}" for name, has in sorted(features.items()))
    return _tuned(Host(triple, cpu, listed, width, fused))


def _is_x86(triple: str) -> bool:
    return triple.startswith(("x86_64", "i386", "i686"))


def _tuned(target: Host) -> Host:
    """The host with what follows from its width."""
    many = target.width == 8 or not _is_x86(target.triple)
    return target.tuned(
        registers=MANY if many else FEW,
        woven=target.width >= WOVEN_LANES,
        tile=3 if target.width == 4 else USUAL.tile,  # whose workspaces are half as long
    )


_X86, _ARM = "x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu"
_NAMED: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "AVX-512": (_X86, "x86-64-v4", ("avx2", "fma", "avx512f")),
    "AVX2": (_X86, "x86-64-v3", ("avx2", "fma")),
    "SSE2": (_X86, "x86-64", ()),
    "NEON": (_ARM, "generic", ("neon",)),
}
TARGETS = tuple(_NAMED)


def named(name: str) -> Host:
    """A common kind of processor, to make code for: one of TARGETS."""
    if name not in _NAMED:
        raise InputError(f"there is no target {name!r}; take one of {', '.join(TARGETS)}")
    triple, cpu, features = _NAMED[name]
    return detected(triple, cpu, dict.fromkeys(features, True))


# ---- forcing


def narrowed(whole: Host, width: int, fused: bool | None = None) -> Host:
    """A processor with so many lanes only (fused=False: without multiply-adds), and with no feature beyond them."""
    fused = whole.fused if fused is None else fused
    if width not in WIDTHS or width > whole.width or (fused and not whole.fused):
        words = f"{width} lanes{' with multiply-adds' if fused else ''}"
        raise InputError(f"processor '{whole.cpu}' has no {words}; it has {_able(whole)}")
    lacking: tuple[str, ...] = ()
    if _is_x86(whole.triple) and width < 8:
        lacking = _EIGHT if fused else (*_EIGHT, *_MULTIPLY_ADDS)
        if width < 4 and not fused:
            lacking = _FOUR
    features = [
        f"-{f[1:]}" if lacking and f[1:].startswith(lacking) else f
        for f in whole.features.split(",")
        if f
    ]
    less = replace(whole, features=",".join(features), width=width, fused=fused)
    return less if width == whole.width else _tuned(less)


def kinds(whole: Host) -> dict[str, Host]:
    """Every kind of host that a processor can be, the widest first, by names such as `4 lanes, fused`."""
    widths = [w for w in reversed(WIDTHS) if w <= whole.width]
    choices = (True, False) if whole.fused else (False,)
    return {
        f"{w} lane{'s' * (w > 1)}{', fused' * f}": narrowed(whole, w, f)
        for w in widths
        for f in choices
    }


def asked(whole: Host, lanes: str | None) -> Host:
    """The processor as the environment wants it: with so many lanes, or whole."""
    if not lanes:
        return whole
    if lanes.strip() not in map(str, WIDTHS):
        raise InputError(f"{LANES} is {lanes!r}; set it to {_words(WIDTHS)}, or to nothing")
    width = int(lanes)
    if width > whole.width:
        raise InputError(
            f"{LANES} is {width}, but processor '{whole.cpu}' has {_able(whole)}; unset it"
        )
    return narrowed(whole, width)


def _able(whole: Host) -> str:
    return f"{_words([w for w in WIDTHS if w <= whole.width])} lanes"


def _words(numbers: list[int] | tuple[int, ...]) -> str:
    *first, last = map(str, numbers)
    return f"{', '.join(first)} or {last}"


def check_runs(target: Host, whole: Host) -> None:
    """Refuse to load code for a host that this processor cannot be: it would end the process."""
    able = target.width <= whole.width and target.fused <= whole.fused
    if target.triple != whole.triple or not able:
        raise DynarmError(
            f"code for '{target.cpu}' ({target.triple}, {target.width} lanes) does not run on this processor, "
            f"'{whole.cpu}' ({whole.triple}, {whole.width} lanes); it can be made here, not loaded"
        )


_forced: ContextVar[Host | None] = ContextVar("forced host", default=None)


@contextmanager
def on(target: Host) -> Iterator[Host]:
    """Inside, this thread makes and loads code for that host. A model keeps what it has compiled, wherever it was."""
    before = _forced.set(target)
    try:
        yield target
    finally:
        _forced.reset(before)


def host() -> Host:
    """What code is made for: what `on` says, else this machine as `DYNARM_LANES` wants it."""
    return _forced.get() or asked(native(), os.environ.get(LANES))


@cache
def native() -> Host:
    """This machine, with all that its processor can do."""
    from .emit.llvm import processor

    return detected(*processor())
