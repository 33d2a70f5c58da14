"""From a recipe to a NumPy gufunc: look in the cache, else trace, compile and store. The one way to machine code."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .graph import Graph, Port
from .machine import cache, compile_graph, instructions, load_object


@dataclass(frozen=True, slots=True)
class Kernel:
    """A compiled function and what was noted when it was traced."""

    ufunc: np.ufunc
    notes: Mapping[str, Any] = field(default_factory=dict)


_kernels: dict[str, Kernel] = {}
_lock = threading.RLock()


def kernel(
    recipe: Sequence[Any],
    name: str,
    inputs: Sequence[Port],
    outputs: Sequence[Port],
    build: Callable[[], tuple[Graph, Mapping[str, Any]]],
) -> Kernel:
    """The compiled function of a recipe. `build` is called only where no cache holds it.

    The recipe (anything with a faithful repr) must determine the graph; `build` returns the graph and notes that
    JSON can hold.
    """
    key = cache.digest(name, *recipe)
    with _lock:
        found = _kernels.get(key)
        if found is None:
            entry = cache.load(key)
            if entry is None:
                graph, notes = build()
                notes = {**notes, "instructions": instructions(graph)}
                entry = cache.Entry(notes, compile_graph(graph, name))
                cache.store(key, entry)
            ufunc = load_object(entry.code, name, inputs, outputs, _describe(name, inputs, outputs))
            found = _kernels[key] = Kernel(ufunc, entry.meta)
        return found


def function(
    recipe: Sequence[Any],
    name: str,
    inputs: Sequence[Port],
    outputs: Sequence[Port],
    build: Callable[[], Graph],
) -> np.ufunc:
    """The gufunc of a recipe whose build returns the graph alone."""
    return kernel(recipe, name, inputs, outputs, lambda: (build(), {})).ufunc


def _describe(name: str, inputs: Sequence[Port], outputs: Sequence[Port]) -> str:
    given = ", ".join(f"{p.name} {p.shape}" for p in inputs)
    made = ", ".join(f"{p.name} {p.shape}" for p in outputs)
    return f"{name}: {given} -> {made}; batch axes lead"
