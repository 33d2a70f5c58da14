"""C of a mobile manipulator: the ground under planned motions is in it, and its self-test passes."""

from __future__ import annotations

import shutil
import subprocess

import pytest

import dynarm
from dynarm import mobile
from dynarm.mobile.export import export_c
from oracles.mobile_machines import MACHINES, car


@pytest.mark.parametrize("make", [lambda: mobile.load("tanner2001"), car])
def test_the_ground_is_exported_and_tests_itself(make, tmp_path):
    robot = make()
    header, source = export_c(robot, tmp_path)
    text = header.read_text()
    for name in ("equations", "control", "derivative", "inverse_dynamics", "ground"):
        assert f"{header.stem}_{name}(" in text
    first, second = robot.tip_axes[0]
    assert f"{first} to {second}" in text and "contact elastic" in text
    compiler = shutil.which("cc")
    assert compiler is not None
    files = [str(source), str(tmp_path / f"{header.stem}_test.c")]
    flags = ["-std=c99", "-O1", "-Wall", "-Werror"]
    subprocess.run([compiler, *flags, *files, "-o", str(tmp_path / "t"), "-lm"], check=True)
    answer = subprocess.run([str(tmp_path / "t")], capture_output=True, text=True, check=True)
    assert answer.stdout.startswith("PASS 5 functions")


def test_what_cannot_be_planned_is_not_exported(tmp_path):
    header, _ = export_c(MACHINES["steered_dolly"](), tmp_path)
    assert "_ground(" not in header.read_text() and "_control(" in header.read_text()
    dynarm.export_c(car(), tmp_path / "whole")
    assert "car_ground(" in (tmp_path / "whole" / "car.h").read_text()
