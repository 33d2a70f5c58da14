"""Every kind of host that this processor can be: each computes what the graph says, and all agree."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import dynarm
from dynarm.dynamics.table import TABLE
from dynarm.machine.host import on
from dynarm.plan.quantities import QUANTITIES
from oracles.pinocchio_arm import pinocchio_model
from oracles.processors import KINDS
from strategies import random_arm, random_states

TOLERANCE = 1e-12  # times the largest entry, or 1
CONDITIONED = 1e-10  # what is divided by the mass matrix
SAMPLES = 19  # whole blocks of every width, and some left over
ARMS = {
    "mixed": random_arm(np.random.default_rng(81), 3, "RPR", gravity="generic", base=True),
    "industrial": dynarm.load("puma560"),
}
WORDS = {  # quantities that are compiled for every kind; all of them for the short arm
    "mixed": tuple(QUANTITIES),
    "industrial": ("inverse_dynamics", "mass_matrix_and_bias", "forward_dynamics", "jacobian"),
}


def states(model, key) -> list[np.ndarray]:
    n = model.arm.n
    q, qd, qdd = random_states(np.random.default_rng(82), n, SAMPLES)
    given = {"q": q, "qd": qd, "qdd": qdd, "tau": qdd}
    return [given[port.name] for port in model.ports(key)[0]]


def several(x) -> tuple[np.ndarray, ...]:
    return x if isinstance(x, tuple) else (x,)


@cache
def computed(arm: str, kind: str) -> dict[str, tuple[np.ndarray, ...]]:
    """All words of an arm's model, by machine code of one kind."""
    model = dynarm.compile(ARMS[arm], friction=True)
    with on(KINDS[kind]):
        return {word: several(model.functions[word](*states(model, word))) for word in WORDS[arm]}


@pytest.mark.parametrize("arm", ARMS)
@pytest.mark.parametrize("kind", KINDS)
def test_machine_code_is_its_graph(kind, arm):
    model = dynarm.compile(ARMS[arm], friction=True)
    for word, got in computed(arm, kind).items():
        wanted = model.graph(word).evaluate(*states(model, word))
        for x, y in zip(got, wanted, strict=True):
            error = np.abs(x - y).max() / max(1.0, np.abs(y).max())
            assert error <= (CONDITIONED if "forward" in word else TOLERANCE), word


@pytest.mark.parametrize("arm", ARMS)
@pytest.mark.parametrize("kind", KINDS)
def test_kinds_that_round_alike_have_the_same_bits(kind, arm):
    alike = next(k for k in KINDS if KINDS[k].fused == KINDS[kind].fused)
    for word, got in computed(arm, kind).items():
        for x, y in zip(got, computed(arm, alike)[word], strict=True):
            assert x.tobytes() == y.tobytes(), word


@pytest.mark.parametrize("kind", KINDS)
def test_kinds_agree_with_pinocchio(kind):
    arm = ARMS["industrial"]
    plain, twin = dynarm.compile(arm), pinocchio_model(arm)
    q, qd, qdd = random_states(np.random.default_rng(82), arm.n, SAMPLES)
    with on(KINDS[kind]):
        got = plain.inverse_dynamics(q, qd, qdd)
    wanted = np.array([twin.inverse_dynamics(*s) for s in zip(q, qd, qdd, strict=True)])
    assert np.abs(got - wanted).max() <= TOLERANCE * np.abs(wanted).max()


ROWS = [(row, list(KINDS)[k % len(KINDS)]) for k, row in enumerate(TABLE)]
NAMES = [f"{row.quantity}-{row.name}-{kind}" for row, kind in ROWS]


@pytest.mark.parametrize(("row", "kind"), ROWS, ids=NAMES)
def test_every_formulation_on_one_kind(row, kind):
    """Formulations in turn over the kinds, so that each becomes machine code, and each kind sees many."""
    model = dynarm.compile(ARMS["mixed"], {row.quantity: row.name})
    with on(KINDS[kind]):
        got = several(model.functions[row.quantity](*states(model, row.quantity)))
    wanted = dynarm.compile(ARMS["mixed"]).graph(row.quantity)
    for x, y in zip(got, wanted.evaluate(*states(model, row.quantity)), strict=True):
        error = np.abs(x - y).max() / max(1.0, np.abs(y).max())
        assert error <= (CONDITIONED if "forward" in row.quantity else TOLERANCE)
