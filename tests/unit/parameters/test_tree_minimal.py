"""Minimal parameters of trees, free bases and coupled joints as users meet them: names, conventions, loads."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import numpy as np
import pytest

import dynarm
from dynarm import Arm, Body, Joint, Mimic, Tool
from dynarm.errors import InputError
from dynarm.parameters.conventions import natural_values
from dynarm.parameters.loads import entry_matrix, loads
from dynarm.parameters.minimal import CONVENTIONS
from oracles.tree_minimal import (
    TOLERANCE,
    forces_of,
    minimal_of,
    missed,
    random_motion,
    rank_of,
    stacked,
)
from oracles.tree_recursion import coupled_states, tree_regressor
from strategies import random_tree, sample_trees

TREES = list(sample_trees(77, 48))
by_name = pytest.mark.parametrize("arm", TREES, ids=lambda arm: arm.name)


def solid(x: float = 0.1) -> dict:
    """A link without symmetry."""
    inertia = [[0.03, 0.004, -0.002], [0.004, 0.05, 0.003], [-0.002, 0.003, 0.04]]
    return {"mass": 2.0, "com": (x, 0.05, -0.03), "inertia": inertia}


# ---- names and counts


@pytest.mark.parametrize("k", range(12))
def test_a_free_base_has_ten_and_shields_nothing(k):
    rng = np.random.default_rng([8, k])
    arm = random_tree(rng, 6, gravity=("z", "generic", "none")[k % 3], floating=True)
    mp = minimal_of(arm)
    turning = sum(j.revolute for j in arm.joints)
    assert mp.count == 10 + 7 * turning + 4 * (arm.n - turning)
    assert mp.names[:5] == ("m0", "k0_x", "k0_y", "k0_z", "U0_11")
    assert mp.names[9] == "U0_33" and mp.natural[:11] == (
        *(f"{p}0" for p in dynarm.robot.arm.PARAMETER_NAMES),
        "m1",
    )
    assert mp.values[0] == pytest.approx(arm.parameters[:, 0].sum())
    assert not mp.decisions and not mp.doubts
    regrouped = minimal_of(arm, "gautier1990").names[:10]
    assert [name.rstrip("R") for name in regrouped] == list(mp.natural[:10])


@pytest.mark.parametrize("k", range(20))
def test_a_joint_has_the_parameters_of_its_path(k):
    """Those of the chain of its ancestors; what hangs beside it changes nothing."""
    arm = random_tree(np.random.default_rng([9, k]), 7, twists="structured", branching=0.6)
    kinds = minimal_of(arm).tree.layout()
    for i in range(arm.n):
        path = [i]
        while arm.parents[path[0]] >= 0:
            path.insert(0, arm.parents[path[0]])
        chain = replace(arm, joints=[replace(arm.joints[j], parent=None) for j in path])
        last = [kind for k, kind in minimal_of(chain).tree.layout() if k == len(path) - 1]
        assert [kind for k, kind in kinds if k == i] == last


def test_two_pendulums_on_one_base_are_two_pendulums():
    arm = Arm(
        [
            Joint(alpha=math.pi / 2, **solid()),
            Joint(alpha=math.pi / 2, a=0.3, gamma=0.7, parent=-1, **solid(0.2)),
        ]
    )
    mp = minimal_of(arm)
    assert mp.names == ("U1_33", "k1_x", "k1_y", "U2_33", "k2_x", "k2_y")
    assert mp.long_forms == ("Izz1", "mcx1", "mcy1", "Izz2", "mcx2", "mcy2")


def test_only_a_chain_has_the_structure_of_the_paper():
    chain = dynarm.load("puma560")
    mp = minimal_of(chain)
    assert mp.structure is mp.tree.paths[0].structure and mp.structure.n == 6
    floating = replace(chain, floating=Body(**solid()), base=None)
    with pytest.raises(InputError, match=r"puma560.*\.tree"):
        _ = minimal_of(floating).structure


def test_doubts_name_joints_that_follow_and_joints_on_branches():
    arm = Arm(
        [
            Joint(name="spine", **solid()),
            Joint(alpha=3e-5, a=0.2, name="left", **solid()),
            Joint(alpha=3e-5, a=0.2, parent=0, name="right", mimic=Mimic("left"), **solid()),
        ],
        gravity=(0, 9.81, 0),
    )
    with pytest.warns(dynarm.errors.DynarmWarning, match="'spine' and 'right'"):
        mp = dynarm.minimal_parameters(arm)
    assert len(mp.doubts) == 2 and "'spine' and 'left'" in mp.doubts[0]


# ---- conventions and closed forms


@by_name
@pytest.mark.parametrize("armature", [False, True])
def test_conventions_are_the_same_parameters(arm, armature):
    sets = {c: minimal_of(arm, c, armature) for c in CONVENTIONS}
    own = natural_values(arm, armature)
    for name, mp in sets.items():
        assert mp.matrix.shape == (mp.count, len(mp.natural))
        assert np.array_equal(mp.values, mp.matrix @ own)
        assert len(set(mp.names)) == mp.count
        full = np.zeros(len(mp.natural))
        full[list(mp.columns)] = mp.inverse @ mp.values
        assert mp.matrix @ full == pytest.approx(mp.values, rel=1e-9, abs=1e-9)
        for other, target in sets.items():
            change = mp.convert(other)
            assert change @ mp.values == pytest.approx(target.values, rel=1e-9, abs=1e-9)
            if other == name:
                assert change == pytest.approx(np.eye(mp.count), abs=1e-9)


def evaluated(text: str, names: dict) -> float:
    """A closed form's value: juxtaposition is a product, ^ a power."""
    product = re.sub(r"(?<=[\w)]) (?=[\w(])", "*", text.replace("^", "**"))
    return eval(product, {"cos": math.cos, "sin": math.sin, "__builtins__": {}}, names)


@by_name
@pytest.mark.parametrize("convention", ["lin1995", "linfang1999"])
def test_closed_forms_say_what_the_values_are(arm, convention):
    mp = minimal_of(arm, convention, True)
    names = dict(zip(mp.natural, natural_values(arm, True).tolist(), strict=True))
    for value, text in zip(mp.values, mp.long_forms, strict=True):
        assert evaluated(text, names) == pytest.approx(value, rel=3e-5, abs=3e-5)  # six digits
    keys = ("a", "d", "alpha", "theta", "beta", "gamma", "b")
    for i, joint in enumerate(arm.joints, start=1):
        names |= {f"{key}{i}": getattr(joint, key) for key in keys}
    for name, text in mp.abbreviations.items():  # from the tips inwards: each uses those before it
        names[name] = evaluated(text, names)
    for value, text in zip(mp.values, mp.symbolic_forms, strict=True):
        # factors of merged combinations and of oblique axes are numbers with six digits
        digits = 3e-5 if "." in text else 1e-12
        assert evaluated(text, names) == pytest.approx(value, rel=digits, abs=digits), text


def test_branches_are_spelled_by_their_constants():
    arm = Arm(
        [
            Joint(alpha=1.0, **solid()),
            Joint("prismatic", a=0.2, alpha=0.6, theta=0.3, **solid()),
            Joint(a=0.2, alpha=0.6, gamma=0.4, b=0.15, parent=0, **solid()),
        ],
        floating=Body(**solid()),
    )
    mp = minimal_of(arm)
    text = dict(zip(mp.names, mp.symbolic_forms, strict=True))["k1_y"]
    assert "mcy1" in text and "mcy2" in text and "sin(gamma3)" in text
    forms = dict(zip(mp.names, mp.symbolic_forms, strict=True))
    assert "b3^2" in forms["U1_11-22"] or "b3" in forms["U1_13"]
    assert forms["m0"] == "m0 + m1 + m3 + m2"


# ---- armatures and couplings


@by_name
def test_armatures_merge_where_they_must(arm):
    mp = minimal_of(arm, armature=True)
    Y = np.linalg.qr(
        stacked(arm, random_motion(arm, 20 + 24 * len(arm.link_names) // arm.nv), True), mode="r"
    )
    assert mp.count == rank_of(Y)
    assert missed(Y, mp.matrix) < TOLERANCE
    first = mp.count - len(mp.armatures)
    assert all(
        name.startswith(f"Ia{i + 1}")
        for name, i in zip(mp.names[first:], mp.armatures, strict=True)
    )


def test_the_armature_of_a_joint_that_follows_joins_its_masters():
    arm = Arm(
        [
            Joint(alpha=1.0, mimic=Mimic(2, 1.5), armature=0.2, **solid()),
            Joint(alpha=1.2, a=0.3, **solid()),
            Joint(alpha=-0.7, a=0.2, armature=0.1, **solid()),
        ],
        floating=Body(**solid()),
    )
    mp = minimal_of(arm, armature=True)
    assert mp.armatures == (1, 2)
    assert mp.names[-1] == "Ia3+2.25*Ia1" and mp.values[-1] == pytest.approx(0.1 + 2.25 * 0.2)


def test_a_coupling_of_unlike_joints_has_its_unit():
    """A carriage that a wheel moves by 0.05 m/rad: m r^2 joins the moment of inertia; in any unit of length."""
    for length in (1.0, 1e-3, 1e3):
        arm = Arm(
            [
                Joint(**solid()),
                Joint(
                    "prismatic",
                    alpha=math.pi / 2,
                    a=0.3 * length,
                    parent=-1,
                    mimic=Mimic(0, 0.05 * length),
                    mass=4.0,
                ),
            ],
            gravity=(0, 0, 0),
        )
        mp = minimal_of(arm)
        assert mp.count == 1
        assert mp.matrix[0, mp.natural.index("m2")] == pytest.approx((0.05 * length) ** 2)


def test_hardly_any_gravity_is_none():
    strong = random_tree(np.random.default_rng(4), 5, twists="structured", offsets="structured")
    none = replace(strong, gravity=(0, 0, 0))
    weak = replace(strong, gravity=(0, 0, -1e-9))
    assert minimal_of(weak).count == minimal_of(none).count <= minimal_of(strong).count


@pytest.mark.parametrize("k", range(8))
def test_gravity_from_anywhere_has_the_parameters_of_all_directions(k):
    arm = random_tree(np.random.default_rng([12, k]), 5, twists="structured")
    mp = minimal_of(arm, gravity="any")
    for g in np.eye(3):
        Y = stacked(replace(arm, gravity=tuple(9.81 * g)), random_motion(arm, 40))
        assert missed(np.linalg.qr(Y, mode="r"), mp.matrix) < TOLERANCE


# ---- payloads


def test_a_payload_is_that_of_a_tool():
    tools = [Tool("left", 3), Tool("right", 4, np.diag([1.0, -1, -1, 1])), Tool("belly", -1)]
    load = (2.0, (0.05, -0.02, 0.1), np.diag([0.02, 0.03, 0.01]))
    for floating in (True, False):
        arm = random_tree(np.random.default_rng(2), 6, floating=floating)
        arm = replace(arm, tools=tools)
        for armature in (False, True):
            before = minimal_of(arm, armature=armature)
            for tool in tools:
                after = minimal_of(arm.with_payload(*load, tool=tool.name), armature=armature)
                change = before.payload(*load, tool=tool.name)
                wanted = [change.get(name, 0.0) for name in before.names]
                assert after.values - before.values == pytest.approx(wanted, abs=1e-12)
                assert bool(change) == (floating or tool.joint >= 0)
        with pytest.raises(InputError, match="3 tools"):
            before.payload(*load)


# ---- dynamics from the parameters alone


@by_name
@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize("armature", [False, True])
def test_forces_from_the_values_alone(arm, convention, armature):
    """With armatures: what merged into the links is theirs, what did not acts on its joint."""
    mp = minimal_of(arm, convention, armature)
    motion = random_motion(arm, 30, seed=3)
    wanted = tree_regressor(arm, *motion) @ arm.parameters.ravel()
    base = arm.nv - len(arm.coupling.masters)
    qdd = coupled_states(arm, *motion)[2]
    own = forces_of(arm, mp, motion)
    if armature:
        for i, joint in enumerate(arm.joints):
            k, factor = base + arm.coupling.of[i], arm.coupling.multipliers[i]
            wanted[k] += joint.armature * factor * qdd[base + i]
        values = mp.convert("lin1995") @ mp.values  # where the remaining armatures come last
        for i, value in zip(mp.armatures, values[mp.count - len(mp.armatures) :], strict=True):
            k, factor = base + arm.coupling.of[i], arm.coupling.multipliers[i]
            own[k] += value * factor * qdd[base + i]
    # gautier1990 passes through an inverse whose condition may cost three digits
    allowed = TOLERANCE * (1e3 if convention == "gautier1990" else 1)
    assert np.abs(own - wanted).max() < allowed * max(1.0, np.abs(wanted).max())


@by_name
def test_entries_are_a_constant_matrix_times_the_values(arm):
    mp = minimal_of(arm)
    rows = entry_matrix(mp)
    widths = [7 if j.revolute else 4 for j in arm.joints]
    assert rows.shape == (sum(widths) + (10 if arm.floating else 0), mp.count)
    batch = [np.array([x, 2 * x]) for x in mp.values.tolist()]
    masses, base = loads(mp, batch)
    flat = [base.m, *base.h, *base.Q] if arm.floating else []
    for joint, mass in zip(arm.joints, masses, strict=True):
        h, Q = list(mass.h), list(mass.Q)
        flat += [*h[:2], *Q[:5]] if joint.revolute else [mass.m, *h]
        assert not (mass.m if joint.revolute else any(Q)), "handed inwards"
    for row, entry in zip(rows, flat, strict=True):
        assert np.broadcast_to(entry, 2) == pytest.approx(
            [row @ mp.values, 2 * (row @ mp.values)], rel=1e-12, abs=1e-14
        )


@pytest.mark.parametrize("k", range(30))
def test_entries_that_no_force_feels_are_nothing(k):
    """Joints of which Theorem 2 keeps one number have one entry; those with U_33, k_x, k_y have three."""
    rng = np.random.default_rng([6, k])
    arm = random_tree(rng, 6, twists="structured", offsets="mixed", gravity="z")
    mp = minimal_of(arm)
    rows, kinds = entry_matrix(mp), mp.tree.layout()
    start = 0
    for i, joint in enumerate(arm.joints):
        own = rows[start : start + (7 if joint.revolute else 4)]
        felt = np.flatnonzero(own.any(axis=1)).tolist()
        names = [kind for j, kind in kinds if j == i]
        start += len(own)
        if names == ["m"]:
            assert felt == [0]
        elif names == ["U_33"]:
            assert felt == [2]
        elif names == ["U_33", "k_x", "k_y"]:
            assert felt == [0, 1, 2]


def test_what_the_base_shields_is_nothing():
    """A turntable under gravity along it shows one moment of inertia; the joints before s no more than they have."""
    arm = Arm([Joint(**solid()), Joint("prismatic", a=0.1, **solid())])
    mp = minimal_of(arm)
    assert mp.names == ("U1_33", "m2")
    (turning, sliding), _ = loads(mp, mp.values.tolist())
    assert [*turning.h, *turning.Q][3:] == [turning.Q.xx, 0, 0, 0, 0, 0] and not any(turning.h)
    assert not any(sliding.h) and sliding.m == 2.0


@pytest.mark.parametrize("k", range(4))
def test_large_robots_are_sampled_in_blocks(k, monkeypatch):
    """The triangular factor has the same columns, so the same parameters are merged."""
    arm = random_tree(np.random.default_rng([5, k]), 5, mimic=1, floating=k % 2 == 1, armature=True)
    whole = minimal_of(arm, armature=True)
    # a few states each, fewer rows than columns
    monkeypatch.setattr("dynarm.parameters.sampling.BLOCK", 1_000)
    parts = minimal_of(arm, armature=True)
    assert parts.kept == whole.kept and parts.armatures == whole.armatures
    assert parts.matrix == pytest.approx(whole.matrix, rel=1e-9, abs=1e-9)
