"""What a page carries of a robot that computes in it: how much, and what is left out where it would be too much."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import dynarm
from dynarm.report import live
from dynarm.report.html import page, section
from dynarm.report.live import live_robot, live_section
from dynarm.report.sketch import frames, pose


def size(robot) -> int:
    return sum(len(robot[part][kind]) for part in ("spec", "batch") for kind in ("simd", "plain"))


@pytest.mark.parametrize("name", ["panda", "ur5e", "stanford", "two_link", "gen3"])
def test_the_dynamics_of_arms_take_less_than_fifty_kilobytes(name):
    robot = live_robot(dynarm.load(name))
    assert set(robot["spec"]["functions"]) == set(live.FUNCTIONS)
    assert 0 < size(robot) < 50_000 and robot["spec"]["simd"] == "" != robot["batch"]["simd"]
    assert len(page("t", [live_section(dynarm.load(name))]).encode()) < 130_000


def test_a_robot_of_many_joints_keeps_what_fits(monkeypatch):
    joint = dynarm.Joint(alpha=1.2, a=0.1, d=0.05, mass=1.0, com=(0.05, 0.01, 0.02))
    robot = live_robot(dynarm.Arm((joint,) * 24, name="snake"))
    assert list(robot["spec"]["functions"]) == ["inverse_dynamics"] and "batch" not in robot
    few = dynarm.load("panda")
    monkeypatch.setattr(live, "LARGEST", 20_000)
    assert list(live_robot(few)["spec"]["functions"]) == ["inverse_dynamics"]
    monkeypatch.setattr(live, "LONGEST", 1000)
    assert live_robot(few) is None and live_section(few) is None


def test_what_a_robot_cannot_do_in_its_page_is_said():
    joint = dynarm.Joint(alpha=1.2, a=0.1, d=0.05, mass=1.0, com=(0.05, 0.01, 0.02))
    long = dynarm.Arm((joint,) * 24, name="snake")
    free = dynarm.Arm((joint,) * 2, floating=dynarm.Body(mass=1.0, inertia=np.eye(3)))
    said = [str(live_section(arm).parts) for arm in (dynarm.load("panda"), long, free)]
    assert ["simulation would make the page too large" in text for text in said] == [0, 1, 0]
    assert ["base is held level" in text for text in said] == [0, 0, 1]


def test_frames_in_the_page_are_the_robots_own():
    arm = dynarm.load("stanford")
    robot = live_robot(arm)
    q, made = robot["start"], []
    np.testing.assert_array_equal(q, pose(arm))
    for link in robot["links"]:
        of, factor, offset = link["follows"]
        x = factor * q[of] + offset
        move = np.eye(4)
        if link["revolute"]:
            move[:2, :2] = [[np.cos(x), -np.sin(x)], [np.sin(x), np.cos(x)]]
        else:
            move[2, 3] = x
        before = np.reshape(robot["root"], (4, 4)) if link["parent"] < 0 else made[link["parent"]]
        made.append(before @ np.reshape(link["at"], (4, 4)) @ move)
    np.testing.assert_allclose(made, frames(arm, q)[1:-1], atol=1e-12)


def test_limits_that_nobody_knows_are_none_and_names_cannot_end_the_script():
    arm = dynarm.load("two_link")
    first = replace(arm.joints[0], name="</script><b>", effort_limit=0.0, velocity_limit=None)
    second = replace(arm.joints[1], position_limits=(-0.5, 2.5), effort_limit=7.0)
    arm = replace(arm, joints=(first, second))
    one, two = live_robot(arm)["joints"]
    assert (one["force"], one["speed"], one["limits"]) == (None, None, None)
    assert (one["low"], one["high"]) == (-np.pi, np.pi)
    assert (two["force"], two["limits"], two["low"], two["high"]) == (7.0, [-0.5, 2.5], -0.5, 2.5)
    text = str(live_section(arm).parts[-1])
    assert text.count("</script>") == 1
    assert json.loads(text.split('+json">')[1].split("</script>")[0])["joints"][0] == one


def test_a_page_may_compile_only_where_it_computes():
    arm = dynarm.load("two_link")
    assert "'wasm-unsafe-eval'" in page("t", [live_section(arm)])
    plain = page("t", [section("a", "text")])
    assert "wasm" not in plain and "dynarmRobot" not in plain
