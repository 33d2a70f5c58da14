"""What can touch the floor is held above it; what no joint lifts stays above it by itself, or its link is named."""

from __future__ import annotations

import numpy as np
import pytest

from dynarm.identify.design.capsules import Capsule
from dynarm.identify.design.ground import lifted_of
from dynarm.identify.design.shapes import Shapes

RADIUS, MARGIN, SIZE = 0.1, 0.02, 1.0
POSES = 200


def looked(inner, outer, floor=0.0, asked=False):
    """The ground of one rod whose ends are, over all poses, between such heights (low, high)."""
    points = np.zeros((POSES, 1, 2, 3))
    for k, ends in enumerate((inner, outer)):
        points[:, 0, k, 2] = np.linspace(*ends, POSES)
    rod = Capsule(0, np.zeros(3), np.eye(3)[0], RADIUS, "'rod'")
    return lifted_of(Shapes((rod,), 1, (), ()), points, floor, MARGIN, SIZE, asked)


def test_an_end_that_no_joint_lifts_is_left_alone_where_it_stays_above_the_floor():
    ground = looked((0.105, 0.105), (-1.0, 1.2))
    assert ground.ends.tolist() == [[0, 1]] and not ground.below
    assert dict(ground.rest) == {"'rod'": pytest.approx(0.005)}
    assert ground.told.startswith("floor: the plane z = 0 m of the base link, every moving link, ")


def test_a_link_with_an_end_that_no_joint_lifts_out_of_the_floor_is_named():
    ground = looked((0.04, 0.04), (-1.0, 1.2))
    assert ground.ends.tolist() == [[0, 1]] and not ground.rest
    assert ground.below == (
        "'rod' against the floor: capsules about parts of it that no joint lifts are 0.06 m below",
    )
    assert "every moving link but for what no joint lifts, " in ground.told


@pytest.mark.parametrize("swing, above", [(0.004, True), (0.008, False)])
def test_an_end_that_hardly_moves_may_go_a_little_lower_than_in_the_poses_tried(swing, above):
    """It is tried down to 0.7 mm above the floor: a tenth of a rise by 8 mm is more than that."""
    ground = looked((0.1007, 0.1007 + swing), (-1.0, 1.2))
    assert bool(ground.rest) is above and bool(ground.below) is not above


def test_an_end_that_is_lifted_but_never_out_of_the_usual_floor_is_named_not_forgotten():
    low = (-0.5, 0.05)
    usual, asked = (looked(low, (-1.0, 1.2), asked=given) for given in (False, True))
    assert usual.ends.tolist() == [[0, 1]] and len(usual.below) == 1
    assert asked.ends.tolist() == [[0, 0], [0, 1]] and not asked.below


@pytest.mark.parametrize(
    "inner, outer, often",
    [
        ((0.3, 0.4), (-1.0, -0.5), None),
        ((-1.0, 0.125), (-1.0, 0.125), "nearly every pose"),
        ((0.3, 0.4), (-1.0, 0.5), "most poses"),
    ],
)
def test_an_arm_that_hangs_has_no_usual_floor(inner, outer, often):
    ground = looked(inner, outer)
    assert bool(len(ground.ends)) is (often is None)
    if often:
        assert f"some link is below it in {often} tried" in ground.told
        assert len(looked(inner, outer, asked=True).ends) == 2
