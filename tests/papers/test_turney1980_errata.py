"""Every slip of turney1980: the printed form fails on every arm, the corrected form holds.

`newton_euler` and `lagrange` below are the paper's equations in plain NumPy with standard Denavit-Hartenberg frames,
rotational joints; `printed` names the equations to be taken as they are printed.
"""

from __future__ import annotations

import tomllib
from fractions import Fraction
from functools import cache, partial
from pathlib import Path

import numpy as np
import pytest

from dynarm.algebra import IDENTITY, ZERO
from dynarm.graph import Port
from dynarm.robot.chain import chain_of, pose
from dynarm.robot.standard import links, steps
from dynarm.trace import trace_function
from oracles.pinocchio_arm import pinocchio_model
from strategies import random_arm, random_states

HOLDS = 1e-12  # relative to 1 + largest entry
FAILS = 1e-4
Z = np.array([0.0, 0.0, 1.0])
Q = np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 0]])
GOLDEN = tomllib.loads(
    (Path(__file__).parents[1] / "golden" / "turney1980.toml").read_text(encoding="utf-8")
)


class Sample:
    """A random arm of rotational joints in one state, its numbers in standard frames, and the truth by pinocchio."""

    def __init__(self, seed: int, upright: bool):
        rng = np.random.default_rng([80, seed])
        self.n = n = 2 + seed % 5
        twists = [0.0, *rng.uniform(0.3, 2.8, n - 1)] if upright else "generic"
        self.arm = random_arm(rng, n, "R", twists, "generic", "z")
        self.q, self.qd, self.qdd = (x[0] for x in random_states(rng, n, 1))
        self.chain = chain_of(self.arm)
        self.truth = pinocchio_model(self.arm)
        self.g = vector(self.chain.gravity)
        bodies = links(self.chain)
        self.m = [link.m for link in bodies]
        self.rbar = [vector(link.rbar) for link in bodies]
        self.I = [np.array([vector(row) for row in link.I.full().rows]) for link in bodies]
        self.R, self.r = self.frames(self.q)

    def frames(self, q):
        """R_{i-1}^i and r_i of every step."""
        path = steps(self.chain, pose(self.chain, list(q)))
        R = [np.array([vector(row) for row in step.after(IDENTITY, ZERO)[0].rows]) for step in path]
        return R, [vector(step.r) for step in path]


def vector(v) -> np.ndarray:
    return np.array([*v])


@cache
def samples(upright: bool = False) -> tuple[Sample, ...]:
    return tuple(Sample(seed, upright) for seed in range(20))


def distance(found, wanted) -> float:
    return float(np.abs(np.asarray(found) - wanted).max() / (1 + np.abs(wanted).max()))


def holds(found, wanted) -> None:
    assert distance(found, wanted) < HOLDS


def fails(found, wanted) -> None:
    assert distance(found, wanted) > FAILS


def cross_matrix(v):
    return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])


def second_moment(inertia):
    return np.trace(inertia) / 2 * np.eye(3) - inertia


def newton_euler(s: Sample, qd, qdd, printed: str = "", a0=None) -> np.ndarray:
    """(3.15)-(3.21), or, for slips of section 5, (5.1)-(5.2)."""
    w = alpha = np.zeros(3)
    a = -s.g if a0 is None else a0
    loads = []
    for i in range(s.n):
        up = s.R[i].T
        w_before, w = w, up @ (w + Z * qd[i])
        turning = np.cross(w if printed == "3.16" else w_before, Z * qd[i])
        alpha = up @ (alpha + turning + Z * qdd[i])
        A = np.outer(w, w) - w @ w * np.eye(3) + cross_matrix(alpha)
        if printed == "A_i":
            A[2, 1] += alpha[2] - alpha[0]
        a = A @ s.r[i] + up @ a
        rbar = s.rbar[i] + s.r[i] if printed == "rbar from origin i-1" else s.rbar[i]
        abar = A @ (s.r[i] if printed == "3.18" else rbar) + a
        F = s.m[i] * abar
        loads.append((F, moment(s, i, A, w, alpha, printed) + np.cross(rbar + s.r[i], F)))
    f = n = np.zeros(3)
    tau = np.zeros(s.n)
    for i in reversed(range(s.n)):
        down = s.R[i + 1] if i + 1 < s.n else np.eye(3)
        F, N = loads[i]
        n = N + np.cross(s.r[i], down @ f) + down @ n
        f = F + down @ f
        tau[i] = (s.R[i].T @ Z) @ n
    return tau


def moment(s: Sample, i: int, A, w, alpha, printed: str):
    """I alpha + w x I w, or Tr{A K sigma'} where section 5 is on trial."""
    K = second_moment(s.I[i])
    if printed == "K_i diagonal":
        K = np.diag(np.diag(K))
    elif printed == "K_i about origin i-1":
        arm = s.rbar[i] + s.r[i]
        K = K + s.m[i] * np.outer(arm, arm)
    elif printed not in ("A_i", "text below 5.2", "section 5"):
        return s.I[i] @ alpha + np.cross(w, s.I[i] @ w)
    AK = A @ K
    axial = np.array([AK[2, 1] - AK[1, 2], AK[0, 2] - AK[2, 0], AK[1, 0] - AK[0, 1]])
    return -axial if printed == "text below 5.2" else axial


@pytest.mark.parametrize("form", ["", "section 5"])
def test_corrected_newton_euler(form):
    for s in samples():
        holds(newton_euler(s, s.qd, s.qdd, form), s.truth.inverse_dynamics(s.q, s.qd, s.qdd))


@pytest.mark.parametrize(
    "printed",
    [
        "3.16",
        "3.18",
        "rbar from origin i-1",
        "A_i",
        "text below 5.2",
        "K_i diagonal",
        "K_i about origin i-1",
    ],
)
def test_printed_newton_euler_fails(printed):
    for s in samples():
        fails(newton_euler(s, s.qd, s.qdd, printed), s.truth.inverse_dynamics(s.q, s.qd, s.qdd))


def test_base_acceleration_is_a_vector():
    """9.8 along z_0 is right only where joint 1 is vertical; minus the gravity vector is right always."""
    upward = 9.81 * Z
    for s in samples(upright=True):
        holds(newton_euler(s, s.qd, s.qdd, a0=upward), s.truth.inverse_dynamics(s.q, s.qd, s.qdd))
        fails(newton_euler(s, s.qd, s.qdd, a0=-upward), s.truth.inverse_dynamics(s.q, s.qd, s.qdd))
    for s in samples():
        fails(newton_euler(s, s.qd, s.qdd, a0=upward), s.truth.inverse_dynamics(s.q, s.qd, s.qdd))


def test_5_2_as_printed_has_no_solution():
    """With R n_i on its right side (5.2) reads (E - R) n_i = ..., and E - R is singular for every rotation."""
    for s in samples():
        for R in s.R[1:]:
            assert np.linalg.matrix_rank(np.eye(3) - R, tol=1e-9) == 2


# ---- Lagrange


def chain_products(R, r):
    """T_0^q for q = 0 ... n."""
    T = [np.eye(4)]
    for step, displacement in zip(R, r, strict=True):
        local = np.eye(4, dtype=step.dtype)
        local[:3, :3], local[:3, 3] = step, step @ displacement
        T.append(T[-1] @ local)
    return T


Q4 = np.zeros((4, 4))
Q4[:3, :3] = Q


def first_derivative(T, j, q):
    """(1.11): dT_0^q/dtheta_j, j from 1."""
    return T[j - 1] @ Q4 @ np.linalg.inv(T[j - 1]) @ T[q]


def second_derivative(T, j, k, q):
    """(1.12)."""
    j, k = min(j, k), max(j, k)
    return T[j - 1] @ Q4 @ np.linalg.inv(T[j - 1]) @ first_derivative(T, k, q)


def augmented(s: Sample, q, diagonal=False):
    """(1.28), (1.26) of link q, counted from 1."""
    m, rbar = s.m[q - 1], s.rbar[q - 1]
    K = second_moment(s.I[q - 1])
    J = (np.diag(np.diag(K)) if diagonal else K) + m * np.outer(rbar, rbar)
    return np.block([[J, m * rbar[:, None]], [m * rbar[None, :], np.array([[m]])]])


def lagrange(s: Sample, printed: str = ""):
    """M, C[i, j, k] and G of section 2."""
    n = s.n
    T = chain_products(s.R, s.r)
    M, C, G = np.zeros((n, n)), np.zeros((n, n, n)), np.zeros(n)
    for q in range(1, n + 1):
        Ja = augmented(s, q, diagonal=printed == "1.26")
        down = np.append(s.g, 0)
        for i in range(1, q + 1):
            right = Ja @ first_derivative(T, i, q).T
            G[i - 1] -= down @ first_derivative(T, i, q) @ Ja[:, 3]
            for j in range(1, q + 1):
                M[i - 1, j - 1] += np.trace(first_derivative(T, j, q) @ right)
                for k in range(1, q + 1):
                    C[i - 1, j - 1, k - 1] += np.trace(second_derivative(T, j, k, q) @ right)
    return M, C, G


def test_corrected_lagrange():
    for s in samples():
        M, C, G = lagrange(s)
        holds(M, s.truth.mass_matrix(s.q))
        holds(np.einsum("ijk,j,k->i", C, s.qd, s.qd) + G, s.truth.bias(s.q, s.qd))
        holds(G, s.truth.gravity(s.q))


def test_1_26_needs_principal_axes():
    for s in samples():
        M, _, _ = lagrange(s, "1.26")
        fails(M, s.truth.mass_matrix(s.q))


def by_complex_step(s: Sample, function, j):
    """The derivative of function(R, r) by the angle of joint j, exact to rounding."""
    q = s.q.astype(complex)
    q[j - 1] += 1e-30j
    return np.imag(function(*s.frames(q))) / 1e-30


def test_1_11_and_1_12_have_index_j_minus_1():
    for s in samples():
        T = chain_products(s.R, s.r)
        q = s.n
        for j in range(1, q):
            exact = by_complex_step(s, lambda R, r, q=q: chain_products(R, r)[q], j)
            holds(first_derivative(T, j, q), exact)
            rotation = T[q][:3, :3]
            wrong_axis = T[q - 1][:3, :3] @ Q @ T[q - 1][:3, :3].T  # Q_0^{i-1} as printed
            fails(wrong_axis @ rotation, exact[:3, :3])
            again = by_complex_step(
                s, lambda R, r, q=q: first_derivative(chain_products(R, r), q, q), j
            )
            holds(second_derivative(T, j, q, q), again)
            own_axis = T[q - 1][:3, :3] @ Q @ T[q - 1][:3, :3].T
            fails(wrong_axis @ own_axis @ rotation, again[:3, :3])


def test_2_6_needs_the_velocities():
    for s in samples():
        M, _, _ = lagrange(s)
        energy = s.truth.kinetic_energy(s.q, s.qd)
        holds(s.qd @ M @ s.qd / 2, energy)
        fails(M.sum() / 2, energy)


def test_2_1_and_2_7_signs_cancel():
    """The printed potential energy is minus the real one; only with the minus of (2.7) does its slope act rightly."""

    def printed_energy(s, R, r):
        T = chain_products(R, r)
        g = np.linalg.norm(s.g)
        up = -s.g / g
        return -sum(
            g * up @ (m * (T[k + 1][:3] @ np.append(c, 1)))
            for k, (m, c) in enumerate(zip(s.m, s.rbar))
        )

    for s in samples():
        slope = [by_complex_step(s, partial(printed_energy, s), j) for j in range(1, s.n + 1)]
        rise = printed_energy(s, s.R, s.r) - printed_energy(s, *s.frames(np.zeros(s.n)))
        real = s.truth.potential_energy(s.q) - s.truth.potential_energy(np.zeros(s.n))
        holds(-rise, real)
        fails(rise, real)
        holds(-np.array(slope), s.truth.gravity(s.q))
        fails(np.array(slope), s.truth.gravity(s.q))


def test_first_term_of_the_torque_has_accelerations():
    """Closing equation of section 2, (2.9) and (2.11), where the scan shows velocities."""
    for s in samples():
        M, _, _ = lagrange(s)
        bias = s.truth.bias(s.q, s.qd)
        holds(M @ s.qdd + bias, s.truth.inverse_dynamics(s.q, s.qd, s.qdd))
        fails(M @ s.qd + bias, s.truth.inverse_dynamics(s.q, s.qd, s.qdd))


def test_coriolis_matrices_carry_the_torque_index_above():
    """Below (2.11) C_ij^k is printed for what is C^i_jk: read as printed, the traces give another torque."""
    for s in samples():
        _, C, G = lagrange(s)
        bias = s.truth.bias(s.q, s.qd)
        holds(np.einsum("ijk,j,k->i", C, s.qd, s.qd) + G, bias)
        fails(np.einsum("ijk,i,j->k", C, s.qd, s.qd) + G, bias)


def test_strobing_with_two_velocities():
    for s in samples():
        _, C, _ = lagrange(s)
        still, joints = np.zeros(s.n), np.eye(s.n)

        def run(qd, s=s, still=still):
            return newton_euler(s, qd, still, a0=np.zeros(3))

        for j in range(s.n):
            holds(run(joints[j]), C[:, j, j])
            for k in range(j):
                both = run(joints[j] + joints[k])
                holds((both - run(joints[j]) - run(joints[k])) / 2, C[:, j, k])
        fails(
            [[run(joints[j] + joints[k]) for k in range(s.n) if k != j] for j in range(s.n)],
            _pairs(C),
        )


def _pairs(C):
    n = len(C)
    return np.array([[C[:, j, k] for k in range(n) if k != j] for j in range(n)])


# ---- section 4, the proof


def accelerations(s: Sample, T, q):
    """Sum of dT theta'' + d2T theta' theta' of frame q: the second time derivative of T_0^q."""
    total = sum(first_derivative(T, j, q) * s.qdd[j - 1] for j in range(1, q + 1))
    for j in range(1, q + 1):
        for k in range(1, q + 1):
            total = total + second_derivative(T, j, k, q) * s.qd[j - 1] * s.qd[k - 1]
    return total


def centre_accelerations(s: Sample):
    """abar_i of (3.18), each in its own frame."""
    w = alpha = np.zeros(3)
    a = -s.g
    found = []
    for i in range(s.n):
        up = s.R[i].T
        alpha = up @ (alpha + np.cross(w, Z * s.qd[i]) + Z * s.qdd[i])
        w = up @ (w + Z * s.qd[i])
        A = np.outer(w, w) - w @ w * np.eye(3) + cross_matrix(alpha)
        a = A @ s.r[i] + up @ a
        found.append(A @ s.rbar[i] + a)
    return found


def test_4_9_gravity_is_turned_into_frame_i():
    for s in samples():
        T = chain_products(s.R, s.r)
        for i, abar in enumerate(centre_accelerations(s), start=1):
            R = T[i][:3, :3]
            moved = accelerations(s, T, i)[:3] @ np.append(s.rbar[i - 1], 1)
            holds(R.T @ moved - R.T @ s.g, abar)
            fails(R.T @ moved - R @ s.g, abar)


def test_4_17_gravity_has_the_mass_once():
    for s in samples():
        T = chain_products(s.R, s.r)
        i = s.n
        axis, lever = s.R[-1].T @ Z, s.rbar[-1] + s.r[-1]
        pull = -T[i][:3, :3].T @ s.g
        wanted = s.truth.gravity(s.q)[-1]
        holds(axis @ np.cross(s.m[-1] * lever, pull), wanted)
        fails(axis @ np.cross(s.m[-1] * lever, s.m[-1] * pull), wanted)


def test_4_30_has_the_mass_on_every_term():
    """The force of the last link on the one before, through r_i: mass times the kinematic terms and times gravity."""
    for s in samples():
        T = chain_products(s.R, s.r)
        last, i = s.n, s.n - 1
        axis = s.R[i - 1].T @ Z
        f = s.m[-1] * centre_accelerations(s)[-1]
        wanted = axis @ np.cross(s.r[i - 1], s.R[last - 1] @ f)
        moved = accelerations(s, T, last)[:3] @ np.append(s.rbar[-1], 1)
        lever = T[i - 1][:3, :3] @ Q @ T[i - 1][:3, :3].T @ (T[i][:3, :3] @ s.r[i - 1])
        holds((s.m[-1] * moved - s.m[-1] * s.g) @ lever, wanted)
        fails((moved - s.m[-1] * s.g) @ lever, wanted)


def test_4_33_gravity_acts_at_the_centre_of_mass():
    """Its last term adds the matrix dR to the vector dp; dR rbar is meant, and leaving rbar out is not the torque."""
    for s in samples():
        T = chain_products(s.R, s.r)
        last = s.n
        wanted = s.truth.gravity(s.q)[-1]
        D = first_derivative(T, last, last)
        weight = -s.m[-1] * s.g
        holds(weight @ (D[:3, :3] @ s.rbar[-1] + D[:3, 3]), wanted)
        fails(weight @ D[:3, 3], wanted)


# ---- arithmetic of the tables


def value(coefficients, n) -> Fraction:
    total = Fraction(0)
    for c in coefficients:
        total = total * n + Fraction(c)
    return total


@pytest.mark.parametrize("table", ["2", "3", "4"])
@pytest.mark.parametrize("kind", ["mul", "add"])
def test_rows_sum_to_the_printed_totals(table, kind):
    rows = [row for row in GOLDEN["row"] if row["table"] == table]
    totals = [p for p in GOLDEN["polynomial"] if table in p["table"].split(", ")]
    assert len(rows) >= 6
    assert totals
    for n in range(1, 13):
        for total in totals:
            assert sum(value(row[kind], n) for row in rows) == value(total[f"{kind}_printed"], n)


def test_table_5_rows_sum_to_its_total():
    rows = [row for row in GOLDEN["row"] if row["table"] == "5"]
    (total,) = GOLDEN["total"]
    for kind in ("mul", "add"):
        for n in range(1, 13):
            assert sum(value(row[kind], n) for row in rows) == value(total[kind], n)


def number(table: str) -> dict:
    (found,) = (x for x in GOLDEN["number"] if x["table"] == table)
    return found


def test_appendix_second_derivatives():
    """i(i-1)/2 products of 4x4 matrices a link, 48 additions each."""
    entry = number("Appendix, second derivatives")
    for n in range(2, 13):
        exact = sum(48 * i * (i - 1) // 2 for i in range(1, n + 1))
        assert value(entry["add"], n) == exact
        assert value(entry["add_printed"], n) != exact


def test_appendix_kinetic_term():
    entry = number("Appendix, kinetic term of link q")
    for q in range(1, 13):
        exact = 16 * q + Fraction(q * (q - 1), 2) + 8 * q * (q - 1) + 64
        assert value(entry["mul"], q) == exact
        assert value(entry["mul_printed"], q) != exact


def test_appendix_sum_of_kinetic_terms():
    entry = number("Appendix, kinetic terms of all links")
    for n in range(1, 13):
        exact = sum(16 * q * (q + 1) + 32 for q in range(1, n + 1))
        assert value(entry["add"], n) == exact
        assert value(entry["add_printed"], n) != exact
    assert (value(entry["add"], 6), value(entry["add_printed"], 6)) == (1984, 1312)


def test_appendix_totals_are_interchanged():
    entry = number("Appendix, total")
    (table,) = {
        (tuple(p["mul_printed"]), tuple(p["add_printed"]))
        for p in GOLDEN["polynomial"]
        if "2" in p["table"]
    }
    assert table == (tuple(entry["add_printed"]), tuple(entry["mul_printed"]))
    assert table == (tuple(entry["mul"]), tuple(entry["add"]))


def test_alpha_costs_11_multiplications():
    """Tables 3 and 4 print 9; w x z theta' alone is 2, the product with a 3x3 matrix 9."""

    def alpha(R, before, w, rates):
        v, acc = rates
        x, y, z = before[0] + w[1] * v, before[1] - w[0] * v, before[2] + acc
        return [R[k] * x + R[k + 1] * y + R[k + 2] * z for k in (0, 3, 6)]

    ports = [Port("R", (9,)), Port("before", (3,)), Port("w", (3,)), Port("rates", (2,))]
    count = trace_function(ports, [Port("alpha", (3,))], alpha).count()
    assert (count.mul, count.add) == (11, 9)
    for table in ("3", "4"):
        (row,) = (r for r in GOLDEN["row"] if r["table"] == table and r["term"] == "alpha_i")
        assert (row["mul"], row["add"]) == ([9, 0], [9, 0])


@pytest.mark.parametrize(("table", "vectors"), [("3", 5), ("4", 4)])
def test_adding_up_n_costs_three_additions_a_vector(table, vectors):
    """n_i is the sum of 5 vectors in (3.20) and 4 in (5.2): 12 and 9 additions, where both tables print 15."""
    ports = [Port(f"v{k}", (3,)) for k in range(vectors)]

    def add_up(*terms):
        return [sum((term[k] for term in terms[1:]), terms[0][k]) for k in range(3)]

    count = trace_function(ports, [Port("n", (3,))], add_up).count()
    assert (count.mul, count.add) == (0, 3 * (vectors - 1))
    (row,) = (r for r in GOLDEN["row"] if r["table"] == table and r["term"] == "add n")
    assert count.add < row["add"][0] == 15
