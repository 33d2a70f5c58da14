"""Friction chosen from the data: the right family on arms whose drives are known, plain friction where it is plain."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

import dynarm
from dynarm import Coupled, DynarmError, Friction, Identifier, Log, Preparation, minimal_parameters
from dynarm.identify.friction import families
from dynarm.identify.friction.choice import Search, State
from dynarm.identify.friction.ripple import ripple_orders
from dynarm.identify.friction.selection import folds_of_runs
from dynarm.identify.friction.trial import gain
from dynarm.identify.regressor import Terms
from oracles.known_drives import STROKES, drawn_arm, known_log, slipped
from oracles.simulated_log import multi_sine

PLAIN = ("viscous", "coulomb", "offset")


def taken(fit):
    return {one.family for one in fit.choice_.tried if one.taken}


@pytest.fixture(scope="module", params=["plain", "presliding", "load"])
def known(request):
    arm = drawn_arm(1)
    return request.param, arm, Identifier(arm).fit(known_log(arm, request.param, 1))


def test_the_family_of_the_drives_is_found(known):
    kind, _, fit = known
    if kind == "plain":
        assert (
            not taken(fit) and fit.names_ == Identifier(drawn_arm(1), friction=PLAIN).terms().names
        )
    elif kind == "presliding":
        assert "presliding" in taken(fit)
        assert any(record.presliding for record in fit.friction_)
    else:
        assert taken(fit) & {"load_curve", "load_presliding"}
        assert "presliding" not in taken(fit)


def test_rigid_values_are_unbiased(known):
    _, arm, fit = known
    truth = minimal_parameters(arm, armature=True).values
    apart = (fit.values_[: len(truth)] - truth) / fit.std_[: len(truth)]
    assert 0.5 < np.sqrt((apart**2).mean()) < 1.6
    assert np.mean(np.abs(apart) < 1.96) > 0.8


def test_lists_stay_out_of_what_the_log_determines(known):
    _, _, fit = known
    damped = [
        n for n, g in zip(fit.names_, fit.identifiability_.grades, strict=True) if g == "damped"
    ]
    assert len(damped) == int((~fit.record.terms.plain).sum())
    assert np.isfinite(fit.std_).all()


def test_a_fit_of_rich_friction_comes_back_from_its_file(known, tmp_path):
    kind, arm, fit = known
    fit.save(tmp_path / "fit.toml")
    again = dynarm.load_fit(tmp_path / "fit.toml")
    log = known_log(arm, kind, 2, duration=4.0)
    np.testing.assert_allclose(again.predict(log), fit.predict(log), rtol=1e-12, atol=1e-12)
    assert str(again.choice_) == str(fit.choice_) and again.friction_ == fit.friction_
    assert again.band_ == fit.band_


def test_no_free_step_stands_beside_damped_curves(known):
    """Where curves or hysteresis are taken, Coulomb friction is as smooth as they are, unless that surely loses."""
    _, _, fit = known
    for record in fit.friction_:
        if record.curve or record.presliding:
            assert record.shape == "tanh" and record.width > 0


def test_the_table_says_what_was_tried_and_why(known):
    kind, _, fit = known
    frame = fit.choice_.frame
    assert list(frame.columns) == ["joint", "family", "gain", "taken", "reason"]
    assert {"curve", "presliding", "load_curve"} <= set(frame.family)
    assert frame.reason.str.len().min() > 5
    assert ("presliding" in "".join(fit.choice_.lines()[:-1])) is (kind == "presliding")
    assert fit.choice_.lines()[0] in fit.summary()


def test_records_of_friction_are_fitted_as_given():
    """Elements of the true strokes, given by the user: the shares come out, and nothing is chosen."""
    arm = drawn_arm(0)
    record = Friction(shape="tanh", presliding=tuple((d, 0.0) for d in STROKES))
    log = known_log(arm, "presliding", 0)
    fit = Identifier(arm, friction=record, preparation=Preparation(smoothing="spline")).fit(log)
    assert fit.choice_.refused == "given by the user" and not fit.choice_.tried
    assert all([d for d, _ in f.presliding] == list(STROKES) for f in fit.friction_)
    plain = Identifier(arm, friction=PLAIN).fit(log)
    assert fit.validate(log).mean < 0.5 * plain.validate(log).mean


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"friction": [Friction()] * 3}, "3 records for 2 joints"),
        ({"friction": Friction(), "shape": "tanh"}, "leave shape"),
        ({"friction": Friction(coupling=[Coupled(7)])}, "coupled with joint 7"),
        ({"friction": Friction(curve=[(0.1, 0.0)]), "estimator": "recursive"}, "takes no lists"),
        ({"friction": ("viscous", Friction())}, "mixes words"),
    ],
)
def test_records_that_cannot_be_meant(options, words):
    with pytest.raises(DynarmError, match=words):
        Identifier(dynarm.load("two_link"), **options)


def test_what_the_user_says_is_kept():
    two = dynarm.load("two_link")
    for options in ({"friction": PLAIN}, {"shape": "sign"}, {"cutoff": 9.0}, {"asymmetric": True},
                    {"estimator": "recursive"}, {"preparation": Preparation(decimate=2)}):  # fmt: skip
        assert not Identifier(two, **options).automatic
    assert Identifier(two).automatic
    assert Identifier(two, preparation=Preparation(smoothing="spline")).automatic


@pytest.mark.parametrize("size", [1.0, 0.0])
def test_what_armatures_are_worth_is_told(size):
    """By how much the error of held-out time rises without them; of motors that are not felt, how to leave them out."""
    drawn = drawn_arm(1)
    joints = [replace(joint, armature=size * (joint.armature or 0.3)) for joint in drawn.joints]
    arm = replace(drawn, joints=tuple(joints))
    told = Identifier(arm).fit(known_log(arm, "plain", 1)).choice_.lines()[0]
    if size:
        assert re.fullmatch(r"armatures: held-out error is [\d.]+ % higher without them", told)
    else:
        assert "no more than chance may" in told and "--no-armature" in told
    without = Identifier(arm, armature=False).fit(known_log(arm, "plain", 1))
    assert not any("armatures" in line for line in without.choice_.lines())


# ---- bad input


def test_joints_that_move_together_refuse_everything():
    arm = drawn_arm(0)
    t, q, *_ = multi_sine(1, 15.0, 100.0)
    log = known_log(arm, "presliding", 0, duration=15.0, rate=100.0)
    same = Log(t, np.tile(q, (1, arm.n)) * np.linspace(0.5, 1.0, arm.n), log.tau)
    fit = Identifier(arm).fit(same)
    assert "move together" in fit.choice_.refused and fit.record.terms.listed == ()


def test_a_joint_that_never_moves_is_said():
    arm = drawn_arm(0)
    log = known_log(arm, "presliding", 0)
    q = log.q.copy()
    q[:, 5] = 0.3
    fit = Identifier(arm).fit(replace(log, q=q))
    (said,) = [one for one in fit.choice_.tried if one.joint == arm.joint_names[5]]
    assert said.reason == "the joint does not move" and fit.friction_[5].plain


def test_short_logs_keep_plain_friction():
    arm = dynarm.load("two_link")
    fit = Identifier(arm).fit(known_log(arm, "plain", 0, duration=1.0, rate=100.0))
    assert "too short" in fit.choice_.refused


def test_slow_logs_are_as_long_as_they_last():
    """Friction shows in the motion, which a slower recorder does not shorten."""
    arm = drawn_arm(1)
    logs = [known_log(arm, "load", seed, duration=16.0, rate=25.0) for seed in (1, 2)]
    fit = Identifier(arm).fit(logs[0])
    plain = Identifier(arm, friction=PLAIN, shape="tanh").fit(logs[0])
    assert len(logs[0]) < 17 * plain.record.terms.size
    assert not fit.choice_.refused and taken(fit) & {"load_curve", "load_presliding"}
    assert fit.validate(logs[1]).mean < 0.8 * plain.validate(logs[1]).mean
    few = known_log(arm, "load", 1, duration=16.0, rate=8.0)
    assert "too short" in Identifier(arm).fit(few).choice_.refused


def test_elements_finer_than_the_encoder_are_refused_by_name():
    arm = drawn_arm(0)
    fit = Identifier(arm).fit(known_log(arm, "presliding", 0, step=2 * np.pi / 2**12))
    told = [one for one in fit.choice_.tried if one.reason.startswith("finer than the encoder")]
    assert told and all(one.family.startswith("presliding of strokes") for one in told)
    least = [d for record in fit.friction_ for d, _ in record.presliding]
    assert not least or min(least) >= 2 * 2 * np.pi / 2**12 * (1 - 1e-9)


# ---- parts


def test_elements_follow_the_motion_from_gap_to_gap():
    _, q, qd, qdd = multi_sine(2, 4.0, 200.0)
    records = (Friction(presliding=[(d, 0.0) for d in STROKES]),) * 2
    terms = Terms(dynarm.load("two_link"), listed=records)
    held = terms.deflections(q, qd, qdd, [0, 300])
    expected = slipped(q[:300] - q[0], STROKES)
    still = terms.deflections(q, 0 * qd, qdd, [0, 300])
    np.testing.assert_allclose(still[:300], (expected * STROKES).reshape(300, 6), atol=1e-12)
    late = np.abs(held - still) > 1e-9  # begun in motion, until every element has slipped
    assert late[[0, 300]].any() and not late[[250, 750]].any()


def test_orders_of_a_ripple_are_found():
    rng = np.random.default_rng(0)
    q = 1.5 * np.sin(np.arange(20000) * 1e-3)
    left = rng.normal(0, 1.0, 20000) + 0.5 * np.sin(120 * q + 0.3) + 0.3 * np.cos(37 * q)
    assert sorted(ripple_orders(q, left, 1e-3)) == pytest.approx([37, 120], abs=1.0)
    assert len(ripple_orders(q, rng.normal(0, 1.0, 20000), 1e-3)) <= 2  # chance; trials refuse them
    assert ripple_orders(q[:100], left[:100], 1e-3) == []


class Two(Search):
    """A search among two joints whose errors (folds, joints) are given: of both families together, and without."""

    names = ("a", "b")
    ridge, tried, now = 0.0, (), np.ones((8, 2))

    def __init__(self, after):
        self.after, self.states, self.tried = after, [State(), State()], []

    def errors(self, states):
        return np.where([bool(s.taken) for s in states], self.after, self.now)

    def _gain(self, before, after):
        return gain(before, after, np.ones(before.shape, int))

    def offered(self, joint, key):
        return True


def test_joints_that_surely_lose_by_all_families_go_without():
    rng = np.random.default_rng(0)
    for second, both in ((0.9, True), (1.3, False)):
        search = Two(np.array([0.4, second]) + 0.02 * rng.normal(size=(8, 2)))
        search.together((("curve", "presliding"),))
        assert [bool(s.taken) for s in search.states] == [True, both]
        assert {t.joint for t in search.tried} == ({"a", "b"} if both else {"a"})


def test_runs_are_folds_where_they_are_of_like_length():
    """A second's extra log is neither a fold of its own nor what the others are predicted from."""
    assert folds_of_runs([500] * 3) is None
    assert folds_of_runs([500] * 4).tolist() == [0, 1, 2, 3]
    assert folds_of_runs([500, 400] * 8).tolist() == np.repeat(np.arange(8), 2).tolist()
    assert folds_of_runs([2000, 30, 20, 50]) is None  # one long run
    assert folds_of_runs([2000, 1000, 1500, 900, 700, 10, 1200]).tolist() == [0, 1, 2, 3, 4, 4, 5]
    assert folds_of_runs([10, 900, 900, 20, 900, 900]).tolist() == [0, 0, 1, 1, 2, 3]
    assert folds_of_runs([4000, 900, 900, 900]) is None  # most of all samples in one run


def test_gains_are_parts_of_the_error_with_their_doubt():
    before = np.array([[2.0, 1.0], [2.0, 1.0], [2.0, np.nan]])
    step = gain(before, before * np.array([0.5, 1.1]), np.ones((3, 2), int))
    np.testing.assert_allclose(step.mean, [0.5, -0.1])
    np.testing.assert_allclose(step.low, np.log([2.0, 1 / 1.1]))
    assert step.pooled([0])[0] == pytest.approx(np.log(2)) and step.pooled([0])[1] < 1e-12


def test_independent_motions_are_counted():
    _, _, _, qdd = multi_sine(3, 10.0, 100.0)
    assert families.independent_motions(qdd) == 3
    assert families.independent_motions(np.column_stack([qdd, qdd @ np.ones((3, 2))])) == 3
