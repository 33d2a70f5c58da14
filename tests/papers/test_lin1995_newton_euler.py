"""Newton-Euler of lin1995 III-A: (16)-(23) and the form in inertia constants (57)-(75), wrench, identities."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import dynarm
from dynarm.algebra.vectors import ZERO, Sym3, Vec3
from dynarm.dynamics.papers import constants_newton_euler_lin1995 as constants
from dynarm.dynamics.papers import newton_euler_lin1995 as plain
from dynarm.dynamics.papers.angular_motion_lin1995 import psi, spin
from dynarm.robot.frames.chain import chain_of, pose
from oracles import batches
from oracles.batches import relative as error
from oracles.lin1995_printed import Motion, big_omega, psi_matrix, psi_vector, skew, vectors
from oracles.pinocchio_arm import pinocchio_model
from strategies import FAMILIES, random_arm, random_states

TOLERANCE = 1e-12  # relative to max(1, largest entry)
WRONG = 1e-6  # a printed form must be off by more than this
SAMPLES = 4
METHODS = {
    "newton_euler_driving_axis": plain.inverse_dynamics,
    "newton_euler_constants": constants.inverse_dynamics,
}


def hayati(rng: np.random.Generator, n: int) -> dynarm.Arm:
    """An arm with Hayati's extra rotation in its steps."""
    arm = random_arm(rng, n, "mixed", "mixed", "mixed", "generic")
    return replace(
        arm, joints=tuple(replace(j, beta=float(rng.choice([0.0, 0.03, 0.7]))) for j in arm.joints)
    )


CASES = {**FAMILIES, "hayati": hayati}


def stacked(nested) -> np.ndarray:
    return batches.stacked(nested, SAMPLES)


class Case:
    """A random arm in some states, with pinocchio's joint forces, a wrench on the last link and what it adds."""

    def __init__(self, arm: dynarm.Arm, rng: np.random.Generator):
        self.arm = arm
        self.q, self.qd, self.qdd = random_states(rng, arm.n, SAMPLES)
        self.chain = chain_of(arm)
        self.pose = pose(self.chain, self.q.T)
        twin = pinocchio_model(arm)
        states = zip(self.q, self.qd, self.qdd, strict=True)
        self.tau = np.array([twin.inverse_dynamics(*s) for s in states])
        self.f, self.t = rng.normal(size=(2, SAMPLES, 3))
        # pinocchio's Jacobian is at the tool; the wrench acts at the last link's origin
        tool = np.linalg.inv(arm.tool_pose)
        self.loaded = self.tau.copy()
        for k, x in enumerate(self.q):
            T = twin.forward_kinematics(x)
            end = T @ tool
            J = twin.jacobian(x)
            force, moment = end[:3, :3] @ self.f[k], end[:3, :3] @ self.t[k]
            moment = moment + np.cross(end[:3, 3] - T[:3, 3], force)
            self.loaded[k] -= J.T @ np.concatenate([force, moment])

    def run(self, method, wrench: bool = False) -> np.ndarray:
        extra = (Vec3(*self.f.T), Vec3(*self.t.T)) if wrench else (ZERO, ZERO)
        return stacked(method(self.chain, self.pose, self.qd.T, self.qdd.T, extra))


def make(family: str, n: int) -> Case:
    rng = np.random.default_rng([sum(map(ord, family)), n, 95])
    return Case(CASES[family](rng, n), rng)


@pytest.mark.parametrize("n", range(1, 9))
@pytest.mark.parametrize("family", CASES)
def test_joint_forces_agree_with_pinocchio(family, n):
    case = make(family, n)
    for name, method in METHODS.items():
        assert error(case.run(method), case.tau) <= TOLERANCE, name
        assert error(case.run(method, wrench=True), case.loaded) <= TOLERANCE, name


# ---- the quantities of the derivation, one state, plain arrays


ARMS = [("RRR", 0), ("RRPR", 1), ("PRRPP", 2), ("RPPRRR", 3)]


@pytest.fixture(params=ARMS, ids=lambda x: x[0])
def motion(request) -> Motion:
    return Motion(*request.param)


def near(found, wanted) -> None:
    np.testing.assert_allclose(
        found, wanted, rtol=0, atol=TOLERANCE * max(1.0, np.abs(wanted).max())
    )


def test_the_oracle_itself_agrees_with_pinocchio(motion):
    tau = [f[2] if K else t[2] for f, t, K in zip(motion.f, motion.t, motion.K, strict=True)]
    wrench = (Vec3(*motion.f_E), Vec3(*motion.t_E))
    state = (motion.qd.tolist(), motion.qdd.tolist())
    for method in METHODS.values():
        near([float(x) for x in method(motion.chain, motion.steps, *state, wrench)], tau)


def test_matrix_forms_27_and_28(motion):
    for i in range(motion.n):
        near(-motion.m[i] * (motion.a[i] + motion.omega(i) @ motion.c[i]), motion.f_T[i])  # (27)
        central = motion.J[i] + motion.m[i] * skew(motion.c[i]) @ skew(motion.c[i])
        near(-psi_matrix(motion.wd[i], motion.w[i]) @ psi_vector(central), motion.t_T[i])  # (28)


def test_identities_29_to_31(motion):
    rng = np.random.default_rng(3)
    for i in range(1, motion.n):
        a, b = rng.normal(size=(2, 3))
        Omega, Psi = motion.omega(i), psi_matrix(motion.wd[i], motion.w[i])
        A = -skew(a) @ skew(b) - skew(b) @ skew(a)
        near(np.cross(a, Omega @ b) + np.cross(b, Omega @ a), Psi @ psi_vector(A))  # (29)
        R = motion.R[i]
        inner = big_omega(R.T @ motion.w[i - 1], R.T @ motion.wd[i - 1])
        near(Omega[:, 2], inner[:, 2])  # (30)
        disc = np.diag([0.7, 0.7, 0])
        near(
            R @ Psi @ psi_vector(disc),
            psi_matrix(motion.wd[i - 1], motion.w[i - 1]) @ psi_vector(R @ disc @ R.T),
        )  # (31)


def test_psi_in_code_is_the_printed_matrix(motion):
    D = np.random.default_rng(5).normal(size=6)
    full = np.array([[D[0], D[1], D[3]], [D[1], D[2], D[4]], [D[3], D[4], D[5]]])
    for w, wd in zip(motion.w, motion.wd, strict=True):
        found = psi(Sym3(*D), spin(Vec3(*w), Vec3(*wd)))
        near(np.array([float(x) for x in found]), psi_matrix(wd, w) @ psi_vector(full))


def test_lemma_3_gives_the_whole_force(motion):
    """(32) with (33): f_i = m^ (a - g) + Omega k + mu_{i+1}."""
    bodies = constants.inertia_constants(motion.chain, motion.steps)
    mu = -motion.f_E
    z = np.array([0, 0, 1.0])
    for i in range(motion.n - 1, -1, -1):
        m, (k,) = float(bodies[i].m), vectors(bodies[i].k)
        Omega = motion.omega(i)
        near(m * (motion.a[i] - motion.g[i]) + Omega @ k + mu, motion.f[i])  # (32)
        if motion.K[i]:
            h = z * motion.qdd[i] + 2 * np.cross(motion.w[i], z * motion.qd[i])
            mu = mu + m * (Omega @ motion.d[i] + h)
        else:
            mu = mu + Omega @ [k[0], k[1], 0]
        mu = motion.R[i] @ mu  # (33), now in frame i-1


def test_a4_of_one_link(motion):
    """t_T + c x (f_T + m g) = -Psi psi(J) - m c x (a - g)."""
    for i in range(motion.n):
        m, c, a, g = motion.m[i], motion.c[i], motion.a[i], motion.g[i]
        left = motion.t_T[i] + np.cross(c, motion.f_T[i] + m * g)
        Psi = psi_matrix(motion.wd[i], motion.w[i])
        near(left, -Psi @ psi_vector(motion.J[i]) - m * np.cross(c, a - g))
