"""dynarm.composite_bodies and inertia_constants: what lin1995 and linfang1999 name, for users."""

from __future__ import annotations

import numpy as np
import pytest

import dynarm
from dynarm.dynamics.papers.minimal_parameters_lin1995 import constants as paper_constants
from dynarm.dynamics.papers.minimal_parameters_lin1995 import varying
from dynarm.errors import InputError, KindError
from dynarm.robot.frames.chain import chain_of, pose
from strategies import FAMILIES, random_states

CASES = [(family, n) for k, family in enumerate(FAMILIES) for n in (1 + k % 3, 6)]


def arm_of(family, n):
    return FAMILIES[family](np.random.default_rng([7, n, len(family)]), n)


def by_points(arm, q):
    """Composite bodies from the ten parameters of every link, carried by 4x4 matrices: an independent way."""
    steps = [joint.displacement(x) for joint, x in zip(arm.joints, q, strict=True)]
    steps[0] = arm.joints[0].displacement(q[0])
    out = []
    for i in range(arm.n):
        m, h, J, T = 0.0, np.zeros(3), np.zeros((3, 3)), np.eye(4)
        for k in range(i, arm.n):
            if k > i:
                T = T @ steps[k]
            m0, *rest = arm.parameters[k]
            h0, (xx, xy, yy, xz, yz, zz) = np.array(rest[:3]), rest[3:]
            J0 = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
            R, p = T[:3, :3], T[:3, 3]
            hr = R @ h0
            m, h = m + m0, h + hr + m0 * p
            cross = np.outer(hr, p) + np.outer(p, hr) + m0 * np.outer(p, p)
            J = J + R @ J0 @ R.T + np.trace(cross) * np.eye(3) - cross
        out.append((m, h, J))
    return [np.array(x) for x in zip(*out, strict=True)]


@pytest.mark.parametrize(("family", "n"), CASES)
def test_against_every_link_carried(family, n):
    arm = arm_of(family, n)
    q = random_states(np.random.default_rng(1), n, 3)[0]
    seen = dynarm.composite_bodies(arm, q)
    for k in range(len(q)):
        m, h, J = by_points(arm, q[k])
        size = max(1.0, np.abs(J).max())
        np.testing.assert_allclose(seen.mass, m, rtol=1e-13)
        np.testing.assert_allclose(seen.first_moment[k], h, atol=1e-12 * size)
        np.testing.assert_allclose(seen.inertia[k], J, atol=1e-12 * size)
    one = dynarm.composite_bodies(arm, q[0])
    assert one.inertia.shape == (n, 3, 3)
    np.testing.assert_array_equal(one.inertia, seen.inertia[0])


@pytest.mark.parametrize(("family", "n"), CASES)
def test_constants_and_what_varies_are_the_body(family, n):
    """(8), (9): c^ = k + l, J^ = U + V, with l, V of the pose."""
    arm = arm_of(family, n)
    q = random_states(np.random.default_rng(2), n, 1)[0][0]
    known = dynarm.inertia_constants(arm)
    body = dynarm.composite_bodies(arm, q)
    chain = chain_of(arm)
    steps = pose(chain, q.tolist())
    rest = varying(chain, steps, paper_constants(chain, pose(chain, [0] * n)))
    size = max(1.0, np.abs(body.inertia).max())
    for i, (l, V) in enumerate(rest):
        np.testing.assert_allclose(
            known.k[i] + np.array(list(l), float), body.first_moment[i], atol=1e-12 * size
        )
        full = np.array([list(row) for row in V.full().rows], float)
        np.testing.assert_allclose(known.U[i] + full, body.inertia[i], atol=1e-12 * size)
    np.testing.assert_allclose(known.mass, body.mass)


def test_d_and_w_of_the_stanford_arm():
    """Joint 3 slides: W_3 is felt by joint 2, and D_2 + d W_3 is what minimal Newton-Euler computes with (38)."""
    arm = dynarm.load("stanford")
    known = dynarm.inertia_constants(arm)
    assert set(known.W) == {(2, 3)}
    assert known.D.shape == (6, 3, 3) and not known.D[2].any()
    np.testing.assert_array_equal(known.D, np.swapaxes(known.D, 1, 2))
    np.testing.assert_allclose(known.D[1:, 1, 1], 0, atol=1e-15)
    W = known.W[2, 3]
    np.testing.assert_array_equal(W, W.T)
    # (92): the trace of W is 4 k_z of joint 3, whatever the turn between the frames
    assert np.isclose(np.trace(W), 4 * known.k[2, 2])


def test_bad_input():
    arm = dynarm.load("puma560")
    with pytest.raises(InputError, match=r"give \(\.\.\., 6\)"):
        dynarm.composite_bodies(arm, np.zeros(5))
    with pytest.raises(KindError, match=r"dynarm\.load"):
        dynarm.inertia_constants("puma560")
    tree = dynarm.Arm([dynarm.Joint(mass=1.0), dynarm.Joint(mass=1.0, parent=-1)])
    for function in (lambda a: dynarm.composite_bodies(a, np.zeros(2)), dynarm.inertia_constants):
        with pytest.raises(InputError, match="no chain on a fixed base"):
            function(tree)
