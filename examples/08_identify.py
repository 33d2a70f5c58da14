"""Identify a robot from a (simulated) log and prove it on a second one."""

from dataclasses import replace

import numpy as np

import dynarm

arm = dynarm.load("two_link")  # what the drawings say
truth = arm.with_payload(0.7, com=(-0.1, 0.02, 0))  # what the robot is
drives = [(0.4, 1.2, 2.0), (0.1, 0.5, 0.9)]  # motor inertia, viscous and Coulomb friction
truth = replace(
    truth,
    joints=[
        replace(j, armature=a, friction=dynarm.Friction(viscous=v, coulomb=c))
        for j, (a, v, c) in zip(truth.joints, drives)
    ],
)
plant = dynarm.compile(truth, friction=True)


def record(seed):
    """A log: random smooth motion, encoder steps, one per cent of torque noise."""
    rng = np.random.default_rng(seed)
    t = np.arange(0, 10, 0.005)
    q, qd, qdd = np.zeros((3, len(t), arm.n))
    for k in range(1, 6):
        w = 2 * np.pi * k / 10
        a, b = rng.normal(size=(2, arm.n)) / k
        q += np.outer(np.sin(w * t), a) + np.outer(np.cos(w * t), b)
        qd += w * (np.outer(np.cos(w * t), a) - np.outer(np.sin(w * t), b))
        qdd -= w**2 * (np.outer(np.sin(w * t), a) + np.outer(np.cos(w * t), b))
    tau = plant.inverse_dynamics(q, qd, qdd)
    tau += 0.01 * tau.std(axis=0) * rng.normal(size=tau.shape)
    return dynarm.Log(t, np.round(q, 5), tau, source=f"run {seed}")


log, other = record(1), record(2)
fit = dynarm.Identifier(arm).fit(log)
true = dict(zip(*(lambda m: (m.names, m.values))(dynarm.minimal_parameters(truth, armature=True))))
print("unknown      fitted      +-     true")
for name, value, std in zip(fit.names_[:7], fit.values_, fit.std_):
    print(f"{name:10} {value:8.4f} {std:7.4f} {true[name]:8.4f}")
print(
    "error on the other run, of the torque's standard deviation:",
    fit.validate(other).relative.round(3),
)
print("verdict:", fit.verdict(other).word)
