"""Many random motions are tried, few improved, the better half of them to the end: to the condition number itself."""

from __future__ import annotations

import numpy as np
import pytest

import dynarm
from dynarm.identify.design import search
from dynarm.identify.design.descent import STAGES, descent_of
from dynarm.identify.design.excitation import _Problem
from dynarm.identify.design.limits import limits_of
from dynarm.identify.design.scaling import Unreachable
from dynarm.identify.design.trajectory import Series
from dynarm.identify.design.worth import condition_worth
from dynarm.identify.regressor import Terms

TWO = dynarm.load("two_link")


@pytest.fixture(scope="module")
def problem():
    terms = Terms(TWO, ("viscous",), "tanh", (0.05, 0.05), True)
    return _Problem(TWO, terms, Series(10.0, 3), limits_of(TWO, *[None] * 5), "condition", 50.0)


@pytest.mark.parametrize("p", [5, 20, 40])
def test_the_last_stage_sees_the_condition_number_to_a_seventh(p):
    X = np.random.default_rng(p).normal(size=(3 * p, p))
    true = np.linalg.cond(X / np.linalg.norm(X, axis=0))
    seen = [np.exp(condition_worth(X.T @ X, stage.sharpness)[0] / 2) / true for stage in STAGES]
    assert 1 <= seen[-1] < 1 + 1 / 7
    assert (np.diff(seen) < 0).all() and seen[0] > 1.5


def test_springs_are_stiffer_from_stage_to_stage():
    assert (np.diff([stage.stiffness for stage in STAGES]) > 0).all()


def test_without_homes_all_of_a_pool_are_within_their_limits_and_the_best_come_first(problem):
    rng = np.random.default_rng(0)
    chance = [problem.within(problem.series.random(rng, 2)) for _ in range(5)]
    pool = search._begun(problem, descent_of(problem, None), [], chance, rng)
    assert len(pool) == search._POOL
    assert all(any(b.x is x for b in pool) for x in chance)
    values = [b.value() for b in pool]
    assert values == sorted(values) and values[0] < values[-1]
    for b in pool:
        q, qd, qdd = (B @ b.x.T for B in problem.fine)
        for x, bound in ((q, np.pi), (qd, problem.limits.velocity)):
            assert (np.abs(x) <= bound).all()
        assert (np.abs(qdd) <= problem.limits.acceleration).all()


@pytest.mark.parametrize("starts, ends", [(1, 1), (2, 1), (3, 2), (5, 3)])
def test_the_better_half_of_the_starts_is_taken_to_the_end(problem, monkeypatch, starts, ends):
    begun, improved = [], []
    finished, taken = search._finished, search._Begun.taken

    def recorded(problem, b, *rest):
        begun.append(b.value(STAGES[2]))
        return finished(problem, b, *rest)

    def watched(self, stages, *rest):
        after = taken(self, stages, *rest)
        if tuple(stages) == STAGES[:2]:
            improved.append(after.value(STAGES[2]))
        return after

    monkeypatch.setattr(search, "_finished", recorded)
    monkeypatch.setattr(search._Begun, "taken", watched)
    parts = []
    best = search.best_motion(problem, None, starts, 6, 0, parts.append)
    assert len(improved) == starts
    assert begun == sorted(improved)[:ends]
    assert problem.excess(best.x) <= 0 and best.status.startswith("stopped after 6 steps")
    assert parts == sorted(parts) and 0.5 < parts[-1] <= 1


def test_a_start_that_leaves_no_room_to_move_does_not_stop_the_others(problem, monkeypatch):
    finished, tried = search._finished, []

    def first_fails(*given):
        tried.append(given)
        if len(tried) == 1:
            raise Unreachable("the limits leave no room to move")
        return finished(*given)

    monkeypatch.setattr(search, "_finished", first_fails)
    best = search.best_motion(problem, None, 3, 2, 0, lambda part: None)
    assert len(tried) == 2 and problem.excess(best.x) <= 0
    tried.clear()
    with pytest.raises(Unreachable, match="no room to move"):
        search.best_motion(problem, None, 1, 2, 0, lambda part: None)
