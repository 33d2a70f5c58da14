"""The demo's page and its words, made of a story whose numbers are known."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import dynarm
from dynarm.cli import demo
from dynarm.cli import story as steps
from dynarm.identify.judgement.verdict import Validation, Verdict
from dynarm.report import story as report
from oracles.page_numbers import read


def parts(*sections) -> dict:
    html = "".join(
        f"<section><h2>{s.title}</h2>{''.join(map(str, s.parts))}</section>" for s in sections
    )
    return read(html)


def speeds() -> list[dict]:
    return [
        {"quantity": q, "formulation": "f", "mul": 3, "add": 4, "joints": 6, "compile [ms]": 1.5,
         "one call [us]": 0.75, "batch [ns/sample]": ns}
        for q, ns in (("bias", 11.0), ("inverse_dynamics", 52.4))
    ]  # fmt: skip


@pytest.fixture
def told() -> SimpleNamespace:
    """Five unknowns, whose errors are 0, 1.9, -1.9, 2 and -2.1 of their deviations."""
    off, std = np.array([0.0, 1.9, -1.9, 2.0, -2.1]), np.array([1.0, 0.5, 2.0, 1.0, 10.0])
    true = np.array([5.0, -1.0, 3.0, 0.0, 7.0])
    zero = np.zeros((2, 2))
    check = Validation(np.ones(2), np.array([0.02, 0.06]), np.arange(2.0), zero, zero, "other.csv")
    grades = ("determined", "determined", "hardly", "determined", "not")
    arm = dynarm.load("two_link")
    fit = SimpleNamespace(
        names_=("a", "b", "c", "d", "e"), values_=true + off * std, std_=std, condition_=123.4,
        identifiability_=SimpleNamespace(grades=grades),
        relative_=np.array([0.01, 0.03]),
        fitted_=SimpleNamespace(rmse=[0.5, 0.7], relative=[0.01, 0.03], band=[0.002, 0.004]),
        record=SimpleNamespace(terms=SimpleNamespace(arm=arm)),
    )  # fmt: skip
    cost = {"formulation": "x", "mul": 100, "add": 80}
    return SimpleNamespace(
        arm=arm,
        minimal=dynarm.minimal_parameters(arm),
        costs={"inverse_dynamics": [cost, {"formulation": "y", "mul": 500, "add": 900}]},
        speeds=speeds(),
        agreement=3.3e-15,
        fit=fit,
        true_values=true,
        checks=(check,),
        verdict=Verdict(),
        logs=(SimpleNamespace(duration=10.0), SimpleNamespace(duration=20.0)),
        tracking=0.00123,
        run=SimpleNamespace(t=np.array([0.0, 2.5, 5.0]), method="rk4", status="success"),
        functions=("f_one", "f_two"),
    )


def test_in_short_stand_the_story_s_numbers(told):
    facts = parts(report._summary(told))["In short"].facts
    count, natural = told.minimal.count, 10 * told.arm.n
    assert facts == {
        "minimal parameters": f"{count} of {natural}",
        "operations for torques": "180",
        "a sample in a batch": "52 ns",
        "identification": "PASS",
        "error on unseen log": "4.0 %",
        "tracking error": "1.23 mrad",
    }


def test_the_truth_is_compared_in_deviations(told):
    part = parts(report._truth(told))["Against the truth"]
    (bars,) = part.figures[0]["data"]
    np.testing.assert_allclose(bars["y"], [0.0, 1.9, -1.9, 2.0, -2.1], atol=1e-5)
    assert bars["marker"]["color"] == ["--c1", "--c1", "--c1", "--c2", "--c2"]
    assert "3 of 5 values lie inside their 95 % intervals" in part.text
    levels = [shape["y0"] for shape in part.figures[0]["layout"]["shapes"]]
    assert levels == [-1.96, 1.96]  # 95 % of a normal distribution


def test_speeds_stand_in_a_table_without_what_the_title_says(told):
    part = parts(report._speed(told))["Compiled"]
    (rows,) = part.tables
    assert rows.columns == [c for c in told.speeds[0] if c != "joints"]
    np.testing.assert_array_equal(rows.numbers("batch [ns/sample]"), [11.0, 52.4])
    assert "3.3e-15" in part.text


def test_control_shows_the_motion_alone(told):
    model = dynarm.compile(told.arm)
    told.run = dynarm.simulate(model, [0.1, 0.2], [0, 0], 0.1, torque=[1.0, 0.5])
    part = parts(report._control(told))["Controlled by what was identified"]
    assert "the largest error is 1.23 mrad or mm" in part.text
    titles = [f["layout"]["yaxis"]["title"]["text"] for f in part.figures]
    assert titles == ["position [°]", "velocity [°/s]", "torque [N m]"] and not part.facts


# ---- what is told on the way


def test_the_demo_tells_the_same_numbers(told, capsys):
    demo._tell_speed(told)
    demo._tell_logs(told)
    demo._tell_fit(told)
    demo._tell_control(told)
    text = " ".join(capsys.readouterr().out.split())
    assert "agree on 4096 random states" in text and "DISAGREE" not in text and "3.3e-15" in text
    assert "Two simulated logs of 10 s at 250 Hz" in text and "with 3 % noise" in text
    assert "5 unknowns" in text and "3 determined, condition number 123." in text
    assert "lies inside 3 of 5 95 % intervals" in text
    assert "largest tracking error 1.23 mrad or mm in 5 s (rk4, success)" in text
    assert "shoulder N m 0.5 1 0.2 1 2 -" in text and "elbow N m 0.7 3 0.4 1 6 -" in text


@pytest.mark.parametrize(("agreement", "word"), [(9e-13, "agree"), (1.2e-12, "DISAGREE")])
def test_compiled_code_that_differs_is_said_to_differ(told, agreement, word, capsys):
    told.agreement = agreement
    demo._tell_speed(told)
    assert f"evaluated by NumPy {word} on" in " ".join(capsys.readouterr().out.split())


def test_the_robot_s_table_leaves_out_limits_and_six_parameters_are_enough(told, capsys):
    demo._tell_robot(told)
    text = capsys.readouterr().out
    chain = text.split("modified Denavit-Hartenberg\n")[1].split("\n\n")[0].splitlines()
    assert chain[0].split()[-2:] == ["mass", "[kg]"] and "limits" not in text
    assert len(chain) == 1 + told.arm.n
    assert chain[1].split()[0] == "shoulder" and float(chain[1].split()[-1]) > 0
    count, natural = told.minimal.count, 10 * told.arm.n
    assert f"Of {natural} inertia parameters only {count} combinations" in text
    listed = text.split("= combination\n")[1].strip().splitlines()
    assert len(listed) == min(6, count) and listed[0].split()[0] == told.minimal.names[0]
    value = float(listed[0].split()[1])
    np.testing.assert_allclose(value, told.minimal.values[0], rtol=1e-4)


def test_the_demo_s_data_for_machines(told):
    told.costs = {}
    data = demo._as_data(told, Path("place"), 12.345)
    assert data["seconds"] == 12.3 and data["tracking_error"] == 0.00123
    assert data["verdict"] == "PASS" and data["report"] == "place/report.html"
    assert data["functions"] == ("f_one", "f_two") and data["agreement"] == 3.3e-15


# ---- the steps


def test_a_recording_is_of_the_robot_with_friction(tmp_path):
    """Ten seconds at 250 Hz of two different motions; torques of the arm with friction, and noise on top."""
    story = report.Story(dynarm.load("stanford"))
    steps.record(story, tmp_path)
    log, other = story.logs
    assert (log.source, other.source) == ("log.csv", "other.csv")
    for one in (log, other):
        assert len(one) == 2501 and one.duration == pytest.approx(10.0)
    assert np.abs(log.q - other.q).max() > 0.1
    true = steps._true_arm(story.arm)
    q, qd, qdd = steps._motion("fit")(log.t)
    tau = dynarm.compile(true, friction=True).inverse_dynamics(q, qd, qdd)
    noise = (log.tau - tau).std(axis=0) / tau.std(axis=0)
    np.testing.assert_allclose(noise, 0.03, rtol=0.1)
    np.testing.assert_allclose(log.q, q, atol=2.5e-5)  # half a step of an encoder of 17 bits
    steps_seen = log.q / (2 * np.pi / 2**17)
    np.testing.assert_allclose(steps_seen, np.round(steps_seen), atol=2e-3)
    second = dynarm.compile(true, friction=True).inverse_dynamics(*steps._motion("check")(other.t))
    left = (log.tau - tau) / tau.std(axis=0), (other.tau - second) / second.std(axis=0)
    assert abs(np.corrcoef(left[0].ravel(), left[1].ravel())[0, 1]) < 0.1  # noise of its own


def test_the_robot_of_the_logs_has_the_friction_that_is_said():
    arm = dynarm.load("stanford")
    true = steps._true_arm(arm)
    frictions = [(j.friction.viscous, j.friction.coulomb, j.friction.shape) for j in true.joints]
    assert frictions == [
        (3.0, 4.0, "tanh"), (3.0, 4.0, "tanh"), (15.0, 20.0, "tanh"),
        (0.5, 0.6, "tanh"), (0.5, 0.6, "tanh"), (0.3, 0.4, "tanh"),
    ]  # fmt: skip


def test_disagreement_is_measured_against_the_largest_torque():
    """A model that doubles every torque is off by 1, a right one by rounding only."""
    arm = dynarm.load("two_link")
    model = dynarm.compile(arm)
    state = np.random.default_rng(3).uniform(-1, 1, (3, 50, arm.n))
    assert steps._independent(arm, model, *state) < 1e-14
    double = SimpleNamespace(inverse_dynamics=lambda *x: 2 * model.inverse_dynamics(*x))
    assert steps._independent(arm, double, *state) == pytest.approx(1.0)


def test_true_values_are_those_of_the_true_arm():
    """The torques of the arm are the regressor times them."""
    arm = dynarm.load("two_link")
    rubbing = dynarm.Friction(viscous=0.7, coulomb=0.3, shape="tanh")
    from dataclasses import replace

    true = replace(arm, joints=tuple(replace(j, friction=rubbing) for j in arm.joints))
    terms = dynarm.Identifier(arm, shape="tanh", width=0.02).terms()
    fit = SimpleNamespace(record=SimpleNamespace(terms=terms))
    values = steps._true_values(fit, true)
    names = list(terms.names)
    assert len(values) == len(names) == terms.size
    minimal = dynarm.minimal_parameters(arm, armature=True)
    np.testing.assert_allclose(
        values[: terms.rigid_size][: minimal.count], minimal.values, atol=1e-12
    )
    drive = sorted(values[terms.rigid_size :].tolist())
    assert drive.count(0.7) == 2 and drive.count(0.3) == 2
