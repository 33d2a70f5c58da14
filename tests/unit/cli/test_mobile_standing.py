"""dynarm mobile on a robot that stands: loads, slopes, payloads, stops; info, count and export of arms on wheels."""

from __future__ import annotations

import json

import numpy as np
import pytest
from program import dynarm

from dynarm import mobile
from dynarm.mobile.limits import UNITS
from oracles.example_robots import example_robot

CART = mobile.load("diffdrive_puma560")
POSE = [0.3, -0.5, 0.4, 0.0, 0.2, 0.1]
Q = [0.0, 0.0, 0.0, *POSE]
STILL = np.zeros(8)


def told(*words: str) -> dict:
    return json.loads(dynarm(*words, "--json").check().out)


def ups(data: dict) -> list[float]:
    return [force[2] for force in data["wheel_forces"].values()]


def test_pose_load_and_slope_reach_the_ground():
    where = ",".join(map(str, POSE))
    data = told(
        "mobile",
        "diffdrive_puma560",
        "--pose",
        where,
        "--load",
        "5,0,-20,0,1,0",
        "--slope",
        "6deg,3deg",
    )
    down = np.array([-np.tan(np.radians(6)), -np.tan(np.radians(3)), -1.0])
    gravity = 9.81 * down / np.linalg.norm(down)
    ground = CART.ground(Q, STILL, STILL, gravity, [5, 0, -20, 0, 1, 0])
    np.testing.assert_allclose(ups(data), ground.forces[:, 2], rtol=1e-9)
    assert (
        data["degrees_to_tip"] == pytest.approx(float(ground.degrees))
        and data["contact"] == "elastic"
    )
    assert data["mobility"] == CART.mobility


def test_a_payload_weighs_what_it_weighs():
    bare, heavy = (
        sum(ups(told("mobile", "diffdrive_puma560", *more))) for more in ((), ("--payload", "4"))
    )
    assert heavy - bare == pytest.approx(4 * 9.81, rel=1e-9)


def test_limits_and_stop_are_those_of_the_library():
    words = ("--adhesion", "0.6", "--stop-from", "1.2", "--contact", "best")
    data = told("mobile", "diffdrive_puma560", *words)
    limits = CART.limits(np.zeros(9), friction=0.6, contact="best")
    for name in UNITS:
        assert data["limits"]["values"][name] == pytest.approx(getattr(limits, name), rel=1e-6)
    stop = CART.emergency_stop(np.zeros(9), 1.2, 0.6, contact="best")
    assert (
        data["stop"]["distance"] == pytest.approx(stop.distance)
        and data["stop"]["contact"] == "best"
    )
    text = dynarm("mobile", "diffdrive_puma560", *words).check().out
    assert "% of load" in text and "degrees" in text and stop.status in " ".join(text.split())


def test_a_urdf_from_the_command_line():
    data = told("mobile", str(example_robot("tiago_no_hand.urdf")), "--tip", "arm_7_link")
    assert list(data["wheel_forces"])[:2] == ["wheel_right", "wheel_left"]
    assert data["coordinates"][3] == "torso_lift_joint"


def test_info_count_and_export_know_arms_on_wheels(tmp_path):
    robot = mobile.load("tanner2001")
    data = told("info", "tanner2001")
    assert data["mass"] == pytest.approx(66.0) and sum(ups(data)) == pytest.approx(66 * 9.81)
    counted = told("count", "tanner2001")["tanner2001"]["ground"]
    assert counted["mul"] == robot.count("ground").mul
    folder = tmp_path / "c"
    made = told("export", "tanner2001", str(folder))
    assert "tanner2001_ground" in made["functions"] and (folder / "tanner2001.c").exists()
    some = told("export", "tanner2001", str(tmp_path / "some"), "--quantity", "energy")
    assert some["functions"] == ["tanner2001_energy"]
    robot.save(tmp_path / "mine.toml")
    assert told("info", str(tmp_path / "mine.toml"))["robot"] == "tanner2001"
