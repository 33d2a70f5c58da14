"""Find a payload's mass and centre from a log without it and a log with it."""

from dataclasses import replace

import numpy as np

import dynarm

puma = dynarm.load("puma560")
arm = replace(puma, joints=puma.joints[:3], tool=None, name="shoulder_and_elbow")
load = dict(mass=2.0, com=(0.25, 0.0, 0.05), inertia=np.diag([0.01, 0.02, 0.02]))


def record(arm, seed):
    """A log of random smooth motion with one per cent of torque noise."""
    rng = np.random.default_rng(seed)
    t = np.arange(0, 10, 0.01)
    q, qd, qdd = np.zeros((3, len(t), arm.n))
    for k in range(1, 6):
        w = 2 * np.pi * k / 10
        a, b = rng.normal(size=(2, arm.n)) / k
        q += np.outer(np.sin(w * t), a) + np.outer(np.cos(w * t), b)
        qd += w * (np.outer(np.cos(w * t), a) - np.outer(np.sin(w * t), b))
        qdd -= w**2 * (np.outer(np.sin(w * t), a) + np.outer(np.cos(w * t), b))
    tau = dynarm.compile(arm, friction=True).inverse_dynamics(q, qd, qdd)
    return dynarm.Log(t, q, tau + 0.01 * tau.std(axis=0) * rng.normal(size=tau.shape))


found = dynarm.identify_payload(arm, record(arm, 1), record(arm.with_payload(**load), 2))
print(f"mass   {found.mass:.3f} kg (true {load['mass']}), standard deviation {found.std[0]:.3f}")
print(f"centre {found.com.round(3)} m (true {load['com']})")
print(f"{found.determined} of 10 parameters determined, a possible body: {found.consistent}")
