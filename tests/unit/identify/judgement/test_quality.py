"""Doubts about recordings: each defect is put into a good log and must be found, and nothing else."""

from __future__ import annotations

import numpy as np
import pytest

from dynarm import Log
from dynarm.identify.judgement.quality import unit_doubts

T = np.arange(2000) * 0.005
Q = np.column_stack([np.sin(2 * T), 0.5 * np.cos(3 * T)])
V = np.column_stack([2 * np.cos(2 * T), -1.5 * np.sin(3 * T)])
TAU = Q * [3.0, 1.0] + 0.01 * np.sin(50 * T)[:, None]


def test_a_good_log_has_no_findings():
    found = Log(T, Q, TAU, V).quality
    assert found.uniform
    assert found.rate == pytest.approx(200)
    assert not found.gaps and not found.resets and not found.notes and not found.warnings
    assert not unit_doubts(T, Q, V, (True, True))


def test_gap():
    keep = (T < 3) | (T > 3.4)
    found = Log(T[keep], Q[keep], TAU[keep], V[keep]).quality
    assert len(found.gaps) == 1
    assert found.gaps[0] == pytest.approx((2.995, 0.41), abs=0.01)
    assert "1 gaps in time" in found.notes[0]


def test_jitter():
    t = T + np.random.default_rng(0).uniform(-0.001, 0.001, len(T))
    found = Log(t, Q, TAU, V).quality
    assert found.jitter == pytest.approx(0.001 * np.sqrt(2 / 3) / 0.005, rel=0.1)
    assert "resampled" in " ".join(found.notes)


def test_reset_of_an_encoder():
    q = Q.copy()
    q[1200:, 0] += 3.0
    found = Log(T, q, TAU).quality
    assert found.resets == ((1200, 0),)
    assert "jumps in row 1201" in found.warnings[0]


def test_rest():
    q, v = Q.copy(), V.copy()
    q[800:, 1], v[800:, 1] = q[799, 1], 0.0
    found = Log(T, q, TAU, v).quality
    assert found.resting[1] == pytest.approx(0.6, abs=0.02)
    assert "joint 2 rests" in " ".join(found.notes)


@pytest.mark.parametrize("step", [1e-3, 2 * np.pi / 4096])
def test_quantised_positions(step):
    q = Q.copy()
    q[:, 0] = step * np.round(q[:, 0] / step)
    found = Log(T, q, TAU).quality
    assert found.resolution[0] == pytest.approx(step, rel=1e-6)
    assert found.resolution[1] == 0


def test_saturated_torque():
    found = Log(T, Q, np.clip(TAU, -2.0, 2.0), V).quality
    assert found.saturated[0] > 0.3
    assert found.saturated[1] == 0
    assert "saturated" in found.warnings[0]


def test_torques_of_a_slower_sensor_are_not_saturated():
    """Each value stands for as long as the sensor takes; clipped ones for longer."""
    slow = TAU[(np.arange(len(T)) // 8) * 8]
    assert not Log(T, Q, slow, V).quality.warnings
    assert Log(T, Q, np.clip(slow, -2.0, 2.0), V).quality.saturated[0] > 0.3


def test_velocities_that_nobody_wrote_are_no_rest():
    """A driver that fills velocities with zeros; the position says whether a joint moves."""
    unwritten = Log(T, Q, TAU, V * [0, 1]).quality
    assert not unwritten.notes and unwritten.resting[0] == Log(T, Q, TAU).quality.resting[0]
    (told,) = unit_doubts(T, Q, V * [0, 1], (True, True))
    assert "the velocity of joint 1 never changes" in told
    assert not unit_doubts(T, Q * [1e-6, 1], V * [0, 1], (True, True))  # it does rest


def test_poses_at_rest_have_no_velocity_and_take_their_time():
    """Many samples in each of some poses, and one sample in each of many."""
    rng = np.random.default_rng(0)
    held = np.repeat(rng.uniform(-2, 2, (12, 2)), len(T) // 12 + 1, axis=0)[: len(T)]
    for q in (held + 1e-6 * rng.normal(size=held.shape), rng.uniform(-2, 2, held.shape)):
        assert not unit_doubts(T, q, 0 * V, (True, True))
        assert not unit_doubts(1000 * T, q, None, (True, True))
        assert Log(T, q, TAU, 0 * V).quality.resting.min() == 1


def test_times_in_milliseconds_are_suspected():
    (told,) = unit_doubts(T * 1000, Q, None, (True, True))
    assert "5 s apart: milliseconds?" in told
    assert not unit_doubts(T * 40, Q, None, (True, True))  # 5 Hz


@pytest.mark.parametrize(
    "q, qd, words",
    [
        (np.degrees(Q), np.degrees(V), ["joint 1", "degrees?"]),
        (Q, np.degrees(V), ["mixed units?"]),
        (Q * [1, 57.29578 / 8], V, ["joint 2", "mixed units?"]),
        (Q, V[:, ::-1], ["swapped"]),
        (Q, V * [1, -1], ["joint 2", "opposite sign"]),
    ],
)
def test_units_and_swapped_columns(q, qd, words):
    told = " ".join(unit_doubts(T, q, qd, (True, True)))
    for word in words:
        assert word in told


def test_large_positions_of_prismatic_joints_are_fine():
    assert not unit_doubts(T, 20 * Q, 20 * V, (False, False))
