"""Machine code for this host from LLVM text; `engine.py` is its way into the process."""

from __future__ import annotations

import ctypes
import sys
from functools import cache

from ...border.kinds import Foreign
from ...errors import DynarmError
from ...graph.graph import Graph
from ...graph.ops import CALLED, OPERATIONS, Way, named
from ..abi import of_c
from ..host import Host, host, native
from ..load.engine import COMPILING, binding, check_room
from ..load.engine import LOCK as LOCK
from ..load.engine import linked as linked
from ..lower import fusion
from ..lower.program import program_of
from . import elementary
from .kernel import kernel_text
from .loop import HEAP, runtime_text


def processor() -> tuple[str, str, dict[str, bool]]:
    """This machine as LLVM names it, its processor, and which features that has."""
    with LOCK:
        llvm = binding()
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        features = dict(llvm.get_host_cpu_features())
        return llvm.get_process_triple(), llvm.get_host_cpu_name(), features


def versions() -> list[str]:
    """Versions of llvmlite and of the LLVM inside it."""
    import llvmlite
    import llvmlite.binding as llvm

    return [llvmlite.__version__, ".".join(map(str, llvm.llvm_version_info))]


def compile_graph(graph: Graph, name: str, target: Host | None = None) -> bytes:
    """An object file for this host: the graph's kernels and the table that describes them."""
    target = target or host()
    program = program_of(graph, target.fused, target.tuning)
    text = kernel_text(program, graph.inputs, graph.outputs, target)
    return assembled(text, name, target, hasty=program.length >= target.tuning.hasty)


def instructions(graph: Graph) -> int:
    """Vector arithmetic instructions that a block of samples takes; moving and rearranging data not counted."""
    code, _ = fusion.code_of(graph, host().fused)
    called = named(*CALLED)
    # sin and cos of one argument have one word: they are one call
    calls = {
        (OPERATIONS[node.op].word, node.args): OPERATIONS[node.op].instructions
        for node in graph.nodes
        if node.op in called
    }
    return len(code) + sum(calls.values())


def compile_runtime(target: Host) -> bytes:
    """An object file for this host: the loop that runs every kernel, and the functions that kernels call."""
    return assembled(runtime_text(target), "runtime", target)


def assembled(text: str, name: str, target: Host, hasty: bool = False) -> bytes:
    """The object file of a module given as text; it is written as it shall run, no optimising pass looks at it.

    hasty: LLVM spends less on the order of instructions, which is ours already.
    """
    import llvmlite.binding as llvm

    check_room(COMPILING, len(text), f"compiling '{name}'")
    # what LLVM made is given back before the lock is: a process that forks must find LLVM at rest
    with LOCK, llvm.create_context() as context:
        try:
            with llvm.parse_assembly(text, context) as module:
                module.triple = target.triple
                code: bytes = machine(target, 1 if hasty else 2).emit_object(module)
                return code
        except RuntimeError as error:
            raise DynarmError(f"LLVM refuses the code of '{name}': {error}") from error


@cache
def machine(target: Host, effort: int = 2) -> Foreign:
    """LLVM's code generator for a host; effort: what it spends on the order of instructions."""
    import llvmlite.binding as llvm

    if target.triple != native().triple:
        llvm.initialize_all_targets()
        llvm.initialize_all_asmprinters()
    return llvm.Target.from_triple(target.triple).create_target_machine(
        cpu=target.cpu, features=target.features, opt=effort, reloc="pic", codemodel="small"
    )


def library() -> dict[str, int]:
    """Addresses of the C library's functions that what all kernels share calls, by our names for them."""
    return {of_c(name): _address(name) for name in (*elementary.LIBRARY, *HEAP)}


def functions_of_c() -> dict[str, int]:
    """Addresses of those that kernels call themselves."""
    words = [op.word for op in OPERATIONS.values() if op.way is Way.LIBRARY]
    return {of_c(word): _address(word) for word in words}


@cache
def _address(function: str) -> int:
    functions = ctypes.CDLL("ucrtbase" if sys.platform == "win32" else None)
    return ctypes.cast(getattr(functions, function), ctypes.c_void_p).value or 0
