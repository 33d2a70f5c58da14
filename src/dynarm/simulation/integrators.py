"""Steps of fixed length, each compiled into one kernel: RK4, Adams-Bashforth and a symplectic midpoint rule.

rk4       turney1980 section 7: the classical four-stage rule, torque at start, middle and end of the step
ab4       lin1991: x' = x + h/24 (55 f - 59 f_1 + 37 f_2 - 9 f_3), one evaluation a step, started by RK4
midpoint  the implicit midpoint rule in positions and momenta: symplectic, so that the energy of a free motion
          oscillates but does not drift; p = M qd, dp/dt = C' qd - g + tau, solved by iteration
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..algebra import ZERO, Scalar, add, mul
from ..compiled import function
from ..counts import choose
from ..graph import Graph, Port
from ..model import Model
from ..papers.newton_euler_lin1995 import inverse_dynamics
from ..quantities import quantity_named
from ..scene import Options, Scene, minus
from ..trace import jacobian, trace_function

AB4 = (55 / 24, -59 / 24, 37 / 24, -9 / 24)
ITERATIONS = 60  # of the midpoint rule; each gains about log10(1 / (h L)) digits


def _along(x: Sequence[Scalar], h: Scalar, v: Sequence[Scalar]) -> list[Scalar]:
    return [add(a, mul(h, b)) for a, b in zip(x, v, strict=True)]


def _recipe(model: Model, wrench: bool) -> tuple[Any, ...]:
    return (model.arm, model.friction, sorted(model.wishes.items()), wrench)


def _dynamics(model: Model, wrench: bool) -> Any:
    """(qdd, power) of (q, qd, tau, wrench) over scalars, by the cheapest formulation.

    The power is that of torques and wrench less what friction takes: it is the rate of the total energy.
    """
    options = Options(friction=model.friction, wrench=wrench)
    chosen = choose(model.arm, "forward_dynamics", model.wishes, options)
    compute = quantity_named("forward_dynamics").compute
    still = [0] * model.arm.n

    def dynamics(q: Any, qd: Any, tau: Any, w: Any) -> tuple[list[Scalar], Scalar]:
        given = {"q": q, "qd": qd, "tau": tau} | ({"wrench": w} if wrench else {})
        scene = Scene(model.arm, options, chosen, given)
        acting = minus(tau, scene.drive(qd, still))
        if wrench:
            floating = replace(scene.chain, gravity=ZERO)
            acting = minus(
                acting, inverse_dynamics(floating, scene.pose, still, still, scene.wrench)
            )
        return list(compute(scene)), _dot(acting, qd)

    return dynamics


def _ports(n: int, names: Sequence[str], wrench: bool, *scalars: str) -> list[Port]:
    found = [Port(x, (n,)) for x in names]
    return [*found, *([Port("wrench", (6,))] if wrench else []), *(Port(x, ()) for x in scalars)]


def rates(model: Model, wrench: bool = False) -> np.ufunc:
    """(q, qd, tau, [wrench]) -> (qdd, power): the right-hand side of the motion."""
    n = model.arm.n
    inputs = _ports(n, ("q", "qd", "tau"), wrench)
    outputs = [Port("qdd", (n,)), Port("power", ())]

    def build() -> Graph:
        f = _dynamics(model, wrench)
        return trace_function(
            inputs, outputs, lambda q, qd, tau, *w: f(q, qd, tau, w[0] if w else None)
        )

    return function(_recipe(model, wrench), "rates", inputs, outputs, build)


def rk4_step(model: Model, wrench: bool = False) -> np.ufunc:
    """(q, qd, tau at the start, middle and end, [wrench,] work, h) -> (q, qd, work)."""
    n = model.arm.n
    inputs = _ports(n, ("q", "qd", "tau0", "tau1", "tau2"), wrench, "work", "h")
    outputs = [Port("q_next", (n,)), Port("qd_next", (n,)), Port("work_next", ())]

    def build() -> Graph:
        f = _dynamics(model, wrench)

        def step(q: Any, qd: Any, t0: Any, t1: Any, t2: Any, *rest: Any) -> Any:
            w, work, h = rest[0], rest[-2][0], rest[-1][0]
            half = mul(0.5, h)
            a1, p1 = f(q, qd, t0, w)
            v2 = _along(qd, half, a1)
            a2, p2 = f(_along(q, half, qd), v2, t1, w)
            v3 = _along(qd, half, a2)
            a3, p3 = f(_along(q, half, v2), v3, t1, w)
            v4 = _along(qd, h, a3)
            a4, p4 = f(_along(q, h, v3), v4, t2, w)
            sixth = mul(1 / 6, h)

            def mean(*x: Any) -> list[Scalar]:
                return [add(add(a, d), mul(2, add(b, c))) for a, b, c, d in zip(*x, strict=True)]

            return (
                _along(q, sixth, mean(qd, v2, v3, v4)),
                _along(qd, sixth, mean(a1, a2, a3, a4)),
                _along([work], sixth, mean([p1], [p2], [p3], [p4])),
            )

        return trace_function(inputs, outputs, step)

    return function(_recipe(model, wrench), "rk4_step", inputs, outputs, build)


def ab4_step(model: Model, wrench: bool = False) -> np.ufunc:
    """(q, qd, tau, accelerations and velocities one, two, three steps before, [wrench,] their powers, work, h)
    -> (q, qd, work, qdd, power)."""
    n = model.arm.n
    names = ("q", "qd", "tau", "v1", "v2", "v3", "a1", "a2", "a3")
    inputs = _ports(n, names, wrench, "p1", "p2", "p3", "work", "h")
    outputs = [
        Port("q_next", (n,)),
        Port("qd_next", (n,)),
        Port("work_next", ()),
        Port("qdd", (n,)),
        Port("power", ()),
    ]

    def build() -> Graph:
        f = _dynamics(model, wrench)

        def step(q: Any, qd: Any, tau: Any, *rest: Any) -> Any:
            v, a, (*w, p1, p2, p3, work, h) = rest[:3], rest[3:6], rest[6:]
            now, power = f(q, qd, tau, w[0] if w else None)
            weights = [mul(k, h[0]) for k in AB4]

            def advance(x: Any, *past: Any) -> list[Scalar]:
                for k, rate in zip(weights, past, strict=True):
                    x = _along(x, k, rate)
                return list(x)

            return (
                advance(q, qd, *v),
                advance(qd, now, *a),
                advance(work, [power], p1, p2, p3),
                now,
                power,
            )

        return trace_function(inputs, outputs, step)

    return function(_recipe(model, wrench), "ab4_step", inputs, outputs, build)


def midpoint_iteration(model: Model) -> np.ufunc:
    """(q0, p0, q1, p1, tau, h) -> (better q1, better p1): one turn of the fixed-point iteration."""
    n = model.arm.n
    inputs = [*(Port(x, (n,)) for x in ("q0", "p0", "q1", "p1", "tau")), Port("h", ())]
    outputs = [Port("q_next", (n,)), Port("p_next", (n,))]
    options = Options(friction=model.friction)

    def build() -> Graph:
        chosen = choose(model.arm, "forward_dynamics_derivatives", model.wishes, options)
        chosen |= choose(model.arm, "bias", model.wishes, options)

        def turn(q0: Any, p0: Any, q1: Any, p1: Any, tau: Any, step: Any) -> Any:
            h = step[0]
            q, p = (
                [mul(0.5, add(a, b)) for a, b in zip(x, y, strict=True)]
                for x, y in ((q0, q1), (p0, p1))
            )
            still = Scene(model.arm, options, chosen, {"q": q})
            qd = still.factors.solve(p)
            scene = Scene(model.arm, options, chosen, {"q": q, "qd": qd})
            C = jacobian(scene.bias(), qd)  # twice the Christoffel matrix
            g = scene.inverse_dynamics(scene.still, scene.still)
            loss = scene.drive(qd, scene.still)
            force = [
                add(add(t, -x), add(-y, mul(0.5, _dot([row[i] for row in C], qd))))
                for i, (t, x, y) in enumerate(zip(tau, g, loss, strict=True))
            ]
            return _along(q0, h, qd), _along(p0, h, force)

        return trace_function(inputs, outputs, turn)

    return function(_recipe(model, False), "midpoint", inputs, outputs, build)


def _dot(x: Sequence[Scalar], y: Sequence[Scalar]) -> Scalar:
    total: Scalar = 0
    for a, b in zip(x, y, strict=True):
        total = add(total, mul(a, b))
    return total
