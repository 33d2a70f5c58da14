"""fit.model_ is the fit: the user's own columns are in every answer, or the answer is refused by name."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest

import dynarm
from dynarm import Column, DynarmError, Identifier
from dynarm.algebra.vectors import cos, sign, sin, tanh
from oracles.simulated_log import exact_log

TWO = dynarm.load("two_link")
COEFFICIENTS = (7.0, 0.6, 1.5)


def spring(q, qd, qdd):
    return [sin(q[0]) * cos(q[1]), 0]


def coupling(q, qd, qdd):
    return [qdd[1], qdd[0]]


def rub(q, qd, qdd):
    return [tanh(qd[0] + qd[1]), sign(qd[0] + qd[1])]


COLUMNS = tuple(Column(f.__name__, f) for f in (spring, coupling, rub))
RNG = np.random.default_rng(3)
Q, QD, QDD = (RNG.normal(size=(20, 2)) for _ in range(3))


def forces(q, qd, qdd):
    """The columns' forces, written again."""
    a, b, c = COEFFICIENTS
    s = qd.sum(axis=-1)
    return np.stack(
        [
            a * np.sin(q[..., 0]) * np.cos(q[..., 1]) + b * qdd[..., 1] + c * np.tanh(s),
            b * qdd[..., 0] + c * np.sign(s),
        ],
        axis=-1,
    )


@pytest.fixture(scope="module")
def fit():
    log = exact_log(TWO)
    log = replace(log, tau=log.tau + forces(log.q, log.qd, log.qdd))
    return Identifier(TWO, friction=(), armature=False, columns=COLUMNS).fit(log)


@pytest.fixture(scope="module")
def model(fit):
    return fit.model_


RIGID = dynarm.compile(TWO)
SAME = {"rtol": 1e-8, "atol": 1e-8}


def wanted():
    """name -> (state, value)"""
    rest = np.zeros_like(Q)
    M = RIGID.mass_matrix(Q) + 0.6 * (1 - np.eye(2))
    bias = RIGID.bias(Q, QD) + forces(Q, QD, rest)
    return {
        "inverse_dynamics": (
            (Q, QD, QDD),
            RIGID.inverse_dynamics(Q, QD, QDD) + forces(Q, QD, QDD),
        ),
        "gravity": ((Q,), RIGID.gravity(Q) + forces(Q, rest, rest)),
        "bias": ((Q, QD), bias),
        "mass_matrix": ((Q,), M),
        "kinetic_energy": ((Q, QD), np.einsum("ki,kij,kj->k", QD, M, QD) / 2),
    }


@pytest.mark.parametrize("name", wanted())
def test_columns_are_in_the_numbers(model, name):
    state, value = wanted()[name]
    np.testing.assert_allclose(getattr(model, name)(*state), value, **SAME)
    one = getattr(model, name)(*(x[0] for x in state))
    np.testing.assert_allclose(one, value[0], **SAME)


def test_columns_are_in_pairs_and_in_forward_dynamics(model):
    M, b = model.mass_matrix_and_bias(Q, QD)
    np.testing.assert_allclose(M, wanted()["mass_matrix"][1], **SAME)
    np.testing.assert_allclose(b, wanted()["bias"][1], **SAME)
    tau = model.inverse_dynamics(Q, QD, QDD)
    np.testing.assert_allclose(model.forward_dynamics(Q, QD, tau), QDD, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("name", ["inverse_dynamics", "gravity", "bias", "mass_matrix"])
def test_columns_are_in_graphs_and_casadi_functions(model, name):
    state, value = wanted()[name]
    np.testing.assert_allclose(model.graph(name).evaluate(*state)[0], value, **SAME)
    f = model.casadi(name)
    for k in range(3):
        told = np.array(f(*(x[k] for x in state))).ravel()
        np.testing.assert_allclose(told, value[k].ravel(), **SAME)


def test_columns_are_in_the_graph_of_the_pair_and_of_a_wrench(model):
    M, b = model.graph("mass_matrix_and_bias").evaluate(Q, QD)
    np.testing.assert_allclose(M, wanted()["mass_matrix"][1], **SAME)
    np.testing.assert_allclose(b, wanted()["bias"][1], **SAME)
    wrench = RNG.normal(size=(20, 6))
    (tau,) = model.graph("inverse_dynamics:wrench").evaluate(Q, QD, QDD, wrench)
    np.testing.assert_allclose(tau, model.inverse_dynamics(Q, QD, QDD, wrench), **SAME)
    np.testing.assert_allclose(
        tau, RIGID.inverse_dynamics(Q, QD, QDD, wrench) + forces(Q, QD, QDD), **SAME
    )


REFUSED = (
    "potential_energy", "coriolis_matrix", "coriolis_tensor", "inverse_dynamics_derivatives",
    "forward_dynamics_derivatives", "regressor", "functions", "kernel", "minimal",
    "inverse_dynamics_derivatives_packed",
)  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_would_leave_them_out_is_refused(model, name):
    with pytest.raises(DynarmError, match="spring, coupling, rub") as refusal:
        getattr(model, name)
    assert f"model.rigid.{name}" in str(refusal.value)
    assert getattr(model.rigid, name) is not None


def test_every_word_of_a_model_is_included_or_refused(model):
    """Nothing of the rigid model shines through but what no force has a part in."""
    through = []
    for name in dir(dynarm.Model):
        if name.startswith("_") or name in vars(type(model)):
            continue
        try:
            getattr(model, name)
        except DynarmError:
            continue
        through.append(name)
    assert sorted(through) == [
        "formulation", "forward_kinematics", "friction_state", "jacobian", "jacobian_derivative"
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["forward_dynamics", "coriolis_matrix", "potential_energy"])
def test_graphs_that_would_leave_them_out_are_refused(model, name):
    for ask in (model.graph, model.casadi):
        with pytest.raises(DynarmError, match="spring, coupling, rub"):
            ask(name)


def test_c_export_and_simulation_include_or_refuse_them(model, tmp_path):
    with pytest.raises(DynarmError, match="spring, coupling, rub"):
        dynarm.export_c(model, tmp_path / "c")
    with pytest.raises(DynarmError, match="spring, coupling, rub"):
        dynarm.simulate(model, [0, 0], [0, 0], 1.0)
    assert not (tmp_path / "c").exists()


def test_unknown_words_and_places_for_results(model):
    with pytest.raises(AttributeError, match="beauty"):
        model.beauty  # noqa: B018
    with pytest.raises(DynarmError, match="unknown quantity"):
        model.graph("beauty")
    for call in (lambda o: model.gravity(Q, out=o), lambda o: model.bias(Q, QD, out=o)):
        with pytest.raises(DynarmError, match="out="):
            call(np.empty_like(Q))
    np.testing.assert_array_equal(model.jacobian(Q), RIGID.jacobian(Q))


def test_columns_that_only_numpy_understands_run_but_are_not_traced():
    own = Column("table", lambda q, qd, qdd: [np.interp(q[0], [-4, 0, 4], [1, 0, 1]), 0])
    log = exact_log(TWO)
    extra = 3 * np.column_stack([np.interp(log.q[:, 0], [-4, 0, 4], [1, 0, 1]), 0 * log.q[:, 1]])
    log = replace(log, tau=log.tau + extra)
    model = Identifier(TWO, friction=(), armature=False, columns=(own,)).fit(log).model_
    value = RIGID.gravity(Q)
    value[:, 0] += 3 * np.interp(Q[:, 0], [-4, 0, 4], [1, 0, 1])
    np.testing.assert_allclose(model.gravity(Q), value, **SAME)
    with pytest.raises(DynarmError, match=r"'table'.*dynarm\.algebra"):
        model.casadi("gravity")


def test_models_with_columns_pickle(model):
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.gravity(Q), model.gravity(Q))
    assert "\n" not in repr(model) and len(repr(model)) < 200
