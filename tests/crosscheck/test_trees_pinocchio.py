"""Random trees against pinocchio: every quantity of a Model, by its formulas, by its graph, by machine code.

Most trees are computed on plain numbers by the formulas themselves, which takes milliseconds; what differentiates
automatically goes through its graph on the smaller ones; machine code is made for a few.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import dynarm
from dynarm import Arm
from dynarm.errors import ModelError
from dynarm.machine.host import on
from dynarm.plan.quantities import QUANTITIES
from dynarm.plan.regularity import check_regular
from oracles.pinocchio_tree import PinocchioTree
from oracles.processors import KINDS
from oracles.scene_numbers import traced_numbers
from oracles.tree_errors import (
    ELSEWHERE,
    FORWARD,
    ORACLE,
    RELATIVE,
    SINGULAR,
    SMALL,
    Errors,
    State,
    apart,
    drive_errors,
    forces,
    given_errors,
    has,
    limit,
    packed,
    plain_errors,
    pushed,
    several,
    traced_errors,
)
from strategies import random_tree, sample_trees, whole_state

SEED = 61
TREES, PORTIONS = 500, 20
SIZES = (*range(1, 41), *range(1, 13), *range(1, 13), *range(1, 13))
MASSLESS = 0.02  # chance of a link without mass; a joint that moves no other has no accelerations
MODERATE = 8  # joints up to which poses are searched for a regular mass matrix


def cases(portion: int) -> Iterator[tuple[int, Arm, PinocchioTree, State]]:
    """A portion of the trees, each with its twin and a state."""
    each = TREES // PORTIONS
    for k, arm in enumerate(
        sample_trees(SEED, each, SIZES, portion * each, MASSLESS), portion * each
    ):
        yield k, arm, PinocchioTree.of(arm), whole_state(np.random.default_rng([SEED, k]), arm)


def check(arm: Arm, errors: Errors) -> None:
    bad = {k: f"{e:.1e} > {most:.0e}" for k, (e, most) in errors.items() if not e <= most}
    assert not bad, (arm.name, bad)


def test_every_quantity_is_compared():
    assert set(ORACLE) | ELSEWHERE == set(QUANTITIES)


def test_the_trees_are_of_all_kinds():
    arms = list(sample_trees(SEED, TREES, SIZES, massless=MASSLESS))
    assert {1, 2, 39, 40} <= {arm.n for arm in arms}
    assert sum(arm.floating is not None for arm in arms) == TREES // 2
    assert sum(not arm.coupling.free for arm in arms) == TREES // 2
    assert sum(arm.branched for arm in arms) > TREES * 0.8
    assert sum(arm.parents.count(-1) > 1 for arm in arms) > TREES // 3
    assert sum(any(j.beta for j in arm.joints) for arm in arms) > TREES // 8
    assert sum(len(arm.tools or ()) == 2 for arm in arms) > TREES // 5
    assert {kind for arm in arms for kind in (j.kind for j in arm.joints)} == {
        "revolute",
        "prismatic",
    }


def check_accelerations(arm: Arm, P: PinocchioTree, s: State) -> None:
    """A tree has accelerations, or is refused."""
    if np.linalg.cond(P.mass_matrix(s["q"])) < SINGULAR:
        check_regular(arm)
    else:
        with pytest.raises(ModelError, match=r"moves no inertia|singular in every pose"):
            check_regular(arm)


@pytest.mark.parametrize("portion", range(PORTIONS))
def test_formulas(portion):
    for k, arm, P, s in cases(portion):
        check(arm, plain_errors(arm, P, s))
        if arm.n <= MODERATE:
            check_accelerations(arm, P, s)
        if k % 5 == 0:
            check(arm, drive_errors(arm, P, s))


@pytest.mark.parametrize("portion", range(0, PORTIONS, 4))
def test_graphs_and_given_parameters(portion):
    for _, arm, P, s in cases(portion):
        if arm.n <= SMALL:
            check(arm, traced_errors(arm, P, s))
            check(arm, given_errors(arm, P, s))


# ---- machine code

COMPILED = 25
ALWAYS = ("inverse_dynamics", "forward_dynamics", "mass_matrix_packed")
OTHERS = [word for word in QUANTITIES if word not in ALWAYS]
SHARE = 3  # quantities besides that are compiled for each tree, in turn
BATCH = 19  # whole blocks of every width, and some left over


def regular_trees(count: int, sizes: Any, seed: int) -> list[Arm]:
    return list(sample_trees(seed, count, sizes, massless=0.0))


def batch_of(arm: Arm, seed: int) -> State:
    rng = np.random.default_rng(seed)
    states = [whole_state(rng, arm) for _ in range(BATCH)]
    return {name: np.stack([s[name] for s in states]) for name in states[0]}


def expected(arm: Arm, word: str, P: PinocchioTree, batch: State) -> tuple[np.ndarray, ...]:
    """What pinocchio says of a batch; of quantities that it has not, what their graph says."""
    if word not in ORACLE and word != "mass_matrix_packed":
        return traced_numbers(arm, word, batch)
    states = [{k: x[i] for k, x in batch.items()} for i in range(BATCH)]
    if word == "mass_matrix_packed":
        return (np.array([packed(P, s, arm) for s in states]),)
    rows = [several(ORACLE[word](P, s)) for s in states]
    return tuple(np.array(output) for output in zip(*rows, strict=True))


def check_compiled(arm: Arm, model: dynarm.Model, words: Any, batch: State) -> None:
    P = PinocchioTree.of(arm)
    condition = max(float(np.linalg.cond(P.mass_matrix(q))) for q in batch["q"])
    for word in words:
        if not has(arm, word, condition):
            continue
        state = [batch[name] for name in QUANTITIES[word].state]
        ours = several(getattr(model, word)(*state))
        error = apart(ours, expected(arm, word, P, batch))
        assert error <= limit(word, condition), (arm.name, word, error)


@pytest.mark.parametrize("k", range(COMPILED))
def test_compiled(k):
    arm = regular_trees(COMPILED, (1, 2, 3, 4), 67)[k]
    turn = [OTHERS[(SHARE * k + i) % len(OTHERS)] for i in range(SHARE)]
    check_compiled(arm, dynarm.compile(arm), (*ALWAYS, *turn), batch_of(arm, k))


FORK = {"branching": 1.0, "near": 0.5, "gravity": "generic", "mimic": 1}
HOSTED = {
    "fixed": random_tree(np.random.default_rng(71), 4, "RPRR", base=True, tools=2, **FORK),
    "floating": random_tree(np.random.default_rng(72), 2, "RP", floating=True, tools=1, **FORK),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", HOSTED)
def test_compiled_for_every_kind_of_host(name, kind):
    """Each kind has the quantities of always, and half of the others; its neighbour has the other half."""
    arm, turn = HOSTED[name], (list(HOSTED).index(name) + list(KINDS).index(kind)) % 2
    with on(KINDS[kind]):
        check_compiled(arm, dynarm.compile(arm), (*ALWAYS, *OTHERS[turn::2]), batch_of(arm, 1))


@pytest.mark.parametrize("k", range(4))
def test_compiled_with_wrenches_gravity_and_values(k):
    arm = regular_trees(40, (3, 4, 5), 73)[32 + k]
    arm = replace(arm, tools=(dynarm.Tool("a", arm.n - 1, None), dynarm.Tool("b", -1, None)))
    P, batch = PinocchioTree.of(arm), batch_of(arm, k)
    one = [{name: x[i] for name, x in batch.items()} for i in range(BATCH)]
    model = dynarm.compile(arm, parameters="inputs", gravity="input")
    given = {"values": model.minimal.values, "gravity": np.array(arm.gravity)}
    push = np.array([pushed(P, s) for s in one])
    q, qd, qdd, tau, wrench = (batch[x] for x in ("q", "qd", "qdd", "tau", "wrench"))
    ours = model.inverse_dynamics(q, qd, qdd, wrench, **given)
    assert apart(ours, np.array([forces(P, s) for s in one]) - push) <= RELATIVE * 10
    accelerations = [
        P.forward_dynamics(s["q"], s["qd"], s["tau"] + w) for s, w in zip(one, push, strict=True)
    ]
    ours = model.forward_dynamics(q, qd, tau, wrench, **given)
    assert apart(ours, np.array(accelerations)) <= FORWARD
    M = model.mass_matrix(q, values=given["values"])
    assert apart(M, np.array([P.mass_matrix(s["q"]) for s in one])) <= RELATIVE
