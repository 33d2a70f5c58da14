"""The implicit midpoint rule for arms, in positions and momenta: symplectic.

The energy of a free motion oscillates but does not drift; p = M qd, dp/dt = C' qd - g + tau, solved by iteration.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..algebra.vectors import Scalar, add, magnitude, mul
from ..border.kinds import Maker
from ..errors import InputError
from ..graph.graph import Port
from ..graph.trace import jacobian
from ..plan.scene import Scene, minus, plus
from .inputs import Law
from .integrators import along
from .plant import Plant, dot, powers
from .steppers import Stepper
from .system import System, vectors
from .tape import HISTORY, Scratch, Segment

TURNS = 2  # of the iteration in one call of its kernel
ITERATIONS = 100  # calls of the kernel in one step


class Midpoint(Stepper):
    """Positions and momenta, each step solved by iteration to rounding."""

    def __init__(self, system: System, threads: int):
        super().__init__(system, threads)
        assert isinstance(system, Plant)
        self.plant = plant = system
        self.kernel, self.velocities = midpoint_turns(plant), velocities(plant)
        self.momenta = momenta(plant)
        self.count = 0

    def begin(self, segment: Segment, torque: Law, push: Law | None) -> None:
        super().begin(segment, torque, push)
        if not self.steady or push is not None:
            raise InputError(
                "method 'midpoint' is for free motion and torques of time; use 'rk4' for controllers and wrenches"
            )

    def march(self, rows: Scratch, done: int, count: int) -> None:
        h, n = self.segment.h, self.plant.layout.speeds
        p = self.momenta(rows.q(HISTORY), rows.qd(HISTORY), *self.extras)
        for k in range(HISTORY, HISTORY + count):
            t = self.segment.start + (done + k - HISTORY + 0.5) * h
            q, qd, after = rows.q(k), rows.qd(k), rows.x[k + 1]
            q1, p, power = self.solve(q, p, q + h * qd, self.torque(t, q, qd))
            after[..., :n] = q1
            after[..., n : 2 * n] = self.velocities(q1, p, *self.extras)
            after[..., 2 * n :] = rows.x[k, ..., 2 * n :] + h * power

    def solve(
        self, q0: np.ndarray, p0: np.ndarray, q1: np.ndarray, tau: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The end of a step by iteration, until it no longer gets better."""
        before, p1 = np.inf, p0
        for _ in range(ITERATIONS):
            q1, p1, moved, power = self.kernel(q0, p0, q1, p1, tau, self.h, *self.extras)
            self.count += TURNS
            change = float(moved.max())
            if change == 0 or (change >= before and change < 1e-9) or not np.isfinite(change):
                break
            before = change
        return q1, p1, power

    def evaluations(self, steps: int) -> int:
        return self.count


def midpoint_turns(plant: Plant) -> np.ufunc:
    """(q0, p0, q1, p1, tau, h, ...) -> (better q1, better p1, change of q1, powers): turns of the iteration."""
    n = plant.layout.speeds
    inputs = [*vectors(n, "q0", "p0", "q1", "p1", "tau"), Port("h", ())]
    outputs = [*vectors(n, "q_next", "p_next", "change"), Port("power", (2,))]

    def body() -> Maker:
        chosen = plant.chosen("mass_matrix", "inverse_dynamics", "bias")

        def turns(
            q0: Scalar, p0: Scalar, q1: Scalar, p1: Scalar, tau: Scalar, h: Scalar, *extras: Scalar
        ) -> Scalar:
            for _ in range(TURNS):
                q, p = (
                    [mul(0.5, add(a, b)) for a, b in zip(x, y, strict=True)]
                    for x, y in ((q0, q1), (p0, p1))
                )
                qd = plant.scene(chosen, {"q": q}, extras).factors.solve(p)
                scene = plant.scene(chosen, {"q": q, "qd": qd}, extras)
                before, q1 = q1, along(q0, h[0], qd)
                p1 = along(p0, h[0], _momentum_rate(scene, tau))
            return (
                q1,
                p1,
                [magnitude(x) for x in minus(q1, before)],
                powers(scene, tau, scene.still),
            )

        return turns

    return plant.compiled("midpoint", inputs, outputs, body).ufunc


def momenta(plant: Plant) -> np.ufunc:
    """(q, qd, ...) -> p = M qd."""

    def product(scene: Scene, qd: Scalar) -> list[Scalar]:
        return [dot(row, qd) for row in scene.mass_matrix]

    return _with_mass_matrix(plant, "momenta", product)


def velocities(plant: Plant) -> np.ufunc:
    """(q, p, ...) -> qd with M qd = p."""
    return _with_mass_matrix(plant, "velocities", lambda scene, p: scene.factors.solve(p))


def _with_mass_matrix(plant: Plant, name: str, compute: Maker) -> np.ufunc:
    def body() -> Maker:
        chosen = plant.chosen("mass_matrix")
        return lambda q, x, *extras: compute(plant.scene(chosen, {"q": q}, extras), x)

    n = plant.layout.speeds
    return plant.compiled(name, vectors(n, "q", "given"), vectors(n, "solved"), body).ufunc


def _momentum_rate(scene: Scene, tau: Sequence[Scalar]) -> list[Scalar]:
    """dp/dt = C' qd - g + tau - friction, C' qd being half of (d bias / d qd)' qd."""
    twice = jacobian(scene.bias(), scene.qd)
    turned = [mul(0.5, dot([row[i] for row in twice], scene.qd)) for i in range(scene.arm.nv)]
    weight = scene.inverse_dynamics(scene.still, scene.still)
    return plus(minus(minus(tau, weight), scene.free_friction()), turned)
