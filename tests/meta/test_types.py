"""What type checkers and editors see of the public names: mypy and pyright on a user's program, right and wrong."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

import dynarm

RIGHT = """
import numpy as np
import numpy.typing as npt

import dynarm
from dynarm import Arm, Model, mobile, simulation

arm = dynarm.load("puma560", gravity=(0, 0, -9.81))
reveal_type(arm)  # Arm
model = dynarm.compile(arm, {"bias": "newton_euler"}, friction=True)
reveal_type(model)  # Model
q: npt.NDArray[np.float64] = np.zeros(arm.n)
reveal_type(model.mass_matrix(q))  # floats
reveal_type(model.gravity([0.0] * 6))  # floats
reveal_type(model.forward_kinematics((0, 0, 0, 0, 0, 0)))  # floats
reveal_type(model.bias([[0.0] * 6], [q, q]))  # floats
reveal_type(model.inverse_dynamics(q, q, q, np.zeros(6), out=q, threads=2))  # floats
M, b = model.mass_matrix_and_bias(q.astype(np.float32), np.arange(6))
reveal_type(M)  # floats
reveal_type(dynarm.minimal_parameters(arm).values)  # floats
reveal_type(dynarm.simulate(model, q, q, 1.0).energy)  # floats
reveal_type(arm.with_payload(1.0, np.zeros(3)).parameters)  # floats
reveal_type(model.functions["gravity"])  # ufunc
reveal_type(mobile.load("tanner2001"))  # MobileManipulator
reveal_type(mobile.load("tanner2001").acceleration(q, q, q))  # floats
reveal_type(simulation.GravityPD(model, q, 1.0, 1.0))  # GravityPD
reveal_type(dynarm.catalogue())  # tuple[str, ...]


def mine(other: Arm) -> Model:
    joint = dynarm.Joint("revolute", mass=1.0, com=q[:3], inertia=np.eye(3))
    return dynarm.compile(dynarm.Arm([joint, *other.joints], gravity=q[:3]))
"""
WRONG = """
import numpy as np

import dynarm

arm = dynarm.load("puma560")
model = dynarm.compile(arm)
q = np.zeros(6)
dynarm.compile("puma560")  # wrong
dynarm.lode("puma560")  # wrong
model.gravty(q)  # wrong
model.gravity()  # wrong
model.gravity("abc")  # wrong
model.gravity(None)  # wrong
model.bias(q, q, wrench=q)  # wrong
model.mass_matrix(q, threads="2")  # wrong
number: int = model.mass_matrix(q)  # wrong
arm.joint_name  # wrong
dynarm.mobile.load("tanner2001").equations(q)  # wrong
dynarm.simulate(arm, q, q, 1.0)  # wrong
"""
PROGRAMS = {"right.py": RIGHT.lstrip(), "wrong.py": WRONG.lstrip()}
FLOATS = r"ndarray\[tuple\[Any, \.\.\.\], (numpy\.)?dtype\[(numpy\.)?float64\]\]"


@cache
def said(checker: str) -> tuple[tuple[str, int, str, str], ...]:
    """File, line, severity and text of all that a checker says about both programs."""
    with TemporaryDirectory() as name:
        for file, text in PROGRAMS.items():
            Path(name, file).write_text(text)
        commands = {
            "mypy": ["--strict", "--no-error-summary", "--cache-dir", f"{name}/cache"],
            "pyright": ["--outputjson", "--pythonpath", sys.executable],
        }
        done = subprocess.run(
            [sys.executable, "-m", checker, *commands[checker], *PROGRAMS],
            cwd=name,
            capture_output=True,
            text=True,
            timeout=300,
            env=os.environ | {"PYRIGHT_PYTHON_IGNORE_WARNINGS": "1"},
        )
    if checker == "mypy":
        lines = re.findall(r"^(\w+\.py):(\d+): (\w+): (.*)$", done.stdout, re.M)
        return tuple((file, int(line), kind, text) for file, line, kind, text in lines)
    rows = json.loads(done.stdout)["generalDiagnostics"]
    return tuple(
        (
            Path(row["file"]).name,
            row["range"]["start"]["line"] + 1,
            row["severity"],
            row["message"],
        )
        for row in rows
    )


def marked(file: str, mark: str) -> dict[int, str]:
    """The lines of a program that bear a mark, and the mark."""
    lines = enumerate(PROGRAMS[file].splitlines(), 1)
    return {k: found[1] for k, line in lines if (found := re.search(f"  # ({mark})$", line))}


pyright = pytest.mark.skipif(
    not (find_spec("pyright") and shutil.which("node")), reason="pyright needs its wheel and node"
)


@pytest.mark.parametrize("checker", ["mypy", pytest.param("pyright", marks=pyright)])
def test_a_right_program_has_no_errors_and_types_are_known(checker):
    mine = [row for row in said(checker) if row[0] == "right.py"]
    assert [row for row in mine if row[2] == "error"] == []
    seen = {line: text for _, line, _, text in mine if re.search("Revealed type|Type of", text)}
    wanted = marked("right.py", ".*")
    assert seen.keys() == wanted.keys()
    for line, mark in wanted.items():
        kind = FLOATS if mark == "floats" else rf"\b{re.escape(mark)}"
        assert re.search(kind + '"$', seen[line]), (line, mark, seen[line])


@pytest.mark.parametrize("checker", ["mypy", pytest.param("pyright", marks=pyright)])
def test_every_mistake_of_a_wrong_program_is_reported(checker):
    mine = {line for file, line, kind, _ in said(checker) if (file, kind) == ("wrong.py", "error")}
    names = marked("wrong.py", "wrong")
    assert len(names) == 12 and mine == names.keys()


def test_type_checkers_see_exactly_the_public_names():
    tree = ast.parse(Path(dynarm.__file__).read_text())
    block = next(
        node
        for node in tree.body
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    )
    seen = {}
    for node in block.body:
        assert isinstance(node, ast.ImportFrom) and node.level == 1 and len(node.names) == 1
        assert node.names[0].name == node.names[0].asname, "re-exported under its own name"
        seen[node.names[0].name] = "." + (node.module or "")
    assert {n: m for n, m in seen.items() if m != "."} == dynarm._PUBLIC
    assert {n for n, m in seen.items() if m == "."} == set(dynarm._PACKAGES)
    assert {*dynarm._PUBLIC, *dynarm._PACKAGES} <= set(dir(dynarm))


def test_packages_are_reachable_as_attributes():
    code = "import dynarm; print(dynarm.simulation.Sampled.__name__, dynarm.mobile.load.__name__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["Sampled", "load"]


def test_completion_in_an_interpreter():
    import rlcompleter

    model = dynarm.compile(dynarm.load("two_link"))
    model.gravity([0.0, 0.0])
    offered = rlcompleter.Completer({"model": model}).attr_matches("model.mass_")
    assert {"model.mass_matrix(", "model.mass_matrix_and_bias("} <= set(offered)
    assert {"gravity", "functions", "formulation"} <= set(dir(model))


def test_importing_dynarm_imports_nothing_for_types():
    code = (
        "import sys; import dynarm; print([m for m in sys.modules if m.startswith('dynarm.')], "
        "'numpy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    # its locks come before any thread
    assert done.stdout.strip() == "['dynarm.border', 'dynarm.border.forks'] False"
