"""Every slip of turney1980: the printed form fails on every arm, the corrected form holds."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from oracles.turney1980_printed import (
    Q,
    Z,
    chain_products,
    cross_matrix,
    first_derivative,
    lagrange,
    newton_euler,
    samples,
    second_derivative,
)

HOLDS = 1e-12  # relative to 1 + largest entry
FAILS = 1e-4


def distance(found, wanted) -> float:
    return float(np.abs(np.asarray(found) - wanted).max() / (1 + np.abs(wanted).max()))


def holds(found, wanted) -> None:
    assert distance(found, wanted) < HOLDS


def fails(found, wanted) -> None:
    assert distance(found, wanted) > FAILS


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


def by_complex_step(s, function, j):
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


def accelerations(s, T, q):
    """Sum of dT theta'' + d2T theta' theta' of frame q: the second time derivative of T_0^q."""
    total = sum(first_derivative(T, j, q) * s.qdd[j - 1] for j in range(1, q + 1))
    for j in range(1, q + 1):
        for k in range(1, q + 1):
            total = total + second_derivative(T, j, k, q) * s.qd[j - 1] * s.qd[k - 1]
    return total


def centre_accelerations(s):
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
