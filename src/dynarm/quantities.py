"""What a Model can compute: each quantity's inputs, outputs, and how it is built from the formulations.

inverse_dynamics, bias, mass_matrix, mass_matrix_and_bias, coriolis_tensor   straight from the table
gravity            the bias at rest
coriolis_matrix    C = 1/2 d(bias)/d(qd): the Christoffel form, because bias is quadratic in qd
forward_dynamics   M qdd = tau - bias by L D L'
*_derivatives      automatic differentiation; those of forward dynamics through the implicit relation
                   d(qdd) = M^-1 (d(tau) - d(inverse dynamics) at qdd held)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from . import kinematics
from .algebra import ZERO, Mat3, Scalar, Vec3, add, mul, sub
from .drive import drive_forces
from .errors import InputError, KindError, UnknownName
from .factorisation import LDL, factorise
from .formulations import PAIRS, Formulation, applicable, formulation
from .graph import Count, Graph, Port
from .minimal import minimal_chain
from .robot.arm import Arm
from .robot.chain import Chain, Step, chain_of, pose, tidy
from .trace import fresh_symbols, jacobian, substitute, trace_function

Rows = list[list[Scalar]]


@dataclass(frozen=True, slots=True)
class Options:
    """What `compile` was asked for, besides the arm."""

    friction: bool = False
    gravity_input: bool = False
    wrench: bool = False


PLAIN = Options()


@dataclass(frozen=True, slots=True)
class Quantity:
    """A word of the Model: the state it needs, what it returns, and how the scene computes that."""

    name: str
    state: tuple[str, ...]
    outputs: Callable[[int], tuple[Port, ...]]
    compute: Callable[[Scene], Any]
    feels_gravity: bool = True
    takes_wrench: bool = False
    uses: tuple[str, ...] = ()  # quantities of the formulations' table that it is built from

    def inputs(self, n: int, options: Options) -> tuple[Port, ...]:
        """The input ports for an arm of n joints."""
        ports = [Port(name, (n,)) for name in self.state]
        if options.wrench and self.takes_wrench:
            ports.append(Port("wrench", (6,)))
        if options.gravity_input and self.feels_gravity:
            ports.append(Port("gravity", (3,)))
        return tuple(ports)


@dataclass(frozen=True)
class Scene:
    """An arm with symbols for its state, and the formulations chosen for it."""

    arm: Arm
    options: Options
    chosen: Mapping[str, Formulation]
    given: Mapping[str, Sequence[Scalar]] = field(default_factory=dict)

    def state(self, name: str) -> Sequence[Scalar]:
        return self.given[name]

    @property
    def q(self) -> Sequence[Scalar]:
        return self.given["q"]

    @property
    def qd(self) -> Sequence[Scalar]:
        return self.given["qd"]

    @cached_property
    def gravity(self) -> Vec3:
        """Gravitational acceleration in the user's base link."""
        return Vec3(*(self.given.get("gravity", self.arm.gravity)))

    @cached_property
    def chain(self) -> Chain:
        return chain_of(self.arm, self.gravity if "gravity" in self.given else None)

    @cached_property
    def pose(self) -> tuple[Step, ...]:
        return pose(self.chain, self.q)

    @cached_property
    def root(self) -> kinematics.Frame:
        return constant_frame(self.arm.frame0)

    @cached_property
    def tool(self) -> kinematics.Frame:
        return constant_frame(self.arm.tool_pose)

    @cached_property
    def wrench(self) -> tuple[Vec3, Vec3]:
        """Force and moment on the last link, in its frame and about its origin."""
        if "wrench" not in self.given:
            return ZERO, ZERO
        w = self.given["wrench"]
        R, p = self.tool
        force = R @ Vec3(*w[:3])
        return force, R @ Vec3(*w[3:]) + p.cross(force)

    def run(self, row: Formulation, *state: Any) -> Any:
        """A formulation's answer for this arm."""
        assert row.function is not None
        return row.function(body_of(self.arm, self.chain, row), self.pose, *state)

    def drive(self, qd: Sequence[Scalar], qdd: Sequence[Scalar]) -> list[Scalar]:
        """The drives' share of the joint forces, where the model has it."""
        if not self.options.friction:
            return self.still
        return drive_forces(self.arm.joints, qd, qdd)

    def inverse_dynamics(self, qd: Sequence[Scalar], qdd: Sequence[Scalar]) -> list[Scalar]:
        """Rigid-body joint forces by the chosen formulation."""
        return list(self.run(self.chosen["inverse_dynamics"], qd, qdd, self.wrench))

    def forces(self, qdd: Sequence[Scalar]) -> list[Scalar]:
        """Joint forces, the drives included, for an acceleration."""
        return _plus(self.inverse_dynamics(self.qd, qdd), self.drive(self.qd, qdd))

    def bias(self) -> list[Scalar]:
        """Rigid-body bias forces by the chosen formulation."""
        return list(self.run(self.chosen["bias"], self.qd))

    @cached_property
    def armature(self) -> list[Scalar]:
        return [j.armature if self.options.friction else 0 for j in self.arm.joints]

    def with_armature(self, M: Rows) -> Rows:
        return [
            [add(x, self.armature[i]) if i == j else x for j, x in enumerate(row)]
            for i, row in enumerate(M)
        ]

    @cached_property
    def mass_matrix(self) -> Rows:
        return self.with_armature(self.run(self.chosen["mass_matrix"]))

    @cached_property
    def factors(self) -> LDL:
        return factorise(self.mass_matrix)

    @property
    def still(self) -> list[Scalar]:
        return [0] * self.arm.n

    def solved_dynamics(self) -> list[Scalar]:
        """Accelerations by L D L' of the mass matrix."""
        return self.factors.solve(_minus(self.given["tau"], self.forces(self.still)))


def _plus(x: Sequence[Scalar], y: Sequence[Scalar]) -> list[Scalar]:
    return [add(a, b) for a, b in zip(x, y, strict=True)]


def _minus(x: Sequence[Scalar], y: Sequence[Scalar]) -> list[Scalar]:
    return [sub(a, b) for a, b in zip(x, y, strict=True)]


def _mass_matrix_and_bias(scene: Scene) -> tuple[Rows, list[Scalar]]:
    row = scene.chosen["mass_matrix_and_bias"]
    if row.parts:
        M, b = scene.run(row.parts[0]), scene.run(row.parts[1], scene.qd)
    else:
        M, b = scene.run(row, scene.qd)
    return scene.with_armature(M), b


def _forward_dynamics(scene: Scene) -> list[Scalar]:
    row = scene.chosen["forward_dynamics"]
    if row.parts:
        parts = dict(zip(PAIRS["forward_dynamics"], row.parts, strict=True))
        return replace(scene, chosen=parts).solved_dynamics()
    tau = _minus(scene.given["tau"], scene.drive(scene.qd, scene.still))
    return list(scene.run(row, scene.qd, tau, scene.wrench, scene.armature))


def body_of(arm: Arm, chain: Chain, row: Formulation) -> Any:
    """What a formulation wants to see of the arm: the chain, or what the minimal parameters make of it."""
    return minimal_chain(chain) if row.parameters == "minimal" else chain


def constant_frame(T: np.ndarray) -> kinematics.Frame:
    """A 4x4 pose as scalars, with what is 0 or 1 but for rounding made exact."""
    size = max(1.0, float(np.abs(T[:3, 3]).max()))
    rows = [Vec3(*(tidy(float(x)) for x in T[r, :3])) for r in range(3)]
    return Mat3(*rows), Vec3(*(tidy(float(x), size) for x in T[:3, 3]))


def _vector(name: str) -> Callable[[int], tuple[Port, ...]]:
    return lambda n: (Port(name, (n,)),)


def _matrix(*names: str) -> Callable[[int], tuple[Port, ...]]:
    return lambda n: tuple(Port(name, (n, n)) for name in names)


def _fixed(name: str, *shape: int) -> Callable[[int], tuple[Port, ...]]:
    return lambda n: (Port(name, shape),)


def _coriolis_matrix(scene: Scene) -> Rows:
    half = jacobian(scene.bias(), scene.qd)
    return [[mul(0.5, x) for x in row] for row in half]


def _homogeneous(scene: Scene) -> Rows:
    R, p = kinematics.forward_kinematics(scene.pose, scene.root, scene.tool)
    return [[*row, x] for row, x in zip(R.rows, p, strict=True)] + [[0, 0, 0, 1]]


def _jacobian(scene: Scene) -> Rows:
    columns = kinematics.jacobian(scene.chain, scene.pose, scene.root, scene.tool)
    return [list(row) for row in zip(*((*v, *w) for v, w in columns), strict=True)]


def _jacobian_derivative(scene: Scene) -> Rows:
    flat = [x for row in _jacobian(scene) for x in row]
    rates = jacobian(flat, scene.q)
    n = scene.arm.n
    dots = [_sum(mul(d, v) for d, v in zip(row, scene.qd, strict=True)) for row in rates]
    return [dots[r * n : (r + 1) * n] for r in range(6)]


def _sum(terms: Any) -> Scalar:
    result: Scalar = 0
    for term in terms:
        result = add(result, term)
    return result


def _kinetic_energy(scene: Scene) -> Scalar:
    energy = kinematics.kinetic_energy(scene.chain, scene.pose, scene.qd)
    if scene.options.friction:
        for joint, v in zip(scene.arm.joints, scene.qd, strict=True):
            energy = add(energy, mul(joint.armature / 2, mul(v, v)))
    return energy


def _inverse_dynamics_derivatives(scene: Scene) -> tuple[Rows, Rows, Rows]:
    tau = scene.forces(scene.given["qdd"])
    return jacobian(tau, scene.q), jacobian(tau, scene.qd), scene.mass_matrix


def _forward_dynamics_derivatives(scene: Scene) -> tuple[Rows, Rows, Rows]:
    n = scene.arm.n
    held = fresh_symbols(scene.q[0], 1, n)
    tau = scene.forces(held)
    partial = [*jacobian(tau, scene.q), *jacobian(tau, scene.qd)]
    flat = substitute([x for row in partial for x in row], held, scene.solved_dynamics())
    rows = [flat[k * n : (k + 1) * n] for k in range(2 * n)]
    dq, dqd = rows[:n], rows[n:]
    unit = [[1 if i == j else 0 for i in range(n)] for j in range(n)]
    solved = [
        [scene.factors.solve([-row[j] for row in block]) for j in range(n)] for block in (dq, dqd)
    ]
    inverse = [scene.factors.solve(e) for e in unit]
    a, b = ([list(row) for row in zip(*block, strict=True)] for block in solved)
    symmetric = [[inverse[min(i, j)][max(i, j)] for j in range(n)] for i in range(n)]
    return a, b, symmetric


QUANTITIES: dict[str, Quantity] = {
    q.name: q
    for q in (
        Quantity(
            "inverse_dynamics",
            ("q", "qd", "qdd"),
            _vector("tau"),
            lambda s: s.forces(s.given["qdd"]),
            takes_wrench=True,
            uses=("inverse_dynamics",),
        ),
        Quantity(
            "forward_dynamics",
            ("q", "qd", "tau"),
            _vector("qdd"),
            _forward_dynamics,
            takes_wrench=True,
            uses=("forward_dynamics",),
        ),
        Quantity(
            "mass_matrix",
            ("q",),
            _matrix("M"),
            lambda s: s.mass_matrix,
            feels_gravity=False,
            uses=("mass_matrix",),
        ),
        Quantity("bias", ("q", "qd"), _vector("b"), Scene.bias, uses=("bias",)),
        Quantity(
            "gravity",
            ("q",),
            _vector("g"),
            lambda s: s.inverse_dynamics(s.still, s.still),
            uses=("inverse_dynamics",),
        ),
        Quantity(
            "coriolis_matrix",
            ("q", "qd"),
            _matrix("C"),
            _coriolis_matrix,
            feels_gravity=False,
            uses=("bias",),
        ),
        Quantity(
            "coriolis_tensor",
            ("q",),
            lambda n: (Port("C", (n, n, n)),),
            lambda s: s.run(s.chosen["coriolis_tensor"]),
            feels_gravity=False,
            uses=("coriolis_tensor",),
        ),
        Quantity(
            "mass_matrix_and_bias",
            ("q", "qd"),
            lambda n: (Port("M", (n, n)), Port("b", (n,))),
            _mass_matrix_and_bias,
            uses=("mass_matrix_and_bias",),
        ),
        Quantity("kinetic_energy", ("q", "qd"), _fixed("T"), _kinetic_energy, feels_gravity=False),
        Quantity(
            "potential_energy",
            ("q",),
            _fixed("U"),
            lambda s: kinematics.potential_energy(s.chain, s.pose, s.root, s.gravity),
        ),
        Quantity(
            "forward_kinematics", ("q",), _fixed("T", 4, 4), _homogeneous, feels_gravity=False
        ),
        Quantity(
            "jacobian", ("q",), lambda n: (Port("J", (6, n)),), _jacobian, feels_gravity=False
        ),
        Quantity(
            "jacobian_derivative",
            ("q", "qd"),
            lambda n: (Port("Jd", (6, n)),),
            _jacobian_derivative,
            feels_gravity=False,
        ),
        Quantity(
            "inverse_dynamics_derivatives",
            ("q", "qd", "qdd"),
            _matrix("dtau_dq", "dtau_dqd", "dtau_dqdd"),
            _inverse_dynamics_derivatives,
            uses=("inverse_dynamics", "mass_matrix"),
        ),
        Quantity(
            "forward_dynamics_derivatives",
            ("q", "qd", "tau"),
            _matrix("dqdd_dq", "dqdd_dqd", "dqdd_dtau"),
            _forward_dynamics_derivatives,
            uses=("inverse_dynamics", "mass_matrix"),
        ),
    )
}


def graph(
    arm: Arm,
    quantity: str,
    chosen: Mapping[str, Formulation],
    options: Options = PLAIN,
    share: bool = True,
) -> Graph:
    """The graph of a quantity, computed with the chosen formulations."""
    word = quantity_named(quantity)
    inputs = word.inputs(arm.n, options)

    def compute(*given: Sequence[Scalar]) -> Any:
        named = {port.name: values for port, values in zip(inputs, given, strict=True)}
        return word.compute(Scene(arm, options, chosen, named))

    return trace_function(inputs, word.outputs(arm.n), compute, share)


def quantity_named(name: str) -> Quantity:
    """The quantity of that name, or an error with the nearest names."""
    if name not in QUANTITIES:
        raise UnknownName("quantity", name, QUANTITIES)
    return QUANTITIES[name]


def choose(
    arm: Arm, quantity: str, wishes: Mapping[str, str], options: Options = PLAIN
) -> dict[str, Formulation]:
    """The formulation for each table quantity that a quantity is built from: the wished one, else the cheapest."""
    found = {}
    for used in quantity_named(quantity).uses:
        parts = PAIRS.get(used, ())
        if used in wishes:
            found[used] = formulation(used, wishes[used], chain_of(arm))
        elif any(part in wishes for part in parts):
            named = [choose(arm, part, wishes, options)[part].name for part in parts]
            found[used] = formulation(used, "+".join(named), chain_of(arm))
        else:
            found[used] = cheapest(arm, used, options)
    return found


def cheapest(arm: Arm, quantity: str, options: Options = PLAIN) -> Formulation:
    """The formulation with the fewest multiplications and additions for this very robot."""
    rows = applicable(quantity, chain_of(arm))
    if quantity in PAIRS:
        pair = "+".join(cheapest(arm, part, options).name for part in PAIRS[quantity])
        rows.append(formulation(quantity, pair))
    bare = replace(options, friction=False)
    totals = [graph(arm, quantity, {quantity: row}, bare).count().total for row in rows]
    return rows[totals.index(min(totals))]


@dataclass(frozen=True, slots=True)
class Counted(Count):
    """Operations of the simplified graph, and of the formulas as they were written."""

    as_written: Count = Count(0, 0)


def count(arm: Arm, quantity: str, formulation: str | None = None) -> Counted:
    """Operations that a quantity of this arm costs, by the given formulation or the cheapest one.

    Multiplications, additions, divisions, square roots, sin/cos pairs and the critical path of the graph after
    simplification, and in `.as_written` the same before.
    """
    if not isinstance(arm, Arm):
        raise KindError(f"arm is {arm!r}; give a dynarm.Arm, for example dynarm.load('puma560')")
    uses = quantity_named(quantity).uses
    if formulation is not None and quantity not in uses:
        raise InputError(
            f"{quantity} has no formulations of its own; it is built from {', '.join(uses) or 'none'}"
        )
    wishes = {quantity: formulation} if formulation is not None else {}
    chosen = choose(arm, quantity, wishes)
    simple = graph(arm, quantity, chosen).count()
    written = graph(arm, quantity, chosen, share=False).count()
    return Counted(**{f.name: getattr(simple, f.name) for f in fields(Count)}, as_written=written)
