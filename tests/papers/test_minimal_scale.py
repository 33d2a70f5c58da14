"""Robots of every size: what is decided and computed does not depend on the units in which an arm is written down.

An arm whose lengths are L times and whose masses are M times those of another, under L times its gravity, has the same
minimal parameters and costs the same; its torques are M L^2 times those of the other, its forces M L times.
"""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest

import dynarm
from dynarm import Arm, DynarmError, Joint, minimal_parameters
from dynarm.dynamics.table import applicable, formulation
from dynarm.parameters.redundancy import residues
from dynarm.plan.choice import planned
from dynarm.plan.regularity import check_regular
from dynarm.plan.scene import body_of
from dynarm.robot.frames.chain import chain_of, pose
from oracles.minimal_arms import full, minimal_arm
from oracles.pinocchio_arm import pinocchio_model

EXACT = 1e-12  # of the largest entry of the reference, each in the robot's own units
SIZES = [(1e-6, 1e-6), (1e-6, 1e6), (1e-3, 1.0), (1.0, 1e-6), (1e3, 1.0), (1e6, 1e-6), (1e6, 1e6)]
ARMS = [*range(0, 240, 17), 3, 7, 23]  # of the 2000; 3, 7, 23: weightless


@pytest.fixture(autouse=True)
def quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dynarm.DynarmWarning)
        yield


def enlarged(arm: Arm, L: float, M: float) -> Arm:
    """The arm with lengths L times, masses M times and gravity L times its own."""

    def moved(T):
        T = np.array(T).reshape(4, 4)
        T[:3, 3] *= L
        return T

    joints = [
        replace(
            j,
            a=j.a * L,
            d=j.d * L,
            mass=j.mass * M,
            com=tuple(L * np.array(j.com)),
            inertia=M * L**2 * np.array(j.inertia),
            armature=j.armature * M * (L**2 if j.revolute else 1),
            parameters=None,
        )
        for j in arm.joints
    ]
    return Arm(joints, tuple(L * np.array(arm.gravity)), arm.name, moved(arm.base), moved(arm.tool))


def units_of(arm: Arm, L: float, M: float) -> tuple[np.ndarray, np.ndarray]:
    """What joint positions and joint forces are multiplied by."""
    revolute = np.array([j.revolute for j in arm.joints])
    return np.where(revolute, 1.0, L), np.where(revolute, M * L**2, M * L)


def computed(arm: Arm, quantity: str, name: str, state: np.ndarray) -> np.ndarray:
    row, chain = formulation(quantity, name), chain_of(arm)
    q, *rates = (list(x) for x in state)
    given = rates if quantity == "inverse_dynamics" else ()
    return np.array(row.function(body_of(chain, row), pose(chain, q), *given), float)


@pytest.mark.parametrize(("L", "M"), SIZES)
def test_every_formulation_at_every_scale(L, M):
    checked = 0
    for k in ARMS:
        arm = minimal_arm(k)
        other = enlarged(arm, L, M)
        position, force = units_of(arm, L, M)
        state = np.random.default_rng(k).uniform(-1, 1, (3, arm.n))
        for quantity in ("inverse_dynamics", "mass_matrix"):
            for row in applicable(quantity, chain_of(arm)):
                want = computed(arm, quantity, row.name, state)
                got = computed(other, quantity, row.name, state * position)
                got = (
                    got / force
                    if quantity == "inverse_dynamics"
                    else got / force[:, None] * position
                )
                assert np.abs(got - want).max() <= EXACT * np.abs(want).max(), (k, row.name)
                checked += 1
    assert checked > 200


@pytest.mark.parametrize(("L", "M"), SIZES)
@pytest.mark.parametrize("armature", [False, True])
def test_the_same_minimal_parameters_at_every_scale(L, M, armature):
    for k in ARMS:
        arm = minimal_arm(k)
        one, other = (minimal_parameters(a, armature=armature) for a in (arm, enlarged(arm, L, M)))
        assert other.kept == one.kept and other.columns == one.columns
        assert other.doubts == one.doubts
        assert ((other.matrix != 0) == (one.matrix != 0)).all()
        for convention in ("linfang1999", "gautier1990"):
            assert ((other.convert(convention) != 0) == (one.convert(convention) != 0)).all()
        held = other.inverse @ other.matrix[:, other.columns]
        assert np.abs(held - np.eye(one.count)).max() < 1e-6 * max(1, L**2, L**-2)


@pytest.mark.parametrize("name", ["puma560", "stanford"])
@pytest.mark.parametrize(("L", "M"), [(1e-6, 1e-6), (1e6, 1e6)])
def test_the_same_formulations_are_chosen(name, L, M):
    arm = dynarm.load(name)
    one, other = dynarm.compile(arm), dynarm.compile(enlarged(arm, L, M))
    for quantity in ("inverse_dynamics", "mass_matrix"):
        first, second = (planned(model.arm, quantity, {}) for model in (one, other))
        names = [{k: row.name for k, row in plan.chosen.items()} for plan in (first, second)]
        assert names[0] == names[1]
        assert first.graph.count() == second.graph.count()


@pytest.mark.parametrize("L", [1e-6, 3e-6, 1e-5, 1e-3])
def test_silicon_arms_agree_with_pinocchio(L):
    """Silicon links, 2330 kg/m^3, as long as L under the gravity of the earth."""
    rng = np.random.default_rng(3)
    joints = []
    for i in range(5):
        m, c = 2330 * 0.1 * L**3, L * rng.uniform(-0.3, 0.3, 3)
        moments = np.diag(m * L**2 * rng.uniform(0.05, 0.08, 3))
        joints.append(
            Joint(a=0.4 * L, alpha=(0.0, 1.0, np.pi / 2, 0.3, 0.0)[i], d=0.1 * L, mass=m, com=c,
                  inertia=moments)
        )  # fmt: skip
    arm = Arm(joints)
    twin = pinocchio_model(arm)
    state = rng.uniform(-1, 1, (3, arm.n))
    torque = computed(arm, "inverse_dynamics", "minimal_newton_euler", state)
    want = twin.inverse_dynamics(*state)
    assert np.abs(torque - want).max() <= EXACT * np.abs(want).max()
    want = twin.mass_matrix(state[0])
    for name in ("minimal_composite_1", "minimal_composite_2"):
        M = computed(arm, "mass_matrix", name, state)
        assert np.abs(M - want).max() <= EXACT * np.abs(want).max()


def test_a_mass_is_not_compared_with_moments():
    """A slide that carries 2 kg whose centre lies 1e8 m away weighs what it weighs."""
    arm = Arm([Joint(kind="prismatic", mass=2.0, com=(1e8, 2e8, 3e8))])
    state = np.zeros((3, 1))
    force = computed(arm, "inverse_dynamics", "minimal_newton_euler", state)
    assert force == pytest.approx([2 * 9.81], rel=1e-15)
    assert computed(arm, "mass_matrix", "minimal_composite_1", state).tolist() == [[2.0]]


def test_a_thin_rod_keeps_its_own_moment():
    """1e-18 of the moment across a rod is left about it, behind a parallel joint too."""
    rod = np.diag([1.0, 1.0, 1e-18])
    arm = Arm([Joint(), Joint(mass=1.0, inertia=rod)])
    for name in ("minimal_composite_1", "minimal_composite_2"):
        M = computed(arm, "mass_matrix", name, np.zeros((3, 2)))
        assert np.abs(M - 1e-18).max() < 1e-30


def millimetres(seed: int) -> Arm:
    """A weightless arm of about 3 m, lengths in mm; masses in kg."""
    rng = np.random.default_rng(seed)
    n, S = int(rng.integers(2, 6)), 1000.0
    return Arm(
        [
            Joint(
                kind="prismatic" if rng.random() < 0.25 else "revolute",
                a=S * float(rng.choice([0, rng.uniform(-1, 1)])),
                d=S * float(rng.choice([0, rng.uniform(-1, 1)])),
                alpha=float(rng.choice([0, np.pi / 2, rng.uniform(-3, 3)])),
                mass=rng.uniform(0.1, 5),
                com=S * rng.uniform(-0.3, 0.3, 3),
                inertia=np.diag(rng.uniform(0.1, 0.2, 3)) * S**2,
            )
            for _ in range(n)
        ],
        gravity=(0, 0, 0),
    )


@pytest.mark.parametrize("seed", range(16))
def test_a_weightless_arm_in_millimetres(seed):
    arm = millimetres(seed)
    parameters = minimal_parameters(arm)
    assert not parameters.doubts
    chain, row = chain_of(arm), formulation("inverse_dynamics", "minimal_newton_euler")
    state = np.random.default_rng(seed).uniform(-1, 1, (3, arm.n))
    state *= units_of(arm, 1000.0, 1.0)[0]
    want = computed(arm, "inverse_dynamics", "newton_euler_driving_axis", state)
    fed = dynarm.parameters.minimal.minimal_chain(
        chain, parameters.structure, full(parameters, parameters.values)
    )
    got = np.array(row.function(fed, pose(chain, list(state[0])), *map(list, state[1:])), float)
    scale = units_of(arm, 1000.0, 1.0)[1]
    assert np.abs((got - want) / scale).max() <= EXACT * np.abs(want / scale).max()
    model = dynarm.compile(arm, parameters="inputs")
    assert model.graph("forward_dynamics").count().total > 0  # no division by a zero inertia


# ---- where a decision tips


@pytest.mark.parametrize(
    ("pull", "count", "doubts"), [(2e-6, 38, 0), (5e-7, 34, 4), (1e-8, 34, 4), (1e-12, 34, 0)]
)
@pytest.mark.parametrize("L", [1e-6, 1.0, 1e6])
def test_gravity_is_felt_in_units_of_the_robot(pull, count, doubts, L):
    arm = enlarged(replace(dynarm.load("puma560"), gravity=(0.3 * pull, 0, -pull)), L, 1.0)
    parameters = minimal_parameters(arm)
    assert (parameters.count, len(parameters.doubts)) == (count, doubts)


@pytest.mark.parametrize("L", [1e-6, 1.0, 1e6])
def test_gravity_of_the_earth_is_felt_by_every_robot(L):
    arm = replace(enlarged(dynarm.load("puma560"), L, 1.0), gravity=(1.0, 2.0, -9.0))
    assert minimal_parameters(arm).count == 38
    assert minimal_parameters(arm, armature=True).count == 42


@pytest.mark.parametrize(("twist", "count"), [(1e-7, 4), (1e-3, 4), (2.5e-3, 8), (1e-2, 8)])
@pytest.mark.parametrize("L", [1e-5, 1.0, 1e5])
def test_a_column_that_is_hardly_independent(twist, count, L):
    """Of two weightless axes the twist's square is what is left of their columns: below 1e-6 they are merged."""
    link = {"mass": 1.0, "com": (0.1, 0.2, 0.3), "inertia": np.diag([0.1, 0.2, 0.3])}
    arm = Arm([Joint(**link), Joint(a=0.5, alpha=twist, d=0.2, **link)], gravity=(0, 0, 0))
    assert minimal_parameters(enlarged(arm, L, 1.0), tolerance=1e-12).count == count


def test_what_others_leave_of_a_column():
    rows = np.array([[1.0, 1.0, 1.0, 0.0], [0.0, 1e-3, 1e-9, 1e-7], [0.0, 0.0, 0.0, 0.0]])
    left = residues(rows, range(4), 1e-6)
    assert left[0] == 1 and left[1] == pytest.approx(1e-3, rel=1e-6)
    assert left[2] < 1e-15 and left[3] == pytest.approx(1e-7, rel=1e-5)
    assert residues(np.zeros((3, 2)), range(2), 1e-6) == {0: 0.0, 1: 0.0}


def coaxial(inner: float) -> Arm:
    """Two joints on one axis: the smallest eigenvalue of the mass matrix, scaled, is half the inner moment."""
    moments = (np.diag([1.0, 1.0, x]) for x in (inner, 1.0))
    return Arm([Joint(mass=1.0, inertia=I) for I in moments])


@pytest.mark.parametrize(("L", "M"), [(1.0, 1.0), *SIZES[::2]])
def test_a_mass_matrix_is_regular_at_every_scale(L, M):
    check_regular(enlarged(coaxial(2e-12), L, M))
    with pytest.raises(DynarmError, match="singular in every pose"):
        check_regular(enlarged(coaxial(3e-14), L, M))


@pytest.mark.parametrize("L", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize(("angle", "parallel"), [(0.9e-4, True), (1.1e-4, False)])
def test_axes_are_parallel_within_the_tolerance(angle, parallel, L):
    link = {"mass": 1.0, "com": (0.1, 0.2, 0.3), "inertia": np.diag([0.1, 0.2, 0.3])}
    arm = Arm([Joint(**link), Joint(a=0.5, alpha=angle, **link)], gravity=(0, 9.81, 0))
    parameters = minimal_parameters(enlarged(arm, L, 1.0))
    asked = [d for d in parameters.structure.decisions if d.question == "parallel"]
    assert [d.yes for d in asked if d.joints == (0, 1)] == [parallel]
    assert bool(parameters.doubts) == parallel
    assert parameters.count == (6 if parallel else 10)
    exact = minimal_parameters(enlarged(arm, L, 1.0), tolerance=0.0)
    assert exact.count == 10 and not exact.doubts


@pytest.mark.parametrize("L", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize(("offset", "one_line"), [(0.9e-6, True), (1.1e-6, False)])
def test_axes_are_one_line_within_the_tolerance(offset, one_line, L):
    """A hundredth of the angle's tolerance, in units of the robot's size."""
    link = {"mass": 1.0, "com": (0.1, 0.2, 0.3), "inertia": np.diag([0.1, 0.2, 0.3])}
    arm = Arm([Joint(**link), Joint(a=offset, d=1.0, **link)])
    parameters = minimal_parameters(enlarged(arm, L, 1.0))
    assert parameters.count == (2 if one_line else 4)
    assert bool(parameters.doubts) == one_line


@pytest.mark.parametrize("rest", [1e-12, 1e-9, 1e-3])
def test_what_is_left_of_balanced_links_is_kept(rest):
    """A counterweight that leaves a small moment, and one that leaves none but for rounding."""
    outer = Joint(a=1.0, mass=1.0, inertia=np.diag([0.1] * 3))
    state = np.zeros((3, 2))

    def torque(left: float) -> float:
        inner = Joint(mass=1.0, com=(left - 1.0, 0, 0), inertia=np.diag([0.1] * 3))
        arm = Arm([inner, outer], gravity=(0, -9.81, 0))
        return float(computed(arm, "inverse_dynamics", "minimal_newton_euler", state)[0])

    assert torque(rest) == pytest.approx(9.81 * ((rest - 1.0) + 1.0), rel=1e-12)
    assert torque(2.0**-53) == 0.0


# ---- forward dynamics


def chain_of_ten(L: float, gravity: float) -> Arm:
    """Ten silicon links as long as L."""
    rng = np.random.default_rng(10)
    joints = []
    for i in range(10):
        m, A = 2000 * L**3 * rng.uniform(0.1, 1), 0.1 * L * rng.normal(size=(3, 3))
        joints.append(
            Joint(
                a=L * rng.uniform(-0.6, 0.6),
                alpha=(0.0, np.pi / 2, 1.0)[i % 3],
                d=L * rng.uniform(-0.6, 0.6),
                mass=m,
                com=L * rng.uniform(-0.3, 0.3, 3),
                inertia=m * (np.trace(A @ A.T) * np.eye(3) - A @ A.T),
            )
        )
    return Arm(joints, (0, 0, -gravity))


@pytest.mark.parametrize("L", [1e-6, 4e-6, 1.0, 1e6])
@pytest.mark.parametrize("gravity", [0.0, 9.81])
def test_the_articulated_body_at_every_scale(L, gravity):
    """The torques carry gravity, g/L in rad/s^2: 2.5 million at 4 micrometres, of which the motion is the small rest.

    An acceleration of 1 rad/s^2 is known there to 1e-16 * g/L, whatever the method; measured so, it is exact.
    """
    arm = chain_of_ten(L, gravity)
    chain = chain_of(arm)
    q, qd, qdd = np.random.default_rng(4).uniform(-1, 1, (3, arm.n))
    tau = computed(arm, "inverse_dynamics", "newton_euler_driving_axis", np.array([q, qd, qdd]))
    got = formulation("forward_dynamics", "articulated_body").function(
        chain, pose(chain, list(q)), list(qd), list(tau)
    )
    twin = pinocchio_model(arm)
    size = 1 + gravity / L
    assert np.abs(np.array(got, float) - qdd).max() <= EXACT * size
    assert np.abs(twin.forward_dynamics(q, qd, tau) - qdd).max() <= EXACT * size
