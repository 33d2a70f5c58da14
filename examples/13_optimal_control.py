"""Least-torque motion of an arm between two poses, by CasADi and IPOPT on the same compiled formulas."""

import casadi
import numpy as np

import dynarm
from dynarm.simulation import Sampled

arm = dynarm.load("two_link")
model = dynarm.compile(arm)
dynamics = model.casadi("forward_dynamics")

steps, time = 80, 1.2
h = time / steps
opti = casadi.Opti()
x, u = opti.variable(4, steps + 1), opti.variable(2, steps)
for k in range(steps):
    middle = (x[:, k] + x[:, k + 1]) / 2
    rate = casadi.vertcat(middle[2:], dynamics(middle[:2], middle[2:], u[:, k]))
    opti.subject_to(x[:, k + 1] == x[:, k] + h * rate)
opti.subject_to(x[:, 0] == [-np.pi / 2, 0, 0, 0])  # hanging
opti.subject_to(x[:, steps] == [0.5, -0.5, 0, 0])
opti.subject_to(opti.bounded(-120, u, 120))
opti.minimize(casadi.sumsqr(u) * h)
opti.solver("ipopt", {"print_time": False}, {"print_level": 0, "sb": "yes"})
found = opti.solve()

torque = found.value(u)
print(found.stats()["return_status"], "after", found.stats()["iter_count"], "iterations")
print("largest torques", np.abs(torque).max(axis=1).round(1), "N m")
check = dynarm.simulate(
    model,
    [-np.pi / 2, 0],
    [0, 0],
    time,
    torque=Sampled(np.arange(steps) * h, torque.T),
)
print(
    "integrated anew, the arm ends within",
    np.abs(check.q[-1] - [0.5, -0.5]).max().round(3),
    "rad of the goal",
)
