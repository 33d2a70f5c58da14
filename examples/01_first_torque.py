"""Load a robot, compile it, ask for torques: one state, then ten thousand."""

import numpy as np

import dynarm

arm = dynarm.load("puma560")
model = dynarm.compile(arm)

q = np.array([0.0, -0.8, 0.5, 0.0, 0.3, 0.0])
zero = np.zeros(arm.n)
print("torques that hold the arm [N m]:", model.gravity(q).round(2) + 0.0)
print(
    "and accelerate joint 1 at 1 rad/s^2:", model.inverse_dynamics(q, zero, np.eye(6)[0]).round(2)
)

rng = np.random.default_rng(0)
Q, Qd, Qdd = rng.uniform(-1, 1, (3, 10_000, arm.n))
tau = model.inverse_dynamics(Q, Qd, Qdd)
print(
    "ten thousand states:",
    tau.shape,
    "largest torque of each joint:",
    np.abs(tau).max(axis=0).round(1),
)

back = model.forward_dynamics(Q, Qd, tau)
print("forward after inverse dynamics is off by", f"{np.abs(back - Qdd).max():.0e} rad/s^2")
