"""What options, defaults and outcomes of the commands decide, one at a time."""

from __future__ import annotations

import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from program import dynarm

import dynarm as library
from dynarm.cli import compile as compile_command
from dynarm.cli import count, excite, info, mobile, options, simulate, view
from dynarm.errors import DynarmError
from dynarm.identify.judgement.validation import judged
from dynarm.identify.judgement.verdict import Validation
from dynarm.simulation import ComputedTorque, GravityPD

# ---- numbers


def test_numbers_of_a_list_or_one_for_all():
    assert options.numbers("--x", "1,-2.5 3e1", 3) == [1.0, -2.5, 30.0]
    assert options.numbers("--x", ".5", 2) == [0.5, 0.5]
    assert options.numbers("--x", "7", 1) == [7.0]
    assert options.numbers("--x", "90deg,2", 2, angles=[True, False]) == [np.pi / 2, 2.0]
    assert options.numbers("--x", "inf,3", 2, above=0.0) == [np.inf, 3.0]


@pytest.mark.parametrize(
    ("text", "more", "told"),
    [
        ("1,2", {"size": 3}, "--x has 2 numbers; give 3, or one for all"),
        ("1,2,3", {"size": 2, "names": ("a", "b")},
         "--x has 3 numbers; give 2 in the order a, b, or one for all"),
        ("1,2deg", {"size": 2, "names": ("a", "b"), "angles": (True, False)},
         "--x has 2deg for b, which is no angle; give SI units there"),
        ("2deg", {"size": 1}, "--x has 2deg, which is no angle; give SI units there"),
        ("a", {"size": 5}, "--x is 'a'; give numbers such as --x 0.1,0.1,0.1"),
        ("0", {"size": 1, "above": 0.0}, "--x has '0'; give numbers above 0"),
        ("nan", {"size": 1, "above": 0.0}, "--x has 'nan'; give numbers above 0"),
        ("-inf", {"size": 1}, "--x has '-inf'; give finite numbers"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_list_is_said(text, more, told):
    with pytest.raises(DynarmError) as error:
        options.numbers("--x", text, **more)
    assert str(error.value) == told


def test_an_option_is_given_unless_it_is_none_or_off():
    options.refuse_given("is odd", {"--a": None, "--b": False})
    for value in (0, "", True, 0.0):
        with pytest.raises(DynarmError, match="--c is odd"):
            options.refuse_given("is odd", {"--a": None, "--c": value})


def test_the_longest_time_is_still_one():
    assert options.seconds("--t", 1e9) == 1e9
    for value in (0.0, 1.1e9, -1.0):
        with pytest.raises(DynarmError, match="at most 1e\\+09"):
            options.seconds("--t", value)


# ---- simulate


@pytest.mark.parametrize(
    ("time", "points"),
    [(1.0, 201), (0.005, 2), (0.001, 2), (0.0101, 3), (9.99, 1999), (60.0, 2000)],
)
def test_an_adaptive_run_is_recorded_every_5_ms_and_2000_times_at_most(time, points):
    grid = simulate._grid(time)
    assert len(grid) == points and grid[0] == 0.0 and grid[-1] == time


def test_steps_and_rates_up_to_the_bounds_are_taken():
    simulate._check_times(1.0, "rk4", 1e-8, 1e8)
    simulate._check_times(10.0, "rk4", 1e-7, 1e7)
    for dt, rate in ((0.9e-8, None), (None, 1.1e8), (None, 0.0), (np.inf, None)):
        with pytest.raises(DynarmError):
            simulate._check_times(1.0, "rk4", dt, rate)


def test_a_controller_has_gains_and_a_target_of_its_own():
    model = library.compile(library.load("two_link"))
    for name, law in (("gravity_pd", GravityPD), ("computed_torque", ComputedTorque)):
        usual = simulate._force(model, None, name, None, None, None, None)
        assert isinstance(usual, law)
        given = simulate._force(model, None, name, "30deg,0.5", "50,60", "7", 100.0)
        state = np.array([0.1, 0.2]), np.array([0.3, -0.1])
        for made, target, kp, kd in (
            (usual, [0.0, 0.0], [100.0, 100.0], [20.0, 20.0]),
            (given, [np.pi / 6, 0.5], [50.0, 60.0], [7.0, 7.0]),
        ):
            own = law(model, target, kp, kd)
            np.testing.assert_allclose(made(0.0, *state), own(0.0, *state), rtol=1e-12)
    assert simulate._force(model, None, "none", None, None, None, None) is None
    assert simulate._force(model, "3", "none", None, None, None, None) == [3.0, 3.0]


def test_a_run_says_by_which_method_and_how_often():
    words = ["simulate", "two_link", "--time", "0.1", "--q0", "0.1", "--json"]
    data = json.loads(dynarm(*words).check().out)
    assert (data["samples"], data["method"].lower(), data["t_end"]) == (21, "dop853", 0.1)
    assert data["files"] == [] and data["robot"] == "two_link" and data["events"] == []
    stepped = json.loads(dynarm(*words, "--method", "RK4", "--dt", "0.02").check().out)
    assert (stepped["samples"], stepped["dt"]) == (6, 0.02)
    run = library.simulate(
        library.compile(library.load("two_link")), [0.1, 0.1], [0, 0], 0.1, method="rk4", dt=0.02
    )
    np.testing.assert_allclose(stepped["q_end"], run.q[-1], rtol=1e-12)
    np.testing.assert_allclose(stepped["qd_end"], run.qd[-1], rtol=1e-12)
    np.testing.assert_allclose(stepped["energy_end"], run.energy[-1], rtol=1e-12)


def test_files_that_were_written_are_told(tmp_path):
    words = ["simulate", "two_link", "--time", "0.05", "--save", "r.csv", "--html", "r.html"]
    text = dynarm(*words, folder=tmp_path).check().out
    assert text.endswith("wrote r.csv\nwrote r.html\n")
    assert json.loads(dynarm(*words, "--json", folder=tmp_path).out)["files"] == ["r.csv", "r.html"]
    head = (tmp_path / "r.csv").read_text().splitlines()[0]
    assert head == "t,q1,q2,qd1,qd2,tau1,tau2"
    bare = dynarm("simulate", "two_link", "--time", "0.05", folder=tmp_path).check().out
    assert "wrote" not in bare


def test_a_run_that_fails_has_exit_code_1(monkeypatch):
    import dynarm.simulation as simulation

    integrate = simulation.simulate

    def failing(*args, **more):
        return replace(integrate(*args, **more), status="failed")

    words = ["simulate", "two_link", "--time", "0.05"]
    assert dynarm(*words).code == 0 and dynarm(*words, "--json").code == 0
    monkeypatch.setattr(simulation, "simulate", failing)
    assert dynarm(*words).code == 1 and dynarm(*words, "--json").code == 1


# ---- mobile


def told(capsys, events=(), intervals=(), html=None, as_json=False):
    robot = library.mobile.load("tanner2001")
    run = SimpleNamespace(
        status="success", t=np.array([0.0, 2.0]), q=np.arange(12.0).reshape(2, 6),
        z=np.arange(8.0).reshape(2, 4), measure=np.array([3.0, 1.25]),
        friction_needed=np.array([[0.1, 0.45], [0.2, 0.3]]), intervals=list(intervals), events=list(events),
    )  # fmt: skip
    mobile._show_run(robot, run, html, as_json)
    return robot, capsys.readouterr().out


EVENTS = [
    SimpleNamespace(t=0.125 * k, kind="contact", wheel=f"w{k}", lost=k % 2 == 0) for k in range(25)
]


def test_a_machine_s_run_is_told(capsys):
    robot, text = told(capsys, EVENTS, [(0.5, 0.75)], "page.html")
    lines = text.splitlines()
    assert lines[0] == "tanner2001: 2 s, success"
    ends = ", ".join(f"{n} {v}" for n, v in zip(robot.coordinate_names, range(6, 12)))
    assert lines[1] == f"at the end: {ends}"
    assert lines[2] == "lowest tip-over measure 1.25 N rad, most friction needed 0.45"
    assert lines[3] == "tips between 0.500 s and 0.750 s"
    assert lines[4:6] == ["0.000 s: w0 loses contact", "0.125 s: w1 finds contact"]
    assert len(lines) == 4 + 20 + 1 and lines[-1] == "wrote page.html"
    assert "wrote" not in told(capsys)[1]


def test_a_machine_s_run_is_told_to_machines(capsys):
    robot, text = told(capsys, EVENTS[:2], [(0.5, 0.75)], "page.html", as_json=True)
    data = json.loads(text)
    assert data["q_end"] == dict(zip(robot.coordinate_names, range(6, 12)))
    assert data["z_end"] == dict(zip(robot.speed_names, range(4, 8)))
    assert (data["t_end"], data["lowest_measure"], data["friction_needed"]) == (2.0, 1.25, 0.45)
    assert data["events"] == [[0.0, "contact", "w0", "lost"], [0.125, "contact", "w1", "found"]]
    assert data["files"] == ["page.html"] and data["intervals"] == [[0.5, 0.75]]
    assert json.loads(told(capsys, as_json=True)[1])["files"] == []


def test_coordinates_that_are_lengths_take_no_degrees():
    machine = library.mobile.load("tanner2001")
    q, z, tau = mobile._state(machine, "1,2,90deg,180deg,0,45deg", None, "3")
    np.testing.assert_allclose(q, [1, 2, np.pi / 2, np.pi, 0, np.pi / 4])
    assert z == [0.0] * 4 and tau == [3.0] * len(machine.input_names)
    for given in (("1deg,0,0,0,0,0", None, None), (None, "1deg,0,0,0", None), (None, None, "1deg")):
        with pytest.raises(DynarmError, match="no angle"):
            mobile._state(machine, *given)


def test_what_is_asked_of_a_standing_machine_is_answered():
    words = ["mobile", "tanner2001", "--z0", "3,0,2,0", "--json"]
    free, rough, smooth = (
        json.loads(dynarm(*words, *more).check().out)
        for more in ([], ["--adhesion", "100"], ["--adhesion", "0"])
    )
    assert free["admissible"] is None
    assert rough["admissible"] is True or free["tipover_measure"] < 0
    assert smooth["admissible"] is False
    text = dynarm("mobile", "tanner2001").check().out
    assert "admissible" not in text and "coordinates q: x, y" in text


def test_a_case_that_does_not_hold_has_exit_code_1(monkeypatch, tmp_path):
    from dynarm.mobile import cases

    sound = cases.run(3)
    doubtful = replace(sound.findings[0], holds=False)
    for found, code, word in (
        (sound, 0, "PASS"),
        (replace(sound, findings=(doubtful, *sound.findings[1:])), 1, "FAIL"),
    ):
        monkeypatch.setattr(cases, "run", lambda case, f=found: f)
        data = dynarm("mobile", "tanner2001", "--case", "3", "--json", folder=tmp_path)
        assert data.code == code and json.loads(data.out)["verdict"] == word
        assert json.loads(data.out)["files"] == [] and not list(tmp_path.iterdir())
        text = dynarm("mobile", "tanner2001", "--case", "3", "--html", "c.html", folder=tmp_path)
        assert text.code == code and text.out.endswith("wrote c.html\n")
        assert text.out.count("FAILS") == code
        page = (tmp_path / "c.html").read_text(encoding="utf-8")
        assert ("a statement does not hold" in page) == bool(code)
        assert page.count('class="bad"') == code
        (tmp_path / "c.html").unlink()


# ---- view


def test_a_machine_without_cases_rolls_ahead_for_two_seconds(monkeypatch):
    import dynarm.view.viewer as viewer

    made = []
    monkeypatch.setattr(viewer, "MobileViewer", lambda *args: made.append(args) or "viewer")
    assert view._mobile_viewer("diffdrive_puma560", None, 81) == "viewer"
    _, run, port = made[0]
    assert port == 81 and run.t[-1] == 2.0
    np.testing.assert_array_equal(run.z[0], [0.5] + [0.0] * (run.z.shape[1] - 1))
    np.testing.assert_array_equal(run.q[0], 0.0)


def test_a_file_is_a_machine_s_where_it_has_a_platform(tmp_path):
    (tmp_path / "m.toml").write_text("[platform]\n")
    (tmp_path / "a.toml").write_text('name = "a"\n')
    (tmp_path / "b.toml").write_text("a = [")
    (tmp_path / "m.urdf").write_text("[platform]\n")
    names = ("m.toml", "a.toml", "b.toml", "m.urdf", "none.toml")
    told = [view._is_mobile(str(tmp_path / name)) for name in names]
    assert told == [True, False, False, False, False]
    assert view._is_mobile("tanner2001") and not view._is_mobile("two_link")


# ---- count, compile, info, excite, validate


def test_the_papers_numbers_stand_beside_generic_arms_of_their_type():
    """Renaud, type 1 and n = 6: 10 n^2 + ...; another type or principal axes have other polynomials."""
    from dynarm.reproductions.published import published

    for kind, principal in ((1, False), (2, False), (1, True)):
        words = ["count", "--n", "4", "-q", "mass_matrix", "--type", str(kind), "--json"]
        data = json.loads(dynarm(*words, *(["--principal"] if principal else [])).check().out)
        (rows,) = [quantities["mass_matrix"] for quantities in data.values()]
        for row in rows:
            if row["mul"] == "":
                continue
            printed = published("mass_matrix", row["formulation"], kind, 4, principal)
            assert row["printed"] == ("" if printed is None else "{} / {}".format(*printed.at(4)))
            corrected = None if printed is None else printed.corrected_at(4)
            assert row["corrected"] == ("" if corrected is None else "{} / {}".format(*corrected))
        totals = [row["mul"] + row["add"] for row in rows if row["mul"] != ""]
        assert totals == sorted(totals) and len(totals) > 2


def test_all_quantities_are_counted_unless_one_is_named(monkeypatch):
    from dynarm.dynamics.table import DIFFERENTIATED, QUANTITIES

    asked = []
    monkeypatch.setattr(
        count, "costs", lambda arm, q, generic, done=None: asked.append((arm.n, q, generic)) or []
    )
    dynarm("count", "two_link", "--json").check()
    assert [q for _, q, _ in asked] == [q for q in QUANTITIES if q not in DIFFERENTIATED]
    asked.clear()
    dynarm("count", "--n", "59..60", "-q", "bias", "--json").check()
    assert asked == [(59, "bias", (1, False)), (60, "bias", (1, False))]
    asked.clear()
    dynarm("count", "--n", "1", "-q", "bias", "--type", "1", "--principal", "--json").check()
    assert asked == [(1, "bias", (1, True))]


def test_a_long_arm_is_spared_what_grows_fast():
    short, long = (
        library.Arm(tuple(library.Joint(mass=1.0, a=0.1) for _ in range(n))) for n in (3, 13)
    )
    names = [
        {row["formulation"] for row in count.costs(arm, "mass_matrix")} for arm in (short, long)
    ]
    assert names[1] < names[0]


def test_a_whole_work_is_reported_as_one(monkeypatch):
    """What the bar is told ends at 1, in even steps."""
    from contextlib import contextmanager

    parts = []

    @contextmanager
    def noted(what):
        yield parts.append

    monkeypatch.setattr(count, "progress", noted)
    monkeypatch.setattr(compile_command, "progress", noted)
    monkeypatch.setattr(count, "costs", lambda *_: [])
    dynarm("count", "--n", "3..6", "-q", "bias", "--json").check()
    assert parts == [0.25, 0.5, 0.75, 1.0]
    parts.clear()
    monkeypatch.setattr(compile_command, "measured", lambda model, name: {"quantity": name})
    dynarm("compile", "two_link", "-q", "gravity,bias", "--json").check()
    assert parts == [0.5, 1.0]


def test_times_are_told_in_the_units_of_their_columns(monkeypatch):
    """A clock that ticks once a call: each call lasts 2 s of it, and the best of some is taken."""
    model = library.compile(library.load("two_link"))
    monkeypatch.setattr(compile_command, "best", lambda ufunc, args, repeats: 3e-6 * len(args[0]))
    row = compile_command.measured(model, "inverse_dynamics")
    assert row["one call [us]"] == 6.0 and row["batch [ns/sample]"] == 3000.0
    counted = model.graph("inverse_dynamics").count()
    assert (row["mul"], row["add"], row["joints"]) == (counted.mul, counted.add, 2)
    ticks = iter([0.0, 5.0, 10.0, 12.0, 20.0, 23.0])
    monkeypatch.undo()
    monkeypatch.setattr(compile_command.time, "perf_counter", lambda: next(ticks))
    calls = []
    assert compile_command.best(lambda *args: calls.append(args), [1, 2], 3) == 2.0
    assert calls == [(1, 2)] * 3


def test_the_next_best_is_the_cheapest_of_the_others():
    arm = library.load("two_link")
    rows = count.costs(arm, "mass_matrix")
    (choice,) = info.choices(arm, {"mass_matrix": rows})
    others = [r for r in rows if r["formulation"] != choice["chosen"]]
    best = min(others, key=lambda r: r["mul"] + r["add"])
    assert choice["next best"] == f"{best['formulation']} ({best['mul'] + best['add']})"
    assert choice["compared"] == len(rows)
    (alone,) = info.choices(arm, {"mass_matrix": [r for r in rows if r not in others]})
    assert alone["next best"] == "" and alone["compared"] == 1


def test_samples_must_show_the_highest_harmonic():
    excite._check_times(5.0, 4.0, 10)  # two samples a period of the highest, just enough
    excite._check_times(1.0, 400.0, 200)
    for duration, rate, harmonics in ((5.0, 3.9, 10), (5.0, 100.0, 201), (5.0, 100.0, 1)):
        with pytest.raises(DynarmError):
            excite._check_times(duration, rate, harmonics)
    excite._check_times(5.0, 100.0, 2)


def test_limits_of_a_motion_are_read_in_their_units():
    arm = library.load("two_link")
    made = excite._limits(arm, "90deg", "1,inf", "5,6", "-1,-2,-3,1,2,3")
    assert made == {
        "velocity": [np.pi / 2] * 2, "acceleration": [1.0, np.inf], "torque": [5.0, 6.0],
        "box": ([-1.0, -2.0, -3.0], [1.0, 2.0, 3.0]),
    }  # fmt: skip
    assert excite._limits(arm, None, None, None, None) == {}
    for box in ("0,0,0,1,1,0", "0,0,0,0,1,1"):
        with pytest.raises(DynarmError, match="each lowest below its highest"):
            excite._limits(arm, None, None, None, box)


def test_an_error_at_the_limit_passes_and_one_that_is_no_number_fails():
    arm = library.load("two_link")
    zero = np.zeros((2, 2))
    check = Validation(np.ones(2), np.array([0.5, np.nan]), np.arange(2.0), zero, zero, "l.csv")
    verdict = judged(arm, [check], 0.5)
    assert not verdict.passed and [r.split(":")[0] for r in verdict.reasons] == ["joint elbow"]


def test_units_of_errors_are_those_of_the_joints(tmp_path):
    arm = library.load("scara")
    from dynarm.cli.files import write_log
    from dynarm.cli.rehearsal import simulated_log
    from dynarm.identify.design.trajectory import Series

    series = Series(4.0, 3)
    t = np.arange(401) / 100
    x = series.random(np.random.default_rng(1), 4)
    write_log(simulated_log(arm, t, *(B @ x.T for B in series.basis(t))), tmp_path / "l.csv")
    text = dynarm("validate", "scara", "l.csv", folder=tmp_path).out
    rows = [
        line
        for line in text.splitlines()
        if line.split()[:1] and line.split()[0] in arm.joint_names
    ]
    units = [" ".join(row.split()[2:-1]) for row in rows]
    assert units == ["N m" if j.revolute else "N" for j in arm.joints] and len(set(units)) == 2


@pytest.mark.parametrize(("single", "bounded"), [(False, False), (True, True)])
def test_export_says_what_a_function_takes(single, bounded, tmp_path):
    words = ["export", "two_link", "-q", "gravity", "--name", "my"]
    words += ["--single"] * single + ["--bounded-stack"] * bounded
    text = dynarm(*words, folder=tmp_path).check().out
    assert (tmp_path / "my_c").is_dir() and "\n  my_gravity\n" in text
    last = text.splitlines()[-1]
    assert last.startswith(
        "stack of any function: at most " if bounded else "temporaries of any function: "
    )
    assert last.endswith(f"bytes; {'float' if single else 'double'}, 2 joints")


def test_rows_of_a_listing_add_up_and_what_no_paper_lists_is_refused():
    words = ["count", "--n", "6", "--rows", "-q", "inverse_dynamics", "--formulation"]
    (one,) = json.loads(dynarm(*words, "minimal_newton_euler", "--json").check().out)
    *lines, total = one["rows"]
    assert (
        total[2:] == [sum(line[k] for line in lines) for k in range(2, 6)] == [451, 390, 413, 351]
    )
    *rows, both = one["ours"]
    assert both[1:7] == [sum(row[k] for row in rows) for k in range(1, 7)]
    assert both[5] < total[4] and both[6] < total[5]
    refusal = dynarm(*words, "gathered_newton_euler").refusal()
    assert "no paper lists inverse_dynamics by gathered_newton_euler line by line" in refusal
    slides = dynarm(
        "count", "scara", "--rows", "-q", "inverse_dynamics", "--formulation", "lagrange"
    )
    assert "rotational joints only" in slides.refusal()


def test_latex_of_a_short_arm_has_its_equations_and_of_a_long_one_its_parameters():
    short, long = (dynarm("info", name, "--latex").check().out for name in ("two_link", "puma560"))
    assert short.count(r"\begin{align*}") == 2 and "M_{11} &=" in short
    assert long.count(r"\begin{align*}") == 1 and r"\hat{U}_{6,33}" in long


def test_a_run_by_a_formulation_is_the_same_run():
    words = ["simulate", "two_link", "--q0", "0.3", "--time", "0.5", "--json"]
    ways = [[], ["--formulation", "base_composite"], ["--formulation", "renaud+lagrange"]]
    ways.append(["--formulation", "strobed_modified+modified_newton_euler"])
    ends = [json.loads(dynarm(*words, *way).check().out) for way in ways]
    last = [end["q_end"] for end in ends]
    assert all(np.allclose(last[0], other, atol=1e-9) for other in last[1:])
    refused = dynarm(*words, "--formulation", "renaud")
    assert "renaud" in refused.refusal()
