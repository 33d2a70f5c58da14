"""Rigid bodies in logs of positions: found where the description is surely wrong, kept where it is right or unsure."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import dynarm
from dynarm.identify.position import deciding
from dynarm.identify.position.bodies import bodies_of
from dynarm.identify.position.certainty import covariance
from dynarm.identify.position.deciding import KEPT
from dynarm.identify.position.loop import Loop, bare, simulated
from dynarm.identify.position.solving import solved
from dynarm.identify.position.tracks import tracks_of
from dynarm.robot.inertia import pseudo_inertia
from oracles.example_robots import example_robot
from oracles.position_log import commands, engine_recorded, recorded, truth

KP, KD = [800.0, 800, 400, 80, 80, 80], [40.0, 40, 20, 4, 4, 4]
MIDDLE = [0.3, -0.8, 0.6, 0.2, 0.5, 0.1]
FLOOR = 1e3 * 2 * np.pi / 16384 / np.sqrt(12)  # [mrad] of the encoder
MOST = 3.8  # deviations: of 100 unknowns none is further off


def undriven(name: str) -> dynarm.Arm:
    arm = dynarm.load(name)
    return replace(arm, joints=tuple(replace(j, armature=0, friction=None) for j in arm.joints))


def scaled(arm: dynarm.Arm, link: int, factor: float) -> dynarm.Arm:
    table = arm.parameters.copy()
    table[link] *= factor
    return arm.with_parameters(table)


def case(kind: str):
    """The description, the truth, its logs: a forearm 40 % too light, a missing payload, a heavier calf of a dog."""
    if kind == "calf":
        arm = dynarm.load(example_robot("go2.urdf"), floating=False)
        true = truth(scaled(arm, 2, 1.5), 40.0, 1.0, [0, 0.9, -1.8] * 4, 1.0)
    else:
        arm = undriven("puma560")
        real = scaled(arm, 2, 1 / 0.6) if kind == "forearm" else arm.with_payload(2.0, (0, 0, 0.1))
        true = truth(real, KP, KD, MIDDLE, 5.0, seed=3)
    record = engine_recorded if kind == "payload" else recorded
    return arm, true, record(true, 5.0, 2), record(true, 3.0, 9)


@pytest.fixture(scope="module", params=["forearm", "payload", "calf"])
def wrong(request):
    arm, true, log, unseen = case(request.param)
    return arm, true, unseen, dynarm.Identifier(arm, pd=(true.kp, true.kd)).fit(log)


def test_bodies_that_a_description_has_wrong_are_found(wrong):
    arm, true, unseen, fit = wrong
    assert "told by the log" in fit.choice.told and fit.choice.told in fit.status_
    assert fit.rollout(unseen).mean < 1.05 * FLOOR
    described = dynarm.compile(arm)
    q = true.middle + np.random.default_rng(1).uniform(-0.3, 0.3, (20, arm.n))
    truly, told = dynarm.compile(true.arm), fit.model_
    still = np.zeros_like(q)
    weights = [
        m.inverse_dynamics(q, still, still) for m in (truly, dynarm.compile(fit.arm_), described)
    ]
    assert np.abs(weights[1] - weights[0]).max() < 0.05 * np.abs(weights[2] - weights[0]).max()
    # masses on the joints, armatures included, which no log tells from inertia about a first axis
    motors = np.diag(true.drives[:, 0])
    M = [truly.mass_matrix(q) + motors, told.mass_matrix(q)]
    assert np.abs(M[1] - M[0]).max() < 0.02 * np.abs(M[0]).max()


def test_bodies_lie_within_their_deviations(wrong):
    arm, true, _, fit = wrong
    rows, matrix = fit.bodies_, bodies_of(arm).matrix
    values = matrix @ true.arm.parameters.ravel()
    z = np.array([(r.value - v) / r.std for r, v in zip(rows, values, strict=True)])
    assert np.abs(z).max() < MOST and (np.abs(z) < 2).mean() > 0.85
    drives = (fit.fitted_.reshape(-1, 4) - true.drives)[:, :3] / fit.std_.reshape(-1, 4)[:, :3]
    assert np.abs(drives).max() < MOST
    assert np.allclose(matrix @ fit.arm_.parameters.ravel(), [r.value for r in rows])
    changed = [r for r in rows if abs(r.value - r.described) > 5 * r.std]
    assert changed and {r.grade for r in changed} == {"determined"}
    assert (
        arm.n > 6 or rows[0].grade != "determined"
    )  # inertia about the Puma's first axis, with its armature


def test_found_bodies_are_possible_and_stand_in_tables_and_files(wrong, tmp_path):
    arm, _, _, fit = wrong
    assert all(np.linalg.eigvalsh(pseudo_inertia(ten))[0] > 0 for ten in fit.arm_.parameters)
    frame = fit.frame
    assert len(frame) == len(fit.names_) + len(fit.bodies_)
    names = bodies_of(arm).rigid.names
    assert tuple(frame["name"][len(fit.names_) :]) == names and names[-1] in fit.summary()
    owners = {r.name: arm.joint_names.index(r.joint) + 1 for r in fit.bodies_}
    assert all(name[1:].split("_")[0] == str(joint) for name, joint in owners.items())
    fit.save(tmp_path / "robot.xml")
    again = dynarm.load(tmp_path / "robot.xml")
    q = np.full(arm.n, 0.3)
    expected = dynarm.compile(fit.arm_).gravity(q)
    assert np.allclose(dynarm.compile(again).gravity(q), expected, rtol=1e-6, atol=1e-7)


def test_armatures_that_go_with_inertia_about_a_first_axis_are_said():
    arm, true, log, _ = case("payload")
    fit = dynarm.Identifier(arm, pd=(true.kp, true.kd)).fit(log)
    assert "gains" not in fit.status_
    assert "armature1" in fit.undetermined_
    assert "together with rigid bodies only: armature1" in fit.status_
    assert "kept as described" not in fit.status_
    assert fit.arm_.joints[0].armature == fit.fitted_[0]  # the sum is told, so it is not exchanged


@pytest.mark.parametrize("record", [recorded, engine_recorded])
@pytest.mark.parametrize("robot", ["puma560", "go2"])
def test_right_descriptions_are_kept(robot, record):
    if robot == "go2":
        arm = dynarm.load(example_robot("go2.urdf"), floating=False)
        true = truth(arm, 40.0, 1.0, [0, 0.9, -1.8] * 4, 1.0, seed=7)
    else:
        true = truth(undriven(robot), KP, KD, MIDDLE, 5.0, seed=7)
    fit = dynarm.Identifier(true.arm, pd=(true.kp, true.kd)).fit(record(true, 4.0, 4))
    assert fit.choice.told.startswith(KEPT) and KEPT in fit.status_
    assert not fit.bodies_ and len(fit.frame) == len(fit.names_)
    assert np.array_equal(fit.arm_.parameters, true.arm.parameters)


def test_logs_that_are_too_short_or_rest_in_part_keep_the_description():
    arm = undriven("two_link")
    real = truth(arm.with_payload(1.0, (0.1, 0, 0)), 100.0, 4.0, [0.2, 0.3], 1.0)
    short = dynarm.Identifier(arm, pd=(100.0, 4.0)).fit(recorded(real, 2.0, 4))
    assert short.choice.told == f"{KEPT}: the log is too short to try others"
    t = np.arange(0, 5, 0.002)
    c = commands(real, t, 4)
    c[:, 1] = 0.3
    frozen = np.array(recorded(real, 5.0, command=c).q)
    frozen[:, 1] = 0.3
    rested = dynarm.Identifier(arm, pd=(100.0, 4.0)).fit(dynarm.Log(t, frozen, q_command=c))
    assert rested.choice.told == f"{KEPT}: joint '{arm.joint_names[1]}' rests"
    for fit in (short, rested):
        assert np.array_equal(fit.arm_.parameters, arm.parameters)


def test_bodies_that_are_all_heavier_by_one_factor_may_be_gains():
    true = truth(undriven("puma560"), KP, KD, MIDDLE, 5.0, seed=3)
    log = recorded(true, 4.0, seed=2)
    fit = dynarm.Identifier(true.arm, pd=(1.3 * true.kp, 1.3 * true.kd)).fit(log)
    assert "they are 1.3 times those described: gains times 0.77 would say" in fit.status_


@pytest.mark.parametrize(("factor", "words"), [(0.2, "need 5 times"), (2.0, "")])
def test_bodies_by_a_factor_too_far_for_bodies_are_gains_in_doubt(factor, words, monkeypatch):
    """Where torques did not tell it, bodies that are told do."""
    monkeypatch.setattr(deciding, "common_factor", lambda *_: factor)
    arm, true, log, _ = case("forearm")
    loop = Loop(bare(arm), true.kp, true.kd, np.full(arm.n, 0.02))
    tracks = tracks_of([log])
    choice = deciding.decided(arm, loop, tracks, solved(loop, tracks))
    assert [words in text for text in choice.doubts] == [True] * bool(words)
    assert (choice.told == f"{KEPT}: gains are in doubt") == bool(words)
    assert (choice.bodies is None) == bool(words)


def test_gains_in_doubt_keep_the_description():
    true = truth(undriven("puma560"), KP, KD, MIDDLE, 5.0, seed=3)
    with pytest.warns(dynarm.DynarmWarning, match="other gains"):
        fit = dynarm.Identifier(true.arm, pd=(0.2 * true.kp, 0.2 * true.kd)).fit(
            recorded(true, 4.0, seed=2)
        )
    assert fit.choice.told == f"{KEPT}: gains are in doubt"


# ---- parts


def test_a_loop_takes_bodies_as_inputs():
    arm = undriven("puma560")
    bodies, n = bodies_of(arm), arm.n
    heavy = 1.3 * bodies.described
    plain = Loop(
        bare(arm.with_parameters(heavy.reshape(-1, 10))), *np.array([KP, KD]), np.full(n, 0.01)
    )
    given = bodies.loop(Loop(bare(arm), *np.array([KP, KD]), np.full(n, 0.01)), heavy)
    t = np.arange(0, 0.5, 0.002)
    command = np.tile(MIDDLE, (len(t), 1)) + 0.1 * np.sin(5 * t)[:, None]
    drives, start = np.full((2, 4 * n), 0.1), (command[0], np.zeros(n))
    runs = [simulated(loop, t, command, start, drives, 0.006, 6) for loop in (plain, given)]
    assert np.abs(runs[1] - runs[0]).max() < 1e-9
    both = np.vstack([bodies.matrix @ heavy, bodies.matrix @ bodies.described])
    varied = simulated(given, t, command, start, drives, 0.006, 6, values=both)
    assert np.abs(varied[:, 0] - runs[0][:, 0]).max() < 1e-9
    assert np.abs(varied[:, 1] - runs[0][:, 0]).max() > 1e-4
    x = np.random.default_rng(0).normal(size=(3, 5, n))
    assert np.allclose(given.rigid_torques(*x), plain.rigid_torques(*x))


def test_bodies_go_where_a_log_draws_them_and_stay_elsewhere():
    bodies = bodies_of(undriven("puma560"))
    p, start = len(bodies.matrix), bodies.described
    assert np.allclose(bodies.drawn(np.zeros((p, p)), np.zeros(p), start), start)
    wanted = bodies.matrix @ (1.5 * start - start)
    sharp = np.diag(1e8 / np.maximum(np.abs(wanted), 1e-3) ** 2)
    natural = bodies.drawn(sharp, -sharp @ wanted, start)
    assert np.allclose(bodies.matrix @ natural, bodies.matrix @ (1.5 * start), atol=1e-5)


@pytest.mark.parametrize("kind", ["point", "impossible", "nothing"])
def test_bodies_without_extent_are_believed_a_little_thicker(kind):
    arm = undriven("two_link")
    table = arm.parameters.copy()
    c = table[:, 1:4] / table[:, :1]
    for row, (x, y, z) in zip(table, c, strict=True):
        point = [y * y + z * z, -x * y, x * x + z * z, -x * z, -y * z, x * x + y * y]
        row[4:] = row[0] * np.array(point) if kind == "point" else 0
    if kind == "nothing":
        table[1] = 0
    bodies = bodies_of(arm.with_parameters(table))
    P = [pseudo_inertia(ten) for ten in bodies.described.reshape(-1, 10)]
    assert min(np.linalg.eigvalsh(one)[0] for one in P) > 0
    assert np.allclose(bodies.described[::10], table[:, 0], atol=0.05 * table[:, 0].max())


def test_deviations_hold_what_is_believed_of_bodies():
    """Of a number that a log does not tell, the deviation is what is believed; of one that it does, the log's."""
    rng, N = np.random.default_rng(0), 4000
    J = np.zeros((N, 1, 2))
    J[:, 0, 0] = rng.normal(size=N)
    track = type("T", (), {"t": np.arange(N) * 0.002})()
    left = rng.normal(size=(N, 1))
    spread, told = covariance(J, left, np.ones(1), np.zeros(2, bool), [track], np.diag([4.0]))
    assert told.all()
    assert 0.7 < spread[0, 0] * N < 1.6
    assert 3.5 < spread[1, 1] < 5


def test_rollouts_that_run_away_tell_nothing():
    J = np.full((40, 1, 2), 1e200)
    track = type("T", (), {"t": np.arange(40) * 0.002})()
    spread, told = covariance(J, np.ones((40, 1)), np.ones(1), np.zeros(2, bool), [track])
    assert not told.any() and np.isinf(np.diag(spread)).all()
