"""Steps of fixed length, each compiled into one kernel: RK4, Adams-Bashforth and a symplectic midpoint rule.

rk4       turney1980 section 7: the classical four-stage rule, inputs at start, middle and end of the step
ab4       lin1991: x' = x + h/24 (55 f - 59 f_1 + 37 f_2 - 9 f_3), one evaluation a step, started by RK4
midpoint  the implicit midpoint rule in positions and momenta: symplectic, so that the energy of a free motion
          oscillates but does not drift; p = M qd, dp/dt = C' qd - g + tau, solved by iteration

The state that is stepped is [q, qd, work, loss], 2n + 2 numbers: with the motion go the work [J] that torques and
wrench have done, and what friction has taken.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from ..algebra.vectors import ZERO, Scalar, add, magnitude, mul
from ..dynamics.papers.newton_euler_lin1995 import inverse_dynamics
from ..graph.graph import Graph, Port
from ..graph.trace import jacobian, trace_function
from ..machine.load.compiled import function
from ..machine.load.march import March
from ..model.model import Model
from ..plan.choice import choose
from ..plan.quantities import quantity_named
from ..plan.scene import Options, Scene, minus, plus

AB4 = (55 / 24, -59 / 24, 37 / 24, -9 / 24)
TURNS = 2  # of the midpoint rule's iteration in one call of its kernel

Rates = Callable[..., list[Scalar]]  # (state, tau, wrench, ...) -> rate of the state


_KERNELS: WeakKeyDictionary[Model, dict[tuple[str, bool], March]] = WeakKeyDictionary()


@dataclass(frozen=True, eq=False)
class Plant:
    """What is set in motion: a model, whether a wrench acts on its tool, and its inputs for a whole run."""

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
    def keywords(self) -> dict[str, Any]:
        """The same as keywords of the model's methods."""
        both = {"gravity": self.gravity, "values": self.values}
        return {name: x for name, x in both.items() if x is not None}

    def scene(self, chosen: Any, given: dict[str, Any], extras: Sequence[Any]) -> Scene:
        """The model's arm with symbols for a state and for gravity and values."""
        named = {p.name: x for p, x in zip(self.extra_ports, extras, strict=True)}
        minimal = self.model.minimal if self.model.parameters_input else None
        given = {k: v for k, v in given.items() if v is not None}
        return Scene(self.model.arm, self.options, chosen, given | named, minimal)

    def chosen(self, *quantities: str) -> dict[str, Any]:
        """The formulations for some quantities."""
        model = self.model
        found: dict[str, Any] = {}
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
        mine = _KERNELS.setdefault(self.model, {})
        if (name, self.wrench) not in mine:
            ports = [*inputs, *self.extra_ports]

            def build() -> Graph:
                return trace_function(ports, outputs, body())

            recipe = (self.model.arm, self.options, sorted(self.model.wishes.items()))
            ufunc = function(recipe, name, ports, outputs, build)
            mine[name, self.wrench] = March(ufunc, [len(p.shape) for p in (*ports, *outputs)])
        return mine[name, self.wrench]


def rates_of(plant: Plant) -> Rates:
    """[qd, qdd, power of torques and wrench, power that friction takes] by the cheapest formulation."""
    chosen = plant.chosen("forward_dynamics")
    compute = quantity_named("forward_dynamics").compute
    n = plant.n

    def rates(x: Any, tau: Any, wrench: Any, *extras: Any) -> list[Scalar]:
        given = {"q": x[:n], "qd": x[n : 2 * n], "tau": tau, "wrench": wrench}
        scene = plant.scene(chosen, given, extras)
        return [*scene.qd, *compute(scene), *powers(scene, tau)]

    return rates


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
    """(state, tau, [wrench], ...) -> rate of the state: the right-hand side of the motion."""
    n = plant.n
    inputs = [*vectors(2 * n + 2, "x"), *vectors(n, "tau"), *vectors(6, *["wrench"] * plant.wrench)]

    def body() -> Any:
        f = rates_of(plant)
        return f if plant.wrench else lambda x, tau, *extras: f(x, tau, None, *extras)

    return plant.compiled("rates", inputs, vectors(2 * n + 2, "rate"), body).ufunc


def rk4_step(plant: Plant) -> March:
    """(state, tau at start, middle and end, [wrench likewise,] h, ...) -> state after a step."""
    n, pushes = plant.n, ("wrench0", "wrench1", "wrench2") if plant.wrench else ()
    inputs = [*vectors(2 * n + 2, "x"), *vectors(n, "tau0", "tau1", "tau2"), *vectors(6, *pushes)]
    outputs = vectors(2 * n + 2, "x_next")
    return plant.compiled(
        "rk4_step",
        [*inputs, Port("h", ())],
        outputs,
        lambda: rk4_body(rates_of(plant), plant.wrench),
    )


def rk4_body(f: Rates, wrench: bool = False) -> Callable[..., Any]:
    """One step of RK4 over scalars for a right-hand side f(x, tau, wrench, ...)."""

    def step(x: Any, t0: Any, t1: Any, t2: Any, *rest: Any) -> list[Scalar]:
        (w0, w1, w2), rest = (rest[:3], rest[3:]) if wrench else ((None,) * 3, rest)
        (h,), extras = rest[0], rest[1:]
        half = mul(0.5, h)
        f1 = f(x, t0, w0, *extras)
        f2 = f(along(x, half, f1), t1, w1, *extras)
        f3 = f(along(x, half, f2), t1, w1, *extras)
        f4 = f(along(x, h, f3), t2, w2, *extras)
        sums = [
            add(add(a, d), mul(2, add(b, c))) for a, b, c, d in zip(f1, f2, f3, f4, strict=True)
        ]
        return along(x, mul(1 / 6, h), sums)

    return step


def ab4_step(plant: Plant) -> March:
    """(state, its rates one, two and three steps before, tau, [wrench,] h, ...) -> (state after a step, rate)."""
    n = plant.n
    inputs = [*vectors(2 * n + 2, "x", "f1", "f2", "f3"), *vectors(n, "tau")]
    inputs += [*vectors(6, *["wrench"] * plant.wrench), Port("h", ())]
    outputs = vectors(2 * n + 2, "x_next", "rate")
    return plant.compiled(
        "ab4_step", inputs, outputs, lambda: ab4_body(rates_of(plant), plant.wrench)
    )


def ab4_body(f: Rates, wrench: bool = False) -> Callable[..., Any]:
    """One step of AB4 over scalars for a right-hand side f(x, tau, wrench, ...)."""

    def step(x: Any, f1: Any, f2: Any, f3: Any, tau: Any, *rest: Any) -> Any:
        push, rest = (rest[0], rest[1:]) if wrench else (None, rest)
        (h,), extras = rest[0], rest[1:]
        now = f(x, tau, push, *extras)
        after = x
        for weight, rate in zip(AB4, (now, f1, f2, f3), strict=True):
            after = along(after, mul(weight, h), rate)
        return after, now

    return step


def midpoint_turns(plant: Plant) -> np.ufunc:
    """(q0, p0, q1, p1, tau, h, ...) -> (better q1, better p1, change of q1, powers): turns of the iteration."""
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
