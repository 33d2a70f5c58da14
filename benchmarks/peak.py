"""Vector multiply-adds that this core can issue per second: the slots that kernels compete for.

A loop of independent fused multiply-adds in the widest useful vectors, with nothing else to do, timed in turns with
what it is compared with: cores of shared machines change their speed. `python -m benchmarks.peak` prints its own best.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from .measure import contest

CHAINS = 16  # independent sums: more than latency times issue width on any core we know, fewer than its registers
TURNS = 20_000  # passes of the loop in one call
SLOTS = CHAINS * TURNS  # vector multiply-adds of one call


@dataclass(frozen=True, slots=True)
class Peak:
    """What one core does at best."""

    lanes: int  # doubles in a vector
    slots: float  # vector multiply-adds per second

    @property
    def flops(self) -> float:
        """Floating-point operations per second, a multiply-add counted as two."""
        return 2 * self.lanes * self.slots

    def filled(self, instructions: int, seconds: float) -> float:
        """The part of the slots that so many vector instructions fill in so many seconds."""
        return instructions / (seconds * self.slots)


@cache
def loop(lanes: int) -> Callable[[], Any]:
    """A call that does SLOTS multiply-adds over vectors of `lanes` doubles."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten(), opt=2
    )
    engine = llvm.create_mcjit_compiler(
        llvm.parse_assembly(_text(lanes), llvm.create_context()), machine
    )
    engine.finalize_object()
    # PYFUNCTYPE would hold the GIL; CFUNCTYPE costs a microsecond in a run of many
    run = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_int64)(engine.get_function_address("peak"))
    _ENGINES.append(engine)
    return lambda: run(TURNS)


_ENGINES: list[Any] = []  # the code lives as long as its engine


def _text(lanes: int) -> str:
    """A function double peak(i64 turns)."""
    t = f"<{lanes} x double>"

    def splat(value: str) -> str:
        return "<" + ", ".join([f"double {value}"] * lanes) + ">"

    lines = [
        f"declare {t} @llvm.fma.v{lanes}f64({t}, {t}, {t})",
        "define double @peak(i64 %turns) {",
        "entry:",
        "br label %loop",
        "loop:",
        "%i = phi i64 [ 0, %entry ], [ %j, %loop ]",
    ]
    lines += [
        f"%a{k} = phi {t} [ {splat(f'{k}.0')}, %entry ], [ %b{k}, %loop ]" for k in range(CHAINS)
    ]
    for k in range(CHAINS):
        x, y = splat("0.5"), splat("1.0")
        lines.append(f"%b{k} = call {t} @llvm.fma.v{lanes}f64({t} %a{k}, {t} {x}, {t} {y})")
    lines += [
        "%j = add i64 %i, 1",
        "%more = icmp ult i64 %j, %turns",
        "br i1 %more, label %loop, label %done",
        "done:",
    ]
    total = "%b0"
    for k in range(1, CHAINS):
        lines.append(f"%s{k} = fadd {t} {total}, %b{k}")
        total = f"%s{k}"
    return "\n".join([*lines, f"%r = extractelement {t} {total}, i32 0", "ret double %r", "}"])


if __name__ == "__main__":
    from dynarm.machine.emit.llvm import host

    for lanes in sorted({2, 4, host().width}):
        found = Peak(lanes, SLOTS / contest({"loop": loop(lanes)})["loop"].best)
        print(
            f"{lanes} lanes: {found.slots / 1e9:.2f} G multiply-adds/s, {found.flops / 1e9:.1f} GFLOP/s"
        )
