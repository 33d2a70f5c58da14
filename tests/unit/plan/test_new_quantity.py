"""A new quantity is one record, and one method if users are to call it: everything else follows.

The toy is the power that the joints put in, tau . qd: it uses a formulation, feels gravity, friction and a wrench.
"""

from __future__ import annotations

import ctypes
import json
import shutil
import subprocess
from dataclasses import replace

import numpy as np
import pytest

import dynarm
from dynarm.algebra.vectors import add, mul
from dynarm.cli.app import run
from dynarm.errors import DynarmError
from dynarm.graph.graph import Port
from dynarm.model import functions
from dynarm.model.functions import quickly
from dynarm.model.model import Model
from dynarm.plan import quantities
from dynarm.plan.quantities import Quantity

RNG = np.random.default_rng(3)
ARM = dynarm.load("scara")


def power(scene):
    watts = 0
    for force, speed in zip(scene.forces(scene.given["qdd"]), scene.qd, strict=True):
        watts = add(watts, mul(force, speed))
    return watts


POWER = Quantity(
    "joint_power",
    ("q", "qd", "qdd"),
    lambda sizes: (Port("P", ()),),
    power,
    takes_wrench=True,
    uses=("inverse_dynamics",),
)


@pytest.fixture(autouse=True)
def table():
    before = list(quantities.QUANTITIES)
    with quantities.extended(POWER):
        yield
    assert list(quantities.QUANTITIES) == before


@pytest.fixture
def method(monkeypatch):
    """The line of a model's class that lets users say it."""

    def joint_power(
        self, q, qd, qdd, wrench=None, *, gravity=None, values=None, out=None, threads=None
    ):
        """Power (...) [W] of the joints."""
        extras = {"wrench": wrench, "gravity": gravity, "values": values}
        return self._call("joint_power", (q, qd, qdd), out, threads, **extras)

    monkeypatch.setattr(Model, "joint_power", quickly(joint_power), raising=False)
    yield
    del functions.METHODS["joint_power"]


def states(count=7):
    return [RNG.uniform(-s, s, (count, ARM.n)) for s in (np.pi, 2.0, 5.0)]


def check(got, model, x, **extras):
    forces = model.inverse_dynamics(*x, **extras)
    np.testing.assert_allclose(got, (forces * x[1]).sum(-1), rtol=1e-12, atol=1e-12)


def test_models_have_it_as_a_function_without_a_method():
    model, x = dynarm.compile(ARM, friction=True), states()
    assert {"joint_power", "joint_power:wrench"} <= set(model.functions)
    check(model.functions["joint_power"](*x), model, x)
    assert model.functions["joint_power"].signature == "(4),(4),(4)->()"
    wrench = RNG.normal(size=(7, 6))
    check(model.functions["joint_power:wrench"](*x, wrench), model, x, wrench=wrench)
    one = [y[0] for y in x]
    check(model.functions["joint_power"](*one), model, one)
    assert "joint_power" in str(model)


def test_a_method_is_all_that_a_call_needs(method):
    model, x = dynarm.compile(ARM), states()
    for _ in range(2):  # by the method, and by the builtin that takes its place
        check(model.joint_power(*x), model, x)
        check(model.joint_power(*(y[0] for y in x)), model, [y[0] for y in x])
    wrench, made = RNG.normal(size=6), np.empty(7)
    check(model.joint_power(*x, wrench, out=made), model, x, wrench=wrench)
    check(model.joint_power(*x, threads=2), model, x)
    with pytest.raises(DynarmError, match="qd has 2 entries"):
        model.joint_power(x[0], x[1][:, :2], x[2])


def test_options_reach_it(method):
    x, down = states(), (1.0, -2.0, -9.0)
    turned = dynarm.compile(ARM, gravity="input")
    still = dynarm.compile(replace(ARM, gravity=down))
    check(turned.joint_power(*x, gravity=down), still, x)
    fed = dynarm.compile(ARM, parameters="inputs")
    plain = dynarm.compile(ARM)
    check(fed.joint_power(*x, values=fed.minimal.values), plain, x)
    name = "newton_euler_driving_axis"
    forced = dynarm.compile(ARM, {"inverse_dynamics": name})
    check(forced.joint_power(*x), plain, x)
    assert forced.kernel("joint_power").notes["formulation"] == {"inverse_dynamics": name}


def test_graph_casadi_and_count_know_it():
    model, x = dynarm.compile(ARM), states(1)
    graph = model.graph("joint_power")
    check(graph.evaluate(*x)[0], model, x)
    check(float(model.casadi("joint_power")(*(y[0] for y in x))), model, [y[0] for y in x])
    alone = dynarm.count(ARM, "inverse_dynamics")
    assert alone.total < dynarm.count(ARM, "joint_power").total <= alone.total + 2 * ARM.n


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")
def test_it_is_exported_to_c(tmp_path):
    model, x = dynarm.compile(ARM), [y[0] for y in states(1)]
    made = dynarm.export_c(model, tmp_path / "c", quantities=["joint_power"], name="toy")
    assert made.functions == ("toy_joint_power",)
    library = ["gcc", "-O1", "-shared", "-fPIC", "toy.c", "-o", "toy.so", "-lm"]
    subprocess.run(library, cwd=tmp_path / "c", check=True)
    result = (ctypes.c_double * 1)()
    given = [y.ctypes.data_as(ctypes.c_void_p) for y in x]
    ctypes.CDLL(str(tmp_path / "c" / "toy.so")).toy_joint_power(*given, result)
    check(result[0], model, x)


def test_the_command_line_takes_it(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert run(["compile", "scara", "--quantity", "joint_power", "--json"]) == 0
    assert "joint_power" in json.dumps(json.loads(capsys.readouterr().out))
    assert run(["export", "scara", "toy", "--quantity", "joint_power"]) == 0
    assert "scara_joint_power" in (tmp_path / "toy" / "scara.h").read_text()


def test_it_is_gone_with_its_context_and_no_name_is_taken_twice():
    with pytest.raises(ValueError, match="already"), quantities.extended(POWER):
        pass
    with quantities.extended(replace(POWER, name="other_power")):
        assert dynarm.count(ARM, "other_power").total
    with pytest.raises(DynarmError, match="other_power"):
        dynarm.count(ARM, "other_power")
