"""Robots that branch, joints that follow others: true values are found, and what a log of one arm tells is said."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import dynarm
from dynarm import Friction, Identifier, Log, excite, identify_payload, load_fit, minimal_parameters
from dynarm.cli.app import run
from dynarm.cli.files import write_log
from dynarm.errors import InputError
from dynarm.identify.logs.base import with_turns
from dynarm.identify.regressor import Terms
from dynarm.identify.rests import idle_rows, resting
from dynarm.identify.rigid import rigid_of
from oracles.example_robots import example_robot
from oracles.simulated_tree import deviations, exact_states, sound, tree_log, two_arms
from strategies import sample_trees

NOISE = 0.3  # [N m]: well above what differentiation of positions leaves
LEFT = ("left1", "left2", "left3")
ARM, GRIPPER = two_arms(), two_arms(gripper=True)


@pytest.mark.parametrize("estimator", ["wls", "ols", "irls", "recursive"])
@pytest.mark.parametrize("arm", [ARM, GRIPPER], ids=["two arms", "gripper"])
def test_true_values_of_a_tree(arm, estimator):
    log = tree_log(arm, NOISE)
    fit = Identifier(arm, estimator=estimator, cutoff=20.0).fit(log)
    assert fit.status_.startswith("ok")
    assert fit.rank_ == len(fit.names_)
    assert sound(deviations(fit, arm))
    other = tree_log(arm, NOISE, seed=1)
    assert fit.verdict(other).passed and fit.validate(other).mean < 0.2
    np.testing.assert_allclose(
        fit.model_.inverse_dynamics(*fit.states(other)), fit.predict(other), atol=1e-9
    )


def test_a_physically_consistent_tree_is_made():
    fit = Identifier(GRIPPER, cutoff=20.0).fit(tree_log(GRIPPER, NOISE))
    made = fit.arm_
    assert not made.check() and made.parents == GRIPPER.parents and made.tools == GRIPPER.tools
    values = minimal_parameters(made, armature=True).values
    near = fit.feasible_.values
    np.testing.assert_allclose(values, near[: len(values)], atol=1e-6 * np.abs(near).max())
    assert fit.feasible_.distance < 1


def test_friction_of_a_follower_is_merged_with_its_masters():
    """Viscous friction counts by the multiplier squared, Coulomb friction by its size."""
    both = tuple(
        replace(j, friction=Friction(viscous=2.0, coulomb=0.5)) if j.name == "other" else j
        for j in GRIPPER.joints
    )
    arm = replace(GRIPPER, joints=both)
    log = tree_log(arm, 0.05)
    fit = Identifier(GRIPPER, cutoff=20.0).fit(log)
    assert "viscous7" in fit.names_ and "viscous8" not in fit.names_
    told = dict(zip(fit.names_, fit.values_, strict=True))
    assert told["viscous7"] == pytest.approx(0.4 + 0.25 * 2.0, abs=0.03)
    assert told["coulomb7"] == pytest.approx(0.3 + 0.5 * 0.5, abs=0.03)
    fingers = dict(zip(GRIPPER.link_names, fit.arm_.joints, strict=True))
    assert fingers["other"].friction is None
    assert fingers["finger"].friction.viscous == pytest.approx(told["viscous7"], abs=1e-6)


def test_the_armature_of_a_follower_on_its_masters_row():
    """Columns per unit of armature are what a compiled model gains by one."""
    rng = np.random.default_rng(0)
    q, qd, qdd = (rng.uniform(-1, 1, (5, 7)) for _ in range(3))
    geared = rigid_of(GRIPPER, True).geared
    plain = dynarm.compile(GRIPPER, friction=True).inverse_dynamics(q, qd, qdd)
    for i, joint in enumerate(GRIPPER.joints):
        joints = list(GRIPPER.joints)
        joints[i] = replace(joint, armature=joint.armature + 1)
        more = dynarm.compile(replace(GRIPPER, joints=joints), friction=True)
        gained = more.inverse_dynamics(q, qd, qdd) - plain
        np.testing.assert_allclose(qdd * geared[:, i], gained, atol=1e-9)


def test_a_log_of_one_arm_says_what_it_determined(tmp_path):
    log = tree_log(ARM, 0.1, jitter=2e-5, moving=LEFT)
    fit = Identifier(ARM, cutoff=20.0).fit(log)
    check = fit.identifiability_
    # joints 4, 5, 6 are the right arm's
    right = [name for name in fit.names_ if set("456") & set(name.split("_")[0])]
    assert set(check.undetermined) == set(right) and not check.doubtful
    assert {*check.determined, *check.small} == set(fit.names_) - set(right)
    assert len(right) == len(fit.names_) // 2
    assert fit.status_.startswith("doubtful") and "k5_x" in fit.status_
    assert "not explained" not in fit.status_
    assert fit.silent_.tolist() == [False] * 3 + [True] * 3
    moved = np.array([name not in right for name in fit.names_])
    assert sound(deviations(fit, ARM)[moved])
    # the other arm's values are the file's where the log says nothing, but for friction, of which 0 is supposed
    assert (fit.validate(tree_log(ARM, 0.1, seed=2)).relative < 0.2).all()
    held = fit.validate(log)
    assert held.silent.tolist() == fit.silent_.tolist() and held.mean < 0.1
    assert all("right" not in reason for reason in fit.verdict(log).reasons)
    fit.save(tmp_path / "fit.toml")
    again = load_fit(tmp_path / "fit.toml")
    np.testing.assert_array_equal(again.predict(log), fit.predict(log))
    assert again.silent_.tolist() == fit.silent_.tolist() and again.status_ == fit.status_


def test_noise_on_a_resting_joint_is_no_motion():
    """Its friction would be told from the sign of the noise."""
    noisy = Identifier(ARM, cutoff=20.0).fit(tree_log(ARM, 0.1, jitter=2e-5, moving=LEFT))
    assert {"coulomb4", "viscous5"} <= set(noisy.identifiability_.undetermined)
    q = np.zeros((50, 3))
    q[:, 0] = np.linspace(0, 1, 50)
    q[:, 1] = 1e-4 * (np.arange(50) % 2)
    assert resting(q).tolist() == [False, True, True]
    assert not resting(q[:, 1:2]).any()  # where all move little, none rests


def test_forces_that_cannot_change():
    still = np.array([False, False, False, True, True, True])
    assert idle_rows(ARM, still).tolist() == still.tolist()
    assert not idle_rows(ARM, np.array([False, True, True, False, True, True])).any()
    chain = dynarm.load("puma560")
    assert not idle_rows(chain, np.arange(6) > 2).any()


def test_a_constant_torque_of_a_joint_at_rest_is_no_defect():
    log = tree_log(ARM, 0.0, moving=LEFT)
    assert np.ptp(log.tau[:, 5]) < 1e-9
    assert Identifier(ARM, cutoff=20.0).fit(log).identifiability_.undetermined
    flat = np.where(np.arange(6) == 1, 3.0, log.tau)
    with pytest.raises(InputError, match="torque of joint 'left2' is constant"):
        Identifier(ARM).fit(replace(log, tau=flat))


def test_torques_that_were_not_measured():
    log = tree_log(ARM, NOISE)
    blind = replace(log, tau=np.where(np.arange(6) == 5, np.nan, log.tau))
    fit = Identifier(ARM, cutoff=20.0).fit(blind)
    assert blind.measured.tolist() == [True] * 5 + [False]
    assert {"viscous6", "Ia6"} <= set(fit.identifiability_.undetermined)
    assert np.isnan(fit.validate(blind).relative[5]) and fit.validate(blind).mean < 0.2
    with pytest.raises(InputError, match="row 3"):
        Log(log.t, log.q, np.where((np.arange(len(log)) == 2)[:, None], np.nan, log.tau))
    with pytest.raises(InputError, match="NaN throughout"):
        Log(log.t, log.q, np.full(log.tau.shape, np.nan))


def test_joints_are_found_by_name():
    log = tree_log(ARM, NOISE)
    order = [5, 0, 3, 1, 4, 2]
    shuffled = Log(
        log.t, log.q[:, order], log.tau[:, order], joint_names=[ARM.joint_names[k] for k in order]
    )
    a, b = (Identifier(ARM, cutoff=20.0).fit(one).values_ for one in (log, shuffled))
    np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)


def test_wrenches_on_the_tools():
    arm, samples = ARM, 2000
    wrench = (
        np.random.default_rng(4).normal(size=(2, 6))
        * np.sin(np.arange(samples) / 40)[:, None, None]
    )
    log = tree_log(arm, NOISE, wrench=wrench * 20)
    assert log.wrench.shape == (samples, 12)
    fit = Identifier(arm, cutoff=20.0).fit(log)
    assert sound(deviations(fit, arm)) and fit.validate(log).mean < 0.2
    blind = replace(log, wrench=None)
    assert Identifier(arm, cutoff=20.0).fit(blind).relative_.max() > 3 * fit.relative_.max()
    with pytest.raises(InputError, match="2 tools"):
        Identifier(arm).fit(replace(log, wrench=log.wrench[:, :6]))


def test_a_payload_in_one_hand():
    load = {"mass": 1.5, "com": (0.05, 0.02, 0.1), "inertia": np.diag([0.01, 0.02, 0.015])}
    heavy = ARM.with_payload(**load, tool="right_hand")
    plain, loaded = tree_log(ARM, 0.02), tree_log(heavy, 0.02, seed=1)
    payload = identify_payload(ARM, plain, loaded, tool="right_hand", cutoff=20.0)
    assert payload.mass == pytest.approx(1.5, abs=0.1)
    np.testing.assert_allclose(payload.com[:2], load["com"][:2], atol=0.02)
    with pytest.raises(InputError, match="2 tools"):
        identify_payload(ARM, plain, loaded)


def test_motions_for_trees_keep_all_tools_in_the_box():
    q = np.zeros((1, 6))
    model = dynarm.compile(ARM)
    here = model.forward_kinematics(q)[0, :, :3, 3]
    box = (here.min(axis=0) - 0.45, here.max(axis=0) + 0.45)
    motion = excite(ARM, 5.0, 3, box=box, starts=1, iterations=10, rate=50.0)
    places = model.forward_kinematics(motion.q)[:, :, :3, 3]
    assert (places >= box[0] - 1e-9).all() and (places <= box[1] + 1e-9).all()
    assert motion.joint_names == ARM.joint_names and np.isfinite(motion.condition)
    bare = replace(GRIPPER, tools=None)
    motion = excite(bare, 5.0, 3, starts=1, iterations=5, rate=50.0)
    assert motion.q.shape[1] == 7 and np.isfinite(motion.condition)


def test_motions_keep_the_limits_of_followers():
    joints = tuple(
        replace(j, position_limits=(-0.03, 0.05), velocity_limit=0.1) if j.name == "other" else j
        for j in GRIPPER.joints
    )
    motion = excite(replace(GRIPPER, joints=joints), 5.0, 3, starts=1, iterations=5, rate=50.0)
    follower = -0.5 * motion.q[:, 6] + 0.02
    assert follower.min() >= -0.03 and follower.max() <= 0.05
    assert 0.1 < np.abs(motion.qd[:, 6]).max() <= 0.2


def test_the_command_line_on_a_whole_robot(tmp_path, capsys):
    robot, log = tmp_path / "robot.toml", tmp_path / "log.csv"
    GRIPPER.save(robot)
    write_log(tree_log(GRIPPER, NOISE), log)
    out = tmp_path / "out"
    asked = ["identify", str(robot), str(log), "--cutoff", "20", "--hold-out", "0.2"]
    assert run([*asked, "--out", str(out)]) == 0
    told = capsys.readouterr().out
    assert "finger" in told and "PASS" in told and "other " not in told
    assert "finger" in (out / "report.html").read_text()
    assert run(["validate", str(out / "model.toml"), str(log), "--cutoff", "20"]) == 0
    assert "left3" in capsys.readouterr().out


def test_baxter_by_one_arm():
    """The whole robot from its URDF; the left arm moves and carries its gripper, whose fingers rest."""
    arm = dynarm.load(str(example_robot("baxter.urdf")))
    moving = [name for name in arm.joint_names if name.startswith("left_")]
    t, q, qd, qdd = exact_states(arm, moving, duration=6.0, rate=100.0)
    tau = dynarm.compile(arm).inverse_dynamics(q, qd, qdd)
    tau = tau + np.random.default_rng(0).normal(0, 0.02, tau.shape)
    log = Log(t, q, tau, joint_names=arm.joint_names)
    fit = Identifier(arm, friction=(), armature=False, cutoff=15.0).fit(log)
    of_left = {str(i + 1) for i, j in enumerate(arm.joints) if j.name.startswith("l")}
    assert len(of_left) == 9
    left = {
        name for name in fit.names_ if "".join(filter(str.isdigit, name.split("_")[0])) in of_left
    }
    determined = set(fit.identifiability_.determined)
    assert determined <= left and len(determined) > 30
    assert len(fit.names_) == minimal_parameters(arm).count
    assert not fit.silent_[[arm.joint_names.index(name) for name in moving]].any()
    assert fit.silent_[arm.joint_names.index("right_s1")]


@pytest.mark.parametrize(
    "arm", list(sample_trees(5, 16, sizes=(3, 4, 5))), ids=lambda arm: arm.name
)
def test_columns_of_all_kinds_of_trees(arm):
    """Columns times values are the compiled forces, armatures of followers included, by all three ways to them."""
    joints = tuple(replace(j, armature=0.3 + 0.1 * k) for k, j in enumerate(arm.joints))
    arm = replace(arm, joints=joints)
    rng = np.random.default_rng(0)
    q, qd, qdd = (rng.uniform(-2, 2, (20, k)) for k in (arm.nq, arm.nv, arm.nv))
    if arm.floating:
        q = with_turns(q, q[:, 3:7])
    terms = Terms(arm)
    values = np.r_[minimal_parameters(arm, armature=True).values, np.zeros(terms.size)][
        : terms.size
    ]
    expected = dynarm.compile(
        replace(arm, joints=[replace(j, friction=None) for j in joints]), friction=True
    )
    tau = expected.inverse_dynamics(q, qd, qdd)
    size = max(1.0, np.abs(tau).max())
    columns = terms.evaluate(q, qd, qdd)
    np.testing.assert_allclose(columns @ values, tau, atol=1e-9 * size)
    values[terms.rigid_size :] = rng.normal(size=terms.size - terms.rigid_size)
    np.testing.assert_allclose(terms.forces(values, q, qd, qdd), columns @ values, atol=1e-9 * size)
    for j, rows in enumerate(terms.joint_rows(q, qd, qdd, {})):
        np.testing.assert_allclose(rows[:-1], columns[:, j, terms.support[j]].T, atol=1e-9 * size)
