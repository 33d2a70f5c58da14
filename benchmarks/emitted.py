"""Vector instructions that a block of samples really takes: arithmetic, shuffles, blends and bit operations alike.

Counted in the assembly that LLVM emits for a kernel and for the functions that it calls, each as often as a block runs
through it. Loads, stores and copies of registers are not counted: they go elsewhere in a processor. Only of code
without loops: kernels whose inputs and outputs are moved by code of their own; None for others, on a host of one lane,
and where the processor is no x86.
"""

from __future__ import annotations

import re
from functools import cache

from dynarm.graph.graph import Graph
from dynarm.machine.abi import called
from dynarm.machine.emit import llvm as door
from dynarm.machine.emit.kernel import kernel_text
from dynarm.machine.emit.loop import runtime_text
from dynarm.machine.host import Host
from dynarm.machine.lower.program import Call, program_of

LABEL = re.compile(r"^([A-Za-z_]\w*):")
MOVES = ("vmov", "vbroadcast", "vpbroadcast", "vzero", "mov", "vlddqu")


def instructions(graph: Graph) -> int | None:
    """Vector instructions that a block of samples takes."""
    target = door.host()
    if not target.triple.startswith("x86_64"):
        return None
    program = program_of(graph, target.fused, target.tuning)
    text = kernel_text(program, graph.inputs, graph.outputs, target)
    functions = {**_runtime(target), **_functions(text, target)}
    names = [
        called(step.op, len(step.arguments), target.width)
        if isinstance(step, Call)
        else f"piece{target.width}_{k}"
        for k, step in enumerate(program.steps)
    ]
    if f"woven{target.width}" in functions:
        names[-1] = f"woven{target.width}"  # the last piece and the moves
    else:
        names += [f"dense_come{target.width}", f"dense_go{target.width}"]
    if any(name not in functions for name in names):
        return None
    return sum(map(counts, (line for name in names for line in functions[name])))


def counts(line: str) -> bool:
    """Whether a line of assembly (AT&T) works on vectors in the units that also multiply and add."""
    name, _, operands = line.split("#")[0].partition("\t")
    if "mm" not in operands:
        return False
    if name.startswith(MOVES):
        # a number spread from one register to another is a shuffle, from memory a load
        return "broadcast" in name and "(" not in operands
    return not operands.rstrip().endswith(")")  # what goes to memory is a store


@cache
def _runtime(target: Host) -> dict[str, list[str]]:
    return _functions(runtime_text(target), target)


def _functions(text: str, target: Host) -> dict[str, list[str]]:
    """The instructions of every function of a module, by name."""
    import llvmlite.binding as llvm

    with door.LOCK, llvm.create_context() as context, llvm.parse_assembly(text, context) as module:
        module.triple = target.triple
        assembly = door.machine(target).emit_assembly(module)
    found: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in assembly.splitlines():
        label = LABEL.match(line)
        if label:
            lines = found[label.group(1)] = []
        elif line.startswith("\t") and not line.startswith("\t."):
            lines.append(line.strip())
    return found
