"""Numbers in the reports, read back out of the written pages and compared with the objects they were made of."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import dynarm
from dynarm.cli.count import costs
from dynarm.cli.rehearsal import simulated_log
from dynarm.identify.design.trajectory import Series, Trajectory
from dynarm.identify.judgement.validation import judged, model_checks
from dynarm.mobile.outline import outline
from dynarm.report import (
    counts,
    excitation,
    identification,
    mobile,
    robot_sheet,
    simulation,
    torques,
)
from dynarm.report.html import data_json, figure
from dynarm.report.sketch import pose, sketch
from dynarm.reproductions.tanner2001_cases import run as run_case
from dynarm.robot.frames.generic import generic_arm
from oracles.hostile import SCRIPT
from oracles.page_numbers import SHOWN, THREE, number, printed, read, same_curve

ARM = "scara"  # turning joints and a sliding one


def motion(arm: dynarm.Arm, seed: int = 3) -> Trajectory:
    series = Series(4.0, 4)
    x = series.random(np.random.default_rng(seed), arm.n) * 0.8
    t = np.arange(801) / 200
    q, qd, qdd = (B @ x.T for B in series.basis(t))
    conditions = tuple(1.5 + np.arange(arm.n))
    return Trajectory(
        t, q, qd, qdd, 7.25, arm.joint_names, conditions, (9.5, 12.0, np.inf), "found"
    )


@pytest.fixture(scope="module")
def arm() -> dynarm.Arm:
    return dynarm.load(ARM)


def written(function, *args) -> dict:
    """The sections of the page that a function writes to the path it gets last."""
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "page.html"
        function(*args, path)
        return read(path.read_text(encoding="utf-8"))


# ---- identification


@pytest.fixture(scope="module")
def identified(arm):
    made = [motion(arm, seed) for seed in (3, 4)]
    fitted, held = (simulated_log(arm, m.t, m.q, m.qd, m.qdd, seed=k) for k, m in enumerate(made))
    fit = dynarm.Identifier(arm).fit(fitted)
    check = fit.validate(held)
    verdict = fit.verdict([held])
    page = written(identification.page, fit, [check], verdict)
    return SimpleNamespace(fit=fit, check=check, verdict=verdict, page=page, log=held)


def test_the_verdict_s_numbers_are_the_fit_s(identified):
    fit, check, part = identified.fit, identified.check, identified.page["Verdict"]
    (errors,) = part.tables
    assert errors.texts("joint") == list(fit.record.terms.arm.joint_names)
    for name, own in (("fitted", fit.fitted_), ("held out", check)):
        np.testing.assert_allclose(errors.numbers(f"{name}: RMS", THREE), own.rmse, rtol=1e-8)
        np.testing.assert_allclose(
            errors.numbers(f"{name}: %", THREE), 100 * own.relative, rtol=1e-8
        )
    fitted, held = part.figures[0]["data"]
    np.testing.assert_allclose(fitted["y"], 100 * fit.fitted_.relative, rtol=SHOWN)
    np.testing.assert_allclose(held["y"], 100 * check.relative, rtol=SHOWN)
    facts = part.facts
    graded = [grade for grade in fit.identifiability_.grades if grade != "damped"]
    assert facts["determined"] == f"{graded.count('determined')} of {len(graded)} unknowns"
    assert facts["mean error, fitted"] == f"{100 * fit.fitted_.relative.mean():.2f} %"
    assert facts["mean error, held out"] == f"{100 * check.relative.mean():.2f} %"
    worst = int(np.argmax(check.relative))
    name = fit.record.terms.arm.joint_names[worst]
    assert facts["worst joint"] == f"{name}: {100 * check.relative[worst]:.2f} %"
    assert identified.verdict.word in part.text
    assert f"worst is {name}" in part.text and "Next:" in part.text


def test_other_scales_and_the_solver_s_numbers_stand_at_the_end(identified):
    fit, check, part = identified.fit, identified.check, identified.page["How it was done"]
    scales = part.tables[0]
    for column, values in (
        ("fitted", fit.relative_),
        ("made consistent", fit.consistent_),
        ("fitted, in band", fit.fitted_.band),
        ("held out, in band", check.band),
    ):
        np.testing.assert_allclose(scales.numbers(column, THREE), values, rtol=1e-8)
    assert part.facts["unknowns"] == str(len(fit.names_))
    assert part.facts["rank"] == str(fit.rank_)
    printed(part.facts["condition number"], fit.condition_, 3)
    assert not {"rank", "condition number"} & set(identified.page["Verdict"].facts)


def torque_traces(figure: dict) -> dict:
    return {trace["name"]: trace for trace in figure["data"]}


def test_torques_and_what_is_left_of_them_are_drawn_as_they_are(identified, arm):
    check = identified.check
    for part, t, measured, predicted in (
        (
            identified.page["Measured and predicted torques"],
            identified.fit.residuals_.t,
            identified.fit.residuals_.measured,
            identified.fit.residuals_.predicted,
        ),
        (
            identified.page[f"Prediction of {check.source}"],
            [check.t] * arm.n,
            check.measured.T,
            check.predicted.T,
        ),
    ):
        assert len(part.figures) == arm.n
        for k, (drawn, joint) in enumerate(zip(part.figures, arm.joints)):
            traces = torque_traces(drawn)
            same_curve(traces["measured"], t[k], measured[k])
            same_curve(traces["predicted"], t[k], predicted[k])
            same_curve(traces["residual"], t[k], np.asarray(measured[k]) - predicted[k])
            assert traces["residual"]["yaxis"] == "y2"
            unit = "torque [N m]" if joint.revolute else "force [N]"
            assert drawn["layout"]["yaxis"]["title"]["text"] == unit
            assert drawn["layout"]["title"]["text"] == joint.name


def test_a_residual_is_measured_less_predicted():
    t, measured, predicted = np.array([[0.0, 1.0], [5.0, 5.0], [3.0, 4.0]])
    drawn = torques.torque_figure("j", "u", t, measured, predicted)
    (part,) = read(f"<section><h2>x</h2>{drawn}</section>")["x"].figures
    assert torque_traces(part)["residual"]["y"] == [2, 1]


def test_residuals_are_told_as_they_are(identified, arm):
    part, left = identified.page["Residuals"], identified.fit.residuals_
    (rows,) = part.tables
    np.testing.assert_allclose(rows.numbers("RMS", THREE), left.rms, rtol=1e-8)
    np.testing.assert_allclose(
        rows.numbers("% of deviation", THREE), 100 * left.rms / left.spread, rtol=1e-8
    )
    np.testing.assert_allclose(rows.numbers("white [%]", 0.05), 100 * left.white, rtol=1e-8)
    delays = np.where(np.isnan(identified.fit.delays_), np.nan, 1e3 * identified.fit.delays_)
    np.testing.assert_allclose(rows.numbers("delay [ms]", THREE), delays, rtol=1e-8, atol=1e-12)
    spectra = part.figure("amplitude density / deviation")["data"]
    lags = part.figure("autocorrelation")["data"]
    for k in range(arm.n):
        frequency, density = left.spectrum[k]
        same_curve(spectra[k], frequency, np.sqrt(density) / left.spread[k])
        same_curve(lags[k], np.arange(1, left.correlation.shape[1] + 1), left.correlation[k])


def test_every_unknown_stands_there_with_its_certainty(identified):
    fit, part = identified.fit, identified.page["Parameters"]
    rows, words = part.tables
    assert rows.texts("unknown") == list(fit.names_)
    assert rows.texts("unit") == [u.replace("^2", "²") for u in fit.frame["unit"]]
    percent = 100 * fit.std_ / np.abs(fit.values_)
    for column, values, digits in (
        ("value", fit.values_, 3), ("± std", fit.std_, 1), ("std [%]", percent, 2),
    ):  # fmt: skip
        k = rows.columns.index(column)
        kept = [float(r[k][1] or "inf") for r in rows.rows]
        np.testing.assert_allclose(kept, values, rtol=1e-8)
        for shown, value, std in zip(rows.texts(column), values, fit.std_):
            if np.isinf(value):
                assert shown in ("∞", "")
                continue
            if (
                column == "std [%]"
            ):  # two digits are enough, and none where it is many times the value
                assert (
                    shown == "> 1000"
                    if value >= 1000
                    else abs(number(shown) - value) < 0.06 * value
                )
                continue
            half = 0.51 * 10.0 ** (1 - digits + np.floor(np.log10(max(abs(value), 1e-300))))
            coarse = max(half, 0.005 * std)  # three digits of the larger of the two
            assert abs(number(shown) - value) <= coarse, (column, shown, value)
    finite = [r for r in rows.rows if r[2][0] != "∞"]
    after = [[len(r[k][0].partition(".")[2]) for k in (1, 2)] for r in finite]
    assert all(value == std for value, std in after), "not aligned"
    assert words.columns == ["for example", "means"] and len(words.rows) >= 3
    words = {"determined": "yes", "hardly": "hardly", "not": "no", "fixed": "taken as 0"}
    words["small"] = "small"
    assert rows.texts("determined") == [words[g] for g in fit.identifiability_.grades]
    (bars,) = part.figures[0]["data"]
    percent = dict(zip(fit.names_, fit.relative_std_))
    expected = [max(percent[name], 1e-3) for name in bars["x"]]
    np.testing.assert_allclose(bars["y"], expected, rtol=5e-5)
    assert expected == sorted(expected) and len(expected) == np.isfinite(fit.relative_std_).sum()


def test_doubts_and_friction_are_those_of_the_fit(identified, arm):
    fit = identified.fit
    check = fit.identifiability_
    part = identified.page["What the logs determine"]
    doubts = dict(zip(check.names, check.doubts))
    (bars,) = part.figures[0]["data"]
    expected = [min(max(doubts[name], 1e-4), 1e3) for name in bars["x"]]
    np.testing.assert_allclose(bars["y"], expected, rtol=5e-5)
    assert sorted(bars["x"]) == sorted(check.names)
    curves = identified.page["Friction curves"].figures
    for k, drawn in enumerate(curves):
        dots, curve = drawn["data"]
        same_curve(curve, *fit.friction_curve(k))
        rest = np.interp(dots["x"], curve["x"], curve["y"]) - dots["y"]
        assert len(dots["x"]) > 100 and abs(rest.mean()) < 0.1 * rest.std(), k  # noise is left
    tried = [t for t in identified.page["How it was done"].tables if "cut-off [Hz]" in t.columns]
    trials = fit.record.trials
    assert bool(tried) == bool(trials)
    if trials:
        np.testing.assert_allclose(
            tried[0].numbers("error on unseen time", THREE), [t.error for t in trials], rtol=1e-8
        )


def test_a_validation_tells_error_and_limit(arm, identified):
    (check,) = model_checks(arm, [identified.log])
    for limit in (0.0, float(np.median(check.relative)), 1.0):
        page = written(identification.validation_page, arm, [check], judged(arm, [check], limit))
        part = page["Verdict"]
        (rows,) = part.tables
        np.testing.assert_allclose(rows.numbers("RMS", THREE), check.rmse, rtol=1e-8)
        np.testing.assert_allclose(rows.numbers("%", THREE), 100 * check.relative, rtol=1e-8)
        failed = [n for n, e in zip(arm.joint_names, check.relative) if e > limit]
        assert ("FAIL" in part.text) == bool(failed)
        assert all((f"joint {n}:" in part.text) == (n in failed) for n in arm.joint_names)


# ---- simulation


@pytest.fixture(scope="module")
def simulated(arm):
    rubbing = dynarm.Friction(viscous=3.0, coulomb=1.0, shape="tanh")
    driven = replace(arm, joints=tuple(replace(j, friction=rubbing) for j in arm.joints))
    model = dynarm.compile(driven, friction=True)
    torque = [1.0, -2.0, 30.0, 0.1]
    run = dynarm.simulate(
        model,
        [0.5, -0.3, 0.1, 0.2],
        [0.1, 0.2, 0.3, -0.4],
        0.4,
        torque=torque,
        times=np.linspace(0, 0.4, 161),
    )
    return run, written(simulation.page, run)


def test_angles_are_drawn_in_degrees_and_lengths_in_metres(simulated, arm):
    run, page = simulated
    part = page["Motion"]
    degrees = 180 / np.pi
    for values, turning, sliding, scale in (
        (run.q, "position [°]", "position [m]", degrees),
        (run.qd, "velocity [°/s]", "velocity [m/s]", degrees),
        (run.tau, "torque [N m]", "force [N]", 1.0),
    ):
        by_name = {
            trace["name"]: (trace, title)
            for title in (turning, sliding)
            for trace in part.figure(title)["data"]
        }
        assert sorted(by_name) == sorted(arm.joint_names)
        for j, joint in enumerate(arm.joints):
            trace, title = by_name[str(joint.name)]
            assert title == (turning if joint.revolute else sliding)
            same_curve(trace, run.t, values[:, j] * (scale if joint.revolute else 1.0))


def test_energies_are_those_of_the_run(simulated):
    run, page = simulated
    assert run.loss[-1] > 0.01 < run.work[-1]
    balance, unexplained = page["Energy"].figures
    traces = {trace["name"]: trace for trace in balance["data"]}
    for name, values in (
        ("kinetic", run.kinetic),
        ("potential", run.potential),
        ("total", run.kinetic + run.potential),
        ("start + work - loss", run.energy[0] + run.work - run.loss),
    ):
        same_curve(traces[name], run.t, values)
    same_curve(unexplained["data"][0], run.t, run.energy - run.energy[0] - run.work + run.loss)
    facts = page["Outcome"].facts
    assert facts["status"] == run.status
    printed(facts["end"], run.t[-1], 4)
    printed(facts["energy at the start"], run.energy[0], 5)
    printed(facts["energy at the end"], run.energy[-1], 5)
    printed(facts["left unexplained"], np.abs(run.balance).max(), 2)


# ---- excitation


def test_an_excitation_is_drawn_as_it_is(arm):
    made = motion(arm)
    page = written(excitation.page, arm, made)
    drawn = page["Positions, speeds, accelerations, torques"].figures
    for one, values in zip(drawn, (made.q, made.qd), strict=False):
        curves = [trace for trace in one["data"] if not trace["name"].endswith("limit")]
        assert [trace["name"] for trace in curves] == list(arm.joint_names)
        for j, trace in enumerate(curves):
            same_curve(trace, made.t, values[:, j])
    told = page["Outcome"].facts
    assert told["condition number"] == "7.25" and told["length"] == "4 s"
    assert told["random motions, median"] == "10.8" and told["better by"] == "1.5 ×"
    part = page["Condition"]
    box, mark = part.figures[0]["data"]
    assert box["x"] == [9.5, 12] and mark["x"] == [7.25]
    np.testing.assert_array_equal(
        part.tables[0].numbers("condition of its own unknowns"), made.joint_conditions
    )


# ---- counts and the robot's sheet


def same_costs(part_figures, tables, counted):
    for drawn, rows, (_, listed) in zip(part_figures, tables, counted.items(), strict=True):
        parts = {trace["name"]: trace for trace in drawn["data"]}
        names = [name.removeprefix("▸ ") for name in parts["additions"]["y"]]
        own = {row["formulation"]: row for row in listed if row["mul"] != ""}
        assert names == list(own)
        assert parts["multiplications"]["x"] == [row["mul"] for row in own.values()]
        assert parts["additions"]["x"] == [row["add"] for row in own.values()]
        assert rows.texts("formulation") == [row["formulation"] for row in listed]
        for column in ("mul", "add", "path", "mul as written", "add as written"):
            values = [np.nan if row[column] == "" else row[column] for row in listed]
            np.testing.assert_array_equal(rows.numbers(column), values)
        totals = [np.nan if r["mul"] == "" else r["mul"] + r["add"] for r in listed]
        np.testing.assert_array_equal(rows.numbers("total"), totals)


def test_counts_are_those_of_the_graphs(arm):
    generic = generic_arm(3, 1)
    listed = {"mass_matrix": costs(generic, "mass_matrix", (1, False))}
    for row in listed["mass_matrix"]:
        if row["mul"] != "":
            own = dynarm.count(generic, "mass_matrix", row["formulation"])
            assert (row["mul"], row["add"], row["path"]) == (own.mul, own.add, own.depth)
    page = written(counts.page, {generic.name: listed})
    part = page[f"{generic.name}: mass_matrix"]
    same_costs(part.figures, part.tables, listed)
    assert part.tables[0].texts("printed") == [row["printed"] for row in listed["mass_matrix"]]


@pytest.fixture(scope="module")
def sheet(arm):
    counted = {q: costs(arm, q) for q in ("inverse_dynamics", "bias")}
    minimal = dynarm.minimal_parameters(arm)
    page = written(robot_sheet.page, arm, minimal, counted)
    return SimpleNamespace(page=page, counted=counted, minimal=minimal)


def test_the_sheet_shows_the_robot_s_own_numbers(sheet, arm):
    (chain,) = sheet.page["The robot"].tables
    assert chain.texts("joint") == list(arm.joint_names)
    for column, values in (
        ("a [m]", [j.a for j in arm.joints]),
        ("alpha [°]", [np.degrees(j.alpha) for j in arm.joints]),
        ("d [m]", [j.d for j in arm.joints]),
        ("theta [°]", [np.degrees(j.theta) for j in arm.joints]),
        ("mass [kg]", [j.mass for j in arm.joints]),
    ):
        np.testing.assert_allclose(chain.numbers(column), values, rtol=1e-8, atol=1e-9)
    for shown, joint in zip(chain.texts("limits"), arm.joints):
        if joint.position_limits is None:
            assert shown == ""
            continue
        unit, factor = ("°", 180 / np.pi) if joint.revolute else (" m", 1.0)
        ends = [number(x.removesuffix(unit)) for x in shown.split(" … ")]
        np.testing.assert_allclose(ends, np.multiply(joint.position_limits, factor), rtol=5e-4)
    minimal = sheet.page["Minimal parameters"]
    assert minimal.facts["minimal"] == str(sheet.minimal.count)
    assert minimal.facts["natural"] == str(10 * arm.n)
    assert minimal.tables[0].texts("name") == list(sheet.minimal.names)
    np.testing.assert_allclose(
        minimal.tables[0].numbers("value"), sheet.minimal.values, rtol=1e-8, atol=1e-300
    )


def test_a_slide_s_limits_are_metres():
    joint = dynarm.Joint(kind="prismatic", mass=1.0, position_limits=(-0.25, 0.5), name="s")
    turn = dynarm.Joint(mass=1.0, position_limits=(-np.pi, np.pi / 2), name="t")
    assert robot_sheet._chain_row(joint)[-2] == "−0.25 m … 0.5 m"
    assert robot_sheet._chain_row(turn)[-2] == "−180° … 90°"


def test_the_sheet_s_costs_and_mass_matrix_are_computed_ones(sheet, arm):
    part = sheet.page["Cost by formulation"]
    same_costs(part.figures, part.tables, sheet.counted)
    inertia = sheet.page["Mass matrix over the workspace"]
    M = dynarm.compile(arm).mass_matrix(robot_sheet.random_poses(arm, robot_sheet.SAMPLES))
    diagonal = np.einsum("kii->ki", M)
    (rows,) = inertia.tables
    for column, values in (
        ("smallest", diagonal.min(axis=0)),
        ("mean", diagonal.mean(axis=0)),
        ("largest", diagonal.max(axis=0)),
        ("largest / smallest", diagonal.max(axis=0) / diagonal.min(axis=0)),
    ):
        np.testing.assert_allclose(rows.numbers(column), values, rtol=1e-8)
    _, couplings = inertia.figures
    size = np.sqrt(diagonal)
    share = np.abs(M / (size[:, :, None] * size[:, None, :])).mean(axis=0)
    np.testing.assert_allclose(couplings["data"][0]["z"], share, rtol=5e-5, atol=1e-12)


# over two angles; over an angle and a length
@pytest.mark.parametrize("name", ["scara", "stanford"])
def test_a_heat_map_is_the_entry_that_it_names_at_the_poses_of_its_axes(name):
    arm = dynarm.load(name)
    html = "".join(robot_sheet.inertia_section(arm).parts)
    maps = read(f"<section><h2>x</h2>{html}</section>")["x"].figures[0]
    axes, places = [], []
    for axis in ("xaxis", "yaxis"):
        along, unit = maps["layout"][axis]["title"]["text"].rsplit(" ", 1)
        j = list(arm.joint_names).index(along)
        assert unit == ("[°]" if arm.joints[j].revolute else "[m]")
        drawn = np.array(maps["data"][0][axis[0]], float)
        axes.append(j)
        places.append(np.radians(drawn) if arm.joints[j].revolute else drawn)
    assert (name == "scara") == all(arm.joints[j].revolute for j in axes)
    low, high = robot_sheet._ranges(arm)
    for j, place in zip(axes, places):
        np.testing.assert_allclose([place[0], place[-1]], [low[j], high[j]], rtol=5e-5, atol=1e-9)
    q = np.zeros((len(places[1]), len(places[0]), arm.n)) + np.clip(0.0, low, high)
    for k, joint in enumerate(arm.joints):
        if not joint.revolute:
            q[..., k] = (low[k] + high[k]) / 2
    q[..., axes[0]], q[..., axes[1]] = places[0][None, :], places[1][:, None]
    M = dynarm.compile(arm).mass_matrix(q)
    for trace in maps["data"]:
        if trace["name"].startswith("M["):
            k = int(trace["name"][2:].split(",")[0]) - 1
            np.testing.assert_allclose(trace["z"], M[..., k, k], rtol=2e-4)


def test_the_sketch_says_its_pose_in_degrees_and_metres(arm):
    text = str(sketch(arm)).split("q = (")[1].split(")")[0]
    for shown, joint, value in zip(text.split(", "), arm.joints, pose(arm)):
        expected = f"{np.degrees(value):.0f}°" if joint.revolute else f"{value:.2f} m"
        assert shown == expected


# ---- mobile


@pytest.fixture(scope="module")
def case():
    found = run_case(5)
    return found, written(mobile.case_page, found, outline)


def test_ground_forces_are_those_of_the_run(case):
    found, page = case
    run, part = found.run, page["Ground forces"]
    wheels = found.robot.wheel_names
    rows = part.tables[0]
    up = run.wheel_forces[..., 2]
    np.testing.assert_allclose(rows.numbers("lowest load [N]"), up.min(axis=0), rtol=1e-8)
    np.testing.assert_allclose(rows.numbers("highest load [N]"), up.max(axis=0), rtol=1e-8)
    np.testing.assert_array_equal(rows.texts("wheel"), wheels)
    needed = np.where(run.friction_needed < 5, run.friction_needed, np.nan)
    for title, values in (("vertical force [N]", up), ("friction needed", needed)):
        for j, trace in enumerate(part.figure(title)["data"]):
            assert trace["name"] == wheels[j]
            same_curve(trace, run.t, values[:, j])
    for k, trace in enumerate(part.figure("tip-over angle [°]")["data"]):
        same_curve(trace, run.t, np.degrees(run.tipover.angles[:, k]))
    events = [t for t in part.tables[1:] if "event" in t.columns]
    if run.events:
        np.testing.assert_allclose(
            events[0].numbers("time [s]"), [e.t for e in run.events[:200]], rtol=1e-8
        )


def test_the_view_from_above_is_the_run(case):
    found, page = case
    run, part = found.run, page["View from above"]
    printed(part.facts["smallest margin"], run.measure.min(), 4)
    negative = sum(b - a for a, b in run.intervals)
    printed(part.facts["time with negative margin"], negative, 3)
    if run.intervals:
        spans = part.tables[0]
        np.testing.assert_allclose(spans.numbers("from [s]"), [a for a, _ in run.intervals])
        np.testing.assert_allclose(spans.numbers("to [s]"), [b for _, b in run.intervals])
    (drawn,) = part.figures
    path, margin = drawn["data"][:2]
    same_curve(margin, run.t, run.measure)
    for x, y, colour in zip(path["x"], path["y"], path["marker"]["color"]):
        k = int(np.hypot(run.q[:, 0] - x, run.q[:, 1] - y).argmin())
        np.testing.assert_allclose([x, y], run.q[k, :2], rtol=5e-4, atol=5e-4)
        assert np.abs(run.measure - colour).min() <= 5e-5 * max(1.0, abs(colour))
    for frame in drawn["frames"][:: max(1, len(drawn["frames"]) // 5)]:
        (when,), (measure,) = frame["data"][3]["x"], frame["data"][3]["y"]
        k = int(np.abs(run.t - when).argmin())
        np.testing.assert_allclose(measure, run.measure[k], rtol=5e-5)
        assert frame["label"] == f"{run.t[k]:.2f} s"
        arm = outline(found.robot, run.q[k]).arm
        np.testing.assert_allclose(frame["data"][1]["x"], arm[:, 0], rtol=5e-5, atol=1e-9)
        np.testing.assert_allclose(frame["data"][1]["y"], arm[:, 1], rtol=5e-5, atol=1e-9)


def test_speeds_energies_and_statements_are_the_case_s(case):
    found, page = case
    run = found.run
    speeds = page["Motion and energy"].figure("speed [m/s or rad/s]")["data"]
    assert [trace["name"] for trace in speeds] == list(found.robot.speed_names)
    for k, trace in enumerate(speeds):
        same_curve(trace, run.t, run.z[:, k])
    energies = page["Motion and energy"].figure("energy [J]")["data"]
    for trace, values in zip(energies, (run.kinetic, run.potential, run.energy), strict=True):
        same_curve(trace, run.t, values)
    same_curve(page["Forces across the path"].figures[0]["data"][0], run.t, found.centripetal)
    (said,) = page["What the paper says"].tables
    assert said.texts("found") == [f.text for f in found.findings]
    assert said.texts("outcome") == ["holds" if f.holds else "fails" for f in found.findings]


# ---- what no parser may mistake


@pytest.mark.parametrize("text", [SCRIPT, "</script", "<!--", "]]>", "&lt;", "<", ">", "&"])
def test_no_sign_of_markup_is_left_in_a_figure_s_data(text):
    raw = data_json({"name": text, text: [text]})
    assert not set("<>&") & set(raw)
    import json

    assert json.loads(raw) == {"name": text, text: [text]}
    drawn = str(figure({"data": [{"type": "scatter", "name": text}], "layout": {}}))
    inside = drawn.split('<script type="application/json">')[1].rsplit("</script>", 1)[0]
    assert not set("<>&") & set(inside)


def test_rest_is_drawn_as_rest_and_more_than_eight_joints_are_told_apart():
    """A robot that falls without turning: what rounding leaves of its speeds does not fill a figure."""
    joint = dynarm.Joint(alpha=1.2, a=0.1, mass=1.0, com=(0.05, 0.01, 0.02), parent=-1)
    legs = tuple(replace(joint, gamma=0.6 * k, b=0.01) for k in range(10))
    arm = dynarm.Arm(legs, name="sea star", floating=dynarm.Body(mass=5.0, inertia=np.eye(3)))
    q0, qd0 = np.zeros(arm.nq), np.zeros(arm.nv)
    q0[6] = 1.0
    run = dynarm.simulate(dynarm.compile(arm), q0, qd0, 0.2)
    assert 0 < np.abs(run.qd[:, 6:]).max() < 1e-9
    part = written(simulation.page, run)["Motion"]
    still, falls = part.figure("velocity [°/s]"), part.figure("base: velocity in its axes [m/s]")
    assert still["layout"]["yaxis"]["range"] == [-1, 1] and "range" not in falls["layout"]["yaxis"]
    looks = {(t["line"]["color"], t["line"].get("dash", "")) for t in still["data"]}
    assert len(looks) == 10
