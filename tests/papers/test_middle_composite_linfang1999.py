"""Formulations 1 and 3 joined at a middle frame: what its file says of ends, vectors carried, cost and values.

That it gives the mass matrix on every family of random arms, by every middle frame, is shown in test_linfang1999.py.
"""

from __future__ import annotations

from collections import Counter
from functools import cache

import numpy as np
import pytest

from dynarm.dynamics.own import middle_composite as middle
from dynarm.dynamics.papers import composite_body_linfang1999 as ends
from dynarm.dynamics.papers.composite_bodies_linfang1999 import composites
from dynarm.graph.graph import Graph, Port
from dynarm.graph.trace import trace_function
from dynarm.robot.frames.chain import chain_of, pose, slid
from dynarm.robot.frames.generic import generic_arm
from oracles.batches import relative, stacked
from oracles.paper_counts import counted
from oracles.pinocchio_arm import pinocchio_model
from strategies import random_arm, random_states

SAMPLES = 3
GENERIC = [(n, type) for type in (1, 2) for n in range(3, 11)]


def prepared(arm, q):
    """Chain, steps and composite bodies with the origins where the formulations want them."""
    chain = chain_of(arm)
    chain, steps, _ = slid(chain, pose(chain, q))
    return chain, steps, composites(chain, steps)


def graph_of(arm, matrix) -> Graph:
    return trace_function(
        [Port("q", (arm.n,))], [Port("M", (arm.n, arm.n))], lambda q: matrix(*prepared(arm, q))
    )


@cache
def costs(n: int, type: int) -> dict[int, int]:
    """Operations of the whole by each middle frame, counted from 0."""
    arm = generic_arm(n, type)
    return {
        k: graph_of(arm, lambda *given, k=k: middle.joined(*given, k)).total for k in range(1, n)
    }


@pytest.mark.parametrize(("n", "type"), GENERIC)
def test_its_ends_are_formulations_1_and_3(n, type):
    """The same number of operations, and the same numbers, as Formulation 1 at frame 2 and Formulation 3 at frame n."""
    arm = generic_arm(n, type)
    q = np.random.default_rng(n).uniform(-1, 1, (SAMPLES, n))
    for k, formulation in ((1, ends.formulation_1), (n - 1, ends.formulation_3)):
        own = graph_of(arm, lambda *given, k=k: middle.joined(*given, k))
        paper = graph_of(arm, formulation)
        assert (own.count().mul, own.count().add) == (paper.count().mul, paper.count().add)
        assert relative(own.evaluate(q)[0], paper.evaluate(q)[0]) <= 1e-14


@pytest.mark.parametrize("n", range(2, 13))
def test_a_quarter_of_n_squared_pairs_of_vectors_is_carried(n, monkeypatch):
    """Half of what Formulations 1 and 3 carry, which is all pairs j < i but for those that meet in the last frame."""
    carried = Counter()
    inwards, onwards = middle.inwards, middle._next

    def counted_inwards(*given):
        carried["force and moment"] += 1
        return inwards(*given)

    def counted_onwards(arm, step, axes):
        carried["axis and its moment"] += len(axes)
        return onwards(arm, step, axes)

    monkeypatch.setattr(middle, "inwards", counted_inwards)
    monkeypatch.setattr(middle, "_next", counted_onwards)
    prepared_arm = prepared(generic_arm(n), [0.3] * n)
    found = {}
    for k in range(1, n):
        carried.clear()
        middle.joined(*prepared_arm, k)
        found[k] = carried.total()
        assert carried["force and moment"] == (n - k) * (n - k - 1) / 2
        assert carried["axis and its moment"] == k * (k + 1) / 2
    assert min(found.values()) == n * n // 4
    assert found[n - 1] == n * (n - 1) / 2


@pytest.mark.parametrize(("n", "type"), GENERIC)
def test_the_frame_is_chosen_by_what_it_costs(n, type):
    """Counted without the products that composite bodies share, the choice is at most one frame and 2 % off."""
    found = costs(n, type)
    best = min(found, key=found.__getitem__)
    chosen = middle.cheapest_middle(prepared(generic_arm(n, type), [0.3] * n)[0])
    assert abs(chosen - best) <= 1
    assert found[chosen] <= 1.02 * found[best]


@pytest.mark.parametrize(("n", "type", "saved"), [(6, 1, 6), (6, 2, 9), (12, 1, 13), (12, 2, 18)])
def test_what_it_saves(n, type, saved):
    """As docs/papers/linfang1999.md says, of the operations of Formulation 1 in percent."""
    whole, own = (
        counted(n, "mass_matrix", name, type).total for name in ("composite_1", "composite_middle")
    )
    assert 100 * (1 - own / whole) == pytest.approx(saved, abs=0.5)


def test_one_joint_has_no_middle():
    arm = generic_arm(1)
    chain = chain_of(arm)
    assert middle.cheapest_middle(chain) == 0
    ((inertia,),) = middle.mass_matrix(chain, pose(chain, [0.4]))
    assert inertia == pytest.approx(arm.parameters[0, 9])


def test_a_tally_counts_and_has_no_value():
    """Every sum and product counts one, signs and sin/cos nothing, structural zeros and ones fold before they count."""
    x = middle.Tally()
    assert (2 * x + 1 - x * x).sin().cos() is x and -x is x
    assert x.spent == 4


OBLIQUE = [0.4, -0.9, 1.2, np.pi / 2 - 0.01, np.pi / 2 + 1e-4, 2.3, -3.0, 1e-3]


@pytest.mark.parametrize("seed", range(60))
def test_sliding_joints_and_oblique_twists(seed):
    """Random arms of 3 to 9 joints, at least one of them translational, no twist a whole quarter turn."""
    rng = np.random.default_rng([1999, seed])
    n = int(rng.integers(3, 10))
    kinds = rng.choice(["R", "P"], n, p=[0.7, 0.3])
    kinds[rng.integers(0, n)] = "P"
    arm = random_arm(rng, n, "".join(kinds), rng.choice(OBLIQUE, n).tolist(), "mixed", "generic")
    q, _, _ = random_states(rng, n, SAMPLES)
    chain = chain_of(arm)
    found = stacked(middle.mass_matrix(chain, pose(chain, q.T)), SAMPLES)
    twin = pinocchio_model(arm)
    assert relative(found, np.array([twin.mass_matrix(x) for x in q])) <= 1e-12
