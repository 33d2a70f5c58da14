"""Fleets of simulated robots with known differences: true arms, motions of their own, noise."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import dynarm
from dynarm import Arm, Log

TORQUE_NOISE = 0.5  # N m, a hundredth of the torques
POSITION_NOISE = 1e-5  # rad
DAY = 86400.0
BEGIN = 1.75e9  # s since 1970


def sound_robot(
    rng: np.random.Generator, base: Arm, inertia: float = 0.05, friction: float = 0.2
) -> Arm:
    """A robot of the kind: masses and friction differ by so much of their size."""
    scale = 1 + inertia * rng.normal(size=(len(base.parameters), 1))
    arm = base.with_parameters(base.parameters * scale)  # a body of another mass stays a body
    rub = 1 + friction * rng.normal(size=(arm.n, 2))
    return with_friction(arm, 0.5 * rub[:, 0], 0.8 * rub[:, 1], 0.2 * rng.normal(size=arm.n))


def with_friction(arm: Arm, viscous: np.ndarray, coulomb: np.ndarray, offset: np.ndarray) -> Arm:
    """The arm with these coefficients, one a joint."""
    rows = zip(arm.joints, viscous, coulomb, offset, strict=True)
    joints = tuple(
        replace(j, friction=dynarm.Friction(viscous=v, coulomb=c, offset=o)) for j, v, c, o in rows
    )
    return replace(arm, joints=joints)


def with_worn_joint(arm: Arm, joint: int = 0, coulomb: float = 2.0) -> Arm:
    """A defect: a joint that rubs as a dry one does."""
    joints = list(arm.joints)
    worn = replace(joints[joint].friction or dynarm.Friction(), coulomb=coulomb)
    joints[joint] = replace(joints[joint], friction=worn)
    return replace(arm, joints=tuple(joints))


def with_heavy_link(arm: Arm, link: int = -1, times: float = 1.5) -> Arm:
    """A defect: something was left on a link."""
    parameters = np.array(arm.parameters)
    parameters[link] *= times
    return arm.with_parameters(parameters)


def recording(
    rng: np.random.Generator,
    arm: Arm,
    seconds: float = 10.0,
    rate: float = 200.0,
    start: float = 0.0,
) -> Log:
    """A log of a random periodic motion, with noise."""
    t = np.arange(0, seconds, 1 / rate)
    k = np.arange(1, 11)
    w = 2 * np.pi * k / seconds
    a, b = rng.normal(size=(2, arm.n, len(k))) * 0.5 / k
    sine, cosine = np.sin(t[:, None] * w), np.cos(t[:, None] * w)
    q = sine @ a.T + cosine @ b.T
    qd = (cosine * w) @ a.T - (sine * w) @ b.T
    qdd = -((sine * w**2) @ a.T + (cosine * w**2) @ b.T)
    tau = dynarm.compile(arm, friction=True).inverse_dynamics(q, qd, qdd)
    return dynarm.Log(
        t + start,
        q + POSITION_NOISE * rng.normal(size=q.shape),
        tau + TORQUE_NOISE * rng.normal(size=tau.shape),
    )


def unknowns(arm: Arm) -> np.ndarray:
    """The true values of what a fit with plain friction looks for."""
    rigid = dynarm.minimal_parameters(arm, armature=True).values
    every = [joint.friction or dynarm.Friction() for joint in arm.joints]
    return np.array([*rigid, *(x for f in every for x in (f.viscous, f.coulomb, f.offset))])
