"""What the mass matrix of a robot costs by each formulation, cheapest first."""

import dynarm

for name in ("scara", "puma560"):
    arm = dynarm.load(name)
    costs = {f: dynarm.count(arm, "mass_matrix", f) for f in dynarm.formulations("mass_matrix")}
    print(f"{name}: multiplications and additions of the mass matrix")
    for formulation in sorted(costs, key=lambda f: costs[f].total):
        cost = costs[formulation]
        print(f"  {formulation:21} {cost.mul:4} {cost.add:4}  {'#' * round(cost.total / 25)}")
    print("  taken:", dynarm.compile(arm).formulation["mass_matrix"])
