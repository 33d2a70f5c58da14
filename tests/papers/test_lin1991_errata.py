"""Each slip in the printed (or scanned) text of lin1991: the printed form fails, the corrected form holds."""

from __future__ import annotations

import numpy as np
import pytest

from dynarm.dynamics.papers import renaud_lin1991
from dynarm.robot.frames.chain import chain_of, pose
from oracles.lin1991_printed import E3, half_trace_less, skew, world
from oracles.pinocchio_arm import pinocchio_model
from strategies import random_arm

HOLDS = 1e-12  # relative to max(1, largest entry)
FAILS = 1e-4  # smallest deviation of a printed form, relative likewise
WORDS = ["RRRR", "RPRR", "PRRP", "PPRPR", "RRPRRR"]


class Case:
    """A random arm with gravity in a general direction at one state, in base axes, and what pinocchio says of it."""

    def __init__(self, word: str):
        rng = np.random.default_rng([len(word), word.count("P")])
        self.arm = random_arm(rng, len(word), word, gravity="generic")
        self.n = self.arm.n
        self.chain = chain_of(self.arm)
        self.q, self.qd = rng.uniform(-2, 2, (2, self.n))
        self.here = world(self.chain, self.q, rng.normal(size=3))
        self.steps = pose(self.chain, self.q.tolist())
        self.twin = pinocchio_model(self.arm)
        self.M = self.twin.mass_matrix(self.q)
        self.rest = self.twin.gravity(self.q)

    def velocity_forces(self, qd) -> np.ndarray:
        return self.twin.bias(self.q, qd) - self.rest

    def christoffel(self) -> np.ndarray:
        """C[m, k, j] out of pinocchio's bias at pairs of unit speeds."""
        e = np.eye(self.n)
        single = [self.velocity_forces(x) for x in e]
        C = np.zeros((self.n,) * 3)
        for k in range(self.n):
            for j in range(self.n):
                both = self.velocity_forces(e[k] + e[j])
                C[:, k, j] = (both - single[k] - single[j]) / 2 if k != j else single[k]
        return C

    def local(self, v: np.ndarray, j: int) -> np.ndarray:
        """A base vector in frame j."""
        return self.here.R[j].T @ v


@pytest.fixture(params=WORDS, scope="module")
def case(request) -> Case:
    return Case(request.param)


@pytest.fixture(params=[w for w in WORDS if "P" in w], scope="module")
def mixed(request) -> Case:
    return Case(request.param)


def deviation(found, wanted) -> float:
    found, wanted = np.asarray(found, float), np.asarray(wanted, float)
    return float(np.abs(found - wanted).max() / max(1.0, np.abs(wanted).max()))


def test_43_the_square_of_joint_j_has_D_mjj(case):
    """Printed D_mij: no index i but j gives the bias of two moving joints."""
    D = case.here.D()
    k, j = [i for i in range(case.n) if not case.here.K[i]][-2:]
    qd = np.zeros(case.n)
    qd[k], qd[j] = 1.3, -0.7
    wanted = case.velocity_forces(qd)
    for i in range(case.n):
        found = 2 * D[:, k, j] * qd[k] * qd[j] + D[:, k, k] * qd[k] ** 2 + D[:, i, j] * qd[j] ** 2
        assert deviation(found, wanted) <= HOLDS if i == j else deviation(found, wanted) > FAILS


def test_44_has_a_cross_product(case):
    """-J a - w x (J w), as its second line says; printed w (J w), a vector only as a product by entries."""
    rng = np.random.default_rng(1)
    u_k, u_j = (x / np.linalg.norm(x) for x in rng.normal(size=(2, 3)))
    v_k, v_j = 0.8, -1.7
    J = case.here.central(0)
    w, alpha = u_k * v_k + u_j * v_j, np.cross(u_k * v_k, u_j * v_j)  # (36), (37)
    mixed_term = -J @ np.cross(u_k, u_j) - np.cross(u_k, J @ u_j) - np.cross(u_j, J @ u_k)
    second = (
        mixed_term * v_k * v_j - np.cross(u_k, J @ u_k) * v_k**2 - np.cross(u_j, J @ u_j) * v_j**2
    )
    assert deviation(-J @ alpha - np.cross(w, J @ w), second) <= HOLDS
    assert deviation(-J @ alpha - w * (J @ w), second) > FAILS


def test_47_holds_for_k_equal_to_j_and_is_needed_there(case):
    C = case.christoffel()
    assert deviation(case.here.D(), C) <= HOLDS
    assert deviation(case.here.D(printed=True), C) > FAILS


def test_51_adds_the_central_moment(case):
    for j in range(case.n):
        wanted = half_trace_less(case.here.central(j))
        bar, spread = case.here.bar(j), case.here.mass(j) * np.outer(case.here.r(j), case.here.r(j))
        assert deviation(bar + spread, wanted) <= HOLDS
        assert deviation(bar - spread, wanted) > FAILS


def test_67_chooses_by_the_joint_that_feels_gravity(mixed):
    """-K*_m e_m.g - K_m m^_m (g)_z; with K_j as printed, no joint j serves all m."""
    here = mixed.here

    def eta(K) -> list[float]:
        return [
            -(not here.K[m]) * here.arm(m) @ here.g
            - K(m) * here.mass(m) * mixed.local(here.g, m)[2]
            for m in range(mixed.n)
        ]

    assert deviation(eta(lambda m: here.K[m]), mixed.rest) <= HOLDS
    for j in range(mixed.n):
        assert deviation(eta(lambda m, j=j: here.K[j]), mixed.rest) > FAILS


@pytest.mark.parametrize("word", ["PRRP", "PPRPR"])
def test_figure_3_initial_gravity_terms(word):
    """eta_j = -m^_j (g)_z of leading translational joints; printed m^_j (g)_x."""
    case = Case(word)
    first = word.index("R")
    g = [case.local(case.here.g, j) for j in range(first)]
    masses = [case.here.mass(j) for j in range(first)]
    assert (
        deviation([-m * x[2] for m, x in zip(masses, g, strict=True)], case.rest[:first]) <= HOLDS
    )
    for sign, axis in ((1, 0), (-1, 0), (1, 2)):
        assert (
            deviation(
                [sign * m * x[axis] for m, x in zip(masses, g, strict=True)], case.rest[:first]
            )
            > FAILS
        )


@pytest.mark.parametrize("word", ["R", "P"])
def test_figure_3_one_joint(word):
    """b_1 = -K* (m c x g)_z + K eta_1; printed the x component, and -K eta_1."""
    case = Case(word)
    here = case.here
    g, mc = case.local(here.g, 0), case.local(here.m[0] * (here.p[0] - here.s[0]), 0)
    eta = -here.m[0] * g[2]
    right, printed = (-np.cross(mc, g)[2], -np.cross(mc, g)[0]) if word == "R" else (eta, -eta)
    assert deviation([right], case.rest) <= HOLDS
    assert deviation([printed], case.rest) > FAILS


def test_figure_3_marks_of_the_tensors(case):
    """J_n (bar) begins with I~_n; (J_r)_33 of the first rotational joint is that of J^ (hat), not of J (bar)."""
    here, tip = case.here, case.n - 1
    spread = here.m[tip] * np.outer(here.p[tip], here.p[tip])
    assert deviation(half_trace_less(here.I[tip]) - spread, here.bar(tip)) <= HOLDS
    assert deviation(here.I[tip] - spread, here.bar(tip)) > FAILS
    r = here.K.index(False)
    z, at = here.u[r], world(case.chain, case.q, here.s[r] + _reference(case))  # seen from origin r
    assert deviation([z @ at.hat(r) @ z], [case.M[r, r]]) <= HOLDS
    assert deviation([z @ at.bar(r) @ z], [case.M[r, r]]) > FAILS


def _reference(case: Case) -> np.ndarray:
    """The reference origin of case.here in frame 0."""
    return world(case.chain, case.q).s[0] - case.here.s[0]


@pytest.mark.parametrize("word", ["RPRR", "PRPR", "RP", "PPRP"])
def test_figure_a1_entry_33_with_a_translational_joint(word):
    """2 (s_x c_x + s_y c_y) + m^ (s_x^2 + s_y^2) of joint r + 1; printed s_z^2 + s_y^2."""
    case = Case(word)
    r = word.index("R")
    body = renaud_lin1991.composites(case.chain, case.steps)[r + 1]
    s, c = case.steps[r + 1].s, case.steps[r + 1].fall(body.c)
    turned = case.steps[r + 1].fall_sym(body.J).zz
    own = case.chain.joints[r].J.zz

    def entry(square: float) -> float:
        return own + turned + 2 * (s.x * c.x + s.y * c.y) + body.m * square

    assert deviation([entry(s.x**2 + s.y**2)], [case.M[r, r]]) <= HOLDS
    assert deviation([entry(s.z**2 + s.y**2)], [case.M[r, r]]) > FAILS


def renaud_entries(case: Case, arm_of, way_of) -> np.ndarray:
    """(A1) with e_j = z x arm_of(j) and s^_m = u_m x way_of(m, j), for all m < j."""
    here, found = case.here, np.zeros((case.n, case.n))
    bodies = renaud_lin1991.composites(case.chain, case.steps)
    for j in range(case.n):
        a = here.R[j] @ np.array(list(bodies[j].J.third), float)
        e = np.cross(here.u[j], arm_of(j))
        for m in range(j):
            u, s = here.u[m], np.cross(here.u[m], way_of(m, j))
            if not here.K[j]:
                found[m, j] = e @ u if here.K[m] else a @ u + s @ e
            else:
                mass = here.mass(j)
                found[m, j] = mass * u @ here.u[j] if here.K[m] else mass * s @ here.u[j] - e @ u
    return found


def test_figure_a1_moment_arm_is_about_the_own_origin(case):
    """e_j = [-(c^_j)_y, (c^_j)_x, 0]; printed p^_j, the first moment about the base origin."""
    here, wanted = case.here, np.triu(case.M, 1)

    def way(m, j):
        return here.s[j] - here.s[m]

    own = renaud_entries(case, lambda j: here.first_moment(j) - here.mass(j) * here.s[j], way)
    assert deviation(own, wanted) <= HOLDS
    assert deviation(renaud_entries(case, here.first_moment, way), wanted) > FAILS


def test_figure_a1_recursion_begins_with_s(case):
    """s^_j in frame j+1 = R [-s_y, s_x, 0]; printed [-s^_y, s^_x, 0], where s^_j in frame j is u_j x 0."""
    for j in range(case.n - 1):
        if case.here.K[j]:
            continue
        step = case.steps[j + 1]
        wanted = case.local(np.cross(case.here.u[j], case.here.s[j + 1] - case.here.s[j]), j + 1)
        s = np.array(list(step.s), float)
        R = np.array([list(row) for row in step.R.rows], float)
        assert deviation(R.T @ [-s[1], s[0], 0], wanted) <= HOLDS
        hat = np.cross([0, 0, 1], np.zeros(3))
        assert deviation(R.T @ [-hat[1], hat[0], 0], wanted) > FAILS


def fijany_bejczy_entries(case: Case, k: int, from_own_frame: bool, sign: float) -> np.ndarray:
    """(A10)-(A15) in frame k, for m < j; the force taken from frame j or (printed) k, the couple t_jj = sign t_Ejj."""
    here, found = case.here, np.zeros((case.n, case.n))
    for j in range(case.n):
        c = here.first_moment(j) - here.mass(j) * here.s[j]
        about = world(case.chain, case.q, here.s[j] + _reference(case)).hat(j)
        f_E = -(here.mass(j) * here.u[j] if here.K[j] else np.cross(here.u[j], c))  # (A10)
        t_E = -(np.cross(c, here.u[j]) if here.K[j] else about @ here.u[j])  # (A11)
        turn = here.R[k].T @ here.R[j]  # frame j to frame k
        f = -turn @ case.local(f_E, j if from_own_frame else k)  # (A14)
        t = sign * case.local(t_E, k)
        for m in range(j - 1, -1, -1):
            t = t + np.cross(case.local(here.s[m + 1] - here.s[m], k), f)  # (A15)
            found[m, j] = case.local(here.u[m], k) @ (f if here.K[m] else t)  # (A13)
    return found


def test_a14_takes_the_force_from_frame_j_and_minus_the_couple(case):
    wanted = np.triu(case.M, 1)
    for k in (1, case.n - 1):  # frame 2, frame n
        assert deviation(fijany_bejczy_entries(case, k, True, -1.0), wanted) <= HOLDS
        assert deviation(fijany_bejczy_entries(case, k, False, -1.0), wanted) > FAILS
        assert deviation(fijany_bejczy_entries(case, k, True, 1.0), wanted) > FAILS


def test_a5_and_a6_are_constant_only_without_translational_joints():
    """With 1 for K*, as references 4 and 12 of the paper have it, the 'constants' change with the joint position."""
    case = Case("RRPR")
    moved = pose(case.chain, (case.q + np.array([0, 0, 0.3, 0])).tolist())
    for j in range(3):
        here, there = case.steps[j + 1].s, moved[j + 1].s
        changed = deviation(list(there), list(here)) > FAILS
        assert changed == (not case.chain.joints[j + 1].revolute)


def test_identities_48_to_53():
    """The vector identities between (46) and its derivation, as printed."""
    rng = np.random.default_rng(2)
    a, b, r = rng.normal(size=(3, 3))
    A = rng.normal(size=(3, 3))
    J = A @ A.T
    u, w = a / np.linalg.norm(a), b / np.linalg.norm(b)
    assert (
        deviation(skew(a) @ skew(b), np.outer(b, a) - np.trace(np.outer(b, a)) * E3) <= HOLDS
    )  # (21)
    left = np.cross(u, np.cross(w, r)) + np.cross(w, np.cross(u, r)) + np.cross(np.cross(u, w), r)
    assert deviation(left, 2 * np.cross(u, np.cross(w, r))) <= HOLDS  # (48)
    left = J @ np.cross(u, w) + np.cross(u, J @ w) + np.cross(w, J @ u)
    assert deviation(left, 2 * np.cross(w, half_trace_less(J) @ u)) <= HOLDS  # (49)
    assert (
        deviation(np.cross(np.cross(u, r), np.cross(w, r)), -np.outer(r, r) @ np.cross(w, u))
        <= HOLDS
    )  # (50)
    assert deviation(np.cross(w, half_trace_less(J) @ w), np.cross(w, J @ w)) <= HOLDS  # (52)
    product = skew(a) @ skew(b)
    assert deviation(product - np.trace(product) / 2 * E3, np.outer(b, a)) <= HOLDS  # (53)
