"""Steps of fixed length for any system, each compiled into one kernel: RK4 and Adams-Bashforth.

rk4       turney1980 section 7: the classical four-stage rule, inputs at start, middle and end of the step
ab4       lin1991: x' = x + h/24 (55 f - 59 f_1 + 37 f_2 - 9 f_3), one evaluation a step, started by RK4
"""

from __future__ import annotations

from collections.abc import Sequence

from ..algebra.vectors import Scalar, add, mul
from ..border.kinds import Maker
from ..graph.graph import Port
from ..machine.load.march import March
from .system import Rates, System, settled, vectors

AB4 = (55 / 24, -59 / 24, 37 / 24, -9 / 24)


def rk4_step(system: System) -> March:
    """(state, tau at start, middle and end, [push likewise,] h, ...) -> state after a step."""
    layout = system.layout
    pushes = ("wrench0", "wrench1", "wrench2") if layout.push else ()
    inputs = [*vectors(layout.size, "x"), *vectors(layout.inputs, "tau0", "tau1", "tau2")]
    inputs += [*vectors(layout.push, *pushes), Port("h", ())]

    def body() -> Maker:
        step = rk4_body(system.flow(), bool(layout.push))
        return lambda *given: settled(system, step(*given))

    return system.compiled("rk4_step", inputs, vectors(layout.size, "x_next"), body)


def rk4_body(f: Rates, wrench: bool = False) -> Maker:
    """One step of RK4 over scalars for a right-hand side f(x, tau, wrench, ...)."""

    def step(x: Scalar, t0: Scalar, t1: Scalar, t2: Scalar, *rest: Scalar) -> list[Scalar]:
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


def ab4_step(system: System) -> March:
    """(state, its rates one, two and three steps before, tau, [push,] h, ...) -> (state after a step, rate)."""
    layout = system.layout
    inputs = [*vectors(layout.size, "x", "f1", "f2", "f3"), *layout.input_ports, Port("h", ())]

    def body() -> Maker:
        step = ab4_body(system.flow(), bool(layout.push))

        def whole(*given: Scalar) -> Scalar:
            after, now = step(*given)
            return settled(system, after), now

        return whole

    return system.compiled("ab4_step", inputs, vectors(layout.size, "x_next", "rate"), body)


def ab4_body(f: Rates, wrench: bool = False) -> Maker:
    """One step of AB4 over scalars for a right-hand side f(x, tau, wrench, ...)."""

    def step(x: Scalar, f1: Scalar, f2: Scalar, f3: Scalar, tau: Scalar, *rest: Scalar) -> Scalar:
        push, rest = (rest[0], rest[1:]) if wrench else (None, rest)
        (h,), extras = rest[0], rest[1:]
        now = f(x, tau, push, *extras)
        after = x
        for weight, rate in zip(AB4, (now, f1, f2, f3), strict=True):
            after = along(after, mul(weight, h), rate)
        return after, now

    return step


def along(x: Sequence[Scalar], h: Scalar, v: Sequence[Scalar]) -> list[Scalar]:
    """x + h v."""
    return [add(a, mul(h, b)) for a, b in zip(x, v, strict=True)]
