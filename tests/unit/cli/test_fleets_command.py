"""dynarm identify --by: tables and a page of a fleet."""

import json

import numpy as np
import pandas as pd
import pytest
from benchmarks import simulated_fleets as fleets
from program import dynarm as program

import dynarm

PLAIN = ("viscous", "coulomb", "offset")


@pytest.fixture(scope="module")
def fleet(tmp_path_factory):
    """Six robots in folders, the last one with a heavy link, and their fit."""
    folder = tmp_path_factory.mktemp("fleet")
    rng, base = np.random.default_rng(8), dynarm.load("two_link")
    for k in range(6):
        arm = fleets.sound_robot(rng, base, 0.02, 0.02)
        log = fleets.recording(rng, fleets.with_heavy_link(arm, times=2.0) if k == 5 else arm, 5.0)
        columns = {"t": log.t} | {f"q{j + 1}": log.q[:, j] for j in range(2)}
        columns |= {f"tau{j + 1}": log.tau[:, j] for j in range(2)}
        (folder / f"robot=arm-{k}").mkdir()
        pd.DataFrame(columns).to_csv(folder / f"robot=arm-{k}" / "log.csv", index=False)
    return folder, dynarm.fit_fleet(base, folder, friction=PLAIN)


def identified(folder, out, *more):
    words = ["identify", "two_link", str(folder), "--by", "robot", "--out", str(out)]
    return program(*words, "--friction", ",".join(PLAIN), *more)


def test_tables_and_page_hold_what_the_library_finds(fleet, tmp_path):
    folder, expected = fleet
    done = identified(folder, tmp_path / "out")
    assert "arm-5" in done.check().out
    robots = pd.read_csv(tmp_path / "out" / "robots.csv")
    wide = robots.pivot(index="robot", columns="name", values="value")[list(expected.names)]
    assert wide.to_numpy() == pytest.approx(expected.values_, rel=1e-6, abs=1e-9)
    shared = pd.read_csv(tmp_path / "out" / "shared.csv")
    assert shared["mean"].to_numpy() == pytest.approx(expected.pool.mean, rel=1e-6, abs=1e-9)
    html = (tmp_path / "out" / "fleet.html").read_text()
    assert '"zmin":0,"zmax":10' in html and "kg m^2" not in html
    assert "1 stands out" in html and "What all share" in html and len(html) < 300_000


def test_the_map_of_robots_begins_with_the_first(fleet):
    from dynarm.report import fleet as pages

    _, expected = fleet
    (drawn,) = pages._heat(expected)["data"]
    assert list(drawn["y"]) == list(expected.robots)[::-1]  # figures draw upwards
    darkest = np.asarray(drawn["z"]).max(axis=1).argmax()
    assert drawn["y"][darkest] == "arm-5"


def test_figures_call_robots_by_their_names(fleet):
    from dynarm.report import fleet as pages

    _, expected = fleet
    drawn = pages._dots(expected, 0)
    ticks = drawn["layout"]["xaxis"]
    assert list(ticks["ticktext"]) == list(expected.robots)  # in their order
    assert list(ticks["tickvals"]) == list(range(len(expected.robots)))
    (dots,) = (one for one in drawn["data"] if one.get("name") == "robots")
    assert [list(expected.robots)[int(k)] for k in dots["x"]] == list(dots["text"])
    low, high = drawn["layout"]["yaxis"]["range"]
    values = expected.values_[:, 0]
    assert low < values.min() and values.max() < high


def test_json_says_who_stands_out(fleet, tmp_path):
    folder, expected = fleet
    told = json.loads(identified(folder, tmp_path / "out", "--json").check().out)
    assert told["robots"] == list(expected.robots)
    assert {one["robot"] for one in told["outliers"]} == {"arm-5"}
    assert told["spread"] == pytest.approx(expected.pool.spread.tolist(), rel=1e-6)


def test_options_of_one_robot_are_refused(fleet, tmp_path):
    folder, _ = fleet
    log = next(folder.glob("*/log.csv"))
    assert "--validate" in identified(folder, tmp_path / "out", "--validate", str(log)).refusal()
    assert not (tmp_path / "out").exists()


def test_robots_are_fitted_by_workers_of_this_machine(fleet, tmp_path):
    folder, expected = fleet
    identified(folder, tmp_path / "out", "--workers", "2").check()
    robots = pd.read_csv(tmp_path / "out" / "robots.csv")
    wide = robots.pivot(index="robot", columns="name", values="value")[list(expected.names)]
    assert wide.to_numpy() == pytest.approx(expected.values_, rel=1e-10, abs=1e-10)
