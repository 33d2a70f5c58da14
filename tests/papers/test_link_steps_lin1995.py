"""fit.steps_: section IV of lin1995 on a log, each step computed again by hand."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

import dynarm
from dynarm import Identifier
from dynarm.dynamics.papers import recursive_identification_lin1995 as paper
from dynarm.dynamics.papers.minimal_parameters_lin1995 import layout, structure_of
from dynarm.errors import InputError
from dynarm.identify.estimators.link_steps import unheard_of
from dynarm.report.link_steps import link_by_link
from dynarm.robot.frames.chain import chain_of, pose
from oracles.simulated_log import exact_log
from strategies import sample_arms

HOW = dynarm.Preparation(cutoff=np.inf, velocity="recorded", slow=0.0)
SAMPLES = 200
MIXED = [
    arm for arm in sample_arms(23, 40, (2, 3, 4, 5)) if not all(j.revolute for j in arm.joints)
][:6]
ARMS = [dynarm.load(name) for name in ("stanford", "puma560", "scara")] + MIXED


def plain(arm):
    return replace(arm, joints=tuple(replace(j, armature=0.0) for j in arm.joints))


def fitted(arm, log, estimator="recursive", friction=(), armature=False):
    return Identifier(
        arm, friction=friction, armature=armature, estimator=estimator, preparation=HOW
    ).fit(log)


def noisy(log, sizes, seed=3):
    noise = np.random.default_rng(seed).normal(size=log.tau.shape) * sizes
    return replace(log, tau=log.tau + noise)


@pytest.mark.parametrize("arm", ARMS, ids=lambda a: a.name)
def test_every_step_by_hand(arm):
    arm = plain(arm)
    log = noisy(exact_log(arm, samples=SAMPLES), 0.5)
    fit = fitted(arm, log)
    chain = chain_of(arm)
    structure = structure_of(chain)
    moving = paper.motion(chain, pose(chain, list(log.q.T)), list(log.qd.T), list(log.qdd.T))
    assert unheard_of(fit.record.terms) is None
    assert [step.joint for step in fit.steps_] == list(range(arm.n - 1, -1, -1))
    outer: set[str] = set()
    for step in fit.steps_:
        i = step.joint
        kinds = [kind for j, kind in layout(structure) if j == i]
        v = paper.columns(structure, i, moving[i])
        A = np.column_stack([np.broadcast_to(v[kind], SAMPLES) for kind in kinds])
        np.testing.assert_allclose(step.A, A, rtol=1e-12, atol=1e-12)  # (97), (98), (103), (104)
        np.testing.assert_allclose(step.gamma + step.phi, log.tau[:, i], rtol=1e-12, atol=1e-9)
        scaled = A / np.linalg.norm(A, axis=0)
        np.testing.assert_allclose(step.singular, np.linalg.svd(scaled)[1], rtol=1e-9)
        assert step.exciting == (np.linalg.matrix_rank(scaled) == A.shape[1])  # (117)
        w = np.linalg.lstsq(scaled, step.gamma, rcond=None)[0] / np.linalg.norm(A, axis=0)
        np.testing.assert_allclose(step.values, w, rtol=1e-8, atol=1e-10)  # (111)
        assert set(step.handed) <= outer
        outer |= set(step.unknowns)
        assert (step.std >= step.own_std * (1 - 1e-9)).all() and step.shares.sum() == pytest.approx(
            1
        )
    assert not np.any(fit.steps_[0].phi) and fit.steps_[0].handed == ()
    assert {name: fit.values_[k] for k, name in enumerate(fit.names_)} == {
        name: x for step in fit.steps_ for name, x in zip(step.unknowns, step.values, strict=True)
    }


@pytest.mark.parametrize("arm", ARMS, ids=lambda a: a.name)
def test_equal_to_the_global_estimators_without_noise(arm):
    arm = plain(arm)
    log = exact_log(arm, samples=SAMPLES)
    one, other = fitted(arm, log), fitted(arm, log, "wls")
    size = np.abs(other.values_).max()
    assert np.abs(one.values_ - other.values_).max() < 1e-9 * size
    assert all(
        np.abs(s.gamma - s.A @ s.values).max() < 1e-9 * np.abs(log.tau).max() for s in one.steps_
    )


def test_variances_by_hand():
    """The tip's own: sigma^2 (A'A)^-1. One joint further in: what phi's error adds, through the same pseudo-inverse."""
    arm = plain(dynarm.load("puma560"))
    fit = fitted(arm, noisy(exact_log(arm, samples=SAMPLES), 0.2))
    tip = fit.steps_[0]
    variance = np.linalg.norm(tip.gamma - tip.A @ tip.values) ** 2 / SAMPLES
    spread = np.linalg.inv(tip.A.T @ tip.A) * variance
    ratio = tip.std / np.sqrt(np.diag(spread))
    np.testing.assert_allclose(ratio, ratio[0], rtol=1e-6)
    assert 0.9 < ratio[0] < 1.1 and np.allclose(tip.inflation, 1)
    assert (fit.steps_[1].inflation >= 1).all() and fit.steps_[-1].inflation.max() > 1.01


def test_the_joint_to_blame_is_the_one_that_is_noisy():
    arm = plain(dynarm.load("puma560"))
    fit = fitted(arm, noisy(exact_log(arm, samples=SAMPLES), [1e-6, 1e-6, 1e-6, 1e-6, 5.0, 1e-6]))
    by_joint = {step.joint: step for step in fit.steps_}
    assert by_joint[3].blame == 4 and by_joint[4].blame == 4 and by_joint[5].blame == 5
    assert by_joint[3].inflation.max() > 5  # its own residual holds what the fifth hands it, too
    assert "comes from joint" in fit.summary()


def test_a_joint_that_hardly_moves_is_told():
    """(117): at rest, in many poses, no entry of U shows in a torque."""
    arm = plain(dynarm.load("puma560"))
    log = exact_log(arm, samples=SAMPLES)
    zero = np.zeros_like(log.qd)
    tau = dynarm.compile(arm).inverse_dynamics(log.q, zero, zero)
    quiet = noisy(replace(log, qd=zero, qdd=zero, tau=tau), 1e-6)
    steps = fitted(arm, quiet).steps_
    assert steps and all(not step.exciting and step.condition == np.inf for step in steps)


def test_friction_and_armature_widen_the_own_problem():
    arm = dynarm.load("puma560")
    log = exact_log(arm, samples=SAMPLES)
    fit = fitted(arm, log, friction=("viscous", "offset"), armature=True)
    tip = fit.steps_[0]
    assert {"viscous6", "offset6"} < set(tip.unknowns)
    other = fitted(arm, log, "wls", friction=("viscous", "offset"), armature=True)
    np.testing.assert_allclose(fit.values_, other.values_, atol=1e-8)


def test_other_estimators_keep_no_steps():
    arm = plain(dynarm.load("two_link"))
    assert fitted(arm, exact_log(arm, samples=SAMPLES), "wls").steps_ == ()


def test_a_fit_read_from_a_file_says_how_its_steps_are_had(tmp_path):
    """Its rows are not in the file. A summary and a page are made without them."""
    arm = plain(dynarm.load("two_link"))
    log = noisy(exact_log(arm, samples=SAMPLES), 0.1)
    for estimator in ("recursive", "wls"):
        fitted(arm, log, estimator).save(tmp_path / f"{estimator}.toml")
    again = dynarm.load_fit(tmp_path / "recursive.toml")
    with pytest.raises(InputError, match=r"read from a file.*fit again for steps_.*'recursive'"):
        _ = again.steps_
    assert len(again.joint_conditions_) == 2 and "cond(A_i) of" in again.summary()
    assert link_by_link(again) == [] and len(link_by_link(fitted(arm, log))) == 1
    assert dynarm.load_fit(tmp_path / "wls.toml").steps_ == ()


def test_the_table_of_steps_sorts_by_its_numbers():
    """Shares, inflation and conditions are numbers to the page's sorting, not words; who is to blame stands second."""
    arm = plain(dynarm.load("puma560"))
    fit = fitted(arm, noisy(exact_log(arm, samples=SAMPLES), [1e-6, 1e-6, 1e-6, 1e-6, 5.0, 1e-6]))
    [part] = link_by_link(fit)
    rows = re.findall(r"<tr>(<td.*?)</tr>", "".join(part.parts))
    assert len(rows) == 6
    for row, step in zip(rows, fit.steps_, strict=True):
        cells = re.findall(r"<td(.*?)>(.*?)</td>", row)
        assert [cells[0][1], cells[1][1]] == [step.name, arm.joint_names[step.blame]]
        told = [float(re.search(r'data-value="(.*?)"', cells[k][0])[1]) for k in (2, 3, 6, 7)]
        wanted = [step.shares.max(), step.inflation.max(), step.condition, step.singular.min()]
        np.testing.assert_allclose(told, wanted, rtol=5e-3)
