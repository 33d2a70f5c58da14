"""Methods as builtins: references and memory, what they look like, which models have them, threads."""

from __future__ import annotations

import copy
import ctypes
import gc
import inspect
import multiprocessing
import pickle
import pydoc
import subprocess
import sys
import threading
import tracemalloc
import types
import weakref

import numpy as np
import pytest

import dynarm
from dynarm.machine.abi import NAMES, Table
from dynarm.machine.load import quick
from dynarm.model.model import Model
from dynarm.plan.quantities import QUANTITIES
from dynarm.robot.frames.generic import generic_arm
from oracles.machine_graphs import as_tuple, newton_euler_graph
from oracles.quick_calls import (
    FEW,
    OVERFLOWS,
    STATE,
    Watch,
    entries,
    loaded,
    ordinary,
    outcome,
    three_joints,
)

pytestmark = pytest.mark.skipif(quick._known() is None, reason="this host has no builtins")


@pytest.fixture(scope="module")
def model() -> Model:
    return three_joints()


@pytest.fixture
def states() -> list[np.ndarray]:
    return list(np.random.default_rng(0).uniform(-2, 2, (3, 3)))


# ---- references and memory


@pytest.mark.parametrize("name", FEW)
def test_reference_counts(model, states, name):
    args = states[: STATE[name]]
    call = getattr(model, name)
    watched = [*args, np.dtype(float), np.ndarray, call, model, "out", np.float64]
    lists = [x.tolist() for x in args]
    before = [sys.getrefcount(x) for x in watched]
    for _ in range(200):
        call(*args)
        call(*lists)
        model.functions[name](*args)
    assert [sys.getrefcount(x) for x in watched] == before
    ufunc = model.functions[name]
    assert sys.getrefcount(call(*args)) == sys.getrefcount(ufunc(*args))
    for a, b in zip(as_tuple(call(*args)), as_tuple(ufunc(*args)), strict=True):
        assert sys.getrefcount(a) == sys.getrefcount(b)


def test_reference_counts_after_refusals(model, states):
    # NumPy itself loses some of a dtype
    watched = [*states, model, model.bias, Model.bias.__wrapped__]
    gc.collect()
    before = np.array([sys.getrefcount(x) for x in watched])
    for _ in range(100):
        with pytest.raises(dynarm.DynarmError):
            model.bias(states[0], np.zeros(2))
        with pytest.raises(TypeError):
            model.bias(states[0], nonsense=states[1])
        with np.errstate(all="raise"), pytest.raises(FloatingPointError):
            model.bias(states[0], OVERFLOWS)
    gc.collect()  # exceptions and their frames refer to each other
    after = np.array([sys.getrefcount(x) for x in watched])
    assert (np.abs(after - before) < 10).all()  # one lost in each call would be 100


def test_results_are_arrays_of_their_own(model, states):
    first, second = model.mass_matrix(states[0]), model.mass_matrix(states[0])
    assert not np.shares_memory(first, second) and first.base is None
    assert first.flags.owndata and first.flags.writeable and first.flags.c_contiguous
    first.resize((9,))  # only the owner of the one reference may
    assert np.array_equal(first, second.ravel())


@pytest.mark.parametrize("name", FEW)
def test_memory_is_given_back(model, states, name):
    args = states[: STATE[name]]
    call = getattr(model, name)
    lists = [x.tolist() for x in args]

    def many() -> None:
        for _ in range(3000):
            call(*args)
            call(*lists)

    many()
    tracemalloc.start()
    try:
        many()
        first = tracemalloc.get_traced_memory()[0]
        many()
        # one byte a call would be more
        assert abs(tracemalloc.get_traced_memory()[0] - first) < 2000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("mass_matrix", "PyArray_NewFromDescr"),
        ("mass_matrix_and_bias", "PyArray_NewFromDescr"),
        ("mass_matrix_and_bias", "PyTuple_New"),
        ("kinetic_energy", "PyArray_Scalar"),
        ("mass_matrix", "PyMethod_New"),
    ],
)
def test_without_memory(model, states, name, function):
    """Each function that may find none is replaced by one that says so."""
    args = states[: STATE[name]]
    if function == "PyMethod_New":
        args = ["not a state"]
    known = (ctypes.c_int64 * len(NAMES)).from_address(
        entries(model.kernel(name).ufunc)[Table.PYTHON]
    )
    place = NAMES.index(function)
    true, known[place] = known[place], quick._address(ctypes.pythonapi.PyErr_NoMemory)

    def blocks() -> int:
        for _ in range(500):
            try:
                getattr(model, name)(*args)
            except MemoryError:
                pass
            else:
                raise AssertionError
        gc.collect()
        return sys.getallocatedblocks()

    try:
        blocks()
        grown = -blocks() + blocks()
    finally:
        known[place] = true
    # a block lost in each call would be 500; the test runner's own threads take and give some
    assert abs(grown) < 250, "what was made before is given back"
    assert outcome(getattr(model, name), *args) == outcome(ordinary, model, name, *args)


def test_models_and_their_builtins_are_collected(states):
    model = dynarm.compile(generic_arm(3))
    seen = weakref.ref(model)
    wanted = model.bias(*states[:2])
    call = model.bias
    assert gc.is_tracked(call)
    del model
    gc.collect()
    assert seen() is not None and np.array_equal(call(*states[:2]), wanted), "the builtin owns it"
    with pytest.raises(dynarm.DynarmError, match="2 entries"):
        call(states[0], np.zeros(2))
    del call
    gc.collect()
    assert seen() is None
    assert not gc.garbage


def test_builtins_own_their_code(states):
    """Without the model's kernels, and without those that the process remembers."""
    graph = newton_euler_graph(3)
    ufunc = loaded(graph)

    def own(self, a, b, c):
        raise AssertionError

    call = quick.bound(ufunc, own, None)
    wanted = ufunc(*states)
    del ufunc
    gc.collect()
    assert np.array_equal(call(*states), wanted)


# ---- what it looks like


@pytest.mark.parametrize("name", QUANTITIES)
def test_builtins_look_like_methods(model, name):
    call, method = getattr(model, name), getattr(Model, name)
    shown, wanted = inspect.signature(call), inspect.signature(method.__get__(model))
    assert [(p.name, p.kind, p.default) for p in shown.parameters.values()] == [
        (p.name, p.kind, p.default) for p in wanted.parameters.values()
    ]
    assert inspect.getdoc(call) == inspect.getdoc(method) and inspect.isroutine(call)
    assert (call.__name__, call.__qualname__) == (name, f"Model.{name}")
    assert call.__self__ is model and call.__module__ == "dynarm.model.model"
    assert inspect.getdoc(method).splitlines()[0] in pydoc.render_doc(call)
    assert "Model object" in repr(call)


def _through(call, q):
    return call(q)


def test_models_and_methods_pickle_and_copy(model, states):
    wanted = model.gravity(states[0])
    for again in (
        pickle.loads(pickle.dumps(model)),
        copy.copy(model),
        copy.deepcopy(model),
    ):
        assert not [name for name in QUANTITIES if name in vars(again)]
        assert np.array_equal(again.gravity(states[0]), wanted)
        assert type(again.gravity) is types.BuiltinFunctionType
    for call in (pickle.loads(pickle.dumps(model.gravity)), copy.deepcopy(model.gravity)):
        assert np.array_equal(call(states[0]), wanted)
        assert call.__self__.arm == model.arm
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        found = pool.apply_async(_through, (model.gravity, states[0])).get(timeout=120)
    assert np.array_equal(found, wanted)


def test_a_method_taken_early_is_as_good(states):
    fresh = dynarm.compile(generic_arm(3))
    early = fresh.bias
    assert inspect.ismethod(early)
    wanted = early(*states[:2])
    with Watch(fresh, "bias") as passed_on:
        assert np.array_equal(early(*states[:2]), wanted)
    assert passed_on == [0, 0]


# ---- who has builtins


def test_subclasses_keep_their_methods(states):
    class Louder(Model):
        def gravity(self, q, **options):
            return 2 * super().gravity(q, **options)

    louder, plain = Louder(generic_arm(3)), dynarm.compile(generic_arm(3))
    for _ in range(2):
        assert np.array_equal(louder.gravity(states[0]), 2 * plain.gravity(states[0]))
        assert np.array_equal(louder.bias(*states[:2]), plain.bias(*states[:2]))
    assert not [name for name in QUANTITIES if name in vars(louder)]


def test_attributes_and_classes_that_were_changed_are_left_alone(monkeypatch, states):
    own = dynarm.compile(generic_arm(3))
    own.bias = "mine"
    assert own.functions["bias"] and own.bias == "mine"
    monkeypatch.setattr(Model, "gravity", lambda self, q: "another")
    changed = dynarm.compile(generic_arm(3))
    assert changed.functions["gravity"] and changed.gravity(states[0]) == "another"


def test_functions_of_more_than_the_state_have_none(states):
    model = dynarm.compile(generic_arm(3), gravity="input")
    g = np.array([0, 0, -9.81])
    for _ in range(2):
        assert model.bias(*states[:2], gravity=g).shape == (3,)
        assert model.mass_matrix(states[0]).shape == (3, 3)
        with pytest.raises(dynarm.DynarmError, match="needs gravity="):
            model.bias(*states[:2])
    assert "bias" not in vars(model) and "mass_matrix" in vars(model)
    plain = dynarm.compile(generic_arm(3))
    plain.inverse_dynamics(*states, np.zeros(6))
    assert "inverse_dynamics" not in vars(plain), "only that with a wrench is compiled"


def test_models_without_builtins_do_the_same(monkeypatch, model, states):
    monkeypatch.setattr(quick, "_known", lambda: None)
    bare = dynarm.compile(generic_arm(3))
    for name in FEW:
        args = states[: STATE[name]]
        batch = [np.stack([x, x]) for x in args]
        bad = [*args[1:], np.zeros(2)]
        for given in (args, args, batch, bad, [x.tolist() for x in args], args[1:]):
            assert outcome(getattr(bare, name), *given) == outcome(getattr(model, name), *given)
        out = np.zeros_like(as_tuple(model.functions[name](*args))[0])
        wanted = outcome(getattr(model, name), *args, out=out)
        assert outcome(getattr(bare, name), *args, out=out) == wanted
        assert name not in vars(bare)


# ---- threads and processes


def test_eight_threads_at_once():
    shared = dynarm.compile(generic_arm(3))
    args = np.random.default_rng(2).uniform(-2, 2, (3, 400, 3))
    wrong: list[str] = []
    wanted = {
        name: as_tuple(dynarm.compile(generic_arm(3)).functions[name](*args[: STATE[name]]))
        for name in FEW
    }
    begin = threading.Barrier(8)

    def work(k: int) -> None:
        begin.wait()
        for name in FEW[k % 4 :] + FEW[: k % 4]:
            for s in range(400):
                found = as_tuple(getattr(shared, name)(*args[: STATE[name], s]))
                if any(
                    a.tobytes() != b[s].tobytes() for a, b in zip(found, wanted[name], strict=True)
                ):
                    wrong.append(name)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_builtins_that_outlive_their_modules():
    """Held by whatever the interpreter takes apart last: nothing is read that is gone."""
    code = (
        "import sys, builtins, numpy as np, dynarm\n"
        "from dynarm.robot.frames.generic import generic_arm\n"
        "model = dynarm.compile(generic_arm(2))\n"
        "model.bias(np.zeros(2), np.zeros(2))\n"
        "builtins.held = sys.held = [model.bias, model.gravity]\n"
        "sys.held.append(sys.held)\n"
        "loop = [model.bias]; loop.append(loop)\n"
        "print('done')\n"
    )
    run = subprocess.run(
        [sys.executable, "-X", "dev", "-c", code], capture_output=True, text=True, timeout=60
    )
    assert (run.returncode, run.stdout) == (0, "done\n"), run.stderr[-1000:]
