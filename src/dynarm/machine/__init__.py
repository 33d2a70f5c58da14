"""From a graph to machine code to a NumPy gufunc."""

from __future__ import annotations

from . import cache
from .gufunc import begin, load_object
from .llvm import compile_graph, instructions

__all__ = ["begin", "cache", "compile_graph", "instructions", "load_object"]
