"""The work that an error costs: RK4 and AB4, L D L' and elimination without pivoting, and two papers as they stand.

turney1980 section 7 simulates with the mass matrix strobed out of Newton-Euler equations, Gaussian elimination without
pivoting and RK4; lin1991 recommends its base-composite formulation, L D L' and the fourth-order Adams-Bashforth rule.
`python -m benchmarks.figure_work_precision` measures, prints the numbers and writes docs/pictures/work_precision.svg.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import dynarm
from dynarm.algebra.ldl import factorise
from dynarm.algebra.vectors import Scalar, mul, sub
from dynarm.graph.graph import Graph, Port
from dynarm.graph.trace import trace_function
from dynarm.machine.load.compiled import function
from dynarm.machine.load.march import March
from dynarm.plan.quantities import quantity_named
from dynarm.plan.scene import minus
from dynarm.simulation.integrators import ab4_body, rk4_body
from dynarm.simulation.plant import Plant, powers
from dynarm.simulation.system import vectors

from .chart import Curve, Panel, chart

PICTURE = Path(__file__).parent.parent / "docs" / "pictures" / "work_precision.svg"
END = 1.0  # s
SAMPLES = 64  # trajectories at once: whole vectors, and little memory
STEPS = {"rk4": (25, 50, 100, 200, 400, 800, 1600), "ab4": (100, 200, 400, 800, 1600, 3200, 6400)}
START = (np.array([0.1, -0.4, 0.6, 0.2, 0.5, -0.3]), np.array([0.5, -0.3, 0.4, 1.0, -0.8, 0.6]))
TORQUE = np.array([5.0, -30.0, 4.0, 0.2, 0.3, 0.1])
REPEATS = 60
CHUNK = 48  # steps of AB4 whose rates fit into the second-level cache

Solve = Callable[[Sequence[Sequence[Scalar]], Sequence[Scalar]], list[Scalar]]


def eliminate(M: Sequence[Sequence[Scalar]], b: Sequence[Scalar]) -> list[Scalar]:
    """x with M x = b by Gaussian elimination without pivoting, which does not know that M is symmetric."""
    n = len(b)
    rows, x = [list(row) for row in M], list(b)
    inverse: list[Scalar] = []
    for k in range(n):
        inverse.append(1 / rows[k][k])
        for i in range(k + 1, n):
            factor = mul(rows[i][k], inverse[k])
            for j in range(k + 1, n):
                rows[i][j] = sub(rows[i][j], mul(factor, rows[k][j]))
            x[i] = sub(x[i], mul(factor, x[k]))
    for i in reversed(range(n)):
        for j in range(i + 1, n):
            x[i] = sub(x[i], mul(rows[i][j], x[j]))
        x[i] = mul(x[i], inverse[i])
    return x


@dataclass(frozen=True)
class Program:
    """A way to simulate: formulations, solver, integrator."""

    name: str
    method: str
    solver: str
    formulation: str | None = None  # of mass matrix and bias; None: the cheapest
    colour: int = 1

    def plant(self, arm: dynarm.Arm) -> Plant:
        wish = {"mass_matrix_and_bias": self.formulation} if self.formulation else None
        return Plant(dynarm.compile(arm, wish, friction=True))

    def rates(self, plant: Plant) -> Any:
        """The right-hand side over scalars."""
        chosen = plant.chosen("mass_matrix_and_bias")
        compute, solve, n = (
            quantity_named("mass_matrix_and_bias").compute,
            SOLVERS[self.solver],
            plant.n,
        )

        def rates(x: Any, tau: Any, wrench: Any) -> list[Scalar]:
            scene = plant.scene(chosen, {"q": x[:n], "qd": x[n : 2 * n]}, ())
            M, b = compute(scene)
            return [*scene.qd, *solve(M, minus(tau, b)), *powers(scene, tau)]

        return rates

    def graph(self, plant: Plant, method: str) -> tuple[Graph, list[Port], list[Port]]:
        n = plant.n
        state = 2 * n + 2
        if method == "rk4":
            inputs = [*vectors(state, "x"), *vectors(n, "t0", "t1", "t2"), Port("h", ())]
            body, outputs = rk4_body(self.rates(plant)), vectors(state, "x_next")
        elif method == "ab4":
            inputs = [*vectors(state, "x", "f1", "f2", "f3"), *vectors(n, "tau"), Port("h", ())]
            body, outputs = ab4_body(self.rates(plant)), vectors(state, "x_next", "rate")
        else:
            inputs, outputs = [*vectors(state, "x"), *vectors(n, "tau")], vectors(state, "rate")
            f = self.rates(plant)

            def body(x: Any, tau: Any) -> Any:
                return f(x, tau, None)

        return trace_function(inputs, outputs, body), inputs, outputs

    def kernel(self, plant: Plant, method: str) -> March:
        graph, inputs, outputs = self.graph(plant, method)
        recipe = (plant.model.arm, self.solver, self.formulation, "work precision")
        ufunc = function(recipe, f"{method}_of", inputs, outputs, lambda: graph)
        return March(ufunc, [len(p.shape) for p in (*inputs, *outputs)])


def integration(program: Program, plant: Plant) -> Callable[[int], np.ndarray]:
    """A function of the number of steps that integrates SAMPLES trajectories in place and returns the last state."""
    n = plant.n
    tau, x = np.array(TORQUE), np.zeros((SAMPLES, 2 * n + 2))
    rk4 = program.kernel(plant, "rk4")
    ab4 = program.kernel(plant, "ab4") if program.method == "ab4" else None
    rates = program.kernel(plant, "rates").ufunc
    past = np.zeros((CHUNK + 3, SAMPLES, 2 * n + 2))  # rates, three of them from before

    def run(steps: int) -> np.ndarray:
        h = np.array(END / steps)
        x[:, :n], x[:, n : 2 * n], x[:, 2 * n :] = *START, 0.0
        if ab4 is None:
            rk4([x, tau, tau, tau, h, x], [0] * 6, steps, SAMPLES)
            return x[0]
        for k in range(3):
            past[k] = rates(x, tau)
            rk4([x, tau, tau, tau, h, x], [0] * 6, 1, SAMPLES)
        row, left = past.strides[0], steps - 3
        operands = [x, past[2], past[1], past[0], tau, h, x, past[3]]
        while left:
            count = min(CHUNK, left)
            ab4(operands, [0, row, row, row, 0, 0, 0, row], count, SAMPLES)
            past[:3] = past[count : count + 3]
            left -= count
        return x[0]

    return run


PROGRAMS = [
    Program("RK4, L D L'", "rk4", "ldl", colour=1),
    Program("RK4, elimination", "rk4", "elimination", colour=1),
    Program("AB4, L D L'", "ab4", "ldl", colour=2),
    Program("AB4, elimination", "ab4", "elimination", colour=2),
    Program(
        "turney1980: strobed, elimination, RK4",
        "rk4",
        "elimination",
        "strobed+modified_newton_euler",
        3,
    ),
    Program("lin1991: base composite, L D L', AB4", "ab4", "ldl", "base_composite", 4),
]


def measured() -> dict[str, dict[str, Any]]:
    """For each program its steps, errors, microseconds a simulated second, and operations of one step."""
    arm = dynarm.load("puma560")
    exact = dynarm.simulate(
        dynarm.compile(arm, friction=True), *START, END, TORQUE, rtol=3e-14, atol=1e-16
    ).q[-1]
    found: dict[str, dict[str, Any]] = {}
    runs = {}
    for program in PROGRAMS:
        plant, counts = program.plant(arm), STEPS[program.method]
        runs[program.name] = run = integration(program, plant)
        count = program.graph(plant, program.method)[0].count()
        found[program.name] = {
            "steps": list(counts),
            "error": [float(np.abs(run(steps)[: arm.n] - exact).max()) for steps in counts],
            "microseconds": [np.inf] * len(counts),
            "operations": {"mul": count.mul, "add": count.add, "div": count.div},
        }
    # in turns, so that all see the same weather; the best of the processor's times counts
    for _ in range(REPEATS):
        for name, row in found.items():
            runs[name](50)  # the caches forget a program while the others run
            for k, steps in enumerate(row["steps"]):
                start = time.thread_time()
                runs[name](steps)
                used = (time.thread_time() - start) / SAMPLES * 1e6
                row["microseconds"][k] = min(row["microseconds"][k], used)
    return found


SOLVERS: dict[str, Solve] = {"ldl": lambda M, b: factorise(M).solve(b), "elimination": eliminate}


def solvers(n: int = 6) -> dict[str, tuple[int, int, int]]:
    """Multiplications, additions and divisions of the two solvers for one right-hand side."""
    found = {}
    for name, solve in SOLVERS.items():

        def body(M: Any, b: Any, solve: Solve = solve) -> Any:
            return solve([M[n * i : n * i + n] for i in range(n)], b)

        count = trace_function(
            [Port("M", (n, n)), Port("b", (n,))], [Port("x", (n,))], body
        ).count()
        found[name] = (count.mul, count.add, count.div)
    return found


def picture(figures: dict[str, dict[str, Any]]) -> str:
    """The SVG."""

    def curve(program: Program) -> Curve:
        row = figures[program.name]
        dashed = program.solver == "elimination" and program.formulation is None
        return Curve(program.name, row["microseconds"], row["error"], program.colour, dashed)

    x, y = "processor time for one simulated second [µs]", "error in joint positions [rad]"
    first = Panel("Integrators and solvers", x, y, [curve(p) for p in PROGRAMS[:4]])
    order = (0, 2, 4, 5)
    second = Panel("The papers as they stand", x, y, [curve(PROGRAMS[k]) for k in order])
    return chart([first, second], "Error against processor time of simulations of a PUMA 560")


def main() -> None:
    for name, (m, a, d) in solvers().items():
        print(f"one solution, 6 joints, {name}: {m} mul, {a} add, {d} div")
    figures = measured()
    for name, row in figures.items():
        print(f"\n{name}: {row['operations']} in one step")
        for steps, error, microseconds in zip(
            row["steps"], row["error"], row["microseconds"], strict=True
        ):
            print(
                f"  {steps:5} steps  {microseconds:9.2f} us  {microseconds / steps * 1e3:7.1f} ns a step  {error:.2e}"
            )
    PICTURE.parent.mkdir(exist_ok=True)
    PICTURE.write_text(picture(figures), encoding="utf-8")


if __name__ == "__main__":
    main()
