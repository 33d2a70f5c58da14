"""Section 6 of turney1980: what each kind of term contributes, and the model without the insignificant ones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dynarm import Arm, Joint
from dynarm.dynamics.papers.newton_euler_turney1980 import ALL
from dynarm.errors import DynarmError, InputError, KindError
from dynarm.model.pruning import KINDS, TERMS, motion, prune, term_shares
from dynarm.robot.frames.generic import generic_arm
from oracles.pinocchio_arm import pinocchio_model
from strategies import random_arm, random_states

TOLERANCE = 1e-12


def close(found, wanted) -> None:
    assert np.abs(found - wanted).max() <= TOLERANCE * max(1.0, np.abs(wanted).max())


def swing(arm: Arm, samples: int = 60) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A smooth motion of all joints."""
    t = np.linspace(0, 2 * np.pi, samples)[:, None]
    k = 1 + np.arange(arm.n) / 3
    return np.sin(k * t + k), k * np.cos(k * t + k), -(k**2) * np.sin(k * t + k)


@pytest.fixture(scope="module", params=["R", "mixed"])
def moving(request):
    rng = np.random.default_rng(12)
    arm = random_arm(rng, 5, request.param, "generic", "generic", "generic")
    return arm, random_states(rng, 5, 7)


def test_shares_add_up_to_the_joint_forces(moving):
    arm, (q, qd, qdd) = moving
    twin = pinocchio_model(arm)
    shares = term_shares(arm, q, qd, qdd)
    assert shares.forces.shape == (3, arm.n, len(q), arm.n)
    close(shares.total, np.array([twin.inverse_dynamics(*s) for s in zip(q, qd, qdd, strict=True)]))
    kinds = dict(zip(KINDS, shares.forces.sum(axis=1), strict=True))
    rest = np.array([twin.gravity(x) for x in q])
    close(kinds["gravity"], rest)
    close(kinds["coriolis"], np.array([twin.bias(*s) for s in zip(q, qd, strict=True)]) - rest)
    close(
        kinds["inertial"], np.array([twin.mass_matrix(x) @ y for x, y in zip(q, qdd, strict=True)])
    )


def test_shares_scale_by_their_kind(moving):
    arm, (q, qd, qdd) = moving
    once, faster = term_shares(arm, q, qd, qdd), term_shares(arm, q, 2 * qd, 3 * qdd)
    close(faster.forces, once.forces * np.array([3, 4, 1])[:, None, None, None])


def test_a_link_loads_no_joint_beyond_it(moving):
    arm, (q, qd, qdd) = moving
    forces = term_shares(arm, q, qd, qdd).forces
    for link in range(arm.n):
        assert not forces[:, link, :, link + 1 :].any()
        assert forces[0, link, :, link].any()


def test_relative_shares_of_a_pendulum():
    """tau = (I + m c^2) qdd + m g c cos q for a link that turns about a horizontal axis: no Coriolis term."""
    arm = Arm([Joint(mass=2.0, com=(0.5, 0, 0), inertia=np.eye(3) * 0.1)], gravity=(0, -10.0, 0))
    q = np.array([[0.0], [0.3], [1.2]])
    qdd = np.array([[1.0], [2.0], [-3.0]])
    shares = term_shares(arm, q, np.ones((3, 1)), qdd)
    inertial, gravity = 0.6 * qdd, 10.0 * np.cos(q)
    whole = np.sqrt(np.mean((inertial + gravity) ** 2))
    wanted = np.sqrt([np.mean(inertial**2), 0, np.mean(gravity**2)]) / whole
    close(shares.relative[:, 0, 0], wanted)
    close(shares.by_kind[:, 0], wanted)


def test_a_joint_without_force_has_no_shares():
    arm = Arm([Joint(mass=1.0, inertia=np.eye(3) * 0.1)])
    assert not term_shares(arm, [[0.3]], [[1.0]], [[0.0]]).relative.any()


def test_without_velocity_terms_velocity_does_not_matter(moving):
    arm, (q, qd, qdd) = moving
    samples = motion(arm, q, qd, qdd)
    slow = [replace(ALL, turning=0, centripetal=0, gyroscopic=0)] * arm.n
    close(samples.forces(slow), motion(arm, q, 0 * qd, qdd).forces())


def test_a_weight_takes_one_term_of_one_link_away(moving):
    """Whatever is left out of the last link is exactly what that link's own term adds to the forces."""
    arm, (q, qd, qdd) = moving
    samples = motion(arm, q, qd, qdd)
    nothing = replace(ALL, force=0, angular=0, gyroscopic=0)
    alone = [nothing] * (arm.n - 1)
    exact = samples.forces()
    for name in ("angular", "gyroscopic"):
        without = samples.forces([ALL] * (arm.n - 1) + [replace(ALL, **{name: 0})])
        term = samples.forces([*alone, replace(nothing, **{name: 1})])
        close(without + term, exact)


@pytest.mark.parametrize("error", [0.0, 0.01, 0.1])
def test_pruned_model_keeps_its_error(error):
    arm = generic_arm(4)
    q, qd, qdd = swing(arm)
    pruned = prune(arm, q, qd, qdd, error, by="terms")
    exact = motion(arm, q, qd, qdd).forces()
    peak = np.abs(exact).max(axis=0)
    assert np.abs(pruned.limit - error * peak).max() < 1e-12
    found = pruned.inverse_dynamics(q, qd, qdd)
    assert (np.abs(found - exact) <= error * peak + 1e-11 * peak.max()).all()
    close(np.abs(found - exact).max(axis=0), pruned.error)
    assert {name for _, name in pruned.dropped} <= set(TERMS)
    assert pruned.count.total <= pruned.full.total
    assert (pruned.count.total < pruned.full.total) == bool(pruned.dropped)


def test_more_error_costs_fewer_operations():
    arm = generic_arm(4)
    totals = [prune(arm, *swing(arm), error, by="terms").count.total for error in (0.0, 0.01, 0.1)]
    assert totals[0] > totals[1] > totals[2]


def test_pruning_a_light_wrist_takes_all_its_loads():
    """An allowed force for each joint: what the wrist of a hundred-thousandth of its weight needs is below it."""
    arm = generic_arm(3)
    table = np.array(arm.parameters)
    table[2] *= 1e-5
    light = arm.with_parameters(table)
    q, qd, qdd = swing(light)
    allowed = 0.02 * np.abs(motion(arm, q, qd, qdd).forces()).max(axis=0)
    pruned = prune(light, q, qd, qdd, allowed, by="terms")
    assert np.array_equal(pruned.limit, allowed)
    assert (pruned.error <= allowed).all()
    assert {(3, "force"), (3, "angular"), (3, "gyroscopic")} <= set(pruned.dropped)
    assert pruned.count.total < prune(arm, q, qd, qdd, allowed, by="terms").count.total


def test_what_is_refused():
    arm = generic_arm(2)
    good = np.zeros((3, 2))
    with pytest.raises(InputError, match="has 2 joints"):
        term_shares(arm, np.zeros((3, 3)), good, good)
    with pytest.raises(InputError, match="samples"):
        term_shares(arm, good, good[:2], good)
    with pytest.raises(InputError, match="NaN"):
        term_shares(arm, good, good * np.nan, good)
    with pytest.raises(KindError, match="numbers"):
        term_shares(arm, good, "fast", good)
    with pytest.raises(KindError, match=r"dynarm\.Arm"):
        prune("puma560", good, good, good)
    for error in (-0.1, 1.0, "1 %", True, float("nan"), [0.1], [0.1, -0.1]):
        with pytest.raises(DynarmError, match="fraction"):
            prune(arm, good, good, good, error)
    with pytest.raises(DynarmError, match="joint_names"):
        prune(arm, good, good, good).inverse_dynamics(np.zeros(3), np.zeros(3), np.zeros(3))
    centreless = Arm([Joint(parameters=(0, 0.1, 0, 0, 0.1, 0, 0.1, 0, 0, 0.1))])
    with pytest.raises(InputError, match="no centre of mass"):
        term_shares(centreless, [[0.0]], [[0.0]], [[0.0]])
