"""Links whose few capsules overlap everywhere are looked at by more and tighter ones that hold them too."""

from __future__ import annotations

import numpy as np
import pytest

import dynarm
from dynarm.identify.design.capsules import covering, holding
from dynarm.identify.design.clearance import clearance_of
from dynarm.identify.design.limits import limits_of
from dynarm.identify.design.rods import nearest
from dynarm.identify.design.shapes import shapes_of
from oracles.example_robots import example_robot


def hook():
    """The triangles of three walls that meet in a corner: a body that no rod holds tightly."""
    x, y, z = np.eye(3)
    o = np.zeros(3)
    walls = ((x, y), (y, z), (z, x))
    return np.array([t for a, b in walls for t in ((o, a, b), (a + b, a, b))])


def beyond(capsules, points):
    """How far the outermost point is out of all capsules."""
    away = []
    for c in capsules:
        line = np.broadcast_to(np.array([c.start, c.end]), (len(points), 2, 3))
        gap = nearest(np.stack([points, points], axis=1), line)[2]
        away.append(np.linalg.norm(gap, axis=1) - c.radius)
    return float(np.min(away, axis=0).max())


def test_many_capsules_hold_a_body_in_less_room():
    triangles = hook()
    parts = np.random.default_rng(0).dirichlet(np.ones(3), 400)
    points = np.einsum("kc,tcx->ktx", parts, triangles).reshape(-1, 3)
    few, many = (f(triangles, m, 0, "") for f, m in ((holding, 1), (covering, 24)))
    assert len(many) == 24
    assert beyond(few, points) < 1e-9 and beyond(many, points) < 1e-9
    assert sum(c.volume for c in many) < 0.5 * sum(c.volume for c in few)


@pytest.mark.filterwarnings("ignore")
def test_links_that_few_capsules_cannot_tell_apart_are_looked_at_by_many():
    arm = dynarm.load(example_robot("panda.urdf"))
    shapes = shapes_of(arm)
    look = clearance_of(arm, shapes, limits_of(arm, *[None] * 5), 0.0, True, False)
    assert len(look.shapes.capsules) > len(shapes.capsules)
    names = [c.name for c in look.shapes.capsules]
    pairs = {frozenset((names[a], names[b])) for a, b in look.pairs}
    assert frozenset(("'panda_link5'", "'panda_link7'")) in pairs
    assert not any("'panda_link5' against 'panda_link7'" in line for line in look.unchecked)
    tight = look.pairs.min(axis=1) >= len(shapes.capsules)
    assert (look.gaps[tight] < look.margin).all() and (look.gaps[~tight] == look.margin).all()
