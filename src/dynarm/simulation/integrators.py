"""Steps of fixed length, each compiled into one kernel: RK4, Adams-Bashforth and a symplectic midpoint rule.

rk4       turney1980 section 7: the classical four-stage rule, inputs at start, middle and end of the step
ab4       lin1991: x' = x + h/24 (55 f - 59 f_1 + 37 f_2 - 9 f_3), one evaluation a step, started by RK4
midpoint  the implicit midpoint rule in positions and momenta: symplectic, so that the energy of a free motion
          oscillates but does not drift; p = M qd, dp/dt = C' qd - g + tau, solved by iteration

With the state go two energies: the work [J] that torques and wrench have done, and what friction has taken.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..algebra import ZERO, Scalar, add, magnitude, mul
from ..compiled import function
from ..counts import choose
from ..graph import Graph, Port
from ..machine.march import March
from ..model import Model
from ..papers.newton_euler_lin1995 import inverse_dynamics
from ..quantities import quantity_named
from ..scene import Options, Scene, minus, plus
from ..trace import jacobian, trace_function

AB4 = (55 / 24, -59 / 24, 37 / 24, -9 / 24)
TURNS = 2  # of the midpoint rule's iteration in one call of its kernel

Dynamics = Callable[..., tuple[list[Scalar], list[Scalar]]]  # (q, qd, tau, wrench, ...) -> (qdd, powers)


@dataclass(frozen=True, eq=False)
class Plant:
    """What is set in motion: a model, whether a wrench acts on its tool, and what it takes as inputs for a whole run."""

    model: Model
    wrench: bool = False
    gravity: np.ndarray | None = None  # (3,) or (N, 3), for a model compiled with gravity="input"
    values: np.ndarray | None = None  # (p,) or (N, p), for one with parameters="inputs"

    @property
    def n(self) -> int:
        return self.model.arm.n

    @property
    def options(self) -> Options:
        model = self.model
        return Options(model.friction, model.gravity_input, self.wrench, model.parameters_input)

    @property
    def extras(self) -> tuple[np.ndarray, ...]:
        """Gravity and values of the minimal parameters, where the kernels take them, in the order of their ports."""
        return tuple(x for x in (self.gravity, self.values) if x is not None)

    @property
    def extra_ports(self) -> list[Port]:
        found = [Port("gravity", (3,))] if self.model.gravity_input else []
        if self.model.parameters_input:
            found.append(Port("values", (self.model.minimal.count,)))
        return found

    @property
    def keywords(self) -> dict[str, np.ndarray]:
        """The same as keywords of the model's methods, for states (N, n)."""
        return {p.name: x for p, x in zip(self.extra_ports, self.extras, strict=True)}

    def scene(self, chosen: Any, given: dict[str, Any], extras: Sequence[Any]) -> Scene:
        """The model's arm with symbols for a state and for gravity and values."""
        named = {p.name: x for p, x in zip(self.extra_ports, extras, strict=True)}
        minimal = self.model.minimal if self.model.parameters_input else None
        given = {k: v for k, v in given.items() if v is not None}
        return Scene(self.model.arm, self.options, chosen, given | named, minimal)

    def chosen(self, *quantities: str) -> dict[str, Any]:
        """The formulations for some quantities."""
        model, found = self.model, {}
        minimal = model.minimal if model.parameters_input else None
        for name in quantities:
            found |= choose(model.arm, name, model.wishes, self.options, minimal)
        return found

    def compiled(
        self,
        name: str,
        inputs: Sequence[Port],
        outputs: Sequence[Port],
        body: Callable[[], Callable[..., Any]],
    ) -> March:
        """The kernel of a function over scalars, gravity and values of the parameters being its last inputs."""
        ports = [*inputs, *self.extra_ports]

        def build() -> Graph:
            return trace_function(ports, outputs, body())

        recipe = (self.model.arm, self.options, sorted(self.model.wishes.items()))
        ufunc = function(recipe, name, ports, outputs, build)
        return March(ufunc, [len(p.shape) for p in (*ports, *outputs)])


def dynamics_of(plant: Plant) -> Dynamics:
    """(qdd, [power of torques and wrench, power that friction takes]) by the cheapest formulation."""
    chosen = plant.chosen("forward_dynamics")
    compute = quantity_named("forward_dynamics").compute

    def dynamics(q: Any, qd: Any, tau: Any, wrench: Any, *extras: Any) -> Any:
        scene = plant.scene(chosen, {"q": q, "qd": qd, "tau": tau, "wrench": wrench}, extras)
        return list(compute(scene)), powers(scene, tau)

    return dynamics


def powers(scene: Scene, tau: Sequence[Scalar]) -> list[Scalar]:
    """The power [W] of torques and wrench, and the power that friction takes."""
    acting = plus(tau, pushed(scene)) if scene.options.wrench else tau
    return [_dot(acting, scene.qd), _dot(scene.drive(scene.qd, scene.still), scene.qd)]


def pushed(scene: Scene) -> list[Scalar]:
    """Joint forces J' wrench."""
    floating = replace(scene.chain, gravity=ZERO)
    held = inverse_dynamics(floating, scene.pose, scene.still, scene.still, scene.wrench)
    return minus(scene.still, held)


def vectors(n: int, *names: str) -> list[Port]:
    return [Port(name, (n,)) for name in names]


def rates(plant: Plant) -> np.ufunc:
    """(q, qd, tau, [wrench], ...) -> (qdd, powers): the right-hand side of the motion."""
    n = plant.n
    inputs = [*vectors(n, "q", "qd", "tau"), *([Port("wrench", (6,))] if plant.wrench else [])]
    outputs = [Port("qdd", (n,)), Port("power", (2,))]

    def body() -> Any:
        f = dynamics_of(plant)
        return f if plant.wrench else lambda q, qd, tau, *extras: f(q, qd, tau, None, *extras)

    return plant.compiled("rates", inputs, outputs, body).ufunc


def rk4_step(plant: Plant) -> March:
    """(q, qd, energy, tau at start, middle and end, [wrench likewise,] h, ...) -> (q, qd, energy)."""
    n, pushes = plant.n, 3 if plant.wrench else 0
    inputs = [*vectors(n, "q", "qd"), Port("energy", (2,)), *vectors(n, "tau0", "tau1", "tau2")]
    inputs += [*(Port(f"wrench{k}", (6,)) for k in range(pushes)), Port("h", ())]
    outputs = [*vectors(n, "q_next", "qd_next"), Port("energy_next", (2,))]
    return plant.compiled("rk4_step", inputs, outputs, lambda: rk4_body(dynamics_of(plant), pushes))


def rk4_body(f: Dynamics, pushes: int = 0) -> Callable[..., Any]:
    """One step of RK4 over scalars for a right-hand side f(q, qd, tau, wrench, ...)."""

    def step(q: Any, qd: Any, energy: Any, t0: Any, t1: Any, t2: Any, *rest: Any) -> Any:
        w0, w1, w2 = rest[:3] if pushes else (None,) * 3
        (h,), extras = rest[pushes], rest[pushes + 1 :]
        half = mul(0.5, h)
        a1, p1 = f(q, qd, t0, w0, *extras)
        v2 = along(qd, half, a1)
        a2, p2 = f(along(q, half, qd), v2, t1, w1, *extras)
        v3 = along(qd, half, a2)
        a3, p3 = f(along(q, half, v2), v3, t1, w1, *extras)
        v4 = along(qd, h, a3)
        a4, p4 = f(along(q, h, v3), v4, t2, w2, *extras)
        sixth = mul(1 / 6, h)

        def mean(*x: Any) -> list[Scalar]:
            return [add(add(a, d), mul(2, add(b, c))) for a, b, c, d in zip(*x, strict=True)]

        return (
            along(q, sixth, mean(qd, v2, v3, v4)),
            along(qd, sixth, mean(a1, a2, a3, a4)),
            along(energy, sixth, mean(p1, p2, p3, p4)),
        )

    return step


def ab4_step(plant: Plant) -> March:
    """(q, qd, energy, velocities, accelerations and powers one, two and three steps before, tau, [wrench,] h, ...)
    -> (q, qd, energy, acceleration, powers)."""
    n = plant.n
    past = [*vectors(n, "v1", "v2", "v3", "a1", "a2", "a3"), *vectors(2, "p1", "p2", "p3")]
    inputs = [*vectors(n, "q", "qd"), Port("energy", (2,)), *past, *vectors(n, "tau")]
    inputs += [*([Port("wrench", (6,))] if plant.wrench else []), Port("h", ())]
    outputs = [*vectors(n, "q_next", "qd_next"), *vectors(2, "energy_next")]
    outputs += [Port("qdd", (n,)), Port("power", (2,))]
    return plant.compiled(
        "ab4_step", inputs, outputs, lambda: ab4_body(dynamics_of(plant), plant.wrench)
    )


def ab4_body(f: Dynamics, wrench: bool = False) -> Callable[..., Any]:
    """One step of AB4 over scalars for a right-hand side f(q, qd, tau, wrench, ...)."""

    def step(q: Any, qd: Any, energy: Any, *rest: Any) -> Any:
        v, a, p, tau = rest[:3], rest[3:6], rest[6:9], rest[9]
        push, ((h,), *extras) = (rest[10], rest[11:]) if wrench else (None, rest[10:])
        now, power = f(q, qd, tau, push, *extras)
        weights = [mul(k, h) for k in AB4]

        def advance(x: Any, *past: Any) -> list[Scalar]:
            for k, rate in zip(weights, past, strict=True):
                x = along(x, k, rate)
            return list(x)

        return advance(q, qd, *v), advance(qd, now, *a), advance(energy, power, *p), now, power

    return step


def midpoint_turns(plant: Plant) -> np.ufunc:
    """(q0, p0, q1, p1, tau, h, ...) -> (better q1, better p1, change of q1, powers): turns of the fixed-point iteration."""
    n = plant.n
    inputs = [*vectors(n, "q0", "p0", "q1", "p1", "tau"), Port("h", ())]
    outputs = [*vectors(n, "q_next", "p_next", "change"), Port("power", (2,))]

    def body() -> Any:
        chosen = plant.chosen("mass_matrix", "inverse_dynamics", "bias")

        def turns(q0: Any, p0: Any, q1: Any, p1: Any, tau: Any, h: Any, *extras: Any) -> Any:
            for _ in range(TURNS):
                q, p = (
                    [mul(0.5, add(a, b)) for a, b in zip(x, y, strict=True)]
                    for x, y in ((q0, q1), (p0, p1))
                )
                qd = plant.scene(chosen, {"q": q}, extras).factors.solve(p)
                scene = plant.scene(chosen, {"q": q, "qd": qd}, extras)
                before, q1 = q1, along(q0, h[0], qd)
                p1 = along(p0, h[0], _momentum_rate(scene, tau))
            return q1, p1, [magnitude(x) for x in minus(q1, before)], powers(scene, tau)

        return turns

    return plant.compiled("midpoint", inputs, outputs, body).ufunc


def momenta(plant: Plant) -> np.ufunc:
    """(q, qd, ...) -> p = M qd."""

    def product(scene: Scene, qd: Any) -> list[Scalar]:
        return [_dot(row, qd) for row in scene.mass_matrix]

    return _with_mass_matrix(plant, "momenta", product)


def velocities(plant: Plant) -> np.ufunc:
    """(q, p, ...) -> qd with M qd = p."""
    return _with_mass_matrix(plant, "velocities", lambda scene, p: scene.factors.solve(p))


def _with_mass_matrix(plant: Plant, name: str, compute: Callable[..., Any]) -> np.ufunc:
    def body() -> Any:
        chosen = plant.chosen("mass_matrix")
        return lambda q, x, *extras: compute(plant.scene(chosen, {"q": q}, extras), x)

    n = plant.n
    return plant.compiled(name, vectors(n, "q", "given"), vectors(n, "found"), body).ufunc


def _momentum_rate(scene: Scene, tau: Sequence[Scalar]) -> list[Scalar]:
    """dp/dt = C' qd - g + tau - friction, C' qd being half of (d bias / d qd)' qd."""
    twice = jacobian(scene.bias(), scene.qd)
    turned = [mul(0.5, _dot([row[i] for row in twice], scene.qd)) for i in range(scene.arm.n)]
    weight = scene.inverse_dynamics(scene.still, scene.still)
    return plus(minus(minus(tau, weight), scene.drive(scene.qd, scene.still)), turned)


def along(x: Sequence[Scalar], h: Scalar, v: Sequence[Scalar]) -> list[Scalar]:
    """x + h v."""
    return [add(a, mul(h, b)) for a, b in zip(x, v, strict=True)]


def _dot(x: Sequence[Scalar], y: Sequence[Scalar]) -> Scalar:
    total: Scalar = 0
    for a, b in zip(x, y, strict=True):
        total = add(total, mul(a, b))
    return total
