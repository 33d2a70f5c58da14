"""Builtins around kernels: processors, kernels and hosts, those that have none among them."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from dynarm.graph.graph import Builder, Port
from dynarm.machine.abi import Array
from dynarm.machine.host import host, on
from dynarm.machine.load import quick
from oracles.machine_graphs import newton_euler_graph, samples
from oracles.processors import VECTORS
from oracles.quick_calls import loaded, method, outcome

pytestmark = pytest.mark.skipif(quick._known() is None, reason="this host has no builtins")


def other(self, *args):
    return "the other"


def test_processors(target):
    """The code for every kind of processor, with constants among the outputs and results of every rank."""
    b = Builder()
    x = [b.input(0, k) for k in range(2)]
    y = [b.input(1, k) for k in range(3)]
    shapes = ((), (3,), (2, 5), (2, 3, 4))
    rows = [
        [b.add(x[k % 2], b.mul(y[k % 3], b.const(k))) if k % 4 else b.const(k) for k in range(size)]
        for size in (1, 3, 10, 24)
    ]
    rows[0] = [b.unary("sin", x[0])]
    ports = [Port(f"out{k}", shape) for k, shape in enumerate(shapes)]
    ufunc = loaded(b.finish([Port("x", (2,)), Port("y", (3,))], ports, rows), target)
    call = quick.bound(ufunc, method, None)
    given = [np.random.default_rng(k).normal(size=(9, 2 + k)) for k in range(2)]
    whole = ufunc(*given)
    for k in range(9):
        found = call(*(a[k] for a in given))
        assert type(found) is tuple and type(found[0]) is np.float64
        assert [a.tobytes() for a in found] == [a[k].tobytes() for a in whole]
    assert call(1, 2) == call(given[0][0], y=0) == "the method"
    assert [a.shape for a in call(*given)] == [(9, *shape) for shape in shapes]


def test_kernels_that_have_none(monkeypatch):
    graph = newton_euler_graph(3)
    served = loaded(graph)
    assert quick.bound(served, method, None) and quick.bound(served, method, 3)
    assert quick.bound(served, other, None) is None, "it serves another method"
    assert quick.bound(np.add, method, None) is None, "not ours"
    b = Builder()
    number = b.finish([Port("x", ())], [Port("y", ())], [[b.unary("sin", b.input(0, 0))]])
    assert quick.bound(loaded(number), method, None) is None, "an array of one is a batch to it"
    square = b.finish([Port("x", (2, 2))], [Port("y", ())], [[b.input(0, 3)]])
    assert quick.bound(loaded(square), method, None) is None, "nor is a matrix a vector"
    vectors = next(iter(VECTORS.values())).tuned(huge=10)
    huge = loaded(graph, vectors)  # vectors alone are compiled
    assert quick.bound(huge, method, None) is None, "no scalar kernel"
    assert np.array_equal(huge(*samples(graph, 1)), served(*samples(graph, 1)))
    with on(host().tuned(stack=64)):
        assert quick.bound(served, method, None) is None, "a workspace too large for the stack"
    with monkeypatch.context() as less:
        less.setattr(quick, "_agree", lambda *_: False)
        assert quick.bound(served, method, None) is None, "another result than the gufunc's"


def elsewhere(**moved: int) -> SimpleNamespace:
    """Arrays whose fields lie where NumPy's header does not say."""
    return SimpleNamespace(**{field.name: field for field in Array} | moved)


STRANGE = {
    "implementation": (quick.platform, "python_implementation", lambda: "PyPy"),
    "system": (quick.platform, "system", lambda: "Windows"),
    "processor": (quick.platform, "machine", lambda: "riscv64"),
    "no lock": (quick.sys, "abiflags", "t"),
    "array's data": (quick, "Array", elsewhere(DATA=Array.SHAPE)),
    "array's axes": (quick, "Array", elsewhere(NDIM=Array.FLAGS)),
    "array's flags": (quick, "Array", elsewhere(FLAGS=Array.NDIM)),
    "array's shape": (quick, "Array", elsewhere(SHAPE=Array.STRIDES)),
    "array's elements": (quick, "Array", elsewhere(DESCR=Array.BASE)),
    "kind": (quick, "KIND", 32),
    "header": (quick, "_ARRAY_FUNCTIONS", {"PyArray_FromNothing": 94}),
    "function": (quick, "_PYTHON", ["PyObject_CallNothing"]),
    "flags too many": (quick, "_RAISED", dict.fromkeys(quick._RAISED, 0x3F)),
    "flags too few": (quick, "_RAISED", dict.fromkeys(quick._RAISED, 0x01)),
    "table": (quick.np, "ndarray", np.matrix),
}


@pytest.mark.parametrize("what", STRANGE)
def test_hosts_that_differ_have_none(monkeypatch, what):
    with monkeypatch.context() as changed:
        changed.setattr(*STRANGE[what])
        assert quick._known.__wrapped__() is None
    assert quick._known.__wrapped__() == quick._known()


def test_without_headers_the_usual_places_are_taken(monkeypatch, tmp_path):
    usual = {name: quick._index(name, 0) for name in quick._ARRAY_FUNCTIONS}
    assert usual == quick._ARRAY_FUNCTIONS
    monkeypatch.setattr(quick.np, "get_include", lambda: str(tmp_path))
    assert quick._array_functions()["PyArray_NewFromDescr"] in quick._known()


def test_division_by_zero():
    b = Builder()
    quotients = [b.div(b.input(0, 0), b.input(0, k)) for k in range(2)]
    graph = b.finish([Port("x", (2,))], [Port("y", (2,))], [quotients])
    ufunc = loaded(graph)
    call = quick.bound(ufunc, method, None)
    for given in ([1.0, 0.0], [0.0, 0.0], [1.0, 3.0]):
        for manner in ("raise", "warn", "ignore"):
            with np.errstate(all=manner):
                assert outcome(call, np.array(given)) == outcome(ufunc, np.array(given))
