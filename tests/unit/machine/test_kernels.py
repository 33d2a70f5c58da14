"""Machine code: it computes what its program says, to the last bit, and the same bits for every shape of a batch."""

from __future__ import annotations

import ctypes
import subprocess
import sys
import threading

import numpy as np
import pytest

from dynarm.errors import KindError
from dynarm.graph.graph import Builder, Port
from dynarm.machine import compile_graph, load_object
from dynarm.machine.emit import llvm
from dynarm.machine.host import USUAL, host
from dynarm.machine.load import gufunc
from dynarm.machine.lower.program import program_of
from oracles.machine_graphs import (
    ARITHMETIC,
    as_tuple,
    newton_euler_graph,
    random_graph,
    run_program,
    samples,
)
from oracles.processors import KINDS, VECTORS, WIDTHS, WOVEN

COUNTS = (1, 2, 3, 7, 8, 9, 15, 16, 17, 40)


@pytest.mark.parametrize("seed", range(6))
def test_every_operation_is_rounded_as_the_program_says(seed, target, build):
    graph = random_graph(seed, 80, ops=(*ARITHMETIC, "add"))
    inputs = samples(graph, 17, seed)
    program = program_of(graph, target.fused, target.tuning)
    found = as_tuple(build(graph, target)(*inputs))
    for k in range(17):
        slots = run_program(program, [x[k] for x in inputs])
        for places, y in zip(program.outputs, found, strict=True):
            np.testing.assert_array_equal(y[k].ravel(), [slots[p] for p in places])


@pytest.mark.parametrize("seed", range(20))
def test_random_graphs_agree_with_their_own_evaluation(seed, build):
    target = list(KINDS.values())[seed % len(KINDS)]
    graph = random_graph(seed, 60, inputs=((3,), (), (2, 2)), outputs=((), (5,), (2, 3)))
    inputs = samples(graph, 37, seed)
    for found, expected in zip(
        as_tuple(build(graph, target)(*inputs)), graph.evaluate(*inputs), strict=True
    ):
        assert found.shape == expected.shape
        scale = np.maximum(1, np.abs(expected))
        assert np.all(np.abs(found - expected) <= 1e-9 * scale)


def test_inverse_dynamics_agrees_with_its_own_evaluation(target, build):
    graph = newton_euler_graph()
    inputs = samples(graph, 100, scale=3)
    (expected,) = graph.evaluate(*inputs)
    found = build(graph, target)(*inputs)
    assert np.abs(found - expected).max() <= 1e-13 * np.abs(expected).max()


# ---- the same bits


GRAPHS = {
    "inverse dynamics": newton_euler_graph,
    "many ports": lambda: random_graph(
        3, 80, ((1,), (2,), (3,), (5,), ()), ((1,), (3,), (4, 5), ())
    ),
    "long": lambda: newton_euler_graph(40),
}


def test_the_long_case_is_worked_through_in_tiles(target):
    assert program_of(GRAPHS["long"](), target.fused, target.tuning).tile(target.tuning) > 1


def named(parts: tuple[str, str]) -> str:
    return f"{parts[0]}: {parts[1]}"


@pytest.fixture(
    scope="module",
    params=[(k, name) for name in GRAPHS for k in (WIDTHS if name == "long" else KINDS)],
    ids=named,
)
def case(request):
    """(compiled function, a batch of inputs, what they give in one go), of every graph for every kind of host."""
    kind, name = request.param
    graph, target = GRAPHS[name](), KINDS[kind]
    f = load_object(
        compile_graph(graph, name, target), "made", graph.inputs, graph.outputs, "", target
    )
    inputs = samples(graph, 1000, 5, 2.0)
    return f, inputs, as_tuple(f(*inputs))


def same(found, expected) -> bool:
    """Equality of bits, so that -0 is not 0 and a NaN is itself."""
    return all(
        np.array_equal(
            np.ascontiguousarray(a).view(np.int64), np.ascontiguousarray(b).view(np.int64)
        )
        for a, b in zip(as_tuple(found), expected, strict=True)
    )


@pytest.mark.parametrize("count", COUNTS)
def test_same_bits_for_any_number_of_samples(case, count):
    f, inputs, expected = case
    assert same(f(*(x[:count] for x in inputs)), [y[:count] for y in expected])
    assert same(f(*(x[3 : 3 + count] for x in inputs)), [y[3 : 3 + count] for y in expected])


def test_same_bits_one_by_one(case):
    f, inputs, expected = case
    for k in (0, 1, 17, 999):
        assert same(f(*(x[k] for x in inputs)), [y[k] for y in expected])


def test_same_bits_for_any_shape(case):
    f, inputs, expected = case

    def shaped(x):
        return x.reshape(5, 8, 25, *x.shape[1:])

    assert same(f(*map(shaped, inputs)), list(map(shaped, expected)))


def _fortran(x):
    return np.asfortranarray(x)


def _columns_first(x):
    """(n, N) memory seen as (N, n)."""
    return np.ascontiguousarray(np.moveaxis(x, 0, -1)).transpose(-1, *range(x.ndim - 1))


def _every_third(x):
    big = np.full((3 * len(x), *x.shape[1:]), np.nan)
    big[::3] = x
    return big[::3]


def _backwards(x):
    return np.ascontiguousarray(x[::-1])[::-1]


def _inside_wider(x):
    """Rows that are parts of longer rows, at an offset."""
    big = np.full((len(x), *x.shape[1:-1], x.shape[-1] + 3), np.nan) if x.ndim > 1 else None
    if big is None:
        return _every_third(x)
    big[..., 1:-2] = x
    return big[..., 1:-2]


def _elements_backwards(x):
    return np.ascontiguousarray(x[..., ::-1])[..., ::-1] if x.ndim > 1 else _backwards(x)


def _misaligned(x):
    raw = np.empty(x.nbytes + 1, np.uint8)[1:]
    y = raw.view(np.float64).reshape(x.shape) if x.nbytes else x
    y[...] = x
    return y


LAYOUTS = (
    _fortran,
    _columns_first,
    _every_third,
    _backwards,
    _inside_wider,
    _elements_backwards,
    _misaligned,
)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("count", [8, 21])
def test_same_bits_for_any_layout(case, layout, count):
    f, inputs, expected = case
    expected = [y[:count] for y in expected]
    given = [layout(x[:count]) for x in inputs]
    assert same(f(*given), expected)
    out = tuple(layout(np.full_like(y, np.nan)) for y in expected)
    f(*given, out=out)
    assert same(out, expected)


def test_same_bits_in_any_order(case):
    f, inputs, expected = case
    order = np.random.default_rng(0).permutation(1000)
    assert same(f(*(x[order] for x in inputs)), [y[order] for y in expected])


def test_broadcast_inputs_give_the_bits_of_repeated_ones(case):
    f, inputs, _ = case
    for fixed in range(len(inputs)):
        mixed = [x[:19] for x in inputs]
        mixed[fixed] = inputs[fixed][4]
        repeated = [np.array(x) for x in mixed]
        repeated[fixed] = np.repeat(inputs[fixed][4:5], 19, axis=0)
        assert same(f(*mixed), as_tuple(f(*repeated)))
    assert same(
        f(*(x[:1] for x in inputs[:-1]), inputs[-1][:9]),
        as_tuple(f(*(np.repeat(x[:1], 9, axis=0) for x in inputs[:-1]), inputs[-1][:9])),
    )


def test_eight_threads_at_once(case):
    f, inputs, expected = case
    wrong = []

    def work(k: int) -> None:
        part = slice(37 * k, 37 * k + 300)
        for _ in range(5):
            if not same(f(*(x[part] for x in inputs)), [y[part] for y in expected]):
                wrong.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


@pytest.mark.parametrize("name", ["inverse dynamics", "many ports"])
def test_kinds_that_round_alike_give_the_same_bits_and_others_nearly(name, build):
    """Whether multiply-adds are fused decides about the last bits, and nothing else of a host does."""
    graph = GRAPHS[name]()
    inputs = samples(graph, 21)
    made = {k: as_tuple(build(graph, kind)(*inputs)) for k, kind in KINDS.items()}
    first: dict[bool, tuple] = {}
    for k, kind in KINDS.items():
        assert same(made[k], first.setdefault(kind.fused, made[k])), k
    one, *others = first.values()
    for other in others:
        assert not same(one, other)
        for x, y in zip(one, other, strict=True):
            assert np.abs(x - y).max() <= 1e-13 * max(1, np.abs(x).max())


@pytest.mark.parametrize("kind", WIDTHS)
def test_a_workspace_too_large_for_the_stack(build, kind):
    """Taken from the heap: the same bits as from the stack."""
    graph = newton_euler_graph()
    near, far = (build(graph, WIDTHS[kind].tuned(stack=size)) for size in (USUAL.stack, 256))
    for count in (1, 2, 9, 21):
        inputs = samples(graph, count)
        assert same(far(*inputs), as_tuple(near(*inputs)))


@pytest.mark.parametrize("side", [3, 40])
def test_a_huge_program_has_no_scalar_kernel_and_the_same_bits(build, side):
    graph = newton_euler_graph(side)
    expected = build(graph)
    f = build(graph, host().tuned(huge=10))
    inputs = samples(graph, 20)
    for count in COUNTS[:8]:
        given = [x[:count] for x in inputs]
        assert same(f(*given), as_tuple(expected(*given)))


def counting(calls: list[int]) -> dict[str, object]:
    """malloc and free of the C library, as functions that count: with one number, malloc has no memory at all."""
    own = ctypes.CDLL(None)
    own.malloc.restype, own.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
    own.free.restype, own.free.argtypes = None, [ctypes.c_void_p]

    def malloc(size: int) -> int | None:
        calls[0] += 1
        return own.malloc(size) if len(calls) > 1 else None

    def free(place: int) -> None:
        calls[1] += 1
        own.free(place)

    return {
        "dynarm_malloc": ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_size_t)(malloc),
        "dynarm_free": ctypes.CFUNCTYPE(None, ctypes.c_void_p)(free),
    }


def with_heap(monkeypatch, target, functions):
    """What kernels share, with other functions for memory on the heap."""
    addresses = {k: ctypes.cast(f, ctypes.c_void_p).value for k, f in functions.items()}
    with monkeypatch.context() as other:
        other.setattr(gufunc, "library", lambda: llvm.library() | addresses)
        other.setattr(gufunc, "_RUNTIMES", {})
        return gufunc.runtime(target)


@pytest.mark.parametrize("kind", VECTORS)
@pytest.mark.parametrize("scalar", [True, False])
def test_without_memory_on_the_heap_the_result_is_the_same(build, monkeypatch, scalar, kind):
    target, graph = VECTORS[kind].tuned(stack=256), newton_euler_graph()
    calls = [0]
    functions = counting(calls)
    plenty = build(graph, target)
    if not scalar:
        target = target.tuned(huge=10)
    starved = with_heap(monkeypatch, target, functions)
    monkeypatch.setattr(gufunc, "runtime", lambda target: starved)
    f = build(graph, target)
    for count in (1, 2, 9):
        inputs = samples(graph, count)
        assert same(f(*inputs), as_tuple(plenty(*inputs)))
    assert calls == [2 if scalar else 3]


@pytest.mark.parametrize("kind", VECTORS)
def test_memory_from_the_heap_is_given_back(build, monkeypatch, kind):
    calls = [0, 0]
    functions = counting(calls)
    graph = newton_euler_graph()
    for stack, wanted in ((256, [2, 2]), (USUAL.stack, [0, 0])):
        target = VECTORS[kind].tuned(stack=stack)
        counted = with_heap(monkeypatch, target, functions)
        with monkeypatch.context() as other:
            other.setattr(gufunc, "runtime", lambda target, counted=counted: counted)
            f = build(graph, target)
        calls[:] = [0, 0]
        for count in (1, 2, 9):
            f(*samples(graph, count))
        assert calls == wanted


@pytest.mark.parametrize("kind", VECTORS)
@pytest.mark.parametrize("size", [5, 17, 67])
def test_large_outputs_that_go_past_the_caches(build, kind, size):
    """Rows of an odd number of words: blocks begin anywhere in a line of cache."""
    b = Builder()
    x = [b.input(0, k) for k in range(2)]
    target = VECTORS[kind].tuned(past_caches=1 << 12)
    f = build(
        b.finish(
            [Port("x", (2,))],
            [Port("y", (size,))],
            [[b.add(x[0], b.mul(x[1], b.const(k))) for k in range(1, size + 1)]],
        ),
        target,
    )
    for count in (target.tuning.past_caches // (8 * size) + more for more in (-1, 0, 1, 2, 3, 103)):
        given = np.random.default_rng(0).integers(-9, 9, (count, 2)).astype(float)
        whole = np.full(count * size + 9, np.nan)
        out = whole[5:-4].reshape(count, size)
        f(given, out=out)
        assert np.array_equal(out, given[:, :1] + given[:, 1:] * np.arange(1, size + 1))
        assert np.isnan(whole[:5]).all() and np.isnan(whole[-4:]).all()


@pytest.mark.parametrize("kind", VECTORS)
def test_outputs_that_go_past_the_caches_together(build, kind):
    """Each of them would stay in the caches; a short one, which is not moved in rows, is right all the same."""
    b = Builder()
    x = b.input(0, 0)
    sizes = (9, 1, 20)
    ports = [Port(f"y{size}", (size,)) for size in sizes]
    rows = [[b.mul(x, b.const(k + size)) for k in range(size)] for size in sizes]
    target = VECTORS[kind].tuned(past_caches=1 << 12)
    f = build(b.finish([Port("x", (1,))], ports, rows), target)
    for count in (target.tuning.past_caches // (8 * sum(sizes)) + more for more in (0, 1, 8)):
        given = np.arange(1.0, count + 1)[:, None]
        for made, size in zip(f(given), sizes, strict=True):
            assert np.array_equal(made, given * (size + np.arange(size)))


def test_ports_beyond_what_is_compiled_are_refused():
    b = Builder()
    x = b.input(0, 0)
    with pytest.raises(KindError, match="4 axes; at most 3"):
        compile_graph(b.finish([Port("x", (1, 1, 1, 1))], [Port("y", ())], [[x]]), "deep")
    many = [Port(f"x{k}", ()) for k in range(16)]
    with pytest.raises(KindError, match="17 inputs and outputs"):
        compile_graph(b.finish(many, [Port("y", ())], [[x]]), "wide")


GUARDED = """
import ctypes, mmap, sys
import numpy as np
sys.path[:0] = {path!r}
from oracles.machine_graphs import as_tuple, random_graph
from oracles.processors import host_named
from dynarm.machine import compile_graph, load_object
from dynarm.machine.host import on
PAGE, libc = mmap.PAGESIZE, ctypes.CDLL(None)
libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
keep = []
def fenced(shape, at_end):
    # an array between two pages that nobody may touch, at one end of the space between them
    size = int(np.prod(shape)) * 8
    pages = -(-size // PAGE)
    area = mmap.mmap(-1, (pages + 2) * PAGE)
    start = ctypes.addressof(ctypes.c_char.from_buffer(area))
    for page in (start, start + (pages + 1) * PAGE):
        assert libc.mprotect(page, PAGE, 0) == 0
    offset = PAGE + (pages * PAGE - size if at_end else 0)
    keep.append(area)
    return np.frombuffer(area, np.float64, size // 8, offset).reshape(shape)
for n in range(1, 10):
    graph = random_graph(n, 20, inputs=((n,), (2, n)), outputs=((n,), (n, 2)))
    with on(host_named({host!r})):
        f = load_object(compile_graph(graph, "f"), "f", graph.inputs, graph.outputs)
    for count in (1, 2, 7, 8, 9, 16, 17):
        rng = np.random.default_rng(count)
        given = [rng.uniform(-1, 1, (count, *p.shape)) for p in graph.inputs]
        expected = as_tuple(f(*given))
        for at_end in (False, True):
            for columns in (False, True):
                arrays = []
                for shape in [x.shape for x in (*given, *expected)]:
                    a = fenced((*shape[1:], count) if columns else shape, at_end)
                    arrays.append(np.moveaxis(a, -1, 0) if columns else a)
                for a, x in zip(arrays, given):
                    a[...] = x
                f(*arrays[:2], out=tuple(arrays[2:]))
                assert all(np.array_equal(a, y) for a, y in zip(arrays[2:], expected))
print("untouched")
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is fenced by mprotect")
@pytest.mark.parametrize("name", [*WIDTHS, *WOVEN])
def test_nothing_beyond_the_arrays_is_touched(name):
    """In a process of its own, for it would not survive a touch."""
    code = GUARDED.format(path=[p for p in sys.path if p], host=name)
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.stdout.strip() == "untouched", run.stderr[-2000:] or f"died with {run.returncode}"
