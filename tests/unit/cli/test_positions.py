"""dynarm identify --kp --kd: from a file of positions and commands to MJCF."""

from __future__ import annotations

import json

import numpy as np
import pytest

import dynarm
from dynarm.cli.app import run as main
from oracles.position_log import recorded, truth


def test_drives_from_a_file(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    true = truth(dynarm.load("two_link"), [80.0, 50.0], 3.0, [0.3, 0.5], 1.0)
    log = recorded(true, 6.0)
    table = np.column_stack([log.t, log.q, log.q_command])
    np.savetxt("log.csv", table, delimiter=",", header="t,q1,q2,q_cmd_1,q_cmd_2", comments="")
    words = ["identify", "two_link", "log.csv", "--kp", "80,50", "--kd", "3", "--hold-out", "0.3"]
    assert main([*words, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert abs(told["delay"] - 0.006) < 3 * told["delay_std"]
    values = np.array([[p["value"], p["std"]] for p in told["parameters"]])
    assert (np.abs(values[:, 0] - true.drives.ravel()) < 3.5 * values[:, 1]).all()
    (run,) = told["rollouts"]
    assert run["mean"] < 0.3 and run["described"] > 5 * run["mean"]
    again = dynarm.load("identified/identified.xml")
    assert np.isclose(again.joints[0].armature, values[0, 0])
    assert main([*words, "--force"]) == 0
    assert "rollout error" in capsys.readouterr().out
    assert main(["identify", "two_link", "log.csv", "--kp", "0", "--force"]) == 2
    assert main(["identify", "two_link", "log.csv", "--kp", "x", "--force"]) == 2


@pytest.mark.parametrize(
    "words",
    [
        "--estimator ols",
        "--friction viscous",
        "--shape tanh",
        "--asymmetric",
        "--no-armature",
        "--prior",
        "--feasible",
        "--cutoff 9",
        "--limit 0.2",
    ],
)
def test_options_for_torques_are_refused_by_name(words, capsys):
    line = ["identify", "two_link", "nothing.csv", "--kp", "80", *words.split()]
    assert main(line) == 2
    told = capsys.readouterr().err
    assert f"{words.split()[0]} is for logs with torques" in " ".join(told.split())
