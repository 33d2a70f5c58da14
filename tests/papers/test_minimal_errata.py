"""Errata of lin1995 (minimal parameters, section III-B) and linfang1999 (section 4): printed forms fail, ours hold."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from itertools import islice

import numpy as np
import pytest

import dynarm
from dynarm import minimal_parameters
from dynarm.algebra.vectors import Sym3, Vec3, add, mul, sub
from dynarm.dynamics.papers import minimal_chain_lin1995 as chains
from dynarm.dynamics.papers import minimal_composite_linfang1999 as composite
from dynarm.dynamics.papers import minimal_newton_euler_lin1995 as newton_euler
from dynarm.dynamics.papers import newton_euler_lin1995
from dynarm.dynamics.papers.composite_bodies_linfang1999 import composites
from dynarm.dynamics.papers.composite_body_linfang1999 import force, moment
from dynarm.dynamics.papers.minimal_chain_lin1995 import minimal_chain
from dynarm.dynamics.papers.minimal_parameters_lin1995 import (
    combinations,
    constants,
    layout,
    structure_of,
)
from dynarm.robot.frames.chain import chain_of, pose
from oracles.batches import relative, stacked
from oracles.minimal_arms import COUNT, minimal_arm
from oracles.pinocchio_arm import pinocchio_model
from strategies import random_arm, random_states

HOLDS, FAILS = 1e-12, 1e-6
SOME = range(0, COUNT, 8)


def states(arm, k=0, samples=2):
    return random_states(np.random.default_rng([77, k]), arm.n, samples)


def torque(chain, arm, k=0):
    q, qd, qdd = states(arm, k)
    return stacked(newton_euler.inverse_dynamics(chain, pose(chain_of(arm), q.T), qd.T, qdd.T), 2)


def matrix(chain, arm, k=0):
    q, _, _ = states(arm, k)
    return stacked(composite.mass_matrix_1(chain, pose(chain_of(arm), q.T)), 2)


def true_torque(arm, k=0):
    q, qd, qdd = states(arm, k)
    chain = chain_of(arm)
    return stacked(newton_euler_lin1995.inverse_dynamics(chain, pose(chain, q.T), qd.T, qdd.T), 2)


def true_matrix(arm, k=0):
    twin = pinocchio_model(arm)
    return np.array([twin.mass_matrix(x) for x in states(arm, k)[0]])


def values_of(arm, third=True):
    chain = chain_of(arm)
    structure = structure_of(chain)
    return (
        chain,
        structure,
        combinations(structure, constants(chain, pose(chain, [0] * arm.n), third)),
    )


# ---- Theorem 2


def outside(row, M):
    """How much of a row no combination of M's rows gives."""
    Q = np.linalg.qr(M.T)[0]
    return np.linalg.norm(row - Q @ (Q.T @ row)) / np.linalg.norm(row)


def test_item_5_needs_the_square():
    """[1 - (u)_z] (k)_z is no identifiable functional; with the square, as in (87), it is."""
    seen = 0
    for k in SOME:
        arm = minimal_arm(k)
        mp = minimal_parameters(arm)
        for i in np.flatnonzero(mp.structure.sigma):
            u = mp.structure.axis(int(i))
            if abs(u.z) < 1e-3:
                continue  # z squared is z there
            row = (
                mp.matrix[mp.names.index(f"kappa2_{i + 1}")]
                if f"kappa2_{i + 1}" in mp.names
                else None
            )
            if row is None:
                continue  # merged, without gravity
            kz = np.zeros(10 * arm.n)
            kz[10 * i + 3] = 1  # the part of (k)_z that is the link's own
            printed = row + ((1 - u.z) - (1 - u.z**2)) * kz
            assert outside(row, mp.matrix) < HOLDS
            assert outside(printed, mp.matrix) > FAILS
            seen += 1
    assert seen > 20


def test_delta_is_1_where_gravity_is_not_along_the_first_axis():
    """One joint across gravity: rank 3. Read vacuously (no k < j), delta_1 = 0 would give 1."""
    arm = random_arm(np.random.default_rng(1), 1, "R", "zero", "generic", (9.81, 0.0, 0.0))
    mp = minimal_parameters(arm)
    assert mp.count == 3
    assert len(layout(replace(mp.structure, delta=(False,)))) == 1


def test_delta_looks_at_joints_before_r_too():
    """P R with gravity and joint 2 parallel, joint 1 not: delta_2 = 1."""
    arm = random_arm(np.random.default_rng(2), 2, "PR", [0.0, 1.0], "zero", "z")
    axis = np.array([0.0, -math.sin(1.0), math.cos(1.0)])
    arm = replace(arm, gravity=tuple((9.81 * axis).tolist()))
    mp = minimal_parameters(arm)
    assert mp.structure.delta == (False, True)
    assert mp.count == 4


# ---- conventions and (43)


def test_the_two_conventions_must_not_be_mixed():
    """Values of linfang1999 read as those of lin1995, and the other way round, give wrong forces and matrices."""
    worst = Counter()
    for k in SOME:
        arm = minimal_arm(k)
        chain, structure, lin = values_of(arm)
        other = values_of(arm, third=False)[2]
        right = minimal_chain(chain, structure, lin)
        assert relative(torque(right, arm, k), true_torque(arm, k)) < HOLDS
        if len(other) == len(lin) and not np.allclose(lin, other, atol=1e-6):
            mixed = minimal_chain(chain, structure, other)
            worst["forces"] += relative(torque(mixed, arm, k), true_torque(arm, k)) > FAILS
            bodies = [
                replace(b, D=f)
                for b, f in zip(right.joints, lin_forms(structure, lin), strict=True)
            ]
            wrong = replace(right, joints=tuple(bodies))
            worst["matrix"] += relative(matrix(wrong, arm, k), true_matrix(arm, k)) > FAILS
            worst["arms"] += 1
    assert worst["arms"] > 100
    assert worst["forces"] == worst["matrix"] == worst["arms"]


def lin_forms(structure, values):
    """The D that one gets by taking U of lin1995 as it stands."""
    table = chains._table(structure, values)
    return [chains._body(structure, i, of).D for i, of in enumerate(table)]


def test_43_is_the_value_of_the_next_rotational_joint(monkeypatch):
    """Taken literally, (43) defines its entries by themselves; the solution is -U_33."""
    arms = [
        minimal_arm(k)
        for k in SOME
        if structure_of(chain_of(minimal_arm(k))).s < minimal_arm(k).n - 1
    ]
    chosen = [arm for arm in arms if sum(j.revolute for j in arm.joints) > 2]
    assert len(chosen) > 50
    good = [minimal_chain(*values_of(arm)) for arm in chosen]
    monkeypatch.setattr(chains, "_disc", lambda u, g, along: Sym3(-along, 0, -along, 0, 0, -along))
    bad = [minimal_chain(*values_of(arm)) for arm in chosen]
    wrong = 0
    for arm, right, literal in zip(chosen, good, bad, strict=True):
        want = true_torque(arm)
        assert relative(torque(right, arm), want) < HOLDS
        wrong += relative(torque(literal, arm), want) > FAILS
    assert wrong > 0.9 * len(chosen)


# ---- section III-B


def antiparallel(n=3):
    return random_arm(
        np.random.default_rng(5), n, "R", [0.0, math.pi, math.pi][:n], "generic", (5.0, 1.0, 3.0)
    )


def test_68_needs_the_sign_of_the_axis(monkeypatch):
    arm = antiparallel()
    body = minimal_chain(chain_of(arm))
    assert relative(torque(body, arm), true_torque(arm)) < HOLDS
    monkeypatch.setattr(newton_euler, "_force", lambda arm, i, share, mu, zeta: zeta)
    assert np.abs(torque(body, arm) - true_torque(arm)).max() > 0.1


def test_gravity_enters_once():
    """(65) prints a - g, (73) a: with (76), a_0 = -g, the first would count gravity twice."""
    arm = dynarm.load("puma560")
    body = minimal_chain(chain_of(arm))
    assert relative(torque(body, arm), true_torque(arm)) < HOLDS
    twice = replace(body, gravity=body.gravity * 2)
    assert relative(torque(twice, arm), true_torque(arm)) > 0.1


def test_57_to_93_from_numbers_of_every_kind():
    """One source for floats and batches: single states equal the batch."""
    arm = minimal_arm(6)
    chain = chain_of(arm)
    q, qd, qdd = states(arm, 6)
    body = minimal_chain(chain)
    batch = stacked(newton_euler.inverse_dynamics(body, pose(chain, q.T), qd.T, qdd.T), 2)
    for row, x, v, a in zip(batch, q.tolist(), qd.tolist(), qdd.tolist(), strict=True):
        one = newton_euler.inverse_dynamics(body, pose(chain, x), v, a)
        assert relative(np.array(one, float), row) < HOLDS


@pytest.mark.parametrize("k", range(0, COUNT, 40))
def test_external_wrench(k):
    """f_E, t_E on the last link, for all groups of joints: tau = tau(0) - J' wrench."""
    arm = replace(minimal_arm(k), tool=None)
    q, qd, qdd = states(arm, k)
    rng = np.random.default_rng(k)
    f, t = rng.normal(size=3), rng.normal(size=3)
    chain = chain_of(arm)
    steps = pose(chain, q.T)
    wrench = (Vec3(*f.tolist()), Vec3(*t.tolist()))
    want = stacked(newton_euler_lin1995.inverse_dynamics(chain, steps, qd.T, qdd.T, wrench), 2)
    alone = minimal_chain(*values_of(arm))
    for body in (alone, minimal_chain(chain)):
        got = stacked(newton_euler.inverse_dynamics(body, steps, qd.T, qdd.T, wrench), 2)
        assert relative(got, want) < HOLDS


# ---- Atkeson's substitution (section III)


def substituted(arm, convention):
    """Natural parameters that carry the values of the combinations of the same name, the rest 0."""
    mp = minimal_parameters(arm, convention)
    table = np.zeros((arm.n, 10))
    place = {
        "m": 0,
        "k_x": 1,
        "k_y": 2,
        "k_z": 3,
        "U_11-22": 4,
        "U_12": 5,
        "U_13": 7,
        "U_23": 8,
        "U_33": 9,
    }
    for (i, kind), value in zip(layout(mp.structure), mp.values, strict=True):
        table[i, place[kind]] = value
    return arm.with_parameters(table)


def test_atkesons_substitution_fails_with_translational_joints():
    """k_{i-1} contains k_i of a translational joint i: writing both into the links counts it twice."""
    arm = dynarm.load("stanford")
    for convention in ("lin1995", "linfang1999"):
        other = substituted(arm, convention)
        got, want = (minimal_parameters(a, convention).values for a in (other, arm))
        assert relative(got, want) > FAILS
        assert relative(true_torque(other), true_torque(arm)) > 1e-3


def test_atkesons_substitution_holds_without_them():
    """Rotational joints alone: the set of linfang1999 is preserved, that of lin1995 is not, U_33 counting again."""
    arm = dynarm.load("puma560")
    assert relative(true_torque(substituted(arm, "linfang1999")), true_torque(arm)) < HOLDS
    assert relative(true_torque(substituted(arm, "lin1995")), true_torque(arm)) > FAILS


# ---- linfang1999


def with_slides():
    """Arms with an oblique translational joint between r and s, u_z not 0."""
    for k in range(COUNT):
        arm = minimal_arm(k)
        s = structure_of(chain_of(arm))
        if any(sig and abs(s.axis(i).z) > 1e-3 for i, sig in enumerate(s.sigma)):
            yield k, arm


def test_40_needs_twice_both_terms(monkeypatch):
    """Printed: -[u_z u_x] l_x + [u_z u_y] l_y; right: -2 of both."""

    def printed(arm, pose, i, body, l, V33):
        joint = arm.joints[i]
        if joint.revolute:
            return body.J.z
        u, d = arm.structure.axis(i), pose[i].d
        lift = mul(1 - u.z * u.z, add(mul(joint.m, d), mul(2, l.z)))
        side = sub(mul(u.z * u.y, l.y), mul(u.z * u.x, l.x))
        return add(V33, mul(d, add(add(mul(2, joint.kappa2), lift), side)))

    arms = list(islice(with_slides(), 150))
    for k, arm in arms:
        assert relative(matrix(minimal_chain(chain_of(arm)), arm, k), true_matrix(arm, k)) < HOLDS
    monkeypatch.setattr(composite, "_slid", printed)
    wrong = sum(
        relative(matrix(minimal_chain(chain_of(arm)), arm, k), true_matrix(arm, k)) > FAILS
        for k, arm in arms
    )
    assert len(arms) > 50 and wrong > len(arms) / 4  # it needs a moving l as well


def along_u(arm, k):
    """(t_ji) along u by (9), (10) in plain arrays, of a body i at joints r <= j < s, and D_ji by (31) either way."""
    chain = chain_of(arm)
    s = structure_of(chain)
    steps = pose(chain, states(arm, k)[0][0].tolist())
    R = [np.array([[*row] for row in step.R.rows], float) for step in steps]
    way = [np.array([*step.s], float) for step in steps]
    bodies = composites(chain, steps)
    u = [np.array([*axis], float) for axis in s.axes]  # of joint r in frames r ... s-1
    right, printed, places = [], [], []
    for i in range(s.r + 1, s.s):
        f = np.array([*force(chain.joints[i], bodies[i])], float)
        t = np.array([*moment(chain.joints[i], bodies[i])], float)
        for j in range(i - 1, s.r - 1, -1):
            f = R[j + 1] @ f
            t = R[j + 1] @ t + np.cross(way[j + 1], f)
            if chain.joints[j].revolute:
                places.append((j, i))
                right.append(u[j - s.r][2] * (u[j - s.r] @ t))
                printed.append(u[i - s.r][2] * (u[j - s.r] @ t))
    return np.array(right), np.array(printed), places


def test_31_has_the_axis_of_joint_j():
    """Printed with (u)_z of joint i, which differs in sign or is no +-1 for a translational joint i."""
    wrong = seen = 0
    for k in range(0, COUNT, 4):
        arm = minimal_arm(k)
        right, printed, places = along_u(arm, k)
        if not places:
            continue
        M = true_matrix(arm, k)[0]
        wanted = np.array([M[place] for place in places])
        assert relative(right, wanted) < HOLDS
        seen += 1
        wrong += relative(printed, wanted) > FAILS
    # right only where all axes between r and s point the same way
    assert seen > 100 and wrong > seen / 2


def test_table_7_with_no_joint_s():
    """Planar and all-translational arms have s = n: the loops begin with l = 0 and V = 0."""
    seen = Counter()
    for k in range(COUNT):
        arm = minimal_arm(k)
        s = structure_of(chain_of(arm))
        if s.s == s.n and seen[s.r == s.n] < 30:
            seen[s.r == s.n] += 1
            assert (
                relative(matrix(minimal_chain(chain_of(arm)), arm, k), true_matrix(arm, k)) < HOLDS
            )
    assert min(seen.values()) == 30 and len(seen) == 2
