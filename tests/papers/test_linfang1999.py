"""Formulations 1 to 5, what joins them, their spatial form and ancestor: against pinocchio and the definitions."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from dynarm import Arm, Joint
from dynarm.dynamics.own import middle_composite as middle_composite_linfang1999
from dynarm.dynamics.papers import (
    composite_body_linfang1999,
    spatial_composite_linfang1999,
    walker_orin_linfang1999,
)
from dynarm.dynamics.papers.composite_bodies_linfang1999 import composites
from dynarm.dynamics.table import formulation
from dynarm.errors import InputError
from dynarm.robot.frames.chain import chain_of, pose, slid
from oracles import batches
from oracles.pinocchio_arm import pinocchio_model
from strategies import FAMILIES, random_arm, random_body, random_states

TOLERANCE = 1e-12  # times the largest entry of the reference, or 1
SAMPLES = 4
MATRICES = {
    **{
        f"composite_{k}": composite_body_linfang1999.natural(f)
        for k, f in enumerate(composite_body_linfang1999.FORMULATIONS, start=1)
    },
    "composite_middle": middle_composite_linfang1999.mass_matrix,
    "spatial_composite": spatial_composite_linfang1999.mass_matrix,
    "walker_orin": walker_orin_linfang1999.mass_matrix,
}


def hayati(rng: np.random.Generator, n: int) -> Arm:
    """An arm with Hayati's extra rotation in its steps."""
    arm = random_arm(rng, n, "mixed", "mixed", "mixed", "generic")
    joints = [
        replace(j, beta=float(rng.choice([0.0, 0.03, 0.7])), alpha=j.alpha if k % 2 else 0.0)
        for k, j in enumerate(arm.joints)
    ]
    return replace(arm, joints=tuple(joints))


def massless_tip(rng: np.random.Generator, n: int) -> Arm:
    """An arm whose outer links have neither mass nor first moments, the last one still a moment of inertia."""
    arm = random_arm(
        rng, n, "mixed", "generic", "generic", "generic", massless=(n - 1, n - 2) if n > 2 else ()
    )
    last = replace(
        arm.joints[-1], parameters=None, mass=0.0, com=(0, 0, 0), inertia=np.diag([0.1, 0.2, 0.25])
    )
    return replace(arm, joints=(*arm.joints[:-1], last))


CASES = {**FAMILIES, "hayati": hayati, "massless_tip": massless_tip}


def stacked(nested) -> np.ndarray:
    return batches.stacked(nested, SAMPLES)


def close(found, wanted) -> None:
    assert found.shape == wanted.shape
    assert np.abs(found - wanted).max() <= TOLERANCE * max(1.0, np.abs(wanted).max())


@pytest.fixture(
    params=[(f, n) for f in CASES for n in range(1, 9)],
    ids=lambda c: f"{c[0]}-{c[1]}",
    scope="module",
)
def case(request):
    family, n = request.param
    rng = np.random.default_rng([sum(map(ord, family)), n])
    arm = CASES[family](rng, n)
    q, qd, qdd = random_states(rng, n, SAMPLES)
    return arm, q, qd, qdd


def test_mass_matrices_agree_with_pinocchio(case):
    arm, q, _, _ = case
    chain = chain_of(arm)
    twin = pinocchio_model(arm)
    wanted = np.array([twin.mass_matrix(x) for x in q])
    for name, mass_matrix in MATRICES.items():
        found = stacked(mass_matrix(chain, pose(chain, q.T)))
        assert found.shape == wanted.shape, name
        error = np.abs(found - wanted).max() / max(1.0, np.abs(wanted).max())
        assert error <= TOLERANCE, f"{name}: {error:.2e}"


def test_forces_and_axes_may_meet_in_any_frame(case):
    """Every middle frame k gives the same matrix, from Formulation 1 (k = 1) to Formulation 3 (k = n - 1)."""
    arm, q, _, _ = case
    chain, steps, _ = slid(chain_of(arm), pose(chain_of(arm), q.T))
    bodies = composites(chain, steps)
    wanted = stacked(composite_body_linfang1999.formulation_1(chain, steps, bodies))
    for k in range(arm.n):
        close(stacked(middle_composite_linfang1999.joined(chain, steps, bodies, k)), wanted)
    assert middle_composite_linfang1999.cheapest_middle(chain) in range(max(1, arm.n))


def test_mirrored_entries_are_the_same_object():
    arm = random_arm(np.random.default_rng(0), 5)
    chain = chain_of(arm)
    for mass_matrix in MATRICES.values():
        M = mass_matrix(chain, pose(chain, np.ones((5, SAMPLES))))
        assert all(M[i][j] is M[j][i] for i in range(5) for j in range(5))


def test_composite_bodies_satisfy_their_definition(case):
    """m^, c^ and J^ of (3), (4), (5), link by link in the frame of the composite body."""
    arm, q, _, _ = case
    chain = chain_of(arm)
    found = composites(chain, pose(chain, q.T))
    for sample, angles in enumerate(q):
        steps = [j.displacement(x) for j, x in zip(arm.joints, angles, strict=True)]
        for i in range(arm.n):
            # sum of m r r' with r = (x, y, z, 1): mass, first and second moments at once
            wanted = np.zeros((4, 4))
            T = np.eye(4)
            for k in range(i, arm.n):
                T = T @ steps[k] if k > i else T
                wanted += T @ second_moments(arm.parameters[k]) @ T.T
            body = found[i]
            c = [stacked(x)[sample] for x in body.c]
            J = stacked(list(body.J))[sample]
            want_J = inertia_of(wanted)
            scale = max(1.0, np.abs(want_J).max())
            assert stacked(body.m)[sample] == pytest.approx(wanted[3, 3], rel=TOLERANCE)
            np.testing.assert_allclose(c, wanted[:3, 3], rtol=0, atol=TOLERANCE * scale)
            np.testing.assert_allclose(J, want_J, rtol=0, atol=TOLERANCE * scale)


def second_moments(ten: np.ndarray) -> np.ndarray:
    """The pseudo-inertia: the sum of m r r' with r = (x, y, z, 1)."""
    xx, xy, yy, xz, yz, zz = ten[4:]
    J = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    P = np.zeros((4, 4))
    P[:3, :3] = np.trace(J) / 2 * np.eye(3) - J
    P[:3, 3] = P[3, :3] = ten[1:4]
    P[3, 3] = ten[0]
    return P


def inertia_of(P: np.ndarray) -> np.ndarray:
    J = np.trace(P[:3, :3]) * np.eye(3) - P[:3, :3]
    return np.array([J[0, 0], J[0, 1], J[1, 1], J[0, 2], J[1, 2], J[2, 2]])


def test_constants_do_not_move():
    """k and U of (C1)-(C3) are what is left of c^ and J^ when l and V are taken away: h = l + g with g constant."""
    rng = np.random.default_rng(4)
    arm = random_arm(rng, 6, "RRPRPR")
    chain = chain_of(arm)
    q = random_states(rng, 6, SAMPLES)[0]
    steps = pose(chain, q.T)
    for step, body in zip(steps[1:], composites(chain, steps)[1:], strict=True):
        assert all(isinstance(x, (int, float)) for x in body.g)
        h = step.fall(body.c) + step.s * body.m  # (B3)
        close(stacked(list(body.l + body.g)), stacked(list(h)))


@pytest.mark.parametrize(
    "family", ["planar", "industrial", "parallel_first", "antiparallel_first", "generic"]
)
def test_sliding_origins_changes_no_joint_force(family):
    rng = np.random.default_rng(8)
    arm = FAMILIES[family](rng, 6)
    chain = chain_of(arm)
    q = random_states(rng, 6, SAMPLES)[0]
    steps = pose(chain, q.T)
    moved, moved_steps, _ = slid(chain, steps)
    first = composite_body_linfang1999.formulation_1
    close(
        stacked(first(moved, moved_steps, composites(moved, moved_steps))),
        stacked(first(chain, steps, composites(chain, steps))),
    )
    if chain.joints[-1].revolute:
        assert moved_steps[-1].d == 0


def test_spatial_force_is_force_and_moment():
    """(15) is (7) and (8); (16) with (13) multiplied out is (9) and (10)."""
    rng = np.random.default_rng(9)
    arm = random_arm(rng, 4, "RPRP")
    chain = chain_of(arm)
    steps = pose(chain, random_states(rng, 4, SAMPLES)[0].T)
    for joint, step, body in zip(chain.joints, steps, composites(chain, steps), strict=True):
        F = spatial_composite_linfang1999._inertia(body) @ spatial_composite_linfang1999._axis(
            joint
        )
        close(
            stacked(list(F.rotational)),
            stacked(list(composite_body_linfang1999.moment(joint, body))),
        )
        close(
            stacked(list(F.translational)),
            stacked(list(composite_body_linfang1999.force(joint, body))),
        )
        G = spatial_composite_linfang1999._shift(step, F)
        for k in range(SAMPLES):
            R = np.array([[stacked(x)[k] for x in row] for row in step.R.rows])
            s = np.array([stacked(x)[k] for x in step.s])
            skew = np.array([[0, -s[2], s[1]], [s[2], 0, -s[0]], [-s[1], s[0], 0]])
            X = np.block([[R, skew @ R], [np.zeros((3, 3)), R]])
            six = np.array([stacked(x)[k] for x in (*F.rotational, *F.translational)])
            got = np.array([stacked(x)[k] for x in (*G.rotational, *G.translational)])
            np.testing.assert_allclose(
                got, X @ six, rtol=0, atol=TOLERANCE * max(1.0, np.abs(six).max())
            )


def test_walker_orin_centres_are_those_of_the_composites():
    """(A3) and (A4), with the plus sign: r = c^ / m^, I = J^ + [c^ x][c^ x] / m^."""
    rng = np.random.default_rng(10)
    arm = random_arm(rng, 5, "RRPRR")
    chain = chain_of(arm)
    steps = pose(chain, random_states(rng, 5, SAMPLES)[0].T)
    pairs = zip(walker_orin_linfang1999.lumps(chain, steps), composites(chain, steps), strict=True)
    for (m, r, inertia), body in pairs:
        c, J = stacked(list(body.c)), stacked(list(body.J))
        assert m == pytest.approx(body.m, rel=TOLERANCE)
        close(stacked(list(r)), c / m)
        x, y, z = c.T
        skew2 = np.stack(
            [-(y**2 + z**2), x * y, -(x**2 + z**2), x * z, y * z, -(x**2 + y**2)], axis=1
        )
        close(stacked(list(inertia)), J + skew2 / m)


def test_walker_orin_refuses_arms_without_centres_of_mass():
    mass, com, inertia = random_body(np.random.default_rng(0))
    good = Joint(mass=mass, com=com, inertia=inertia, alpha=1.0)
    bad = Joint(parameters=(0.0, 0.1, 0, 0, 1, 0, 1, 0, 0, 1))
    with pytest.raises(
        InputError, match=r"walker_orin.*link 2 has first moments but no mass.*composite_1"
    ):
        formulation("mass_matrix", "walker_orin", chain_of(Arm([good, bad])))
    light, heavy = (
        Joint(parameters=(m, 0.1, 0, 0, 1, 0, 1, 0, 0, 1), alpha=math.pi / 3, name=f"j{m}")
        for m in (-1.0, 1.0)
    )
    with pytest.raises(InputError, match="no mass together"):
        formulation("mass_matrix", "walker_orin", chain_of(Arm([good, light, heavy])))
    assert formulation("mass_matrix", "walker_orin", chain_of(Arm([good]))).name == "walker_orin"


def test_first_axis_of_one_joint_is_harmless():
    """One joint has no second frame: every formulation gives the one entry."""
    arm = Arm([Joint("prismatic", mass=2.5, com=(0.1, 0.2, 0.3))])
    chain = chain_of(arm)
    for mass_matrix in MATRICES.values():
        assert mass_matrix(chain, pose(chain, [0.3])) == [[2.5]]
