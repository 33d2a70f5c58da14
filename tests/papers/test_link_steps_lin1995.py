"""fit.steps_: section IV of lin1995 on a log, each step computed again by hand."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

import dynarm
from dynarm import Identifier
from dynarm.dynamics.papers.minimal_parameters_lin1995 import layout, structure_of
from dynarm.errors import InputError
from dynarm.report.link_steps import link_by_link
from dynarm.robot.frames.chain import chain_of, pose
from oracles import lin1995_identification as paper
from oracles.simulated_log import exact_log
from oracles.simulated_tree import exact_states, two_arms
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


def same_problem(step, A, gamma, tau):
    """The step's few rows are the log's, turned: every product of columns of [A gamma tau] is theirs."""
    mine = np.column_stack([step.A, step.gamma, step.gamma + step.phi])
    rows = np.column_stack([A, gamma, tau])
    size = np.linalg.norm(rows, axis=0) + 1e-300
    np.testing.assert_allclose(
        mine.T @ mine / np.outer(size, size), rows.T @ rows / np.outer(size, size), atol=1e-9
    )
    assert step.rows == len(rows)


@pytest.mark.parametrize("arm", ARMS, ids=lambda a: a.name)
def test_every_step_by_hand(arm):
    """Against the paper's recursion, sample by sample: mu and zeta handed inwards with the values found further out."""
    arm = plain(arm)
    log = noisy(exact_log(arm, samples=SAMPLES), 0.5)
    fit = fitted(arm, log)
    chain = chain_of(arm)
    structure = structure_of(chain)
    assert [step.joint for step in fit.steps_] == list(range(arm.n - 1, -1, -1))
    steps = {step.joint: step for step in fit.steps_}
    outer: set[str] = set()

    def met(i, A, gamma):
        step = steps[i]
        A = np.column_stack([np.broadcast_to(x, SAMPLES) for x in A])  # (97), (98), (103), (104)
        same_problem(step, A, gamma, log.tau[:, i])  # (108), (110)
        size = np.linalg.norm(A, axis=0)
        s = np.linalg.svd(A / size)[1]
        np.testing.assert_allclose(step.singular, s, rtol=1e-9, atol=1e-12)
        assert step.exciting == (np.linalg.matrix_rank(A / size) == A.shape[1])  # (117)
        w = np.linalg.lstsq(A / size, gamma, rcond=None)[0] / size
        np.testing.assert_allclose(step.values, w, rtol=1e-7, atol=1e-9 * np.abs(w).max())  # (111)
        assert set(step.handed) <= outer
        outer.update(step.unknowns)
        assert (step.std >= step.own_std * (1 - 1e-9)).all()
        assert step.shares.sum() == pytest.approx(1)
        return w

    motion = (pose(chain, list(log.q.T)), list(log.qd.T), list(log.qdd.T), list(log.tau.T))
    paper.identify(chain, structure, *motion, met)
    assert len(outer) == len(layout(structure)) == len(fit.names_)
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


def step_by_step(X, tau):
    """The procedure on stacked rows X (N, n, p), tau (N, n): for each row from the last, its unknowns and values."""
    n, p = X.shape[1:]
    felt = np.abs(X).max(axis=0) > 0
    known, values, met = np.zeros(p, bool), np.zeros(p), []
    for i in range(n - 1, -1, -1):
        mine = felt[i] & ~known
        known |= felt[i]
        if mine.any():
            phi = X[:, i, felt[i] & ~mine] @ values[felt[i] & ~mine]
            A, gamma = X[:, i, mine], tau[:, i] - phi
            size = np.linalg.norm(A, axis=0)
            values[mine] = np.linalg.lstsq(A / size, gamma, rcond=None)[0] / size
            met.append((i, np.flatnonzero(mine), A, gamma))
    return values, met


COUPLED = dynarm.Column("coupled", lambda q, qd, qdd: [qdd[1], qdd[0], *([0] * (len(q) - 2))])
TREE, GRIPPER = two_arms(), two_arms(gripper=True)
BEYOND = [  # what the paper does not speak of: robots that branch, joints that follow, terms that joints share
    ("tree", TREE, ("viscous", "coulomb"), True, ()),
    ("mimic", GRIPPER, (), True, ()),
    ("columns", dynarm.load("puma560"), ("viscous",), False, (COUPLED,)),
    ("tree, columns", TREE, (), False, (COUPLED,)),
]


@pytest.mark.parametrize(
    ("arm", "friction", "armature", "columns"), [c[1:] for c in BEYOND], ids=[c[0] for c in BEYOND]
)
def test_steps_beyond_the_paper_are_the_same_steps(arm, friction, armature, columns):
    """The same small problems from the stacked regressor, by hand; blocks drawn again are solved by the same steps."""
    t, q, qd, qdd = exact_states(arm, duration=4.0, rate=100.0)
    tau = dynarm.compile(arm).inverse_dynamics(q, qd, qdd)
    tau = tau + np.random.default_rng(5).normal(0, 0.3, tau.shape)
    log = dynarm.Log(t=t, q=q, qd=qd, qdd=qdd, tau=tau)
    how = {"friction": friction, "armature": armature, "columns": columns, "preparation": HOW}
    fit = Identifier(arm, estimator="recursive", **how).fit(log)
    X = fit.record.terms.evaluate(q, qd, qdd)
    values, met = step_by_step(X, tau)
    scale = np.linalg.norm(X.reshape(-1, X.shape[-1]), axis=0)
    assert np.abs((fit.values_ - values) * scale).max() < 1e-7 * np.linalg.norm(tau)
    assert [step.joint for step in fit.steps_] == [i for i, *_ in met]
    for step, (i, mine, A, gamma) in zip(fit.steps_, met, strict=True):
        assert step.unknowns == tuple(fit.names_[k] for k in mine)
        same_problem(step, A, gamma, tau[:, i])
    drawn = fit.bootstrap(3)
    assert drawn.shape == (3, len(fit.names_)) and np.isfinite(drawn).all()
    assert len(link_by_link(fit)) == 1
