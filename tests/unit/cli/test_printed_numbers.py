"""Numbers that the commands print, read back and compared with what the library computes on its own."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from program import dynarm

import dynarm as library
from dynarm.identify.logs.log import Log
from dynarm.robot.frames.generic import generic_arm

FLOAT = r"[-+]?(?:\d+\.?\d*(?:e[-+]?\d+)?|inf|nan)"


def table(text: str, title: str) -> list[dict[str, str]]:
    """The rows of a printed table, by the names of its columns."""
    lines = text.splitlines()
    start = next(k for k, line in enumerate(lines) if line.startswith(title))
    rows = []
    for line in lines[start + 1 :]:
        if not line.strip():
            break
        rows.append(line)
    edges = _edges(rows)
    cells = [[row[a:b].strip() for a, b in edges] for row in rows]
    return [dict(zip(cells[0], row, strict=True)) for row in cells[1:]]


def _edges(rows: list[str]) -> list[tuple[int, int]]:
    """Where columns begin and end: at two blanks or more that stand in every row."""
    width = max(map(len, rows))
    blank = [all(k >= len(r) or r[k] == " " for r in rows) for k in range(width)]
    gaps = [k for k in range(width - 1) if blank[k] and blank[k + 1]]
    cuts = [0, *(k + 2 for k in gaps if k + 1 not in gaps), width]
    return list(pairwise(cuts))


def numbers(rows: list[dict[str, str]], column: str) -> np.ndarray:
    return np.array([float(row[column].split()[0]) for row in rows])


def after(text: str, words: str) -> float:
    """The number that follows these words."""
    return float(re.search(re.escape(words) + rf"\s*({FLOAT})", text)[1])


@pytest.fixture(scope="module")
def recorded(tmp_path_factory) -> Path:
    """A folder with logs of a robot: one motion, whose second half belongs to a heavier robot, and one whole."""
    from dynarm.cli.files import write_log
    from dynarm.cli.rehearsal import simulated_log
    from dynarm.identify.design.trajectory import Series

    folder = tmp_path_factory.mktemp("recorded")
    arm = library.load("two_link")
    heavier = arm.with_payload(5.0, (0.1, 0.0, 0.0))
    series = Series(10.0, 5)
    x = series.random(np.random.default_rng(5), arm.n) * 0.8
    t = np.arange(2001) / 200
    q, qd, qdd = (B @ x.T for B in series.basis(t))
    own, other = (simulated_log(a, t, q, qd, qdd, noise=0.01) for a in (arm, heavier))
    write_log(own, folder / "log.csv")
    late = t >= 7.0
    write_log(replace(own, tau=np.where(late[:, None], other.tau, own.tau)), folder / "two.csv")
    rest = replace(own, q=np.column_stack([own.q[:, 0], np.zeros(len(t))]))
    still = library.compile(arm).inverse_dynamics(*(z * [1.0, 0.0] for z in (q, qd, qdd)))
    write_log(replace(rest, tau=still + 0.01 * (own.tau - own.tau.mean(0))), folder / "rest.csv")
    return folder


# ---- info, count, excite


def test_info_prints_the_robot_s_own_numbers():
    text, arm = dynarm("info", "scara").check().out, library.load("scara")
    chain = table(text, "scara: 4 joints")
    for column, values in (
        ("a [m]", [j.a for j in arm.joints]),
        ("alpha [deg]", [np.degrees(j.alpha) for j in arm.joints]),
        ("d [m]", [j.d for j in arm.joints]),
        ("theta [deg]", [np.degrees(j.theta) for j in arm.joints]),
        ("mass [kg]", [j.mass for j in arm.joints]),
    ):
        np.testing.assert_allclose(numbers(chain, column), values, rtol=5e-6, atol=1e-9)
    for row, joint in zip(chain, arm.joints):
        low, _, high, unit = row["limits"].split()
        assert unit == ("deg" if joint.revolute else "m")
        factor = 180 / np.pi if joint.revolute else 1.0
        expected = np.multiply(joint.position_limits, factor)
        np.testing.assert_allclose([float(low), float(high)], expected, rtol=5e-4)
    minimal = library.minimal_parameters(arm)
    listed = table(text, f"{minimal.count} minimal parameters of {10 * arm.n} natural ones")
    assert [row["name"] for row in listed] == list(minimal.names)
    np.testing.assert_allclose(numbers(listed, "value"), minimal.values, rtol=5e-6, atol=1e-12)
    for row in table(text, "Chosen for this robot"):
        counted = library.count(arm, row["quantity"], row["chosen"])
        assert (int(row["mul"]), int(row["add"])) == (counted.mul, counted.add)
        assert int(row["total"]) == counted.mul + counted.add


def test_count_prints_what_the_graphs_cost():
    text = dynarm("count", "--n", "3..4", "--type", "2", "-q", "inverse_dynamics").check().out
    for n in (3, 4):
        arm = generic_arm(n, 2)
        rows = [r for r in table(text, f"{arm.name}, {n} joints") if r["mul"]]
        assert len(rows) >= 4
        for row in rows:
            counted = library.count(arm, "inverse_dynamics", row["formulation"])
            own = (counted.mul, counted.add, counted.depth)
            assert tuple(int(row[c]) for c in ("mul", "add", "path")) == own
            written = (counted.as_written.mul, counted.as_written.add)
            assert (int(row["mul as written"]), int(row["add as written"])) == written


def test_excite_prints_the_motion_that_it_writes(tmp_path):
    words = ["two_link", "-d", "5", "--harmonics", "3", "--starts", "1", "--velocity", "2,90deg"]
    text = dynarm("excite", *words, folder=tmp_path).check().out
    motion = np.genfromtxt(tmp_path / "excitation.csv", delimiter=",", names=True)
    for k, row in enumerate(table(text, "two_link: 5 s, 3 harmonics")):
        q, qd, qdd = (motion[f"{word}{k + 1}"] for word in ("q", "qd", "qdd"))
        shown = [float(row[c]) for c in ("lowest", "highest", "fastest", "strongest acceleration")]
        expected = [q.min(), q.max(), abs(qd).max(), abs(qdd).max()]
        np.testing.assert_allclose(shown, expected, atol=6e-4)
        assert abs(qd).max() <= (2.0, np.pi / 2)[k] + 1e-6
    data = json.loads(dynarm("excite", *words, "--json", folder=tmp_path).check().out)
    np.testing.assert_allclose(after(text, "condition number"), data["condition"], rtol=6e-3)
    assert f"of {len(data['random'])} random motions" in text


# ---- identify and validate


@pytest.fixture(scope="module")
def fitted(recorded):
    """The first 70 % of the log whose end belongs to another robot, by the library alone."""
    arm = library.load("two_link")
    log = Log.read(recorded / "two.csv")
    early = log.cut(0.0, 7.0)
    fit = library.Identifier(arm, friction=("viscous", "coulomb", "offset"), armature=True)
    return fit.fit(replace(early, source="two.csv")), log


def test_what_is_held_out_takes_no_part_in_the_fit(recorded, fitted, tmp_path):
    fit, log = fitted
    words = ["identify", "two_link", str(recorded / "two.csv"), "--hold-out", "0.3", "--shape"]
    words += ["sign", "--json"]
    found = dynarm(*words, folder=tmp_path)
    data = json.loads(found.out)
    values = [p["value"] for p in data["parameters"]]
    np.testing.assert_allclose(values, fit.values_, rtol=1e-6, atol=1e-9)
    (check,) = data["validation"]
    own = fit.validate(log.cut(7.0))
    np.testing.assert_allclose(check["relative"], own.relative, rtol=1e-6)
    np.testing.assert_allclose(check["rmse"], own.rmse, rtol=1e-6)
    assert max(data["relative"]) < 0.1 < max(check["relative"])
    assert found.code == 1 and data["verdict"] == "FAIL"
    assert any("from 7 s on" in reason for reason in data["reasons"])


def test_identify_prints_the_fit(recorded, fitted, tmp_path):
    fit, log = fitted
    words = ["identify", "two_link", str(recorded / "two.csv"), "--hold-out", "0.3"]
    words += ["--friction", "viscous,coulomb,offset"]
    text = dynarm(*words, folder=tmp_path).out
    rows = table(text, "Values")
    assert [row["unit"] for row in rows] == fit.frame["unit"].tolist()
    assert [row["unknown"] for row in rows] == list(fit.names_)
    np.testing.assert_allclose(numbers(rows, "value"), fit.values_, rtol=6e-6, atol=1e-12)
    np.testing.assert_allclose(numbers(rows, "std"), fit.std_, rtol=6e-2)
    for row, percent in zip(rows, fit.relative_std_):
        shown = row["rel. std [%]"]
        assert shown == ("-" if percent >= 1e4 else f"{percent:.1f}")
    assert [row["by the logs"] for row in rows] == list(fit.identifiability_.grades)
    errors = table(
        text, "Rows of the fit, filtered: RMS error over the torque's standard deviation"
    )
    np.testing.assert_allclose(numbers(errors, "fitted"), fit.relative_, atol=6e-4)
    np.testing.assert_allclose(numbers(errors, "consistent"), fit.consistent_, atol=6e-4)
    whole = table(text, "Whole logs as measured: RMS error, and % of the torque's deviation")
    (held,) = [c for c in whole[0] if c.startswith("% ") and "two.csv" in c]
    own = 100 * fit.validate(log.cut(7.0)).relative
    np.testing.assert_allclose(numbers(whole, held), own, rtol=6e-3)
    assert "\nFAIL\n" in text and "PASS" not in text
    # short results first: the verdict and what to do, then errors by joint, every value last
    marks = [
        "two_link: 13 unknowns",
        "\nFAIL\n",
        "  to do: ",
        "wrote ",
        "Whole logs as measured",
        "\nValues\n",
    ]
    places = [text.index(mark) for mark in marks]
    assert places == sorted(places)


def test_a_prior_answers_for_what_the_log_does_not_determine(recorded, tmp_path):
    """Without one the verdict is FAIL and exit code 1, with one NOT VALIDATED and 0; on the page too."""
    words = ["identify", "two_link", str(recorded / "rest.csv"), "--limit", "2", "--json"]
    bare = dynarm(*words, "--out", "bare", folder=tmp_path)
    data = json.loads(bare.out)
    assert bare.code == 1 and data["verdict"] == "FAIL"
    assert any("not determined by the log" in reason for reason in data["reasons"])
    held = dynarm(*words, "--prior", "--out", "held", folder=tmp_path)
    data = json.loads(held.out)
    assert (held.code, data["verdict"]) == (0, "NOT VALIDATED")
    assert len(data["reasons"]) == 1 and "no held-out log" in data["reasons"][0]
    for name, kind, word in (("bare", "fail", "FAIL"), ("held", "doubt", "NOT VALIDATED")):
        page = (tmp_path / name / "report.html").read_text(encoding="utf-8")
        assert f'<div class="verdict {kind}"><strong>{word}</strong>' in page


def test_a_limit_is_what_it_says_down_to_zero(recorded, tmp_path):
    log = str(recorded / "log.csv")
    data = json.loads(dynarm("validate", "two_link", log, "--json").check().out)
    errors = np.array(data["validation"][0]["relative"])
    (shoulder, elbow), names = errors, data["joints"]
    low, high = sorted(errors)
    assert 0 < low < high < 0.5
    for limit in (0.0, 0.99 * low, 1.01 * low, 0.99 * high, 1.01 * high):
        found = dynarm("validate", "two_link", log, "--limit", repr(float(limit)))
        failed = [n for n, e in zip(names, (shoulder, elbow)) if e > limit]
        assert found.code == int(bool(failed)), limit
        told = re.findall(r"^  joint (\w+): error", found.out, re.MULTILINE)
        assert told == failed
    words = ["identify", "two_link", log, "--json"]
    strict = dynarm(*words, "--limit", "0", "--out", "strict", folder=tmp_path)
    assert strict.code == 1
    reasons = json.loads(strict.out)["reasons"]
    assert sum("on the fitted log" in reason for reason in reasons) == 2
    worst = max(json.loads(strict.out)["relative"])
    for factor, code in ((0.7, 1), (1.4, 0)):
        limit = ["--limit", repr(float(factor * worst)), "--out", f"at{factor}"]
        assert dynarm(*words, *limit, folder=tmp_path).code == code


def test_validate_prints_errors_of_the_model_s_own_torques(recorded):
    """Judged by an arm whose gravity torque is known to be off by a payload."""
    arm = library.load("two_link")
    log = Log.read(recorded / "log.csv")
    text = dynarm("validate", "two_link", str(recorded / "log.csv")).check().out
    rows = table(text, "two_link on ")
    fit = library.Identifier(arm, friction=(), armature=False).fit(log)
    q, qd, qdd = fit.states(log)
    off = library.compile(arm, friction=True).inverse_dynamics(q, qd, qdd) - log.tau
    rms = np.sqrt((off**2).mean(axis=0))
    np.testing.assert_allclose(numbers(rows, "RMSE"), rms, rtol=0.05)
    np.testing.assert_allclose(
        numbers(rows, "RMSE / deviation"), rms / log.tau.std(axis=0), rtol=0.05, atol=6e-4
    )
    assert [row["RMSE"].split(maxsplit=1)[1] for row in rows] == ["N m", "N m"]


# ---- simulate and mobile


def test_a_payload_takes_part_in_the_motion():
    words = ["simulate", "two_link", "--q0", "30deg,0.2", "--time", "0.5", "--json"]
    arm = library.load("two_link")
    ends = []
    for payload in (0.0, 3.0):
        data = json.loads(dynarm(*words, "--payload", str(payload)).check().out)
        loaded = arm.with_payload(payload) if payload else arm
        run = library.simulate(library.compile(loaded), [np.pi / 6, 0.2], [0, 0], 0.5)
        np.testing.assert_allclose(data["q_end"], run.q[-1], rtol=1e-6)
        np.testing.assert_allclose(data["energy_start"], run.energy[0], rtol=1e-9)
        ends.append(data["q_end"])
    assert np.abs(np.subtract(*ends)).max() > 1e-2


def test_a_controller_does_not_know_the_payload():
    words = ["simulate", "two_link", "--control", "gravity_pd", "--time", "4", "--json"]
    offsets = []
    for payload in ("0", "3"):
        data = json.loads(dynarm(*words, "--payload", payload).check().out)
        offsets.append(np.abs(data["q_end"]).max())
    assert offsets[0] < 1e-6 and offsets[1] > 1e-2


def test_simulate_prints_the_run():
    words = ["simulate", "two_link", "--q0", "30deg,0.2", "--qd0", "0.1", "--torque", "1,-2"]
    text = dynarm(*words, "--time", "0.5").check().out
    run = library.simulate(
        library.compile(library.load("two_link")),
        [np.pi / 6, 0.2],
        [0.1, 0.1],
        0.5,
        torque=[1.0, -2.0],
    )
    assert after(text, "to t =") == 0.5
    np.testing.assert_allclose(after(text, "energy:"), run.energy[0], rtol=1e-5)
    np.testing.assert_allclose(after(text, "J at the start,"), run.energy[-1], rtol=1e-5)
    np.testing.assert_allclose(after(text, "work of the inputs"), run.work[-1], rtol=1e-2)
    for name, q in zip(("shoulder", "elbow"), run.q[-1]):
        np.testing.assert_allclose(after(text, f"{name} "), q, rtol=6e-4)


def test_mobile_prints_the_ground_forces():
    robot = library.mobile.load("tanner2001")
    q, z = [0.0, 0, 0, 0, 0.5, 0.2], [0.4, 0, 0.3, 0]
    words = ["mobile", "tanner2001", "--q0", "0,0,0,0,0.5,0.2", "--z0", "0.4,0,0.3,0"]
    text = dynarm(*words, "--torque", "0.5", "--adhesion", "0.5").check().out
    tau = [0.5] * 8
    rows = table(text, "Ground forces [N]")
    forces, needed = robot.wheel_forces(q, z, tau), robot.friction_needed(q, z, tau)
    for k, column in enumerate(("rolling", "axle", "up")):
        np.testing.assert_allclose(numbers(rows, column), forces[:, k], atol=6e-3)
    np.testing.assert_allclose(numbers(rows, "friction needed"), needed, atol=6e-4)
    assert str(robot.admissible(q, z, tau, 0.5)) in text


def test_mobile_prints_the_end_of_the_run():
    robot = library.mobile.load("tanner2001")
    text = dynarm("mobile", "tanner2001", "--z0", "0.4,0,0.3,0", "--time", "0.5").check().out
    run = robot.simulate(np.zeros(6), [0.4, 0, 0.3, 0], 0.5)
    for name, value in zip(robot.coordinate_names, run.q[-1]):
        np.testing.assert_allclose(after(text, f"{name} "), value, rtol=6e-4, atol=1e-9)
    np.testing.assert_allclose(after(text, "tip-over measure"), run.measure.min(), rtol=6e-4)
    np.testing.assert_allclose(
        after(text, "most friction needed"), run.friction_needed.max(), rtol=6e-3
    )
