"""What all kernels share, compiled anew for every kind of host: it moves every layout, calls and computes as it should.

Other tests run what the first of them compiled; here nothing comes from a cache.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from dynarm.graph.graph import Builder, Port
from dynarm.machine import compile_graph, load_object
from dynarm.machine.abi import Table
from dynarm.machine.emit import llvm
from dynarm.machine.host import on
from dynarm.machine.load import gufunc, quick
from oracles.machine_graphs import as_tuple, random_graph, samples
from oracles.processors import KINDS
from oracles.quick_calls import entries, method


@pytest.fixture
def fresh(monkeypatch):
    """A loader of graphs for a host whose runtime is compiled now."""

    def make(target):
        exports = (gufunc.LOOP, *gufunc._services(target))
        made = llvm.linked(llvm.compile_runtime(target), "fresh", exports, llvm.library())
        monkeypatch.setattr(gufunc, "runtime", lambda _: made)

        def load(graph):
            with on(target):
                return load_object(compile_graph(graph, "f"), "f", graph.inputs, graph.outputs)

        return load

    return make


def every_third(x):
    big = np.full((3 * len(x), *x.shape[1:]), np.nan)
    big[::3] = x
    return big[::3]


def columns(x):
    return np.ascontiguousarray(np.moveaxis(x, 0, -1)).transpose(-1, *range(x.ndim - 1))


def inside_wider(x):
    big = np.full((*x.shape[:-1], x.shape[-1] + 3), np.nan)
    big[..., 1:-2] = x
    return big[..., 1:-2]


LAYOUTS = (np.array, every_third, columns, np.asfortranarray, inside_wider)


def check_layouts(f, graph) -> None:
    """Any number of samples, in any layout of inputs and outputs, nothing written beside them."""
    given = samples(graph, 41, 2)
    wanted = graph.evaluate(*given)
    for count in (41, 21, 16, 9, 2, 1):
        for layout in LAYOUTS:
            # a last sample that is not the caller's must stay as it is
            out = tuple(layout(np.full((count + 1, *y.shape[1:]), 7.0)) for y in wanted)
            f(*(layout(x[:count]) for x in given), out=tuple(y[:count] for y in out))
            for made, want in zip(out, wanted, strict=True):
                np.testing.assert_allclose(made[:count], want[:count], rtol=1e-9, atol=1e-9)
                assert (made[count:] == 7.0).all()
    some = [x[:19] for x in given]
    some[0] = given[0][4]
    repeated = [np.repeat(given[0][4:5], 19, axis=0), *some[1:]]
    for made, want in zip(as_tuple(f(*some)), graph.evaluate(*repeated), strict=True):
        np.testing.assert_allclose(made, want, rtol=1e-9, atol=1e-9)
    for made, y in zip(as_tuple(f(*(x[:0] for x in given))), wanted, strict=True):
        assert made.shape == (0, *y.shape[1:])


def angles_graph():
    """sin and cos of four angles and tanh of a fifth number."""
    b = Builder()
    x = [b.input(0, k) for k in range(5)]
    rows = [b.unary(op, v) for v in x[:4] for op in ("sin", "cos")]
    return b.finish([Port("x", (5,))], [Port("y", (9,))], [[*rows, b.unary("tanh", x[4])]])


def check_functions(f) -> None:
    rng = np.random.default_rng(1)
    x = rng.uniform(-30, 30, (41, 5))
    x[::3, :4] *= 3000
    x[20] = [1e5, -2e6, 0.0, 1e-300, -0.0]
    x[21] = [-1e-9, math.pi / 4, -math.pi / 4, 102943.5, 0.4]
    x[22:30, 4] = [1e-300, 0.01, -0.3, 0.7, 20.0, -25.0, 1e300, -np.inf]
    wanted = [[g(v) for v in row[:4] for g in (math.sin, math.cos)] for row in x]
    for count in (41, 23, 1):
        made = f(x[:count])
        exact = np.array(wanted[:count])
        assert (np.abs(made[:, :8] - exact) <= 4 * np.spacing(np.abs(exact))).all()
        exact = np.array([math.tanh(v) for v in x[:count, 4]])
        assert (np.abs(made[:, 8] - exact) <= 4 * np.spacing(np.abs(exact))).all()
        assert (np.signbit(made[:, 8]) == np.signbit(exact)).all()
    x[30:32, :] = np.nan
    with np.errstate(all="ignore"):
        made = f(x)
    assert np.isnan(made[30:32]).all() and not np.isnan(made[[29, 32]]).any()


def check_builtin(f, shapes) -> None:
    """Single samples go to the kernel itself, batches and lists to the gufunc, all else to the method."""
    call = quick.bound(f, method, None)
    asked = []

    def spy(*args, **options):
        asked.append(args)
        return f(*args, **options)

    table = entries(f)
    table[Table.UFUNC] = id(spy)
    try:
        rng = np.random.default_rng(4)
        for k in range(3):
            x, y = rng.normal(size=2), rng.normal(size=(3, 2))[:, k % 2]
            for made, want in zip(as_tuple(call(x, y)), as_tuple(f(x, y)), strict=True):
                assert made.tobytes() == want.tobytes() and made.shape == want.shape
        out = np.full(shapes[0], 7.0)
        if len(shapes) == 1:
            assert call(x, y, out=out) is out and np.array_equal(out, f(x, y))
        assert not asked, "what is a plain sample needs no gufunc"
        for given in (
            (x.tolist(), y),
            (np.stack([x] * 9), y),
            (x.astype(np.float32), y),
            (x.astype(">f8"), y),
            (x, [1, 2, 3]),
        ):
            before = len(asked)
            for made, want in zip(as_tuple(call(*given)), as_tuple(f(*given)), strict=True):
                assert np.array_equal(made, want)
            assert len(asked) == before + 1
        for given in ((x,), (x, y, y), (x, "abc"), (x, y[:2]), ([], y), (x, (1.0, 2.0, 3.0))):
            assert call(*given) == "the method"
        assert call(x, y=y) == "the method"
        before = len(asked)
        assert call(x, y, dtype=float) == call(x, y, where=np.array([True])) == "the method"
        assert len(asked) == before, "a gufunc knows such words, the method's are others"
        if len(shapes) == 1:
            before = len(asked)
            for other in (np.full((2, *shapes[0]), 7.0), np.full(shapes[0], 7, np.float32)):
                call(x, y, out=other)
                np.testing.assert_allclose(other, np.broadcast_to(f(x, y), other.shape), rtol=1e-6)
            locked = np.full(shapes[0], 7.0)
            locked.setflags(write=False)
            assert call(x, y, out=locked) == "the method" and (locked == 7.0).all()
            assert call(x, y, out=np.full((1, 1), 7.0)) == "the method"
            assert len(asked) == before + 4
    finally:
        table[Table.UFUNC] = id(f)


def pair(shapes):
    """Functions of two and of three numbers, outputs of the shapes; some are constants."""
    b = Builder()
    x, y = [b.input(0, k) for k in range(2)], [b.input(1, k) for k in range(3)]
    rows = [
        [b.add(x[k % 2], b.mul(y[k % 3], b.const(k))) if k % 4 else b.const(k) for k in range(n)]
        for n in (math.prod(shape) for shape in shapes)
    ]
    rows[0][0] = b.sub(x[0], y[2])
    return b.finish(
        [Port("x", (2,)), Port("y", (3,))],
        [Port(f"out{k}", shape) for k, shape in enumerate(shapes)],
        rows,
    )


@pytest.mark.parametrize("kind", KINDS)
def test_what_kernels_share_compiled_anew(kind, fresh):
    target = KINDS[kind]
    load = fresh(target)
    check_functions(load(angles_graph()))
    ports = ((1,), (2,), (3,), (5,), (), (2, 3, 2)), ((1,), (3,), (4, 5), (2, 2, 2), (7,), (2,))
    graph = random_graph(3, 60, *ports)
    check_layouts(load(graph), graph)
    for shapes in (((2, 11),), ((), (3,), (2, 3, 4))):
        graph = pair(shapes)
        f = load(graph)
        check_layouts(f, graph)
        if quick._known() is not None:
            check_builtin(f, shapes)


@pytest.mark.parametrize("kind", [k for k, host in KINDS.items() if host.fused])
def test_outputs_past_the_caches_compiled_anew(kind, fresh):
    target = KINDS[kind].tuned(past_caches=512, stack=1024, woven=KINDS[kind].width > 1)
    load = fresh(target)
    graph = pair(((5,), (2, 11)))
    check_layouts(load(graph), graph)
    graph = random_graph(5, 40, ((4,), (5,)), ((5,), (7,)), ("add", "mul", "sub", "sin"))
    check_layouts(load(graph), graph)
