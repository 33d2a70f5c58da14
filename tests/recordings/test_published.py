"""Values that others published for the same recordings."""

from __future__ import annotations

import csv
import re

import numpy as np
import pytest

from dynarm import Column, Identifier, Preparation
from dynarm.algebra.vectors import sign
from recordings import DATA, arm_of, needed, read

pytestmark = needed

# Janot, Gautier, Brunot 2019: M, Fv, Fc, offset with standard deviations, and the relative error [%]
EMPS = (
    np.array([95.1089, 203.5034, 20.3935, -3.1648]),
    np.array([0.1085, 1.1460, 0.1012, 0.0444]),
    4.0834,
)
EMPS_BY_DIRECTION = np.array([95.1540, 166.7061, 240.4236, 20.1440, 20.6277]), 3.1117
AS_PUBLISHED = Preparation(
    cutoff=100.0,
    padding=12,
    velocity="differentiate",
    trim=49,
    decimate=10,
    decimator="chebyshev",
    slow=0.0,
)
DIGITS = 0.5e-4  # half a unit of the last printed digit


def relative_error(fit):
    """Norm of the residual over the norm of the force [%]."""
    factors = fit.record.factors
    left, whole = (factors.squares(v).sum() for v in (fit.values_, np.zeros_like(fit.values_)))
    return 100 * np.sqrt(left / whole)


def test_emps_as_published():
    values, std, error = EMPS
    fit = Identifier(arm_of("emps"), preparation=AS_PUBLISHED, regularise=0).fit(read("emps"))
    np.testing.assert_allclose(fit.values_, values, atol=DIGITS)
    assert relative_error(fit) == pytest.approx(error, abs=DIGITS)
    # their deviations take residuals for white, and N instead of N - p
    np.testing.assert_allclose(np.sqrt(np.diag(fit.solution.covariance)), std, rtol=2e-3)


def test_emps_with_friction_by_direction():
    values, error = EMPS_BY_DIRECTION
    fit = Identifier(arm_of("emps"), asymmetric=True, preparation=AS_PUBLISHED, regularise=0).fit(
        read("emps")
    )
    np.testing.assert_allclose(fit.values_, values, atol=DIGITS)
    assert relative_error(fit) == pytest.approx(error, abs=DIGITS)


def test_emps_with_the_defaults():
    values, std, _ = EMPS
    fit = Identifier(arm_of("emps"), friction=("viscous", "coulomb", "offset")).fit(read("emps"))
    assert (np.abs(fit.values_ - values) < 2 * std).all()
    assert fit.ridge_ == 0


def test_emps_with_friction_chosen():
    """The moving mass stays what is published, and what friction does at speed, whatever its columns share of it."""
    (mass, *_), (deviation, *_), _ = EMPS
    fit = Identifier(arm_of("emps")).fit(read("emps"))
    assert any(one.taken for one in fit.choice_.tried)
    assert abs(fit.values_[0] - mass) < max(2 * fit.std_[0], 2 * deviation)
    speed, force = fit.friction_curve(0)
    fast = np.abs(speed) > 0.5 * np.abs(speed).max()
    published = EMPS[0][1] * speed + EMPS[0][2] * np.sign(speed) + EMPS[0][3]
    assert np.abs(force - published)[fast].max() < 0.1 * np.abs(published).max()


# the coupled wrist of the tx40: one coefficient acts on joints 5 and 6
WRIST = (
    Column("Iam6", lambda q, qd, qdd: [0, 0, 0, 0, qdd[5], qdd[4]]),
    Column("fvm6", lambda q, qd, qdd: [0, 0, 0, 0, qd[5], qd[4]]),
    Column("fsm6", lambda q, qd, qdd: [0, 0, 0, 0, sign(qd[4] + qd[5]), sign(qd[4] + qd[5])]),
)
SLOW = 0.05  # [rad/s] a hundredth of the joints' greatest speed


def combination(fit, text):
    """The value of a published expression such as 'Izz1 + 1.0*Ia1 - 0.05*m3', in the URDF's link frames."""
    terms = fit.record.terms
    natural = (np.linalg.pinv(terms.rigid.matrix) @ fit.values_[: terms.rigid_size]).reshape(
        terms.n, 11
    )
    table = terms.arm.with_parameters(natural[:, :10]).urdf_parameters
    column = {
        k: i
        for i, k in enumerate(("m", "mx", "my", "mz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz"))
    }
    drive = {"fv": "viscous", "fs": "coulomb", "off": "offset"}
    value = 0.0
    for minus, factor, name, joint in re.findall(r"(-?)\s*(?:([\d.]+)\*)?([A-Za-z]+)(\d)", text):
        if name + joint in fit.names_:
            x = fit.values_[fit.names_.index(name + joint)]
        elif name in column:
            x = table[int(joint) - 1, column[name]]
        elif name == "Ia":
            x = natural[int(joint) - 1, 10]
        else:
            x = fit.values_[fit.names_.index(drive[name] + joint)]
        value += (-1.0 if minus else 1.0) * float(factor or 1.0) * x
    return value


@pytest.fixture(scope="module")
def tx40():
    how = Preparation(cutoff=100.0, decimate=100, slow=SLOW)
    return Identifier(arm_of("tx40"), columns=WRIST, preparation=how, regularise=0).fit(
        read("tx40")
    )


def published():
    rows = csv.reader((DATA / "tx40" / "published_base_parameters.csv").read_text().splitlines())
    return [(row[0], float(row[3]), float(row[4])) for row in rows]


def test_tx40_published_wls(tx40):
    """Well-determined combinations (relative deviation below 2 %) within twice their published deviation."""
    known = [
        (text, value, abs(value) * percent / 100)
        for text, value, percent in published()
        if percent < 2
    ]
    assert len(known) == 10
    for text, value, std in known:
        assert combination(tx40, text) == pytest.approx(value, abs=2 * std), text


def test_tx40_all_published_values(tx40):
    """Nine in ten of all sixty lie within twice their published deviation."""
    close = [
        abs(combination(tx40, text) - value) < 2 * abs(value) * percent / 100
        for text, value, percent in published()
    ]
    assert len(close) == 60
    assert np.mean(close) > 0.9
