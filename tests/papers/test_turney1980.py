"""The formulations of turney1980 against pinocchio and against each other, term by term."""

from __future__ import annotations

import numpy as np
import pytest

from dynarm import Arm, Joint
from dynarm.algebra.vectors import ZERO, Vec3
from dynarm.dynamics.papers import (
    lagrange_turney1980,
    modified_newton_euler_turney1980,
    newton_euler_lin1995,
    newton_euler_turney1980,
)
from dynarm.dynamics.papers.strobing_turney1980 import strobed_coriolis_tensor, strobed_mass_matrix
from dynarm.dynamics.table import formulation, formulations
from dynarm.errors import InputError
from dynarm.robot.frames.chain import chain_of, pose
from dynarm.robot.frames.standard import links
from oracles.batches import stacked
from oracles.pinocchio_arm import pinocchio_model
from strategies import FAMILIES, random_arm, random_states

TOLERANCE = 1e-12  # relative to max(1, largest entry)
SAMPLES = 4
INVERSE = {
    "lagrange": lagrange_turney1980.inverse_dynamics,
    "newton_euler": newton_euler_turney1980.inverse_dynamics,
    "modified_newton_euler": modified_newton_euler_turney1980.inverse_dynamics,
}
CASES = [(family, n) for family in FAMILIES for n in range(1, 9)]
# for O(n^4) tensors
FEW = [(family, 1 + k % 4 + more) for k, family in enumerate(FAMILIES) for more in (0, 4)]


class Case:
    """A random arm at some random states, with pinocchio's answers."""

    def __init__(self, family: str, n: int):
        rng = np.random.default_rng([sum(map(ord, family)), n])
        self.arm = FAMILIES[family](rng, n)
        self.q, self.qd, self.qdd = random_states(rng, n, SAMPLES)
        self.chain = chain_of(self.arm)
        self.pose = pose(self.chain, list(self.q.T))
        self.oracle = pinocchio_model(self.arm)
        self.wrench = rng.normal(size=(2, 3))

    def each(self, method, *state):
        return np.array([method(*sample) for sample in zip(*state, strict=True)])


@pytest.fixture(params=CASES, ids=lambda case: f"{case[0]}-{case[1]}", scope="module")
def case(request) -> Case:
    return Case(*request.param)


@pytest.fixture(params=FEW, ids=lambda case: f"{case[0]}-{case[1]}", scope="module")
def one(request) -> Case:
    return Case(*request.param)


def arrays(nested) -> np.ndarray:
    return stacked(nested, SAMPLES)


def close(found, wanted) -> None:
    wanted = np.asarray(wanted)
    assert np.shape(found) == wanted.shape
    assert np.abs(found - wanted).max() <= TOLERANCE * max(1.0, np.abs(wanted).max())


@pytest.mark.parametrize("name", INVERSE)
def test_inverse_dynamics_agrees_with_pinocchio(case, name):
    tau = arrays(INVERSE[name](case.chain, case.pose, list(case.qd.T), list(case.qdd.T)))
    close(tau, case.each(case.oracle.inverse_dynamics, case.q, case.qd, case.qdd))


@pytest.mark.parametrize("name", INVERSE)
def test_bias_agrees_with_pinocchio(case, name):
    tau = arrays(formulation("bias", name).function(case.chain, case.pose, list(case.qd.T)))
    close(tau, case.each(case.oracle.bias, case.q, case.qd))


@pytest.mark.parametrize("name", ["lagrange", "strobed"])
def test_mass_matrix_agrees_with_pinocchio(case, name):
    M = formulation("mass_matrix", name).function(case.chain, case.pose)
    n = case.arm.n
    assert all(M[i][j] is M[j][i] for i in range(n) for j in range(n))
    close(arrays(M), case.each(case.oracle.mass_matrix, case.q))


def test_wrench_acts_on_the_last_link(case):
    state = (
        case.chain,
        case.pose,
        list(case.qd.T),
        list(case.qdd.T),
        tuple(Vec3(*x) for x in case.wrench),
    )
    wanted = arrays(newton_euler_lin1995.inverse_dynamics(*state))
    for method in INVERSE.values():
        close(arrays(method(*state)), wanted)


def test_equivalence_term_by_term(one):
    """Section 4: every M_ij, C^i_jk and G_i of Lagrange is what the Newton-Euler equations strobe out."""
    at_rest = [0] * one.arm.n
    tensor = arrays(lagrange_turney1980.coriolis_tensor(one.chain, one.pose))
    mass = arrays(lagrange_turney1980.mass_matrix(one.chain, one.pose))
    gravity = arrays(lagrange_turney1980.gravity(one.chain, one.pose))
    for name in ("newton_euler", "modified_newton_euler"):
        method = INVERSE[name]
        close(arrays(strobed_coriolis_tensor(method)(one.chain, one.pose)), tensor)
        close(arrays(strobed_mass_matrix(method)(one.chain, one.pose)), mass)
        close(arrays(method(one.chain, one.pose, at_rest, at_rest)), gravity)
    assert np.array_equal(tensor, tensor.swapaxes(2, 3))
    close(gravity, one.each(one.oracle.gravity, one.q))
    quadratic = np.einsum("sijk,sj,sk->si", tensor, one.qd, one.qd)
    close(quadratic + gravity, one.each(one.oracle.bias, one.q, one.qd))


def test_coriolis_tensor_is_that_of_the_christoffel_symbols(one):
    """C^i_jk = (dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i)/2, M differentiated by a complex step."""
    n, step = one.arm.n, 1e-30
    slopes = []
    for k in range(n):
        q = [one.q[:, j] + (1j * step if j == k else 0) for j in range(n)]
        M = lagrange_turney1980.mass_matrix(one.chain, pose(one.chain, q))
        slopes.append(arrays([[np.imag(x) / step for x in row] for row in M]))
    dM = np.stack(slopes, axis=-1)
    christoffel = (dM + dM.swapaxes(2, 3) - np.moveaxis(dM, -1, 1)) / 2
    close(arrays(lagrange_turney1980.coriolis_tensor(one.chain, one.pose)), christoffel)


def test_rows_of_the_table():
    for quantity, names in {
        "inverse_dynamics": {"lagrange", "newton_euler", "modified_newton_euler"},
        "bias": {"lagrange", "newton_euler", "modified_newton_euler"},
        "mass_matrix": {"lagrange", "strobed"},
        "coriolis_tensor": {"lagrange", "strobed"},
    }.items():
        assert names <= set(formulations(quantity))
        for name in names:
            row = formulation(quantity, name)
            assert row.paper == "turney1980"
            assert row.automatic == (name in ("newton_euler", "modified_newton_euler"))


def test_nearly_parallel_axes():
    """Steps with Hayati's extra rotation convert to standard frames as well."""
    rng = np.random.default_rng(5)
    plain = random_arm(rng, 4, "RPRR", "generic", "generic", "generic")
    joints = [
        Joint(j.kind, j.a, j.alpha, j.d, j.theta, beta=0.03 * k, parameters=j.parameters)
        for k, j in enumerate(plain.joints)
    ]
    arm = Arm(joints, gravity=plain.gravity)
    q, qd, qdd = random_states(rng, 4, SAMPLES)
    chain = chain_of(arm)
    oracle = pinocchio_model(arm)
    wanted = np.array([oracle.inverse_dynamics(*s) for s in zip(q, qd, qdd, strict=True)])
    for method in INVERSE.values():
        close(arrays(method(chain, pose(chain, list(q.T)), list(qd.T), list(qdd.T))), wanted)


def test_principal_axes_of_standard_frames_become_exact_zeros():
    """An inertia that is diagonal in the standard frame is so in the converted link, bit by bit."""
    tilt = 0.7
    c, s = np.cos(tilt), np.sin(tilt)
    R = np.array([[1, 0, 0], [0, c, -s], [0, s, c]])
    inertia = R @ np.diag([0.1, 0.2, 0.3]) @ R.T
    arm = Arm(
        [
            Joint(mass=2.0, com=(0.3, 0.1, 0.2), inertia=inertia),
            Joint(a=0.3, alpha=tilt, d=0.1, mass=1.0, inertia=np.diag([0.1, 0.2, 0.3])),
        ]
    )
    first, second = links(chain_of(arm))
    for link in (first, second):
        assert [link.I.xy, link.I.xz, link.I.yz] == [0, 0, 0]
        assert np.allclose([link.I.xx, link.I.yy, link.I.zz], [0.1, 0.2, 0.3], rtol=1e-14)


def test_link_without_a_centre_of_mass_is_refused():
    arm = Arm([Joint(parameters=(0, 0.1, 0, 0, 0.1, 0, 0.1, 0, 0, 0.1))])
    with pytest.raises(
        InputError, match=r"newton_euler does not apply.*link 1.*newton_euler_driving_axis"
    ):
        formulation("inverse_dynamics", "newton_euler", chain_of(arm))


def test_massless_link_needs_no_centre_of_mass():
    arm = Arm([Joint(), Joint(a=0.5, mass=1.0, com=(0.1, 0, 0), inertia=np.eye(3) * 0.1)])
    chain = chain_of(arm)
    assert formulation("inverse_dynamics", "newton_euler", chain).function is not None
    state = chain, pose(chain, [0.3, -0.4]), [1.0, 2.0], [3.0, 4.0], (ZERO, ZERO)
    wanted = newton_euler_lin1995.inverse_dynamics(*state)
    for method in INVERSE.values():
        assert np.allclose(method(*state), wanted, rtol=1e-13)
