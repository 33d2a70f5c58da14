"""Machine code of a graph for this host, as an object file in memory. The only door to llvmlite."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from functools import cache
from typing import Any

from ..errors import DynarmError
from ..graph import Graph
from . import elementary, layout
from .lanes import Lanes
from .loop import loop
from .program import Call, Piece, Program, program_of

LOCK = threading.RLock()  # LLVM's global context is not safe for two threads


@dataclass(frozen=True, slots=True)
class Host:
    """What code is made for."""

    triple: str
    cpu: str
    features: str
    width: int
    fused: bool


@cache
def host() -> Host:
    """This machine: LLVM's names for it, lanes of a vector register, and whether multiply-adds are one instruction."""
    import llvmlite.binding as llvm

    with LOCK:
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        triple, cpu = llvm.get_process_triple(), llvm.get_host_cpu_name()
        features = llvm.get_host_cpu_features()
    x86 = triple.startswith(("x86_64", "i386", "i686"))
    width = 8 if features.get("avx512f") else 4 if features.get("avx2") else 2
    return Host(triple, cpu, features.flatten(), width, bool(features.get("fma")) if x86 else True)


def compile_graph(graph: Graph, name: str, target: Host | None = None) -> bytes:
    """An object file for this host whose function LOOP is the inner loop of a NumPy gufunc."""
    import llvmlite.binding as llvm

    target = target or host()
    program = program_of(graph, target.fused)
    text = module_text(program, graph, name, target)
    with LOCK:
        try:
            module = llvm.parse_assembly(text, llvm.create_context())
            module.triple = target.triple
            return _machine(target).emit_object(module)
        except RuntimeError as error:
            raise DynarmError(f"LLVM refuses the code of '{name}': {error}") from error


@cache
def _machine(target: Host) -> Any:
    import llvmlite.binding as llvm

    return llvm.Target.from_triple(target.triple).create_target_machine(
        cpu=target.cpu, features=target.features, opt=2, reloc="pic", codemodel="small"
    )


def module_text(program: Program, graph: Graph, name: str, target: Host) -> str:
    """LLVM assembly: kernels of width 1 and of the host's width, and the loop that calls them."""
    ops = {step.op for step in program.steps if isinstance(step, Call)}
    text = [
        *(f"declare double @{symbol}(double)" for symbol in elementary.LIBRARY),
        '!0 = !{!"branch_weights", i32 1, i32 1000000}',
    ]
    for width in (1, target.width):
        text += Lanes(width).declarations()
        for op, function in (("sincos", elementary.sincos), ("tanh", elementary.tanh)):
            if op in ops:
                text += function(width, target.fused)
        text += kernel(program, width, target.fused)
        text += layout.elements(width)
    text += layout.rows(target.width)
    text += loop(program, graph.inputs, graph.outputs, target.width)
    return "\n".join(text)


def kernel(program: Program, width: int, fused: bool) -> list[str]:
    """kernel<W>(workspace): the pieces and calls of a program, one after another."""
    text: list[str] = []
    main = Lanes(width, fused)
    for k, step in enumerate(program.steps):
        if isinstance(step, Piece):
            text += _piece(step, program, f"piece{width}_{k}", width, fused)
            main.line(f"call void @piece{width}_{k}(ptr %work)")
        else:
            spare = program.slots - 1  # results that nobody wants
            places = [
                main.slot("%work", s if s >= 0 else spare) for s in (step.argument, *step.results)
            ]
            main.line(f"call void @{step.op}{width}({', '.join(f'ptr {p}' for p in places)})")
    head = f"define internal void @kernel{width}(ptr noalias %work) nounwind {{"
    return [*text, head, *main.text, "ret void", "}"]


def _piece(piece: Piece, program: Program, name: str, width: int, fused: bool) -> list[str]:
    lanes = Lanes(width, fused)
    value = {k: lanes.number(c) for k, c in program.constants.items()}
    for k, slot in piece.loads.items():
        value[k] = lanes.load(lanes.slot("%work", slot))
    for ins in piece.instructions:
        args = [value[a] for a in ins.args]
        if ins.op == "fma":
            a, b, c = args
            if ins.minus[0]:
                a = lanes.neg(a)
            if ins.minus[1]:
                c = lanes.neg(c)
            value[ins.dest] = lanes.fma(a, b, c)
        else:
            value[ins.dest] = getattr(lanes, ins.op)(*args)
    for slot, k, negative in piece.stores:
        lanes.store(lanes.neg(value[k]) if negative else value[k], lanes.slot("%work", slot))
    return [
        f"define internal void @{name}(ptr noalias %work) nounwind {{",
        *lanes.text,
        "ret void",
        "}",
    ]
