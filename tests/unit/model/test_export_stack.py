"""bounded_stack keeps its promise as gcc counts it; every function of many robots builds without a warning."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

import dynarm
from dynarm.plan.quantities import QUANTITIES
from dynarm.robot.frames.generic import generic_arm

COMPILERS = [name for name in ("gcc", "aarch64-linux-gnu-gcc") if shutil.which(name)]
STRICT = "-std=c99 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wdouble-promotion -Werror"
needs_gcc = pytest.mark.skipif("gcc" not in COMPILERS, reason="gcc is not installed")


def one_joint(kind="revolute"):
    return dynarm.Arm([dynarm.Joint(kind, mass=1.0, com=(0.1, 0, 0))], name="one")


ROBOTS = {
    "one": one_joint(),
    "slide": one_joint("prismatic"),
    "scara": dynarm.load("scara"),
    "five": generic_arm(5),
}


def usage(folder, compiler, level):
    """Bytes of stack by function, as the compiler counts them."""
    command = [compiler, *STRICT.split(), level, "-fstack-usage", "-c", "r.c", "-o", "r.o"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    rows = [line.split("\t") for line in (folder / "r.su").read_text().splitlines()]
    return {row[0].split(":")[-1]: int(row[1]) for row in rows}


@needs_gcc
@pytest.mark.parametrize("single", [False, True], ids=["double", "single"])
@pytest.mark.parametrize("robot", ["one", "five"])
def test_bounded_stack_is_what_the_header_says(robot, single, tmp_path):
    model = dynarm.compile(ROBOTS[robot])
    names = ("inverse_dynamics", "gravity")
    made = dynarm.export_c(
        model, tmp_path / "c", name="r", quantities=names, single=single, bounded_stack=True
    )
    assert f"at most {made.stack} bytes" in (made.folder / "r.h").read_text()
    for compiler in COMPILERS:
        for level in ("-O0", "-O2", "-Ofast"):
            taken = usage(made.folder, compiler, level)
            helper = taken.pop("r_sincos", 0)
            assert max(taken.values()) + helper <= made.stack, (compiler, level, taken)


@needs_gcc
def test_bound_follows_the_temporaries(tmp_path):
    """What is promised beside the array does not grow with the robot, but for its inputs."""
    model = dynarm.compile(ROBOTS["five"])
    plain = dynarm.export_c(model, tmp_path / "a", name="r")
    bounded = dynarm.export_c(model, tmp_path / "b", name="r", bounded_stack=True)
    sizes = re.findall(r"volatile double w\[(\d+)\]", (bounded.folder / "r.c").read_text())
    largest = 8 * max(map(int, sizes))
    assert largest < bounded.stack <= largest + 512 + 8 * 3 * 5
    assert bounded.stack < plain.stack / 3


@needs_gcc
@pytest.mark.parametrize("bounded", [False, True], ids=["plain", "bounded"])
@pytest.mark.parametrize("robot", ["one", "slide", "scara"])
def test_every_quantity_builds_without_a_warning(robot, bounded, tmp_path):
    model = dynarm.compile(ROBOTS[robot], friction=True)
    made = dynarm.export_c(
        model, tmp_path / "c", name="r", quantities=list(QUANTITIES), bounded_stack=bounded
    )
    program = made.folder / "t"
    command = ["gcc", *STRICT.split(), "-O1", "r.c", "r_test.c", "-o", str(program), "-lm"]
    done = subprocess.run(command, cwd=made.folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    done = subprocess.run([program], capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.startswith("PASS"), done.stdout
