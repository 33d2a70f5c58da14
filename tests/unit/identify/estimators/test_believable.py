"""Bodies of consistent sets that can be believed: inside what is possible, and alike in fits of one robot."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import dynarm
from dynarm import Friction, Identifier
from dynarm.identify.estimators.believed import believed, uniform_bodies
from dynarm.identify.estimators.entropic import Divergence, drawn, met
from dynarm.identify.regressor import Terms
from dynarm.robot.inertia import pseudo_inertia
from oracles.simulated_log import noisy_log

PUMA = dynarm.load("puma560")
TRUE = replace(
    PUMA,
    joints=tuple(
        replace(j, armature=1.0, friction=Friction(viscous=1.0, coulomb=1.5)) for j in PUMA.joints
    ),
)
MARGIN = 1e-5  # least over largest eigenvalue of every pseudo-inertia


def spectra(arm):
    return np.array([np.linalg.eigvalsh(pseudo_inertia(ten)) for ten in arm.parameters])


def without_numbers(arm):
    """The arm as a file of kinematics has it: the same body in every link."""
    same = np.array([1.0, 0, 0, 0, 0.1, 0, 0.1, 0, 0, 0.1])
    return arm.with_parameters(np.tile(same, (arm.n, 1)))


@cache
def fits(described, noise=3.0):
    arm = PUMA if described else without_numbers(PUMA)
    options = {"friction": ("viscous", "coulomb", "offset"), "cutoff": 8.0}
    logs = [noisy_log(TRUE, noise, seed=k, motion=k, duration=6.0) for k in range(2)]
    return [Identifier(arm, **options).fit(log) for log in logs]


@pytest.mark.parametrize("described, factor", [(True, 1.6), (False, 3.0)], ids=["CAD", "nothing"])
def test_two_fits_of_one_robot_have_like_bodies(described, factor):
    """Links beyond the first, whose mass no torque tells where nothing is described."""
    pair = fits(described)
    assert not any(fit.feasible_.exact for fit in pair)
    masses = np.array([fit.arm_.parameters[:, 0] for fit in pair])
    assert (masses.max(axis=0) < factor * masses.min(axis=0)).all(), masses.round(2)
    whole = PUMA.parameters[:, 0].sum()
    assert (masses.sum(axis=1) < 2 * whole).all() and (masses.sum(axis=1) > whole / 3).all()


@pytest.mark.parametrize("described", [True, False])
def test_bodies_lie_inside_what_is_possible(described):
    for fit in fits(described):
        size = spectra(fit.arm_)
        assert (size[:, 0] > MARGIN * size[:, -1]).all()
        assert min(joint.armature for joint in fit.arm_.joints) > 0.01
        (cost,) = re.findall(r"costs ([\d.]+) % of error", fit.feasible_.status)
        assert float(cost) <= 2.0


def test_values_that_are_possible_are_kept():
    arm = PUMA.with_parameters(5 * uniform_bodies(PUMA))
    arm = replace(arm, joints=tuple(replace(j, armature=0.0) for j in arm.joints))
    fit = Identifier(without_numbers(PUMA), friction=(), cutoff=20.0, armature=False).fit(
        noisy_log(arm, 1e-3)
    )
    assert fit.feasible_.exact
    np.testing.assert_array_equal(fit.feasible_.values, fit.values_)
    terms = fit.record.terms
    natural = terms.rigid.joined(fit.feasible_.parameters, fit.feasible_.armatures)
    np.testing.assert_allclose(
        terms.rigid.matrix @ natural, fit.feasible_.values[: terms.rigid_size], atol=1e-9
    )


# ---- what is believed before


def test_a_described_robot_is_believed_as_it_is():
    terms = Terms(TRUE)
    own = believed(terms, TRUE.parameters, np.zeros(terms.size), np.ones(terms.size), False)
    table, motors = terms.rigid.parted(own)
    real = spectra(TRUE)[:, 0] > 1e-5 * spectra(TRUE)[:, -1]
    np.testing.assert_allclose(table[real], TRUE.parameters[real])
    np.testing.assert_allclose(motors, 1.0)


def test_uniform_bodies_have_the_scale_of_what_was_fitted():
    """First moments a hundred times as large belong to bodies a hundred times as heavy; shapes stay."""
    terms = Terms(without_numbers(PUMA))
    values = terms.rigid.matrix @ terms.rigid.joined(PUMA.parameters, 1.0)
    wide = np.r_[values, np.zeros(terms.size - len(values))]
    one, many = (
        terms.rigid.parted(believed(terms, terms.arm.parameters, k * wide, 1e-9 * np.ones(terms.size), False))[0]
        for k in (1.0, 100.0)
    )  # fmt: skip
    np.testing.assert_allclose(many, 100 * one, rtol=1e-9)
    whole = PUMA.parameters[:, 0].sum()
    assert whole / 4 < one[:, 0].sum() < 4 * whole


@pytest.mark.parametrize("robot", ["puma560", "scara", "two_link", "panda", "stanford"])
def test_uniform_bodies_are_bodies(robot):
    table = uniform_bodies(dynarm.load(robot))
    assert (np.linalg.eigvalsh([pseudo_inertia(ten) for ten in table])[:, 0] > 0).all()
    assert table[0, 0] == 1.0 and (np.diff(table[:, 0]) <= 0).all()


# ---- the pull itself


def divergence(reference):
    return Divergence(reference, [0], [10])


REFERENCE = np.array([2.0, 0.1, 0.0, 0.2, 0.5, 0.0, 0.6, 0.0, 0.01, 0.4, 0.3])


def test_the_divergence_is_least_at_its_reference_and_its_slopes_are_right():
    pull, rng = divergence(REFERENCE), np.random.default_rng(0)
    value, slope, bend = pull.at(REFERENCE)
    assert abs(value) < 1e-12 and np.abs(slope).max() < 1e-9
    x = REFERENCE * (1 + 0.05 * rng.normal(size=11))
    value, slope, bend = pull.at(x)
    assert value > 0 and (np.linalg.eigvalsh(bend) > 0).all()
    for k in range(11):
        step = 1e-6 * np.eye(11)[k]
        up, down = pull.at(x + step), pull.at(x - step)
        assert (up[0] - down[0]) / 2e-6 == pytest.approx(slope[k], rel=1e-5, abs=1e-6)
        np.testing.assert_allclose((up[1] - down[1]) / 2e-6, bend[:, k], rtol=1e-4, atol=1e-4)


def test_a_pull_keeps_a_body_that_the_data_would_make_impossible():
    pull = divergence(REFERENCE)
    reach, wanted = 1e3 * np.eye(11), 1e3 * REFERENCE.copy()
    wanted[0] = -1e3  # a mass of -1 kg
    x = drawn(pull, reach, wanted, 1.0, REFERENCE)
    assert pull.possible(x) and x[0] > 0


def test_equations_are_met_with_the_least_divergence():
    pull = divergence(REFERENCE)
    matrix = np.zeros((2, 11))
    matrix[0, 0], matrix[1, [4, 10]] = 1.0, 1.0
    x = met(pull, matrix, np.array([3.0, 1.2]), REFERENCE)
    np.testing.assert_allclose(matrix @ x, [3.0, 1.2], rtol=1e-9)
    free = np.linalg.svd(matrix)[2][2:]
    assert np.abs(free @ pull.at(x)[1]).max() < 1e-5  # no way along the equations lowers it
    assert met(pull, matrix, np.array([-1.0, 1.2]), REFERENCE) is None
