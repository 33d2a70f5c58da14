"""All six recordings are read by channels files, in SI units, on the joint side."""

from __future__ import annotations

import numpy as np
import pytest

from dynarm import Log
from recordings import DATA, FILES, arm_of, needed, read

pytestmark = needed
SHAPES = {  # samples, joints, rate [Hz]
    "emps": (24841, 1, 1000.0),
    "panda": (13778, 7, 1010.0),
    "ur10": (3441, 6, 125.0),
    "tx40": (45000, 6, 5000.0),
    "kr300": (2501, 6, 250.0),
    "lwr4": (5027, 7, 200.0),
}


@pytest.mark.parametrize("robot", FILES)
def test_each_recording_is_read(robot):
    log = read(robot)
    samples, joints, rate = SHAPES[robot]
    assert log.q.shape == log.tau.shape == (samples, joints)
    assert log.quality.rate == pytest.approx(rate, rel=1e-3)
    assert log.n == arm_of(robot).n
    assert not log.quality.warnings
    assert np.abs(log.q).max() < 2 * np.pi


def test_lost_packets_are_reported():
    assert len(read("panda").quality.gaps) == 2
    assert not read("panda").quality.uniform


def test_rests_and_encoder_steps_are_reported():
    notes = " ".join(read("tx40").quality.notes)
    assert "rests" in notes


def test_gear_coupling_is_undone():
    """Joint 6 of the tx40 stands still where its motor only follows joint 5."""
    log = read("tx40")
    raw = np.loadtxt(DATA / "tx40" / "motor_position.csv", delimiter=",", skiprows=1)
    np.testing.assert_allclose(log.q[:, 5], (raw[:, 5] - 32 * log.q[:, 4]) / 32, atol=1e-12)
    torque = np.loadtxt(DATA / "tx40" / "motor_torque.csv", delimiter=",", skiprows=1)
    np.testing.assert_allclose(log.tau[:, 4], 45 * torque[:, 4] + 32 * torque[:, 5], atol=1e-9)


def test_drive_gain_is_taken_from_the_file():
    assert np.abs(read("emps").tau).max() > 100  # newtons, not volts


def test_the_bag_is_the_log():
    bag, log = Log.read(DATA / "ur10" / "rosbag2.db3"), read("ur10")
    ordered = bag.select(arm_of("ur10").joint_names)
    np.testing.assert_allclose(ordered.q, log.q, atol=1e-6)
    np.testing.assert_allclose(ordered.tau, log.tau, atol=1e-4)


@pytest.mark.parametrize("file", ["panda/log.csv", "ur10/log.csv", "lwr4/run1.npz"])
def test_usual_names_need_no_channels_file(file):
    robot = file.split("/")[0]
    found = Log.read(DATA / file)
    np.testing.assert_array_equal(found.q, read(robot).q)
    np.testing.assert_array_equal(found.tau, read(robot).tau)
