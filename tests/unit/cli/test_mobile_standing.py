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


TIAGO = str(example_robot("tiago_no_hand.urdf"))


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_urdf_on_wheels_is_told_counted_and_written(tmp_path):
    robot = mobile.load(TIAGO, tip="arm_7_link")
    data = told("info", TIAGO, "--wheels", "--tip", "arm_7_link")
    assert data["speeds"] == list(robot.speed_names)
    assert [w["kind"] for w in data["wheels"]] == [w.kind for w in robot.wheels]
    counts = told("count", TIAGO, "--wheels", "--tip", "arm_7_link")
    assert counts["tiago"]["ground"]["mul"] == robot.count("ground").mul
    written = dynarm(
        *("export", TIAGO, str(tmp_path / "c"), "--wheels", "--tip", "arm_7_link", "-q", "ground")
    ).check()
    assert "tiago" in written.out and (tmp_path / "c" / "tiago.c").exists()
    arm = told("info", TIAGO, "--tip", "arm_7_link")
    assert "wheels" not in arm, "without --wheels it is an arm"
    refused = dynarm("info", TIAGO, "--wheels", "--floating")
    assert refused.code == 2 and "--floating does not go with --wheels" in refused.err


def test_the_page_shows_what_was_computed(tmp_path):
    page = tmp_path / "stand.html"
    words = (
        "mobile",
        "diffdrive_puma560",
        "--payload",
        "5",
        "--adhesion",
        "0.6",
        "--stop-from",
        "1",
    )
    data = told(*words, "--html", str(page))
    assert data["files"] == [str(page)]
    text = page.read_text()
    for heading in ("How it stands", "What the ground allows", "Payload against reach"):
        assert heading in text
    assert "load point" in text and "support polygon" in text and "in every pose" in text
    assert "With 5 kg at the tool." in text
    assert data["stop"]["by"] in text and f"{data['degrees_to_tip']:.3g}" in text
    bare = tmp_path / "bare.html"
    dynarm("mobile", "tanner2001", "--html", str(bare)).check()
    assert "What the ground allows" not in bare.read_text()
    assert "On level ground, with nothing at the tool." in bare.read_text()
    sloped = ("--slope", "3deg,1deg", "--html", str(bare))
    dynarm("mobile", "tanner2001", *sloped).check()
    assert "a slope of 3° nose up and 1° left side up" in bare.read_text()
    refused = dynarm("mobile", "tanner2001", "--torque", "0", "--html", str(bare))
    assert refused.code == 2 and "--html is the page of a held arm" in refused.err


def test_a_path_in_the_shortest_time(tmp_path):
    robot = mobile.load("tanner2001")
    t = np.linspace(0, 4, 41)
    swing = 0.5 * (1 - np.cos(np.pi * t / 4))
    q = np.column_stack([0.8 * t, 0 * t, 0 * t, 0 * t, -0.6 + 1.2 * swing, 2.0 + 0 * t])
    file, page = tmp_path / "way.csv", tmp_path / "way.html"
    heads = ",".join(["t", *robot.coordinate_names])
    np.savetxt(file, np.column_stack([t, q]), delimiter=",", header=heads, comments="")
    words = ("mobile", "tanner2001", "--path", str(file), "--adhesion", "0.5")
    data = told(*words, "--html", str(page))
    fast = robot.retime((t, q), 0.5)
    assert data["time"] == pytest.approx(fast.time, rel=1e-6)
    assert set(data["limited_by"]) == set(fast.by) and data["used"] <= 1 + 1e-6
    assert "The path in the shortest time" in page.read_text()
    for bad, told_words in (
        (words[:-2], "--path needs --adhesion"),
        ((*words, "--pose", "0"), "--pose does not go with --path"),
        ((*words, "--time", "1"), "--path is about a robot that stands"),
    ):
        refused = dynarm(*bad)
        assert refused.code == 2 and told_words in refused.err
    file.write_text("t,x\n0,1\n")
    assert "give t, x, y, theta, phi" in dynarm(*words).err
    file.write_text(heads + "\n0,a\n")
    assert "row 2: 0,a is no row of numbers" in dynarm(*words).err
