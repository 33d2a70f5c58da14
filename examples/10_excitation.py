"""A motion that makes all parameters visible, against random ones within the same limits."""

import numpy as np

import dynarm

arm = dynarm.load("two_link")
motion = dynarm.excite(arm, duration=10, velocity=1.5, acceleration=5.0, starts=1, iterations=60)
print(f"condition number {motion.condition:.1f}")
print(f"random motions   {min(motion.random):.1f} to {max(motion.random):.1f}")
print(
    "fastest",
    np.abs(motion.qd).max(axis=0).round(2),
    "rad/s; ends at rest:",
    np.allclose(motion.qd[-1], 0),
)
motion.save("motion.csv")
