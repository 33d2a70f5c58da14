"""Physically consistent parameter sets: exact where there is one, nearest where there is none."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import dynarm
from dynarm import minimal_parameters
from dynarm.identify.estimators.feasibility import nearest, one_body, pseudo_inertia
from dynarm.identify.regressor import Terms
from dynarm.robot.arm import pack_parameters
from oracles.simulated_log import exact_log

DUMMY = [1.0, 0, 0, 0, 0.1, 0, 0.1, 0, 0, 0.1]


@pytest.fixture(scope="module")
def puma():
    arm = dynarm.load("puma560")
    return replace(arm, joints=tuple(replace(j, armature=0.0) for j in arm.joints))


@pytest.mark.parametrize("armature", [False, True])
def test_consistent_values_are_met_exactly_from_a_far_prior(puma, armature):
    dummy = puma.with_parameters(np.tile(DUMMY, (6, 1)))
    terms = Terms(dummy, friction=(), armature=armature)
    values = minimal_parameters(puma, armature=armature).values
    found = nearest(terms, values, 1e-8 * np.eye(len(values)))
    assert found.exact
    assert found.distance == 0
    table = np.column_stack([found.parameters, found.armatures]) if armature else found.parameters
    np.testing.assert_allclose(terms.rigid.matrix @ table.ravel(), values, rtol=1e-9, atol=1e-9)
    assert dummy.with_parameters(found.parameters).check() == []
    assert (found.armatures >= 0).all()


def test_the_arms_own_numbers_are_kept_where_they_fit(puma):
    terms = Terms(puma, friction=(), armature=False)
    values = minimal_parameters(puma).values
    found = nearest(terms, values, np.eye(len(values)))
    np.testing.assert_allclose(found.parameters, puma.parameters, atol=1e-12)


def test_inconsistent_values_are_approached_in_their_own_metric(puma):
    """A negative inertia of the last link cannot be met; well known values are kept, poorly known ones give way."""
    terms = Terms(puma, friction=(), armature=False)
    values = minimal_parameters(puma).values.copy()
    values[terms.names.index("U6_33")] = -0.5
    std = np.full(len(values), 1e-4)
    std[terms.names.index("U6_33")] = 1.0
    found = nearest(terms, values, np.diag(std**2))
    assert not found.exact
    assert found.distance > 0
    assert puma.with_parameters(found.parameters).check() == []
    others = np.arange(len(values)) != terms.names.index("U6_33")
    assert np.abs(found.values - values)[others].max() < 0.01
    assert found.values[terms.names.index("U6_33")] >= 0


def test_negative_friction_and_armature_are_not_consistent(puma):
    terms = Terms(puma, friction=("viscous",), armature=True)
    values = np.r_[minimal_parameters(puma, armature=True).values, [0.1, -0.2, 0.3, 0.1, 0.1, 0.1]]
    values[terms.names.index("Ia5")] = -0.1
    found = nearest(terms, values, 1e-4 * np.eye(len(values)))
    assert not found.exact
    assert (found.armatures >= 0).all()
    assert found.values[-6:] == pytest.approx([0.1, 0.0, 0.3, 0.1, 0.1, 0.1], abs=1e-3)


def test_the_status_says_that_a_full_set_is_not_unique(puma):
    fit = dynarm.Identifier(puma, friction=(), armature=False).fit(exact_log(puma))
    assert "not unique" in fit.status_


def test_pseudo_inertia_is_positive_for_bodies_only():
    body = pack_parameters(2.0, (0.1, 0.2, -0.1), np.diag([0.1, 0.12, 0.15]))
    assert np.linalg.eigvalsh(pseudo_inertia(body))[0] > 0
    # beyond the triangle inequality
    flat = pack_parameters(2.0, (0.1, 0.2, -0.1), np.diag([0.1, 0.12, 0.25]))
    assert np.linalg.eigvalsh(pseudo_inertia(flat))[0] < 0


def test_one_body():
    body = pack_parameters(2.0, (0.1, 0.2, -0.1), np.diag([0.1, 0.12, 0.15]))
    np.testing.assert_array_equal(one_body(body, np.eye(10)), body)
    spoiled = body.copy()
    spoiled[4] = -0.05
    found = one_body(spoiled, 1e-4 * np.eye(10))
    assert np.linalg.eigvalsh(pseudo_inertia(found))[0] > -1e-9
    assert found[0] == pytest.approx(2.0, abs=0.1)
