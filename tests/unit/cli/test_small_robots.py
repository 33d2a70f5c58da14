"""Small robots are shown and pruned as they are: a nanometre and a nanogram are no rounding."""

from __future__ import annotations

import numpy as np

from dynarm import Arm, Joint
from dynarm.cli.info import _joint_row
from dynarm.model.pruning import prune, term_shares
from dynarm.report.robot_sheet import _chain_row

SMALL = Joint(a=4e-10, d=-2e-10, alpha=1e-12, mass=3e-12, name="j")


def test_lengths_and_masses_are_shown():
    assert _joint_row(SMALL)[2:7] == ["4e-10", "0", "-2e-10", "0", "3e-12"]
    assert _chain_row(SMALL)[2:7] == [4e-10, 0.0, -2e-10, 0.0, 3e-12]


def test_torques_are_not_compared_with_forces():
    """A slide under a turning micrometre arm: what is no rounding beside its torques is not dropped for its forces."""
    L = 1e-6
    link = {"mass": 1.0, "com": (0.3 * L, 0.1 * L, 0), "inertia": np.diag([0.1, 0.2, 0.3]) * L**2}
    arm = Arm([Joint(kind="prismatic", mass=1.0), Joint(alpha=1.0, **link), Joint(a=L, **link)])
    q, qd, qdd = np.random.default_rng(0).uniform(-1, 1, (3, 50, 3))
    pruned = prune(arm, q, qd, qdd, error=0.0, by="terms")
    peak = np.abs(term_shares(arm, q, qd, qdd).total).max(axis=0)
    assert (pruned.error[1:] <= 1e-11 * peak[1:].max()).all() and peak[0] > 1e5 * peak[1:].max()
