"""Exciting motions of real robots touch neither floor nor robot, by coal on the bodies of their files."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from benchmarks.collisions import Bodies, example_robot

import dynarm

ROBOTS = {"ur5_robot.urdf": None, "finger_edu.urdf": None, "ur3_robot.urdf": None}
pytestmark = pytest.mark.filterwarnings("ignore")


@cache
def motion(name, **more):
    arm = dynarm.load(example_robot(name), tip=ROBOTS[name])
    return dynarm.excite(arm, 10.0, starts=1, iterations=15, progress=False, **more)


def bodies(name):
    return Bodies(example_robot(name), dynarm.load(example_robot(name), tip=ROBOTS[name]))


@pytest.mark.parametrize("name", ROBOTS)
def test_no_body_goes_below_the_floor_or_into_another(name):
    run, look = motion(name), bodies(name)
    left = look.left(run.unchecked)
    assert look.pairs(left)
    for q in run.q[::4]:
        assert look.lowest(q) > 0
    for q in run.q[::25]:
        assert look.nearest(q, left) > 0
    assert any(line.startswith("floor: the plane z = 0") for line in run.checked)
    assert any("pairs of links, collision shapes of the robot's file" in s for s in run.checked)
    assert np.ptp(run.q, axis=0).max() > 0.5


def test_without_the_checks_the_tool_of_an_arm_goes_below_the_floor_and_this_is_said():
    free, look = motion("ur5_robot.urdf", floor=False, collisions=False), bodies("ur5_robot.urdf")
    assert min(look.lowest(q) for q in free.q[::10]) < -0.2
    assert free.unchecked == ("floor and the robot against itself: switched off", "no box given")
    assert free.condition < motion("ur5_robot.urdf").condition


@pytest.mark.parametrize("name", ["finger_edu.urdf", "TwoDofs.urdf"])
def test_what_floor_and_links_cost(name):
    """`python -m benchmarks --only excitation` measures the same on 20 robots."""
    arm = dynarm.load(example_robot(name))
    free, safe = (
        dynarm.excite(arm, 10.0, starts=1, iterations=60, floor=on, collisions=on, progress=False)
        for on in (False, True)
    )
    assert safe.condition <= 1.3 * free.condition


def test_capsules_hold_the_bodies_of_the_file():
    """Between any two links, and above the floor, capsules are nearer than what they stand for.

    The upper arm turns about its own end, so that no joint lifts this: it is looked at once, and stays where it is.
    """
    from dynarm.identify.design.clearance import clearance_of
    from dynarm.identify.design.limits import limits_of
    from dynarm.identify.design.shapes import shapes_of

    name = "ur5_robot.urdf"
    arm = dynarm.load(example_robot(name))
    limits = limits_of(arm, *[None] * 5)
    look = clearance_of(arm, shapes_of(arm), limits, 0.0, True, False)
    true = bodies(name)
    rest = {link.strip("'"): low for link, low in look.rest}
    assert set(rest) == {"shoulder_link", "upper_arm_link"} and min(rest.values()) >= 0
    assert not [line for line in look.unchecked if "floor" in line]
    poses = np.random.default_rng(0).uniform(limits.low, limits.high, (40, arm.n))
    for q, room in zip(poses, look.room(poses), strict=True):
        heights = true.heights(q)
        for link in arm.origin.links:
            least = min(room + look.margin, rest.get(link, np.inf))
            assert least <= heights[true.links()[link]] + 1e-6, link
        if room > 0:
            assert true.nearest(q, true.left(look.unchecked)) > 0
