"""From a graph to machine code to a NumPy gufunc."""

from __future__ import annotations

from .emit.llvm import compile_graph, instructions
from .load import cache
from .load.gufunc import begin, load_object

__all__ = ["begin", "cache", "compile_graph", "instructions", "load_object"]
