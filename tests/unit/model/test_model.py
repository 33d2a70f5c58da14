"""The Model itself: batches, threads, processes, errors. What it computes is compared in tests/crosscheck."""

from __future__ import annotations

import copy
import multiprocessing
import os
import pickle
import subprocess
import sys
import threading
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import dynarm
from dynarm.model import batch
from dynarm.robot.frames.generic import generic_arm


@pytest.fixture(scope="module")
def model():
    return dynarm.compile(generic_arm(7))


@pytest.fixture(scope="module")
def states():
    return np.random.default_rng(0).uniform(-2, 2, (3, 1000, 7))


QUANTITIES = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "regressor")
TAKES = {"inverse_dynamics": 3, "forward_dynamics": 3, "mass_matrix": 1, "regressor": 3}


@pytest.fixture(autouse=True)
def threads_for_any_batch(monkeypatch):
    """Batches of these tests are too small to be worth a second thread."""
    monkeypatch.setattr(batch, "_SMALLEST", 1)


@pytest.mark.parametrize("quantity", QUANTITIES)
def test_same_sample_same_bits(model, states, quantity):
    call = getattr(model, quantity)
    args = states[: TAKES[quantity]]
    whole = call(*args)
    for size in (1, 7, 8, 9, 1000):
        pieces = [call(*(a[k : k + size] for a in args)) for k in range(0, 1000, size)][
            : 1000 // size
        ]
        assert np.array_equal(np.concatenate(pieces), whole[: size * (1000 // size)]), size
    assert np.array_equal(call(*(a[::-1] for a in args)), whole[::-1]), "reversed"
    assert np.array_equal(call(*(a[::3] for a in args)), whole[::3]), "strided"
    columns = [np.asfortranarray(a) for a in args]
    assert np.array_equal(call(*columns), whole), "(n, N) in memory"
    assert np.array_equal(
        call(*(a.reshape(10, 4, 25, 7) for a in args)).reshape(whole.shape), whole
    )
    assert np.array_equal(call(*(a[5] for a in args)), whole[5]), "one sample"
    gaps = [np.repeat(a, 2, axis=-1)[:, ::2] for a in args]
    assert np.array_equal(call(*gaps), whole), "gaps between entries"


def test_eight_threads_at_once(model, states):
    wanted = model.inverse_dynamics(*states)
    found: dict[int, np.ndarray] = {}

    def work(k):
        fresh = pickle.loads(pickle.dumps(model))
        found[k] = fresh.inverse_dynamics(*states)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert len(found) == 8 and all(np.array_equal(x, wanted) for x in found.values())


def test_threads_argument_changes_nothing(model):
    q, qd, qdd = np.random.default_rng(1).uniform(-2, 2, (3, 20_001, 7))
    wanted = model.inverse_dynamics(q, qd, qdd)
    assert np.array_equal(model.inverse_dynamics(q, qd, qdd, threads=2), wanted)
    out = np.empty_like(q)
    assert model.inverse_dynamics(q, qd, qdd, threads=3, out=out) is out and np.array_equal(
        out, wanted
    )
    assert np.array_equal(
        model.inverse_dynamics(q, qd[0], qdd[:1], threads=2),
        model.inverse_dynamics(q, qd[0], qdd[0]),
    )
    M, b = model.mass_matrix_and_bias(q, qd, threads=2)
    assert np.array_equal(M, model.mass_matrix_and_bias(q, qd)[0]) and b.shape == q.shape
    dynarm.set_threads(2)
    try:
        assert np.array_equal(model.inverse_dynamics(q, qd, qdd), wanted)
    finally:
        dynarm.set_threads(1)


def test_nan_touches_one_sample_and_nothing_warns(model, states):
    q, qd, qdd = (np.array(a[:20]) for a in states)
    wanted = model.inverse_dynamics(q, qd, qdd)
    q[3, 2] = np.nan
    qd[11, 0] = np.inf
    with warnings.catch_warnings(), np.errstate(all="raise", invalid="ignore"):
        warnings.simplefilter("error")
        got = model.inverse_dynamics(q, qd, qdd)
    touched = [3, 11]
    rest = np.delete(np.arange(20), touched)
    assert np.isnan(got[3]).any() and not np.isfinite(got[11]).all()
    assert np.array_equal(got[rest], wanted[rest])
    with np.errstate(all="raise"):
        model.inverse_dynamics(*(a[:13] for a in states))
        model.inverse_dynamics(np.where(np.isnan(q), np.nan, q)[:3], qd[:3], qdd[:3])


def test_huge_angles_denormals_and_empty_batches(model):
    x = np.zeros(7)
    big = np.full(7, 1e9)
    reduced = np.array([float(np.arctan2(np.sin(1e9), np.cos(1e9)))] * 7)
    np.testing.assert_allclose(model.gravity(big), model.gravity(reduced), rtol=1e-9, atol=1e-9)
    assert np.isfinite(model.inverse_dynamics(np.full(7, 5e-324), x, x)).all()
    assert model.inverse_dynamics(np.zeros((0, 7)), np.zeros((0, 7)), np.zeros((0, 7))).shape == (
        0,
        7,
    )


def test_dtypes_and_overlap(model, states):
    q, qd, qdd = (a[:50] for a in states)
    single = model.inverse_dynamics(*(a.astype(np.float32) for a in (q, qd, qdd)))
    assert single.dtype == np.float64
    np.testing.assert_allclose(single, model.inverse_dynamics(q, qd, qdd), rtol=1e-3, atol=1e-3)
    assert np.isfinite(model.mass_matrix(np.arange(7))).all()
    wanted = model.inverse_dynamics(q, qd, qdd)
    shared = q.copy()
    model.inverse_dynamics(shared, qd, qdd, out=shared)
    assert np.array_equal(shared, wanted)
    store = np.zeros((51, 7))
    store[1:] = q
    model.inverse_dynamics(store[1:], qd, qdd, out=store[:-1])
    assert np.array_equal(store[:-1], wanted)
    spaced = np.zeros((50, 14))[:, ::2]
    model.inverse_dynamics(q, qd, qdd, out=spaced)
    assert np.array_equal(spaced, wanted)


def _in_child(model, q):
    return model.inverse_dynamics(q, q, q), model.coriolis_matrix(q, q)


def _survives(method):
    model, q = dynarm.compile(generic_arm(7)), np.linspace(-2, 2, 21).reshape(3, 7)
    wanted = _in_child(model, q)
    with multiprocessing.get_context(method).Pool(1) as pool:
        found = pool.apply_async(_in_child, (model, q)).get(timeout=120)
    assert all(np.array_equal(a, b) for a, b in zip(found, wanted, strict=True))


def test_models_survive_processes_that_start_afresh():
    _survives("spawn")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="POSIX's")
def test_models_survive_forks():
    """In an interpreter of its own: libraries that other tests have loaded hold threads that do not fork."""
    code = (
        f"import sys; sys.path[:] = {sys.path!r}; import test_model; test_model._survives('fork')"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=Path(__file__).parent, capture_output=True, timeout=240
    )
    assert run.returncode == 0, run.stderr.decode()[-1000:]


def _refused_in_child(name):
    dynarm.load(name)


def test_errors_come_back_from_processes():
    """An exception that does not unpickle leaves a pool waiting for ever."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        answer = pool.apply_async(_refused_in_child, ("pumma560",))
        with pytest.raises(dynarm.DynarmError, match="did you mean puma560"):
            answer.get(timeout=120)


def test_models_pickle_by_their_recipe():
    full = dynarm.compile(generic_arm(2), {"bias": "base_composite"}, True, "input", "inputs")
    for again in (pickle.loads(pickle.dumps(full)), copy.deepcopy(full)):
        assert (again.arm, again.wishes, again.friction) == (full.arm, full.wishes, True)
        assert again.gravity_input and again.parameters_input


BAD = {
    "wrong length": (
        lambda m: m.bias(np.zeros(5), np.zeros(7)),
        "q has 5 entries.*7 joints.*joint_names",
    ),
    "scalar": (lambda m: m.bias(1.0, np.zeros(7)), "single number"),
    "string": (lambda m: m.bias("abc", np.zeros(7)), "real numbers"),
    "complex": (lambda m: m.gravity(np.zeros(7) + 1j), "real numbers"),
    "none": (lambda m: m.gravity(None), "real numbers"),
    "ragged": (lambda m: m.gravity([[1, 2], [3]]), "ragged"),
    "batches": (lambda m: m.bias(np.zeros((3, 7)), np.zeros((2, 7))), "do not fit"),
    "wrench": (lambda m: m.inverse_dynamics(*np.zeros((3, 7)), wrench=np.zeros(5)), "wrench has 5"),
    "gravity": (lambda m: m.bias(*np.zeros((2, 7)), gravity=(0, 0, 1)), "gravity='input'"),
    "values": (lambda m: m.bias(*np.zeros((2, 7)), values=[0.0]), "parameters='inputs'"),
    "out": (lambda m: m.gravity(np.zeros(7), out=np.zeros(6)), r"shape \(7,\)"),
    "threads": (lambda m: m.gravity(np.zeros(7), threads=0), "threads is 0"),
    "arm": (lambda m: dynarm.compile("puma560"), "dynarm.load"),
    "option": (lambda m: dynarm.compile(m.arm, gravity=(0, 0, 1)), "'input'"),
    "parameters": (lambda m: dynarm.compile(m.arm, parameters="yes"), "'inputs'"),
    "formulation": (lambda m: dynarm.compile(m.arm, {"bias": "newton_eulr"}), "newton_euler"),
    "quantity": (lambda m: dynarm.compile(m.arm, {"bais": "newton_euler"}), "bias"),
    "function": (lambda m: m.functions["mass_matrx"], "mass_matrix"),
    "no wrench": (lambda m: m.functions["bias:wrench"], "takes no wrench"),
    "mapping": (lambda m: dynarm.compile(m.arm, "newton_euler"), "quantity"),
    "values of dynamics": (
        lambda m: m.inverse_dynamics(*np.zeros((3, 7)), values=np.zeros(3)),
        "parameters='inputs'",
    ),
    "too large for a float": (lambda m: m.gravity([10**400] * 7), "q is of type object"),
    "complex in threads": (
        lambda m: m.gravity(np.zeros((5000, 7)) + 1j, threads=2),
        "real numbers",
    ),
    "strings in threads": (lambda m: m.gravity([["1"] * 7] * 5000, threads=2), "real numbers"),
    "out in threads": (
        lambda m: m.gravity(np.zeros((5000, 7)), threads=2, out=np.zeros((10000, 7))),
        r"shape \(5000, 7\)",
    ),
    "out read-only": (
        lambda m: m.gravity(np.zeros(7), out=np.broadcast_to(0.0, (7,))),
        "can be written",
    ),
    "out of several": (
        lambda m: m._call("mass_matrix_and_bias", (np.zeros(7),) * 2, out=np.zeros(7)),
        "several arrays",
    ),
    "friction": (lambda m: dynarm.compile(m.arm, friction="no"), "True or False"),
    "centres of mass": (
        lambda m: dynarm.compile(m.arm, {"bias": "newton_euler"}, parameters="inputs"),
        "base_composite",
    ),
    "number for a name": (lambda m: m.functions[3], "quantity is 3"),
    "list for a name": (lambda m: dynarm.count(m.arm, ["bias"]), "unknown quantity"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_says_what_to_do(model, case):
    call, words = BAD[case]
    with pytest.raises(dynarm.DynarmError, match=words):
        call(model)


def test_functions_are_a_mapping(model):
    """Looking whether a name is there compiles nothing."""
    fresh = dynarm.compile(generic_arm(2))
    assert "mass_matrix" in fresh.functions and "inverse_dynamics:wrench" in fresh.functions
    assert "mass_matrx" not in fresh.functions and fresh.functions.get("mass_matrx") is None
    assert not fresh._kernels
    assert len(list(fresh.functions)) == len(fresh.functions) == len(set(fresh.functions)) == 25
    assert fresh.functions["mass_matrix"].signature == "(2)->(2,2)"


def test_wrench_is_never_taken_for_an_output(model):
    """A gufunc's next positional argument would be `out`: a wrench given by position must not be written to."""
    q, qd, qdd = np.random.default_rng(3).normal(size=(3, 7))
    model.inverse_dynamics(q, qd, qdd)
    wrench = np.arange(6.0)
    by_place = model.inverse_dynamics(q, qd, qdd, wrench)
    assert np.array_equal(wrench, np.arange(6.0))
    assert np.array_equal(by_place, model.inverse_dynamics(q, qd, qdd, wrench=wrench))
    assert not np.array_equal(by_place, model.inverse_dynamics(q, qd, qdd))
    six = dynarm.compile(generic_arm(6))
    six.inverse_dynamics(q[:6], qd[:6], qdd[:6])
    pushed = six.inverse_dynamics(q[:6], qd[:6], qdd[:6], wrench)
    assert pushed is not wrench and np.array_equal(wrench, np.arange(6.0))


def test_threads_obey_the_caller_s_errstate(model):
    q = np.random.default_rng(5).normal(size=(9000, 7))
    q[::1000, 2] = np.inf
    for threads in (1, 2):
        with np.errstate(all="raise"), pytest.raises(FloatingPointError):
            model.gravity(q, threads=threads)
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("error")
            assert np.isnan(model.gravity(q, threads=threads)[::1000]).any()


def test_threads_get_the_slices_of_a_batch_only_if_they_have_enough_to_do(model, monkeypatch):
    seen = []
    slices = batch.slices
    monkeypatch.setattr(batch, "slices", lambda *given: [seen.append(given[:2]), slices(*given)])
    monkeypatch.setattr(batch, "_SMALLEST", 5_000_000)
    model.gravity(np.zeros((4096, 7)), threads=2)
    assert not seen
    model.gravity(np.zeros((262144, 7)), threads=2)
    assert seen == [(262144, 2)]


def test_more_threads_than_samples(model):
    q = np.random.default_rng(4).normal(size=(2, 4000, 7))
    assert np.array_equal(model.gravity(q, threads=10**9), model.gravity(q))


def test_gravity_input_must_be_given():
    other = dynarm.compile(generic_arm(2), gravity="input")
    with pytest.raises(dynarm.DynarmError, match="needs gravity="):
        other.gravity(np.zeros(2))
    assert other.mass_matrix(np.zeros(2)).shape == (2, 2)


def test_singular_mass_matrix_is_refused():
    massless = dynarm.Arm([dynarm.Joint(mass=1.0, com=(0.1, 0, 0)), dynarm.Joint(a=0.3)])
    with pytest.raises(dynarm.DynarmError, match=r"joint2.*moves no inertia"):
        dynarm.compile(massless).forward_dynamics(*np.zeros((3, 2)))
    point = dynarm.Arm([dynarm.Joint(), dynarm.Joint(mass=1.0, com=(0.2, 0, 0))])
    with pytest.raises(dynarm.DynarmError, match="singular in every pose"):
        dynarm.compile(point).forward_dynamics(*np.zeros((3, 2)))
    driven = replace(massless, joints=tuple(replace(j, armature=0.1) for j in massless.joints))
    assert np.isfinite(
        dynarm.compile(driven, friction=True).forward_dynamics(*np.zeros((3, 2)))
    ).all()


def test_an_arm_without_accelerations_has_all_the_rest(tmp_path):
    bare = dynarm.Arm([dynarm.Joint()])
    model = dynarm.compile(bare)
    assert "forward_dynamics" not in model.formulation and "bias" in model.formulation
    assert model.mass_matrix(np.zeros(1)) == 0
    for refused in (
        lambda: dynarm.count(bare, "forward_dynamics"),
        lambda: model.graph("forward_dynamics_derivatives"),
        lambda: dynarm.export_c(model, tmp_path / "c"),
    ):
        with pytest.raises(dynarm.DynarmError, match="moves no inertia"):
            refused()
    # parameters that no body has are allowed: its mass matrix is negative, not singular
    odd = dynarm.Arm([dynarm.Joint(parameters=(1, 0, 0, 0, 1, 0, 1, 0, 0, -0.5))])
    assert dynarm.compile(odd).forward_dynamics([0.0], [0.0], [1.0]) == pytest.approx(-2.0)


def test_regressor_and_parameters_as_inputs(model, states):
    q, qd, qdd = (a[:9] for a in states)
    values = dynarm.minimal_parameters(model.arm).values
    tau = model.inverse_dynamics(q, qd, qdd)
    scale = np.abs(tau).max()
    assert np.abs(model.regressor(q, qd, qdd) @ values - tau).max() < 1e-12 * scale
    adaptive = dynarm.compile(model.arm, parameters="inputs")
    other = np.random.default_rng(2).normal(size=(9, len(values)))
    for given in (values, other):
        got = adaptive.inverse_dynamics(q, qd, qdd, values=given)
        want = (
            np.einsum("sij,...j->si", model.regressor(q, qd, qdd), given)
            if given is values
            else np.einsum("sij,sj->si", model.regressor(q, qd, qdd), given)
        )
        assert np.abs(got - want).max() < 1e-12 * max(scale, np.abs(want).max())
    for name, args in (
        ("mass_matrix", (q,)),
        ("forward_dynamics", (q, qd, tau)),
        ("kinetic_energy", (q, qd)),
    ):
        want = getattr(model, name)(*args)
        got = getattr(adaptive, name)(*args, values=values)
        assert np.abs(got - want).max() < 1e-10 * np.abs(want).max(), name
    lift = adaptive.potential_energy(q, values=values) - model.potential_energy(q)
    assert np.ptp(lift) < 1e-12 * np.abs(model.potential_energy(q)).max(), (
        "equal but for a constant"
    )


def test_compiling_happens_once_and_a_warm_start_traces_nothing(tmp_path):
    code = (
        "import sys, numpy as np, dynarm\n"
        "import dynarm.plan.choice as counts\n"
        "if sys.argv[1] == 'warm':\n"
        "    def refuse(*a, **k): raise AssertionError('traced')\n"
        "    counts.trace_function = refuse\n"
        "m = dynarm.compile(dynarm.load('two_link'))\n"
        "print(m.inverse_dynamics(*np.ones((3, 2))).tolist(), m.kernel('inverse_dynamics').notes)\n"
    )
    env = {"DYNARM_CACHE_DIR": str(tmp_path / "cache"), "PATH": ""}
    cold, warm = (
        subprocess.run(
            [sys.executable, "-c", code, how], env=env, capture_output=True, text=True, check=True
        ).stdout
        for how in ("cold", "warm")
    )
    assert cold == warm and "formulation" in cold


def test_importing_is_cheap():
    """dynarm itself imports nothing heavy: the time is measured in benchmarks, the reason is tested here."""
    code = (
        "import sys, numpy\nbefore = set(sys.modules)\nimport dynarm\n"
        "new = {m.split('.')[0] for m in set(sys.modules) - before}\n"
        "print(sorted(new & {'casadi', 'llvmlite', 'scipy', 'pandas', 'plotly', 'typer', 'rich'}))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
