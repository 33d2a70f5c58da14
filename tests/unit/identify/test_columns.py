"""The columns of the linear model against what they stand for: unit changes of what an arm is made of."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import dynarm
from dynarm import Column, DynarmError, Friction, minimal_parameters
from dynarm.identify.regressor import Terms
from oracles.simulated_log import exact_torque
from strategies import sample_arms

RNG = np.random.default_rng(0)
OWN = (
    Column("spring", lambda q, qd, qdd: [q[0], *[0] * (len(q) - 1)]),
    Column("wind", lambda q, qd, qdd: [0] * (len(q) - 1) + [qd[-1] * qd[-1]]),
)


def states(n, count=15):
    return [RNG.normal(size=(count, n)) for _ in range(3)]


def with_drives(arm, friction, armature=0.0):
    return replace(
        arm,
        joints=tuple(
            replace(j, friction=friction, armature=armature * (k + 1))
            for k, j in enumerate(arm.joints)
        ),
    )


ARMS = {a: dynarm.load(a) for a in ("two_link", "scara", "stanford", "puma560")}
ARMS |= {a.name: a for a in sample_arms(7, 3, (3, 4))}


@pytest.mark.parametrize("name", ARMS)
@pytest.mark.parametrize("armature", [False, True])
def test_columns_times_values_are_the_torques(name, armature):
    """With friction and motors, by the papers' formulas."""
    friction = Friction(viscous=0.5, coulomb=0.8, offset=0.2)
    arm = with_drives(ARMS[name], friction, 0.3 if armature else 0.0)
    terms, (q, qd, qdd) = Terms(arm, armature=armature, columns=OWN), states(arm.n)
    values = minimal_parameters(arm, armature=armature).values
    values = np.r_[values, [0.5, 0.8, 0.2] * arm.n, 1.5, -2.0]
    assert terms.size == len(values)
    tau = exact_torque(arm, q, qd, qdd)
    tau[:, 0] += 1.5 * q[:, 0]
    tau[:, -1] -= 2.0 * qd[:, -1] ** 2
    np.testing.assert_allclose(terms.evaluate(q, qd, qdd) @ values, tau, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(terms.forces(values, q, qd, qdd), tau, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", ARMS)
@pytest.mark.parametrize("armature", [False, True])
@pytest.mark.parametrize("asymmetric", [False, True])
def test_each_joints_rows_are_the_columns_it_feels(name, armature, asymmetric):
    arm = ARMS[name]
    terms = Terms(arm, armature=armature, asymmetric=asymmetric, columns=OWN)
    x, scratch = states(arm.n), {}
    whole = terms.evaluate(*x)
    for given, table in ((x, whole), ([y[:4] for y in x], whole[:4])):  # scratch fits the batch
        for j, rows in enumerate(terms.joint_rows(*given, scratch)):
            assert len(rows) == len(terms.support[j]) + 1
            np.testing.assert_allclose(
                rows[:-1], table[:, j, terms.support[j]].T, rtol=1e-12, atol=1e-12
            )
            kept = set(terms.support[j].tolist())
            silent = [k for k in terms.independent if k not in kept]
            assert np.abs(whole[:, j, silent]).max(initial=0) < 1e-9


def test_friction_columns_by_direction_and_shape():
    arm = ARMS["two_link"]
    qd = np.array([[0.5, -2.0], [0.0, 0.04]])
    sharp = Terms(arm)
    assert sharp.drive_names == ("viscous", "coulomb", "offset")
    viscous, coulomb, offset = sharp.drive_columns(qd)
    np.testing.assert_array_equal(viscous, qd)
    np.testing.assert_array_equal(coulomb, [[1, -1], [0, 1]])
    np.testing.assert_array_equal(offset, np.ones((2, 2)))
    smooth = Terms(arm, ("coulomb",), "tanh", (0.5, 0.04))
    np.testing.assert_allclose(
        smooth.drive_columns(qd)[0], np.tanh([[1.0, -50.0], [0.0, 1.0]]), rtol=1e-12
    )
    assert Terms(arm, shape="tanh").widths == (0.02, 0.02)
    ways = Terms(arm, asymmetric=True)
    assert ways.drive_names == ("viscous", "viscous_negative", "coulomb", "coulomb_negative")
    up, down, push, pull = ways.drive_columns(qd)
    np.testing.assert_array_equal(up, [[0.5, 0], [0, 0.04]])
    np.testing.assert_array_equal(down, [[0, -2.0], [0, 0]])
    np.testing.assert_array_equal(push, [[1, 0], [0, 1]])
    np.testing.assert_array_equal(pull, [[0, -1], [0, 0]])
    still = Terms(arm, ("viscous", "offset"), asymmetric=True)  # no Coulomb: the offset stays
    assert still.drive_names == ("viscous", "viscous_negative", "offset")
    assert ways.drive_index(1, "coulomb") == ways.names.index("coulomb2")
    assert ways.drive_index(0, "viscous_negative") == ways.names.index("viscous_negative1")


def test_redundant_unknowns_are_found_and_kept_on_request():
    scara = ARMS["scara"]
    terms = Terms(scara)
    assert [terms.names[k] for k in terms.redundant] == ["offset3"]
    assert [terms.names[k] for k in terms.leaning] == [
        "m3",
        "Ia3",
    ]  # an offset is weight, less inertia
    assert not len(Terms(ARMS["puma560"]).leaning)
    assert len(terms.independent) == terms.size - 1
    assert not any(terms.names.index("offset3") in s for s in terms.support)
    whole = Terms(scara, whole=True)
    assert len(whole.redundant) == 0
    assert terms.names.index("offset3") in whole.support[2]
    twice = Column("again", lambda q, qd, qdd: [3 * v for v in qd])  # not one joint's: it is told
    nothing = Column("nothing", lambda q, qd, qdd: [0] * len(q))
    same = Column("same", lambda q, qd, qdd: [1e-3 * qd[0], 0])
    two = Terms(ARMS["two_link"], columns=(twice, nothing, same))
    assert [two.names[k] for k in two.redundant] == ["again", "nothing", "same"]


@pytest.mark.parametrize("name", ["", "  ", 3])
def test_a_column_needs_a_name_and_a_function(name):
    with pytest.raises(DynarmError, match="give the column a name"):
        Column(name, lambda q, qd, qdd: [0])
    with pytest.raises(DynarmError, match="function is"):
        Column("spring", 3)


def test_a_columns_forces_at_one_state_and_at_many():
    column = Column("mix", lambda q, qd, qdd: [q[1] * qd[0], 2.0])
    q, qd, qdd = states(2, 4)
    many = column.evaluate(q, qd, qdd)
    np.testing.assert_array_equal(many[:, 0], q[:, 1] * qd[:, 0])
    np.testing.assert_array_equal(many[:, 1], 2.0)
    np.testing.assert_array_equal(column.evaluate(q[2], qd[2], qdd[2]), many[2])
