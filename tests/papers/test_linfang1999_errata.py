"""Errors in the printed or scanned text of linfang1999: the printed form fails, the corrected one holds.

The tables are written out here once more, in plain NumPy and from the definitions (3)-(5), with a switch for each
erratum. Table VII, (30)-(32) and (40) belong to the minimal parameters and are tested there.
"""

from __future__ import annotations

import numpy as np
import pytest

from dynarm.robot.frames.chain import chain_of, pose
from oracles.pinocchio_arm import pinocchio_model
from strategies import random_arm, random_states

TOLERANCE = 1e-12  # relative to max(1, largest entry)
WRONG = 1e-6  # a printed form must be off by more than this somewhere on each arm that it concerns
Z = np.array([0.0, 0.0, 1.0])


def skew(v: np.ndarray) -> np.ndarray:
    return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])


class Numbers:
    """A random arm in one pose: rotations, displacements and composite bodies as arrays, index 0 is joint 1."""

    def __init__(self, seed: int, kinds: str, frame_of_inertia: str = "own"):
        rng = np.random.default_rng([seed, len(kinds)])
        self.n = n = len(kinds)
        self.arm = random_arm(rng, n, kinds)
        self.q = random_states(rng, n, 1)[0][0]
        self.M = pinocchio_model(self.arm).mass_matrix(self.q)
        chain = chain_of(self.arm)
        steps = pose(chain, self.q.tolist())
        self.K = [not b.revolute for b in chain.joints]  # the paper's K_i: translational
        self.R = [np.array([list(row) for row in step.R.rows], float) for step in steps]
        self.s = [np.array(list(step.s), float) for step in steps]
        self.b = [np.array([step.a, 0, 0], float) for step in steps]
        self.d = [np.array([0, 0, step.d], float) for step in steps]
        self.m = [float(sum(b.m for b in chain.joints[i:])) for i in range(n)]
        self.c, self.J = zip(
            *(self._composite(chain, i, frame_of_inertia) for i in range(n)), strict=True
        )

    def _composite(self, chain, i, frame_of_inertia):
        """c^ and J^ by (4) and (5)."""
        c, J = np.zeros(3), np.zeros((3, 3))
        R, s = np.eye(3), np.zeros(3)
        for k in range(i, self.n):
            if k > i:
                s = s + R @ self.s[k]
                R = R @ self.R[k]
            body = chain.joints[k]
            r = s + R @ np.array(list(body.h), float) / body.m
            own = np.array([list(row) for row in body.J.full().rows], float)
            own = own + skew(list(body.h)) @ skew(list(body.h)) / body.m  # about the centre of mass
            inside = R @ own @ R.T if frame_of_inertia == "composite" else own
            c = c + body.m * r
            J = J + R @ inside @ R.T - body.m * skew(r) @ skew(r)
        return c, J

    def error(self, M: np.ndarray) -> float:
        return float(np.abs(M - self.M).max() / max(1.0, np.abs(self.M).max()))


def table_3(x: Numbers, hat: bool = True, sign: float = 1.0) -> np.ndarray:
    """Formulation 3, with the hat on s in its recursion and the sign of [c_y, -c_x, 0] as parameters."""
    M = np.zeros((x.n, x.n))
    for j in range(x.n):
        u, moment, s = Z, np.zeros(3), np.zeros(3)
        M[j, j] = x.m[j] if x.K[j] else x.J[j][2, 2]
        for i in range(j + 1, x.n):
            R = x.R[i].T
            carried = moment if hat or i == j + 1 else s
            moment = R @ (carried + np.cross(u, x.b[i])) + np.cross(R @ u, x.d[i])
            s = R @ (s + x.b[i]) + x.d[i]
            u = R @ u
            c = x.c[i]
            if x.K[j]:
                M[j, i] = x.m[i] * u[2] if x.K[i] else u @ np.cross(Z, c)
            elif x.K[i]:
                M[j, i] = x.m[i] * moment[2] + sign * u @ np.array([c[1], -c[0], 0])
            else:
                M[j, i] = u @ x.J[i][:, 2] + moment[1] * c[0] - moment[0] * c[1]
            M[i, j] = M[j, i]
    return M


def table_5(x: Numbers, both: bool = False, chooser: str = "j") -> np.ndarray:
    """Formulation 5: -f x s for both kinds of joint i (as Table V prints it), and K_i or K_j in (B11)."""
    M = np.zeros((x.n, x.n))
    for i in range(x.n):
        M[i, i] = x.m[i] if x.K[i] else x.J[i][2, 2]
        f = t = np.zeros(3)
        for j in range(i - 1, -1, -1):
            R, s = x.R[j + 1], x.s[j + 1]
            if j == i - 1:
                u, h = R @ Z, R @ x.c[i] + x.m[i] * s
                f = x.m[i] * u if x.K[i] else -np.cross(h - x.m[i] * s, u)
                t = np.cross(h, u) if x.K[i] else R @ x.J[i][:, 2]
                if both or not x.K[i]:
                    t = t - np.cross(f, s)
            else:
                f = R @ f
                t = R @ t + np.cross(s, f)
            pick = x.K[j] if chooser == "j" else x.K[i]
            M[i, j] = M[j, i] = f[2] if pick else t[2]
    return M


MIXED = ["RPR", "RRPR", "PRRP", "RPPRR", "RRRPRP"]
KINDS = ["RR", "RRRR", "RRRRRR", *MIXED]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("kinds", KINDS)
def test_corrected_tables_hold(kinds, seed):
    x = Numbers(seed, kinds)
    assert x.error(table_3(x)) <= TOLERANCE
    assert x.error(table_5(x)) <= TOLERANCE


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("kinds", ["RRR", "RRRR", "RRPR"])
def test_table_3_needs_the_hat(kinds, seed):
    x = Numbers(seed, kinds)
    assert x.error(table_3(x, hat=False)) > WRONG


@pytest.mark.parametrize("seed", range(5))
def test_table_3_begins_with_the_displacement_of_joint_j_plus_1(seed):
    """s^_j in frame j+1 = R [d_{j+1} sin beta_{j+1}, b_{j+1}, 0]; printed d_{i+1}, which serves for i = j only."""
    x = Numbers(seed, "RRRRR")
    for j in range(x.n - 1):
        step, R = x.s[j + 1], x.R[j + 1].T
        beta = x.arm.joints[j + 1].alpha
        wanted = R @ np.cross(Z, step)
        for i in range(x.n - 1):
            found = R @ np.array([x.d[i + 1][2] * np.sin(beta), x.b[j + 1][0], 0])
            assert (np.abs(found - wanted).max() <= TOLERANCE) == (i == j)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("kinds", MIXED)
def test_table_3_sign_for_a_translational_joint_behind_a_rotational_one(kinds, seed):
    x = Numbers(seed, kinds)
    assert x.error(table_3(x, sign=-1.0)) > WRONG


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("kinds", ["RPR", "RRPR", "RPPRR", "RRRPRP"])
def test_table_5_moment_of_h_already_holds_the_displacement(kinds, seed):
    x = Numbers(seed, kinds)
    assert x.error(table_5(x, both=True)) > WRONG


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("kinds", MIXED)
def test_b11_is_chosen_by_the_joint_that_feels_the_force(kinds, seed):
    x = Numbers(seed, kinds)
    assert x.error(table_5(x, chooser="i")) > WRONG


@pytest.mark.parametrize("seed", range(5))
def test_inertia_of_5_is_in_the_frame_of_its_own_link(seed):
    good, printed = Numbers(seed, "RRRR"), Numbers(seed, "RRRR", frame_of_inertia="composite")
    assert good.error(table_3(good)) <= TOLERANCE
    assert good.error(table_3(printed)) > WRONG


@pytest.mark.parametrize("seed", range(5))
def test_33_needs_the_trailing_rotation(seed):
    x = Numbers(seed, "RRR")
    R, s, b, d = x.R[2], x.s[2], x.b[2], x.d[2]
    l = np.random.default_rng(seed).normal(size=3)
    wanted = skew(s) @ skew(l)
    printed = skew(b) @ skew(l) + R @ skew(d) @ skew(R.T @ l)
    corrected = skew(b) @ skew(l) + R @ skew(d) @ skew(R.T @ l) @ R.T
    np.testing.assert_allclose(corrected, wanted, rtol=0, atol=TOLERANCE)
    assert np.abs(printed - wanted).max() > WRONG


@pytest.mark.parametrize("seed", range(5))
def test_a4_sign(seed):
    """The inertia about the centre of mass is smaller than that about the origin, not larger."""
    x = Numbers(seed, "RRPR")
    for c, J, m in zip(x.c, x.J, x.m, strict=True):
        at_centre = J + m * skew(c / m) @ skew(c / m)  # parallel axes: J = I - m [r x][r x]
        corrected = J + skew(c) @ skew(c) / m
        printed = J - skew(c) @ skew(c) / m
        np.testing.assert_allclose(corrected, at_centre, rtol=0, atol=TOLERANCE * np.abs(J).max())
        assert np.abs(printed - at_centre).max() > WRONG
