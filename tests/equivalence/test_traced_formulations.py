"""All formulations x the options of a model, as graphs: each computes what the plain model computes."""

from __future__ import annotations

import numpy as np
import pytest

import dynarm
from dynarm.dynamics.table import TABLE
from dynarm.plan.choice import probe
from dynarm.plan.scene import Options
from strategies import random_arm, random_states

TOLERANCE = 1e-12
SAMPLES = 4
KEYS = {
    "inverse_dynamics": (
        *("inverse_dynamics", "inverse_dynamics:wrench", "gravity"),
        "inverse_dynamics_derivatives",
    ),
    "gravity": ("gravity",),
    "bias": ("bias", "coriolis_matrix"),
    "mass_matrix": ("mass_matrix",),
    "mass_matrix_and_bias": ("mass_matrix_and_bias",),
    "coriolis_tensor": ("coriolis_tensor",),
    "forward_dynamics": ("forward_dynamics", "forward_dynamics:wrench"),
    "coriolis_matrix": ("coriolis_matrix",),
    "inverse_dynamics_derivatives": (
        "inverse_dynamics_derivatives",
        "forward_dynamics_derivatives",
    ),
}
ARM = random_arm(np.random.default_rng(71), 3, "RPR", gravity="generic", base=True)
STATE = dict(zip(("q", "qd", "qdd"), random_states(np.random.default_rng(72), 3, SAMPLES)))
STATE |= {
    "tau": STATE["qdd"],
    "wrench": np.random.default_rng(73).normal(size=(SAMPLES, 6)),
    "gravity": np.tile(ARM.gravity, (SAMPLES, 1)),
}
NAMED = {
    "inverse_dynamics": "newton_euler_driving_axis",
    "bias": "newton_euler_driving_axis",
    "mass_matrix": "composite_1",
    "coriolis_tensor": "base_composite",
}


def evaluate(model, key):
    graph = model.graph(key)
    given = {**STATE, "values": np.tile(model.minimal.values, (SAMPLES, 1))}
    return graph.evaluate(*(given[p.name] for p in graph.inputs))


@pytest.fixture(scope="module")
def plain():
    model = dynarm.compile(ARM, NAMED)
    return {key: evaluate(model, key) for keys in KEYS.values() for key in keys}


@pytest.mark.parametrize("row", TABLE, ids=lambda r: f"{r.quantity}-{r.name}")
def test_formulations_with_inputs_for_gravity_and_parameters(row, plain):
    wishes = {**NAMED, row.quantity: row.name}
    for parameters in (None, "inputs"):
        if parameters and row.refuses(probe(ARM, Options(values_input=True))):
            with pytest.raises(dynarm.DynarmError, match="may hold no masses"):
                dynarm.compile(ARM, wishes, gravity="input", parameters=parameters)
            continue
        model = dynarm.compile(ARM, wishes, gravity="input", parameters=parameters)
        for key in KEYS[row.quantity]:
            for found, wanted in zip(evaluate(model, key), plain[key], strict=True):
                error = np.abs(found - wanted).max() / max(1.0, np.abs(wanted).max())
                assert error <= (1e-10 if "forward" in key else TOLERANCE), (key, parameters)
