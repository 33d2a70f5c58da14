"""Rounded numbers that were meant to be exact: which are recognised, what that saves, and what it changes."""

from __future__ import annotations

import math
import re
import warnings

import numpy as np
import pytest

import dynarm
from dynarm.robot.formats.urdf_text import write_urdf
from dynarm.robot.frames.snap import (
    exact_angle,
    exact_axis,
    exact_offset,
)
from oracles.example_robots import example_robot
from oracles.pinocchio_urdf import whole_urdf
from strategies import whole_state

QUARTER = math.pi / 2
ROUNDED = {
    1: "1.5708 1.570796 1.5707 1.57079632679 1.570795 1.570796325 1.570797 1.570800 15.708e-1",
    2: "3.1416 3.14159 3.1415 3.14158 3.14159265359",
    3: "4.7124 4.71238898038",
    -1: "-1.5708 -1.570796",
    0: "3.6732e-06 4.37e-08",
}
MEASURED = "1.57 1.571 3.14 1.57073 1.5707312345 1.5708312 1.57081 1.57078 0.0001 1e-5 5.4949E-05 0"
COUNTS = {"kinova.urdf": (209, 339), "xarm7.urdf": (310, 534)}


@pytest.mark.parametrize(("turns", "texts"), ROUNDED.items())
def test_angles_that_were_rounded(turns, texts):
    assert [exact_angle(text) for text in texts.split()] == [turns * QUARTER] * len(texts.split())


@pytest.mark.parametrize("text", [*MEASURED.split(), repr(QUARTER)])
def test_angles_that_stay(text):
    assert exact_angle(text) is None


def test_axes_and_offsets():
    assert exact_axis([3.6732e-06, 1, 0]).tolist() == [0, 1, 0]
    assert exact_axis([1e-3, 1, 0]) is None and exact_axis([0, 0, 1]) is None
    assert exact_offset("1e-6", 0.3) == 0 and exact_offset("2e-6", 0.3) is None
    assert exact_offset("1e-6", 0.001) is None, "a robot of a millimetre"


@pytest.mark.parametrize("name", COUNTS)
def test_real_arms(name):
    """Costs of the exact geometry, dynamics of the numbers as taken, and the change that `check` tells."""
    path = example_robot(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        arm, written = dynarm.load(path), dynarm.load(path, snap=False)
    costs = (dynarm.count(arm, q) for q in ("mass_matrix", "inverse_dynamics"))
    assert tuple(c.mul + c.add for c in costs) == COUNTS[name]
    before = dynarm.count(written, "mass_matrix")
    assert before.mul + before.add > 1.9 * COUNTS[name][0]
    assert any("as pi" in line for line in arm.check()) and not written.origin.snapped
    said = float(re.search(r"at most (\S+) N m", arm.check()[-1])[1])
    peer, as_file = whole_urdf(write_urdf(arm), arm), whole_urdf(path.read_text(), arm)
    rng, change = np.random.default_rng(1), 0.0
    model = dynarm.compile(arm)
    for _ in range(30):
        s = whole_state(rng, arm)
        q, qd, qdd = s["q"], rng.uniform(-1, 1, arm.nv), rng.uniform(-1, 1, arm.nv)
        tau = model.inverse_dynamics(q, qd, qdd)
        exact = peer.inverse_dynamics(q, qd, qdd)
        assert np.abs(tau - exact).max() <= 1e-12 * max(1, np.abs(exact).max())
        change = max(change, np.abs(tau - as_file.inverse_dynamics(q, qd, qdd)).max())
    assert said / 10 < change < 2 * said
