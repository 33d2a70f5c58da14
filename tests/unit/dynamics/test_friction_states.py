"""States of hysteresis along a motion: step by step as all at once; and what a URDF holds of such friction."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pytest

import dynarm
from dynarm import Coupled, Friction
from dynarm.dynamics.stops import next_state, start_state, state_size, states_along
from dynarm.robot.friction import nearest_plain


def sticky_arm():
    """Two elements on the first joint, one on the sum of both."""
    arm = dynarm.load("two_link")
    first = Friction(viscous=0.2, presliding=((1e-2, 0.5), (5e-2, 0.3)))
    second = Friction(coupling=(Coupled(0, presliding=((2e-2, 0.4),)),))
    joints = [replace(j, friction=f) for j, f in zip(arm.joints, (first, second), strict=True)]
    return replace(arm, joints=joints)


def test_states_step_by_step_are_those_along_a_log():
    arm = sticky_arm()
    q = np.cumsum(np.random.default_rng(1).normal(0, 8e-3, (400, 2)), axis=0)
    state = start_state(arm, q[0])
    assert state.shape == (state_size(arm),) == (5,)
    assert (state == [0, 0, 0, *q[0]]).all()
    along = states_along(arm, q)
    for k in range(1, len(q)):
        state = next_state(arm, q[k], state)
        assert np.abs(state - along[k]).max() < 1e-15
    strokes = np.array([1e-2, 5e-2, 2e-2])
    assert (np.abs(along[:, :3]).max(axis=0) == strokes).all()  # each has slipped
    # the third moves with the sum of both positions while it sticks
    free = (np.abs(along[1:, 2]) < strokes[2]) & (np.abs(along[:-1, 2]) < strokes[2])
    moved = np.diff(q.sum(axis=1))
    assert free.any() and np.allclose(np.diff(along[:, 2])[free], moved[free], atol=1e-15)


def test_arms_without_hysteresis_have_no_state():
    arm = dynarm.load("two_link")
    assert state_size(arm) == 0 and start_state(arm, np.zeros(2)).shape == (0,)
    assert states_along(arm, np.zeros((3, 2))).shape == (3, 0)
    assert next_state(arm, np.zeros((4, 2)), np.empty((4, 0))).shape == (4, 0)


def test_the_nearest_plain_friction():
    record = Friction(0.2, 0.3, viscous_negative=0.4, presliding=((1e-2, 0.5),))
    plain = nearest_plain(record)
    assert (plain.viscous, plain.coulomb) == pytest.approx((0.3, 0.8))
    assert plain == Friction(plain.viscous, plain.coulomb)
    # a curve much narrower than its own range is Coulomb friction, one that never bends is viscous
    sharp = nearest_plain(Friction(curve=((1e-6, 0.5), (1.0, 0.0))))
    assert sharp.coulomb == pytest.approx(0.5, rel=1e-6) and sharp.viscous < 1e-6
    assert nearest_plain(Friction(viscous=0.1, offset=3.0)) == Friction(0.1)


def test_a_urdf_holds_the_nearest_and_says_what_is_lost(tmp_path):
    sticky_arm().save(tmp_path / "x.urdf")
    text = (tmp_path / "x.urdf").read_text()
    first = ET.fromstring(text).find("joint/dynamics")
    assert float(first.get("damping")) == 0.2 and float(first.get("friction")) == pytest.approx(0.8)
    assert "not held by a URDF" in text and "presliding" in text
