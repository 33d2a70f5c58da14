"""What code is made for: a processor and all that is tuned to it, one record, found or forced.

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

from ..errors import DynarmError, InputError

LANES = "DYNARM_LANES"
WIDTHS = (1, 2, 4, 8)
MANY, FEW = (
    26,
    11,
)  # registers of 32 and of 16 that a program may fill, a few left for constants and temporaries
STACK = 1 << 16  # bytes; larger workspaces are taken from the heap
WOVEN_LANES = 8  # lanes from which on there are enough registers for arithmetic and moves at once
# Features of x86 (how their names begin) that a processor without so many lanes, or without multiply-adds, has not
_EIGHT = ("avx512", "avx10", "amx-avx512")
_MULTIPLY_ADDS = ("fma", "fma4")
_FOUR = ("avx", "f16c", "vaes", "vpclmulqdq", "xop", *_EIGHT, *_MULTIPLY_ADDS)


@dataclass(frozen=True, slots=True)
class Host:
    """A processor, and all that code for it is tuned by."""

    triple: str
    cpu: str
    features: str  # as LLVM reads them: +avx2,-avx512f ...
    width: int  # lanes of a vector register; 1: numbers one by one
    fused: bool  # whether a multiply-add is one instruction
    registers: int  # values that a program may hold in vector registers
    woven: (
        bool  # whether short kernels move their neighbours' inputs and outputs while they compute
    )
    past_caches: int = 32 << 20  # bytes of an output that no cache will hold until it is read
    stack: int = STACK


def detected(triple: str, cpu: str, features: Mapping[str, bool]) -> Host:
    """The host of that name whose processor has the features that are true."""
    x86 = _is_x86(triple)
    width = 8 if features.get("avx512f") else 4 if features.get("avx2") else 2
    width = width if x86 else 2
    fused = bool(features.get("fma")) if x86 else True
    listed = ",".join(f"{'+' if has else '-'}{name}" for name, has in sorted(features.items()))
    return _tuned(Host(triple, cpu, listed, width, fused, FEW, False))


def _is_x86(triple: str) -> bool:
    return triple.startswith(("x86_64", "i386", "i686"))


def _tuned(target: Host) -> Host:
    """The host with what follows from its width."""
    many = target.width == 8 or not _is_x86(target.triple)
    return replace(target, registers=MANY if many else FEW, woven=target.width >= WOVEN_LANES)


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
