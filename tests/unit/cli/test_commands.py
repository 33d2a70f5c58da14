"""Every command: its help's examples run as printed, JSON is JSON, results are what the library computes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from program import dynarm, examples

import dynarm as library
from dynarm.cli import demo as demo_command
from dynarm.cli.app import COMMANDS
from dynarm.plan.choice import cheapest
from dynarm.reproductions.published import counted_on
from dynarm.robot.frames.generic import generic_arm

SERVED = {"view"}  # runs until it is stopped: tests/unit/view
FINISHED = [c for c in COMMANDS if c not in SERVED]


@pytest.mark.parametrize("command", FINISHED)
def test_examples_of_the_help_run_as_printed_in_a_clean_folder(command, tmp_path):
    for words in examples(command):
        found = dynarm(*words, folder=tmp_path).check()
        assert found.out.strip()
        assert "Traceback" not in found.err
        left = [p.name for p in tmp_path.rglob("*") if p.name.startswith(".")]
        assert not left, f"{words} left {left}"


def test_the_programs_own_examples_are_among_those_that_are_run():
    text = dynarm("--help").check().out
    shown = [line.split()[2:] for line in text.splitlines() if line.strip().startswith("$ dynarm")]
    assert shown and all(words in examples(words[0]) for words in shown)


def test_every_command_of_the_contract_is_there():
    contract = "demo robots info count compile export excite identify validate simulate mobile view"
    assert " ".join(COMMANDS) == contract
    text = dynarm("--help").check().out
    assert all(f"  {name} " in text for name in COMMANDS)


def test_without_words_the_program_shows_its_help():
    assert dynarm().check().out.startswith("Usage: dynarm")
    assert dynarm("--version").check().out == f"dynarm {library.__version__}\n"


JSON_CALLS = {
    "info": ["two_link"],
    "count": ["two_link", "-q", "mass_matrix"],
    "compile": ["two_link", "-q", "gravity"],
    "export": ["two_link", "c", "-q", "gravity"],
    "excite": ["two_link", "-d", "5", "--harmonics", "3", "--starts", "1", "--log", "log.csv"],
    "identify": ["two_link", "log.csv"],
    "validate": ["two_link", "log.csv"],
    "simulate": ["two_link", "--time", "0.5"],
    "mobile": ["tanner2001", "--case", "3"],
}


@pytest.fixture(scope="module")
def recorded(tmp_path_factory) -> Path:
    """A folder with a simulated log."""
    folder = tmp_path_factory.mktemp("recorded")
    dynarm("excite", *JSON_CALLS["excite"], folder=folder).check()
    return folder


@pytest.mark.parametrize("command", JSON_CALLS)
def test_json_is_one_document_and_nothing_else(command, recorded, tmp_path):
    words = [
        str(recorded / w) if w == "log.csv" and command != "excite" else w
        for w in JSON_CALLS[command]
    ]
    found = dynarm(command, *words, "--json", folder=tmp_path).check()
    assert isinstance(json.loads(found.out), dict)


def test_info_tells_what_the_library_computes():
    data = json.loads(dynarm("info", "scara", "--json").check().out)
    arm = library.load("scara")
    minimal = library.minimal_parameters(arm)
    assert data["minimal_parameters"]["names"] == list(minimal.names)
    np.testing.assert_array_equal(data["minimal_parameters"]["values"], minimal.values)
    assert data["chosen"] == {q: cheapest(arm, q).name for q in data["chosen"]}
    for quantity, rows in data["counts"].items():
        for row in rows:
            counted = library.count(arm, quantity, row["formulation"])
            assert (row["mul"], row["add"], row["path"]) == (
                counted.mul,
                counted.add,
                counted.depth,
            )


def test_info_takes_a_chain_of_a_urdf(tmp_path):
    library.load("scara").save(tmp_path / "my robot é.urdf")
    whole = dynarm("info", "my robot é.urdf", "--json", folder=tmp_path).check()
    assert len(json.loads(whole.out)["joints"]) == 4
    link = library.load(tmp_path / "my robot é.urdf").origin.links[1]
    part = dynarm("info", "my robot é.urdf", "--tip", link, "--json", folder=tmp_path).check()
    assert len(json.loads(part.out)["joints"]) == 2


def test_count_sets_the_printed_polynomials_beside_the_counts():
    data = json.loads(dynarm("count", "--n", "3", "-q", "mass_matrix", "--json").check().out)
    rows = {row["formulation"]: row for row in data["generic_type1_3"]["mass_matrix"]}
    minimal = rows["minimal_composite_1"]  # 10 n^2 + 14 n - 37, 6 n^2 + 23 n - 53; row sums: - 39
    assert (minimal["printed"], minimal["corrected"]) == ("95 / 70", "93 / 70")
    assert rows["renaud"]["printed"] == "121 / 95"  # lin1991, Table I
    assert rows["kawasaki_2"]["mul"] == "" and rows["kawasaki_2"]["printed"]
    text = dynarm("count", "--n", "4..5", "--type", "2", "-q", "inverse_dynamics").check().out
    assert "generic_type2_4, 4 joints" in text and "generic_type2_5, 5 joints" in text


def test_a_listing_is_taken_apart_and_written_as_a_page(tmp_path):
    """Without a formulation the cheapest that is listed; the page has the rows that are printed."""
    page = tmp_path / "rows.html"
    words = ("count", "--n", "6", "--rows", "-q", "mass_matrix")
    told = dynarm(*words, "--formulation", "base_composite", "--html", str(page)).check().out
    assert "wrote" in told and "1_6" in told
    html = page.read_text(encoding="utf-8")
    assert all(f">{x}<" in html for x in ("524", "380", "506", "375", "430", "342"))
    assert "J^_i" not in html and "p^_i" in html
    chosen = json.loads(dynarm(*words, "--json").check().out)[0]
    listed = {"base_composite", "renaud", "walker_orin", "fijany_bejczy", "minimal_composite_1"}
    least = min(library.count(generic_arm(6, 1), "mass_matrix", f).total for f in listed)
    assert sum(chosen["ours"][-1][5:7]) <= least


def test_a_listing_is_counted_on_the_arm_that_its_paper_means():
    data = json.loads(dynarm("count", "--n", "6", "-q", "inverse_dynamics", "--json").check().out)
    rows = {row["formulation"]: row for row in data["generic_type1_6"]["inverse_dynamics"]}
    # 86 n - 103, 74 n - 93: joint 1 of lin1995's arm feels gravity, that of the generic arm does not
    assert rows["minimal_newton_euler"]["by its listing"] == "413 / 351"
    ours = library.count(generic_arm(6, 1), "inverse_dynamics", "minimal_newton_euler")
    assert rows["minimal_newton_euler"]["mul"] == ours.mul
    assert ours.as_printed.mul < 413
    meant = library.count(
        counted_on("lin1995", 6, 1, False), "inverse_dynamics", "minimal_newton_euler"
    )
    assert rows["minimal_newton_euler"]["here on its arm"] == f"{meant.mul} / {meant.add}"
    assert rows["gathered_newton_euler"]["here on its arm"] == ""


def test_principal_axes_lie_along_the_frames_of_the_paper():
    """85 n - 89 / 70 n - 79 in turney1980's standard frames; along our own frames its recursion costs more."""
    words = ("count", "--n", "6", "--principal", "-q", "inverse_dynamics", "--json")
    [rows] = json.loads(dynarm(*words).check().out)["generic_type1_6"].values()
    row = {row["formulation"]: row for row in rows}["modified_newton_euler"]
    assert (row["here on its arm"], row["printed"]) == ("421 / 341", "513 / 504")
    assert row["mul"] > 421 and row["add"] > 341


def test_export_writes_code_that_says_so(tmp_path):
    found = json.loads(
        dynarm("export", "two_link", "-q", "gravity,bias", "--json", folder=tmp_path).check().out
    )
    assert found["functions"] == ["two_link_gravity", "two_link_bias"]
    assert sorted(p.name for p in (tmp_path / "two_link_c").iterdir()) == found["files"]
    assert "not empty" in dynarm("export", "two_link", folder=tmp_path).refusal()
    dynarm("export", "two_link", "-q", "gravity", "--force", folder=tmp_path).check()


def test_identify_writes_a_model_that_validates(recorded, tmp_path):
    log = str(recorded / "log.csv")
    data = json.loads(dynarm("identify", "two_link", log, "--json", folder=tmp_path).check().out)
    assert data["verdict"] == "NOT VALIDATED" and data["validation"] == []
    written = sorted(p.name for p in (tmp_path / "identified").iterdir())
    assert written == ["c", "fit.toml", "identified.urdf", "model.toml", "report.html"]
    assert all((tmp_path / name).exists() for name in data["files"])
    again = json.loads(
        dynarm("validate", "identified/model.toml", log, "--json", folder=tmp_path).check().out
    )
    # the log's noise is 0.02
    assert again["verdict"] == "PASS" and max(again["validation"][0]["relative"]) < 0.03
    urdf = dynarm("validate", "identified/identified.urdf", log, "--json", folder=tmp_path)
    assert json.loads(urdf.check().out)["verdict"] == "PASS"
    assert "not empty" in dynarm("identify", "two_link", log, folder=tmp_path).refusal()
    held = dynarm(
        "identify", "two_link", log, "--hold-out", "0.3", "--force", "--json", folder=tmp_path
    )
    assert len(json.loads(held.out)["validation"]) == 1


def test_a_model_that_does_not_fit_fails_with_exit_code_1(recorded, tmp_path):
    arm = library.load("two_link")
    heavier = arm.with_payload(20.0)
    heavier.save(tmp_path / "heavier.toml")
    found = dynarm(
        "validate", "heavier.toml", str(recorded / "log.csv"), "--html", "v.html", folder=tmp_path
    )
    assert found.code == 1 and "FAIL" in found.out and "joint shoulder" in found.out
    assert "FAIL" in (tmp_path / "v.html").read_text(encoding="utf-8")


def test_simulate_saves_what_can_be_read_again(tmp_path):
    words = ["simulate", "two_link", "--q0", "30deg,0", "--time", "0.2"]
    for name in ("run.npz", "run.parquet", "run.csv"):
        dynarm(*words, "--save", name, folder=tmp_path).check()
    stored = np.load(tmp_path / "run.npz")
    assert stored["q"][0] == pytest.approx([np.pi / 6, 0])
    log = library.Log.read(tmp_path / "run.csv")
    np.testing.assert_allclose(log.q, stored["q"], atol=1e-8)


def test_control_reaches_its_target():
    words = [
        "simulate",
        "scara",
        "--control",
        "computed_torque",
        "--target",
        "0.3",
        "--time",
        "2",
        "--json",
    ]
    data = json.loads(dynarm(*words).check().out)
    np.testing.assert_allclose(data["q_end"], 0.3, atol=1e-3)


def test_a_run_that_ends_early_is_told_and_kept(tmp_path):
    link = 'mass = 1.0\ncom = [0.3, 0, 0]\nalpha = "pi/2"\nposition_limits = [-1, 1]\n'
    (tmp_path / "pendulum.toml").write_text(f'name = "pendulum"\n[[joints]]\n{link}')
    words = ["simulate", "pendulum.toml", "--time", "2", "--limits", "stop", "--json"]
    data = json.loads(dynarm(*words, folder=tmp_path).check().out)
    assert data["status"] == "event" and data["t_end"] < 2 and data["events"]


def test_mobile_tells_how_it_stands_and_checks_the_paper(tmp_path):
    data = json.loads(dynarm("mobile", "tanner2001", "--adhesion", "0.5", "--json").check().out)
    robot = library.mobile.load("tanner2001")
    forces = robot.wheel_forces(np.zeros(6), np.zeros(4), np.zeros(8))
    np.testing.assert_allclose(list(data["wheel_forces"].values()), forces)
    assert data["admissible"] is True
    found = dynarm("mobile", "tanner2001", "--case", "4", folder=tmp_path).check()
    assert "risk near q1 = 90 and 270 degrees" in found.out and "FAILS" not in found.out
    assert (tmp_path / "tanner2001_case4.html").exists()


def test_the_demo_does_not_touch_an_older_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert demo_command._free() == Path("dynarm-demo")
    for name in ("dynarm-demo", "dynarm-demo-2"):
        (tmp_path / name).mkdir()
    assert demo_command._free() == Path("dynarm-demo-3")
    (tmp_path / "dynarm-demo" / "mine.txt").write_text("keep")
    assert "not empty" in dynarm("demo", "--out", "dynarm-demo").refusal()


def test_starting_up_loads_nothing_heavy():
    heavy = [
        "numpy",
        "scipy",
        "casadi",
        "llvmlite",
        "pandas",
        "plotly",
        "jinja2",
        "clarabel",
        "viser",
    ]
    script = (
        "import sys; from dynarm.cli.app import build; build(); "
        f"print([m for m in {heavy} if m in sys.modules])"
    )
    found = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert found.stdout.strip() == "[]"
