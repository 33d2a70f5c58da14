"""Section 6 of tanner2001: Table I, the motions of Figs 3, 4, 5 and what the paper says about them."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from dynarm import mobile
from dynarm.errors import UnknownName
from dynarm.mobile import cases
from dynarm.mobile.constraints import roller

TABLE = tomllib.loads((Path(__file__).parents[1] / "golden" / "tanner2001.toml").read_text())[
    "table_1"
]


@cache
def case(number: int) -> cases.CaseRun:
    return cases.run(number)


def test_table_1():
    robot = mobile.load("tanner2001")
    assert [[w.x, w.y] for w in robot.wheels] == [TABLE["l_w0"], TABLE["l_w1"], TABLE["l_w2"]]
    assert {w.radius for w in robot.wheels} == {TABLE["r_w"]} and {
        w.mass for w in robot.wheels
    } == {TABLE["m_w"]}
    assert robot.platform.mass == TABLE["m_v"] and robot.base.mass == TABLE["m_0"]
    assert np.allclose(np.diag(robot.platform.inertia), TABLE["I_v"], rtol=0)
    assert np.allclose(np.diag(robot.base.inertia), TABLE["I_0"], rtol=0)
    one, two = robot.arm.joints
    assert (one.mass, two.mass) == (TABLE["m_1"], TABLE["m_2"])
    assert one.com == tuple(TABLE["r_1c1"]) and two.com == tuple(TABLE["r_2c2"])
    assert np.allclose(np.diag(one.inertia), TABLE["I_1"], rtol=0)
    assert np.allclose(np.diag(two.inertia), TABLE["I_2"], rtol=0)
    offset = np.add(TABLE["r_1c1"], TABLE["r_c12"])
    assert np.allclose(two.displacement()[:3, 3], offset, rtol=0, atol=1e-15)


def test_names_and_weight():
    robot = mobile.load("tanner2001")
    assert robot.coordinate_names == ("x", "y", "theta", "phi", "q1", "q2")
    assert robot.speed_names == ("v", "phid", "q1d", "q2d")
    assert robot.kane_speed_names == ("u1", "u2", "u4", "u5", "u6")
    rest = robot.wheel_forces(np.zeros(6), np.zeros(4), np.zeros(8))
    assert abs(rest[:, 2].sum() - 66 * 9.81) < 1e-10  # 40 + 6 + 5 + 15 kg
    assert np.abs(rest[:, :2]).max() < 1e-12


@pytest.mark.parametrize("number", [3, 4, 5])
def test_findings(number):
    found = case(number)
    assert [f.claim for f in found.findings] == list(found.case.claims)
    for finding in found.findings:
        assert finding.holds, finding


@pytest.mark.parametrize("number", [3, 4, 5])
def test_energy_constant(number):
    energy = case(number).run.energy
    assert np.ptp(energy) < 1e-10 * energy[0]
    # planar: the Hamiltonian is the kinetic energy
    assert np.array_equal(energy, case(number).run.kinetic)


@pytest.mark.parametrize("number", [3, 4, 5])
def test_no_wheel_slides(number):
    """Sideways speed, and rate of the coordinates against the speeds, at every wheel."""
    robot, run = case(number).robot, case(number).run
    rates = np.array(robot.functions["derivative"](run.q, run.z, run.tau, np.zeros(6))[0])
    c, s = np.cos(run.q[:, 2]), np.sin(run.q[:, 2])
    twist = np.stack(
        [c * rates[:, 0] + s * rates[:, 1], c * rates[:, 1] - s * rates[:, 0], rates[:, 2]]
    )
    for wheel in robot.wheels:
        at = roller(wheel, None, run.q[:, 3])
        slide = sum(a * b for a, b in zip(at.skid, twist, strict=True))
        assert np.abs(slide).max() < 1e-10


@pytest.mark.parametrize("number", [4, 5])
def test_path_rolls(number):
    """The path itself: chords between the samples, compared with the direction that rear wheels roll along."""
    run = case(number).run
    rear = run.q[:, :2] - 0.3 * np.stack([np.cos(run.q[:, 2]), np.sin(run.q[:, 2])], -1)
    step = np.diff(rear, axis=0)
    heading = (run.q[1:, 2] + run.q[:-1, 2]) / 2
    side = np.abs(step[:, 1] * np.cos(heading) - step[:, 0] * np.sin(heading))
    assert side.max() < 1e-6 * np.abs(step).max() + 1e-8  # third order in the step of 5 ms


@pytest.mark.parametrize("number", [3, 4, 5])
def test_negative_measure_means_a_lifted_wheel(number):
    run = case(number).run
    lifted = (run.wheel_forces[..., 2] < 0).any(-1)
    assert np.array_equal(run.measure < 0, lifted)
    spans = run.intervals
    inside = np.zeros(len(run.t), bool)
    for low, high in spans:
        inside |= (run.t >= low) & (run.t <= high)
    assert np.array_equal(inside, lifted)
    assert bool(spans) == (number != 3)


@pytest.mark.parametrize("number", [4, 5])
def test_events_are_the_ends_of_the_intervals(number):
    run = case(number).run
    ends = np.array([t for span in run.intervals for t in span if 0 < t < run.t[-1]])
    events = np.array([e.t for e in run.events if e.kind == "contact"])
    assert len(ends) == len(events)
    assert np.abs(np.sort(ends) - np.sort(events)).max() < 1e-3  # samples are 5 ms apart
    assert all(e.lost == (k % 2 == 0) for k, e in enumerate(run.events))
    assert "formal" in run.status


def test_free_steering_keeps_heading_of_the_front_wheel_turning():
    """Without steering torque thetad + phid is constant, so that phi is not, on the circle."""
    run = case(5).run
    yaw = np.tan(run.q[:, 3]) / 0.6 * run.z[:, 0]
    assert np.ptp(yaw + run.z[:, 1]) < 1e-10
    assert np.ptp(run.q[:, 3]) > 0.05


def test_report_is_plain_data():
    data = cases.report(5)
    n = len(data["t"])
    assert data["path"].shape == (n, 3) and data["wheel_forces"].shape == (n, 3, 3)
    assert data["snapshots"]["arm"].shape[1:] == (3, 2) and data["snapshots"]["platform"].shape[
        1:
    ] == (3, 2)
    assert len(data["assumptions"]) >= 9 and data["title"].startswith("Fig. 5")
    reach = np.linalg.norm(
        data["snapshots"]["arm"][:, -1] - data["snapshots"]["arm"][:, 0], axis=-1
    )
    assert reach.max() <= 1.05 + 0.8 + 1e-12


def test_unknown_case():
    with pytest.raises(UnknownName, match="case '6'"):
        cases.run(6)
