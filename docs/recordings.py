"""Make the recordings of the tutorial "A recording, step by step": python docs/recordings.py

They are simulated, and everything about them is stated here. The robot is the built-in UR5e whose links weigh a little
more or less than the file says, with a tool of 0.6 kg, motor inertias and friction that the file knows nothing of. A
controller follows a motion of five sines a joint. What is written is what a teach pendant records: seconds since 1970,
positions in degrees from encoders of 17 bits, and torques with noise; one sample in 200 is lost.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

import dynarm

FOLDER = Path(__file__).parent / "tutorials" / "recordings"
RATE = 100.0  # [Hz]
RUNS = {"cell_1": (1, 10.0), "cell_2": (2, 6.0)}  # name -> seed, seconds
START = 1_750_000_000.0  # [s] since 1970
LOST = 200  # one sample in so many
STEP = 360 / 2**17  # [degrees]
NOISE = np.array([0.9, 1.2, 0.7, 0.15, 0.15, 0.12])  # [N m] standard deviation of the torques
SHARES = np.array(
    [1.08, 0.95, 1.10, 1.04, 0.93, 1.05]
)  # links weigh so many times what the file says
ARMATURE = np.array([1.6, 1.9, 1.2, 0.28, 0.27, 0.25])  # [kg m^2]
VISCOUS = np.array([9.0, 10.5, 7.0, 1.6, 1.7, 1.5])  # [N m s/rad]
COULOMB = np.array([7.5, 9.0, 6.0, 1.3, 1.2, 1.1])  # [N m]
TOOL = (0.6, (0.0, 0.01, 0.05), 0.001 * np.eye(3))  # mass [kg], centre [m], inertia [kg m^2]
MIDDLE = np.array([0.0, -1.3, 1.2, -0.8, -1.0, 0.0])  # [rad] about which the joints move
WIDE = np.array([1.0, 0.6, 0.8, 1.0, 1.0, 1.4])  # [rad] how far


def real_robot() -> dynarm.Arm:
    """The robot that was recorded."""
    file = dynarm.load("ur5e")
    arm = file.with_parameters(file.parameters * SHARES[:, None]).with_payload(*TOOL)
    joints = [
        replace(joint, armature=a, friction=dynarm.Friction(v, c, shape="tanh", width=0.02))
        for joint, a, v, c in zip(arm.joints, ARMATURE, VISCOUS, COULOMB, strict=True)
    ]
    return replace(arm, joints=joints)


def motion(seed: int, seconds: float) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Times, positions, velocities and accelerations: five sines a joint, drawn from a seed, from rest to rest."""
    rng = np.random.default_rng(seed)
    t = np.arange(0.0, seconds, 1 / RATE)
    w = 2 * np.pi * np.arange(1, 6)[:, None] * rng.uniform(0.12, 0.16, 6)
    size = WIDE * rng.uniform(0.3, 1.0, (5, 6)) / np.arange(1, 6)[:, None] / 1.5
    phase = rng.uniform(0, 2 * np.pi, (5, 6))
    at = w * t[:, None, None] + phase
    q = MIDDLE + (size * np.sin(at)).sum(axis=1)
    qd = (size * w * np.cos(at)).sum(axis=1)
    qdd = -(size * w**2 * np.sin(at)).sum(axis=1)
    return t, q, qd, qdd


def recording(seed: int, seconds: float) -> str:
    """The text of a file: stamp, positions [degrees], torques [N m]."""
    t, q, qd, qdd = motion(seed, seconds)
    tau = dynarm.compile(real_robot(), friction=True).inverse_dynamics(q, qd, qdd)
    rng = np.random.default_rng(100 + seed)
    tau = tau + NOISE * rng.normal(size=tau.shape)
    kept = rng.random(len(t)) > 1 / LOST
    degrees = np.round(np.degrees(q) / STEP) * STEP
    head = ",".join(["stamp", *(f"pos_{j}" for j in range(6)), *(f"trq_{j}" for j in range(6))])
    rows = [
        ",".join([f"{START + s:.2f}", *(f"{x:.3f}" for x in p), *(f"{x:.2f}" for x in f)])
        for s, p, f in zip(t[kept], degrees[kept], tau[kept], strict=True)
    ]
    return "\n".join([head, *rows]) + "\n"


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, (seed, seconds) in RUNS.items():
        (FOLDER / f"{name}.csv").write_text(recording(seed, seconds), encoding="utf-8")
        print("made", name)
