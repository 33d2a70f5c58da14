"""Computed torque at 1 kHz on a robot with friction and motor inertia, with a right and with a wrong model."""

from dataclasses import replace

import numpy as np

import dynarm
from dynarm.simulation import ComputedTorque

puma = dynarm.load("puma560")
friction = dynarm.Friction(viscous=2.0, coulomb=1.0, shape="tanh", width=0.05)
arm = replace(puma, joints=[replace(j, friction=friction) for j in puma.joints])


def reference(t):
    """Positions, velocities and accelerations wanted at time t."""
    w = 1 + 0.4 * np.arange(arm.n)
    return 0.6 * np.sin(w * t), 0.6 * w * np.cos(w * t), -0.6 * w**2 * np.sin(w * t)


robot = dynarm.compile(arm, friction=True)
start, speed, _ = reference(0.0)
for what, believed in (("right model", robot), ("rigid bodies only", dynarm.compile(puma))):
    controller = ComputedTorque(believed, reference, kp=400, kd=40, rate=1000)
    run = dynarm.simulate(robot, start + 0.02, speed, 1.0, torque=controller, method="rk4", dt=1e-3)
    errors = np.abs(run.q - np.array([reference(t)[0] for t in run.t])).max(axis=1)
    print(
        f"{what:18} error {errors[0]:.3f} rad at the start, {errors[500:].max():.5f} rad after half a second"
    )
