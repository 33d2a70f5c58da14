"""The same graph in CasADi and in JAX."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import dynarm
from dynarm.robot.formats.urdf import arm_of_urdf
from dynarm.robot.frames.generic import generic_arm
from oracles.random_trees import tree_urdf

NAMES = (
    "inverse_dynamics",
    "mass_matrix",
    "forward_dynamics",
    "mass_matrix_and_bias",
    "inverse_dynamics:wrench",
)


@pytest.fixture(scope="module")
def model():
    return dynarm.compile(generic_arm(4, 2))


@pytest.fixture(scope="module")
def free_tree():
    """Two tools, a free base, joints that follow others."""
    text = tree_urdf(np.random.default_rng(11), 5, mimic=0.4)
    arm = arm_of_urdf(text.encode(), "tree", floating=True, tools=["l2", "end4"])
    assert arm.nq != arm.nv and not arm.coupling.free
    return dynarm.compile(arm)


def inputs(model, name, samples=()):
    rng = np.random.default_rng(3)
    return [rng.uniform(-1, 1, (*samples, *p.shape)) for p in model.ports(name)[0]]


@pytest.mark.parametrize("name", (*NAMES, "center_of_mass", "mass_matrix_packed", "jacobian"))
def test_casadi_function_of_a_whole_robot_agrees(free_tree, name):
    test_casadi_function_agrees(free_tree, name)


def test_casadi_function_of_a_whole_robot_differentiates(free_tree):
    """d(centre of mass)/dq times the rates of q is the Jacobian times qd."""
    import casadi as ca

    (at,) = inputs(free_tree, "center_of_mass")
    at[3:7] /= np.linalg.norm(at[3:7])
    q = ca.MX.sym("q", len(at))
    slope = ca.Function("g", [q], [ca.jacobian(free_tree.casadi("center_of_mass")(q), q)])
    x, y, z, w = at[3:7]
    turn = 0.5 * np.array([[w, -z, y], [z, w, -x], [-y, x, w], [-x, -y, -z]])
    R = Rotation.from_quat(at[3:7]).as_matrix()
    joints = len(at) - 7
    rates = np.zeros((len(at), joints + 6))
    rates[:3, :3], rates[3:7, 3:6], rates[7:, 6:] = R, turn, np.eye(joints)
    want = free_tree.center_of_mass_jacobian(at)
    np.testing.assert_allclose(np.array(slope(at)) @ rates, want, atol=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_casadi_function_agrees(model, name):
    function = model.casadi(name)
    args = inputs(model, name)
    got = function(*(x.ravel() for x in args))
    got = got if isinstance(got, tuple) else (got,)
    want = model.functions[name](*args)
    want = want if isinstance(want, tuple) else (want,)
    for a, b in zip(got, want, strict=True):
        np.testing.assert_allclose(np.array(a).reshape(b.shape), b, rtol=1e-12, atol=1e-12)


def test_casadi_function_differentiates(model):
    import casadi as ca

    q = ca.MX.sym("q", 4)
    gradient = ca.Function("g", [q], [ca.jacobian(model.casadi("gravity")(q), q)])
    at = np.array([0.3, -0.2, 0.1, 0.7])
    h = 1e-6
    steps = [(model.gravity(at + h * e) - model.gravity(at - h * e)) / (2 * h) for e in np.eye(4)]
    np.testing.assert_allclose(np.array(gradient(at)), np.array(steps).T, atol=1e-6)


@pytest.fixture(scope="module")
def jax_errors() -> dict[str, float]:
    """How far JAX's functions are from the compiled ones, told by a process of its own."""
    if importlib.util.find_spec("jax") is None:
        pytest.skip("extra [jax] is not installed")
    run = subprocess.run(
        [sys.executable, "-m", "oracles.jax_checks", *NAMES],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert run.returncode == 0, run.stderr[-2000:]
    found: dict[str, float] = json.loads(run.stdout)
    return found


@pytest.mark.parametrize("name", NAMES)
def test_jax_function_agrees(jax_errors, name):
    assert jax_errors[name] < 1e-11
    assert jax_errors[f"tree {name}"] < 1e-11


def test_jax_function_maps_and_differentiates(jax_errors):
    assert jax_errors["slopes"] < 1e-9


def test_jax_function_takes_a_friction_state(jax_errors):
    assert jax_errors["memory"] < 1e-12


def test_without_jax_the_error_says_what_to_install(model, monkeypatch):
    monkeypatch.setitem(sys.modules, "jax", None)
    monkeypatch.setitem(sys.modules, "jax.numpy", None)
    with pytest.raises(dynarm.DynarmError, match=r"\[jax\]"):
        model.jax("bias")
