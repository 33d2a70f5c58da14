"""Springs between capsules of links: distances by hand, slopes by differences, and that they push apart."""

from __future__ import annotations

import numpy as np
import pytest

import dynarm
from dynarm.identify.design.capsules import Capsule
from dynarm.identify.design.clearance import clearance_of
from dynarm.identify.design.limits import limits_of
from dynarm.identify.design.rods import nearest, rods_of
from dynarm.identify.design.shapes import shapes_of

ARM = dynarm.load("puma560")
UNIT = 0.05


def look():
    """The arm against itself alone, by rods between its joints."""
    limits = limits_of(ARM, *[None] * 5)
    return limits, clearance_of(ARM, shapes_of(ARM), limits, None, True, False)


def near(count):
    """Poses in which some links are nearer than their margin."""
    limits, seen = look()
    q = np.random.default_rng(3).uniform(limits.low, limits.high, (4000, ARM.n))
    return seen, q[seen.room(q) < -0.02][:count]


def test_capsules_are_apart_by_their_lines_less_their_radii():
    first = Capsule(-1, np.zeros(3), np.array([1.0, 0, 0]), 0.1)
    second = Capsule(-1, np.array([0.5, 0, 2.0]), np.array([0.5, 1.0, 2.0]), 0.3)
    rods = rods_of([first, second])
    points = rods.placed(np.zeros((1, 0, 4, 4)))
    gap = nearest(points[:, 0], points[:, 1])[2]
    np.testing.assert_allclose(gap, [[0, 0, -2.0]], atol=1e-9)
    _, seen = look()
    seen = type(seen)(
        seen.limbs, seen.shapes, rods, None, seen.ends[:0], np.array([[0, 1]]), np.zeros(1), 0, (), ()
    )  # fmt: skip
    assert seen.apart(points, seen.pairs)[0, 0] == pytest.approx(2.0 - 0.1 - 0.3)


def test_slopes_of_springs_between_links_are_those_of_differences():
    seen, q = near(6)
    assert len(q) == 6 and len(seen.pairs) and not len(seen.ends)
    way = np.random.default_rng(0).normal(size=q.shape)
    value, slope = seen.push(q, 0.005, UNIT)
    h = 1e-6
    numeric = (seen.push(q + h * way, 0.005, UNIT)[0] - seen.push(q - h * way, 0.005, UNIT)[0]) / (
        2 * h
    )
    assert value > 0
    assert (slope * way).sum() == pytest.approx(numeric, rel=1e-4)


def test_springs_push_links_apart():
    seen, q = near(40)
    before = seen.room(q)
    for _ in range(30):
        q = q - 0.02 * seen.push(q, 0.005, UNIT)[1]
    assert np.median(seen.room(q) - before) > 0.01


def test_springs_push_as_far_as_room_tells():
    """Where nothing is too near, no spring pushes; where something is, one does."""
    limits, seen = look()
    q = np.random.default_rng(4).uniform(limits.low, limits.high, (300, ARM.n))
    room = seen.room(q)
    pushes = np.array([seen.push(pose[None], 0.0, UNIT)[0] for pose in q])
    assert (room < 0).any() and (room > 0).any()
    np.testing.assert_array_equal(pushes > 0, room < 0)
    deepest = (np.maximum(-room, 0) / UNIT) ** 2
    assert (pushes >= 0.999 * deepest).all()
