"""What is chosen among formulations and terms that cost nearly the same: in a stated order, on every machine."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import dynarm
from dynarm.dynamics.table import QUANTITIES as TABLED
from dynarm.dynamics.table import TABLE, applicable
from dynarm.model.pruning import TERMS, Candidate, by_worth, prune
from dynarm.plan import choice as counts
from dynarm.plan.choice import NEAR, cheapest, preferred
from dynarm.plan.scene import PLAIN
from strategies import random_arm


def factored(*totals: int):
    return lambda k: totals[k]


def never(k: int) -> int:
    raise AssertionError("not to be factored")


def test_the_cheapest_is_taken_where_none_is_near():
    assert preferred([900, 500, 700], range(3), never) == 1


def test_those_near_the_cheapest_are_compared_after_factoring():
    edge = int(NEAR * 500 + 4)
    assert preferred([500, edge], range(2), factored(480, 470)) == 1
    assert preferred([500, edge + 1], range(2), never) == 0
    assert preferred([edge, 500], range(2), factored(470, 480)) == 0
    assert preferred([500, 900, edge], range(3), factored(480, 1, 470)) == 2, "others have no part"


def test_of_equals_the_first_is_taken():
    assert preferred([500, 500, 500], range(3), factored(480, 480, 480)) == 0
    assert preferred([505, 500, 500], range(3), factored(490, 480, 480)) == 1
    assert preferred([505, 500, 500], range(3), factored(480, 480, 480)) == 0
    assert preferred([505, 500, 500], (), never) == 1, "without factoring the counts decide"


def test_one_that_is_too_long_leaves_it_to_the_counts():
    assert preferred([500, 501], [0], never) == 0
    assert preferred([501, 500], [0], never) == 1
    assert preferred([500, 501, 9000], [0, 1], factored(480, 470, 0)) == 1, "far away is no matter"


@pytest.mark.parametrize("quantity", ["inverse_dynamics", "mass_matrix"])
def test_the_table_s_order_decides_between_equals(quantity, monkeypatch):
    """All formulations cost the same once all graphs are that of one: then the first that applies is chosen."""
    arm = dynarm.load("two_link")
    rows = applicable(quantity, counts.probe(arm, PLAIN))
    assert rows == [row for row in TABLE if row in rows] and len(rows) > 2
    one = counts.graph(arm, quantity, {quantity: rows[-1]})
    monkeypatch.setattr(counts, "traced", lambda *a, **k: one)
    monkeypatch.setattr(counts, "_WINNERS", {})
    assert cheapest(arm, quantity) is rows[0]


@pytest.mark.parametrize("quantity", TABLED)
def test_each_formulation_is_traced_once(quantity, monkeypatch):
    """Choosing the cheapest and compiling it takes one graph of each, the winner's included."""
    drawn = []
    trace = counts.traced

    def spy(arm, name, chosen, options, minimal, share):
        drawn.append((name, *(row.name for row in chosen.values())))
        return trace(arm, name, chosen, options, minimal, share)

    monkeypatch.setattr(counts, "traced", spy)
    monkeypatch.setattr(counts, "_WINNERS", {})
    model = dynarm.compile(random_arm(np.random.default_rng(5), 4, "RPRR"))
    graph = model.graph(quantity)
    assert len(drawn) == len(set(drawn)) and any(name == quantity for name, *_ in drawn)
    again = len(drawn)
    assert model.graph(quantity) == graph and len(drawn) == again + 1, "the winner is known by now"


# ---- terms that are left out


FIRST, LAST = TERMS[0], TERMS[-1]


def test_the_least_error_for_each_operation_goes_first():
    terms = [
        Candidate((1, FIRST), 0.10, 10),  # 0.01 an operation
        Candidate((2, FIRST), 0.02, 1),  # 0.02
        Candidate((3, FIRST), 0.30, 60),  # 0.005
        Candidate((4, FIRST), 0.0, 1),
    ]
    for order in itertools.permutations(terms):
        assert [link for link, _ in by_worth(order)] == [4, 3, 1, 2]


def test_ties_and_near_ties_of_terms():
    """Errors that differ in their last bits only are equal; then savings decide, then links, then TERMS."""
    near = np.nextafter(0.1, 1)
    terms = [
        Candidate((1, FIRST), 0.1, 10),
        Candidate((1, LAST), 0.1, 10),
        Candidate((2, FIRST), 0.1, 10),
        Candidate((3, FIRST), 2 * near, 20),
        Candidate((4, FIRST), 0.0, 5),
        Candidate((5, FIRST), 0.0, 6),
    ]
    wanted = [(5, FIRST), (4, FIRST), (3, FIRST), (1, FIRST), (1, LAST), (2, FIRST)]
    for order in itertools.permutations(terms):
        assert by_worth(order) == wanted
    assert by_worth([Candidate((1, FIRST), 0.1001, 1), Candidate((2, FIRST), 0.1, 1)]) == [
        (2, FIRST),
        (1, FIRST),
    ], "but not those that differ"


def test_the_order_decides_what_can_be_left_out():
    """Any other order than that of worth (as listed, reversed, by error alone) ends with 57 operations here."""
    arm = dynarm.load("scara")
    t = np.linspace(0, 2 * np.pi, 60)[:, None]
    k = 1 + np.arange(arm.n) / 3
    motion = np.sin(k * t + k), k * np.cos(k * t + k), -(k**2) * np.sin(k * t + k)
    pruned = prune(arm, *motion, 0.21, by="terms")
    assert (pruned.count.total, pruned.full.total) == (41, 69)
    wanted = ((1, "angular"), (1, "force"), (1, "offset"), (3, "angular"), (4, "force"))
    assert pruned.dropped == wanted


# ---- robots without accelerations


def bare_tree(**more):
    """A waist with two arms, of which the second one's tip has no inertia."""
    link = {"mass": 1.0, "com": (0.1, 0.2, 0.3), "inertia": np.eye(3)}
    joints = [
        dynarm.Joint(name="waist", **link),
        dynarm.Joint(name="left", alpha=1.0, **link),
        dynarm.Joint(name="right", alpha=1.0, parent=0, **more),
    ]
    return dynarm.Arm(joints, name="bare")


def test_a_branch_that_moves_nothing_is_named():
    state = [0.0] * 3, [0.0] * 3, [0.0] * 3
    with pytest.raises(dynarm.DynarmError, match="joint 'right' of robot 'bare' moves no inertia"):
        dynarm.compile(bare_tree()).forward_dynamics(*state)
    driven = dynarm.compile(bare_tree(armature=0.1), friction=True)
    assert np.isfinite(driven.forward_dynamics(*state)).all()


def test_a_follower_s_inertia_is_its_master_s():
    heavy = {"mass": 1.0, "com": (0.1, 0.2, 0.3), "inertia": np.eye(3)}
    joints = [
        dynarm.Joint(name="idle", alpha=1.0),
        dynarm.Joint(name="other", parent=-1, mimic=dynarm.Mimic("idle", 2.0), **heavy),
    ]
    model = dynarm.compile(dynarm.Arm(joints))
    M = model.mass_matrix([0.3])
    assert M.shape == (1, 1) and abs(M[0, 0] - 4 * joints[1].parameters[9]) < 1e-12
    assert abs(model.forward_dynamics([0.3], [0.0], model.gravity([0.3]))[0]) < 1e-12
