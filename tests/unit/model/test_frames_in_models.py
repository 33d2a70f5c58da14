"""DataFrames, Series, masked arrays and tensors given to models, functions, runs and mobile robots."""

from __future__ import annotations

import pickle
import types
from functools import cache

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import dynarm
from dynarm.machine.load import quick
from dynarm.model.model import Model
from dynarm.plan.quantities import QUANTITIES
from dynarm.robot.frames.generic import generic_arm
from dynarm.simulation import ComputedTorque, GravityPD, Sampled

N = 3  # joints, and samples: where both are equal, going by columns is not noticed by shapes
NAMES = ("joint1", "joint2", "joint3")
TURNED = [2, 0, 1]
STATES = np.random.default_rng(0).uniform(-2, 2, (3, N, N))
STATE = {name: len(quantity.state) for name, quantity in QUANTITIES.items()}


@cache
def model(**options) -> Model:
    return dynarm.compile(generic_arm(N), **options)


def frame(x, names=NAMES, turned=True) -> pd.DataFrame:
    made = pd.DataFrame(x, columns=list(names))
    return made[[names[k] for k in TURNED]] if turned else made


def series(x, names=NAMES) -> pd.Series:
    return pd.Series(x, index=list(names)).iloc[TURNED]


def several(found) -> tuple:
    return found if isinstance(found, tuple) else (found,)


def same(found, wanted) -> bool:
    return all(
        type(a) is type(b) and np.array_equal(a, b)
        for a, b in zip(several(found), several(wanted), strict=True)
    )


class Tensor:
    """An array of another library: `__array__`, and its own mind about NumPy's functions."""

    def __init__(self, values):
        self.values = values

    def __array__(self, dtype=None, copy=None):
        return self.values

    def __array_ufunc__(self, *args, **options):
        return "something else"


KINDS = {
    "columns in another order": (frame, series),
    "columns in order": (lambda x: frame(x, turned=False), lambda x: pd.Series(x, index=NAMES)),
    "other names": (lambda x: pd.DataFrame(x, columns=["a", "b", "c"]), pd.Series),
    "tensors": (Tensor, Tensor),
    "lists of series": (lambda x: [series(row) for row in x], series),
    "nothing masked": (np.ma.masked_array, np.ma.masked_array),
    "pandas' own": (lambda x: frame(x).astype("Float64"), lambda x: series(x).astype("Float64")),
}


@pytest.fixture(params=["builtins", "none"])
def host(request, monkeypatch):
    """Models on hosts with and without builtins."""
    if request.param == "none":
        monkeypatch.setattr("dynarm.model.calls.bound", lambda *given: None)
        return dynarm.compile(generic_arm(N))
    if quick._known() is None:
        pytest.skip("this host has no builtins")
    model().functions["gravity"]
    assert type(model().gravity) is types.BuiltinFunctionType
    return model()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", QUANTITIES)
def test_every_method_and_function(host, name, kind):
    many, one = KINDS[kind]
    args = STATES[: STATE[name]]
    call = getattr(host, name)
    wanted, single = call(*args), call(*(x[0] for x in args))
    for function in (call, getattr(host, name), host.functions[name]):
        assert same(function(*map(many, args)), wanted)
        assert same(function(*(one(x[0]) for x in args)), single)
        assert same(function(many(args[0]), *args[1:]), wanted), "mixed with arrays"
    words = QUANTITIES[name].state
    assert same(getattr(host, name)(**dict(zip(words, map(many, args), strict=True))), wanted)
    assert same(getattr(host, name)(*map(many, args), threads=2), wanted)


def test_threads_that_are_set(host):
    wanted = host.gravity(STATES[0])
    dynarm.set_threads(2)
    try:
        assert same(host.gravity(frame(STATES[0])), wanted)
    finally:
        dynarm.set_threads(1)


BAD = {
    "masked": (np.ma.masked_array(STATES[0], STATES[0] > 0), "masked entries; fill them"),
    "xarray": (xr.DataArray(STATES[0], dims=("t", "joint")), "xarray DataArray"),
    "some names": (pd.DataFrame(STATES[0], columns=["joint1", "joint2", "x"]), "not 'joint3'"),
    "too few": (pd.DataFrame(STATES[0][:, :2]), "2 columns"),
    "texts": (pd.DataFrame(STATES[0]).astype(str), "real numbers"),
    "complex": (pd.DataFrame(STATES[0]).astype(complex), "real numbers"),
    "objects": (pd.DataFrame(STATES[0]).astype(object), "real numbers"),
    "series": (pd.Series([1.0, 2.0], index=["joint1", "joint2"]), "not 'joint3'"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_is_refused(host, case):
    value, words = BAD[case]
    for call in (host.gravity, host.functions["gravity"], lambda q: host.gravity(q=q)):
        with pytest.raises(dynarm.DynarmError, match=words):
            call(value)
        with pytest.raises(dynarm.DynarmError, match=words):
            call([value] if case not in ("texts", "complex", "objects") else value)


@pytest.mark.parametrize(
    "out", [frame(np.zeros((N, N))), np.ma.masked_array(np.zeros((N, N))), [[0.0] * N] * N]
)
def test_out_is_an_array(host, out):
    before = np.array(out)
    for call in (host.gravity, host.functions["gravity"]):
        with pytest.raises(dynarm.DynarmError, match=r"out is .*; give a float64 array"):
            call(STATES[0], out=out)
    with pytest.raises(dynarm.DynarmError, match=r"out is .*; give a float64 array"):
        host.functions["gravity"](frame(STATES[0]), out)
    assert np.array_equal(out, before)
    right = np.zeros((N, N))
    assert host.gravity(frame(STATES[0]), out=right) is right
    assert np.array_equal(right, host.gravity(STATES[0]))
    assert host.functions["gravity"](frame(STATES[0]), out=right) is right


def test_wrench_gravity_and_values():
    plain = model()
    wrench = np.random.default_rng(1).normal(size=(N, 6))
    axes = ["fx", "fy", "fz", "tx", "ty", "tz"]
    wanted = plain.inverse_dynamics(*STATES, wrench)
    turned = pd.DataFrame(wrench, columns=axes)[axes[::-1]]
    assert same(plain.inverse_dynamics(*STATES, turned), wanted)
    assert same(plain.inverse_dynamics(*STATES, turned.add_suffix("_wrench")), wanted)
    assert same(plain.functions["inverse_dynamics:wrench"](*STATES, turned), wanted)
    fed = model(gravity="input", parameters="inputs")
    g, p = np.array([1.0, 2.0, 3.0]), len(fed.minimal.names)
    values = np.random.default_rng(2).normal(size=p)
    wanted = fed.bias(*STATES[:2], gravity=g, values=values)
    labelled = pd.Series(values, index=fed.minimal.names).iloc[::-1]
    falling = pd.Series(g, index=list("xyz"))[["z", "x", "y"]]
    assert same(fed.bias(*STATES[:2], gravity=falling, values=labelled), wanted)
    with pytest.raises(dynarm.DynarmError, match=f"values has {p - 1} entries"):
        fed.bias(*STATES[:2], gravity=g, values=pd.Series(values[1:]))


# ---- functions are still NumPy's


def test_functions_look_like_gufuncs():
    f = model().functions["mass_matrix"]
    assert isinstance(f, np.ufunc) and type(f.ufunc) is np.ufunc
    assert (f.nin, f.nout, f.signature, f.types) == (1, 1, "(3)->(3,3)", ["d->d"])
    assert f.__name__ == "mass_matrix" and "mass_matrix" in f.__doc__ and "nin" in dir(f)
    assert f is model().functions["mass_matrix"] and f == f.ufunc and hash(f) == hash(f.ufunc)
    assert f != model().functions["gravity"] and "mass_matrix" in repr(f)
    out = np.zeros((N, N, N))
    assert f(STATES[0], out) is out and same(out, model().mass_matrix(STATES[0]))
    with pytest.raises(TypeError):
        f(STATES[0], nonsense=1)
    with pytest.raises(AttributeError):
        f.nonsense  # noqa: B018


def test_functions_pickle():
    for robot, key, args in (
        (model(), "gravity", STATES[:1]),
        (rover(), "energy", (np.zeros(6), np.ones(4))),
    ):
        again = pickle.loads(pickle.dumps(robot.functions[key]))
        assert same(again(*args), robot.functions[key](*args))


# ---- robots, runs, mobile robots


def test_parameters_of_an_arm():
    arm = generic_arm(N)
    names = ["m", "mcx", "mcy", "mcz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz"]
    table = pd.DataFrame(arm.parameters, index=NAMES, columns=names)
    shuffled = table.iloc[TURNED][names[::-1]]
    assert np.array_equal(arm.with_parameters(2 * shuffled).parameters, 2 * arm.parameters)
    for wrong, words in (
        (table.rename(columns={"m": "mass"}), "not 'm'"),
        (table.rename(index={"joint1": "base"}), "rows of parameters name .* but not 'joint1'"),
        (np.ma.masked_array(arm.parameters, arm.parameters > 1e-9), "masked"),
    ):
        with pytest.raises(dynarm.DynarmError, match=words):
            arm.with_parameters(wrong)
    joint = dynarm.Joint(mass=1.0, com=pd.Series([1.0, 2, 3]), inertia=pd.DataFrame(np.eye(3)))
    assert joint == dynarm.Joint(mass=1.0, com=(1.0, 2, 3), inertia=np.eye(3))


def test_runs():
    q0, qd0, tau = STATES[:, 0]
    fixed = {"t_end": 0.05, "method": "rk4", "dt": 0.01}

    def ends(*given, **options):
        return dynarm.simulate(model(), *given, **{**fixed, **options}).q[..., -1, :]

    wanted = ends(q0, qd0, torque=tau)
    assert np.array_equal(ends(series(q0), series(qd0), torque=series(tau)), wanted)
    assert np.array_equal(ends(q0, qd0, torque=lambda t, q, qd: series(tau)), wanted)
    assert np.array_equal(
        ends(frame(STATES[0]), frame(STATES[1]), torque=frame(STATES[2])),
        ends(*STATES[:2], torque=STATES[2]),
    )
    times = [0.0, 0.02, 0.04]
    for hold in ("zero", "linear"):
        sampled = Sampled(times, frame(STATES[2]), hold)
        assert np.array_equal(
            ends(q0, qd0, torque=sampled),
            ends(q0, qd0, torque=Sampled(times, STATES[2], hold)),
        )
    with pytest.raises(dynarm.DynarmError, match="but not 'joint3'"):
        ends(q0, qd0, torque=Sampled(times, frame(STATES[2]).rename(columns={"joint3": "x"})))
    with pytest.raises(dynarm.DynarmError, match="masked"):
        ends(np.ma.masked_array(q0, [1, 0, 0]), qd0)


@pytest.mark.parametrize("law", [GravityPD, ComputedTorque])
def test_controllers(law):
    pose, kp, kd = STATES[:, 1]
    wanted = law(model(), pose, kp, kd, limit=abs(kp))(0.0, *STATES[:2, 0])
    labelled = law(model(), series(pose), series(kp), series(kd), limit=series(abs(kp)))
    assert np.array_equal(labelled(0.0, *STATES[:2, 0]), wanted)


@cache
def rover():
    return dynarm.mobile.load("tanner2001")


def test_mobile_robots():
    robot = rover()
    rng = np.random.default_rng(5)
    sizes = {p: len(robot.entry_names(p)) for p in ("q", "z", "tau", "load", "u")}
    plain = {p: rng.uniform(-0.5, 0.5, (4, size)) for p, size in sizes.items()}
    turned = {
        p: pd.DataFrame(x, columns=robot.entry_names(p)).iloc[:, ::-1] for p, x in plain.items()
    }
    for name, words in (
        ("equations", "q z"),
        ("kane_equations", "q u"),
        ("acceleration", "q z tau load"),
        ("wheel_forces", "q z tau load"),
        ("kinetic_energy", "q z"),
        ("potential_energy", "q"),
    ):
        call = getattr(robot, name)
        keys = words.split()
        assert same(call(*(turned[p] for p in keys)), call(*(plain[p] for p in keys))), name
    control = robot.functions["control"]
    keys = ("q", "z", "tau", "load")
    assert same(control(*(turned[p] for p in keys)), control(*(plain[p] for p in keys)))
    one, row = {p: x[0] for p, x in plain.items()}, {p: x.iloc[0] for p, x in turned.items()}
    wanted = robot.admissible(one["q"], one["z"], one["tau"], 0.5)
    assert str(robot.admissible(row["q"], row["z"], row["tau"], 0.5)) == str(wanted)
    run = robot.simulate(one["q"], one["z"], 0.02, one["tau"], load=one["load"])
    again = robot.simulate(row["q"], row["z"], 0.02, row["tau"], load=row["load"])
    assert np.array_equal(run.q, again.q)
    with pytest.raises(dynarm.DynarmError, match="but not 'x'"):
        robot.equations(turned["q"].rename(columns={"x": "east"}), plain["z"])
    with pytest.raises(dynarm.DynarmError, match="masked"):
        robot.equations(np.ma.masked_array(plain["q"], plain["q"] > 0), plain["z"])
