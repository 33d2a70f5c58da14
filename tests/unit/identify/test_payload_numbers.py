"""Payloads and gains against least squares by hand: values, doubts, what they show of themselves."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import dynarm
from dynarm import DynarmError, Preparation
from dynarm.identify.bodies import body_forces, wrench_forces
from dynarm.identify.carried import Payload, _anything
from dynarm.identify.payload import Gains
from dynarm.identify.regressor import Terms
from dynarm.robot.arm import move_parameters
from dynarm.robot.frames.chain import chain_of
from oracles.simulated_log import exact_log, exact_torque

TWO = dynarm.load("two_link")
AS_IS = Preparation(cutoff=np.inf, decimate=1, slow=0.0, trim=0, velocity="recorded")
PLAIN = {"friction": (), "armature": False, "preparation": AS_IS}
MASS, COM, INERTIA = 2.0, (0.1, -0.05, 0.0), np.diag([0.01, 0.02, 0.03])
TOLD = [0, 1, 2, 9]  # of ten numbers, those that a planar arm feels
NOISE = np.array([0.5, 0.2])


def disturbed(arm, seed, samples):
    log = exact_log(arm, samples, seed)
    noise = np.random.default_rng(seed).normal(size=log.tau.shape) * NOISE
    return replace(log, tau=log.tau + noise)


def rows_of(log):
    """(N, 2, p) of the arm's own unknowns, (N, 2, 4) of the payload's that it feels."""
    own = Terms(TWO, (), armature=False).evaluate(log.q, log.qd, log.qdd)
    chain, T = chain_of(TWO), TWO.tool_pose
    unit = [move_parameters(ten, T[:3, :3], T[:3, 3]) for ten in np.eye(10)[TOLD]]
    load = np.stack([body_forces(chain, ten, log.q, log.qd, log.qdd) for ten in unit], axis=2)
    return own, load


def test_doubt_of_a_payload_is_that_of_least_squares():
    """White noise of known size on both logs: the covariance is (X' W X)^-1."""
    loaded = TWO.with_payload(MASS, COM, INERTIA)
    logs = disturbed(TWO, 1, 900), disturbed(loaded, 2, 600)
    found = dynarm.identify_payload(TWO, *logs, **PLAIN)
    blocks = []
    for log, carries in zip(logs, (0, 1), strict=True):
        own, load = rows_of(log)
        blocks.append(np.concatenate([own, carries * load], axis=2) / NOISE[:, None])
    X = np.concatenate(blocks).reshape(-1, blocks[0].shape[2])
    y = np.concatenate([(log.tau / NOISE).ravel() for log in logs])
    values = np.linalg.lstsq(X, y, rcond=None)[0][-4:]
    deviation = np.sqrt(np.diag(np.linalg.inv(X.T @ X)))[-4:]
    np.testing.assert_allclose(found.std[TOLD], deviation, rtol=0.2)
    np.testing.assert_allclose(found.parameters[TOLD], values, atol=0.3 * deviation.min())
    assert abs(found.parameters[0] - MASS) < 4 * deviation[0]
    assert np.isinf(found.std[[3, 4, 5, 6, 7, 8]]).all()


def test_doubt_of_gains_is_that_of_least_squares():
    gains = np.array([10.0, 4.0])
    loaded = TWO.with_payload(MASS, COM, INERTIA)
    logs = [disturbed(TWO, 1, 900), disturbed(loaded, 2, 600)]
    logs = [replace(log, tau=log.tau / gains) for log in logs]
    found = dynarm.drive_gains(TWO, *logs, MASS, COM, INERTIA, **PLAIN)
    blocks, right = [], []
    for log, carries in zip(logs, (0, 1), strict=True):
        own, _ = rows_of(log)
        current = np.zeros((len(log), 2, 2))
        current[:, [0, 1], [0, 1]] = -log.tau
        blocks.append(np.concatenate([own, current], axis=2) / NOISE[:, None])
        felt = exact_torque(loaded, log.q, log.qd, log.qdd) - exact_torque(
            TWO, log.q, log.qd, log.qdd
        )
        right.append(-carries * felt / NOISE)
    A = np.concatenate(blocks).reshape(-1, blocks[0].shape[2])
    b = np.concatenate(right).ravel()
    np.testing.assert_allclose(found.values, np.linalg.lstsq(A, b, rcond=None)[0][-2:], rtol=0.02)
    deviation = np.sqrt(np.diag(np.linalg.inv(A.T @ A)))[-2:]
    np.testing.assert_allclose(found.std, deviation, rtol=0.2)
    assert (np.abs(found.values - gains) < 4 * found.std + 0.02 * gains).all()


def test_a_point_mass_in_the_tool_is_the_default():
    logs = exact_log(TWO, seed=1), exact_log(TWO.with_payload(MASS), seed=2)
    found = dynarm.drive_gains(TWO, *logs, MASS, **PLAIN)
    np.testing.assert_allclose(found.values, 1.0, rtol=1e-9)
    assert (found.std < 1e-6).all()
    with pytest.raises(DynarmError, match="neither mass nor inertia"):
        dynarm.drive_gains(TWO, *logs, 0.0, **PLAIN)


def test_a_cutoff_is_handed_on():
    logs = exact_log(TWO, seed=1), exact_log(TWO.with_payload(MASS, COM), seed=2)
    how = replace(AS_IS, cutoff=None)
    found = dynarm.identify_payload(
        TWO, *logs, friction=(), armature=False, preparation=how, cutoff=np.inf
    )
    assert found.parameters[0] == pytest.approx(MASS, rel=1e-6)
    assert found.determined == 4


def test_unknown_directions_are_wide_in_their_units():
    """2 kg, 0.2 kg m, so 0.1 m: a hundred times 2 kg, 0.2 kg m and 0.02 kg m^2 along each of the axes."""
    for moments in ((-0.2, 0.1, 0.05), (0.1, 0.05, -0.2)):
        ten = np.array([2.0, *moments, *[9.0] * 6])
        assert _anything(np.eye(10), ten)[9, 9] == pytest.approx(4.0)
    ten = np.array([2.0, 0.05, -0.2, 0.1, *[9.0] * 6])
    wide = np.sqrt(np.diag(_anything(np.eye(10), ten)))
    np.testing.assert_allclose(wide, [200.0, *[20.0] * 3, *[2.0] * 6])
    np.testing.assert_allclose(_anything(7 * np.eye(10), ten), _anything(np.eye(10), ten))
    light = np.sqrt(np.diag(_anything(np.eye(10), np.zeros(10))))  # a gram at a centimetre at least
    np.testing.assert_allclose(light, [0.1, *[1e-3] * 3, *[1e-5] * 6])
    assert not _anything(np.zeros((1, 10)), ten).any()
    assert _anything(np.zeros((0, 10)), ten).shape == (10, 10)


def test_body_and_wrench_are_those_of_the_whole_arm():
    arm = dynarm.load("puma560")
    q, qd, qdd = np.random.default_rng(0).normal(size=(3, 5, 6))
    loaded = arm.with_payload(MASS, COM, INERTIA)
    ten = loaded.parameters[-1] - arm.parameters[-1]
    felt = exact_torque(loaded, q, qd, qdd) - exact_torque(arm, q, qd, qdd)
    np.testing.assert_allclose(body_forces(chain_of(arm), ten, q, qd, qdd), felt, atol=1e-9)
    tool = np.eye(4)
    tool[:3, :3] = [[0, -1, 0], [1, 0, 0], [0, 0, 1]]
    tool[:3, 3] = 0.1, 0.2, -0.3
    arm = replace(arm, tool=tool)
    wrench = np.random.default_rng(1).normal(size=(5, 6))
    model = dynarm.compile(arm)
    T = model.forward_kinematics(q)
    turned = np.concatenate(
        [np.einsum("nij,nj->ni", T[:, :3, :3], wrench[:, k : k + 3]) for k in (0, 3)], axis=1
    )
    expected = -np.einsum("nij,ni->nj", model.jacobian(q), turned)
    np.testing.assert_allclose(wrench_forces(arm, q, wrench), expected, atol=1e-9)


def test_payloads_and_gains_show_themselves():
    found = Payload(
        1.5, np.array([0.1, 0, 0.25]), np.eye(3), np.arange(10.0), np.arange(10.0) / 8, 4, True
    )
    assert repr(found) == (
        "<dynarm.Payload: 1.5 kg at (0.1, 0, 0.25) m in the tool frame, 4 of 10 numbers determined, consistent>"
    )
    assert "made consistent" in repr(replace(found, consistent=False))
    rows = [line.split(maxsplit=3) for line in str(found).splitlines()[2:]]
    assert rows[0] == ["parameter", "value", "std", "unit"]
    assert rows[1] == ["m", "0", "0", "kg"]
    assert rows[4] == ["mcz", "3", "0.375", "kg m"]
    assert rows[5] == ["Ixx", "4", "0.5", "kg m^2"]
    assert rows[10] == ["Izz", "9", "1.12", "kg m^2"]
    assert len(rows) == 11
    assert found._repr_html_().count("<tr>") == 11
    assert repr(Gains(np.array([1.23456, 2]), np.zeros(2))) == "<dynarm.Gains: 1.235, 2>"
