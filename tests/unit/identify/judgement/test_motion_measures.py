"""What a motion is worth and which limits it keeps, against closed forms and what is worked out another way."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import dynarm
from dynarm import Friction, minimal_parameters
from dynarm.identify.design.limits import Limits
from dynarm.identify.design.trajectory import Series
from dynarm.identify.judgement.measures import Motions
from dynarm.identify.regressor import Terms
from oracles.motions import pendulum
from oracles.simulated_log import exact_torque

TWO = dynarm.load("two_link")
SERIES = Series(4.0, 3)


def limits(n, torque=None, box=None, reach=2.0, speed=3.0, quick=9.0):
    return Limits(
        np.full(n, -reach), np.full(n, reach / 2), np.full(n, speed), np.full(n, quick), torque, box
    )


def motions(arm=TWO, criterion="condition", friction=("viscous",), armature=False, **more):
    terms = Terms(arm, friction=friction, armature=armature)
    return Motions(arm, terms, SERIES, limits(arm.n, **more), criterion, 50.0)


def random(n=2, seed=3, size=1.0):
    return SERIES.random(np.random.default_rng(seed), n) * size


def test_grids_of_a_period():
    """8 points a harmonic for the optimiser, 40 on the fine grid, and the samples to be returned besides."""
    m = motions()
    t = np.arange(24) * 4.0 / 24
    np.testing.assert_allclose(m.bases[0], SERIES.basis(t)[0])
    fine = np.arange(120) * 4.0 / 120
    for B, C, expected in zip(m.fine, m.checked, SERIES.basis(fine), strict=True):
        np.testing.assert_allclose(B, expected, atol=1e-12)
        np.testing.assert_allclose(C[:120], expected, atol=1e-12)
    asked = SERIES.basis(np.arange(201) / 50.0)
    np.testing.assert_allclose(m.checked[1][120:], asked[1], atol=1e-12)
    long = Motions(TWO, Terms(TWO), SERIES, limits(2), "condition", 1e5)
    assert len(long.checked[0]) == 120 + 5000


@pytest.mark.parametrize("size", [0.1, 5.0, 40.0])
@pytest.mark.parametrize("seed", range(4))
def test_motions_are_put_within_their_limits(size, seed):
    """Shrunk no more than needed: one of the limits is used up, and the middle is moved no further than it must."""
    m, x = motions(), random(seed=seed, size=size)
    x[:, 0] = 0.7, -5.0
    before = x.copy()
    y = m.within(x)
    np.testing.assert_array_equal(x, before)  # what was given stays
    for j in range(2):
        q, qd, qdd = (B @ y[j] for B in m.fine)
        spare = 0.015 * 3.0
        assert -2 + spare - 1e-9 <= q.min() and q.max() <= 1 - spare + 1e-9
        used = max(np.ptp(q) / (0.97 * 3.0), np.abs(qd).max() / 3.0, np.abs(qdd).max() / 9.0)
        grown = max(
            f(B @ np.r_[0.0, x[j, 1:]]) for f, B in zip(
                (lambda a: np.ptp(a) / 2.91, lambda a: np.abs(a).max() / 3, lambda a: np.abs(a).max() / 9),
                m.fine, strict=True,
            )
        )  # fmt: skip
        if grown > 0.999:
            assert used == pytest.approx(0.999, rel=1e-9)
        else:
            np.testing.assert_allclose(y[j, 1:], x[j, 1:])
        low, high = -2 + spare - (q.min() - y[j, 0]), 1 - spare - (q.max() - y[j, 0])
        assert y[j, 0] == pytest.approx(np.clip(before[j, 0], low, high))


def columns(m, x):
    t = np.arange(120) * 4.0 / 120
    return m.terms.evaluate(*(np.ascontiguousarray(B @ x.T) for B in SERIES.basis(t)))


def test_condition_does_not_depend_on_units_of_rows_and_columns():
    m, x = motions(), random()
    W = columns(m, x) / m.rows[:, None]
    W = W.reshape(-1, W.shape[2])
    expected = np.linalg.cond(W / np.linalg.norm(W, axis=0))
    assert m.condition(x) == pytest.approx(expected)
    assert m.score(x) == pytest.approx(expected)
    still = x.copy()
    still[:, 1:] = 0.0
    assert m.condition(still) == np.inf
    # a joint's rows are as large as usual motions make them: both joints' about one
    usual = [
        m.within(SERIES.random(rng, 2)) for rng in [np.random.default_rng(1)] for _ in range(4)
    ]
    sizes = np.sqrt(np.mean([(columns(m, y) ** 2).mean(axis=(0, 2)) for y in usual], axis=0))
    np.testing.assert_allclose(m.rows, sizes)
    scale = np.sqrt(
        np.mean([((columns(m, y) / sizes[:, None]) ** 2).mean(axis=(0, 1)) for y in usual], axis=0)
    )
    np.testing.assert_allclose(m.scale, np.where(scale > 0, scale, 1.0))


def test_each_joints_own_problem():
    """Of a planar arm the outer joint owns its inertia, its moments and its friction; the inner one the rest."""
    m, x = motions(criterion="recursive"), random()
    names = np.array(m.terms.names)
    inner, outer = m.owned()
    assert set(names[outer]) == {"U2_33", "k2_x", "k2_y", "viscous2"}
    assert set(names[inner]) == set(names) - set(names[outer])
    W = columns(m, x)
    expected = []
    for j, own in enumerate((inner, outer)):
        A = W[:, j, own]
        expected.append(np.linalg.cond(A / np.linalg.norm(A, axis=0)))
    np.testing.assert_allclose(m.joint_conditions(x), expected)
    assert m.score(x) == pytest.approx(max(expected))
    still = x.copy()
    still[1, 1:] = 0.0
    assert m.joint_conditions(still)[1] == np.inf


def test_the_determinant_is_to_be_large():
    m, x = motions(criterion="determinant"), random()
    W = (columns(m, x) / m.rows[:, None] / m.scale)[:, :, m.terms.independent]
    W = W.reshape(-1, W.shape[2])
    expected = -2 * np.log(np.linalg.svd(W, compute_uv=False)).sum()
    assert m.score(x) == pytest.approx(expected)
    still = x.copy()
    still[:, 1:] = 0.0
    assert m.score(still) == np.inf
    assert m.score(0.5 * x) > m.score(x)


# ---- torques and the tool


def test_how_far_torques_are_beyond_their_limits():
    arm = replace(
        TWO,
        joints=tuple(replace(j, friction=Friction(viscous=2.0), armature=0.4) for j in TWO.joints),
    )
    top = np.array([30.0, 4.0])
    m, x = motions(arm, torque=top), random()
    t = np.r_[np.arange(120) * 4.0 / 120, np.arange(201) / 50]
    tau = exact_torque(arm, *(B @ x.T for B in SERIES.basis(t)))
    assert m.excess(x) == pytest.approx((np.abs(tau) / top).max() - 1)
    assert motions(arm).excess(x) == -1.0  # nothing to keep


@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize("axis", [0, 1])
def test_how_far_the_tool_is_out_of_its_box(side, axis):
    tool = np.eye(4)
    tool[:3, 3] = 0.3, 0.1, 0.0
    arm = replace(TWO, tool=tool)
    x = random()
    box = [np.full(3, -9.0), np.full(3, 9.0)]
    box[side][axis] = 0.25
    m = motions(arm, box=tuple(box))
    t = np.r_[np.arange(120) * 4.0 / 120, np.arange(201) / 50]
    place = dynarm.compile(arm).forward_kinematics(SERIES.basis(t)[0] @ x.T)[:, axis, 3]
    expected = place.max() - 0.25 if side else 0.25 - place.min()
    assert m.excess(x) == pytest.approx(expected)


def test_a_pose_to_rest_in():
    swing = pendulum()  # holds 1.5 kg at 0.7 m: 10.3 N m at most
    assert motions(swing, friction=()).anchors(None, 0) == ([], None)
    m = motions(swing, friction=(), torque=np.array([4.0]))
    homes, (q,) = m.anchors(None, 0)
    assert homes == []
    assert -2 <= q <= 1
    assert abs(1.5 * 9.81 * 0.7 * np.sin(q)) <= 4.0
    assert m._excess(np.array([[q]]), np.zeros((1, 1)), np.zeros((1, 1)))[0] <= 0
    assert minimal_parameters(swing).values.any()
