"""Runs that would not end: given up with a message and with what they have, by a clock that the tests turn."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import dynarm
from dynarm.simulation import adaptive
from dynarm.simulation.budget import Budget


class Clock:
    """A clock that goes on by some seconds at each look."""

    def __init__(self, step, start=0.0):
        self.times = itertools.count(start, step)

    def __call__(self):
        return next(self.times)


def looks(budget, times):
    """What the budget says at each time of a run, until it says something."""
    for k, t in enumerate(times):
        words = budget.spent(t)
        if words:
            return k, words
    return len(times), ""


def test_a_limit_is_kept_to_the_second():
    count, words = looks(Budget(1.0, 20.0, Clock(1.0)), np.linspace(0, 0.5, 100))
    assert count == 20 and "20 s of computing" in words and "max_seconds" in words


def test_a_run_on_its_way_is_left_alone():
    assert looks(Budget(1.0, None, Clock(1.0)), np.linspace(0, 1, 500)) == (500, "")


@pytest.mark.parametrize("pace, given_up", [(1 / 600, False), (1 / 650, True), (0.0, True)])
def test_a_run_is_given_up_by_its_pace(pace, given_up):
    times = np.minimum(np.arange(40) * pace, 1.0)
    count, words = looks(Budget(1.0, None, Clock(1.0)), times)
    assert bool(words) == given_up
    assert count == (9 if given_up else 40)  # looked at after 10 s, the second time after 5 s
    assert not given_up or "ten minutes" in words


def test_the_time_of_compiling_is_not_taken_for_the_pace():
    """The first evaluation takes a minute, the others go on quickly."""
    times = iter([0.0, 0.0, 60.0, *np.arange(60.1, 80, 0.1)])
    budget = Budget(1.0, None, lambda: next(times))
    assert not any(budget.spent(t) for t in [0.0, 1e-6, *np.linspace(1e-5, 1, 150)])


def test_a_run_that_slows_down_is_given_up_then():
    times = np.concatenate([np.linspace(0, 0.9, 30), np.full(30, 0.9)])
    count, words = looks(Budget(1.0, None, Clock(1.0)), times)
    assert 30 <= count <= 45 and "t = 0.9 s" in words


@pytest.mark.parametrize("start", [0.0, 1e6])
def test_a_clock_may_show_anything_at_the_start(start):
    """Only differences count: of a limit, of the patience at the start, and of the pace."""
    count, _ = looks(Budget(1.0, 20.0, Clock(1.0, start)), np.linspace(0, 0.5, 100))
    assert count == 20
    assert looks(Budget(1.0, None, Clock(1.0, start)), np.linspace(0, 1, 500)) == (500, "")
    count, words = looks(Budget(1.0, None, Clock(1.0, start)), np.zeros(40))
    assert count == 9 and words.startswith("10 s of computing")


@pytest.mark.parametrize("left, given_up", [(590.0, False), (650.0, True)])
def test_the_rest_is_what_counts(left, given_up):
    """Half of the run is done: what the other half takes at the pace of the last while decides, from then on."""
    for seconds in (7.0, 20.0):  # between two looks
        budget = Budget(100.0, None, Clock(seconds))
        assert not budget.spent(25.0) and not budget.spent(50.0)
        ahead = 50.0 / (left / seconds + 1)  # then the rest takes `left` seconds at this pace
        assert not budget.spent(50.0 + ahead)  # once may be chance
        assert bool(budget.spent(50.0 + 2 * ahead)) == given_up


def test_a_run_that_goes_by_leaps_is_measured_over_a_while():
    """It stands still for four seconds out of five: no single second tells its pace."""
    times = np.minimum(np.arange(60) // 5 * 0.1, 1.0)
    assert looks(Budget(1.2, None, Clock(1.0)), times[:50]) == (50, "")


def test_the_first_look_may_come_late():
    """A long first step may have been compiling; the next one tells."""
    budget = Budget(1.0, None, Clock(20.0))
    assert not budget.spent(0.01) and budget.spent(0.02)
    budget = Budget(1.0, None, Clock(20.0))
    assert not budget.spent(0.01) and not budget.spent(0.5)


@pytest.fixture
def hurried(monkeypatch):
    """Every look at the clock takes two seconds."""
    monkeypatch.setattr(
        adaptive, "Budget", lambda t_end, seconds=None: Budget(t_end, seconds, Clock(2.0))
    )


ENDLESS = {
    "long": (1e12, None),
    "noise": (1.0, lambda t, q, qd: np.random.default_rng(hash(t) % 2**32).normal(size=2)),
    "chatter": (2.0, lambda t, q, qd: -50 * np.sign(qd)),
    "jumps": (1.0, lambda t, q, qd: np.sign(np.sin(1e6 * t)) * np.ones(2)),
}


@pytest.mark.parametrize("case", ENDLESS)
def test_endless_runs_end_with_what_they_have(case, hurried, two_link):
    t_end, torque = ENDLESS[case]
    run = dynarm.simulate(two_link, [0.1, 0.2], [0.1, 0.0], t_end, torque)
    assert run.status == "time" and "max_seconds" in run.message
    assert len(run.t) > 1 and run.reached == run.t[-1] < t_end
    assert np.isfinite(run.q).all()
    with pytest.raises(dynarm.DynarmError, match="led no further"):
        run.check()


def test_max_seconds_is_what_the_user_allows(hurried, two_link):
    run = dynarm.simulate(two_link, [0.1, 0.2], [0, 0], 1e4, max_seconds=7)
    assert run.status == "time" and run.message.startswith("7 s of computing")
    assert dynarm.simulate(two_link, [0.1, 0.2], [0, 0], 0.1, max_seconds=1e9).status == "success"


REFUSED = {
    "max_step": ({"max_step": 1e-300}, "max_step is 1e-300"),
    "dt": ({"method": "rk4", "dt": 1e-320}, "dt is 1e-320|dt is 9.99"),
    "small dt": ({"method": "rk4", "dt": 1e-15, "every": 2**60}, "more than 1e\\+10 steps"),
    "no seconds": ({"max_seconds": 0.0}, "max_seconds is 0"),
    "nan": ({"max_seconds": np.nan}, "max_seconds"),
    "stepped": ({"method": "rk4", "dt": 0.01, "max_seconds": 1.0}, "knows no max_seconds"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_end_is_refused(case, two_link):
    options, words = REFUSED[case]
    with pytest.raises(dynarm.DynarmError, match=words):
        dynarm.simulate(two_link, [0.1, 0.2], [0, 0], 1.0, **options)


def test_controllers_with_too_many_ticks_are_refused(two_link):
    def law(t, q, qd):
        return -q

    law.rate = 1e15
    with pytest.raises(dynarm.DynarmError, match="lower the rate"):
        dynarm.simulate(two_link, [0.1, 0.2], [0, 0], 1.0, law)
