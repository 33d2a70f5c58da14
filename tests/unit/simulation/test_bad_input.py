"""What goes wrong has a status, a time and a reason; what was computed until then is kept; nothing runs for ever."""

from __future__ import annotations

import numpy as np
import pytest

import dynarm
from dynarm import Arm, Joint
from dynarm.simulation import Event, Sampled
from oracles.motions import rail

ADAPTIVE = ["dop853", "rk45", "rk23", "radau", "bdf", "lsoda"]
STEPPED = ["rk4", "ab4"]


def step_of(method, dt=1e-3):
    return {"dt": dt} if method in (*STEPPED, "midpoint") else {"rtol": 1e-6}


@pytest.fixture(scope="module")
def mass():
    return dynarm.compile(rail(mass=2.0))


def reaches(run, low, high):
    """The run is whole up to a time between low and high, which its message names."""
    assert low <= run.t[-1] <= high + 1e-9 and run.reached == run.t[-1], run.t[-1]
    assert (
        np.isfinite(run.q).all()
        and np.isfinite(run.qd).all()
        and len(run.t) == len(run.q) == len(run.tau)
    )
    assert "t = " in run.message
    with pytest.raises(dynarm.DynarmError):
        run.check()
    return True


# ---- functions that fail


class SensorLost(ValueError):
    """ValueError is what SciPy raises over NaN: it must not be taken for that."""


@pytest.mark.parametrize("what", ["torque", "wrench"])
@pytest.mark.parametrize("method", [*ADAPTIVE, *STEPPED])
def test_what_a_function_raises_is_raised_with_its_traceback(method, what, mass):
    size = {"torque": 1, "wrench": 6}[what]

    def fails(t, q, qd):
        if t > 0.5:
            raise SensorLost("sensor lost")
        return np.sin(np.arange(1, size + 1) * 20 * t)

    given = {what: fails, **step_of(method)}
    with pytest.raises(SensorLost, match=r"\Asensor lost\Z") as raised:
        dynarm.simulate(mass, [0.1], [0.2], 1.0, method=method, **given)
    assert raised.traceback[-1].name == "fails"


@pytest.mark.parametrize("method", ["dop853", "lsoda", "rk4", "ab4"])
@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_a_function_that_returns_no_finite_number(method, wrong, two_link):
    def torque(t, q, qd):
        return np.cos(30 * t) * np.ones(2) if t <= 0.2 else np.full(2, wrong)

    run = dynarm.simulate(two_link, [0.1, 0.2], [0, 0], 1.0, torque, method, **step_of(method))
    assert run.status == "function" and reaches(run, 0.1, 0.201)  # ab4 knows the state there
    assert "the torque function returned NaN or infinity" in run.message


@pytest.mark.parametrize("method", ["dop853", "lsoda", "rk4", "ab4"])
@pytest.mark.parametrize(
    "wrong, text",
    [
        (np.zeros(3), r"returned shape \(3,\)"),
        (None, "the torque function returned"),
        ("torque", "what the torque function returned"),
        (np.ones(2) * 1j, "what the torque function returned"),
    ],
    ids=["shape", "none", "text", "complex"],
)
def test_a_function_that_returns_something_else(method, wrong, text, two_link):
    def torque(t, q, qd):
        return np.cos(30 * t) * np.ones(2) if t <= 0.2 else wrong

    with pytest.raises(dynarm.DynarmError, match=text):
        dynarm.simulate(two_link, [0.1, 0.2], [0, 0], 1.0, torque, method, **step_of(method))


@pytest.mark.parametrize("method", ["dop853", "rk4", "ab4"])
@pytest.mark.parametrize("chosen", [True, False])
def test_a_function_that_fails_at_once(method, chosen, mass):
    given = step_of(method) if chosen else {}
    with pytest.raises(ZeroDivisionError):
        dynarm.simulate(mass, [0.1], [0.2], 1.0, lambda t, q, qd: 1 / 0, method, **given)


@pytest.mark.parametrize("method", ["dop853", "rk4"])
def test_a_controller_that_fails_at_a_tick(method, mass):
    class Law:
        rate = 10.0

        def __call__(self, t, q, qd):
            if t > 0.45:
                raise OSError("bus")
            return -q

    with pytest.raises(OSError, match="bus"):
        dynarm.simulate(mass, [0.1], [0.2], 1.0, Law(), method, **step_of(method))


def test_events_that_fail(mass):
    def run(event):
        return dynarm.simulate(
            mass, [0.1], [0.2], 1.0, lambda t, q, qd: np.sin(90 * t), events=[event]
        )

    with pytest.raises(dynarm.DynarmError, match="what event 'e' returned is None"):
        run(Event("e", lambda t, q, qd: 1.0 if t < 0.3 else None))
    with pytest.raises(KeyError):
        run(lambda t, q, qd: 1.0 if t < 0.3 else {}[1])
    nan = run(Event("e", lambda t, q, qd: 1.0 if t < 0.3 else np.nan))
    assert nan.status == "function" and "'e' returned NaN" in nan.message
    assert 0 < nan.t[-1] <= 0.4


def test_events_that_jump_are_found_where_they_jump(mass):
    """The sign function has no slope; noise has no zero at all, and ends all the same."""
    run = dynarm.simulate(
        mass, [0.1], [0.2], 1.0, events=[lambda t, q, qd: -1e300 if t < 0.3 else 1e300]
    )
    assert [round(t, 9) for t, _ in run.events] == [0.3]
    noise = np.random.default_rng(0)
    noisy = dynarm.simulate(mass, [0.1], [0.2], 1.0, events=[lambda t, q, qd: noise.normal()])
    assert noisy.status == "success" and noisy.events


# ---- mass matrices that cannot be solved with


@pytest.mark.parametrize("method", ["dop853", "radau", "rk4", "ab4", "midpoint"])
def test_no_inertia_at_all(method):
    arm = Arm([Joint(mass=1, com=(0.2, 0, 0), inertia=np.eye(3) * 0.1), Joint(a=1.0, name="idle")])
    run = dynarm.simulate(
        dynarm.compile(arm), [0, 0], [1, 0], 1.0, method=method, **step_of(method)
    )
    assert run.status == "singular" and len(run.t) == 1 and run.t[0] == 0
    assert "idle" in run.message and "t = 0 s" in run.message
    with pytest.raises(dynarm.DynarmError, match="idle"):
        run.check()


def tip_mass():
    """Two massless links with a point mass at the end: singular where they are stretched."""
    tool = np.eye(4)
    tool[0, 3] = 1.0
    links = [Joint(name="a"), Joint(a=1.0, mass=1.0, com=(1.0, 0, 0), name="b")]
    return dynarm.compile(Arm(links, gravity=(0, 0, 0), tool=tool))


def test_singular_in_the_first_pose():
    run = dynarm.simulate(tip_mass(), [0.3, 0.0], [0, 0], 1.0)
    assert run.status == "singular" and "independent" in run.message and len(run.t) == 1
    batch = dynarm.simulate(tip_mass(), [[0.3, 0.5], [0.3, np.pi]], [0, 0], 1.0, method="rk4")
    assert batch.status == "singular" and "sample 1" in batch.message


@pytest.mark.parametrize("method", [*ADAPTIVE, *STEPPED])
def test_singular_on_the_way(method):
    """The mass flies off on a straight line, faster than the links are long: they are stretched after some time."""
    model = tip_mass()
    q0 = np.array([0.0, 2.0])
    J = model.jacobian(q0)[:2]
    qd0 = np.linalg.solve(J, [1.0, 0.0])  # 1 m/s along x
    place = model.forward_kinematics(q0)[:2, 3]
    stretched = np.sqrt(4 - place[1] ** 2) - place[0]
    run = dynarm.simulate(model, q0, qd0, 10.0, method=method, **step_of(method))
    assert run.evaluations < 20_000  # it does not search for ever
    assert run.status in ("singular", "step") and reaches(run, 0.9 * stretched, 1.01 * stretched)
    if method in ADAPTIVE:
        assert run.status == "singular" and "smallest pivot" in run.message
    before = run.t < 0.9 * stretched
    flown = model.forward_kinematics(run.q[before])[:, :2, 3] - place
    assert np.abs(flown - run.t[before, None] * [1.0, 0.0]).max() <= 1e-3


def test_parameters_that_make_no_inertia():
    model = dynarm.compile(dynarm.load("two_link"), parameters="inputs")
    values = np.stack([model.minimal.values, 0 * model.minimal.values])
    run = dynarm.simulate(model, [0.1, 0.2], [0, 0], 1.0, method="rk4", values=values)
    assert run.status == "singular" and "sample 1" in run.message


# ---- motions that blow up


@pytest.mark.parametrize("method", ["rk4", "ab4", "midpoint"])
def test_a_step_that_is_too_long(method, stanford):
    q0, qd0 = np.full(6, 0.3), np.full(6, 30.0)
    run = dynarm.simulate(stanford, q0, qd0, 5.0, method=method, dt=0.1)
    assert run.status in ("step", "nan") and reaches(run, 0.0, 4.9)
    assert "smaller dt" in run.message and np.abs(run.qd).max() < 1e5


@pytest.mark.parametrize("method", ADAPTIVE)
def test_an_escape_in_finite_time(method, mass):
    """qdd = qd^2: infinite at t = 1."""
    run = dynarm.simulate(mass, [0.0], [1.0], 5.0, lambda t, q, qd: 2 * qd**2, method, rtol=1e-6)
    assert run.evaluations < 20_000  # it does not search for ever
    assert run.status == "step" and reaches(run, 0.999, 1.001) and "blew up" in run.message
    early = run.t < 0.9
    assert np.abs(run.qd[early, 0] * (1 - run.t[early]) - 1).max() <= 1e-3


@pytest.mark.parametrize("method", [*ADAPTIVE, *STEPPED])
def test_dynamics_that_are_not_finite(method):
    """A force of 1e300 N: squares of velocities overflow within a step; no integrator may search for ever."""
    model = dynarm.compile(dynarm.load("two_link"))
    run = dynarm.simulate(model, [0.1, 0.2], [0, 0], 1.0, [1e300, 0.0], method, **step_of(method))
    assert run.evaluations < 20_000  # it does not search for ever
    assert (
        run.status in ("step", "nan")
        and len(run.t) >= 1
        and run.t[-1] < 1e-2
        and "t = " in run.message
    )
    assert np.isfinite(run.q).all() and np.isfinite(run.qd).all()


def test_too_many_steps(mass):
    run = dynarm.simulate(mass, [0.1], [0.0], 100.0, lambda t, q, qd: -8e4 * q, max_steps=200)
    assert (
        run.status == "step"
        and run.steps == 200
        and "max_steps" in run.message
        and reaches(run, 0.1, 99)
    )


# ---- what is refused before anything moves

REFUSED = {
    "model": ({"model": "puma560"}, "dynarm.compile"),
    "method": ({"method": "euler"}, "unknown method"),
    "short": ({"q0": [0.0]}, "q0 has shape"),
    "text": ({"q0": "home"}, "q0 is 'home'"),
    "nan": ({"qd0": [0, np.nan]}, "qd0 holds NaN"),
    "empty": ({"q0": np.zeros((0, 2))}, "q0 has shape"),
    "backwards": ({"t_end": -1.0}, "t_end is -1"),
    "endless": ({"t_end": np.inf}, "t_end is inf"),
    "no time": ({"t_end": None}, "t_end is None"),
    "dt": ({"dt": 0.0, "method": "rk4"}, "dt is 0"),
    "dt adaptive": ({"dt": 0.01}, "chooses its steps itself"),
    "torque": ({"torque": [1, 2, 3]}, "torque has shape"),
    "torque text": ({"torque": "none"}, "torque is 'none'"),
    "torque nan": ({"torque": [np.nan, 0]}, "torque holds NaN"),
    "wrench": ({"wrench": [1, 2]}, "wrench has shape"),
    "samples": ({"torque": Sampled([0, 1], np.zeros((2, 3)))}, "a row of the samples"),
    "values": ({"values": np.zeros(8)}, "parameters='inputs'"),
    "gravity": ({"gravity": [0, 0, -9]}, "gravity='input'"),
    "rtol": ({"rtol": 1e-20}, "double precision"),
    "atol": ({"atol": -1.0}, "atol is -1"),
    "times": ({"times": [0, 2.0]}, "times must lie"),
    "no times": ({"times": []}, "times must lie"),
    "events": ({"events": [3]}, r"events\[0\]"),
    "event": ({"events": 3}, "events is 3"),
    "limits": ({"limits": "bounce"}, "limits is 'bounce'"),
    "max_step": ({"max_step": 0}, "max_step is 0"),
    "max_steps": ({"max_steps": 0}, "max_steps is 0"),
    "every": ({"every": 0, "method": "rk4"}, "every is 0"),
    "threads": ({"threads": 0, "method": "rk4"}, "threads is 0"),
    "fixed events": ({"events": [lambda t, q, qd: 1.0], "method": "rk4"}, "knows no events"),
    "fixed times": ({"times": [0.5], "method": "ab4"}, "knows no events, limits or times"),
    "midpoint": ({"torque": lambda t, q, qd: q, "method": "midpoint"}, "'midpoint' is for free motion"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case, two_link):
    change, text = REFUSED[case]
    given = {"model": two_link, "q0": [0.1, 0.2], "qd0": [0, 0], "t_end": 1.0} | change
    with pytest.raises(dynarm.DynarmError, match=text):
        dynarm.simulate(**given)


@pytest.mark.parametrize(
    "given, text",
    [
        (([0, 1], [[1.0]]), "one row for each time"),
        (([0, 0], [[1.0], [2.0]]), "must increase"),
        (([0, 1], [[1.0], [np.nan]]), "NaN"),
        (([0, 1], [[1.0], [2.0]], "cubic"), "hold is 'cubic'"),
        ((["a"], [[1.0]]), "an array of seconds"),
    ],
)
def test_samples_refused(given, text):
    with pytest.raises(dynarm.DynarmError, match=text):
        Sampled(*given)


def test_values_and_gravity_are_asked_for():
    arm = dynarm.load("two_link")
    with pytest.raises(dynarm.DynarmError, match="give values="):
        dynarm.simulate(dynarm.compile(arm, parameters="inputs"), [0, 0], [0, 0], 1.0)
    with pytest.raises(dynarm.DynarmError, match="give gravity="):
        dynarm.simulate(dynarm.compile(arm, gravity="input"), [0, 0], [0, 0], 1.0)
    with pytest.raises(dynarm.DynarmError, match="minimal parameters"):
        dynarm.simulate(dynarm.compile(arm, parameters="inputs"), [0, 0], [0, 0], 1.0, values=[1.0])
