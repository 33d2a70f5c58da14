"""Coupling and springs that a channels file declares are columns of the fit, with the values they were made of."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest

import dynarm
from dynarm import DynarmError, Identifier, Log
from dynarm.identify.declared_terms import left_behind
from oracles.simulated_log import multi_sine

ARM = dynarm.load("two_link")
FIRST, SECOND = ARM.joint_names
TRUE = {"Ia": 0.7, "fv": 0.4, "fc": -0.5, "spring": 6.0}
PAIR = f"({FIRST},{SECOND})"
NAMES = (f"Ia{PAIR}", f"fv{PAIR}", f"fc{PAIR}", f"spring({SECOND})")
T, Q, V, A = multi_sine(2, duration=8.0, rate=200.0)
ASKED = {"friction": ("viscous", "coulomb", "offset"), "armature": False, "cutoff": 20.0}


def declared(frame=None, **more):
    channels = {"time": "t", "q": ["a", "b"], "tau": ["x", "y"], **more}
    return Log.from_frame(recorded() if frame is None else frame, channels=channels)


def recorded():
    both = np.sign(V.sum(axis=1))[:, None]
    tau = dynarm.compile(ARM).inverse_dynamics(Q, V, A) + TRUE["fc"] * both
    tau = tau + TRUE["Ia"] * A[:, ::-1] + TRUE["fv"] * V[:, ::-1]
    tau[:, 1] += TRUE["spring"] * Q[:, 1]
    columns = {"t": T, "a": Q[:, 0], "b": Q[:, 1], "x": tau[:, 0], "y": tau[:, 1]}
    return pd.DataFrame(columns)


def test_declared_terms_are_fitted_and_kept():
    log = declared(coupling=[[2, 1]], springs=[2])
    fit = Identifier(ARM, **ASKED).fit(log.cut(0.0, 6.0))
    assert fit.names_[-4:] == NAMES
    np.testing.assert_allclose(fit.values_[-4:], list(TRUE.values()), rtol=0.05)
    kept = pickle.loads(pickle.dumps(fit.record.terms.columns))
    assert kept == fit.record.terms.columns
    unseen = log.cut(6.0, 8.0)
    plain = Identifier(ARM, **ASKED).fit(declared().cut(0.0, 6.0))
    assert not plain.record.terms.columns
    assert (fit.validate(unseen).band < 0.1 * plain.validate(unseen).band).all()


def test_the_arm_and_its_file_carry_a_declared_coupling(tmp_path):
    """What is written is what the fit predicts, but for springs, which are named as left behind."""
    log = declared(coupling=[[1, 2]], springs=[2])
    fit = Identifier(ARM, **ASKED).fit(log)
    terms = fit.record.terms
    assert left_behind(ARM, terms.columns) == (NAMES[-1],)
    first, second = (joint.friction.coupling[0] for joint in fit.arm_.joints)
    assert (first.joint, second.joint) == (1, 0)
    told = [first.inertia, first.viscous, first.coulomb]
    np.testing.assert_allclose(told, fit.feasible_.values[-4:-1])
    fit.arm_.save(tmp_path / "model.toml")
    states = Q[100:200], V[100:200], A[100:200]
    again = dynarm.compile(dynarm.load(tmp_path / "model.toml"), friction=True)
    whole = terms.forces(fit.feasible_.values, *states)
    whole[:, 1] -= fit.feasible_.values[-1] * states[0][:, 1]
    np.testing.assert_allclose(again.inverse_dynamics(*states), whole, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(  # and the model has it once
        fit.model_.inverse_dynamics(*states), fit.torque(*states), rtol=1e-9, atol=1e-9
    )


def test_joints_are_meant_by_name_whatever_the_order_of_the_columns():
    turned = recorded().rename(columns={"a": "b", "b": "a", "x": "y", "y": "x"})
    log = declared(turned, joint_names=[SECOND, FIRST], springs=[1])
    assert log.drives.springs == (SECOND,)
    fit = Identifier(ARM, **ASKED).fit([log, declared(springs=[SECOND])])
    assert [c.name for c in fit.record.terms.columns] == [NAMES[-1]]


BAD = [
    ({"coupling": [5, 6]}, "give pairs of joints"),
    ({"coupling": [[1, 2, 3]]}, "give pairs of joints"),
    ({"coupling": "1,2"}, "give pairs of joints"),
    ({"springs": 2}, "give joints"),
    ({"springs": [True]}, "give joints"),
    ({"springs": [3], "joint_names": ["one", "two"]}, "joint 3 of 2; they count from 1"),
    ({"springs": [0]}, "spring joint 0; robot"),
    ({"springs": ["wrist"]}, f"spring joint 'wrist'; robot 'two_link' has {FIRST}"),
    ({"coupling": [[2, SECOND]]}, "with itself"),
]


@pytest.mark.parametrize(("more", "told"), BAD)
def test_wrong_declarations_are_refused(more, told):
    with pytest.raises(DynarmError, match=told):
        Identifier(ARM, **ASKED).fit(declared(**more))
