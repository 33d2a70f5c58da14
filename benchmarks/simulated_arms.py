"""Arms drawn at random whose drives are known, and what a recorder would keep of them along a Fourier motion.

Two to four revolute joints, geometry, bodies and friction drawn by a seed. Torques come from the papers' inverse
dynamics along the exact motion, so nothing is integrated but friction with memory, and that at a step `FINE` times as
fine as the recorder's; then come noise, the encoder's steps and those of the torque sensor. The description that an
identifier is given has the right geometry and wrong bodies.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from dynarm import Arm, Joint, Log
from dynarm.dynamics.papers.newton_euler_lin1995 import inverse_dynamics
from dynarm.robot.frames.chain import chain_of, pose

DRIVES = (
    "plain",
    "slip",
    "load",
)  # Coulomb, Maxwell-slip elements, Coulomb that grows with the load
FINE = 10  # steps of the elements between two samples
_BEFORE = 3.0  # [s] of motion before the recorder starts: elements are not at rest then
_HARMONICS = 6
_QUARTER = np.pi / 2

Rng = np.random.Generator
FloatArray = np.ndarray


@dataclass(frozen=True, slots=True, eq=False)
class Drawn:
    """One arm as it is, as its description has it, its motion and recorder, and its friction."""

    truth: Arm
    described: Arm
    rate: float  # [Hz]
    lasting: float  # [s]
    encoder: float  # [rad] step of the positions
    noise: float  # deviation of the torque's noise, in deviations of the torque
    base: float  # [Hz] of the Fourier motion
    waves: FloatArray  # (n, harmonics, 2) amplitudes of sines and cosines
    viscous: FloatArray  # (n,) friction at the usual speed, in deviations of the rigid torque
    coulomb: FloatArray
    offset: FloatArray
    widths: FloatArray  # (n,) of the sign, in usual speeds; 0: sharp
    strokes: FloatArray  # (n, 3) [rad]
    shares: FloatArray  # (n, 3)
    loads: FloatArray  # (n,) friction per unit of load


def drawn(seed: int) -> Drawn:
    """The arm of a seed."""
    rng = np.random.default_rng([seed, 90])
    n = int(rng.integers(2, 5))
    truth = _arm(rng, n, seed)
    largest = np.exp(rng.uniform(np.log(1e-2), np.log(6e-2), n))
    finer = np.exp(np.log(rng.uniform([0.25, 0.05], [0.6, 0.2], (n, 2))))
    return Drawn(
        truth,
        _described(rng, truth),
        float(rng.choice([200.0, 250.0, 400.0, 500.0])),
        float(rng.uniform(15.0, 20.0)),
        float(2 * np.pi / 2 ** rng.integers(12, 21)),
        float(rng.uniform(0.01, 0.04)),
        float(rng.uniform(0.06, 0.12)),
        _waves(rng, n),
        rng.uniform(0.05, 0.3, n),
        rng.uniform(0.08, 0.3, n),
        rng.uniform(-0.1, 0.1, n),
        np.where(rng.random(n) < 0.5, 0.0, rng.uniform(0.01, 0.05, n)),
        largest[:, None] * np.column_stack([np.ones(n), finer]),
        rng.dirichlet(np.full(3, 3.0), n),
        rng.uniform(0.08, 0.25, n),
    )


def _arm(rng: Rng, n: int, seed: int) -> Arm:
    """Revolute joints with axes at right angles, parallel or anyhow, and bodies that grow lighter towards the tip."""
    joints = []
    for i in range(n):
        mass = float(rng.uniform(2.0, 12.0) * 0.7**i)
        size = rng.uniform(0.05, 0.35, 3)  # of a box
        inertia = mass / 12 * (np.sum(size**2) - size**2)
        turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        twist = float(rng.choice([0.0, _QUARTER, -_QUARTER, rng.uniform(-np.pi, np.pi)]))
        joints.append(
            Joint(
                "revolute",
                float(rng.uniform(0.1, 0.5)) if i else 0.0,
                twist if i else float(rng.choice([0.0, _QUARTER])),
                float(rng.uniform(-0.2, 0.4)),
                float(rng.uniform(-np.pi, np.pi)),
                mass=mass,
                com=rng.uniform(-0.2, 0.2, 3),
                inertia=turn @ np.diag(inertia) @ turn.T,
                armature=float(rng.uniform(0.05, 0.4)) * 0.7**i,
            )
        )
    return Arm(joints, name=f"drawn{seed}")


def _described(rng: Rng, truth: Arm) -> Arm:
    """The arm as its file has it: masses, centres and inertias wrong by a third, no armature, no friction."""
    joints = []
    for joint in truth.joints:
        scale = float(np.exp(rng.normal(0.0, 0.3)))
        spread = rng.uniform(-0.05, 0.05, 3)
        joints.append(
            replace(
                joint,
                parameters=None,
                mass=scale * joint.mass,
                com=np.add(joint.com, spread),
                inertia=scale * np.asarray(joint.inertia),
                armature=0.0,
            )
        )
    return replace(truth, joints=tuple(joints))


def _waves(rng: Rng, n: int) -> FloatArray:
    """Amplitudes [rad]: positions reach about a radian, velocities a few radians a second."""
    order = np.arange(1, _HARMONICS + 1)
    waves = rng.normal(size=(n, _HARMONICS, 2)) / order[:, None] ** 0.5
    size = np.sqrt((waves**2).sum(axis=(1, 2)) / 2)
    return np.asarray(waves * (rng.uniform(0.5, 0.9, n) / size)[:, None, None])


# ---- along the motion


def motion(one: Drawn, t: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """q, qd, qdd (N, n), exactly."""
    w = 2 * np.pi * one.base * np.arange(1, _HARMONICS + 1)
    angle = np.outer(t, w)
    s, c = np.sin(angle), np.cos(angle)
    a, b = one.waves[:, :, 0].T, one.waves[:, :, 1].T
    q = s @ a + c @ b
    qd = (c * w) @ a - (s * w) @ b
    return q, qd, -(s * w**2) @ a - (c * w**2) @ b


def rigid_torque(arm: Arm, q: FloatArray, qd: FloatArray, qdd: FloatArray) -> FloatArray:
    """(N, n) by the papers' formulas, armatures included."""
    chain = chain_of(arm)
    forces = inverse_dynamics(chain, pose(chain, list(q.T)), list(qd.T), list(qdd.T))
    motors = np.array([j.armature for j in arm.joints])
    return np.column_stack([np.broadcast_to(f, len(q)) for f in forces]) + motors * qdd


def slipping(one: Drawn, t: FloatArray) -> FloatArray:
    """(N, n): the elements' forces over their sum, from some motion before the recorder starts."""
    step = 1 / (one.rate * FINE)
    before = int(_BEFORE * one.rate) * FINE
    fine = t[0] + step * np.arange(-before, (len(t) - 1) * FINE + 1)
    q, _, _ = motion(one, fine)
    x = np.zeros(one.strokes.shape)
    out = np.empty((len(t), len(x)))
    for k, travel in enumerate(np.diff(q, axis=0, prepend=q[:1])):
        x = np.clip(x + travel[:, None], -one.strokes, one.strokes)
        if k >= before and (k - before) % FINE == 0:
            out[(k - before) // FINE] = (one.shares * x / one.strokes).sum(axis=1)
    return out


def _sign(v: FloatArray, widths: FloatArray) -> FloatArray:
    """The sign, or its smoothed form by (exp(2x) - 1) / (exp(2x) + 1)."""
    wide = np.where(widths > 0, widths, 1.0)
    smooth = 2 / (1 + np.exp(-np.clip(2 * v / wide, -60, 60))) - 1
    return np.where(widths > 0, smooth, np.sign(v))


def recorded(one: Drawn, drive: str, repeat: int = 0) -> Log:
    """What the recorder keeps of a drive; repeat draws other noise."""
    rng = np.random.default_rng([repeat, 91])
    t = np.arange(int(one.lasting * one.rate)) / one.rate
    q, qd, qdd = motion(one, t)
    rigid = rigid_torque(one.truth, q, qd, qdd)
    size, usual = rigid.std(axis=0), np.sqrt((qd**2).mean(axis=0))
    tau = rigid + size * (one.viscous * qd / usual + one.offset)
    sign = _sign(qd, one.widths * usual)
    tau += one.coulomb * size * (slipping(one, t) if drive == "slip" else sign)
    if drive == "load":
        tau += one.loads * np.abs(rigid) * sign
    spread = tau.std(axis=0)
    tau += one.noise * spread * rng.normal(size=tau.shape)
    least = 16 * spread / 2**12  # a sensor of 12 bits, whose range is 16 deviations
    start = rng.uniform(0, one.encoder, q.shape[1])  # where its steps lie
    seen = one.encoder * np.round((q + start) / one.encoder)
    return Log(t, seen, least * np.round(tau / least), source=f"{one.truth.name}, {drive}")
