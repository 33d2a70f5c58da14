"""A few of the drawn arms of `python -m benchmarks --only friction_choice`: right friction, unbiased rigid values."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.bench_friction import RIGHT, Outcome, figures, outcome
from benchmarks.simulated_arms import DRIVES, drawn, motion, recorded, rigid_torque, slipping

SEEDS = (1, 3, 15)  # encoders of 17, 17 and 12 bits


@pytest.fixture(scope="module")
def outcomes():
    return [outcome(seed, drive) for seed in SEEDS for drive in DRIVES]


def test_the_family_of_the_drives_is_chosen_and_no_other(outcomes):
    assert [str(o) for o in outcomes if not o.right] == []


def test_rigid_values_are_as_far_from_the_truth_as_they_say(outcomes):
    told = figures(outcomes)
    assert told["rigid parameters"] > 100
    assert 0.7 < told["error, rms [deviations]"] < 1.3
    assert abs(told["error, mean [deviations]"]) < 0.3
    assert 90 <= told["95 % intervals that hold the truth [%]"] <= 99


# ---- the arms are what they say


@pytest.mark.parametrize(
    ("drive", "taken", "right"),
    [
        ("plain", (), True),
        ("plain", ("curve",), False),
        ("slip", (), False),
        ("slip", ("curve",), False),
        ("slip", ("presliding", "curve"), True),
        ("slip", ("presliding", "load_curve"), False),
        ("load", ("load_curve",), True),
        ("load", ("load_curve", "coupling"), False),
    ],
)
def test_what_counts_as_right(drive, taken, right):
    assert RIGHT.keys() == set(DRIVES)
    assert Outcome(0, drive, frozenset(taken), np.zeros(1), np.ones(1, bool), 0.0).right is right


def test_drawn_motions_are_their_own_derivatives():
    one = drawn(3)
    t = np.linspace(2.0, 2.01, 3)
    q, qd, qdd = motion(one, t)
    np.testing.assert_allclose((q[2] - q[0]) / 0.01, qd[1], rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose((qd[2] - qd[0]) / 0.01, qdd[1], rtol=1e-3, atol=1e-3)


def test_elements_slip_at_their_strokes_and_hold_before():
    """Far from a reversal every element has slipped; shortly after one the force is between the two."""
    one = drawn(0)
    t = np.arange(int(4 * one.rate)) / one.rate
    force = slipping(one, t)
    _, qd, _ = motion(one, t)
    assert np.abs(force).max() <= 1 + 1e-12
    full = np.abs(force) > 1 - 1e-9
    assert 0.3 < full.mean() < 1
    assert (np.sign(force[full]) == np.sign(qd[full])).all()


@pytest.mark.parametrize("drive", DRIVES)
def test_friction_of_a_drawn_arm_opposes_the_motion(drive):
    one = drawn(2)
    log = recorded(one, drive)
    states = motion(one, log.t)
    left = log.tau - rigid_torque(one.truth, *states)
    power = ((left - left.mean(axis=0)) * states[1]).mean(axis=0)
    assert (power > 0).all()
    steps = np.diff(np.unique(log.q[:, 0])) / one.encoder
    np.testing.assert_allclose(steps, np.round(steps), atol=1e-6)
    described = np.array([j.mass for j in one.described.joints])
    assert not np.isclose(described, [j.mass for j in one.truth.joints], rtol=1e-3).any()
