"""The width of a smoothed sign: each one tried is judged as a fit with that width would be."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import dynarm
from dynarm import Friction
from dynarm.identify.estimators.factors import fold
from dynarm.identify.preprocess import Preparation, smooth
from dynarm.identify.regressor import Terms
from dynarm.identify.segments import stretches
from dynarm.identify.tuning import WIDTHS, choose_widths
from oracles.simulated_log import exact_log


def left_over(terms, pieces, how):
    """For each joint the residual of a fit to its own torques."""
    factors = fold(terms, pieces, how, blocks=1)
    residuals = []
    for R in factors.R[0]:
        values, *_ = np.linalg.lstsq(R[:, :-1], R[:, -1], rcond=1e-10)
        residuals.append(np.linalg.norm(R[:, -1] - R[:, :-1] @ values))
    return residuals


@pytest.mark.parametrize("words", [("viscous", "coulomb", "offset"), ("coulomb",)])
def test_residuals_of_widths_are_those_of_fits(words):
    two = dynarm.load("two_link")
    drives = [Friction(0.5, 2.0, 0.1, "tanh", w) for w in (0.05, 0.2)]
    arm = replace(
        two, joints=tuple(replace(j, friction=f) for j, f in zip(two.joints, drives, strict=True))
    )
    how = Preparation(cutoff=np.inf, velocity="recorded")
    pieces = [smooth(piece, how) for piece in stretches(exact_log(arm))]
    widths, errors = choose_widths(Terms(arm, words, "tanh"), pieces, how)
    if "viscous" in words:
        assert widths == (0.05, 0.2)
    for k in (0, 5, 7, 14):
        terms = Terms(arm, words, "tanh", (WIDTHS[k],) * 2)
        wanted = left_over(terms, pieces, how)
        np.testing.assert_allclose(errors[:, k], wanted, rtol=1e-6, atol=1e-9)
