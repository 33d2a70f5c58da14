"""Pruning on the cheapest formulation's graph: cheaper than the exact model, within the error, judged elsewhere."""

from __future__ import annotations

import numpy as np
import pytest

import dynarm
from dynarm.errors import DynarmError, InputError
from dynarm.robot.frames.generic import generic_arm


def swing(n: int, phase: float = 0.0, samples: int = 120):
    t, k = np.linspace(0, 2 * np.pi, samples)[:, None], 1 + np.arange(n) / 5
    a = k * t + phase
    return 0.8 * np.sin(a), 0.8 * k * np.cos(a), -0.8 * k**2 * np.sin(a)


ARMS = [dynarm.load(name) for name in ("puma560", "stanford", "scara")] + [generic_arm(4, 2)]


@pytest.mark.parametrize("arm", ARMS, ids=lambda a: a.name)
def test_a_pruned_model_is_cheaper_than_the_exact_one_and_within_the_error(arm):
    motion, model = swing(arm.n), dynarm.compile(arm)
    pruned = dynarm.prune(arm, *motion, 0.02, validate=swing(arm.n, 0.7))
    exact = model.inverse_dynamics(*motion)
    peak = np.abs(exact).max(axis=0)
    away = np.abs(pruned.inverse_dynamics(*motion) - exact).max(axis=0)
    assert (away <= 0.02 * peak + 1e-10 * peak.max()).all()
    np.testing.assert_allclose(away, pruned.error, atol=1e-10 * peak.max())
    cheapest = dynarm.count(arm, "inverse_dynamics")
    assert (pruned.exact.mul, pruned.exact.add) == (cheapest.mul, cheapest.add)
    assert pruned.count.mul <= cheapest.mul and pruned.count.add < cheapest.add
    assert pruned.omitted > 0 and not pruned.dropped
    other = swing(arm.n, 0.7)
    truth = model.inverse_dynamics(*other)
    unseen = np.abs(pruned.inverse_dynamics(*other) - truth).max(axis=0)
    np.testing.assert_allclose(unseen, pruned.checked, atol=1e-10 * peak.max())
    assert pruned.held == bool((pruned.checked <= pruned.limit).all())


def test_more_error_costs_fewer_operations_and_none_costs_all():
    arm = dynarm.load("puma560")
    totals = [dynarm.prune(arm, *swing(6), e).count.total for e in (0.0, 0.001, 0.01, 0.1)]
    assert totals == sorted(totals, reverse=True) and len(set(totals)) == 4
    assert totals[0] == dynarm.count(arm, "inverse_dynamics").total
    terms = dynarm.prune(arm, *swing(6), 0.01, by="terms")
    assert (
        totals[2] < terms.exact.total == totals[0] < terms.count.total
    )  # today's terms end dearer


def test_a_motion_beyond_the_one_that_was_judged_is_told():
    arm = dynarm.load("puma560")
    fast = tuple(x * f for x, f in zip(swing(6), (1, 10, 100), strict=True))
    assert dynarm.prune(arm, *swing(6), 0.01, validate=fast).held is False
    assert dynarm.prune(arm, *swing(6), 0.01, validate=swing(6)).held is True
    assert dynarm.prune(arm, *swing(6), 0.01).held is None


def test_it_is_exported(tmp_path):
    pruned = dynarm.prune(dynarm.load("two_link"), *swing(2), 0.05)
    written = dynarm.export_c(pruned, tmp_path / "c")
    assert written.functions == ("two_link_inverse_dynamics",)
    assert "Pruned:" in (tmp_path / "c" / "two_link.h").read_text(encoding="utf-8")
    with pytest.raises(InputError, match="was not pruned"):
        dynarm.export_c(pruned, tmp_path / "d", quantities=["mass_matrix"])


def test_what_is_refused():
    arm = dynarm.load("two_link")
    with pytest.raises(DynarmError, match="graph"):
        dynarm.prune(arm, *swing(2), by="guess")
    with pytest.raises(DynarmError, match="qdd of a motion"):
        dynarm.prune(arm, *swing(2), validate=swing(2)[:2])
    with pytest.raises(DynarmError, match="2 joints"):
        dynarm.prune(arm, *swing(3))
