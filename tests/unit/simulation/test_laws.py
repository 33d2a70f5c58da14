"""Inputs one by one: what they give inside an interval, where they break it, and what a controller computes."""

from __future__ import annotations

import numpy as np
import pytest

import dynarm
from dynarm.simulation import ComputedTorque, GravityPD, Sampled
from dynarm.simulation.inputs import (
    Constant,
    FunctionInput,
    Held,
    Line,
    Raised,
    breaks_of,
    source_of,
)
from oracles.motions import pendulum, rail

Q = np.zeros(2)


def at(source, start, end, t=None):
    """What a source gives within an interval."""
    return source.during(start, end, Q, Q)(start if t is None else t, Q, Q)


def test_samples_close_together_late_in_a_run():
    """Each interval has its own sample, also where intervals are short against the time that has gone by."""
    t = 100 + 1e-4 * np.arange(5)
    source = Sampled(t, np.arange(10.0).reshape(5, 2))
    for k in range(4):
        assert at(source, t[k], t[k + 1]).tolist() == [2 * k, 2 * k + 1]
    assert at(source, t[4], 101.0).tolist() == [8, 9] and at(source, 0.0, 100.0).tolist() == [0, 1]


def test_an_interval_that_begins_a_rounding_before_its_sample():
    source = Sampled([0.0, 1.0, 2.0], [[1.0], [2.0], [3.0]])
    assert at(source, np.nextafter(1.0, 0), 2.0) == [2.0]
    assert at(source, 1.0 - 1e-5, 1.0) == [1.0]


def test_lines_between_samples():
    source = Sampled([1.0, 3.0, 4.0], [[1.0, 0.0], [5.0, 2.0], [4.0, 2.0]], "linear")
    assert at(source, 1.0, 3.0, 2.5).tolist() == [4.0, 1.5]
    assert at(source, 3.0, 4.0, 3.25).tolist() == [4.75, 2.0]
    assert at(source, 0.0, 1.0, 0.5).tolist() == [1.0, 0.0]  # the nearest row outside
    assert at(source, 4.0, 9.0, 8.0).tolist() == [4.0, 2.0]
    law = source.during(1.0, 3.0, Q, Q)
    assert law.steady and law.rows(np.array([1.0, 2.0])).tolist() == [[1.0, 0.0], [3.0, 1.0]]
    batch = Line(1.0, np.ones((3, 2)), np.full((3, 2), 2.0)).rows(np.array([1.0, 2.0]))
    assert batch.shape == (2, 3, 2) and (batch[0] == 1).all() and (batch[1] == 3).all()


def test_breaks_of_samples_lie_inside_the_run():
    source = Sampled([-1.0, 0.0, 0.5, 2.0, 3.0], np.zeros((5, 1)))
    assert source.breaks(2.0).tolist() == [0.5]
    assert source.breaks(2.5).tolist() == [0.5, 2.0]


def test_breaks_that_rounding_separates_are_one():
    """1e-12 of the run is the distance: as much more at its end as the run is longer."""
    tiny = np.nextafter(0, 1)
    for end in (1.0, 1e4):
        times = np.array([tiny, 1e-14 * end, 0.3 * end, 0.3 * end * (1 + 1e-15), 0.7 * end])
        close = [0.7 * end + 1e-13 * end, 0.8 * end, 0.8 * end + 1e-11 * end, end * (1 - 1e-15)]
        source = Sampled([*times, *close], np.zeros((9, 1)))
        found = breaks_of([source], end)
        assert np.allclose(found / end, [0.3, 0.7, 0.8, 0.8 + 1e-11], rtol=0, atol=1e-15)
        both = breaks_of([source, Sampled([0.1 * end, 0.3 * end], np.zeros((2, 1)))], end)
        assert len(both) == 5 and both[0] == 0.1 * end
    assert len(breaks_of([Constant(Q), Constant(Q)], 1.0)) == 0


class Ticker:
    """A controller that notes when it was asked."""

    def __init__(self, rate):
        self.rate, self.asked = rate, []

    def __call__(self, t, q, qd):
        self.asked.append((t, q.shape, qd.shape))
        return np.full(len(q), float(len(self.asked)))


@pytest.mark.parametrize("method", ["dop853", "rk4", "ab4"])
def test_a_controller_is_asked_at_its_ticks_and_nowhere_else(method):
    """Samples of a wrench break the run between the ticks; what was answered at the last tick holds."""
    model = dynarm.compile(rail(mass=2.0))
    law = Ticker(4.0)
    pushes = Sampled([0.0, 0.1, 0.3, 0.6], np.zeros((4, 6)))
    given = {"method": method, "dt": None if method == "dop853" else 0.05, "wrench": pushes}
    run = dynarm.simulate(model, [0.0], [0.0], 1.1, law, **given)
    assert np.allclose([t for t, *_ in law.asked], [0, 0.25, 0.5, 0.75, 1.0], rtol=0, atol=1e-12)
    assert {shape for _, *both in law.asked for shape in both} == {(1,)}
    want = 1 + np.floor(run.t / 0.25 + 1e-9)
    assert (run.tau[:, 0] == want).all()
    assert {0.1, 0.3, 0.6} <= set(run.t)


def test_ticks_of_a_controller():
    law = Held(FunctionInput(Ticker(10.0), (1,), "torque"), 0.1)
    assert np.allclose(law.breaks(0.35), [0.1, 0.2, 0.3], rtol=0, atol=1e-15)
    assert np.allclose(law.breaks(0.3), [0.1, 0.2], rtol=0, atol=1e-15)  # 0.3 is the end
    assert len(law.breaks(0.05)) == 0 and len(law.breaks(10.0)) == 99
    slow = Held(FunctionInput(Ticker(0.5), (1,), "torque"), 2.0)
    assert slow.breaks(7.0).tolist() == [2.0, 4.0, 6.0]


def test_rates_that_are_refused():
    for wrong in (0.0, -1.0, np.inf, np.nan, "fast"):
        with pytest.raises(dynarm.DynarmError, match="rate is"):
            source_of(Ticker(wrong), (1,), "torque")
    assert source_of(Ticker(0.5), (1,), "torque").period == 2.0


@pytest.mark.parametrize(
    "shape, returned, want",
    [
        ((2,), [1.0, 2.0], [1.0, 2.0]),
        ((1,), 3.0, [3.0]),
        ((3, 2), [1.0, 2.0], [[1.0, 2.0]] * 3),
        ((2, 1), 3.0, [[3.0], [3.0]]),
        ((2,), 3.0, None),
        ((1,), [1.0, 2.0], None),
        ((3, 2), [[1.0, 2.0]], None),
        ((3, 1), [1.0, 2.0, 3.0], None),
        ((2,), [[1.0, 2.0]], None),
    ],
)
def test_shapes_that_a_function_may_return(shape, returned, want):
    law = FunctionInput(lambda t, q, qd: returned, shape, "torque")
    q = np.zeros(shape)
    if want is not None:
        assert law(0.0, q, q).tolist() == want
        return
    with pytest.raises(Raised) as raised:
        law(0.0, q, q)
    assert "torque function returned shape" in str(raised.value.error)


@pytest.mark.parametrize(
    "given, fits", [((3, 2), True), ((2,), True), ((3,), False), ((2, 2), False)]
)
def test_shapes_of_constants_and_samples_in_a_batch(given, fits):
    for what in (np.ones(given), Sampled([0.0, 1.0], np.ones((2, *given)))):
        if fits:
            value = source_of(what, (3, 2), "torque").during(0.0, 1.0, Q, Q)(0.0, Q, Q)
            assert (np.broadcast_to(value, (3, 2)) == 1).all()
        else:
            with pytest.raises(dynarm.DynarmError, match="torque"):
                source_of(what, (3, 2), "torque")


@pytest.mark.parametrize(
    "t, values",
    [
        ([], np.zeros((0, 2))),
        ([0.0, 1.0], [0.0, 1.0]),
        ([[0.0, 1.0]], [[0.0, 1.0]]),
        (0.0, [[1.0]]),
        ([0.0, np.inf], [[1.0], [2.0]]),
        ([0.0, 2.0, 1.0], [[1.0], [2.0], [3.0]]),
    ],
)
def test_samples_that_are_none(t, values):
    with pytest.raises(dynarm.DynarmError, match="samples"):
        Sampled(t, values)


def test_samples_of_all_sizes_are_taken():
    assert Sampled([0.0], [[1.0]]).values.shape == (1, 1)
    assert Sampled([0.0, 0.5], np.zeros((2, 3, 4))).values.shape == (2, 3, 4)


def test_samples_in_a_table_go_by_their_names():
    import pandas as pd

    table = pd.DataFrame({"elbow": [1.0, 2.0], "shoulder": [3.0, 4.0]})
    source = source_of(Sampled([0.0, 1.0], table), (2,), "torque", ("shoulder", "elbow"))
    assert source.values.tolist() == [[3.0, 1.0], [4.0, 2.0]]
    plain = source_of(Sampled([0.0, 1.0], table.to_numpy()), (2,), "torque", ("shoulder", "elbow"))
    assert plain.values.tolist() == [[1.0, 3.0], [2.0, 4.0]]


# ---- controllers in numbers


def moving(t):
    return np.array([1.0 + t]), np.array([0.5]), np.array([2.0])


def test_controllers_in_numbers():
    """A pendulum of 1.5 kg at 0.7 m: weight m g l sin q, inertia 0.05 + m l^2."""
    model, q, qd = dynarm.compile(pendulum()), np.array([0.4]), np.array([0.2])
    weight, inertia = 1.5 * 9.81 * 0.7 * np.sin(0.4), 0.05 + 1.5 * 0.7**2
    (tau,) = GravityPD(model, moving, 3.0, 7.0)(0.5, q, qd)
    assert abs(tau - (3 * 1.1 + 7 * 0.3 + weight)) <= 1e-12
    (tau,) = ComputedTorque(model, moving, 3.0, 7.0)(0.5, q, qd)
    assert abs(tau - (inertia * (2.0 + 7 * 0.3 + 3 * 1.1) + weight)) <= 1e-12
    (tau,) = GravityPD(model, [1.0], 3.0, 7.0)(0.5, q, qd)
    assert abs(tau - (3 * 0.6 - 7 * 0.2 + weight)) <= 1e-12


@pytest.mark.parametrize("effort, limit, want", [
    (None, None, 1000.0),
    (0.0, None, 1000.0),  # a file's way to say that it knows none
    (0.5, None, 0.5),
    (0.5, 20.0, 20.0),
    (None, 0.0, 0.0),
    (5.0, np.inf, 1000.0),
])  # fmt: skip
def test_whose_limit_counts(effort, limit, want):
    law = GravityPD(dynarm.compile(rail(effort_limit=effort)), [1.0], 1e3, 0.0, limit=limit)
    assert law(0.0, np.zeros(1), np.zeros(1)) == [want]
    assert law(0.0, np.full(1, 2.0), np.zeros(1)) == [-want]


@pytest.mark.parametrize(
    "wrong",
    [
        {"rate": 0.0},
        {"rate": np.inf},
        {"kp": np.nan},
        {"kp": [1.0, np.nan]},
        {"kd": np.ones((2, 3, 2))},
        {"kd": np.ones((2, 1, 2, 2))},
        {"kp": np.ones((2, 3))},
        {"limit": [1.0, 2.0, 3.0]},
        {"gravity": [0, 0, -9.81]},
    ],
)
def test_controllers_that_cannot_be(wrong, two_link):
    given = {"reference": [0.0, 0.0], "kp": 1.0, "kd": 1.0} | wrong
    with pytest.raises(dynarm.DynarmError, match=next(iter(wrong))):
        GravityPD(two_link, **given)


def test_controllers_that_can_be(two_link):
    law = GravityPD(two_link, [0.0, 0.0], [2.0], np.ones((5, 2)), rate=0.5, limit=[[9.0]])
    q = np.full((5, 2), 0.1)
    assert law(0.0, q, q).shape == (5, 2)


def test_a_controller_for_a_model_with_inputs_asks_for_them(two_link):
    arm = dynarm.load("two_link")
    model = dynarm.compile(arm, gravity="input", parameters="inputs")
    values, q = model.minimal.values, np.array([0.3, 0.2])
    with pytest.raises(dynarm.DynarmError, match="give values="):
        GravityPD(model, q, 1.0, 1.0, gravity=arm.gravity)
    with pytest.raises(dynarm.DynarmError, match="give gravity="):
        GravityPD(model, q, 1.0, 1.0, values=values)
    law = GravityPD(model, q, 1.0, 1.0, values=values, gravity=arm.gravity)
    assert np.abs(law(0.0, q, 0 * q) - two_link.gravity(q)).max() <= 1e-12
