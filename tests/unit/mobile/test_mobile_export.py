"""C of a mobile manipulator: the ground under planned motions is in it, and its self-test passes."""

from __future__ import annotations

import shutil
import subprocess

import numpy as np
import pytest

import dynarm
from dynarm import mobile
from dynarm.machine.emit import c, selftest
from dynarm.mobile import Base, MobileManipulator
from dynarm.mobile.export import export_c
from oracles.mobile_machines import MACHINES, car
from oracles.mobile_platforms import PLATFORMS


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


@pytest.mark.parametrize(
    "wheels", ["ackermann", "skid-steer", "six skid wheels", "mecanum", "swerve"]
)
def test_every_platform_is_exported_with_its_ground(wheels, tmp_path):
    """Slopes, loads and wheels that lift are among the cases; what rounding leaves of a wheel decides nothing."""
    platform, made = PLATFORMS[wheels]()
    robot = MobileManipulator(platform, made, Base(), mobile.load("tanner2001").arm, name="p")
    graph, dialect = robot.graph("ground"), c.Dialect("p", False)
    given = selftest._cases(graph, dialect, np.random.default_rng(1)).given
    measure = robot.ground(*given).measure
    assert (measure > 0).any() and np.ptp(given[3][:, 0]) > 0.5, "it stands, on slopes"
    header, source = export_c(robot, tmp_path, ("ground",))
    for word in ("gravity[restrict 3]", "load[restrict 6]", "friction[", "angles[", "measure["):
        assert word in header.read_text()
    compiler = shutil.which("cc")
    assert compiler is not None
    files = [str(source), str(tmp_path / "p_test.c"), "-o", str(tmp_path / "t"), "-lm"]
    subprocess.run([compiler, "-std=c99", "-O0", *files], check=True)
    answer = subprocess.run([str(tmp_path / "t")], capture_output=True, text=True, check=True)
    assert answer.stdout.startswith("PASS 1 functions")


def test_what_cannot_be_planned_is_not_exported(tmp_path):
    header, _ = export_c(MACHINES["steered_dolly"](), tmp_path)
    assert "_ground(" not in header.read_text() and "_control(" in header.read_text()
    dynarm.export_c(car(), tmp_path / "whole")
    assert "car_ground(" in (tmp_path / "whole" / "car.h").read_text()
