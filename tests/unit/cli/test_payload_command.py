"""dynarm identify --payload: what an arm carries, from files, by a fit or by logs without it."""

from __future__ import annotations

import json
import tomllib
from dataclasses import replace

import numpy as np
import pytest
from program import dynarm as program

import dynarm
from oracles.simulated_log import noisy_log

MASS, COM = 2.0, (0.02, -0.01, 0.1)
PLAIN = ("--friction", "viscous,coulomb", "--shape", "sign", "--cutoff", "15")


def written(path, log):
    names = [f"{word}{j + 1}" for word in ("q", "tau") for j in range(log.q.shape[1])]
    table = np.column_stack([log.t, log.q, log.tau])
    np.savetxt(path, table, delimiter=",", header=",".join(["t", *names]), comments="")


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with logs of a robot without and with a payload, and the fit of the first."""
    folder = tmp_path_factory.mktemp("payload")
    puma = dynarm.load("puma560")
    drive = dynarm.Friction(viscous=0.6, coulomb=0.9)
    arm = replace(puma, joints=tuple(replace(j, friction=drive) for j in puma.joints))
    written(folder / "log.csv", noisy_log(arm, 0.2, seed=1))
    loaded = arm.with_payload(MASS, COM, 0.01 * np.eye(3))
    written(folder / "with.csv", noisy_log(loaded, 0.2, seed=2, motion=5))
    arm.save(folder / "arm.toml")
    # too slow and too short for PASS or FAIL to matter here
    done = program("identify", "arm.toml", "log.csv", *PLAIN, folder=folder)
    assert done.code in (0, 1), done.err
    return folder


def test_the_fit_that_identify_wrote_and_a_log_give_the_mass_with_its_certainty(place):
    words = ("identify", "--payload", "with.csv", "--base", "identified/fit.toml", "--out", "a")
    told = json.loads(program(*words, "--json", folder=place).check().out)
    assert abs(told["mass"] - MASS) < 4 * told["mass_std"] and told["mass_std"] < 0.05
    assert (np.abs(np.subtract(told["com"], COM)) < 4 * np.array(told["com_std"])).all()
    assert all(0 < s < np.inf for s in told["inertia_std"])
    shoulder = told["rmse"][1]
    assert shoulder["alone"] > 5 * shoulder["with_payload"]
    kept = tomllib.loads((place / "a" / "payload.toml").read_text())
    assert kept["mass"] == told["mass"] and kept["com"] == told["com"]
    carrying = dynarm.load(place / "a" / "model.toml")
    empty = dynarm.load_fit(place / "identified" / "fit.toml").arm_
    assert carrying.parameters[-1, 0] - empty.parameters[-1, 0] == pytest.approx(told["mass"])


def test_what_is_printed(place):
    words = ("identify", "arm.toml", "--payload", "with.csv", "--base", "identified/fit.toml")
    out = program(*words, "--out", "b", folder=place).check().out
    (line,) = [row for row in out.splitlines() if row.startswith("mass ") and "95 %" in row]
    low, high = (float(line.split()[k]) for k in (-4, -2))
    assert low < MASS < high
    assert "centre x" in out and "with the payload" in out
    assert "wrote payload.toml, model.toml into b" in out


def test_logs_without_the_payload_do_as_well(place):
    words = ("identify", "arm.toml", "log.csv", "--payload", "with.csv", "--out", "c", "--json")
    told = json.loads(program(*words, folder=place).check().out)
    assert abs(told["mass"] - MASS) < 0.05


@pytest.mark.parametrize(
    "words, told",
    [
        ((), "ROBOT is missing"),
        (("arm.toml",), "LOGS are missing"),
        (("arm.toml", "--payload", "with.csv"), "--payload needs the arm without it"),
        (("--payload", "with.csv", "--base", "none.toml"), "no file none.toml"),
        (("--payload", "with.csv", "--base", "arm.toml"), "is not a fit"),
        (
            ("scara", "--payload", "with.csv", "--base", "identified/fit.toml"),
            "give its fit, or leave ROBOT out",
        ),
        (("--payload", "none.csv", "--base", "identified/fit.toml"), "none.csv"),
    ],
)
def test_what_is_missing_is_asked_for(place, words, told):
    assert told in program("identify", *words, "--out", "d", folder=place).refusal()
    assert not (place / "d").exists()
