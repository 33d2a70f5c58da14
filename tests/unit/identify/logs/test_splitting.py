"""The end of a log kept apart: nothing of it is fitted."""

from __future__ import annotations

import numpy as np
import pytest

from dynarm import DynarmError, Log
from dynarm.identify.logs.splitting import hold_out

T = 5.0 + np.arange(1001) * 0.01
LOG = Log(T, np.sin(T), np.cos(T), source="run.csv")


@pytest.mark.parametrize("share, fitted", [(0.3, 700), (0.5, 500), (0.9, 100), (0.001, 999)])
def test_every_sample_is_in_one_part(share, fitted):
    first, last = hold_out(LOG, share)
    assert abs(len(first) - fitted) <= 1
    np.testing.assert_array_equal(np.r_[first.t, last.t], LOG.t)
    np.testing.assert_array_equal(np.r_[first.tau, last.tau], LOG.tau)
    assert first.source == "run.csv"
    assert last.source.startswith("run.csv from ")


def test_a_spoiled_end_does_not_touch_the_fitted_part():
    tau = LOG.tau.copy()
    tau[701:] = 1e6
    first, last = hold_out(Log(T, LOG.q, tau), 0.3)
    assert np.abs(first.tau).max() <= 1
    assert np.abs(last.tau).min() == 1e6 or len(last) == 301


@pytest.mark.parametrize("share", [0.0, 1.0, -0.2, 1.5, float("nan"), "half", None, 0.9999, 1e-9])
def test_shares_that_leave_nothing_are_refused(share):
    with pytest.raises(DynarmError, match="share"):
        hold_out(LOG, share)
