"""Minimal parameters: as many as the regressor's rank, in its row space, and enough for the whole dynamics."""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

import dynarm
from dynarm import minimal_parameters
from dynarm.dynamics.papers.minimal_chain_lin1995 import minimal_chain
from dynarm.dynamics.papers.minimal_composite_linfang1999 import mass_matrix_1, mass_matrix_2
from dynarm.dynamics.papers.minimal_newton_euler_lin1995 import inverse_dynamics
from dynarm.dynamics.papers.minimal_parameters_lin1995 import (
    combinations,
    constants,
    layout,
    structure_of,
    varying,
)
from dynarm.dynamics.papers.newton_euler_lin1995 import inverse_dynamics as natural_inverse_dynamics
from dynarm.parameters.minimal import CONVENTIONS
from dynarm.robot.arm import move_parameters
from dynarm.robot.frames.chain import chain_of, pose
from dynarm.robot.frames.generic import generic_arm
from oracles.batches import relative, stacked
from oracles.example_robots import robots_folder
from oracles.minimal_arms import COUNT, TOLERANCE, full, minimal_arm, regressor
from oracles.pinocchio_arm import pinocchio_model
from strategies import random_arm, random_states

CHUNK = 100
STATES = 24


# ---- the 2000 arms


def check_row_space(arm, mp, Y):
    """Full row rank, as many rows as the regressor's rank, and the same row space."""
    Q, R = np.linalg.qr(mp.matrix.T)
    assert np.abs(np.diag(R)).min() > 1e-6 * np.abs(np.diag(R)).max(), arm.name
    inside = Y @ Q
    sizes = np.linalg.svd(inside, compute_uv=False)
    assert np.abs(Y - inside @ Q.T).max() <= 1e-11 * np.abs(Y).max(), arm.name  # Y's rows are M's
    assert sizes[-1] > 1e-8 * sizes[0], arm.name  # and none of M's is missing


def check_dynamics(arm, mp, twin, seed):
    """Inverse dynamics and mass matrix from the values alone, and in their cheapest form, against pinocchio."""
    q, qd, qdd = random_states(np.random.default_rng(seed), arm.n, 2)
    tau = np.array([twin.inverse_dynamics(*s) for s in zip(q, qd, qdd, strict=True)])
    M = np.array([twin.mass_matrix(x) for x in q])
    chain = chain_of(arm)
    steps = pose(chain, q.T)
    alone = minimal_chain(chain, mp.structure, full(mp, mp.values))
    matrices = (mass_matrix_1, mass_matrix_2)
    for body, wanted in ((alone, matrices), (minimal_chain(chain), matrices[seed % 2 :][:1])):
        got = stacked(inverse_dynamics(body, steps, qd.T, qdd.T), 2)
        assert relative(got, tau) <= TOLERANCE, arm.name
        for mass_matrix in wanted:
            assert relative(stacked(mass_matrix(body, steps), 2), M) <= TOLERANCE, arm.name


@pytest.mark.parametrize("chunk", range(COUNT // CHUNK))
def test_rank_row_space_and_dynamics_of_2000_arms(chunk):
    for k in range(chunk * CHUNK, (chunk + 1) * CHUNK):
        arm = minimal_arm(k)
        mp, twin = minimal_parameters(arm), pinocchio_model(arm)
        states = random_states(np.random.default_rng([k, arm.n]), arm.n, STATES)
        check_row_space(
            arm, mp, np.concatenate([twin.regressor(*s) for s in zip(*states, strict=True)])
        )
        check_dynamics(arm, mp, twin, k)


def test_all_groups_of_joints_are_covered(record_property):
    found = Counter()
    for k in range(COUNT):
        s = structure_of(chain_of(minimal_arm(k)))
        found["joints before r"] += s.r > 0
        found["joints from r to s-1"] += s.r < s.n
        found["several joints from r to s-1"] += s.s - s.r > 1
        found["joints from s"] += s.s < s.n
        found["oblique translational joint between r and s"] += any(s.sigma)
        found["delta 0"] += not all(
            d for d, rev in zip(s.delta[s.r : s.s], s.revolute[s.r : s.s]) if rev
        )
        found["no rotational joint"] += s.r == s.n
    for name, count in found.items():
        record_property(name, count)
    assert min(found.values()) >= 100, found


@pytest.mark.parametrize("k", range(0, COUNT, 50))
def test_the_null_space_changes_no_torque(k):
    arm = minimal_arm(k)
    M = minimal_parameters(arm).matrix
    null = np.linalg.svd(M)[2][len(M) :]
    rng = np.random.default_rng(k)
    change = rng.normal(size=len(null)) @ null
    q, qd, qdd = random_states(rng, arm.n, 5)
    chain, other = (
        chain_of(arm),
        chain_of(arm.with_parameters(arm.parameters + change.reshape(-1, 10))),
    )
    tau, changed = (
        stacked(natural_inverse_dynamics(c, pose(c, q.T), qd.T, qdd.T), 5) for c in (chain, other)
    )
    assert relative(changed, tau) <= 1e-11


# ---- known robots


KNOWN = {
    "stanford": (lambda: dynarm.load("stanford"), 33),
    "puma560": (lambda: dynarm.load("puma560"), 36),
    "puma560, gravity tilted": (
        lambda: replace(dynarm.load("puma560"), gravity=(1.0, 2.0, -9.0)),
        38,
    ),
    "scara R R P R": (lambda: dynarm.load("scara"), 8),
    "two parallel axes across gravity": (lambda: dynarm.load("two_link"), 6),
    **{
        f"generic {n}R, gravity off axis 1": (
            lambda n=n: generic_arm(n, gravity=(1.0, 2.0, 3.0)),
            7 * n - 4,
        )
        for n in range(1, 9)
    },
    **{
        f"generic {n}R, gravity along axis 1": (lambda n=n: generic_arm(n), 7 * n - 6)
        for n in range(1, 9)
    },
}


@pytest.mark.parametrize("name", KNOWN)
def test_known_counts(name):
    make, count = KNOWN[name]
    arm = make()
    mp = minimal_parameters(arm)
    assert mp.count == len(mp.names) == len(mp.values) == count
    assert np.linalg.matrix_rank(regressor(arm), 1e-8) == count
    assert mp.structure.exact


URDF = {
    "panda_description/urdf/panda.urdf": ({"tip": "panda_link8"}, 43, 48),
    "ur_description/urdf/ur10_robot.urdf": ({}, 36, 40),
}


@pytest.mark.parametrize("file", URDF)
def test_robots_from_urdf_files(file):
    options, rigid, with_armature = URDF[file]
    arm = dynarm.load(robots_folder() / file, **options)
    assert minimal_parameters(arm).count == rigid
    assert minimal_parameters(arm, armature=True).count == with_armature


# ---- conventions


@pytest.mark.parametrize("k", range(0, COUNT, 25))
def test_conversions_between_conventions_are_exact(k):
    arm = minimal_arm(k)
    found = {c: minimal_parameters(arm, c) for c in CONVENTIONS}
    for a in CONVENTIONS:
        for b in CONVENTIONS:
            change = found[a].convert(b)
            scale = np.abs(change) @ np.abs(found[a].matrix)
            assert np.abs(change @ found[a].matrix - found[b].matrix).max() <= 1e-14 * max(
                1.0, scale.max()
            )
            assert relative(change @ found[a].values, found[b].values) <= 1e-13
            assert relative(found[b].convert(a) @ change, np.eye(len(change))) <= 1e-13


def test_the_two_papers_of_lin_give_different_numbers():
    arm = dynarm.load("puma560")
    one, other = minimal_parameters(arm), minimal_parameters(arm, "linfang1999")
    assert one.names == other.names
    differ = {
        n for n, x, y in zip(one.names, one.values, other.values, strict=True) if abs(x - y) > 1e-12
    }
    assert differ == {"U1_33", "U2_33", "U3_33", "U4_33", "U3_11-22", "U4_11-22", "U5_11-22"}


@pytest.mark.parametrize("k", range(2, COUNT, 80))
def test_one_vector_of_either_convention_drives_everything(k):
    arm = minimal_arm(k)
    chain = chain_of(arm)
    structure = structure_of(chain)
    steps = pose(chain, [0] * arm.n)
    q, qd, qdd = random_states(np.random.default_rng(k), arm.n, 2)
    moving = pose(chain, q.T)
    found = []
    for third in (True, False):
        values = combinations(structure, constants(chain, steps, third))
        body = minimal_chain(chain, structure, values, third=third)
        found.append(
            (
                stacked(inverse_dynamics(body, moving, qd.T, qdd.T), 2),
                stacked(mass_matrix_1(body, moving), 2),
                stacked(mass_matrix_2(body, moving), 2),
            )
        )
    for one, other in zip(*found, strict=True):
        assert relative(one, other) <= TOLERANCE


@pytest.mark.parametrize("k", range(0, COUNT, 40))
def test_gautier_keeps_natural_parameters_and_sets_the_rest_to_zero(k):
    """Atkeson's substitution holds for the regrouped parameters: p natural ones carry the values, the rest are 0."""
    arm = minimal_arm(k)
    mp = minimal_parameters(arm, "gautier1990")
    table = np.zeros(10 * arm.n)
    for name, value in zip(mp.names, mp.values, strict=True):
        table[mp.natural.index(name.removesuffix("R"))] = value
    assert relative(mp.matrix @ table, mp.values) <= 1e-13
    q, qd, qdd = random_states(np.random.default_rng(k), arm.n, 3)
    chain, bare = chain_of(arm), chain_of(arm.with_parameters(table.reshape(-1, 10)))
    tau, other = (
        stacked(natural_inverse_dynamics(c, pose(c, q.T), qd.T, qdd.T), 3) for c in (chain, bare)
    )
    assert relative(other, tau) <= TOLERANCE


def test_gautier_eliminates_what_the_rules_say():
    """Rotational joint: m, mcz, Iyy are grouped inwards; translational joint: its whole inertia tensor."""
    for arm in (generic_arm(6), generic_arm(6, 2)):
        names = set(minimal_parameters(arm, "gautier1990").names)
        stems = {n.removesuffix("R") for n in names}
        for i, joint in enumerate(arm.joints[1:], start=2):
            if joint.revolute:
                assert {
                    f"{p}{i}" for p in ("Ixx", "Ixy", "Ixz", "Iyz", "Izz", "mcx", "mcy")
                } <= stems
                assert not stems & {f"m{i}", f"mcz{i}", f"Iyy{i}"}
            else:
                assert {f"{p}{i}" for p in ("m", "mcx", "mcy", "mcz")} <= stems
                assert not any(s.startswith("I") and s.endswith(str(i)) for s in stems)


def test_table_1_compares_the_two_sets():
    """Joint 3 translational, the others beyond rotational: k_2 holds k_3 and m^_3 here, only its own moment there."""
    arm = generic_arm(5, 2, gravity=(1.0, 2.0, 3.0))
    present, regrouped = minimal_parameters(arm), minimal_parameters(arm, "gautier1990")
    ours = dict(zip(present.names, present.matrix, strict=True))
    theirs = dict(zip(regrouped.names, regrouped.matrix, strict=True))
    own = dict(zip(present.natural, np.eye(50), strict=True))
    step = pose(chain_of(arm), [0] * 5)[2]
    moved = np.array([[*row] for row in step.R.rows], float) @ [ours[f"k3_{x}"] for x in "xyz"]
    lever = float(step.a) * ours["m3"]
    np.testing.assert_allclose(ours["k2_x"], own["mcx2"] + lever + moved[0], atol=1e-15)
    np.testing.assert_allclose(ours["k2_y"], own["mcy2"] + moved[1], atol=1e-15)
    for x in "xy":
        assert np.array_equal(theirs[f"mc{x}2"], own[f"mc{x}2"])
    assert np.array_equal(theirs["m3R"], own["m3"] + own["m4"] + own["m5"])
    assert np.array_equal(ours["m3"], theirs["m3R"])
    for x in "xyz":
        np.testing.assert_allclose(ours[f"k3_{x}"], theirs[f"mc{x}3R"], atol=1e-15)


@pytest.mark.parametrize("third", [True, False])
def test_constant_and_varying_parts_make_the_composite_bodies(third):
    """(8), (9) with (10)-(15): the sum over links, which is definition (6), for both conventions."""
    for k in range(0, COUNT, 50):
        arm = minimal_arm(k)
        chain = chain_of(arm)
        q = np.random.default_rng(k).uniform(-3, 3, arm.n)
        steps = pose(chain, q.tolist())
        fixed = constants(chain, steps, third)
        moving = varying(chain, steps, fixed, third)
        table = np.zeros(10)
        for i in range(arm.n - 1, -1, -1):
            table = table + arm.parameters[i]
            k_i, U, (l, V) = fixed[i].k, fixed[i].U, moving[i]
            got = np.array([fixed[i].m, *(k_i + l), *(U + V)], float)
            assert relative(got, table) <= 1e-13
            R = np.array([[*row] for row in steps[i].R.rows], float)
            table = move_parameters(table, R, np.array([*steps[i].s], float))


# ---- no gravity, armature


def test_without_gravity_theorem_2_counts_too_many():
    """RR with intersecting axes: 8 by Theorem 2, rank 6; three concurrent axes: 15, rank 11."""
    for n, theorem, rank in ((2, 8, 6), (3, 15, 11)):
        arm = random_arm(np.random.default_rng(n), n, "R", "generic", "zero", "none")
        mp = minimal_parameters(arm)
        assert len(layout(replace(mp.structure, delta=(True,) * n))) == theorem + 2
        assert mp.count == np.linalg.matrix_rank(regressor(arm), 1e-8) == rank


def armature_rank(arm):
    """Rank of the regressor with a column for each armature."""
    q, qd, qdd = random_states(np.random.default_rng(3), arm.n, STATES + 8)
    twin = pinocchio_model(arm)
    rows = [np.hstack([twin.regressor(*s), np.diag(s[2])]) for s in zip(q, qd, qdd, strict=True)]
    return np.linalg.matrix_rank(np.concatenate(rows), 1e-8 * np.linalg.norm(rows[0]))


@pytest.mark.parametrize("k", range(1, COUNT, 20))
def test_armatures_merge_where_the_rank_says(k):
    arm = minimal_arm(k)
    mp = minimal_parameters(arm, armature=True)
    assert mp.count == armature_rank(arm)
    assert mp.matrix.shape == (mp.count, 11 * arm.n)
    assert [n for n in mp.names if re.fullmatch(r"Ia\d", n)] == [f"Ia{i + 1}" for i in mp.armatures]


def gantry(kinds, gravity):
    twists = [0.0] + [math.pi / 2] * (len(kinds) - 1)
    return random_arm(np.random.default_rng(1), len(kinds), kinds, twists, "zero", gravity)


MERGED = {
    "joint 1": (lambda: generic_arm(3), {"U1_33+Ia1"}),
    "second joint perpendicular": (lambda: gantry("RR", "z"), {"U1_33+Ia1", "U2_33+Ia2"}),
    "second joint oblique": (lambda: generic_arm(2), {"U1_33+Ia1"}),
    "second joint parallel": (lambda: dynarm.load("two_link"), {"U1_33+Ia1"}),
    "horizontal gantry": (lambda: gantry("PP", (9.81, 0.0, 0.0)), {"m1+Ia1", "m2+Ia2"}),
    "first joint against gravity": (lambda: gantry("PP", "z"), {"m2+Ia2"}),
}


@pytest.mark.parametrize("name", MERGED)
def test_merged_armatures_by_name(name):
    make, merged = MERGED[name]
    arm = make()
    found = minimal_parameters(arm, armature=True)
    assert {n for n in found.names if "+Ia" in n} == merged
    assert found.count == minimal_parameters(arm).count + arm.n - len(merged)


def test_values_with_armature_drive_the_dynamics():
    """Merged armatures act as part of the combination; the others as a term of their own."""
    joints = [
        replace(j, armature=0.3 + 0.1 * i) for i, j in enumerate(dynarm.load("puma560").joints)
    ]
    arm = replace(dynarm.load("puma560"), joints=tuple(joints))
    mp = minimal_parameters(arm, armature=True)
    rigid = minimal_parameters(arm)
    q, qd, qdd = random_states(np.random.default_rng(2), arm.n, 4)
    chain = chain_of(arm)
    body = minimal_chain(chain, mp.structure, mp.values[: rigid.count].tolist())
    tau = stacked(inverse_dynamics(body, pose(chain, q.T), qd.T, qdd.T), 4)
    for value, i in zip(mp.values[rigid.count :], mp.armatures, strict=True):
        tau[:, i] += value * qdd[:, i]
    twin = pinocchio_model(arm)
    want = np.array([twin.inverse_dynamics(*s) for s in zip(q, qd, qdd, strict=True)])
    want += qdd * [j.armature for j in joints]
    assert relative(tau, want) <= TOLERANCE
