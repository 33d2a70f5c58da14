"""Mobile manipulators for the tests: the paper's, generic ones without a zero, and special kinds of platforms."""

from __future__ import annotations

import numpy as np

import dynarm
from dynarm import mobile
from dynarm.mobile import Base, MobileManipulator, Platform, Steering, Wheel


def _rotation(rng: np.random.Generator) -> np.ndarray:
    q = rng.normal(size=4)
    w, x, y, z = q / np.linalg.norm(q)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )


def _inertia(rng: np.random.Generator, size: float) -> np.ndarray:
    R = _rotation(rng)
    a, b = rng.uniform(0.5, 1.0, 2)
    return size * R @ np.diag([a, b, rng.uniform(abs(a - b), a + b)]) @ R.T


def skew_arm(rng: np.random.Generator, kinds: str, principal: bool = False) -> dynarm.Arm:
    """An arm whose joint kinds are given by letters R and P; no length, angle or moment vanishes.

    principal: the links' principal axes are parallel to their frames, as the paper has it.
    """
    joints = [
        dynarm.Joint(
            kind="revolute" if kind == "R" else "prismatic",
            a=rng.uniform(0.1, 0.4),
            alpha=rng.uniform(0.4, 1.2) * rng.choice([-1, 1]),
            d=rng.uniform(0.1, 0.3),
            theta=rng.uniform(0.2, 1.0),
            mass=rng.uniform(1, 4),
            com=rng.uniform(-0.2, 0.2, 3),
            inertia=np.diag(rng.uniform(0.08, 0.14, 3)) if principal else _inertia(rng, 0.1),
        )
        for kind in kinds
    ]
    tool = np.eye(4)
    tool[:3, :3], tool[:3, 3] = _rotation(rng), rng.uniform(-0.2, 0.2, 3)
    base = np.eye(4)
    base[:3, :3], base[:3, 3] = _rotation(rng), rng.uniform(-0.1, 0.1, 3)
    return dynarm.Arm(joints, tool=tool, base=base, name=f"skew_{kinds}")


def _base(rng: np.random.Generator) -> Base:
    mount = np.eye(4)
    mount[:3, :3], mount[:3, 3] = _rotation(rng), rng.uniform(-0.1, 0.3, 3)
    return Base(5.0, rng.uniform(-0.15, 0.25, 3), _inertia(rng, 0.2), mount)


def _wheel(rng: np.random.Generator, x: float, y: float, **given) -> Wheel:
    mass, radius = rng.uniform(1, 3), rng.uniform(0.1, 0.2)
    return Wheel(x + rng.uniform(-0.03, 0.03), y + rng.uniform(-0.03, 0.03), radius, mass, **given)


def four_steered(seed: int = 1, kinds: str = "RRR", principal: bool = False) -> MobileManipulator:
    """Four wheels all steered about axles that meet off every axis of symmetry; a skew arm, all offsets non-zero."""
    rng = np.random.default_rng(seed)
    places = ((0.4, 0.3), (-0.4, 0.25), (-0.35, -0.3), (0.45, -0.35))
    wheels = [_wheel(rng, *place, kind="ackermann") for place in places]
    platform = Platform(60.0, _inertia(rng, 6.0), 0.31, Steering(0.52, 0.06, -0.09))
    return MobileManipulator(
        platform, wheels, _base(rng), skew_arm(rng, kinds, principal), name="four_steered"
    )


def car(seed: int = 2, kinds: str = "RPR") -> MobileManipulator:
    """Two fixed rear wheels, two front wheels that follow a bicycle's steering angle."""
    rng = np.random.default_rng(seed)
    front = [Wheel(0.6, y, 0.17, 2.0, "ackermann") for y in (0.3, -0.32)]
    rear = [Wheel(-0.2, y, 0.21, 3.0) for y in (0.33, -0.29)]
    platform = Platform(80.0, _inertia(rng, 8.0), 0.4, Steering(0.6, 0.0, -0.2))
    return MobileManipulator(platform, front + rear, _base(rng), skew_arm(rng, kinds), name="car")


def counter_steered(seed: int = 3, kinds: str = "RR") -> MobileManipulator:
    """Front and rear wheel steered against each other by ratio and offset-free, two casters beside them."""
    rng = np.random.default_rng(seed)
    wheels = [
        Wheel(0.5, 0.0, 0.15, 2.0, "steered"),
        Wheel(-0.5, 0.0, 0.12, 1.5, "steered", ratio=-1.0),
        Wheel(0.1, 0.4, 0.1, 0.7, "caster"),
        Wheel(-0.1, -0.4, 0.1, 0.8, "caster"),
    ]
    platform = Platform(50.0, _inertia(rng, 5.0), 0.28)
    return MobileManipulator(
        platform, wheels, _base(rng), skew_arm(rng, kinds), name="counter_steered"
    )


def crab(seed: int = 4, kinds: str = "PR") -> MobileManipulator:
    """Three wheels turned alike: the platform translates in the steered direction without turning."""
    rng = np.random.default_rng(seed)
    wheels = [_wheel(rng, x, y, kind="steered") for x, y in ((0.4, 0.0), (-0.3, 0.3), (-0.3, -0.3))]
    return MobileManipulator(
        Platform(50.0, _inertia(rng, 5.0), 0.3),
        wheels,
        _base(rng),
        skew_arm(rng, kinds),
        name="crab",
    )


def unicycle(seed: int = 5, kinds: str = "RRP") -> MobileManipulator:
    """Differential drive, mass centre off the axle, two casters."""
    rng = np.random.default_rng(seed)
    wheels = [
        Wheel(0.12, 0.3, 0.15, 2.0),
        Wheel(0.12, -0.34, 0.15, 2.0),
        Wheel(0.5, 0.1, 0.08, 0.5, "caster"),
        Wheel(-0.4, -0.05, 0.08, 0.6, "caster"),
    ]
    return MobileManipulator(
        Platform(70.0, _inertia(rng, 7.0), 0.25),
        wheels,
        _base(rng),
        skew_arm(rng, kinds),
        name="unicycle",
    )


def steered_dolly(seed: int = 6, kinds: str = "R") -> MobileManipulator:
    """One steered wheel and three casters: forward speed, yaw rate and steering are all free."""
    rng = np.random.default_rng(seed)
    wheels = [
        Wheel(0.35, 0.05, 0.15, 2.0, "steered"),
        *(Wheel(x, y, 0.07, 0.5, "caster") for x, y in ((-0.3, 0.3), (-0.3, -0.3), (0.3, 0.3))),
    ]
    return MobileManipulator(
        Platform(30.0, _inertia(rng, 3.0), 0.2),
        wheels,
        _base(rng),
        skew_arm(rng, kinds),
        name="steered_dolly",
    )


def straight(seed: int = 7, kinds: str = "RR") -> MobileManipulator:
    """Four fixed wheels on two axles: straight ahead only."""
    rng = np.random.default_rng(seed)
    wheels = [
        Wheel(x, y, 0.15, 2.0) for x, y in ((0.4, 0.3), (0.4, -0.3), (-0.3, 0.3), (-0.3, -0.35))
    ]
    return MobileManipulator(
        Platform(40.0, _inertia(rng, 4.0), 0.2),
        wheels,
        _base(rng),
        skew_arm(rng, kinds),
        name="straight",
    )


MACHINES = {
    "tanner2001": lambda: mobile.load("tanner2001"),
    "four_steered": four_steered,
    "car": car,
    "counter_steered": counter_steered,
    "crab": crab,
    "unicycle": unicycle,
    "steered_dolly": steered_dolly,
    "straight": straight,
    "diffdrive_puma560": lambda: mobile.load("diffdrive_puma560"),
}


def states(robot: MobileManipulator, count: int, seed: int = 0):
    """Random states and inputs: q, z, tau, load."""
    rng = np.random.default_rng(seed)
    q = rng.uniform(-1, 1, (count, len(robot.coordinate_names)))
    if robot.guidance.steered:
        q[:, 3] *= 0.7
    z = rng.uniform(-1, 1, (count, len(robot.speed_names)))
    tau = rng.uniform(-5, 5, (count, len(robot.input_names)))
    for j, wheel in enumerate(robot.wheels):
        if not wheel.guides:
            tau[:, [j, len(robot.wheels) + j]] = 0.0
    return q, z, tau, rng.uniform(-10, 10, (count, 6))
