"""Consistent parameter sets against closed forms: point masses, projections onto one inequality, known distances."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import dynarm
from dynarm import minimal_parameters
from dynarm.identify.estimators import feasibility
from dynarm.identify.estimators.feasibility import nearest, one_body, pseudo_inertia
from dynarm.identify.regressor import Terms
from oracles.motions import pendulum

TWO = dynarm.load("two_link")
RNG = np.random.default_rng(2)


def ten_of_points(masses, points):
    """m, h and J of point masses, by their definitions."""
    J = sum(m * (x @ x * np.eye(3) - np.outer(x, x)) for m, x in zip(masses, points, strict=True))
    xx, xy, yy, xz, yz, zz = J[[0, 0, 1, 0, 1, 2], [0, 1, 1, 2, 2, 2]]
    return np.r_[masses.sum(), masses @ points, xx, xy, yy, xz, yz, zz]


def test_pseudo_inertia_of_point_masses():
    """It is the sum of m [x; 1] [x; 1]'."""
    masses, points = RNG.uniform(0.1, 2.0, 5), RNG.normal(size=(5, 3))
    wide = np.column_stack([points, np.ones(5)])
    expected = (wide.T * masses) @ wide
    np.testing.assert_allclose(
        pseudo_inertia(ten_of_points(masses, points)), expected, rtol=1e-12, atol=1e-12
    )


def test_the_solvers_rows_are_the_pseudo_inertias_entries():
    """Products of two such vectors are traces of the matrices' products: the inner product of the solver's cone."""
    a, b = RNG.normal(size=(2, 10))
    rows = feasibility._pseudo_rows()
    trace = np.trace(pseudo_inertia(a) @ pseudo_inertia(b))
    assert (rows @ a) @ (rows @ b) == pytest.approx(trace, rel=1e-12)
    P = pseudo_inertia(a)
    assert (rows @ a)[[0, 2, 5, 9]] == pytest.approx(np.diag(P))  # triangle by columns
    assert (rows @ a)[[1, 3, 4, 8]] == pytest.approx(np.sqrt(2) * P[[0, 0, 1, 2], [1, 2, 2, 3]])


# ---- one body


@pytest.mark.parametrize("mass, size", [(1.0, 1.0), (50.0, 0.02), (0.02, 3.0)])
@pytest.mark.parametrize("ratios", [(1.0, 1.0, 1.0), (1.0, 2.0, 3.0), (0.1, 1.0, 0.3)])
def test_the_triangle_inequality_is_met_where_the_doubt_is(mass, size, ratios):
    """From xx + yy < zz straight to xx + yy = zz: each moves by its variance's part of the gap."""
    unit = mass * size**2
    ten = np.array([mass, 0, 0, 0, 0.1 * unit, 0, 0.12 * unit, 0, 0, 0.3 * unit])
    std = np.array([mass, *[mass * size] * 3, *[unit] * 6]) * 1e-3
    std[[4, 6, 9]] *= ratios
    share = np.square(ratios) / np.square(ratios).sum()
    expected = ten.copy()
    expected[[4, 6, 9]] += 0.08 * unit * share * [1, 1, -1]
    body = one_body(ten, np.diag(std**2))
    np.testing.assert_allclose(body / unit, expected / unit, atol=2e-6 * mass / unit)
    assert body[9] == pytest.approx(expected[9], rel=1e-5)


def test_a_body_without_room_for_its_moment_gives_way_as_its_doubt_says():
    """A centre of mass too far out for a well known inertia comes in; one that is well known pushes the inertia."""
    ten = np.array([1.0, 0.5, 0, 0, 0.01, 0, 0.05, 0, 0, 0.05])
    std = np.full(10, 1e-3)
    loose, tight = std.copy(), std.copy()
    loose[1], tight[1] = 0.3, 1e-6
    body = one_body(ten, np.diag(loose**2))
    np.testing.assert_allclose(body[[0, 4, 6, 9]], ten[[0, 4, 6, 9]], atol=1e-4)
    # xx component of the pseudo-inertia is (yy + zz - xx) / 2 = 0.045 = h^2 / m
    assert body[1] == pytest.approx(np.sqrt(0.045), abs=1e-3)
    body = one_body(ten, np.diag(tight**2))
    assert body[1] == pytest.approx(0.5, abs=1e-5)
    assert (body[6] + body[9] - body[4]) / 2 * body[0] == pytest.approx(0.25, abs=1e-3)


# ---- the metric


def test_information_is_a_root_of_the_inverse():
    A = np.eye(5) + 0.3 * np.arange(25).reshape(5, 5) % 1
    covariance = A @ A.T * np.outer(*[[1e-3, 1, 1e3, 1, 1]] * 2)
    root = feasibility._information(covariance)
    np.testing.assert_allclose(root.T @ root @ covariance, np.eye(5), atol=1e-5)
    flat = np.outer([1.0, 2.0], [1.0, 2.0])  # one direction without doubt: held, finitely
    root = feasibility._information(flat)
    held = root @ np.array([2.0, -1.0])
    assert 1e4 < np.linalg.norm(held) < 1e7
    assert np.linalg.norm(root @ np.array([1.0, 2.0])) == pytest.approx(1.0, rel=1e-6)


# ---- arms


@pytest.fixture(scope="module")
def swing():
    return pendulum()


@pytest.mark.parametrize("std", [0.002, 0.02])
@pytest.mark.parametrize("below", [0.5, 40.0])
def test_distance_to_a_negative_inertia(swing, std, below):
    """Only the inertia of a pendulum is bounded; its mass is free. It comes to zero and nothing else moves."""
    terms = Terms(swing, friction=("viscous", "offset"), armature=False)
    values = np.r_[minimal_parameters(swing).values, 0.2, -0.3]
    k = terms.names.index("U1_33")
    values[k] = -below
    near = nearest(terms, values, std**2 * np.eye(len(values)))
    assert not near.exact
    expected = values.copy()
    expected[k] = 0.0
    np.testing.assert_allclose(near.values, expected, atol=0.02 * below)
    gap = np.linalg.norm(near.values - values) / std / np.sqrt(len(values))
    assert near.distance == pytest.approx(gap, rel=1e-4)
    assert near.distance == pytest.approx(below / std / np.sqrt(len(values)), rel=0.02)
    assert f"{near.distance:.2g} standard deviations" in near.status
    table = near.parameters.ravel()
    np.testing.assert_allclose(
        terms.rigid.matrix @ table, near.values[: terms.rigid_size], rtol=1e-6, atol=1e-6
    )
    np.testing.assert_array_equal(near.armatures, [0.0])


def test_friction_below_zero_is_the_only_thing_changed():
    terms = Terms(TWO, friction=("viscous", "coulomb", "offset"), armature=True)
    rigid = minimal_parameters(TWO, armature=True).values
    drive = np.array([0.3, -0.2, -0.4, 50.0, 0.6, -0.1])
    values = np.r_[rigid, drive]
    near = nearest(terms, values, 1e-4 * np.eye(len(values)))
    assert not near.exact
    expected = np.r_[rigid, 0.3, 0.0, -0.4, 50.0, 0.6, -0.1]
    np.testing.assert_allclose(near.values, expected, atol=1e-3)
    assert near.distance == pytest.approx(0.2 / 1e-2 / np.sqrt(len(values)), rel=1e-3)


def test_which_unknowns_cannot_be_negative():
    terms = Terms(TWO, friction=("viscous", "coulomb", "offset"))
    words = [terms.names[terms.rigid_size + k] for k in feasibility._positive(terms)]
    assert words == ["viscous1", "coulomb1", "viscous2", "coulomb2"]
    one_way = Terms(TWO, friction=("viscous", "offset"), asymmetric=True)
    words = [one_way.names[one_way.rigid_size + k] for k in feasibility._positive(one_way)]
    assert words == ["viscous1", "viscous_negative1", "viscous2", "viscous_negative2"]


def test_free_directions_come_from_the_prior():
    """The same values, two priors that give them: each is returned as it is."""
    puma = dynarm.load("puma560")
    puma = replace(puma, joints=tuple(replace(j, armature=0.2) for j in puma.joints))
    terms = Terms(puma, friction=(), armature=True)
    values = minimal_parameters(puma, armature=True).values
    table = puma.parameters.copy()
    near = nearest(terms, values, np.eye(len(values)), table)
    np.testing.assert_allclose(near.parameters, table, atol=1e-10)
    np.testing.assert_allclose(near.armatures, 0.2, atol=1e-10)
    other = table.copy()
    other[0, 0] += 2.0  # the mass of link 1 is felt by no joint
    near = nearest(terms, values, np.eye(len(values)), other)
    assert near.exact
    np.testing.assert_allclose(near.parameters, other, atol=1e-10)


def test_armatures_below_zero_are_not_consistent():
    """The motor of a wrist turns faster than its link: its inertia is an unknown of its own."""
    puma = dynarm.load("puma560")
    puma = replace(puma, joints=tuple(replace(j, armature=0.2) for j in puma.joints))
    terms = Terms(puma, friction=(), armature=True)
    values, k = minimal_parameters(puma, armature=True).values.copy(), terms.names.index("Ia5")
    for value, exact in ((0.2, True), (0.0, True), (-0.3, False)):
        values[k] = value
        near = nearest(terms, values, 1e-6 * np.eye(len(values)))
        assert near.exact is exact
        assert near.armatures[4] == pytest.approx(max(value, 0), abs=1e-3)
        assert near.values[k] == pytest.approx(max(value, 0), abs=1e-3)


def test_units_are_those_of_the_robot():
    """Mass: the middle one of links that have any; length: that of a link. Without masses the values tell."""
    terms = Terms(TWO, friction=(), armature=False)
    own = np.zeros((3, 10))
    own[:, 0] = 0.0, 5.0, 2.0
    mass, length = feasibility._scales(terms, own, np.zeros(terms.size))
    assert (mass, length) == (pytest.approx(3.5), pytest.approx(TWO.size))
    values = np.arange(terms.size, dtype=float)
    mass, _ = feasibility._scales(terms, np.zeros((2, 10)), values)
    assert mass == pytest.approx((terms.rigid_size - 1) / max(TWO.size, 1.0))
    one = Terms(pendulum(), friction=(), armature=False)
    assert feasibility._scales(one, np.zeros((1, 10)), np.zeros(one.size)) == (1e-3, 1.0)


@pytest.mark.parametrize("armature", [False, True])
def test_no_friction_at_all_is_consistent(armature):
    """Zeros lie on the edge of what can be, not beyond it; from numbers that are far off, too."""
    puma = dynarm.load("puma560")
    puma = replace(puma, joints=tuple(replace(j, armature=0.0) for j in puma.joints))
    dummy = puma.with_parameters(np.tile([1.0, 0, 0, 0, 0.1, 0, 0.1, 0, 0, 0.1], (6, 1)))
    terms = Terms(dummy, friction=("viscous", "coulomb"), armature=armature)
    values = np.r_[minimal_parameters(puma, armature=armature).values, np.zeros(12)]
    near = nearest(terms, values, 1e-8 * np.eye(len(values)))
    assert near.exact and near.distance == 0
    np.testing.assert_array_equal(near.values, values)
    assert near.parameters.shape == (6, 10) and near.armatures.shape == (6,)
    assert dummy.with_parameters(near.parameters).check() == []
