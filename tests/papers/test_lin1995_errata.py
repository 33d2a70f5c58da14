"""Slips in the printed (or scanned) text of lin1995: the printed form fails, the corrected one holds.

Those of Theorem 2 and section III-B are in `test_minimal_errata.py`, those of the tables in `test_minimal_counts.py`.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dynarm.algebra.vectors import Sym3, Vec3
from dynarm.dynamics.papers import constants_newton_euler_lin1995 as constants
from dynarm.dynamics.papers.minimal_parameters_lin1995 import combinations, structure_of
from dynarm.dynamics.papers.minimal_parameters_lin1995 import constants as inertia_constants
from dynarm.robot.frames.chain import Chain, chain_of, pose
from oracles.lin1995_printed import Motion, psi_matrix, psi_vector, skew, vectors
from oracles.pinocchio_arm import pinocchio_model
from strategies import random_arm, random_states

TOLERANCE = 1e-12  # relative to max(1, largest entry)
WRONG = 1e-6  # a printed form must be off by more than this
Z = np.array([0.0, 0.0, 1.0])


def error(found, wanted) -> float:
    found, wanted = np.asarray(found, float), np.asarray(wanted, float)
    return float(np.abs(found - wanted).max() / max(1.0, np.abs(wanted).max()))


def near(found, wanted) -> None:
    assert error(found, wanted) <= TOLERANCE


# ---- sections II and III-A


@pytest.mark.parametrize("kinds", ["RP", "RRPR", "RPPRRR"])
def test_a7_sign(kinds):
    """a_{j+1} = a_j + Omega s + K (u qdd + 2 w x u qd): the printed minus sign contradicts (18)."""
    x = Motion(kinds, 4)
    z = np.array([0, 0, 1.0])
    worst = 0.0
    for j in range(x.n - 1):
        if not x.K[j + 1]:
            continue
        R = x.R[j + 1]
        u = R @ z
        sliding = u * x.qdd[j + 1] + 2 * np.cross(R @ x.w[j + 1], u * x.qd[j + 1])
        base, wanted = x.a[j] + x.omega(j) @ x.s[j + 1], R @ x.a[j + 1]
        near(base + sliding, wanted)
        worst = max(worst, np.abs(base - sliding - wanted).max())
    assert worst > WRONG


def test_18_is_the_second_derivative_of_the_origin():
    """So that (18), against which (A7) is judged, is not only self-consistent."""
    x = Motion("RRPR", 6)
    h = 1e-4

    def origin(t: float, link: int) -> np.ndarray:
        T = np.eye(4)
        for k in range(link + 1):
            angle = x.q[k] + x.qd[k] * t + x.qdd[k] * t * t / 2
            joint = x.arm.joints[k] if k else replace(x.arm.joints[0], a=0, alpha=0, d=0, theta=0)
            T = T @ joint.displacement(angle)
        return T[:3, 3]

    turned = np.eye(3)
    for i in range(x.n):
        turned = turned @ x.R[i]
        second = (origin(h, i) - 2 * origin(0, i) + origin(-h, i)) / h**2
        # finite differences: truncation h^2 and rounding 1e-16 / h^2 leave six digits
        np.testing.assert_allclose(turned @ x.a[i], second, rtol=0, atol=1e-5)


def tensors(chain, steps, last: float = 1.0, circular: bool = False) -> list[np.ndarray]:
    """D of every rotational joint by (12), (38)-(43) as the paper has them, of a chain of rotational joints.

    last: how much of U_33 the last entry of diag(U_22, U_22, U_33) in (12) holds. circular: (43) taken literally.
    """
    bodies = constants.inertia_constants(chain, steps)
    J = [np.array([list(r) for r in b.J.full().rows], float) for b in chain.joints]
    U, G = J[-1], None
    found = []
    for i in range(chain.n - 1, -1, -1):
        # constant part
        R = np.array([list(r) for r in replace(steps[i], turns=steps[i].turns[:-1]).R.rows], float)
        U_star = U if G is None else U + G  # (39)
        found.append(U_star - np.diag([U_star[1, 1], U_star[1, 1], 0]))  # (38)
        if i:
            g = 0.0 if G is None else G[1, 1]  # (41)
            G = (
                R
                @ np.diag([-U[2, 2] if circular else g, -U[2, 2] if circular else g, -U[2, 2]])
                @ R.T
            )  # (40), (43)
            s, (k,) = np.array(list(steps[i].s), float), vectors(bodies[i].k)
            turned = R @ [0, 0, k[2]]
            U = (
                J[i - 1]
                - float(bodies[i].m) * skew(s) @ skew(s)
                + R @ np.diag([U[1, 1], U[1, 1], last * U[2, 2]]) @ R.T
                - skew(s) @ skew(turned)
                - skew(turned) @ skew(s)
            )  # (12)
    return found[::-1]


def off(chain, steps, **variant) -> float:
    """How far D by the paper's way through U and G is from D of the code, relative to the largest entry."""
    bodies = constants.inertia_constants(chain, steps)
    wanted = [np.array([list(r) for r in b.D.full().rows], float) for b in bodies]
    found = tensors(chain, steps, **variant)
    return max(
        error(f[2], w[2]) if k == 0 else error(f, w)
        for k, (f, w) in enumerate(zip(found, wanted, strict=True))
    )


@pytest.mark.parametrize("seed", range(6))
def test_12_and_43_as_corrected_give_the_constants_of_the_code(seed):
    x = Motion("RRRR" + "R" * (seed % 3), seed)
    assert off(x.chain, x.steps) <= TOLERANCE


@pytest.mark.parametrize("seed", range(6))
def test_12_needs_the_last_entry(seed):
    """diag(U_22, U_22, 0) in (12), the other reading of the scan, does not go with (38)-(43)."""
    x = Motion("RRRR" + "R" * (seed % 3), seed)
    assert off(x.chain, x.steps, last=0.0) > WRONG


@pytest.mark.parametrize("seed", range(6))
def test_43_means_the_next_rotational_joint(seed):
    """Taken literally, (43) is circular and solved by G = -U_33 E."""
    x = Motion("RRRR" + "R" * (seed % 3), seed)
    assert off(x.chain, x.steps, circular=True) > WRONG


def forces(chain: Chain, x: Motion) -> list[float]:
    state = x.qd.tolist(), x.qdd.tolist()
    return [float(t) for t in constants.inverse_dynamics(chain, pose(chain, x.q.tolist()), *state)]


@pytest.mark.parametrize("seed", range(6))
def test_65_and_76_must_not_both_hold_gravity(seed):
    """a - g in (63) and (65) together with a_0 = -g counts gravity twice."""
    x = Motion("RRPR" + "R" * (seed % 3), seed)
    wanted = pinocchio_model(x.arm).inverse_dynamics(x.q, x.qd, x.qdd)
    near(forces(x.chain, x), wanted)
    assert error(forces(replace(x.chain, gravity=x.chain.gravity * 2), x), wanted) > WRONG


def test_without_38_for_translational_joints(monkeypatch):
    """The sum in (38) belongs to D: a chain with translational joints behind a rotational one is wrong without it."""
    x = Motion("RRPPR", 12)
    wanted = pinocchio_model(x.arm).inverse_dynamics(x.q, x.qd, x.qdd)
    near(forces(x.chain, x), wanted)
    original = constants.inertia_constants

    def constant(arm, steps):
        still = [
            replace(s, d=0) if not b.revolute else s for s, b in zip(steps, arm.joints, strict=True)
        ]
        D = [body.D for body in original(arm, still)]
        return [replace(body, D=d) for body, d in zip(original(arm, steps), D, strict=True)]

    monkeypatch.setattr(constants, "inertia_constants", constant)
    assert error(forces(x.chain, x), wanted) > WRONG


@pytest.mark.parametrize("kinds", ["RRR", "RRPR", "PRRPP"])
def test_62_adds_the_two_displacements(kinds):
    """K* s + K [b, 0, 0]: without the plus sign the two stand as a product, which is nothing, K* K being 0."""
    x = Motion(kinds, 8)
    for i in range(1, x.n):
        b = np.array([float(x.steps[i].a), 0, 0])
        h = (Z * x.qdd[i] + 2 * np.cross(x.w[i], Z * x.qd[i])) if x.K[i] else np.zeros(3)
        own = x.omega(i) @ x.d[i] + h if x.K[i] else np.zeros(3)

        def acceleration(way, i=i, own=own):
            return x.R[i].T @ (x.a[i - 1] + x.omega(i - 1) @ way) + own

        near(acceleration(b if x.K[i] else x.s[i]), x.a[i])
        if any(x.w[i - 1]):
            assert error(acceleration(np.zeros(3)), x.a[i]) > WRONG


@pytest.mark.parametrize("kinds", ["PPR", "PPPRR"])
def test_77_rotates_what_is_in_frame_i_minus_1(kinds):
    """R a_{i-1} with a_{i-1} in frame i-1; printed in frame i, which would rotate it twice."""
    x = Motion(kinds, 3)
    for i in range(1, kinds.index("R")):
        inner = x.a[i - 1] - x.g[i - 1]  # (76)
        right = x.R[i].T @ inner + Z * x.qdd[i]
        printed = x.R[i].T @ (x.R[i].T @ inner) + Z * x.qdd[i]
        near(right, x.a[i] - x.g[i])
        assert error(printed, x.a[i] - x.g[i]) > WRONG


# ---- section IV


def test_97_is_the_third_row_of_omega():
    """v_T = [a_z - g_z, -wd_y + w_x w_z, wd_x + w_y w_z, -w_x^2 - w_y^2]; printed with dots on every w, and x twice."""
    x = Motion("RRRPR", 5)
    i = x.n - 1
    w, wd = x.w[i], x.wd[i]
    right = [-wd[1] + w[0] * w[2], wd[0] + w[1] * w[2], -(w[0] ** 2) - w[1] ** 2]
    printed = [-wd[1] + wd[0] * wd[2], wd[0] + wd[1] * wd[2], -2 * wd[0] ** 2]
    near(right, x.omega(i)[2])
    assert np.abs(np.array(printed) - x.omega(i)[2]).min() > WRONG  # every entry is wrong


def test_98_rows_5_and_7():
    """Of U_12 w_x^2 - w_y^2 and of U_23 wd_y + w_x w_z; printed wd_z - wd_y, and the row of U_13 twice."""
    x = Motion("RRRR", 5)
    i = x.n - 1
    w, wd = x.w[i], x.wd[i]
    rng = np.random.default_rng(0)
    first, U33, U12, U13, U23 = rng.normal(size=5)  # first: U_11 - U_22
    D = np.array([[first, U12, U13], [U12, 0, U23], [U13, U23, U33]])
    wanted = (psi_matrix(wd, w) @ psi_vector(D))[2]
    row_13 = wd[0] - w[1] * w[2]

    def moment(of_12, of_23):
        return -w[0] * w[1] * first + wd[2] * U33 + of_12 * U12 + row_13 * U13 + of_23 * U23

    right = w[0] ** 2 - w[1] ** 2, wd[1] + w[0] * w[2]
    near(moment(*right), wanted)
    assert error(moment(wd[2] - wd[1], right[1]), wanted) > WRONG
    assert error(moment(right[0], row_13), wanted) > WRONG


def planar(seed: int = 2):
    """Two parallel axes across gravity: joints r <= i < s, where (104) and step 3.1.2 apply."""
    return random_arm(np.random.default_rng(seed), 2, "R", "zero", "generic", (9.81, 0.0, 0.0))


def test_104_third_entry_is_the_acceleration_about_the_axis():
    """tau_n = k_x a_y - k_y a_x + U_33 wd_z; printed once with -a_y and once with wd_x, which is 0 there."""
    arm = planar()
    chain = chain_of(arm)
    q, qd, qdd = (x[0] for x in random_states(np.random.default_rng(1), 2, 1))
    tip = inertia_constants(chain, pose(chain, [0, 0]))[-1]
    wd = qdd.sum()
    step = pose(chain, q.tolist())[1]
    w = float(qd[0])
    inner = Vec3(*(-float(g) for g in pose(chain, q.tolist())[0].rise(chain.gravity)))
    a = step.rise(
        inner
        + Vec3(0, 0, float(qdd[0])).cross(step.s)
        + Vec3(0, 0, w).cross(Vec3(0, 0, w).cross(step.s))
    )
    k, U = tip.k, tip.U
    wanted = pinocchio_model(arm).inverse_dynamics(q, qd, qdd)[1]
    near(k.x * a.y - k.y * a.x + U.zz * wd, wanted)
    assert error(k.x * a.y - k.y * a.x + U.zz * 0.0, wanted) > WRONG
    assert error(k.x * a.y - k.y * a.y + U.zz * wd, wanted) > WRONG


def test_106_is_about_components_along_the_axis():
    """tau_i = (a_i - g)_z m^ + (mu_{i+1})_z of joints before r; no other component is the joint's force."""
    x = Motion("PPRR", 6)
    twin = pinocchio_model(x.arm)
    tau = twin.inverse_dynamics(x.q, x.qd, x.qdd)
    bodies = constants.inertia_constants(x.chain, x.steps)
    total = x.f[0] + _tip_force(x)  # without the wrench on the tip
    m = float(bodies[0].m)
    mu = total - m * (x.a[0] - x.g[0])
    found = (x.a[0] - x.g[0]) * m + mu
    near(found[2], tau[0])
    assert all(error(found[k], tau[0]) > WRONG for k in (0, 1))


def _tip_force(x: Motion) -> np.ndarray:
    """The wrench's force on the last link, in frame 1."""
    f = x.f_E
    for R in x.R[:0:-1]:
        f = R @ f
    return f


def test_step_3_1_2_needs_the_moment_along_u_only():
    """(65) of a joint before s needs entries of D that are no minimal combinations; along u it does not."""
    arm = planar()
    chain = chain_of(arm)
    structure = structure_of(chain)
    # Ixz, Iyz
    other = arm.with_parameters(arm.parameters + [[0, 0, 0, 0, 0, 0, 0, 0.3, -0.2, 0]] * 2)
    w, wd = np.array([0, 0, 1.3]), np.array([0, 0, -0.7])
    moments, values = [], []
    for robot in (chain, chain_of(other)):
        fixed = inertia_constants(robot, pose(robot, [0, 0]))
        values.append(combinations(structure, fixed))
        D = np.array([list(row) for row in Sym3(*fixed[-1].U).full().rows], float)
        moments.append(psi_matrix(wd, w) @ psi_vector(D))  # (65), its part of D
    assert values[0] == values[1]
    near(moments[0][2], moments[1][2])
    assert np.abs(moments[0] - moments[1])[:2].min() > WRONG
