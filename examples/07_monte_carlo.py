"""A thousand simulations at once: how far an unknown payload lets a controlled arm sag."""

import numpy as np

import dynarm
from dynarm.simulation import GravityPD

arm = dynarm.load("two_link")
model = dynarm.compile(arm, parameters="inputs")
own = model.minimal.values

rng = np.random.default_rng(0)
masses = rng.uniform(0, 3, 1000)
unit = model.minimal.matrix @ (arm.with_payload(1.0).parameters - arm.parameters).ravel()
values = (
    own + masses[:, None] * unit
)  # a payload at the tool changes them in proportion to its mass

goal = np.array([0.5, 0.6])
controller = GravityPD(model, goal, kp=300, kd=60, values=own)
start = goal + rng.normal(scale=0.05, size=(1000, 2))
run = dynarm.simulate(
    model, start, np.zeros(2), 3.0, torque=controller, method="rk4", dt=5e-3, values=values
)

sag = np.degrees(goal[0] - run.q[:, -1, 0])
print(run.status, run.q.shape)
for low in range(3):
    picked = (masses >= low) & (masses < low + 1)
    print(
        f"payload {low} to {low + 1} kg: shoulder sags {sag[picked].mean():.2f} degrees on average"
    )
