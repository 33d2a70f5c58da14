"""How far an arm on wheels may reach before it tips, standing and driving through a bend."""

import numpy as np

import dynarm

robot = dynarm.mobile.load("tanner2001")
print("coordinates", robot.coordinate_names, "speeds", robot.speed_names)

angles = np.radians(np.arange(-180, 180, 2))
q = np.zeros((len(angles), 6))
q[:, 3] = 0.3  # steering to the left
q[:, 4] = angles  # the stretched arm, all the way round
tau = np.zeros(8)

for speed in (0.0, 1.0, 2.0):
    z = np.array([speed, 0.0, 0.0, 0.0])
    measure = robot.tipover(q, z, tau).measure
    tips = np.degrees(angles[measure < 0]).round().astype(int)
    needed = robot.friction_needed(q, z, tau)[measure > 0].max(axis=1)
    where = f"between {tips.min()} and {tips.max()} degrees" if len(tips) else "nowhere"
    print(f"{speed:.0f} m/s: {len(tips)} of {len(angles)} arm angles tip, {where};", end=" ")
    print(f"elsewhere friction {np.median(needed):.2f} is needed in the middle")
