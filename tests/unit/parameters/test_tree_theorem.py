"""Theorem 2 on trees: as many parameters as the regressor has rank, the same rows, the dynamics from them alone.

Random trees on fixed and free bases, with joints that follow others, under gravity along the first axis, across it,
tilted and none. DYNARM_TREES=10000 in the environment takes as many of them.
"""

from __future__ import annotations

import os

import pytest

from oracles.tree_minimal import TOLERANCE, shown
from strategies import sample_trees

TOTAL = int(os.environ.get("DYNARM_TREES", "600"))
PORTION = 50


@pytest.mark.parametrize("portion", range(TOTAL // PORTION))
def test_count_is_rank_and_the_parameters_give_the_dynamics(portion):
    faults = []
    for arm in sample_trees(15, PORTION, first=PORTION * portion):
        of = shown(arm)
        if of.count != of.rank or not max(of.rows, of.forces) < TOLERANCE:
            faults.append((arm.name, of))
    assert not faults


def test_gravity_that_is_hardly_tilted_counts_where_joints_follow_others():
    """What the tolerance would leave out of gravity is asked for by no decision of coupled joints."""
    (arm,) = sample_trees(2026, 1, first=5818)
    assert not arm.coupling.free
    of = shown(arm)
    assert of.count == of.rank and max(of.rows, of.forces) < TOLERANCE
