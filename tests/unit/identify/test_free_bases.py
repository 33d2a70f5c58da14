"""Robots on a free base: identified from torques of joints, from the wrench on the base, or from both."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import dynarm
from dynarm import Column, Identifier, Log, excite, identify_payload, load_fit, minimal_parameters
from dynarm.cli.app import run
from dynarm.cli.files import write_log
from dynarm.errors import InputError
from dynarm.identify.logs.base import rotations, with_turns
from dynarm.identify.preprocess import Preparation, smooth, states_at
from oracles.simulated_tree import (
    base_motion,
    deviations,
    exact_states,
    sound,
    tree_log,
    two_arms,
)

ARM = two_arms(floating=True)
NOISE = 0.3
LOG = tree_log(ARM, NOISE)
BASE = ("m0", "k0_x", "k0_y", "k0_z", "U0_11", "U0_12", "U0_22", "U0_13", "U0_23", "U0_33")


def drives(fit):
    """Unknowns that show in the joints' own torques only."""
    return {n for n in fit.names_ if n.startswith(("Ia", "viscous", "coulomb", "offset"))}


# ---- states


def test_states_of_the_base_from_its_pose():
    t, q, qd, qdd = exact_states(ARM, rate=1000.0, duration=4.0)
    piece = smooth(
        Log(t, q, np.ones((len(t), 12)) * t[:, None]),
        Preparation(cutoff=50.0, velocity="differentiate"),
    )
    inner = slice(200, -200)
    np.testing.assert_allclose(piece.q[inner], q[inner], atol=1e-5)
    np.testing.assert_allclose(piece.qd[inner], qd[inner], atol=2e-3)
    np.testing.assert_allclose(piece.qdd[inner], qdd[inner], atol=2e-2)
    assert np.abs(qdd[inner]).max(axis=0).min() > 1  # every acceleration is told


def test_the_motion_of_the_oracle_is_one():
    """Its velocities are the rates of its pose, by finite differences."""
    pose, speed, acc = base_motion(rate=2000.0, duration=2.0)
    R = rotations(pose[:, 3:])
    rate = np.gradient(pose[:, :3], 1 / 2000, axis=0)
    np.testing.assert_allclose(np.einsum("kji,kj->ki", R, rate)[5:-5], speed[5:-5, :3], atol=1e-4)
    skew = np.einsum("kji,kjl->kil", R, np.gradient(R, 1 / 2000, axis=0))[5:-5]
    np.testing.assert_allclose(skew[:, 2, 1], speed[5:-5, 3], atol=1e-4)
    np.testing.assert_allclose(skew[:, 0, 2], speed[5:-5, 4], atol=1e-4)
    np.testing.assert_allclose(np.gradient(speed, 1 / 2000, axis=0)[5:-5], acc[5:-5], atol=1e-3)


def test_signs_of_quaternions_do_not_matter():
    signs = np.random.default_rng(0).choice([-1.0, 1.0], (len(LOG), 1))
    q = LOG.q.copy()
    q[:, 3:7] *= signs
    jumping = Log(LOG.t, q, LOG.tau)
    np.testing.assert_allclose(jumping.q[:, 3:7], signs[0] * LOG.q[:, 3:7], atol=1e-12)
    assert not jumping.quality.resets
    how = Preparation(cutoff=20.0, velocity="differentiate")
    for a, b in zip(states_at(jumping, how)[1:], states_at(LOG, how)[1:], strict=True):
        np.testing.assert_allclose(a, b, atol=1e-9)


def test_quaternions_are_normalised_or_refused():
    q = LOG.q.copy()
    q[:, 3:7] = np.round(q[:, 3:7], 5)
    assert np.abs(np.linalg.norm(Log(LOG.t, q, LOG.tau).q[:, 3:7], axis=1) - 1).max() < 1e-15
    q[7, 3:7] *= 1.1
    with pytest.raises(InputError, match=r"quaternion in row 8 has length 1\.1"):
        Log(LOG.t, q, LOG.tau)
    turned = with_turns(LOG.q, -3 * LOG.q[:, 3:7])
    np.testing.assert_allclose(turned[:, 3:7], -LOG.q[:, 3:7], atol=1e-15)


def test_uneven_times_keep_the_quaternion():
    rng = np.random.default_rng(1)
    keep = np.sort(rng.choice(len(LOG), 1500, replace=False))
    fit = Identifier(ARM, cutoff=10.0).fit(LOG.rows(np.isin(np.arange(len(LOG)), keep)))
    assert fit.validate(LOG).mean < 0.2


# ---- fits


@pytest.mark.parametrize("estimator", ["wls", "ols", "irls", "iv"])
def test_true_values_from_both(estimator):
    fit = Identifier(ARM, estimator=estimator, cutoff=20.0).fit(LOG)
    assert fit.status_.startswith("ok") and fit.rank_ == len(fit.names_)
    assert fit.names_[:10] == BASE
    assert sound(deviations(fit, ARM))
    other = tree_log(ARM, NOISE, seed=1)
    assert fit.verdict(other).passed
    np.testing.assert_allclose(
        fit.model_.inverse_dynamics(*fit.states(other)), fit.predict(other), atol=1e-9
    )


def test_from_the_joints_alone_all_but_the_base_is_told():
    fit = Identifier(ARM, rows="joints", cutoff=20.0).fit(LOG)
    assert set(fit.identifiability_.undetermined) == set(BASE)
    told = np.array([name not in BASE for name in fit.names_])
    assert sound(deviations(fit, ARM)[told])
    assert fit.silent_.tolist() == [True] * 6 + [False] * 6
    # the log without the wrench says the same
    alone = Log(LOG.t, LOG.q, LOG.tau[:, 6:], joint_names=ARM.joint_names)
    assert alone.floating and alone.measured.tolist() == [False] * 6 + [True] * 6
    again = Identifier(ARM, cutoff=20.0).fit(alone)
    np.testing.assert_allclose(again.values_, fit.values_, rtol=1e-12)
    # where the log says nothing the file's values stand, so the base's wrench is predicted too
    assert fit.validate(LOG).mean < 0.2
    assert np.isfinite(fit.arm_.floating.mass)


def test_the_wrench_on_the_base_alone_tells_every_minimal_parameter():
    plain = {"friction": (), "armature": False, "cutoff": 20.0}
    fit = Identifier(ARM, rows="base", **plain).fit(LOG)
    assert fit.status_.startswith("ok") and fit.rank_ == minimal_parameters(ARM).count
    errors = (fit.values_ - minimal_parameters(ARM).values) / fit.std_
    assert sound(errors)
    alone = Log(LOG.t, LOG.q, base_wrench=LOG.tau[:, :6])
    assert alone.measured.tolist() == [True] * 6 + [False] * 6
    again = Identifier(ARM, **plain).fit(alone)
    np.testing.assert_allclose(again.values_, fit.values_, rtol=1e-12)
    drive = Identifier(ARM, rows="base", cutoff=20.0).fit(LOG)
    assert set(drive.identifiability_.undetermined) == drives(drive)


def test_recorded_velocities_are_taken_as_they_are():
    log = tree_log(ARM, NOISE, recorded=True)
    exact = Preparation(cutoff=20.0, velocity="recorded")
    assert sound(deviations(Identifier(ARM, preparation=exact).fit(log), ARM))
    wrong = replace(log, qd=log.qd * np.r_[2.0, np.ones(11)])
    assert Identifier(ARM, preparation=exact).fit(wrong).relative_.max() > 0.1


def test_a_base_that_stands_still_is_a_force_plate():
    """The wrench of a robot on a plate, the plate's and the base's weight included, tells its joints' links."""
    t, q, qd, qdd = exact_states(ARM)
    q[:, :7], qd[:, :6], qdd[:, :6] = (0, 0, 0, 0, 0, 0, 1), 0, 0
    tau = dynarm.compile(ARM).inverse_dynamics(q, qd, qdd)
    tau += np.random.default_rng(0).normal(0, 0.05, tau.shape)
    fit = Identifier(ARM, friction=(), armature=False, cutoff=20.0).fit(
        Log(t, q, base_wrench=tau[:, :6])
    )
    told = set(fit.identifiability_.determined)
    assert {"k2_x", "k3_x", "k6_y", "U3_12"} <= told
    assert {"U0_11", "U0_12", "U0_33"} <= set(fit.identifiability_.undetermined)
    assert fit.relative_[:6].max() < 0.1 and not fit.silent_[:6].any()


def test_saved_and_read(tmp_path):
    fit = Identifier(ARM, rows="joints", cutoff=20.0).fit(LOG)
    fit.save(tmp_path / "fit.toml")
    again = load_fit(tmp_path / "fit.toml")
    np.testing.assert_array_equal(again.predict(LOG), fit.predict(LOG))
    assert again.record.identifier.rows == "joints" and again.status_ == fit.status_
    assert again.arm_ == fit.arm_ and again.silent_.tolist() == fit.silent_.tolist()


def test_columns_and_payloads_of_the_users_own():
    spring = Column("spring", lambda q, qd, qdd: [0] * 11 + [q[12]])
    log = replace(LOG, tau=LOG.tau + 30 * np.where(np.arange(12) == 11, LOG.q[:, 12:], 0))
    fit = Identifier(ARM, columns=[spring], cutoff=20.0).fit(log)
    assert fit.values_[-1] == pytest.approx(30, abs=1)
    states = fit.states(log)
    np.testing.assert_allclose(fit.model_.inverse_dynamics(*states), fit.predict(log), atol=1e-9)
    M = fit.model_.mass_matrix(states[0][:2])
    acc = fit.model_.forward_dynamics(states[0][:2], states[1][:2], fit.predict(log)[:2])
    assert M.shape == (2, 12, 12)
    np.testing.assert_allclose(acc, states[2][:2], atol=1e-6 * np.abs(states[2]).max())
    heavy = tree_log(ARM.with_payload(2.0, (0.1, 0, 0.05), tool="left_hand"), 0.05, seed=1)
    payload = identify_payload(ARM, LOG, heavy, tool="left_hand", cutoff=20.0)
    assert payload.mass == pytest.approx(2.0, abs=0.1) and payload.determined == 10


# ---- refusals


def test_what_does_not_fit_together_is_refused():
    fixed = two_arms()
    with pytest.raises(InputError, match="no pose of the base"):
        Identifier(ARM).fit(tree_log(fixed))
    with pytest.raises(InputError, match="stands on a fixed one"):
        Identifier(fixed).fit(LOG)
    with pytest.raises(InputError, match=r"rows is 'base'.*fixed base"):
        Identifier(fixed, rows="base")
    with pytest.raises(InputError, match="rows is 'legs'"):
        Identifier(ARM, rows="legs")
    with pytest.raises(InputError, match="holds no wrench on the base"):
        Identifier(ARM, rows="both").fit(Log(LOG.t, LOG.q, LOG.tau[:, 6:]))
    with pytest.raises(InputError, match="knows no free base"):
        Identifier(ARM, estimator="recursive")
    with pytest.raises(InputError, match="do not stand alike"):
        Identifier(ARM, prior=fixed)
    with pytest.raises(InputError, match="is on a free base"):
        excite(ARM, 5.0)
    with pytest.raises(InputError, match="give one"):
        Log(LOG.t, LOG.q, LOG.tau, base_wrench=LOG.tau[:, :6])


# ---- files and frames


def columns_of(log, base=True, joints=True):
    """A table with the usual names: pose and wrench of the base, <joint>_position, <joint>_effort."""
    names = ARM.joint_names
    table = {"t": log.t}
    table |= dict(zip(("x", "y", "z", "qx", "qy", "qz", "qw"), log.q[:, :7].T, strict=True))
    table |= {f"{name}_position": log.q[:, 7 + k] for k, name in enumerate(names)}
    if base:
        table |= dict(zip(("fx", "fy", "fz", "mx", "my", "mz"), log.tau[:, :6].T, strict=True))
    if joints:
        table |= {f"{name}_effort": log.tau[:, 6 + k] for k, name in enumerate(names)}
    return table


@pytest.mark.parametrize("base, joints", [(True, True), (True, False), (False, True)])
def test_columns_by_their_names(base, joints, tmp_path):
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame(columns_of(LOG, base, joints))
    shuffled = table[np.random.default_rng(0).permutation(table.columns)]
    expected = LOG.tau * np.r_[[1.0 if base else np.nan] * 6, [1.0 if joints else np.nan] * 6]
    log = Log.from_frame(shuffled, ARM)
    np.testing.assert_allclose(log.tau, expected)
    np.testing.assert_allclose(log.q, LOG.q, atol=1e-12)
    shuffled.to_csv(tmp_path / "log.csv", index=False)
    read = Identifier(ARM).prepare(tmp_path / "log.csv")[0]
    np.testing.assert_allclose(read.tau, expected, rtol=1e-9)
    np.testing.assert_allclose(read.q, LOG.q, atol=1e-9)


def test_arrays_numbers_and_declarations(tmp_path):
    np.savez(tmp_path / "log.npz", t=LOG.t, q=LOG.q, tau=LOG.tau)
    np.testing.assert_allclose(Log.read(tmp_path / "log.npz").tau, LOG.tau)
    write_log(LOG, tmp_path / "log.csv")
    np.testing.assert_allclose(Log.read(tmp_path / "log.csv").tau, LOG.tau, rtol=1e-6, atol=1e-6)
    declared = {"time": "t", "q": "q{}", "base_wrench": [f"tau{k + 1}" for k in range(6)]}
    wrench = Log.read(tmp_path / "log.csv", declared)
    assert wrench.measured.tolist() == [True] * 6 + [False] * 6
    assert "free base" in repr(wrench) and "6 joints" in str(wrench)
    pd = pytest.importorskip("pandas")
    q = pd.DataFrame(LOG.q, columns=ARM.coordinate_names)
    tau = pd.DataFrame(LOG.tau[:, 6:], columns=ARM.joint_names)[list(ARM.joint_names[::-1])]
    log = Identifier(ARM).prepare(Log(LOG.t, q[list(ARM.coordinate_names[::-1])], tau))[0]
    np.testing.assert_allclose(log.q, LOG.q, atol=1e-12)
    np.testing.assert_array_equal(log.tau[:, 6:], LOG.tau[:, 6:])


def test_the_command_line_and_its_report(tmp_path, capsys):
    robot, log = tmp_path / "robot.toml", tmp_path / "log.csv"
    ARM.save(robot)
    write_log(LOG, log)
    out = tmp_path / "out"
    asked = ["identify", str(robot), str(log), "--cutoff", "20", "--hold-out", "0.2"]
    assert run([*asked, "--out", str(out)]) == 0
    told = capsys.readouterr().out
    assert "mz" in told and "left1" in told and "PASS" in told
    page = (out / "report.html").read_text()
    assert "left3" in page and "fx" in page
    sheet = tmp_path / "sheet.html"
    assert (
        run(["validate", str(out / "model.toml"), str(log), "--cutoff", "20", "--html", str(sheet)])
        == 0
    )
    assert "right3" in capsys.readouterr().out
