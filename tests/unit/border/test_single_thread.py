"""One thread of linear algebra inside fits, the caller's number outside."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
import scipy.linalg  # noqa: F401  (loads its library, which `numbers` is to see)
from threadpoolctl import threadpool_info, threadpool_limits

import dynarm
from dynarm.border.threads import single_threaded


def numbers():
    return {one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"}


@pytest.fixture(autouse=True)
def two():
    """The suite runs with one thread; here the caller has two."""
    with threadpool_limits(2, user_api="blas"):
        yield


def test_one_inside_the_callers_number_outside():
    @single_threaded
    def outer(x, *, fails=False):
        """A docstring."""
        if fails:
            raise ZeroDivisionError
        return x, numbers(), inner(), numbers()

    @single_threaded
    def inner():
        return numbers()

    assert outer(7) == (7, {1}, {1}, {1}) and numbers() == {2}
    with pytest.raises(ZeroDivisionError):
        outer(7, fails=True)
    assert numbers() == {2}
    assert outer.__doc__ == "A docstring." and "fails" in inspect.signature(outer).parameters


def test_fits_and_exciting_motions_are_computed_by_one():
    arm, seen = dynarm.load("two_link"), []
    t = np.linspace(0, 5, 501)
    q = np.column_stack([np.sin(2 * t), np.sin(3 * t)])
    qd = np.column_stack([2 * np.cos(2 * t), 3 * np.cos(3 * t)])
    log = dynarm.Log(t, q, dynarm.compile(arm).inverse_dynamics(q, qd, -q * [4, 9]), qd=qd)

    def look(*_):
        seen.append(numbers())

    for work in (
        lambda: dynarm.Identifier(arm, friction=(), armature=False, progress=look).fit(log),
        lambda: dynarm.excite(arm, 5.0, starts=1, iterations=2, progress=look),
        lambda: dynarm.fit_fleet(arm, {"a": log, "b": log}, friction=(), progress=look),
    ):
        seen.clear()
        work()
        assert seen and all(one == {1} for one in seen)
        assert numbers() == {2}
