"""What the dynamics of every whole robot must satisfy, whatever its numbers: random trees, fixed, free, with followers.

Derivatives along a motion are taken by a complex step, as in `test_identities.py`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import dynarm
from dynarm import Arm, Friction, Joint
from dynarm.algebra.vectors import Vec3
from dynarm.dynamics.own.free_base import rotation_of, turning
from dynarm.dynamics.table import PARTS, TABLE, applicable, formulation, formulations
from dynarm.errors import InputError
from dynarm.graph.trace import flatten
from dynarm.plan.choice import candidates, count, graph, wished
from dynarm.plan.quantities import QUANTITIES
from dynarm.plan.scene import PLAIN, Scene
from dynarm.plan.sizes import packed_pattern
from dynarm.robot.frames.chain import chain_of, pose
from oracles.scene_numbers import ROWS, numbers_of, scene_of
from strategies import random_tree, sample_arms, sample_trees, whole_state

TOLERANCE = 1e-12  # times the largest of the terms that must cancel
STEP = 1e-30  # of the complex step: its square vanishes
TREES = list(sample_trees(97, 48, (1, 2, 3, 5, 8, 12), massless=0.0))
trees = pytest.mark.parametrize("arm", TREES, ids=lambda arm: arm.name)


def moving(arm: Arm, **other: Any) -> dict[str, Any]:
    s = whole_state(np.random.default_rng(arm.n), arm)
    return {**{x: s[x] for x in ("q", "qd", "qdd", "tau")}, **other}


def one(arm: Arm, word: str, s: dict[str, Any], **rows: str) -> np.ndarray:
    (values,) = numbers_of(scene_of(arm, s, **rows), word)
    return values


def small(error: Any, *terms: Any) -> bool:
    """Whether an error is rounding of the terms that it is made from."""
    scale = max(1.0, *(float(np.abs(t).max()) for t in terms))
    return bool(np.abs(error).max() <= TOLERANCE * scale)


def rate(arm: Arm, word: str, s: dict[str, Any]) -> np.ndarray:
    """The time derivative of a quantity of q and qd along the motion."""
    q, qd = s["q"], s["qd"]
    turned = [*qd]
    if arm.floating:
        linear = rotation_of(q[3:7].tolist()) @ Vec3(*qd[:3].tolist())
        turned = [*linear, *turning(q[3:7].tolist(), Vec3(*qd[3:6].tolist())), *qd[6:]]
    ends = {"q": q + 1j * STEP * np.array(turned), "qd": qd + 1j * STEP * s["qdd"]}
    given = {name: [np.array([x]) for x in values] for name, values in ends.items()}
    chosen = {quantity: formulation(quantity, name) for quantity, name in ROWS.items()}
    values = flatten(QUANTITIES[word].compute(Scene(arm, PLAIN, chosen, given)))
    return np.array([np.imag(np.ravel(x)[0]) / STEP for x in values])


@trees
def test_mass_matrix_is_symmetric_positive_and_zero_off_its_pattern(arm):
    s = moving(arm)
    M = one(arm, "mass_matrix", s)
    assert np.array_equal(M, M.T)
    assert np.linalg.eigvalsh(M).min() >= -TOLERANCE * np.abs(M).max()
    rows, columns = np.array(packed_pattern(arm)).T
    off = np.tril(np.ones_like(M, dtype=bool))
    off[rows, columns] = False
    assert not M[off].any(), "entries that structure makes zero are exactly zero"
    assert np.array_equal(one(arm, "mass_matrix_packed", s), M[rows, columns])
    energy = 0.5 * s["qd"] @ M @ s["qd"]
    assert small(energy - one(arm, "kinetic_energy", s), energy)


def test_patterns_are_no_larger_than_they_must_be():
    """Trees without special numbers have no zero in the pattern."""
    for k in range(12):
        arm = random_tree(
            np.random.default_rng([3, k]),
            9,
            "R",
            "generic",
            "generic",
            floating=k % 2 > 0,
            mimic=k % 3,
        )
        assert one(arm, "mass_matrix_packed", moving(arm)).all()
        if k % 3 == 0 and arm.branched:
            assert len(packed_pattern(arm)) < arm.nv * (arm.nv + 1) // 2


@trees
def test_torques_are_linear_in_accelerations(arm):
    s = moving(arm)
    free, first, second = (
        one(arm, "inverse_dynamics", {**s, "qdd": k * s["qdd"]}) for k in (0.0, 1.0, 2.0)
    )
    assert small(second - 2 * first + free, second, free)
    assert small(first - free - one(arm, "mass_matrix", s) @ s["qdd"], first, free)
    assert small(free - one(arm, "bias", s), free)


@trees
def test_forward_dynamics_undoes_inverse_dynamics(arm):
    s = moving(arm)
    M = one(arm, "mass_matrix", s)
    limit = TOLERANCE * np.abs(s["qdd"]).max() * max(1.0, float(np.linalg.cond(M)))
    given = {**s, "tau": one(arm, "inverse_dynamics", s)}
    names = [row.name for row in candidates(arm, "forward_dynamics", PLAIN, None)]
    wholes = 2 if chain_of(arm).serial else 0  # H and b of one graph, lin1991
    assert len(names) == (2 if arm.coupling.free else 1) + wholes
    for name in names:
        ours = one(arm, "forward_dynamics", given, forward_dynamics=name)
        assert np.abs(ours - s["qdd"]).max() <= limit, name


@trees
def test_power_is_the_rate_of_energy(arm):
    s = moving(arm)
    tau = one(arm, "inverse_dynamics", s)
    kinetic, potential = (rate(arm, f"{kind}_energy", s) for kind in ("kinetic", "potential"))
    assert small(kinetic + potential - tau @ s["qd"], kinetic, potential, tau)


@trees
def test_momentum_changes_by_gravity_alone_where_nothing_holds_the_base(arm):
    if not arm.floating:
        return
    s = moving(arm)
    s["tau"][:6] = 0
    s["qdd"] = one(arm, "forward_dynamics", s)
    mass = arm.parameters[:, 0].sum()
    force = np.array([*(mass * np.array(arm.gravity)), 0, 0, 0])
    M = one(arm, "mass_matrix", s)
    terms = one(arm, "momentum_matrix", s) @ s["qdd"], np.linalg.cond(M)
    assert small(rate(arm, "momentum", s) - force, *terms)


@trees
def test_centre_of_mass_moves_with_the_momentum(arm):
    s = moving(arm)
    mass = arm.parameters[:, 0].sum()
    momentum = one(arm, "momentum", s)
    assert small(rate(arm, "center_of_mass", s) * mass - momentum[:3], momentum)
    assert small(one(arm, "center_of_mass_jacobian", s) @ s["qd"] * mass - momentum[:3], momentum)
    assert small(one(arm, "momentum_matrix", s) @ s["qd"] - momentum, momentum)


# ---- chains and trees are one


@pytest.mark.parametrize("arm", list(sample_arms(5, 8)), ids=lambda arm: arm.name)
def test_a_chain_with_its_parents_written_out_is_the_chain(arm):
    joints = [replace(joint, parent=i - 1) for i, joint in enumerate(arm.joints)]
    written = replace(arm, joints=joints)
    assert written == arm and written.serial
    for quantity in ("inverse_dynamics", "mass_matrix"):
        assert count(written, quantity) == count(arm, quantity)


@pytest.mark.parametrize(
    "row", [r for r in TABLE if r.trees], ids=lambda r: f"{r.quantity}-{r.name}"
)
def test_a_chain_as_a_tree_has_the_same_bits(row):
    """Parents that say what a chain means anyway change nothing: there is one code path.

    Derivatives by composite bodies move the origins of a chain first, and round otherwise.
    """
    for arm in sample_arms(13, 24):
        rng = np.random.default_rng(arm.n)
        q, qd, qdd = (rng.uniform(-2, 2, arm.n).tolist() for _ in range(3))
        chain = chain_of(arm)
        tree = replace(chain, parents=tuple(range(-1, arm.n - 1)))
        more: dict[str, tuple[Any, ...]] = {
            "inverse_dynamics": (qd, qdd),
            "bias": (qd,),
            "coriolis_matrix": (qd,),
            "forward_dynamics": (qd, qdd, {}, [0.5] * arm.n),
            "inverse_dynamics_derivatives": (qd, qdd),
        }
        state = more.get(row.quantity, ())
        answers = [flatten(list(row.function(c, pose(c, q), *state))) for c in (chain, tree)]
        if row.name == "composite":
            ours, theirs = (np.array(x, float) for x in answers)
            assert small(ours - theirs, theirs), arm.name
        else:
            assert answers[0] == answers[1], arm.name


@pytest.mark.parametrize("k", range(12))
def test_the_order_of_branches_does_not_matter(k):
    """Joints in another order, parents before children: the results are those, reordered."""
    rng = np.random.default_rng([31, k])
    arm = random_tree(
        rng, 9, near=0.2, branching=0.7, mimic=k % 3, floating=k % 2 > 0, gravity="generic"
    )
    alone = arm.floating is None and arm.parents.count(-1) == 1
    order = shuffled(arm, rng, fixed=1 if alone else 0)
    other = reordered(arm, order)
    assert sorted(order) == list(range(arm.n)) and order != list(range(arm.n))
    names = list(other.joint_names)
    first = arm.nv - len(names)
    places = [*range(first), *(first + names.index(name) for name in arm.joint_names)]
    s = moving(arm)
    there = {"q": np.empty(arm.nq), "qd": np.empty(arm.nv), "qdd": np.empty(arm.nv)}
    coordinates = [*range(arm.nq - len(names)), *(p + arm.nq - arm.nv for p in places[first:])]
    there["q"][coordinates] = s["q"]
    there["qd"][places], there["qdd"][places] = s["qd"], s["qdd"]
    for word in ("inverse_dynamics", "bias", "gravity"):
        ours = one(arm, word, s)
        assert small(one(other, word, there)[places] - ours, ours), word
    M = one(arm, "mass_matrix", s)
    assert small(one(other, "mass_matrix", there)[np.ix_(places, places)] - M, M)
    assert small(one(other, "momentum", there) - one(arm, "momentum", s), M)


def shuffled(arm: Arm, rng: np.random.Generator, fixed: int) -> list[int]:
    """A random order of the joints with parents before children; the first few stay."""
    order = list(range(fixed))
    left = set(range(fixed, arm.n))
    while left:
        ready = sorted(i for i in left if arm.parents[i] < 0 or arm.parents[i] in order)
        order.append(int(rng.choice(ready)))
        left.discard(order[-1])
    return order


def reordered(arm: Arm, order: list[int]) -> Arm:
    def moved(i: int) -> Joint:
        joint = arm.joints[i]
        parent = arm.parents[i]
        mimic = joint.mimic
        if mimic is not None:
            mimic = replace(mimic, joint=order.index(int(mimic.joint)))
        return replace(joint, parent=order.index(parent) if parent >= 0 else -1, mimic=mimic)

    return replace(arm, joints=[moved(i) for i in order])


# ---- every formulation that takes trees


def serving(arm: Arm, quantity: str) -> list[str]:
    """The names of the formulations, put together or not, that apply to a robot."""
    names = []
    for name in formulations(quantity):
        try:
            wished(arm, quantity, name, PLAIN)
        except InputError:
            continue
        names.append(name)
    return names


SMALL = {
    "fixed": random_tree(np.random.default_rng(1), 4, "RRPR", branching=0.9, near=0.3),
    "floating": random_tree(np.random.default_rng(2), 3, "RPR", branching=0.9, floating=True),
    "mimic": random_tree(np.random.default_rng(3), 4, "RRRP", branching=0.9, mimic=1),
}
EXPECTED = {  # how many ways there are for a fixed, a floating tree, and one with followers
    "inverse_dynamics": (1, 1, 1),
    "bias": (1, 1, 1),
    "mass_matrix": (1, 1, 1),
    "mass_matrix_and_bias": (1, 1, 1),
    "gravity": (1, 1, 1),
    "coriolis_tensor": (1, 1, 1),
    "forward_dynamics": (2, 2, 1),
    "coriolis_matrix": (2, 1, 2),
    "inverse_dynamics_derivatives": (2, 1, 2),
}


@pytest.mark.parametrize("quantity", EXPECTED)
@pytest.mark.parametrize("kind", SMALL)
def test_all_formulations_of_trees_agree(kind, quantity):
    arm = SMALL[kind]
    assert arm.branched
    names = serving(arm, quantity)
    assert len(names) >= EXPECTED[quantity][list(SMALL).index(kind)]
    s = moving(arm)
    answers = []
    for name in names:
        made = graph(arm, quantity, {quantity: wished(arm, quantity, name, PLAIN)})
        answers.append(made.evaluate(*(s[port.name] for port in made.inputs)))
    scale = float(np.linalg.cond(one(arm, "mass_matrix", s))) if "forward" in quantity else 1.0
    for other in answers[1:]:
        for x, y in zip(answers[0], other, strict=True):
            assert np.abs(x - y).max() <= TOLERANCE * max(1.0, np.abs(y).max()) * scale


def test_every_quantity_of_the_table_is_compared():
    assert set(EXPECTED) == {row.quantity for row in TABLE}
    for quantity in EXPECTED:
        rows = applicable(quantity, chain_of(SMALL["fixed"]))
        assert rows or quantity in PARTS


@pytest.mark.parametrize("kind", SMALL)
def test_machine_code_has_the_same_zeros(kind):
    arm = SMALL[kind]
    model = dynarm.compile(arm)
    q = moving(arm)["q"]
    M = model.mass_matrix(q)
    rows, columns = model.mass_matrix_pattern
    mask = np.zeros_like(M, dtype=bool)
    mask[rows, columns] = mask[columns, rows] = True
    assert not M[~mask].any() and np.array_equal(M, M.T)
    # a packed kernel is another one, whose sums may be fused otherwise
    assert small(model.mass_matrix_packed(q) - M[rows, columns], M)


# ---- derivatives, packed

CHAINS = {
    "arm": dynarm.load("generic_7r"),
    "floating arm": random_tree(np.random.default_rng(4), 3, "RRP", branching=0.0, floating=True),
    "rubbed": replace(
        SMALL["fixed"],
        joints=tuple(
            replace(j, friction=Friction(0.5, 0.8, shape="tanh"), armature=0.1)
            for j in SMALL["fixed"].joints
        ),
    ),
}


@pytest.mark.parametrize("kind", [*SMALL, *CHAINS])
def test_packed_derivatives_are_the_dense_ones(kind):
    arm = {**SMALL, **CHAINS}[kind]
    model = dynarm.compile(arm, friction=kind == "rubbed")
    s = moving(arm)
    batch = [np.stack([s[name], 0.7 * s[name]]) for name in ("q", "qd", "qdd")]
    if arm.floating:
        batch[0][1, 3:7] = s["q"][3:7]
    dense = model.inverse_dynamics_derivatives(*batch)
    packed = model.inverse_dynamics_derivatives_packed(*batch)
    slopes, lower = model.derivatives_pattern, model.mass_matrix_pattern
    for x, y, at in zip(packed, dense, (slopes, slopes, lower), strict=True):
        assert x.shape == (2, len(at[0])) and small(x - y[:, at[0], at[1]], y)
    for y in dense[:2]:
        y[:, slopes[0], slopes[1]] = 0.0
        assert not y.any(), "entries that structure makes zero are exactly zero"
    assert (slopes[0].size < arm.nv**2) == bool(arm.branched or arm.floating)


@pytest.mark.parametrize("k", range(6))
def test_patterns_of_derivatives_are_no_larger_than_they_must_be(k):
    """Trees without special numbers have no place in the pattern where both derivatives are zero."""
    arm = random_tree(
        np.random.default_rng([3, k]), 7, "R", "generic", "generic", floating=k % 2 > 0, mimic=k % 3
    )
    s = moving(arm)
    made = dynarm.compile(arm).graph("inverse_dynamics_derivatives_packed")
    dq, dqd, _ = made.evaluate(s["q"], s["qd"], s["qdd"])
    assert ((dq != 0) | (dqd != 0)).all()
