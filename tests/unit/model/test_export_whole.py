"""Exported C of whole robots: sizes, the order of q and qd in words, and the same numbers as the Python functions."""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess

import numpy as np
import pytest
from test_export import STRICT, selftest

import dynarm
from dynarm.model.export import DEFAULT, WHOLE
from dynarm.robot.formats.urdf import arm_of_urdf
from oracles.random_trees import tree_urdf

GCC = shutil.which("gcc")
needs_gcc = pytest.mark.skipif(GCC is None, reason="gcc is not installed")
TOLERANCE = 1e-12


def model_of(seed=11, n=5, mimic=0.4, **options):
    text = tree_urdf(np.random.default_rng(seed), n, mimic=mimic)
    return dynarm.compile(arm_of_urdf(text.encode(), "tree", **options))


def states(model, key, rng):
    values = []
    for port in model.ports(key)[0]:
        x = rng.uniform(-1.5, 1.5, port.shape)
        if port.name == "q" and model.arm.floating:
            x[3:7] /= np.linalg.norm(x[3:7])
        values.append(x)
    return values


@needs_gcc
@pytest.mark.parametrize("options", [{}, {"floating": True}], ids=["fixed", "free"])
def test_c_computes_what_python_computes(tmp_path, options):
    model = model_of(tools=["l2", "end4"], **options)
    assert not model.arm.coupling.free and model.arm.branched
    names = [*DEFAULT, *WHOLE, "momentum_rate"]
    names += ["jacobian_derivative", "inverse_dynamics_derivatives", "forward_dynamics_derivatives"]
    names += ["inverse_dynamics:wrench", "forward_dynamics:wrench", "regressor"]
    made = dynarm.export_c(model, tmp_path / "c", quantities=names)
    library = tmp_path / "tree.so"
    sources = [str(made.folder / f"{made.name}.c")]
    flags = [*STRICT, "-shared", "-fPIC", "-ffp-contract=off"]
    subprocess.run([GCC, *flags, *sources, "-o", str(library), "-lm"], check=True)
    compiled = ctypes.CDLL(str(library))
    rng = np.random.default_rng(0)
    for key, function in zip(names, made.functions, strict=True):
        given = states(model, key, rng)
        results = [np.empty(p.shape) for p in model.ports(key)[1]]
        pointers = [x.ctypes.data_as(ctypes.c_void_p) for x in (*given, *results)]
        getattr(compiled, function)(*pointers)
        wanted = model.functions[key](*given)
        wanted = wanted if isinstance(wanted, tuple) else (wanted,)
        for got, want in zip(results, wanted, strict=True):
            assert np.abs(got - want).max() <= TOLERANCE * max(1, np.abs(want).max()), key


@needs_gcc
@pytest.mark.parametrize("options", [{}, {"bounded_stack": True}, {"single": True}], ids=str)
def test_selftest_of_a_free_tree_passes(tmp_path, options):
    made = dynarm.export_c(model_of(floating=True), tmp_path / "c", **options)
    done = selftest(made, tmp_path)
    # without tools there is no pose and no Jacobian of one; four words of whole robots come instead
    assert done.returncode == 0 and done.stdout.startswith("PASS 13 functions"), done.stdout


def test_the_header_says_the_order_of_q_and_qd(tmp_path):
    model = model_of(floating=True, tools=["l2", "end4"])
    arm = model.arm
    made = dynarm.export_c(
        model, tmp_path / "c", quantities=["mass_matrix_packed", "inverse_dynamics:wrench"]
    )
    text = (made.folder / "tree.h").read_text(encoding="utf-8")
    for key, size in (("COORDINATES", arm.nq), ("SPEEDS", arm.nv), ("TOOLS", 2), ("JOINTS", 5)):
        assert f"#define TREE_{key} {size}\n" in text
    places = re.findall(r"q (\d+), qd (\d+)   \w+  (\w+), on (\w+)", text)
    names = [str(j.name) for j in arm.joints]
    wanted = [
        (str(7 + k), str(6 + k), names[i], "base" if arm.parents[i] < 0 else names[arm.parents[i]])
        for k, i in enumerate(arm.coupling.masters)
    ]
    assert places == wanted
    follower = next(j for j in arm.joints if j.mimic)
    assert f" *   {follower.name} follows: " in text
    assert "quaternion x y z w of the free base" in text and "Gravity in the world" in text
    assert "tool 0   l2, on" in text and "on each tool, in its axes: l2, end4" in text
    listed = re.search(r"\(row,column\): (.*?) \*/", text, re.DOTALL)[1].replace("*", "").split()
    rows, columns = model.mass_matrix_pattern
    assert listed == [f"{r},{c}" for r, c in zip(rows, columns, strict=True)]


def test_the_header_says_where_entries_of_packed_derivatives_belong(tmp_path):
    model = model_of(floating=True)
    words = ["inverse_dynamics_derivatives_packed"]
    made = dynarm.export_c(model, tmp_path / "c", quantities=words)
    text = (made.folder / "tree.h").read_text(encoding="utf-8").replace("\n *  ", "")
    for name, pattern in (
        ("dtau_dq and dtau_dqd hold these entries", model.derivatives_pattern),
        ("M holds these entries of the lower triangle", model.mass_matrix_pattern),
    ):
        listed = re.search(rf"{name} \(row,column\): ([\d, ]*)", text)[1].split()
        assert listed == [f"{r},{c}" for r, c in zip(*pattern, strict=True)]


def test_a_tree_without_tools_is_refused_their_functions_in_words(tmp_path):
    with pytest.raises(dynarm.DynarmError, match="branches and has no tools"):
        dynarm.export_c(model_of(), tmp_path / "c", quantities=["jacobian"])
