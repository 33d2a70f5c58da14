"""Friction with memory outside Python: C along a log, CasADi, JAX and WebAssembly."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from functools import lru_cache

import numpy as np
import pytest

import dynarm
from dynarm import DynarmError
from oracles.rich_friction import rich
from oracles.simulated_tree import two_arms

needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")
TOLERANCE = 1e-12
N = 400


@lru_cache
def model_of(name):
    arm = dynarm.load(name) if name != "gripper" else two_arms(gripper=True)
    return dynarm.compile(rich(arm), friction=True)


def motion_of(arm):
    rng = np.random.default_rng(8)
    q = np.cumsum(rng.normal(0, 1.2e-2, (N, arm.nq)), axis=0)
    return q, rng.normal(0, 0.5, (N, arm.nv)), rng.normal(0, 2, (N, arm.nv))


def built(made, folder):
    """The exported functions as a library of this process."""
    library = folder / "robot.so"
    source = str(made.folder / f"{made.name}.c")
    strict = ["-std=c99", "-O2", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
    subprocess.run(
        ["gcc", *strict, "-shared", "-fPIC", source, "-o", str(library), "-lm"], check=True
    )
    return ctypes.CDLL(str(library))


def call(function, *arrays):
    function(*(x.ctypes.data_as(ctypes.c_void_p) for x in arrays))


@needs_gcc
@pytest.mark.parametrize("name", ["puma560", "gripper"])
def test_c_carries_the_state_along_a_log(name, tmp_path):
    model = model_of(name)
    made = dynarm.export_c(
        model,
        tmp_path / "c",
        quantities=(
            "friction_state_start",
            "friction_state_next",
            "inverse_dynamics:friction_state",
            "forward_dynamics:friction_state",
        ),
    )
    library = built(made, tmp_path)
    start, step, inverse, forward = (getattr(library, f) for f in made.functions)
    q, qd, qdd = motion_of(model.arm)
    wanted = model.inverse_dynamics(q, qd, qdd, friction_state=model.friction_state.along(q))
    state, after = np.empty((2, model.friction_state.size))
    tau, back = np.empty(model.arm.nv), np.empty(model.arm.nv)
    call(start, q[0], state)
    for k in range(N):
        call(step, state, q[k], after)
        state, after = after, state
        call(inverse, q[k], qd[k], qdd[k], state, tau)
        assert np.abs(tau - wanted[k]).max() <= TOLERANCE * np.abs(wanted).max()
        call(forward, q[k], qd[k], tau, state, back)
        assert np.abs(back - qdd[k]).max() <= 1e-10 * np.abs(qdd).max()
    np.testing.assert_allclose(state, model.friction_state.along(q)[-1], atol=1e-13)


@needs_gcc
@pytest.mark.parametrize("options", [{}, {"bounded_stack": True}, {"single": True}], ids=str)
def test_the_folder_tests_itself_and_declares_the_struct(options, tmp_path):
    made = dynarm.export_c(model_of("two_link"), tmp_path / "c", **options)
    header = (made.folder / f"{made.name}.h").read_text()
    real = "float" if options.get("single") else "double"
    assert f"{real} numbers[TWO_LINK_FRICTION_STATE];\n}} two_link_friction_state;" in header
    assert "elbow+shoulder:0.004" in header and "#define TWO_LINK_FRICTION_STATE 10" in header
    program = tmp_path / "selftest"
    sources = [str(made.folder / f"{made.name}{end}.c") for end in ("", "_test")]
    subprocess.run(["gcc", "-std=c99", *sources, "-o", str(program), "-lm"], check=True)
    done = subprocess.run([str(program)], capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.startswith("PASS 15 functions"), done.stdout


def test_robots_without_memory_have_neither_struct_nor_functions(tmp_path):
    plain = dynarm.compile(dynarm.load("two_link"), friction=True)
    made = dynarm.export_c(plain, tmp_path / "c", quantities=("gravity",))
    assert "friction_state" not in (made.folder / "two_link.h").read_text()
    with pytest.raises(DynarmError, match="no friction with memory"):
        dynarm.export_c(plain, tmp_path / "d", quantities=("friction_state_next",))


def test_casadi_has_the_functions_with_a_state():
    model = model_of("two_link")
    q, qd, qdd = (x[7] for x in motion_of(model.arm))
    state = model.friction_state.start(q + 0.003)
    inverse = model.casadi("inverse_dynamics:friction_state")
    made = np.array(inverse(q, qd, qdd, state)).ravel()
    wanted = model.inverse_dynamics(q, qd, qdd, friction_state=state)
    np.testing.assert_allclose(made, wanted, rtol=1e-12)
    after = np.array(model.casadi("friction_state_next")(state, q)).ravel()
    np.testing.assert_allclose(after, model.friction_state.next(state, q), atol=1e-15)
    slope = inverse.jacobian()(q, qd, qdd, state, np.zeros(2))[0]
    by_q = model.inverse_dynamics_derivatives(q, qd, qdd, friction_state=state)[0]
    np.testing.assert_allclose(np.array(slope), by_q, atol=1e-9)


def test_webassembly_tests_itself(tmp_path):
    if shutil.which("node") is None:
        pytest.skip("Node is not installed")
    names = ("friction_state_next", "inverse_dynamics:friction_state")
    made = dynarm.export_wasm(model_of("two_link"), tmp_path / "w", quantities=names)
    script = made.folder / f"{made.name}_test.mjs"
    done = subprocess.run(["node", str(script)], capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.startswith("PASS 2 functions"), done.stdout
