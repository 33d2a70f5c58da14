"""What the paper says of Figs 3, 4, 5 is checked so that it can fail: made-up runs on both sides of every limit."""

from __future__ import annotations

from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest

from dynarm import mobile
from dynarm.mobile import cases
from dynarm.mobile.outline import outline
from dynarm.mobile.reach import _spread
from dynarm.mobile.run import negative_spans

ROBOT = mobile.load("tanner2001")
T = np.linspace(0.0, 1.0, 201)
STARTS = {
    3: ([0, 0, 0, 0, 0, 0], [1, 0, 0, 0]),
    4: ([0, 0, 0, 0, 0, 0], [0, 0, 3, 0]),
    5: ([0, 0, 0, 0.3, 0, 0], [1, 0, 0, 0]),
}


@cache
def figure(number: int) -> cases.CaseRun:
    return cases.run(number)


def made_up(**given) -> SimpleNamespace:
    """A run that stands still with all wheels on the ground, but for what is given."""
    q, z = np.zeros((len(T), 6)), np.zeros((len(T), 4))
    columns = {"x": (q, 0), "y": (q, 1), "q1": (q, 4), "v": (z, 0), "q1d": (z, 2)}
    for key, (table, k) in columns.items():
        table[:, k] = given.get(key, 0.0)
    measure = given.get("measure", np.ones_like(T))
    energy = given.get("energy", np.full_like(T, 5.0))
    spans = negative_spans(T, measure)
    return SimpleNamespace(t=T, q=q, z=z, measure=measure, energy=energy, intervals=spans)


def holds(check, claim: str, across=None, **given) -> bool:
    answer = check(made_up(**given), np.zeros_like(T) if across is None else across)
    (finding,) = [f for f in answer if f.claim == claim]
    return finding.holds


@pytest.mark.parametrize("number", STARTS)
def test_motions_start_as_told(number):
    """The published start and its ten seconds, by steps of 5 ms, drawn every quarter of a second."""
    made = figure(number)
    q0, z0 = STARTS[number]
    assert made.run.q[0].tolist() == q0 and made.run.z[0].tolist() == z0
    assert (len(made.run.t), made.run.t[1], made.run.t[-1]) == (2001, 0.005, 10.0)
    assert made.case.number == number and not made.run.tau.any()
    assert np.allclose(made.snapshots["t"], np.arange(41) / 4, rtol=0, atol=1e-12)
    assert np.array_equal(made.needed, made.run.friction_needed.max(-1))
    for k in (0, 40):
        drawn = outline(made.robot, made.run.q[50 * k])
        assert np.array_equal(made.snapshots["platform"][k], drawn.polygon)
        assert np.array_equal(made.snapshots["arm"][k], drawn.arm[1:])


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (4, "measure negative for q1 in 26-109, 252-334, 386-468, 611-694 ... degrees"),
        (5, "from -43 to -95, -92 to -47 degrees; the right side is -180 to 0"),
    ],
)
def test_where_the_risk_is_in_words(number, words):
    assert words in figure(number).findings[2].text


def test_snapshots_as_often_as_asked():
    made = cases.run("3", every=0.4)
    assert np.allclose(made.snapshots["t"], np.arange(26) * 0.4, rtol=0, atol=0.0051)


def test_events_of_a_report_say_what_was_lost():
    data = cases.report(5)
    series = figure(5).run
    told = [(t, wheel, word) for t, _, wheel, word in data["events"]]
    first, *_ = told
    assert first[2] == "lost" and [word for _, _, word in told] == ["lost", "found"] * 2
    after = series.t > first[0]
    wheel = ROBOT.wheel_names.index(first[1])
    assert series.wheel_forces[after][0, wheel, 2] < 0
    assert np.array_equal(data["path"], series.q[:, :3])


# ---- the centripetal force


def test_centripetal_force_is_that_of_a_point_on_a_circle():
    """A platform of 40 kg at constant speed on a circle: m v w, towards the middle."""
    massless = ROBOT.arm.with_parameters(np.zeros((2, 10)))
    bare = mobile.MobileManipulator(
        mobile.Platform(40.0, (1, 1, 1), 0.15),
        [mobile.Wheel(w.x, w.y, w.radius, 0.0, w.kind) for w in ROBOT.wheels],
        mobile.Base(),
        massless,
    )
    phi, v = 0.3, 1.5
    yaw = v * np.tan(phi) / 0.6
    speed = np.hypot(v, 0.3 * yaw)  # {v} stands 0.3 m ahead of the rear axle
    q = np.array([[0.0, 0.0, 0.7, phi, 0.0, 0.0]])
    z = np.array([[v, 0.0, 0.0, 0.0]])
    _, ground, push, _ = bare.functions["prescribed"](q, z, np.zeros((1, 4)), np.zeros(6))
    forces = _spread(bare, phi, ground[0], push[0])
    run = SimpleNamespace(q=q, z=z, wheel_forces=forces[None])
    assert cases._across(bare, run)[0] == pytest.approx(40.0 * speed * yaw, rel=1e-12)


def test_force_across_a_path_that_does_not_bend():
    """Straight ahead or at rest, across is to the left: what pushes the held arm left is held to the right."""
    q, z = np.zeros((2, 6)), np.zeros((2, 4))
    z[1, 0] = 0.8
    load = np.array([0.0, 5.0, 0.0, 0.0, 0.0, 0.0])
    tau = np.zeros((2, 8))
    tau[:, 6:] = ROBOT.control(q, z, tau, load)[1][:, 2:]  # holds the arm
    run = SimpleNamespace(q=q, z=z, wheel_forces=ROBOT.wheel_forces(q, z, tau, load))
    assert np.allclose(cases._across(ROBOT, run), -5.0, rtol=0, atol=1e-12)


# ---- claims on both sides of their limits


def wave(size: float) -> np.ndarray:
    return size * np.sin(2 * np.pi * T)


def test_claims_of_fig_3_can_fail():
    check = cases._straight
    force = "no centripetal force"
    assert holds(check, force, across=np.full_like(T, -0.9e-9))
    assert not holds(check, force, across=np.full_like(T, -1.1e-9))
    assert holds(check, "straight line", y=wave(0.9e-12))
    assert not holds(check, "straight line", y=wave(1.1e-12))
    stands = "positive measure, no risk of tip-over"
    assert holds(check, stands, measure=np.full_like(T, 0.5))
    assert not holds(check, stands, measure=np.zeros_like(T))


def test_claims_of_fig_4_can_fail():
    check = cases._turning_link
    swing = np.cos(4 * np.pi * T + 0.1)  # four changes of sign
    assert holds(check, "oscillating platform", v=swing, x=wave(0.0055))
    assert not holds(check, "oscillating platform", v=swing, x=wave(0.0045))
    assert not holds(check, "oscillating platform", v=np.abs(swing), x=wave(0.1))
    two = np.cos(2 * np.pi * T + 0.1)
    assert not holds(check, "oscillating platform", v=two, x=wave(0.1))
    three = np.cos(3 * np.pi * T + 0.1)
    assert holds(check, "oscillating platform", v=three, x=wave(0.1))
    link = "varying speed of the first link"
    assert holds(check, link, q1d=3 + wave(0.0055))
    assert not holds(check, link, q1d=3 + wave(0.0045))


@pytest.mark.parametrize(
    ("last", "risky", "right"),
    [
        (360, [(80, 100), (260, 280)], True),
        (360, [(80, 100)], False),
        (360, [(260, 280)], False),
        (360, [(100, 120), (260, 280)], False),
        (500, [(80, 100), (260, 280)], False),  # 450 degrees are passed as well, without risk
        (500, [(80, 100), (260, 280), (440, 460)], True),
        (360, [], False),
        (200, [(80, 100)], False),
    ],
)
def test_risk_of_fig_4_is_at_every_passage(last, risky, right):
    degrees = last * T
    measure = np.ones_like(T)
    for low, high in risky:
        measure[(degrees > low) & (degrees < high)] = -1.0
    claim = "risk near q1 = 90 and 270 degrees"
    assert holds(cases._turning_link, claim, q1=np.radians(degrees), measure=measure) is right


def test_claims_of_fig_5_can_fail():
    check = cases._circle
    assert holds(check, "varying speed of the platform", v=1 + wave(0.0055))
    assert not holds(check, "varying speed of the platform", v=1 + wave(0.0045))
    assert holds(check, "links turned by centrifugal force", q1=wave(0.055))
    assert not holds(check, "links turned by centrifugal force", q1=wave(0.045))
    claim = "risk with the first link over the right side"
    lifted = np.where((T > 0.3) & (T < 0.6), -1.0, 1.0)
    assert holds(check, claim, q1=-np.pi * T, measure=lifted)
    assert not holds(check, claim, q1=np.pi * T, measure=lifted)  # the left side
    assert not holds(check, claim, q1=np.pi * (T - 0.45), measure=lifted)  # one end on each
    assert not holds(check, claim, q1=-np.pi * T)  # no risk at all


def test_energy_may_drift_by_rounding_alone():
    for drift, right in ((0.9e-10, True), (1.1e-10, False)):
        energy = 5.0 * (1 + drift * T)
        assert cases._energy(made_up(energy=energy)).holds is right
