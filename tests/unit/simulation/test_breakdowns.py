"""Where fixed steps break off: what is kept, until when, of which sample, and for which reason."""

from __future__ import annotations

import numpy as np
import pytest

import dynarm
from dynarm.simulation import Sampled
from dynarm.simulation.health import cause, solvable
from dynarm.simulation.plant import Plant
from oracles.motions import rail


@pytest.fixture(scope="module")
def mass():
    return dynarm.compile(rail(mass=2.0))


# ---- functions that fail on the way


@pytest.mark.parametrize("samples", [None, 3])
@pytest.mark.parametrize("method", ["rk4", "ab4"])
def test_the_last_good_state_is_kept(method, samples, mass):
    """A break at 0.15 s, a failure after 0.3 s in the second segment: every state until then, and no torque there."""
    lead = () if samples is None else (samples,)
    push = Sampled([0.0, 0.15], np.zeros((2, 6)))

    def good(t, q, qd):
        return np.broadcast_to(np.cos(9 * t), (*lead, 1))

    def bad(t, q, qd):
        return good(t, q, qd) if t <= 0.3 + 1e-9 else np.full((*lead, 1), np.nan)

    start = (mass, np.zeros((*lead, 1)), np.ones((*lead, 1)), 1.0)
    given = {"method": method, "dt": 0.05, "wrench": push}
    whole, run = (dynarm.simulate(*start, torque, **given) for torque in (good, bad))
    # AB4 asks only at the beginning of a step: it knows the state after the one that began at 0.3 s
    rows = 7 if method == "rk4" else 8
    assert run.status == "function" and np.allclose(run.t, 0.05 * np.arange(rows))
    assert np.array_equal(run.t, whole.t[:rows]) and np.all(run.reached == run.t[-1])
    assert np.array_equal(run.q, whole.q[..., :rows, :])
    assert np.array_equal(run.qd, whole.qd[..., :rows, :])
    assert np.array_equal(run.tau[..., :-1, :], whole.tau[..., : rows - 1, :])
    assert np.isnan(run.tau[..., -1, :]).all() and np.isnan(run.wrench[..., -1, :]).all()
    assert run.steps == rows - 1 and np.shape(run.reached) == lead


def test_a_failure_at_the_very_end(mass):
    """Only the last row's torque is not known."""

    def torque(t, q, qd):
        return [np.nan if t > 1 - 1e-9 else 1.0]

    run = dynarm.simulate(mass, [0.0], [0.0], 1.0, torque, "ab4", 0.1)
    assert run.status == "function" and len(run.t) == 11 and run.reached == run.t[-1] == 1.0
    assert np.isnan(run.tau[-1, 0]) and (run.tau[:-1] == 1).all() and np.isfinite(run.q).all()


def test_a_controller_that_fails_at_a_tick_keeps_what_was_before(mass):
    class Law:
        rate = 10.0

        def __call__(self, t, q, qd):
            return [np.nan] if t > 0.25 else [1.0]

    run = dynarm.simulate(mass, [0.0], [0.0], 1.0, Law(), "rk4", 0.05)
    assert run.status == "function" and np.allclose(run.t, 0.05 * np.arange(7))
    assert run.reached == run.t[-1] and (run.tau[:-1] == 1).all() and np.isnan(run.tau[-1]).all()
    assert abs(run.q[-1, 0] - 0.3**2 / 4) <= 1e-14


def test_a_failure_before_anything_moves(mass):
    for more in ({"dt": 0.1}, {}):
        run = dynarm.simulate(mass, [0.4], [0.2], 1.0, lambda t, q, qd: [np.nan], "rk4", **more)
        assert run.status == "function" and run.t.tolist() == [0.0] and run.reached == 0
        assert run.q.tolist() == [[0.4]] and run.qd.tolist() == [[0.2]] and np.isnan(run.tau).all()
        assert run.steps == 0


def test_the_last_row_has_its_own_inputs(mass):
    """Torque and wrench at t_end, not those of the last step's start."""
    for method in ("rk4", "ab4"):
        run = dynarm.simulate(
            mass,
            [0.0],
            [0.0],
            0.5,
            lambda t, q, qd: [t + q[0]],
            method,
            0.1,
            wrench=lambda t, q, qd: np.full(6, t),
        )
        assert np.abs(run.tau[:, 0] - run.t - run.q[:, 0]).max() <= 1e-15
        assert np.array_equal(run.wrench, np.repeat(run.t[:, None], 6, axis=1))


# ---- samples that break down


def runaway(t, q, qd):
    """Torque qd^2 on 2 kg: v' = v^2 / 2, infinite at 2 / v0. Its square overflows soon after: the motion's fault."""
    return qd**2


def test_samples_break_down_one_after_the_other(mass):
    """Infinite at 0.5 s and at 1 s: each is kept until then, the others to the end; the first one is the reason."""
    speeds = np.array([[0.1], [2.0], [0.5], [4.0]])
    breaks = Sampled([0.0, 0.7], np.zeros((2, 6)))
    for every in (1, 10):
        run = dynarm.simulate(
            mass, np.zeros((4, 1)), speeds, 1.5, runaway, "rk4", 2e-3, wrench=breaks,
            every=every,
        )  # fmt: skip
        assert run.status == "step" and run.message.startswith("sample 3 of 4: ")
        assert run.message.endswith("(2 samples of the batch broke down)")
        assert np.allclose(run.reached, [1.5, 1.0, 1.5, 0.5], rtol=0, atol=0.01)
        assert f"t = {run.reached[3]:.6g} s" in run.message
        assert run.t[-1] == 1.5
        for k in range(4):
            good = run.t <= run.reached[k]
            for x in (run.q, run.qd, run.tau, run.wrench):
                assert np.isfinite(x[k, good]).all() and np.isnan(x[k, ~good]).all()
        early = run.t < 0.4
        assert np.abs(run.qd[3, early, 0] * (1 - 2 * run.t[early]) / 4 - 1).max() <= 1e-6
        assert np.abs(run.qd[0, :, 0] * (1 - run.t / 20) / 0.1 - 1).max() <= 1e-9


def test_one_sample_alone_is_not_counted(mass):
    speeds = np.array([[0.1], [4.0]])
    run = dynarm.simulate(mass, np.zeros((2, 1)), speeds, 1.0, runaway, "rk4", 1e-3)
    assert run.message.startswith("sample 1 of 2: ") and "broke down" not in run.message


def test_a_single_run_ends_where_it_breaks_down(mass):
    run = dynarm.simulate(mass, [0.0], [4.0], 1.0, runaway, "rk4", 1e-3)
    assert run.status == "step" and run.message.startswith("the motion blew up at t = 0.5")
    assert run.reached == run.t[-1] and abs(run.reached - 0.5) <= 0.01
    assert len(run.t) == run.steps and np.isfinite(run.q).all()
    assert np.allclose(np.diff(run.t), 1e-3)


def test_all_samples_gone_ends_the_run_with_the_last_of_them(mass):
    """The last good row of the one that lasted longest is the last row; its steps are a power of its rest."""
    speeds = np.array([[4.0], [2.0]])
    breaks = Sampled([0.0, 0.7], np.zeros((2, 6)))
    run = dynarm.simulate(mass, np.zeros((2, 1)), speeds, 1.5, runaway, "rk4", 2e-3, wrench=breaks)
    assert run.t[-1] == run.reached[1] == run.reached.max() and abs(run.t[-1] - 1.0) <= 0.01
    assert np.isfinite(run.qd[1]).all() and np.isnan(run.qd[0, -1]).all()
    assert run.reached[0] < 0.51


@pytest.mark.parametrize("inputs", ["values", "gravity"])
def test_the_reason_is_that_of_the_sample(inputs):
    """A batch of parameter sets, or of gravities: why one broke down is judged by its own."""
    arm = dynarm.load("two_link")
    qd = np.array([[0.0, 0.0], [1e4, 9e4], [0.0, 0.0]])
    if inputs == "values":
        model = dynarm.compile(arm, parameters="inputs")
        given = {"values": model.minimal.values * np.array([[1.0], [1.1], [1.2]])}
    else:
        model = dynarm.compile(arm, gravity="input")
        given = {"gravity": np.array([[0, 0, -9.81], [0, 0, -1.6], [0, 0, 0]])}
    run = dynarm.simulate(model, [0.1, 0.2], qd, 0.2, method="rk4", dt=0.01, **given)
    assert run.status == "step" and run.message.startswith("sample 1 of 3: the motion blew up")
    assert run.reached[1] < 0.2 and (run.reached[[0, 2]] == 0.2).all()
    shared = {k: v[0] for k, v in given.items()}
    again = dynarm.simulate(model, [0.1, 0.2], qd, 0.2, method="rk4", dt=0.01, **shared)
    assert again.status == "step" and again.message.startswith("sample 1 of 3: ")


# ---- reasons


def test_pivots_of_a_mass_matrix(two_link):
    """Two joints: 1 - M12^2 / (M11 M22), for one pose and for many."""
    plant, q = Plant(two_link), np.array([[0.0, 0.0], [0.3, 1.0], [1.0, np.pi]])
    M = two_link.mass_matrix(q)
    want = 1 - M[:, 0, 1] ** 2 / (M[:, 0, 0] * M[:, 1, 1])
    assert want.max() < 0.99 and np.ptp(want) > 0.05
    assert np.abs(solvable(plant, q) - want).max() <= 1e-14
    assert [abs(float(solvable(plant, x)) - w) <= 1e-14 for x, w in zip(q, want, strict=True)]


def test_pivots_of_many_joints(puma):
    """The smallest pivot of a Cholesky factor of the matrix with a unit diagonal, whatever its size."""
    plant, q = Plant(puma), np.random.default_rng(0).normal(size=(4, 6))
    M = puma.mass_matrix(q)
    scale = np.sqrt(np.einsum("kii->ki", M))
    L = np.linalg.cholesky(M / (scale[:, :, None] * scale[:, None, :]))
    want = (np.einsum("kii->ki", L) ** 2).min(axis=1)
    # the order of elimination is free: pivots differ, and all lie between the smallest eigenvalue and one
    batch = solvable(plant, q)
    least = np.linalg.eigvalsh(L @ L.swapaxes(1, 2))[:, 0]
    assert (batch <= 1).all() and (batch >= least).all()
    assert np.abs([float(solvable(plant, x)) for x in q] - want).max() <= 1e-12


def test_reasons_of_a_breakdown(two_link):
    q = np.array([0.3, 0.4])

    def reason(*qd):
        return cause(Plant(two_link), 0.5, q, np.array(qd), "do this")

    status, words = reason(0.0, -120.0)
    assert status == "step" and "blew up at t = 0.5 s" in words and "velocity 120" in words
    status, words = reason(99.0, 0.0)
    assert status == "nan" and "after t = 0.5 s" in words and words.endswith("do this")


def test_a_pose_that_is_nearly_singular():
    """A bar and a tip mass: the pivot tells, and the message names it."""
    links = [dynarm.Joint(name="a"), dynarm.Joint(a=1.0, mass=1.0, com=(1.0, 0, 0), name="b")]
    model = dynarm.compile(dynarm.Arm(links, gravity=(0, 0, 0)))
    near, far = np.array([0.3, 1e-4]), np.array([0.3, 1e-2])
    assert cause(Plant(model), 0.5, near, np.zeros(2), "")[0] == "singular"
    assert cause(Plant(model), 0.5, far, np.zeros(2), "")[0] == "nan"
    assert "smallest pivot" in cause(Plant(model), 0.5, near, np.zeros(2), "")[1]


def test_which_joint_moves_no_inertia():
    """Of several poses the first bad one, of several joints the first idle one, is named."""
    heavy = dynarm.Joint(mass=1, com=(0.2, 0, 0), inertia=np.eye(3) * 0.1, name="heavy")
    idle = [dynarm.Joint(a=0.5, name=name) for name in ("wrist", "flange")]
    model = dynarm.compile(dynarm.Arm([heavy, *idle], name="stub"))
    single = dynarm.simulate(model, [0, 0, 0], [0, 0, 0], 1.0)
    assert "joint 'wrist' moves no inertia" in single.message and "'stub'" in single.message
    assert not single.message.startswith("sample")
    batch = dynarm.simulate(model, np.zeros((2, 3)), [0, 0, 0], 1.0, method="rk4")
    assert batch.message.startswith("sample 0: ") and "joint 'wrist'" in batch.message
