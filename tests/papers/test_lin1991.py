"""The formulations of lin1991: agreement with pinocchio, identities, independence of the reference origin."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dynarm import Arm, Joint
from dynarm.algebra.vectors import Sym3, Vec3
from dynarm.dynamics.own import moved_composite as moved_composite_lin1991
from dynarm.dynamics.papers import (
    composite_body_lin1991,
    newton_euler_lin1995,
    partial_velocity_lin1991,
)
from dynarm.dynamics.table import TABLE
from dynarm.robot.frames.chain import Chain, chain_of, pose
from oracles.batches import stacked
from oracles.lin1991_printed import world
from oracles.pinocchio_arm import pinocchio_model
from strategies import FAMILIES, random_arm, random_states

TOLERANCE = 1e-12  # relative to max(1, largest entry)
SAMPLES = 4
ROWS = {
    quantity: [row for row in TABLE if row.paper == "lin1991" and row.quantity == quantity]
    for quantity in ("mass_matrix", "bias", "mass_matrix_and_bias", "coriolis_tensor")
}
WORDS = [
    "R",
    "P",
    "RR",
    "PR",
    "RP",
    "PP",
    "PPR",
    "PRP",
    "RPR",
    "PPRR",
    "RPPRP",
    "PRRPRR",
    "RRPRRRR",
    "RRRRRRRR",
]
GRAVITY = {"along": (0.0, 0.0, -9.81), "across": (9.81, 0.0, 0.0), "oblique": (3.0, -5.0, -7.0)}
TWISTS = {"generic": "generic", "planar": "zero", "square": "structured"}
COMPOSITES = [composite_body_lin1991, moved_composite_lin1991]


def close(found, wanted, tolerance=TOLERANCE) -> bool:
    found, wanted = np.asarray(found, float), np.asarray(wanted, float)
    return bool(np.abs(found - wanted).max() <= tolerance * max(1.0, np.abs(wanted).max()))


def stack(nested, samples=SAMPLES) -> np.ndarray:
    return stacked(nested, samples)


class Case:
    """A random arm at some random states."""

    def __init__(self, arm: Arm, seed: int):
        self.arm, self.n = arm, arm.n
        self.chain = chain_of(arm)
        self.q, self.qd, _ = random_states(np.random.default_rng(seed), arm.n, SAMPLES)
        self.pose = pose(self.chain, list(self.q.T))

    def run(self, function, *state):
        return function(self.chain, self.pose, *state)


def case_of(word: str, gravity: str, twists: str) -> Case:
    rng = np.random.default_rng([len(word), word.count("P"), len(gravity), len(twists)])
    return Case(
        random_arm(rng, len(word), word, TWISTS[twists], "mixed", GRAVITY[gravity]), len(word)
    )


@pytest.fixture(params=FAMILIES, scope="module")
def case(request) -> Case:
    """An arm of six joints of each family."""
    rng = np.random.default_rng(sum(map(ord, request.param)))
    return Case(FAMILIES[request.param](rng, 6), 6)


# ---- agreement


def agreed(it: Case):
    """Pinocchio's arm, mass matrices and biases, after every formulation has given the same."""
    twin = pinocchio_model(it.arm)
    M = np.array([twin.mass_matrix(q) for q in it.q])
    b = np.array([twin.bias(q, qd) for q, qd in zip(it.q, it.qd, strict=True)])
    for row in ROWS["mass_matrix"]:
        assert close(stack(it.run(row.function)), M), row.name
    for row in ROWS["bias"]:
        assert close(stack(it.run(row.function, it.qd.T)), b), row.name
    return twin, M, b


@pytest.mark.parametrize("twists", TWISTS)
@pytest.mark.parametrize("gravity", GRAVITY)
@pytest.mark.parametrize("word", WORDS)
def test_all_agree_with_pinocchio(word, gravity, twists):
    it = case_of(word, gravity, twists)
    twin, M, b = agreed(it)
    for row in ROWS["mass_matrix_and_bias"]:
        H, bias = it.run(row.function, it.qd.T)
        assert close(stack(H), M) and close(stack(bias), b), row.name
    rest = np.array([twin.gravity(q) for q in it.q])
    for row in ROWS["coriolis_tensor"]:
        C = stack(it.run(row.function))
        assert close(np.einsum("smkj,sk,sj->sm", C, it.qd, it.qd) + rest, b), row.name


@pytest.mark.parametrize("first", ["R", "P"])
@pytest.mark.parametrize("turn", [0.0, np.pi])
def test_parallel_and_antiparallel_first_axes(first, turn):
    rng = np.random.default_rng(3)
    arm = random_arm(
        rng, 5, first + "RRPR", [0.0, turn, turn, turn, 0.7], "generic", "generic", base=True
    )
    agreed(Case(arm, 1))


def test_steps_with_a_third_rotation():
    """Nearly parallel axes, whose steps carry Hayati's rotation about y."""
    rng = np.random.default_rng(6)
    arm = random_arm(rng, 5, "RRPRR", [0.0, 0.01, 0.02, 1.0, -0.01], gravity="generic")
    joints = [replace(joint, beta=0.03 * i) for i, joint in enumerate(arm.joints)]
    agreed(Case(replace(arm, joints=joints), 3))


def test_one_joint_is_the_case_n_1_of_figure_3():
    """H_11 = K* (J_1)_33 + K m_1, b_1 = -K* (m c x g)_z + K eta_1 with eta_1 = -m (g)_z."""
    for kind in ("revolute", "prismatic"):
        arm = Arm(
            [Joint(kind, mass=3.0, com=(0.1, -0.2, 0.3), inertia=np.diag([0.1, 0.2, 0.25]))],
            (1.0, -2.0, -9.0),
        )
        chain = chain_of(arm)
        steps = pose(chain, [0.4])
        H, b = composite_body_lin1991.mass_matrix_and_bias(chain, steps, [2.0])
        g = np.array(list(steps[0].rise(chain.gravity)))
        turn, slide = 0.25 + 3.0 * (0.1**2 + 0.2**2), 3.0
        assert H[0][0] == pytest.approx(turn if kind == "revolute" else slide, rel=1e-14)
        wanted = -np.cross([0.3, -0.6, 0.9], g)[2] if kind == "revolute" else -3.0 * g[2]
        assert b[0] == pytest.approx(wanted, rel=1e-14)


def links_without_centre(arm: Arm, rng: np.random.Generator) -> Arm:
    """The arm with numbers for parameters that no body has: first moments without mass, negative inertias."""
    table = rng.normal(size=(arm.n, 10))
    table[::2, 0] = 0.0
    table[1::2, 0] *= 1e-9  # h / m would be as large as 1e9
    return arm.with_parameters(table)


@pytest.mark.parametrize("word", ["RR", "PRP", "RPRR", "PPRPRR"])
def test_links_need_no_centre_of_mass(word):
    """tau is linear in the parameters, whatever they are; Newton-Euler about the frames' origins is the reference."""
    rng = np.random.default_rng(len(word))
    it = Case(links_without_centre(random_arm(rng, len(word), word, gravity="generic"), rng), 2)
    still, units = np.zeros((it.n, SAMPLES)), np.eye(it.n)
    weightless = Chain(it.chain.joints, Vec3(0, 0, 0))
    M = [
        newton_euler_lin1995.inverse_dynamics(weightless, it.pose, still, list(e[:, None]))
        for e in units
    ]
    b = newton_euler_lin1995.inverse_dynamics(it.chain, it.pose, it.qd.T, still)
    for row in ROWS["mass_matrix"]:
        assert close(stack(it.run(row.function)), stack(M)), row.name
    for row in ROWS["bias"]:
        assert close(stack(it.run(row.function, it.qd.T)), stack(b)), row.name


@pytest.mark.parametrize("row", ROWS["mass_matrix"], ids=lambda row: row.name)
def test_a_batch_of_links_is_a_scalar_too(row):
    rng = np.random.default_rng(8)
    arms = [random_arm(np.random.default_rng(5), 4, "RPRR", gravity="z")] * 3
    arms = [arm.with_parameters(arm.parameters * rng.uniform(0.5, 2, (4, 1))) for arm in arms]
    chains = [chain_of(arm) for arm in arms]
    table = np.array([arm.parameters for arm in arms])  # (3, 4, 10)
    bodies = [
        replace(body, m=t[0], h=Vec3(*t[1:4]), J=Sym3(*t[4:]))
        for body, t in zip(chains[0].joints, table.transpose(1, 2, 0), strict=True)
    ]
    batch = Chain(tuple(bodies), chains[0].gravity)
    q = [0.3, -0.2, 1.1, 2.0]
    found = stack(row.function(batch, pose(batch, q)), 3)
    assert close(found, [np.array(row.function(chain, pose(chain, q)), float) for chain in chains])


# ---- identities


@pytest.mark.parametrize("row", ROWS["mass_matrix"], ids=lambda row: row.name)
def test_mass_matrix_is_symmetric_and_positive_definite(row, case):
    M = case.run(row.function)
    assert all(M[i][j] is M[j][i] for i in range(case.n) for j in range(case.n))
    assert np.linalg.eigvalsh(stack(M)).min() > 0


@pytest.mark.parametrize("row", ROWS["coriolis_tensor"], ids=lambda row: row.name)
def test_properties_of_the_bias_coefficients(row, case):
    D = stack(case.run(row.function))
    n = case.n
    assert np.array_equal(D, D.swapaxes(2, 3))  # (32)
    for j in range(n):
        assert not D[:, j, : j + 1, j].any() and not D[:, j, j, : j + 1].any()  # (33)
        for k in range(n):
            for m in range(n):
                if min(m, j) >= k:
                    assert np.array_equal(D[:, j, k, m], -D[:, m, k, j])  # (34)
    assert np.abs(D).max() > 0 or not any(joint.revolute for joint in case.arm.joints)


@pytest.mark.parametrize("row", ROWS["coriolis_tensor"], ids=lambda row: row.name)
def test_bias_coefficients_are_christoffel_symbols(row, case):
    """D_mkj = (dM_mk/dq_j + dM_mj/dq_k - dM_kj/dq_m) / 2, the derivatives by complex steps, exact to rounding."""
    n, h = case.n, 1e-30
    dM = []
    for k in range(n):
        q = list(case.q.T.astype(complex))
        q[k] = q[k] + 1j * h
        dM.append(
            stack(composite_body_lin1991.mass_matrix(case.chain, pose(case.chain, q))).imag / h
        )
    d = np.stack(dM, axis=-1)  # [s, i, j, k] = dM_ij / dq_k
    wanted = (d + d.swapaxes(2, 3) - d.transpose(0, 3, 1, 2)) / 2
    assert close(stack(case.run(row.function)), wanted)


@pytest.mark.parametrize("form", COMPOSITES, ids=lambda form: form.__name__.split(".")[-1])
def test_nothing_depends_on_the_reference_origin(form, case):
    rng = np.random.default_rng(9)
    M, b = case.run(form.mass_matrix_and_bias, case.qd.T)
    C = case.run(form.coriolis_tensor)
    for origin in (
        Vec3(1.0, 0, 0),
        Vec3(*rng.normal(size=3).tolist()),
        Vec3(*rng.normal(size=(3, SAMPLES))),
    ):
        moved, moved_b = case.run(form.mass_matrix_and_bias, case.qd.T, origin)
        assert close(stack(moved), stack(M)) and close(stack(moved_b), stack(b))
        assert close(stack(case.run(form.coriolis_tensor, origin)), stack(C))
        assert close(stack(case.run(form.mass_matrix, origin)), stack(M))


@pytest.mark.parametrize("origin", [(0.0, 0.0, 0.0), (0.3, -0.8, 0.5), (-2.0, 1.0, 4.0)])
def test_sections_2_and_3_in_base_axes_give_the_same(origin, case):
    """(12), (45)-(47) and (58) with vectors in base axes, from three origins, against the local forms (62)-(67)."""
    H = stack(case.run(composite_body_lin1991.mass_matrix))
    D = stack(case.run(composite_body_lin1991.coriolis_tensor))
    eta = stack(case.run(composite_body_lin1991.bias, np.zeros((case.n, SAMPLES))))
    for k, q in enumerate(case.q):
        it = world(case.chain, q, origin)
        printed = [[it.H(min(m, j), max(m, j)) for j in range(case.n)] for m in range(case.n)]
        assert close(printed, H[k])  # (12)
        assert close(it.D(), D[k])  # (45)-(47)
        assert close([it.eta(j) for j in range(case.n)], eta[k])  # (58)


def test_partial_velocities_are_those_of_the_centres_of_mass():
    """(P1)-(P3) in base axes: M is the sum of J' m J over the links, J the Jacobians of centres and attitudes."""
    it = Case(random_arm(np.random.default_rng(4), 5, "RPRRP", gravity="none"), 4)
    for k, q in enumerate(it.q):
        here = world(it.chain, q)
        M = np.zeros((5, 5))
        for i in range(5):
            v, w = np.zeros((3, 5)), np.zeros((3, 5))
            for m in range(i + 1):
                v[:, m] = here.u[m] if here.K[m] else np.cross(here.u[m], here.p[i] - here.s[m])
                w[:, m] = 0 if here.K[m] else here.u[m]
            M += here.m[i] * v.T @ v + w.T @ here.I[i] @ w
        assert close(stack(it.run(partial_velocity_lin1991.mass_matrix))[k], M)
