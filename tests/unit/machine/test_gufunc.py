"""Gufuncs: what NumPy sees of a compiled function, what it refuses, and what it keeps alive."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
import weakref

import numpy as np
import pytest

from dynarm.errors import DynarmError
from dynarm.graph.graph import Builder, Port
from dynarm.graph.ops import OPERATIONS
from dynarm.machine import compile_graph, instructions, load_object
from dynarm.machine.abi import TABLE
from dynarm.machine.emit.llvm import assembled, linked
from dynarm.machine.host import host
from dynarm.machine.load import gufunc
from dynarm.machine.load.gufunc import inner_loop, signature
from oracles.machine_graphs import as_tuple, newton_euler_graph, random_graph, samples


@pytest.fixture(scope="module")
def torque() -> np.ufunc:
    graph = newton_euler_graph()
    return load_object(
        compile_graph(graph, "torque"), "torque", graph.inputs, graph.outputs, "tau [N m]"
    )


def batch(*shape: int) -> list[np.ndarray]:
    return [np.random.default_rng(k).uniform(-2, 2, shape) for k in range(3)]


def test_what_numpy_sees(torque):
    assert isinstance(torque, np.ufunc)
    assert (torque.__name__, torque.signature) == ("torque", "(7),(7),(7)->(7)")
    assert (torque.nin, torque.nout, torque.types) == (3, 1, ["ddd->d"])
    assert "tau [N m]" in torque.__doc__


def test_signatures():
    ports = Port("q", (3,)), Port("w", ()), Port("M", (3, 3))
    assert signature(ports, ports[2:]) == "(3),(),(3,3)->(3,3)"


def test_several_outputs_of_every_rank(build):
    graph = random_graph(11, 40, ((2,), ()), ((), (3,), (2, 2), (2, 3, 2)))
    inputs = samples(graph, 12)
    found = build(graph)(*inputs)
    assert [y.shape for y in found] == [(12,), (12, 3), (12, 2, 2), (12, 2, 3, 2)]
    for y, expected in zip(found, graph.evaluate(*inputs), strict=True):
        np.testing.assert_allclose(y, expected, rtol=1e-9, atol=1e-9)


def test_broadcasting(torque):
    q, qd, qdd = batch(4, 5, 7)
    found = torque(q, qd[:, :1], qdd[0, 0])
    assert found.shape == (4, 5, 7)
    np.testing.assert_array_equal(found[2, 3], torque(q[2, 3], qd[2, 0], qdd[0, 0]))


@pytest.mark.parametrize("shape", [(0, 7), (3, 0, 7)])
def test_empty_batches(torque, shape):
    assert torque(*batch(*shape)).shape == shape


def test_other_dtypes_are_computed_in_double(torque):
    q, qd, qdd = batch(9, 7)
    narrow = q.astype(np.float32)
    found = torque(narrow, qd, qdd)
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found, torque(narrow.astype(float), qd, qdd))
    whole = np.arange(7)
    np.testing.assert_array_equal(torque(whole, qd, qdd), torque(whole.astype(float), qd, qdd))


@pytest.mark.parametrize("count", [1, 5, 8, 100])
@pytest.mark.parametrize("which", range(3))
def test_the_output_may_be_an_input(torque, count, which):
    given = batch(count, 7)
    expected = torque(*given)
    assert torque(*given, out=given[which]) is given[which]
    np.testing.assert_array_equal(given[which], expected)


def test_the_output_may_overlap_an_input(torque):
    memory = np.random.default_rng(0).uniform(-1, 1, 60 * 7 + 3)
    q, out = memory[: 50 * 7].reshape(50, 7), memory[73 : 73 + 50 * 7].reshape(50, 7)
    expected = torque(q.copy(), q.copy(), q.copy())
    np.testing.assert_array_equal(torque(q, q, q, out=out), expected)


def test_wrong_lengths_are_numpy_s_to_refuse(torque):
    with pytest.raises(ValueError, match="mismatch"):
        torque(np.zeros(6), np.zeros(7), np.zeros(7))


def test_code_for_other_ports_is_refused():
    graph = newton_euler_graph(2)
    code = compile_graph(graph, "two")
    with pytest.raises(DynarmError, match=r"other inputs and outputs than \(3\)"):
        load_object(code, "two", [Port("q", (3,))] * 3, [Port("tau", (3,))])
    with pytest.raises(DynarmError, match="other inputs"):
        load_object(code, "two", graph.inputs[:2], graph.outputs)


def test_text_that_llvm_refuses_is_our_error():
    with pytest.raises(DynarmError, match="LLVM refuses the code of 'nonsense'"):
        assembled("define nothing", "nonsense", host())


def test_a_ufunc_owns_what_it_points_to(monkeypatch):
    """Its machine code goes when it goes, and not before."""
    owners = []

    class Owner:
        def __init__(self, tracker):
            self.tracker = tracker
            owners.append(weakref.ref(self))

        def __getitem__(self, name: str) -> int:
            return self.tracker[name]

    monkeypatch.setattr(gufunc, "linked", lambda *args: Owner(linked(*args)))
    graph = newton_euler_graph(2)
    f = load_object(compile_graph(graph, "short-lived"), "short-lived", graph.inputs, graph.outputs)
    del graph
    gc.collect()
    assert owners[-1]() is not None and f(*batch(9, 2)).shape == (9, 2)
    del f
    gc.collect()
    assert owners[-1]() is None


def test_many_come_and_go():
    """Loading, calling and dropping in turn: names, documentation and code of the living stay intact."""
    graph = newton_euler_graph(1)
    code = compile_graph(graph, "one")
    given = batch(3, 1)
    alive = []
    for k in range(60):
        f = load_object(code, f"one{k}", graph.inputs, graph.outputs, f"number {k}")
        if k % 7 == 0:
            alive.append((k, f))
    gc.collect()
    expected = graph.evaluate(*given)[0]
    for k, f in alive:
        assert f.__name__ == f"one{k}" and f"number {k}" in f.__doc__
        np.testing.assert_allclose(f(*given), expected, atol=1e-14)


def test_the_inner_loop_is_known(torque):
    loop, data = inner_loop(torque)
    assert loop and data
    assert inner_loop(np.add) is None


@pytest.mark.parametrize("what", ["table", "header", "result"])
def test_a_numpy_that_differs_is_refused_in_words(monkeypatch, what):
    if what == "table":
        monkeypatch.setattr(gufunc.np, "ufunc", float)
    elif what == "header":
        monkeypatch.setattr(gufunc, "_MAKER", "PyUFunc_FromNothing")
    else:
        monkeypatch.setattr(gufunc, "_halves", gufunc._Loop(lambda *_: None))
    with pytest.raises(DynarmError, match=f"NumPy {np.__version__} keeps its table"):
        gufunc._maker.__wrapped__()


def test_the_place_of_the_maker_is_read_from_numpy_s_header():
    assert gufunc._index() == 31


def test_instructions_are_those_of_the_program():
    b = Builder()
    x, y = b.input(0, 0), b.input(0, 1)
    graph = b.finish([Port("x", (2,))], [Port("y", ())], [[b.add(b.mul(x, y), b.unary("sin", x))]])
    assert instructions(graph) == OPERATIONS["sin"].instructions + (1 if host().fused else 2)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
def test_a_process_that_forks_while_another_thread_compiles():
    """The child can compile: it does not wait for a lock that nobody in it will release."""
    code = """
import os, sys, threading, warnings
sys.path[:0] = {path!r}
warnings.simplefilter("ignore")
from oracles.machine_graphs import newton_euler_graph
from dynarm.machine import compile_graph
graph, stop = newton_euler_graph(4), threading.Event()
def work():
    while not stop.is_set():
        compile_graph(graph, "again")
compile_graph(graph, "first")
thread = threading.Thread(target=work)
thread.start()
for _ in range(5):
    child = os.fork()
    if child == 0:
        os._exit(7 if compile_graph(graph, "child") else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
stop.set()
thread.join()
print("all came back")
"""
    run = subprocess.run(
        [sys.executable, "-c", code.format(path=[p for p in sys.path if p])],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert run.stdout.strip() == "all came back", run.stderr[-1000:]


def test_threads_compile_and_load_at_once():
    graphs = [newton_euler_graph(n) for n in (1, 2, 3, 4)]
    wrong: list[int] = []

    def work(k: int) -> None:
        graph = graphs[k % 4]
        f = load_object(compile_graph(graph, "f"), "f", graph.inputs, graph.outputs)
        inputs = samples(graph, 9, k)
        if not np.allclose(f(*inputs), graph.evaluate(*inputs)[0], atol=1e-12):
            wrong.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(12)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_objects_export_their_table_and_nothing_else_is_needed(torque):
    """Kernels call nothing but the functions that every host provides."""
    graph = newton_euler_graph(2)
    code = compile_graph(graph, "pair")
    run = gufunc.runtime(host())
    owner = linked(code, "pair", (TABLE,), {s: run[s] for s in gufunc._services(host())})
    assert owner[TABLE] % 8 == 0
    assert as_tuple(torque(*batch(2, 7)))[0].shape == (2, 7)
