"""From a recipe to a NumPy gufunc: look in the cache, else trace, compile and store. The one way to machine code."""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from ...graph.graph import Graph, Port
from .. import begin, compile_graph, instructions, load_object
from . import cache


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Kernel:
    """A compiled function and what was noted when it was traced."""

    ufunc: np.ufunc
    notes: Mapping[str, Any] = field(default_factory=dict)


REMEMBERED = 32  # kernels, about those of one robot, that live on when no model holds them
_kernels: OrderedDict[str, Kernel] = OrderedDict()
_living: WeakValueDictionary[str, Kernel] = WeakValueDictionary()  # all that some model holds
# Who compiles what: others that want the same wait, the rest do not.
_turns: dict[str, threading.RLock] = {}
_lock = threading.RLock()


def _begin_anew() -> None:
    """After a fork: what other threads of the parent were doing is not going on here."""
    global _lock
    _lock = threading.RLock()
    _turns.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)


def kernel(
    recipe: Sequence[Any],
    name: str,
    inputs: Sequence[Port],
    outputs: Sequence[Port],
    build: Callable[[], tuple[Graph, Mapping[str, Any]]],
) -> Kernel:
    """The compiled function of a recipe. `build` is called only where no cache holds it.

    The recipe (whatever `cache.digest` takes) must determine the graph; `build` returns the graph and notes that JSON
    can hold.
    """
    key = cache.digest(name, *recipe)
    with _lock:
        found = _recalled(key)
        if found is not None:
            return found
        turn = _turns.setdefault(key, threading.RLock())
    try:
        with turn:
            with _lock:
                found = _recalled(key)
            if found is None:
                entry, doc = _entry(key, name, build), _describe(name, inputs, outputs)
                found = Kernel(load_object(entry.code, name, inputs, outputs, doc), entry.meta)
            with _lock:
                _remember(key, found)
    finally:
        _turns.pop(key, None)
    return found


def _recalled(key: str) -> Kernel | None:
    found = _kernels.get(key) or _living.get(key)
    if found is not None:
        _remember(key, found)
    return found


def _remember(key: str, found: Kernel) -> None:
    """Keep a kernel as the latest one that was asked for."""
    _kernels[key] = _living[key] = found
    _kernels.move_to_end(key)
    while len(_kernels) > REMEMBERED:
        _kernels.popitem(last=False)


def _entry(
    key: str, name: str, build: Callable[[], tuple[Graph, Mapping[str, Any]]]
) -> cache.Entry:
    """Object code and notes, from the cache or made now."""
    entry = cache.load(key)
    if entry is None:
        begin()
        graph, notes = build()
        notes = {**notes, "instructions": instructions(graph)}
        entry = cache.Entry(notes, compile_graph(graph, name))
        cache.store(key, entry)
    return entry


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
