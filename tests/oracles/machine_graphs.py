"""Graphs to compile, written by a tracer of its own, and what a program computes by exact arithmetic."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import numpy as np

from dynarm.dynamics.papers.newton_euler_lin1995 import inverse_dynamics
from dynarm.graph.graph import Builder, Graph, Port, Ref
from dynarm.machine.lower.program import Call, Program
from dynarm.robot.arm import Arm, Joint
from dynarm.robot.frames.chain import chain_of, pose


class Scribe:
    """A scalar that writes what is done to it into a builder."""

    def __init__(self, builder: Builder, ref: Ref):
        self.builder, self.ref = builder, ref

    def _of(self, other: object) -> Ref:
        return other.ref if isinstance(other, Scribe) else self.builder.const(float(other))

    def __add__(self, o):
        return Scribe(self.builder, self.builder.add(self.ref, self._of(o)))

    def __sub__(self, o):
        return Scribe(self.builder, self.builder.sub(self.ref, self._of(o)))

    def __rsub__(self, o):
        return Scribe(self.builder, self.builder.sub(self._of(o), self.ref))

    def __mul__(self, o):
        return Scribe(self.builder, self.builder.mul(self.ref, self._of(o)))

    def __neg__(self):
        return Scribe(self.builder, -self.ref)

    __radd__, __rmul__ = __add__, __mul__

    def sin(self):
        return Scribe(self.builder, self.builder.unary("sin", self.ref))

    def cos(self):
        return Scribe(self.builder, self.builder.unary("cos", self.ref))


def industrial_arm(n: int, seed: int = 0) -> Arm:
    """n revolute joints at right angles with random offsets and inertias."""
    rng = np.random.default_rng(seed)
    joints = []
    for i in range(n):
        shape = rng.normal(size=(3, 3)) * 0.1
        joints.append(
            Joint(
                a=rng.uniform(-0.3, 0.3) * (i > 0 and rng.random() < 0.5),
                alpha=(0, -1, 1, 1, -1, 1, 1)[i % 7] * math.pi / 2,
                d=rng.uniform(-0.3, 0.3) * (i > 0 and rng.random() < 0.5),
                mass=rng.uniform(0.5, 5),
                com=tuple(rng.uniform(-0.2, 0.2, 3)),
                inertia=(shape @ shape.T + 0.01 * np.eye(3)).tolist(),
            )
        )
    return Arm(joints=tuple(joints))


def newton_euler_graph(n: int = 7, seed: int = 0) -> Graph:
    """Inverse dynamics of an arm of n joints: tau from q, qd, qdd."""
    build, chain = Builder(), chain_of(industrial_arm(n, seed))
    q, qd, qdd = ([Scribe(build, build.input(k, i)) for i in range(n)] for k in range(3))
    tau = inverse_dynamics(chain, pose(chain, q), qd, qdd)
    inputs = [Port(name, (n,)) for name in ("q", "qd", "qdd")]
    return build.finish(inputs, [Port("tau", (n,))], [[t.ref for t in tau]])


ARITHMETIC = ("add", "sub", "mul", "mul", "add", "sub")


def random_graph(
    seed: int,
    size: int = 60,
    inputs: tuple[tuple[int, ...], ...] = ((3,), (2,)),
    outputs: tuple[tuple[int, ...], ...] = ((4,), (2, 2)),
    ops: tuple[str, ...] = (*ARITHMETIC, "div", "sqrt", "sin", "cos", "tanh", "sign", "abs"),
) -> Graph:
    """A graph of random operations; outputs repeat each other, are negated, constant, or inputs themselves."""
    rng, build = random.Random(seed), Builder()
    ports = [Port(f"x{k}", shape) for k, shape in enumerate(inputs)]
    refs = [build.input(k, e) for k, port in enumerate(ports) for e in range(port.size)]
    one = build.const(1.0)
    fresh = list(refs)
    for _ in range(size):
        op = rng.choice(ops)
        x, y = (rng.choice(fresh if rng.random() < 0.7 else refs) for _ in range(2))
        if rng.random() < 0.2:
            y = build.const(round(rng.uniform(-2, 2), 3))
        if rng.random() < 0.3:
            x = -x
        if op == "div":  # by something between 1 and 2, so that values stay of one size
            found = build.div(x, build.add(one, build.unary("abs", build.unary("sin", y))))
        elif op == "sqrt":
            found = build.unary("sqrt", build.unary("abs", x))
        elif op in ("add", "sub", "mul"):
            found = getattr(build, op)(x, y)
        else:
            found = build.unary(op, x)
        refs.append(found)
        fresh = [*fresh[-12:], found]
    results = []
    wanted = [Port(f"y{k}", shape) for k, shape in enumerate(outputs)]
    for port in wanted:
        chosen = [rng.choice(refs[-20:]) for _ in range(port.size)]
        if port.size > 1:
            chosen[0] = -chosen[-1] if rng.random() < 0.5 else chosen[-1]
        if port.size > 2:
            chosen[1] = build.const(rng.choice((0.0, 2.5, -1.0)))
        if port.size > 3:
            chosen[2] = rng.choice(refs[: len(inputs)])
        results.append(chosen)
    return build.finish(ports, wanted, results)


def samples(graph: Graph, count: int, seed: int = 0, scale: float = 1.0) -> list[np.ndarray]:
    """Random inputs of a graph, one C-order array a port."""
    rng = np.random.default_rng(seed)
    return [rng.uniform(-scale, scale, (count, *port.shape)) for port in graph.inputs]


def as_tuple(found: object) -> tuple[np.ndarray, ...]:
    return found if isinstance(found, tuple) else (found,)


def run_program(program: Program, sample: list[np.ndarray]) -> list[float]:
    """The slots after a program without calls, each operation rounded once from its exact value."""
    slots: list[float] = [math.nan] * program.slots
    for first, values in zip(program.inputs, sample, strict=True):
        slots[first : first + values.size] = [float(v) for v in values.ravel()]
    for slot, number in program.fixed:
        slots[slot] = number
    for step in program.steps:
        assert not isinstance(step, Call)
        value = dict(program.constants)
        for op, dest, args, minus in step:
            if op == "load":
                value[dest] = slots[args[0]]
            elif op == "store":
                slots[args[0]] = -value[dest] if minus[0] else value[dest]
            else:
                value[dest] = _rounded(op, [value[a] for a in args], minus)
    return slots


def _rounded(op: str, x: list[float], minus: tuple[bool, bool]) -> float:
    if op == "fma":
        product = Fraction(x[0]) * Fraction(x[1])
        total = (-product if minus[0] else product) + (
            -Fraction(x[2]) if minus[1] else Fraction(x[2])
        )
        return float(total)
    if op == "add":
        return x[0] + x[1]
    if op == "sub":
        return x[0] - x[1]
    if op == "mul":
        return x[0] * x[1]
    return x[0] / x[1]
