"""The minimal parameters of a robot, by name and in words, in two conventions."""

import numpy as np

import dynarm

arm = dynarm.load("stanford")
minimal = dynarm.minimal_parameters(arm)
print(f"{arm.name}: {minimal.count} of {10 * arm.n} parameters matter")
for name, form, value in list(zip(minimal.names, minimal.symbolic_forms, minimal.values))[:6]:
    print(f"  {name:9} {value:9.4f} = {form if len(form) < 60 else form[:57] + '...'}")

grouped = dynarm.minimal_parameters(arm, convention="gautier1990")
print("grouped as in the literature:", ", ".join(grouped.names[:8]), "...")

rng = np.random.default_rng(0)
q, qd, qdd = rng.uniform(-1, 1, (3, 100, arm.n))
model = dynarm.compile(arm)
Y = model.regressor(q, qd, qdd)
error = np.abs(Y @ minimal.values - model.inverse_dynamics(q, qd, qdd)).max()
print(
    "regressor",
    Y.shape,
    "rank",
    np.linalg.matrix_rank(Y.reshape(-1, minimal.count)),
    f"error {error:.0e} N m",
)
