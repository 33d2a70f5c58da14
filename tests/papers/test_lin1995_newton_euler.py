"""Newton-Euler of lin1995 III-A: (16)-(23) and the form in inertia constants (57)-(75), wrench, identities, errata."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import dynarm
from dynarm.algebra import ZERO, Sym3, Vec3
from dynarm.papers import constants_newton_euler_lin1995 as constants
from dynarm.papers import newton_euler_lin1995 as plain
from dynarm.papers.angular_motion_lin1995 import psi, spin
from dynarm.robot.chain import chain_of, pose
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
    """Nested lists of batches or plain numbers as one array, samples first."""
    if isinstance(nested, (list, tuple)):
        return np.stack([stacked(x) for x in nested], axis=1)
    return np.broadcast_to(np.asarray(nested, float), (SAMPLES,))


def error(found, wanted) -> float:
    return float(np.abs(found - wanted).max() / max(1.0, np.abs(wanted).max()))


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
        tool = np.linalg.inv(
            arm.tool_pose
        )  # pinocchio's Jacobian is at the tool; the wrench acts at the last link's origin
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


def skew(v) -> np.ndarray:
    return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])


def big_omega(w, wd) -> np.ndarray:
    return skew(wd) + skew(w) @ skew(w)  # (24)


def psi_vector(A: np.ndarray) -> np.ndarray:
    return np.array([A[0, 0], A[1, 1], A[2, 2], A[0, 1], A[0, 2], A[1, 2]])  # (26)


def psi_matrix(a, w) -> np.ndarray:
    """(25), written out as printed."""
    x, y, z = w
    return np.array(
        [
            [a[0], -y * z, y * z, a[1] - x * z, a[2] + x * y, y * y - z * z],
            [x * z, a[1], -x * z, a[0] + y * z, z * z - x * x, a[2] - x * y],
            [-x * y, x * y, a[2], x * x - y * y, a[0] - y * z, a[1] + x * z],
        ]
    )


def vectors(*items) -> list[np.ndarray]:
    return [np.array([float(x) for x in v]) for v in items]


class Motion:
    """(16)-(23) of one state in plain arrays, with every intermediate quantity kept."""

    def __init__(self, kinds: str, seed: int = 0):
        rng = np.random.default_rng([seed, len(kinds)])
        self.n = n = len(kinds)
        self.arm = random_arm(rng, n, kinds, gravity="generic")
        self.q, self.qd, self.qdd = (x[0] for x in random_states(rng, n, 1))
        self.chain = chain_of(self.arm)
        self.steps = pose(self.chain, self.q.tolist())
        self.R = [np.array([list(r) for r in s.R.rows], float) for s in self.steps]
        self.s = vectors(*(s.s for s in self.steps))
        self.d = [np.array([0, 0, float(s.d)]) for s in self.steps]
        self.K = [not b.revolute for b in self.chain.joints]
        self.m = [float(b.m) for b in self.chain.joints]
        self.c = [np.array(list(b.h), float) / b.m for b in self.chain.joints]
        self.J = [np.array([list(r) for r in b.J.full().rows], float) for b in self.chain.joints]
        self.g0 = np.array([float(x) for x in self.chain.gravity])
        self._outward()
        self._inward(*rng.normal(size=(2, 3)))

    def _outward(self):
        w = wd = a = np.zeros(3)
        g = self.g0
        self.w, self.wd, self.a, self.g = [], [], [], []
        z = np.array([0, 0, 1.0])
        for i in range(self.n):
            R = self.R[i].T
            a = R @ (a + np.cross(wd, self.s[i]) + np.cross(w, np.cross(w, self.s[i])))  # (18)
            w, wd, g = R @ w, R @ wd, R @ g
            if self.K[i]:
                a = a + z * self.qdd[i] + 2 * np.cross(w, z * self.qd[i])
            else:
                wd = wd + z * self.qdd[i] + np.cross(w, z * self.qd[i])  # (17)
                w = w + z * self.qd[i]  # (16)
            for found, x in zip((self.w, self.wd, self.a, self.g), (w, wd, a, g), strict=True):
                found.append(x)

    def _inward(self, f_E, t_E):
        self.f_E, self.t_E = f_E, t_E
        f, t = -f_E, -t_E  # at the tip, in frame n
        self.f, self.t, self.f_T, self.t_T = ([None] * self.n for _ in range(4))
        for i in range(self.n - 1, -1, -1):
            m, c, w, wd = self.m[i], self.c[i], self.w[i], self.wd[i]
            central = self.J[i] + m * skew(c) @ skew(c)
            self.f_T[i] = -m * (self.a[i] + np.cross(wd, c) + np.cross(w, np.cross(w, c)))  # (19)
            self.t_T[i] = -central @ wd - np.cross(w, central @ w)  # (20)
            t = t - self.t_T[i] - np.cross(c, m * self.g[i] + self.f_T[i])  # (22)
            f = f - m * self.g[i] - self.f_T[i]  # (21)
            self.f[i], self.t[i] = f, t
            f = self.R[i] @ f
            t = self.R[i] @ t + np.cross(self.s[i], f)

    def omega(self, i: int) -> np.ndarray:
        return big_omega(self.w[i], self.wd[i])


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


# ---- errata


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
        R = np.array(
            [list(r) for r in replace(steps[i], turns=steps[i].turns[:-1]).R.rows], float
        )  # constant part
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


def _generic_cases() -> list[Case]:
    found = []
    for k in range(6):
        rng = np.random.default_rng([k, 7])
        found.append(Case(random_arm(rng, 4 + k % 3, "R", "generic", "generic", "generic"), rng))
    return found


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


def test_65_and_76_must_not_both_hold_gravity():
    """a - g in (63) and (65) together with a_0 = -g counts gravity twice."""
    for case in _generic_cases():
        twice = replace(case.chain, gravity=case.chain.gravity * 2)
        found = stacked(constants.inverse_dynamics(twice, case.pose, case.qd.T, case.qdd.T))
        assert error(found, case.tau) > WRONG


def test_without_38_for_translational_joints(monkeypatch):
    """The sum in (38) belongs to D: a chain with translational joints behind a rotational one is wrong without it."""
    rng = np.random.default_rng(12)
    case = Case(random_arm(rng, 5, "RRPPR", "generic", "generic", "generic"), rng)
    assert error(case.run(constants.inverse_dynamics), case.tau) <= TOLERANCE
    original = constants.inertia_constants

    def constant(arm, steps):
        still = [
            replace(s, d=0) if not b.revolute else s for s, b in zip(steps, arm.joints, strict=True)
        ]
        D = [body.D for body in original(arm, still)]
        return [replace(body, D=d) for body, d in zip(original(arm, steps), D, strict=True)]

    monkeypatch.setattr(constants, "inertia_constants", constant)
    assert error(case.run(constants.inverse_dynamics), case.tau) > WRONG
