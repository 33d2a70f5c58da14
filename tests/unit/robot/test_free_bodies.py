"""A body that moves freely and carries no joints: a robot like any other, with six speeds."""

from __future__ import annotations

import numpy as np
import pytest

import dynarm
from dynarm import Arm, Body, DynarmError, Identifier, Log
from dynarm.report.robot_sheet import sections
from dynarm.simulation.control import GravityPD
from oracles.pinocchio_tree import PinocchioTree
from oracles.simulated_tree import base_motion
from oracles.tree_errors import ORACLE, RELATIVE, apart
from strategies import whole_state

INERTIA = ((0.03, -0.004, -0.003), (-0.004, 0.04, -0.002), (-0.003, -0.002, 0.05))
DRONE = Arm((), name="drone", floating=Body(1.4, (0.02, -0.03, 0.04), INERTIA))
QUANTITIES = (
    "inverse_dynamics",
    "forward_dynamics",
    "mass_matrix",
    "bias",
    "gravity",
    "kinetic_energy",
    "potential_energy",
    "center_of_mass",
    "momentum",
)


@pytest.fixture(scope="module")
def model():
    return dynarm.compile(DRONE)


def state(seed):
    return whole_state(np.random.default_rng(seed), DRONE)


def test_what_it_is():
    assert (DRONE.n, DRONE.nq, DRONE.nv, DRONE.serial) == (0, 7, 6, False)
    assert DRONE.joint_names == () and DRONE.link_names == ("base",)
    assert repr(DRONE) == "<dynarm.Arm 'drone', 0 joints, free base>" and "1.4" in str(DRONE)
    assert DRONE.check() == [] and [tool.joint for tool in DRONE.all_tools] == [-1]
    with pytest.raises(DynarmError, match=r"no joints.*floating="):
        Arm(())


@pytest.mark.parametrize("quantity", QUANTITIES)
def test_quantities(model, quantity):
    peer, s = PinocchioTree.of(DRONE), state(3)
    inputs = {
        "inverse_dynamics": ("q", "qd", "qdd"),
        "forward_dynamics": ("q", "qd", "tau"),
        "bias": ("q", "qd"),
        "kinetic_energy": ("q", "qd"),
        "momentum": ("q", "qd"),
    }.get(quantity, ("q",))
    ours = getattr(model, quantity)(*(s[x] for x in inputs))
    assert apart([ours], ORACLE[quantity](peer, {**s, "wrench": None})) <= RELATIVE


def test_derivatives(model):
    s = state(4)
    theirs = PinocchioTree.of(DRONE).derivatives(s["q"], s["qd"], s["qdd"])
    ours = model.inverse_dynamics_derivatives(s["q"], s["qd"], s["qdd"])
    assert apart(ours, theirs) <= RELATIVE
    C, bias = model.coriolis_matrix(s["q"], s["qd"]), model.bias(s["q"], s["qd"])
    assert C @ s["qd"] + model.gravity(s["q"]) == pytest.approx(bias)


def test_ten_minimal_parameters(model):
    s = state(5)
    assert model.minimal.values == pytest.approx(DRONE.parameters[0])
    tau = model.inverse_dynamics(s["q"], s["qd"], s["qdd"])
    assert model.regressor(s["q"], s["qd"], s["qdd"]) @ model.minimal.values == pytest.approx(tau)


@pytest.mark.parametrize("ending", ["toml", "urdf", "xml"])
def test_files(tmp_path, ending):
    path = tmp_path / f"drone.{ending}"
    DRONE.save(path)
    again = dynarm.load(path, **({"floating": True} if ending == "urdf" else {}))
    np.testing.assert_allclose(again.parameters, DRONE.parameters, rtol=0, atol=1e-15)
    assert again.nv == 6 and again.gravity == DRONE.gravity
    if ending != "toml":
        with pytest.raises(DynarmError, match=r"floating=True|no joint"):
            dynarm.load(path, floating=False)


def test_a_payload_is_carried_by_the_body():
    loaded = DRONE.with_payload(0.5, (0, 0, 0.1))
    assert loaded.parameters[0, 0] == pytest.approx(1.9)
    assert loaded.parameters[0, 3] == pytest.approx(1.4 * 0.04 + 0.05)


def test_it_falls_and_keeps_its_spin(model):
    s = state(6)
    run = dynarm.simulate(model, s["q"], s["qd"], 0.5)
    before, after = (model.center_of_mass(run.q[k]) for k in (0, -1))
    p, L = (model.momentum(run.q[k], run.qd[k]) for k in (0, -1))
    v = p[:3] / 1.4
    assert after == pytest.approx(before + v * 0.5 + np.array([0, 0, -9.81]) * 0.125, abs=1e-8)
    assert L[3:] == pytest.approx(p[3:], abs=1e-8)  # about the centre of mass
    rows = [line.split()[0] for line in str(run).splitlines()[2:]]
    assert rows == [*DRONE.coordinate_names, *DRONE.speed_names]


def test_what_has_no_sense_without_joints_is_refused(model):
    with pytest.raises(DynarmError, match="no joints that a controller"):
        GravityPD(model, np.zeros(0), 1.0, 1.0)
    with pytest.raises(DynarmError, match="free base"):
        dynarm.excite(DRONE, 2.0)


def test_its_sheet():
    assert len(sections(DRONE, dynarm.minimal_parameters(DRONE), {})) == 3


def test_it_is_identified_from_wrenches(model):
    pose, speed, acc = base_motion(rate=200.0, duration=6.0)
    wrench = model.inverse_dynamics(pose, speed, acc)
    log = Log(np.arange(len(pose)) / 200, pose, base_wrench=wrench)
    assert log.n == 0 and log.floating
    fit = Identifier(DRONE).fit(log)
    np.testing.assert_allclose(fit.arm_.parameters, DRONE.parameters, atol=2e-3)
