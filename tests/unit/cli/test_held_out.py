"""What `identify` says about logs that it did not fit: the status beside the verdict, and how the end is cut off."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from program import dynarm

import dynarm as library
from dynarm.cli.files import write_log
from dynarm.cli.rehearsal import simulated_log
from dynarm.identify.design.trajectory import Series
from dynarm.identify.judgement.verdict import Reason, Verdict
from dynarm.identify.logs.log import Log
from dynarm.identify.logs.splitting import hold_out


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    """Logs of a robot: sound.csv, and spoiled.csv whose last three of ten seconds belong to a heavier one."""
    folder = tmp_path_factory.mktemp("held")
    arm = library.load("two_link")
    series = Series(10.0, 5)
    x = series.random(np.random.default_rng(5), arm.n) * 0.8
    t = 100.0 + np.arange(1001) / 100
    q, qd, qdd = (B @ x.T for B in series.basis(t - t[0]))
    own, other = (simulated_log(a, t, q, qd, qdd, noise=0.01) for a in (arm, arm.with_payload(8.0)))
    late = (t - t[0] >= 7.0)[:, None]
    write_log(own, folder / "sound.csv")
    write_log(replace(own, tau=np.where(late, other.tau, own.tau)), folder / "spoiled.csv")
    return folder


def identified(log: str, *words: str, folder: Path):
    return dynarm("identify", "two_link", log, "--force", *words, folder=folder)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["spoiled.csv", "--hold-out", "0.3"], "from 7 s on"),
        (["sound.csv", "--validate", "spoiled.csv"], "on spoiled.csv"),
        (["sound.csv", "--limit", "1e-6"], "on the fitted log"),
    ],
    ids=["held out", "another log", "a strict limit"],
)
def test_no_status_says_ok_beside_fail(words, reason, place):
    found = identified(*words, folder=place)
    assert found.code == 1 and "\nFAIL\n" in found.out
    (status,) = [k for k in found.out.splitlines() if k.startswith(("ok;", "doubtful: "))]
    assert status.startswith("doubtful: joint ") and reason in status
    data = json.loads(identified(*words, "--json", folder=place).out)
    assert data["status"] == status and data["verdict"] == "FAIL"
    page = (place / "identified" / "report.html").read_text(encoding="utf-8")
    notes = [part.split("</p>")[0] for part in page.split('<p class="note">')[1:]]
    assert any(n.startswith("doubtful: joint ") and reason in n for n in notes)
    assert not any(n.startswith("ok") for n in notes)


def test_a_sound_fit_is_ok_and_passes(place):
    found = identified("sound.csv", "--hold-out", "0.3", folder=place).check()
    assert "\nPASS\n" in found.out
    (status,) = [k for k in found.out.splitlines() if k.startswith(("ok;", "doubtful: "))]
    assert status.startswith("ok")


def test_a_status_keeps_what_follows_ok():
    failed, passed = Verdict((Reason("joint a: error 2.00"),)), Verdict()
    assert failed.qualified("ok; fine") == "doubtful: joint a: error 2.00; fine"
    assert passed.qualified("ok; fine") == "ok; fine"
    assert failed.qualified("doubtful: rank 3; fine") == "doubtful: rank 3; fine"


def test_the_end_is_cut_off_as_the_library_does(place):
    """The whole log's samples, each in one part; a clock that does not begin at 0 makes no difference."""
    log = Log.read(place / "sound.csv")
    first, last = hold_out(log, 0.25)
    assert len(first) + len(last) == len(log) and len(first) == 750
    data = json.loads(identified("sound.csv", "--hold-out", "0.25", "--json", folder=place).out)
    fit = library.Identifier(library.load("two_link")).fit(first)
    np.testing.assert_allclose([p["value"] for p in data["parameters"]], fit.values_, rtol=1e-6)
    (check,) = data["validation"]
    np.testing.assert_allclose(check["relative"], fit.validate(last).relative, rtol=1e-6)
    assert check["log"] == "sound.csv from 7.5 s on"


def test_every_log_is_cut_and_others_are_kept_whole(place):
    words = ["identify", "two_link", "sound.csv", "spoiled.csv", "--validate", "sound.csv"]
    words += ["--hold-out", "0.5", "--force", "--json"]
    data = json.loads(dynarm(*words, folder=place).out)
    assert [c["log"] for c in data["validation"]] == [
        "sound.csv", "sound.csv from 5 s on", "spoiled.csv from 5 s on",
    ]  # fmt: skip


@pytest.mark.parametrize("share", ["1e-9", "0.0005"])
def test_a_part_of_less_than_two_samples_is_refused(share, place):
    told = identified("sound.csv", "--hold-out", share, folder=place).refusal()
    assert f"--hold-out is {float(share):g}" in told and "sound.csv" in told
