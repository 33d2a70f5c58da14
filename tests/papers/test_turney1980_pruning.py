"""Pruning on the cheapest formulation's graph: cheaper than the exact model, within the error, judged elsewhere."""

from __future__ import annotations

import pickle

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
    totals = [dynarm.prune(arm, *swing(6), e).count.total for e in (0.0, 0.002, 0.01, 0.1)]
    assert totals == sorted(totals, reverse=True) and len(set(totals)) == 4
    assert totals[0] == dynarm.count(arm, "inverse_dynamics").total
    terms = dynarm.prune(arm, *swing(6), 0.01, by="terms")
    assert (
        totals[2] < terms.exact.total == totals[0] < terms.count.total
    )  # today's terms end dearer


def test_a_motion_beyond_the_one_that_was_judged_is_told():
    arm = dynarm.load("puma560")
    fast = tuple(x * f for x, f in zip(swing(6), (1, 10, 100), strict=True))
    told = dynarm.prune(arm, *swing(6), 0.01, validate=fast)
    assert told.held is False and not told.covers(*fast)
    assert dynarm.prune(arm, *swing(6), 0.01, validate=swing(6)).held is True
    assert dynarm.prune(arm, *swing(6), 0.01).held is None


def wandering(n: int, seed: int, samples: int = 200):
    """Three sines a joint, of random frequency, size and phase."""
    rng, t = np.random.default_rng(seed), np.linspace(0, 6, samples)[:, None]
    w, a, phase = (
        rng.uniform(0.5, 3, (3, n)),
        rng.uniform(0.1, 0.5, (3, n)),
        rng.normal(size=(3, n)),
    )
    x = [w[k] * t + 3 * phase[k] for k in range(3)]
    return (
        sum(a[k] * np.sin(x[k]) for k in range(3)),
        sum(a[k] * w[k] * np.cos(x[k]) for k in range(3)),
        sum(-a[k] * w[k] ** 2 * np.sin(x[k]) for k in range(3)),
    )


def squeezed(motion, box):
    """Another motion, scaled joint by joint to the bounds of a box."""
    q, qd, qdd = motion
    middle, half = (box.low + box.high) / 2, (box.high - box.low) / 2
    return (
        middle + half * q / np.abs(q).max(axis=0),
        qd * box.speed / np.abs(qd).max(axis=0),
        qdd * box.acceleration / np.abs(qdd).max(axis=0),
    )


ROBOTS = [dynarm.load(name) for name in ("puma560", "stanford", "scara")] + [
    generic_arm(4, 2),
    generic_arm(3, 1),
]


@pytest.mark.parametrize("error", [0.001, 0.01, 0.05])
@pytest.mark.parametrize("arm", ROBOTS, ids=lambda a: a.name)
def test_the_error_holds_on_motions_that_had_no_part(arm, error):
    """Ten others, each stretched to the bounds that the model answers for: never more than promised, and cheaper."""
    pruned = dynarm.prune(arm, *wandering(arm.n, 1), error)
    assert pruned.count.total <= pruned.exact.total
    if error == 0.05:
        assert pruned.count.total < pruned.exact.total
    exact, box = dynarm.compile(arm).inverse_dynamics, pruned.box
    others = [squeezed(wandering(arm.n, seed), box) for seed in range(2, 12)]
    for other in [*others, box.sampled(10_000, 12345)]:
        away = np.abs(pruned.inverse_dynamics(*other) - exact(*other)).max(axis=0)
        assert (away <= pruned.limit * (1 + 1e-9) + 1e-9).all()


def test_the_box_is_the_motion_s_widened():
    arm, (q, qd, qdd) = dynarm.load("two_link"), wandering(2, 3)
    box = dynarm.prune(arm, q, qd, qdd, 0.05, reach=1.5).box
    np.testing.assert_allclose(box.high - box.low, 1.5 * np.ptp(q, axis=0))
    np.testing.assert_allclose(box.high + box.low, q.max(axis=0) + q.min(axis=0))
    np.testing.assert_allclose(box.speed, 1.5 * np.abs(qd).max(axis=0))
    np.testing.assert_allclose(box.acceleration, 1.5 * np.abs(qdd).max(axis=0))
    pruned = dynarm.prune(arm, q, qd, qdd, 0.05)
    assert pruned.covers(*pruned.box.sampled(50, 0)) and pruned.covers(q, qd, qdd)
    for k, beyond in enumerate((pruned.box.high, pruned.box.speed, pruned.box.acceleration)):
        state = [x[:1].copy() for x in (q, qd, qdd)]
        state[k][0] = 1.01 * np.abs(beyond) + 0.01
        assert not pruned.covers(*state)


def test_along_the_motion_only_more_is_left_out_and_nothing_promised_elsewhere():
    """What is judged on one motion alone breaks its promise on others of the same size."""
    arm, motion = dynarm.load("puma560"), wandering(6, 1)
    only, wide = (dynarm.prune(arm, *motion, 0.01, reach=r) for r in (0, 1.25))
    assert only.count.total < wide.count.total < wide.exact.total
    assert only.box is None and not only.covers(*motion) and wide.covers(*motion)
    others = [squeezed(wandering(6, seed), wide.box) for seed in range(2, 6)]
    judged = [dynarm.prune(arm, *motion, 0.01, reach=0, validate=x).held for x in others]
    assert not all(judged)


def test_it_is_exported(tmp_path):
    pruned = dynarm.prune(dynarm.load("two_link"), *swing(2), 0.05)
    written = dynarm.export_c(pruned, tmp_path / "c")
    assert written.functions == ("two_link_inverse_dynamics",)
    assert "Pruned:" in (tmp_path / "c" / "two_link.h").read_text(encoding="utf-8")
    with pytest.raises(InputError, match="was not pruned"):
        dynarm.export_c(pruned, tmp_path / "d", quantities=["mass_matrix"])


def test_it_pickles_after_it_was_called():
    pruned = dynarm.prune(dynarm.load("two_link"), *swing(2), 0.05)
    told = pruned.inverse_dynamics(*swing(2))
    again = pickle.loads(pickle.dumps(pruned))
    np.testing.assert_array_equal(again.inverse_dynamics(*swing(2)), told)
    assert again.count == pruned.count and again.covers(*swing(2))


def test_terms_are_of_chains_and_summands_of_trees_too():
    joints = [
        dynarm.Joint(mass=1.0, com=(0.1, 0.2, 0.3), inertia=np.eye(3) * 0.1, a=0.2 * k, parent=p)
        for k, p in enumerate((None, 0, 0))
    ]
    fork = dynarm.Arm(joints, name="fork")
    for function in (dynarm.term_shares, lambda *x: dynarm.prune(*x, by="terms")):
        with pytest.raises(InputError, match=r"'fork' has none: .*branches; .*tip=.*by='graph'"):
            function(fork, *swing(3))
    pruned = dynarm.prune(fork, *swing(3), 0.05)
    away = dynarm.compile(fork).inverse_dynamics(*swing(3)) - pruned.inverse_dynamics(*swing(3))
    assert (np.abs(away).max(axis=0) <= pruned.limit * (1 + 1e-9)).all()


def test_what_is_refused():
    arm = dynarm.load("two_link")
    with pytest.raises(DynarmError, match="graph"):
        dynarm.prune(arm, *swing(2), by="guess")
    with pytest.raises(DynarmError, match="qdd of a motion"):
        dynarm.prune(arm, *swing(2), validate=swing(2)[:2])
    with pytest.raises(DynarmError, match="2 joints"):
        dynarm.prune(arm, *swing(3))
    for reach in (0.5, -1, 1000, "far", float("nan")):
        with pytest.raises(DynarmError, match="reach is"):
            dynarm.prune(arm, *swing(2), reach=reach)
    with pytest.raises(DynarmError, match="by='graph'"):
        dynarm.prune(arm, *swing(2), by="terms", reach=2)
