"""A two-link arm from Denavit-Hartenberg numbers, compared with the textbook's formula."""

import numpy as np

import dynarm

l1, l2, m1, m2 = 0.5, 0.4, 3.0, 2.0


def bar(length, mass):
    """Inertia of a thin bar along x about its centre."""
    return np.diag([0.0, 1.0, 1.0]) * mass * length**2 / 12


arm = dynarm.Arm(
    name="bars",
    gravity=(0, -9.81, 0),
    joints=[
        dynarm.Joint(name="shoulder", mass=m1, com=(l1 / 2, 0, 0), inertia=bar(l1, m1)),
        dynarm.Joint(name="elbow", a=l1, mass=m2, com=(l2 / 2, 0, 0), inertia=bar(l2, m2)),
    ],
)
model = dynarm.compile(arm)

q, qd, qdd = np.array([0.3, 0.7]), np.array([1.0, -2.0]), np.array([0.5, 1.5])
c2, s2 = np.cos(q[1]), np.sin(q[1])
a = m1 * l1**2 / 3 + m2 * (l1**2 + l2**2 / 3 + l1 * l2 * c2)
b, c = m2 * (l2**2 / 3 + l1 * l2 * c2 / 2), m2 * l2**2 / 3
h = m2 * l1 * l2 * s2 / 2
lift = 9.81 * np.array(
    [
        (m1 / 2 + m2) * l1 * np.cos(q[0]) + m2 * l2 / 2 * np.cos(q.sum()),
        m2 * l2 / 2 * np.cos(q.sum()),
    ]
)
by_hand = np.array([[a, b], [b, c]]) @ qdd + lift
by_hand += [-h * (2 * qd[0] * qd[1] + qd[1] ** 2), h * qd[0] ** 2]

print("by hand", by_hand.round(6))
print("dynarm ", model.inverse_dynamics(q, qd, qdd).round(6))
assert np.abs(by_hand - model.inverse_dynamics(q, qd, qdd)).max() < 1e-12
