"""What callers can see of a call, and which way it takes: for the tests of methods that are builtins."""

from __future__ import annotations

import ctypes
import warnings

import numpy as np

import dynarm
from dynarm.graph.graph import Graph
from dynarm.machine import compile_graph, load_object
from dynarm.machine.abi import Table
from dynarm.machine.host import Host
from dynarm.machine.load.gufunc import inner_loop
from dynarm.model.model import Model
from dynarm.plan.quantities import QUANTITIES
from dynarm.robot.frames.generic import generic_arm
from oracles.machine_graphs import as_tuple

STATE = {name: len(quantity.state) for name, quantity in QUANTITIES.items()}
FEW = ("inverse_dynamics", "mass_matrix", "kinetic_energy", "mass_matrix_and_bias")
OVERFLOWS = np.full(3, 1e200)


def three_joints() -> Model:
    """A model all of whose functions are compiled, so that its methods are builtins."""
    found = dynarm.compile(generic_arm(3))
    for name in QUANTITIES:
        assert found.functions[name]
    return found


class Watch:
    """Counts the calls of a builtin that go on to the gufunc (and those that go on to the method)."""

    def __init__(self, model: Model, name: str):
        ufunc, method = model.kernel(name).ufunc, getattr(Model, name).__wrapped__
        self.table = entries(ufunc)
        self.counts = [0, 0]

        def by_ufunc(*args, **options):
            self.counts[0] += 1
            return ufunc(*args, **options)

        def by_method(*args, **options):
            self.counts[1] += 1
            return method(*args, **options)

        self.spies = by_ufunc, by_method
        self.places = list(zip((Table.UFUNC, Table.METHOD), (ufunc, method), strict=True))

    def __enter__(self) -> list[int]:
        for (place, _), spy in zip(self.places, self.spies, strict=True):
            self.table[place] = id(spy)
        return self.counts

    def __exit__(self, *_: object) -> None:
        for place, true in self.places:
            self.table[place] = id(true)


def entries(ufunc: np.ufunc) -> ctypes.Array:
    return (ctypes.c_int64 * Table.PORTS).from_address(
        inner_loop(getattr(ufunc, "ufunc", ufunc))[1]
    )


def ordinary(model: Model, name: str, *args, **options):
    """What the method itself does."""
    return getattr(Model, name).__wrapped__(model, *args, **options)


def outcome(call, *args, **options) -> tuple:
    """All that a caller can see of a call: types, shapes, bits, exceptions and warnings."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            found = call(*args, **options)
        except Exception as error:
            return type(error), str(error), texts(said)
    parts = [(type(x), x.shape, x.dtype, x.tobytes(), x.flags.num) for x in as_tuple(found)]
    return type(found), parts, texts(said)


def texts(said: list) -> list[tuple]:
    return [(w.category, str(w.message)) for w in said]


def loaded(graph: Graph, target: Host | None = None) -> np.ufunc:
    """A gufunc from a graph, for this host or a smaller one."""
    code = compile_graph(graph, "f", target)
    return load_object(code, "f", graph.inputs, graph.outputs, "", target)


def method(self, *args, **options) -> str:
    """The method to which calls are left that the gufunc refuses."""
    return "the method"
