"""From a recipe to a NumPy gufunc: look in the cache, else trace, compile and store. The one way to machine code.

What is remembered of a compiled function between a call and the disk, from the fastest on:

    memory              where           by            what it saves
    a model's own       model/          its name      the hash of the recipe, and for its builtin NumPy's dispatch:
                                                      each call
    kernels alive       `_living`       recipe, host  reading and linking the object again where another model of the
                                                      same robot has it; holds nothing alive itself
    the latest kernels  `_latest`       -             the same after the last model has gone, as in a loop that makes
                                                      models; looked up in `_living`
    entries             `cache._memory` recipe, host  compiling again; only of entries that no disk takes
    the disk            `cache`         recipe, host  tracing and compiling in the next process

What all kernels of a host share is there once for each host (`gufunc._RUNTIMES`), for good: every kernel points to it.
"""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from weakref import WeakValueDictionary

import numpy as np

from ...border.kinds import Json
from ...graph.graph import Graph, Port
from .. import begin, compile_graph, instructions, load_object
from . import cache


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Kernel:
    """A compiled function and what was noted when it was traced."""

    ufunc: np.ufunc
    notes: Json = field(default_factory=dict)


REMEMBERED = 32  # kernels, about those of one robot, that live on when no model holds them
_living: WeakValueDictionary[str, Kernel] = WeakValueDictionary()
_latest: OrderedDict[str, Kernel] = OrderedDict()
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
    recipe: Sequence[cache.Part],
    name: str,
    inputs: Sequence[Port],
    outputs: Sequence[Port],
    build: Callable[[], tuple[Graph, Json]],
) -> Kernel:
    """The compiled function of a recipe. `build` is called only where no cache holds it.

    The recipe (whatever `cache.digest` takes) must determine the graph; `build` returns the graph and notes that JSON
    can hold.
    """
    key = cache.digest(name, *recipe)
    with _lock:
        known = _recalled(key)
        if known is not None:
            return known
        turn = _turns.setdefault(key, threading.RLock())
    try:
        with turn:
            with _lock:
                known = _recalled(key)
            if known is None:
                entry, doc = _entry(key, name, build), _describe(name, inputs, outputs)
                known = Kernel(load_object(entry.code, name, inputs, outputs, doc), entry.meta)
            with _lock:
                _remember(key, known)
    finally:
        _turns.pop(key, None)
    return known


def _recalled(key: str) -> Kernel | None:
    known = _living.get(key)
    if known is not None:
        _remember(key, known)
    return known


def _remember(key: str, made: Kernel) -> None:
    """Keep a kernel as the latest one that was asked for."""
    _latest[key] = _living[key] = made
    _latest.move_to_end(key)
    while len(_latest) > REMEMBERED:
        _latest.popitem(last=False)


def _entry(key: str, name: str, build: Callable[[], tuple[Graph, Json]]) -> cache.Entry:
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
    recipe: Sequence[cache.Part],
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
