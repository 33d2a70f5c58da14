"""Skid-steer, swerve, casters that trail, several arms: closed forms, energy, files, and what is refused."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest

import dynarm
from dynarm import mobile
from dynarm.errors import DynarmError, KindError, ModelError
from dynarm.mobile import Base, MobileManipulator, Platform, Steering, Wheel
from dynarm.mobile.arms import branched
from dynarm.mobile.outline import arm_frames, outline
from oracles.mobile_machines import _base, _inertia, _rotation, skew_arm, states

L, W, R = 0.4, 0.3, 0.15
SLIDE = 0.5
CORNERS = ((L, W), (L, -W), (-L, W), (-L, -W))


def robot_on(wheels, kinds="RR", **more) -> MobileManipulator:
    rng = np.random.default_rng(11)
    platform = Platform(50.0, _inertia(rng, 4.0), 0.2, **more)
    return MobileManipulator(platform, wheels, _base(rng), skew_arm(rng, kinds))


def skid(**more) -> MobileManipulator:
    return robot_on([Wheel(x, y, R, 2.0, "skid", slide=SLIDE) for x, y in CORNERS], **more)


def swerve() -> MobileManipulator:
    return robot_on([Wheel(x, y, R, 2.0, "swerve") for x, y in CORNERS])


def spins(robot, z):
    """Speed of each input [rad/s] at speeds z: what its power is divided by its torque."""
    B = robot.equations(np.zeros(len(robot.coordinate_names)), np.zeros(len(z)))[2]
    return np.asarray(z) @ B


def test_skid_steer_kinematics_both_ways():
    """Wheels run with v -+ W thd over r; forward: v = r (l + r) / 2, thd = r (r - l) / 2 W."""
    robot = skid()
    assert robot.speed_names[:2] == ("v", "thetad") and "turns by skidding" in robot.mobility
    for v, w in np.random.default_rng(0).uniform(-1, 1, (5, 2)):
        own = spins(robot, [v, w, 0, 0])[:4]
        left, right = (v - W * w) / R, (v + W * w) / R
        np.testing.assert_allclose(own, [left, right, left, right], atol=1e-14)
        assert R * (own[0] + own[1]) / 2 == pytest.approx(v)
        assert R * (own[1] - own[0]) / (2 * W) == pytest.approx(w)


def test_turning_resistance_is_the_closed_form():
    """On the spot, mass centre in the middle: the drives overcome slide m g L, and each wheel is pushed back."""
    arm = dynarm.Arm([dynarm.Joint(mass=1e-9, inertia=np.eye(3) * 1e-9)])
    wheels = [Wheel(x, y, R, 0.0, "skid", slide=SLIDE) for x, y in CORNERS]
    robot = MobileManipulator(Platform(80.0, (4, 4, 5), 0.3), wheels, Base(), arm)
    z = np.array([0.0, 0.2, 0.0])
    tau = robot.inverse_dynamics(np.zeros(4), z, np.zeros(3))
    moment = W / R * (tau[1] + tau[3] - tau[0] - tau[2])
    weight = 80.0 * 9.81
    assert moment == pytest.approx(SLIDE * weight * L, rel=1e-8)
    ground = robot.ground(np.zeros(4), z, np.zeros(3))
    aside = np.array([-1, -1, 1, 1]) * SLIDE * weight / 4
    np.testing.assert_allclose(ground.forces[:, 1], aside, rtol=1e-8)
    away = robot.ground(np.zeros(4), -z, np.zeros(3)).forces[:, 1]
    np.testing.assert_allclose(away, -aside, rtol=1e-8)


def test_power_of_the_drives_is_energy_and_slip():
    """P = d/dt (kinetic + potential) + sum slide N |u|, at states and along a run."""
    robot = skid(pivot=0.05)
    q, z, tau, _ = states(robot, 20, 3)
    tau[:, 4:8] = 0
    zd = robot.acceleration(q, z, tau)
    rates = np.stack([spins(robot, row) for row in z])
    power = (tau * rates).sum(-1)
    steady = robot.ground(q, z, 0 * z).forces[..., 2]  # the load at constant speeds
    sliding = (np.array([w.x for w in robot.wheels]) - 0.05) * z[:, 1:2]
    slip = (SLIDE * steady * np.abs(sliding)).sum(-1)
    h = 1e-6
    ahead = np.concatenate([np.zeros((20, 3)), z[:, 2:]], -1)  # x, y, theta move no energy
    later = robot.kinetic_energy(q + h * ahead, z + h * zd) + robot.potential_energy(q + h * ahead)
    before = robot.kinetic_energy(q - h * ahead, z - h * zd) + robot.potential_energy(q - h * ahead)
    rate = (later - before) / (2 * h)
    np.testing.assert_allclose(power, rate + slip, atol=1e-5 * np.abs(power).max())
    run = robot.simulate(q[0], z[0], 0.3, tau[0])
    books = run.energy - run.energy[0] - run.work + run.loss
    assert np.abs(books).max() < 1e-9 * np.abs(run.energy).max()
    assert run.loss[-1] > 0.01 and (np.diff(run.loss) >= 0).all()


def test_a_plan_is_what_its_inputs_do():
    for robot in (skid(), swerve()):
        q, z, _, load = states(robot, 10, seed=4)
        zd = np.random.default_rng(5).uniform(-1, 1, z.shape)
        tau = robot.inverse_dynamics(q, z, zd, load=load)
        np.testing.assert_allclose(robot.acceleration(q, z, tau, load), zd, atol=1e-9)
        ground = robot.ground(q, z, zd, load=load)
        stands = ground.measure > 0
        np.testing.assert_allclose(
            ground.forces[stands][:, :, 2].sum(-1), -ground.load[stands][:, 2], rtol=1e-12
        )
        level = ground.forces[stands][:, :, :2].sum(1)
        np.testing.assert_allclose(level, -ground.load[stands][:, :2], atol=1e-9)


def test_swerve_wheels_run_with_the_speed_of_their_centres():
    robot = swerve()
    assert robot.speed_names[:3] == ("v", "vy", "thetad")
    assert robot.input_names[0] == "drive x w0" and robot.input_names[4] == "drive y w0"
    v, vy, w = 0.4, -0.3, 0.8
    own = spins(robot, [v, vy, w, 0, 0])
    for j, (x, y) in enumerate(CORNERS):
        assert own[j] == pytest.approx((v - y * w) / R)
        assert own[4 + j] == pytest.approx((vy + x * w) / R)
    q = np.zeros(5)
    still = robot.limits(q, friction=0.7)
    assert still.acceleration > 0 and np.isfinite(still.slope_left)
    assert bool(robot.admissible(q, np.zeros(5), robot.hold(q), 0.5))


def test_limits_of_a_skid_steer_count_its_friction():
    """It turns while what its drives need at the wheels is below the friction: L slide < W sqrt(...)."""
    robot = skid()
    q = np.zeros(5)
    rough, smooth = (robot.limits(q, friction=mu) for mu in (2.0, 0.55))
    assert rough.yaw_rate > 0.5 and rough.curve_speed > 0.5
    assert np.isnan(smooth.yaw_rate) and smooth.acceleration > 1
    z = np.array([0.0, 1.0001 * rough.yaw_rate, 0, 0])
    still = np.zeros(4)
    assert not robot.admissible(q, z, robot.inverse_dynamics(q, z, still), 2.0)
    z *= 0.999
    assert robot.admissible(q, z, robot.inverse_dynamics(q, z, still), 2.0)


def test_casters_trail_where_they_go():
    wheels = [Wheel(0, W, R, 2.0), Wheel(0, -W, R, 2.0)]
    wheels += [Wheel(x, 0.0, 0.05, 1.0, "caster", trail=0.06) for x in (L, -L)]
    robot = robot_on(wheels)
    np.testing.assert_allclose(robot.support.points[2, :2], [L - 0.06, 0], atol=1e-15)
    q = np.zeros(5)
    back = robot.trailing(q, [-1.0, 0, 0, 0])
    np.testing.assert_allclose(back.support.points[2:, 0], [L + 0.06, -L + 0.06], atol=1e-12)
    spot = robot.trailing(q, [0, 1.0, 0, 0])
    np.testing.assert_allclose(spot.support.points[2:, :2], [[L, -0.06], [-L, 0.06]], atol=1e-12)
    assert robot.trailing(q, np.zeros(4)) == robot
    assert outline(spot, q).wheels[2].mean(0) == pytest.approx([L, -0.06])
    still = np.zeros(4)
    wide, narrow = (
        r.ground(q, still, still).degrees for r in (robot.trailing(q, [-1, 0, 0, 0]), robot)
    )
    assert wide != pytest.approx(float(narrow)), "another polygon"
    with pytest.raises(DynarmError, match="one state"):
        robot.trailing(q, np.zeros((2, 4)))


def test_several_arms_stand_where_they_are_mounted():
    rng = np.random.default_rng(3)
    poses = []
    for _ in range(3):
        T = np.eye(4)
        T[:3, :3], T[:3, 3] = _rotation(rng), rng.uniform(-0.3, 0.3, 3)
        poses.append(T)
    poses[2][:3, :3] = np.eye(3)  # axes parallel to those of the first frame
    arms = [skew_arm(rng, "RR"), dynarm.load("puma560"), dynarm.load("two_link")]
    wheels = [Wheel(0, W, R), Wheel(0, -W, R), Wheel(L, 0, R, kind="caster")]
    platform = Platform(90.0, (4, 4, 5), 0.3)
    robot = MobileManipulator(platform, wheels, Base(2.0), arms=list(zip(arms, poses, strict=True)))
    assert robot.arm.n == 10 and robot.arm.parents[2] == -1 == robot.arm.parents[8]
    q = np.r_[0, 0, 0, rng.uniform(-1, 1, 10)]
    frames = arm_frames(robot, q)
    start = 0
    for arm, pose in zip(arms, poses, strict=True):
        T = pose @ arm.base_pose
        for i, joint in enumerate(arm.joints):
            T = T @ joint.displacement(q[3 + start + i])
            np.testing.assert_allclose(frames[1 + start + i], T, atol=1e-12)
        start += arm.n
    assert pickle.loads(pickle.dumps(robot)) == robot


@pytest.mark.parametrize("u", [(0, 0, 1), (0, 0, -1), (0.6, 0, 0.8), (0, -1, 0)])
def test_any_place_of_a_branch(u):
    rng = np.random.default_rng(1)
    z = np.array(u, float)
    x = np.cross(z, rng.normal(size=3))
    x /= np.linalg.norm(x)
    T = np.eye(4)
    T[:3, 0], T[:3, 1], T[:3, 2], T[:3, 3] = x, np.cross(z, x), z, rng.normal(size=3)
    np.testing.assert_allclose(branched(dynarm.Joint(), T).displacement(), T, atol=1e-14)


def test_files_keep_all_of_it(tmp_path):
    wheels = [Wheel(x, y, R, 2.0, "skid", slide=SLIDE) for x, y in CORNERS]
    wheels.append(Wheel(0.7, 0, 0.05, kind="caster", trail=0.03, angle=1.0))
    pair = [(dynarm.load("two_link"), np.eye(4)), (dynarm.load("puma560"), np.eye(4))]
    robot = MobileManipulator(
        Platform(50.0, (3, 3, 3), 0.2, pivot=0.1), wheels, Base(1.0), arms=pair
    )
    robot.save(tmp_path / "x.toml")
    assert mobile.load(tmp_path / "x.toml") == robot
    text = (tmp_path / "x.toml").read_text()
    head = text[: text.index("[arm]")] + (
        '[[arms]]\narm = "two_link"\nposition = [0, 0, 0]\n[[arms]]\narm = "puma560"\nposition = [0, 0, 0]\n'
    )
    (tmp_path / "y.toml").write_text(head)
    again = mobile.load(tmp_path / "y.toml")
    assert again.arm.joint_names == robot.arm.joint_names
    # the base links' masses are in the saved base already
    q, still = np.zeros(len(robot.coordinate_names)), np.zeros(len(robot.speed_names))
    assert again.ground(q, still, still).forces[:, 2].sum() == pytest.approx(
        robot.ground(q, still, still).forces[:, 2].sum()
    )


ARM = dynarm.load("two_link")
P = Platform(50.0, (3, 3, 3), 0.2)
THREE = [Wheel(0, W, R), Wheel(0, -W, R), Wheel(L, 0, R, kind="caster")]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Wheel(0, 0, R, kind="skid"), "a 'skid' wheel has the coefficient"),
        (lambda: Wheel(0, 0, R, slide=0.4), "other wheels have none"),
        (lambda: Wheel(0, 0, R, kind="skid", slide=-1), "cannot be negative"),
        (lambda: Wheel(0, 0, R, kind="skid", slide=0.4, angle=0.3), "wheel has none"),
        (lambda: Wheel(0, 0, R, trail=0.1), "only a caster trails"),
        (lambda: Wheel(0, 0, R, kind="caster", trail=-0.1), "trail is -0.1"),
        (
            lambda: Wheel(0, 0, R, kind="swerve", rolling=dynarm.Friction(viscous=1)),
            "friction of bearings is not known of 'swerve'",
        ),
        (
            lambda: robot_on([*THREE, Wheel(-L, 0, R, kind="skid", slide=0.4)]),
            "make all of them 'skid', or none",
        ),
        (
            lambda: robot_on(
                [Wheel(x, y, R, kind="swerve") for x, y in CORNERS]
                + [Wheel(0.6, 0, R, 1.0, kind="steered")]
            ),
            "let all of them steer themselves",
        ),
        (lambda: robot_on(THREE, pivot=0.1), "has a pivot but no 'skid' wheels"),
        (
            lambda: robot_on(
                [replace(w, kind="skid", slide=0.3) for w in THREE[:2]] + THREE[2:], pivot=0.1
            ),
            "turn about it, not about the pivot",
        ),
        (lambda: MobileManipulator(P, THREE, Base(), ARM, arms=[(ARM, np.eye(4))]), "both arm and"),
        (lambda: MobileManipulator(P, THREE, Base(), arms=[]), "arms is empty"),
        (lambda: MobileManipulator(P, THREE, Base(), arms=[ARM]), r"give \[\(arm, mount\)"),
        (lambda: MobileManipulator(P, THREE, Base(), arms=[(ARM, np.eye(3))]), "give a 4x4 pose"),
        (lambda: MobileManipulator(P, THREE, Base()), "arm is None"),
    ],
)
def test_refused(make, words):
    with pytest.raises(DynarmError, match=words):
        make()


def test_four_steered_wheels_say_that_they_crab():
    wheels = [Wheel(x, y, R, 1.0, kind="steered") for x, y in CORNERS]
    assert "crabwise" in robot_on(wheels).mobility and "'swerve'" in robot_on(wheels).mobility
    geometry = [replace(w, kind="ackermann") for w in wheels]
    assert "bends" in robot_on(geometry, steering=Steering(L, 0.0, -L)).mobility
    with pytest.raises(ModelError, match="no steering; give Platform"):
        robot_on(geometry)
    with pytest.raises(KindError, match="arms"):
        MobileManipulator(P, THREE, Base(), arms=3)
