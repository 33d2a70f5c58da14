"""Logs of positions and commands without torques: drives with certainty, delay, rollouts, refusals."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest

import dynarm
from dynarm.identify.logs.declaration import DriveTerms
from dynarm.identify.position.loop import Loop, bare, simulated, straight
from oracles.example_robots import example_robot
from oracles.position_log import commands, engine_recorded, recorded, truth

MOST = 3.5  # deviations: of 48 unknowns none is further off


@pytest.fixture(scope="module")
def dog():
    arm = dynarm.load(example_robot("go2.urdf"), floating=False)
    true = truth(arm, 40.0, 1.0, [0, 0.9, -1.8] * 4, 1.0)
    log = recorded(true, 5.0)
    return true, log, dynarm.Identifier(arm, pd=(40.0, 1.0)).fit(log)


@pytest.fixture(scope="module")
def puma():
    arm = dynarm.load("puma560")
    arm = replace(arm, joints=tuple(replace(j, armature=0, friction=None) for j in arm.joints))
    kp, kd = [800.0, 800, 400, 80, 80, 80], [40.0, 40, 20, 4, 4, 4]
    true = truth(arm, kp, kd, [0.3, -0.8, 0.6, 0.2, 0.5, 0.1], 5.0, seed=3)
    log = recorded(true, 5.0, seed=2)
    return true, log, dynarm.Identifier(arm, pd=(kp, kd)).fit(log)


@pytest.mark.parametrize("robot", ["dog", "puma"])
def test_drives_lie_within_their_deviations(robot, request):
    true, _, fit = request.getfixturevalue(robot)
    z = (fit.values_ - true.drives.ravel()) / fit.std_
    assert np.abs(z).max() < MOST, dict(zip(fit.names_, z.round(1), strict=True))
    assert (np.abs(z) < 2).mean() > 0.85
    # deviations are small enough to be of use: of armatures what kd does within half a sample, 3 % of the rest
    assert (fit.std_[::4] < 1.1 * true.kd * 0.002 / np.sqrt(12)).all()
    assert (fit.std_[1::4] < 0.03 * true.drives[:, 1]).all()
    assert (fit.std_[2::4] < 0.03 * true.drives[:, 2]).all()
    assert abs(fit.delay_ - true.delay) < 3e-5 and 5.0e-4 < fit.delay_std_ < 5.1e-4
    assert set(fit.grades_) <= {"determined", "hardly"} and fit.status_.startswith("ok")


LEAD = 2 / (0.95 * 0.02)  # 1/s: MuJoCo's friction, by default, brings a joint to rest at this rate


@pytest.mark.parametrize("robot", ["go2", "panda"])
def test_friction_of_a_physics_engine_is_fitted_as_well(robot):
    """Its frictionloss holds, and turns over before the velocity does; effort limits of a Panda end its torques."""
    if robot == "go2":
        arm = dynarm.load(example_robot("go2.urdf"), floating=False)
        true = truth(arm, 40.0, 1.0, [0, 0.9, -1.8] * 4, 1.0, seed=5)
    else:
        kp, kd = [600.0] * 4 + [250.0, 150, 50], [50.0] * 4 + [30.0, 25, 15]
        true = truth(dynarm.load("panda"), kp, kd, [0, -0.3, 0, -1.8, 0, 1.8, 0.5], 4.0, seed=2)
    fitted, unseen = (
        engine_recorded(true, seconds, seed) for seconds, seed in ((5.0, 2), (3.0, 9))
    )
    fit = dynarm.Identifier(true.arm, pd=(true.kp, true.kd)).fit(fitted)
    z = (fit.values_.reshape(-1, 4)[:, :3] - true.drives[:, :3]) / fit.std_.reshape(-1, 4)[:, :3]
    assert np.abs(z).max() < MOST and (np.abs(z) < 2).mean() > 0.85
    floor = 1e3 * 2 * np.pi / 16384 / np.sqrt(12)
    assert fit.rollout(unseen).mean < 1.3 * floor
    assert abs(fit.loop_.lead * LEAD - 1) < 0.07
    assert np.all(np.less(fit.loop_.most, 1e3))


def test_a_fine_encoder_sees_no_more_than_its_steps_of_an_engines_friction():
    """Widths as narrow as those of light links."""
    arm = dynarm.load(example_robot("go2.urdf"), floating=False)
    true = truth(arm, 28.0, 0.9, [0, 0.9, -1.8] * 4, 1.4, seed=11)
    step = 2 * np.pi / 2**17
    log = engine_recorded(true, 4.0, 2, dt=0.001, step=step)
    fit = dynarm.Identifier(arm, pd=(true.kp, true.kd)).fit(log)
    assert fit.solved.rms.max() < 1.05 * step / np.sqrt(12)
    z = (fit.values_.reshape(-1, 4)[:, 1:3] - true.drives[:, 1:3]) / fit.std_.reshape(-1, 4)[:, 1:3]
    assert np.abs(z).max() < MOST and (np.abs(z) < 2).mean() > 0.85


@pytest.mark.parametrize("limited", [True, False])
def test_effort_limits_are_kept_unless_the_log_goes_beyond_them(limited):
    arm = dynarm.load("two_link")
    joints = tuple(replace(j, armature=0.0, friction=None, effort_limit=9.0) for j in arm.joints)
    true = truth(replace(arm, joints=joints, gravity=(0, 0, 0)), 100.0, 4.0, [0.2, 0.3], 1.0)
    log = (engine_recorded if limited else recorded)(true, 4.0, 4)
    fit = dynarm.Identifier(true.arm, pd=(100.0, 4.0)).fit(log)
    assert np.all(np.less(fit.loop_.most, 10)) == limited
    assert fit.rollout(log).mean < 0.12


@pytest.mark.parametrize("robot", ["dog", "puma"])
def test_rollouts_of_unseen_motions_are_as_good_as_the_encoder(robot, request):
    true, _, fit = request.getfixturevalue(robot)
    unseen = recorded(true, 3.0, seed=9)
    run = fit.rollout(unseen)
    floor = 2 * np.pi / 16384 / np.sqrt(12)
    assert run.mean < 1.5e3 * floor
    assert run.rmse.max() < 2 * floor
    assert np.allclose(run.mrad, 1e3 * run.rmse) and run.q.shape == unseen.q.shape
    assert fit.described(unseen).mean > 10 * run.mean
    assert fit.score(unseen) > 0.999


def test_the_compiled_loop_is_what_simulate_computes(dog):
    true, log, _ = dog
    widths = np.full(12, 0.01)
    loop = Loop(bare(true.arm), true.kp, true.kd, widths)
    drives = true.drives.T.ravel()[None]
    start = log.q_command[0], np.zeros(12)
    run = simulated(loop, log.t, log.q_command, start, drives, true.delay, 8)[:, 0]
    step = 2 * np.pi / 16384
    assert np.abs(run - log.q).max() < 0.51 * step


@pytest.mark.parametrize("part", [0.0, 0.3, 0.5, 0.9])
def test_commands_weigh_the_same_wherever_they_bend_in_a_step(part):
    """A light mass on a stiff spring feels their mean and moment; three looks a step would miss where the bend lies."""
    t, h = 0.01 * np.arange(5), 0.01
    command = np.array([0.0, 0.0, 0.0, 1.0, 2.0])[:, None]  # bends at 0.02
    begin = 0.02 - part * h
    first, middle, end = straight(t, command, np.array([begin]), h)
    ramp = (1 - part) * np.arange(0, 1, 1e-4)  # of what lies behind the bend, in steps
    mean = (1 - part) * ramp.mean()
    moment = (1 - part) * np.mean(ramp * (part + ramp - 0.5))
    assert abs(middle[0, 0] - mean) < 3e-3
    assert abs((end - first)[0, 0] / 12 - moment) < 2e-3


def test_a_fit_is_told_in_one_line(dog):
    text = repr(dog[2])
    assert text.startswith("<dynarm.PositionFit of 'go2_description': 48 unknowns, delay ")
    assert len(text) < 200 and text.isprintable()


def test_arm_and_files_hold_the_drives(dog, tmp_path):
    true, _, fit = dog
    fit.save(tmp_path / "dog.xml")
    again = dynarm.load(tmp_path / "dog.xml")
    assert np.allclose([j.armature for j in again.joints], fit.values_[::4])
    assert np.allclose([j.friction.viscous for j in again.joints], fit.values_[1::4])
    assert np.allclose([j.friction.coulomb for j in again.joints], fit.values_[2::4])
    assert np.array_equal(fit.arm_.parameters, true.arm.parameters)  # rigid bodies as described
    frame = fit.frame
    assert list(frame["name"][:4]) == ["armature1", "viscous1", "coulomb1", "offset1"]
    assert list(frame["joint"][:5]) == ["FL_hip_joint"] * 4 + ["FL_thigh_joint"]
    assert "determined" in str(fit) and "delay" in repr(fit)


def test_a_joint_that_rests_keeps_its_description_and_is_told():
    arm = dynarm.load("two_link")
    described = tuple(replace(j, armature=0.07, friction=None) for j in arm.joints)
    arm = replace(arm, joints=described, gravity=(0, 0, 0))
    true = truth(arm, 60.0, 3.0, [0.2, 0.3], 1.0)
    true.drives[1, 0] = 1e8  # a brake holds it, whatever is commanded
    t = np.arange(0, 4, 0.002)
    log = recorded(true, 4.0, command=commands(true, t, 4))
    assert np.ptp(log.q[:, 1]) < 1e-3 < np.ptp(log.q_command[:, 1])
    fit = dynarm.Identifier(arm, pd=(60.0, 3.0)).fit(log)
    assert set(fit.undetermined_) == {"armature2", "viscous2", "coulomb2", "offset2"}
    assert fit.arm_.joints[1].armature == 0.07 and "armature2" in fit.status_
    # what the others do is told as well as ever: it stays where it is in rollouts, too
    z = (fit.values_ - true.drives.ravel())[:4] / fit.std_[:4]
    assert np.abs(z).max() < MOST and fit.rollout(log).mean < 0.12
    assert fit.status_.startswith("ok")


# ---- what is refused or said


@pytest.mark.parametrize(
    ("pd", "words"),
    [
        ((0.0, 1.0), "kp of joint"),
        (([10, 0], 1.0), "kp of joint"),
        ((10, -1), "at least 0"),
        ((10,), "give \\(kp, kd\\)"),
        (([1, 2, 3], 1), "one a joint"),
        ((np.nan, 1), "finite"),
        (7, "give \\(kp, kd\\)"),
    ],
)
def test_gains_are_refused(pd, words):
    with pytest.raises(dynarm.DynarmError, match=words):
        dynarm.Identifier(dynarm.load("two_link"), pd=pd)


@pytest.mark.parametrize(
    "options",
    [
        {"friction": ("viscous",)},
        {"shape": "tanh"},
        {"armature": False},
        {"estimator": "ols"},
        {"cutoff": 9.0},
        {"width": 0.1},
        {"asymmetric": True},
        {"prior": dynarm.load("two_link")},
        {"regularise": 1},
        {"feasible": True},
        {"preparation": dynarm.Preparation(decimate=2)},
    ],
    ids=lambda options: next(iter(options)),
)
def test_options_for_torques_are_refused_by_name(options):
    (name,) = options
    with pytest.raises(dynarm.DynarmError, match=f"{name} is .*, and pd is given"):
        dynarm.Identifier(dynarm.load("two_link"), pd=(50.0, 2.0), **options)


def test_the_fit_of_positions_is_one_of_its_own(dog):
    assert isinstance(dog[2], dynarm.PositionFit)


def test_an_identifier_predicts_positions_of_several_logs():
    two = dynarm.Identifier(dynarm.load("two_link"), pd=(50.0, 2.0))
    fit, log = two.fit(_plain()), _plain()
    (one, other) = two.predict([log, log])
    assert np.array_equal(one, fit.predict(log)) and np.array_equal(one, other)


def _plain(scale: float = 1.0, **more) -> dynarm.Log:
    t = np.arange(0, 3, 0.002)
    q = 0.4 * np.sin(np.outer(t, [3, 5]))
    return dynarm.Log(t, q, q_command=scale * 0.41 * np.sin(np.outer(t, [3, 5]) + 0.02), **more)


def test_rests_missing_commands_and_nan_are_refused():
    two = dynarm.Identifier(dynarm.load("two_link"), pd=(50.0, 2.0))
    t = np.arange(0, 3, 0.002)
    with pytest.raises(dynarm.DynarmError, match="no joint moves"):
        two.fit(dynarm.Log(t, np.zeros((len(t), 2)), q_command=np.zeros((len(t), 2))))
    with pytest.raises(dynarm.DynarmError, match="no commanded positions"):
        two.fit(dynarm.Log(t, _plain().q, tau=_plain().q))
    bad = np.array(_plain().q_command)
    bad[7, 1] = np.nan
    with pytest.raises(dynarm.DynarmError, match="q_command, row 8, column 2 is nan"):
        dynarm.Log(t, _plain().q, q_command=bad)
    with pytest.raises(dynarm.DynarmError, match="holds no torques"):
        dynarm.Identifier(dynarm.load("two_link")).fit(_plain())
    with pytest.raises(dynarm.DynarmError, match="needs torques, or q_command"):
        dynarm.Log(t, _plain().q)


def test_commands_in_degrees_are_suspected():
    two = dynarm.Identifier(dynarm.load("two_link"), pd=(50.0, 2.0))
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        two.fit(_plain(180 / np.pi))
    assert "commands of joint 1 are 58.7 times the positions: degrees?" in str(said[0].message)


@pytest.mark.parametrize(
    ("factor", "words"),
    [(np.pi / 180, "N m a degree"), (1e3, "N mm"), (0.2, "other gains"), (1.0, "")],
)
def test_gains_of_another_unit_are_suspected(puma, factor, words):
    true, log, fit = puma
    fit = dynarm.Identifier(fit.arm, pd=(true.kp * factor, true.kd * factor))
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        fit.fit(log)
    told = [str(w.message) for w in said if "times the torques of these gains" in str(w.message)]
    assert [words in text for text in told] == ([True] if words else [])


def test_declared_springs_are_said_to_be_left_out():
    two = dynarm.Identifier(dynarm.load("two_link"), pd=(50.0, 2.0))
    with pytest.warns(dynarm.DynarmWarning, match="declare coupling or springs, which drives"):
        two.fit(replace(_plain(), drives=DriveTerms(springs=(2,))))


def test_a_log_keeps_its_commands_through_cuts_and_orders():
    log = _plain(joint_names=("a", "b"))
    assert np.array_equal(log.reference, log.q_command) and not log.measured.any()
    assert np.array_equal(log.cut(1.0).q_command, log.q_command[500:])
    assert np.array_equal(log.select(("b", "a")).q_command, log.q_command[:, ::-1])


@pytest.mark.parametrize("word", ["q_cmd_{}", "position_command_{}", "q_command{}", "cmd_{}"])
def test_commands_are_recognised_in_files(word, tmp_path):
    log = _plain()
    names = ["t", "q1", "q2", word.format(1), word.format(2)]
    table = np.column_stack([log.t, log.q, log.q_command])
    path = tmp_path / "log.csv"
    np.savetxt(path, table, delimiter=",", header=",".join(names), comments="")
    assert np.allclose(dynarm.Log.read(path).q_command, log.q_command)
    channels = {"time": "t", "q": ["q1", "q2"], "q_command": {"columns": names[3:], "unit": "deg"}}
    read = dynarm.Log.read(path, channels)
    assert np.allclose(read.q_command, np.deg2rad(log.q_command))
