"""Methods as builtins: whatever a call is given, it returns, raises and warns what the ordinary method does."""

from __future__ import annotations

import inspect
import pickle
import sys
import types

import numpy as np
import pytest

import dynarm
from dynarm.machine.load import quick
from dynarm.model.model import Model
from dynarm.plan.quantities import QUANTITIES
from oracles.quick_calls import FEW, OVERFLOWS, STATE, Watch, ordinary, outcome, three_joints

pytestmark = pytest.mark.skipif(quick._known() is None, reason="this host has no builtins")


@pytest.fixture(scope="module")
def model() -> Model:
    return three_joints()


@pytest.fixture
def states() -> list[np.ndarray]:
    return list(np.random.default_rng(0).uniform(-2, 2, (3, 3)))


@pytest.mark.parametrize("name", QUANTITIES)
def test_one_sample_has_the_bits_of_the_gufunc(model, states, name):
    args = states[: STATE[name]]
    call = getattr(model, name)
    assert type(call) is types.BuiltinFunctionType
    with Watch(model, name) as passed_on:
        found = outcome(call, *args)
    assert passed_on == [0, 0], "it goes straight to the kernel"
    assert found == outcome(model.functions[name], *args) == outcome(ordinary, model, name, *args)


LAYOUTS = {
    "gaps": lambda x: np.repeat(x, 3)[::3],
    "reversed": lambda x: x[::-1].copy()[::-1],
    "column": lambda x: np.tile(x[:, None], 5)[:, 2],
    "fixed": lambda x: np.broadcast_to(x[:1], (3,)),
    "unaligned": lambda x: np.frombuffer(b"?" + x.tobytes(), np.uint8)[1:].view(float),
    "read-only": lambda x: np.frombuffer(x.tobytes()),
    "unpickled": lambda x: pickle.loads(pickle.dumps(x)),
    "other dtype object": lambda x: x.astype(np.dtype(float, metadata={"unit": "rad"})),
    "row": lambda x: np.stack([x, x])[1],
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_vectors_at_any_place_in_memory_are_quick(model, states, layout):
    args = [LAYOUTS[layout](x) for x in states]
    with Watch(model, "inverse_dynamics") as passed_on:
        found = outcome(model.inverse_dynamics, *args)
    assert passed_on == [0, 0]
    assert found == outcome(model.functions["inverse_dynamics"], *(x.copy() for x in args))


@pytest.mark.parametrize(
    "name", [n for n in QUANTITIES if "out" in inspect.signature(getattr(Model, n)).parameters]
)
def test_out_is_quick_and_returned(model, states, name):
    args = states[: STATE[name]]
    wanted = model.functions[name](*args)
    out = np.full(wanted.shape, 7.0)
    before = sys.getrefcount(out)
    with Watch(model, name) as passed_on:
        assert getattr(model, name)(*args, out=out) is out
    assert passed_on == [0, 0] and out.tobytes() == wanted.tobytes()
    assert sys.getrefcount(out) == before


def test_out_may_be_an_input(model, states):
    wanted = model.functions["inverse_dynamics"](*states)
    assert model.inverse_dynamics(*states, out=states[1]) is states[1]
    assert np.array_equal(states[1], wanted)


class Own(np.ndarray):
    """Arrays that are more than arrays."""


class Pretender:
    """What NumPy takes for an array."""

    def __array__(self, dtype=None, copy=None):
        return np.arange(3.0)


ODD = {
    "list": [0.1, 0.2, 0.3],
    "tuple": (1, 2, 3),
    "whole": np.arange(3),
    "bool": np.array([True, False, True]),
    "float32": np.arange(3, dtype=np.float32),
    "long double": np.arange(3, dtype=np.longdouble),
    "complex": np.arange(3) + 1j,
    "object": np.array([1.0, 2.0, 3.0], object),
    "strings": np.array(["1", "2", "3"]),
    "dates": np.arange(3).astype("M8[s]"),
    "swapped": np.arange(3.0).astype(np.dtype(float).newbyteorder()),
    "subclass": np.arange(3.0).view(Own),
    "matrix": np.arange(3.0)[None].view(np.matrix),
    "masked": np.ma.masked_array(np.arange(3.0), [0, 1, 0]),
    "record": np.zeros(3, [("x", float)]),
    "pretender": Pretender(),
    "number": 1.5,
    "float64": np.float64(1.5),
    "0-d": np.array(1.5),
    "batch": np.arange(6.0).reshape(2, 3),
    "batch of one": np.arange(3.0)[None],
    "empty batch": np.zeros((0, 3)),
    "short": np.arange(2.0),
    "long": np.arange(4.0),
    "empty": np.zeros(0),
    "one": np.zeros(1),
    "none": None,
    "text": "abc",
    "ragged": [[1.0], [1.0, 2.0]],
    "type": np.ndarray,
    "nan": np.array([0.1, np.nan, 0.3]),
    "inf": np.array([0.1, np.inf, 0.3]),
    "far": np.full(3, 1e9),
    "farther": np.full(3, -1e300),
    "tiny": np.full(3, 5e-324),
    "small": np.full(3, 1e-200),
    "large": np.full(3, 1e200),
    "negative zero": np.full(3, -0.0),
}


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("name", FEW)
def test_whatever_is_given(model, states, name, odd):
    for place in range(STATE[name]):
        args = states[: STATE[name]]
        args[place] = ODD[odd]
        wanted = outcome(ordinary, model, name, *args)
        assert outcome(getattr(model, name), *args) == wanted
        assert outcome(getattr(Model, name), model, *args) == wanted


CALLS = {
    "nothing": ((), {}),
    "one too few": ((0, 1), {}),
    "by name": ((), {"q": 0, "qd": 1, "qdd": 2}),
    "some by name": ((0,), {"qdd": 2, "qd": 1}),
    "twice": ((0, 1, 2), {"q": 0}),
    "unknown": ((0, 1, 2), {"wrensh": 0}),
    "wrench": ((0, 1, 2, [0.0, 1, 2, 3, 4, 5]), {}),
    "wrench of three": ((0, 1, 2, 1), {}),
    "wrench by name": ((0, 1, 2), {"wrench": np.arange(6.0)}),
    "five": ((0, 1, 2, 0, 1), {}),
    "very many": (tuple([0] * 5000), {}),
    "gravity": ((0, 1, 2), {"gravity": (0, 0, 1)}),
    "threads": ((0, 1, 2), {"threads": 2}),
    "no threads": ((0, 1, 2), {"threads": 0}),
    "out none": ((0, 1, 2), {"out": None}),
    "out and threads": ((0, 1, 2), {"out": lambda: np.zeros(3), "threads": 1}),
    "out in a tuple": ((0, 1, 2), {"out": lambda: (np.zeros(3),)}),
    "out too long": ((0, 1, 2), {"out": lambda: np.zeros(4)}),
    "out of one": ((0, 1, 2), {"out": lambda: np.zeros(1)}),
    "out a number": ((0, 1, 2), {"out": lambda: np.array(0.0)}),
    "out a batch": ((0, 1, 2), {"out": lambda: np.zeros((2, 3))}),
    "out with gaps": ((0, 1, 2), {"out": lambda: np.zeros(6)[::2]}),
    "out reversed": ((0, 1, 2), {"out": lambda: np.zeros(3)[::-1]}),
    "out float32": ((0, 1, 2), {"out": lambda: np.zeros(3, np.float32)}),
    "out whole": ((0, 1, 2), {"out": lambda: np.zeros(3, int)}),
    "out swapped": ((0, 1, 2), {"out": lambda: np.zeros(3, np.dtype(float).newbyteorder())}),
    "out subclass": ((0, 1, 2), {"out": lambda: np.zeros(3).view(Own)}),
    "out list": ((0, 1, 2), {"out": lambda: [0.0, 0.0, 0.0]}),
    "out read-only": ((0, 1, 2), {"out": lambda: np.frombuffer(bytes(24))}),
    "out unaligned": ((0, 1, 2), {"out": lambda: np.zeros(25, np.uint8)[1:].view(float)}),
    "out that warns": (
        (0, 1, 2),
        {"out": lambda: np.broadcast_arrays(np.zeros(3), np.zeros((1, 3)))[0][0]},
    ),
    "out broadcast": ((0, 1, 2), {"out": lambda: np.broadcast_arrays(np.zeros(1), np.zeros(3))[0]}),
}


@pytest.mark.parametrize("case", CALLS)
def test_however_it_is_called(model, states, case):
    places, options = CALLS[case]

    results = []
    for call in (model.inverse_dynamics, Model.inverse_dynamics.__wrapped__.__get__(model)):
        args = [states[x] if type(x) is int else x for x in places]
        named = {k: x() if callable(x) else x for k, x in options.items()}
        named |= {k: states[x] for k, x in named.items() if k in ("q", "qd", "qdd")}
        seen = outcome(call, *args, **named)
        results.append((seen, np.array(named.get("out"), object).tolist()))
    assert results[0] == results[1]


def test_several_arrays_take_no_out(model, states):
    with pytest.raises(TypeError, match="out"):
        model.mass_matrix_and_bias(*states[:2], out=(np.zeros((3, 3)), np.zeros(3)))


def test_batches_go_to_the_gufunc_alone(model):
    q = np.random.default_rng(1).uniform(-2, 2, (5, 3))
    out = np.empty((5, 3))
    with Watch(model, "gravity") as passed_on:
        assert np.array_equal(model.gravity(q), model.gravity(q, out=out))
        assert passed_on == [2, 0]
        model.gravity(q, threads=1)
        assert passed_on == [2, 1]
        dynarm.set_threads(2)
        try:
            assert np.array_equal(model.gravity(q), out)
            assert passed_on == [2, 2], "the method cuts batches, the gufunc does not"
            model.gravity(q[0])
            assert passed_on == [2, 2], "one state is not cut"
        finally:
            dynarm.set_threads(1)


RAISE = {
    "invalid": np.array([0.1, np.inf, 0.3]),
    "over": OVERFLOWS,
    "under": np.full(3, 1e-200),
}


@pytest.mark.parametrize("flag", RAISE)
@pytest.mark.parametrize("manner", ["ignore", "warn", "raise", "call", "print"])
def test_floating_point_flags_are_numpy_s(model, states, flag, manner, capsys):
    args = [states[0], RAISE[flag], states[2]] if flag != "invalid" else [RAISE[flag], *states[1:]]
    heard: list[tuple] = []
    results = []
    for call in (model.inverse_dynamics, model.functions["inverse_dynamics"]):
        with np.errstate(**{"all": "ignore", flag: manner}, call=lambda *a: heard.append(a)):
            results.append((outcome(call, *args), capsys.readouterr().out, len(heard)))
            heard.clear()
        assert outcome(call, *states)[2] == [], "flags are not left behind"
    assert results[0] == results[1]
    if manner == "raise":
        assert results[0][0][0] is FloatingPointError


def test_flags_that_are_up_before_the_call_are_not_the_sample_s(model, states):
    huge = float(states[0][0]) * 0 + 1e300
    wanted = model.functions["inverse_dynamics"](*states)
    with np.errstate(all="raise"), Watch(model, "inverse_dynamics") as passed_on:
        assert huge * huge == np.inf  # in Python, which does not look at flags
        assert np.array_equal(model.inverse_dynamics(*states), wanted)
        assert passed_on == [1, 0], "NumPy clears them"
        assert np.array_equal(model.inverse_dynamics(*states), wanted)
        assert passed_on == [1, 0]


def test_many_random_calls(model):
    """Arrays of random shape, layout and type, with and without keywords."""
    rng = np.random.default_rng(3)

    def some() -> np.ndarray:
        shape = [(2, 3), (1,), (4,), ()][rng.integers(4)] if rng.random() < 0.2 else (3,)
        x = rng.normal(size=shape)
        if rng.random() < 0.2:
            x = x.astype([np.float32, int, ">f8", complex][rng.integers(4)])
        if x.ndim and rng.random() < 0.3:
            x = np.repeat(x, 2, axis=-1)[..., :: [2, -2][rng.integers(2)]]
        return x

    quick_ones = 0
    with Watch(model, "bias") as passed_on:
        for k in range(400):
            args = [some() for _ in range([2, 2, 2, 1, 3][rng.integers(5)])]
            options = (
                {"out": np.zeros([(3,), (2, 3), (4,)][rng.integers(3)])}
                if rng.random() < 0.3
                else {}
            )
            before = sum(passed_on)
            found = outcome(model.bias, *args, **options)
            quick_ones += sum(passed_on) == before
            assert found == outcome(ordinary, model, "bias", *args, **options), k
    assert 50 < quick_ones < 350
