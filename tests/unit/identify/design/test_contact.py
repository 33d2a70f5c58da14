"""Links that cannot touch in any pose are known by points on their surfaces, where two joints decide how they lie."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import dynarm
from dynarm import Arm, Joint
from dynarm.identify.design.clearance import clearance_of
from dynarm.identify.design.contact import Surface, between, surely_apart
from dynarm.identify.design.limbs import limbs_of
from dynarm.identify.design.limits import limits_of
from dynarm.identify.design.shapes import shapes_of
from oracles.example_robots import example_robot


def wrist(reach):
    """The base, a link that turns about z, and one on it that turns about x, a ball in effect, out on an arm."""
    arm = Arm([Joint(mass=1.0), Joint(alpha=np.pi / 2, a=0.5, mass=1.0)])
    ball = np.random.default_rng(0).normal(size=(4000, 3))
    ball = 0.1 * ball / np.linalg.norm(ball, axis=1)[:, None]
    surfaces = Surface(ball, 0.005), Surface(ball + np.array([reach, 0.0, 0.0]), 0.005)
    return arm, surfaces


@pytest.mark.parametrize("reach, least", [(0.0, 0.3), (0.1, 0.2), (0.25, 0.05), (-0.1, 0.2)])
def test_the_least_distance_over_all_poses_is_found(reach, least):
    """A ball about the base, and one `reach` from a joint half a metre away: at best 0.5 - |reach| - 0.2 apart."""
    arm, surfaces = wrist(reach)
    limits, limbs = limits_of(arm, *[None] * 5), limbs_of(arm)
    assert between(arm, -1, 1) == (0, (0, 1))

    def apart(gap):
        return surely_apart(arm, limbs, limits, (-1, 1), surfaces, gap)

    assert not apart(least) and apart(least - 0.03)


def test_a_joint_that_stays_away_by_its_limits_is_told_from_one_that_does_not():
    arm, surfaces = wrist(0.35)
    limbs = limbs_of(arm)
    for turn, expected in ((1.0, True), (np.pi, False)):
        limits = limits_of(arm, [(-np.pi, np.pi), (-turn, turn)], *[None] * 4)
        assert surely_apart(arm, limbs, limits, (-1, 1), surfaces, 0.01) is expected


def test_only_two_joints_that_nothing_follows_are_looked_at():
    arm = Arm([Joint(mass=1.0, a=0.1) for _ in range(3)])
    assert between(arm, -1, 2) is None and between(arm, 0, 1) is None
    assert between(arm, 0, 2) == (1, (1, 2))
    with_follower = replace(
        arm,
        joints=(arm.joints[0], arm.joints[1], replace(arm.joints[2], mimic=dynarm.Mimic(1, 1.0))),
    )
    assert between(with_follower, 0, 2) is None


@pytest.mark.filterwarnings("ignore")
def test_a_wrist_that_few_capsules_cannot_tell_apart_is_free():
    """Capsules of these links overlap in most poses; their bodies stay 13 mm apart, by coal."""
    from benchmarks.collisions import Bodies

    path = example_robot("ur5_robot.urdf")
    arm = dynarm.load(path)
    limits = limits_of(arm, *[None] * 5)
    look = clearance_of(arm, shapes_of(arm), limits, 0.0, True, False)
    pair = ("'wrist_1_link'", "'wrist_3_link'")
    assert pair not in look.paired and pair not in look.left
    assert "cannot touch in any pose" in look.checked[-1]
    assert "'wrist_1_link' and 'wrist_3_link'" in look.checked[-1]
    true = Bodies(path, arm)
    here = [k for k, g in enumerate(true.bodies.geometryObjects) if "wrist_1" in g.name]
    there = [k for k, g in enumerate(true.bodies.geometryObjects) if "wrist_3" in g.name]
    true.pairs = lambda left=frozenset(): [(a, b) for a in here for b in there]
    assert here and there
    for q in np.random.default_rng(0).uniform(limits.low, limits.high, (60, 6)):
        assert true.nearest(q) > 0.005
