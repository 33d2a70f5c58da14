"""Machine code for this host from LLVM text, and its way into the process. The only door to llvmlite."""

from __future__ import annotations

import ctypes
import itertools
import os
import sys
import threading
from collections.abc import Mapping
from functools import cache
from typing import Any

from ..errors import DynarmError
from ..graph import Graph
from . import elementary, fusion
from .host import Host, host, native
from .kernel import kernel_text
from .loop import HEAP, runtime_text
from .program import program_of

# LLVM is entered by one thread at a time, and by none while the process forks: a child would wait for it forever.
LOCK = threading.RLock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=LOCK.acquire, after_in_parent=LOCK.release, after_in_child=LOCK.release
    )
_NUMBERS = itertools.count()


def processor() -> tuple[str, str, dict[str, bool]]:
    """This machine as LLVM names it, its processor, and which features that has."""
    import llvmlite.binding as llvm

    with LOCK:
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
    program = program_of(graph, target.fused, target.registers)
    text = kernel_text(program, graph.inputs, graph.outputs, target)
    return assembled(text, name, target)


def instructions(graph: Graph) -> int:
    """Vector arithmetic instructions that a block of samples takes; moving and rearranging data not counted."""
    code, _ = fusion.instructions(graph, host().fused)
    angles = {node.args[0] for node in graph.nodes if node.op in ("sin", "cos")}
    return (
        len(code)
        + elementary.SINCOS * len(angles)
        + elementary.TANH * sum(node.op == "tanh" for node in graph.nodes)
    )


def compile_runtime(target: Host) -> bytes:
    """An object file for this host: the loop that runs every kernel, and the functions that kernels call."""
    return assembled(runtime_text(target), "runtime", target)


def assembled(text: str, name: str, target: Host) -> bytes:
    """The object file of a module given as text; it is written as it shall run, no optimising pass looks at it."""
    import llvmlite.binding as llvm

    # what LLVM made is given back before the lock is: a process that forks must find LLVM at rest
    with LOCK, llvm.create_context() as context:
        try:
            with llvm.parse_assembly(text, context) as module:
                module.triple = target.triple
                return _machine(target).emit_object(module)
        except RuntimeError as error:
            raise DynarmError(f"LLVM refuses the code of '{name}': {error}") from error


@cache
def _machine(target: Host) -> Any:
    import llvmlite.binding as llvm

    if target.triple != native().triple:
        llvm.initialize_all_targets()
        llvm.initialize_all_asmprinters()
    return llvm.Target.from_triple(target.triple).create_target_machine(
        cpu=target.cpu, features=target.features, opt=2, reloc="pic", codemodel="small"
    )


def linked(code: bytes, name: str, exports: tuple[str, ...], imports: Mapping[str, int]) -> Any:
    """An object file in executable memory: a mapping of exported names to addresses, alive as long as it is kept."""
    import llvmlite.binding as llvm

    with LOCK:
        builder = llvm.JITLibraryBuilder().add_object_img(code)
        for symbol in exports:
            builder.export_symbol(symbol)
        for symbol, address in imports.items():
            builder.import_symbol(symbol, address)
        try:
            return builder.link(_jit(), f"dynarm{next(_NUMBERS)}")
        except RuntimeError as error:
            raise DynarmError(f"LLVM cannot load the code of '{name}': {error}") from error


@cache
def _jit() -> Any:
    import llvmlite.binding as llvm

    native()  # whoever is asked for it makes LLVM ready
    return llvm.create_lljit_compiler()


@cache
def library() -> dict[str, int]:
    """Addresses of the C library's functions that compiled code calls, by our names for them."""
    found = ctypes.CDLL("ucrtbase" if sys.platform == "win32" else None)
    return {
        name: ctypes.cast(getattr(found, function), ctypes.c_void_p).value or 0
        for name, function in {**elementary.LIBRARY, **HEAP}.items()
    }
