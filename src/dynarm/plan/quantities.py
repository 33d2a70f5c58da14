"""What a Model can compute: each quantity's inputs, outputs, and how it is built from the formulations.

inverse_dynamics, bias, mass_matrix, mass_matrix_and_bias, coriolis_tensor   straight from the table
gravity            the bias at rest
coriolis_matrix    C = 1/2 d(bias)/d(qd): the Christoffel form, because bias is quadratic in qd
forward_dynamics   M qdd = tau - bias by L D L'
*_derivatives      by composite bodies, or by automatic differentiation of a formulation that was asked for; those of
                   forward dynamics through the implicit relation
                   d(qdd) = M^-1 (d(tau) - d(inverse dynamics) at qdd held)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..algebra.vectors import Scalar, add, mul
from ..dynamics import kinematics
from ..dynamics.own import composite_derivatives
from ..dynamics.table import PARTS, Formulation, formulation
from ..errors import UnknownName
from ..graph.graph import Port
from ..graph.trace import fresh_symbols, jacobian, substitute
from .scene import Options, Rows, Scene, minus, plus


@dataclass(frozen=True, slots=True)
class Quantity:
    """A word of the Model: the state it needs, what it returns, and how the scene computes that."""

    name: str
    state: tuple[str, ...]
    outputs: Callable[[int, int], tuple[Port, ...]]  # of n joints and p minimal parameters
    compute: Callable[[Scene], Any]
    feels_gravity: bool = True
    inertial: bool = True  # depends on the links' inertial parameters
    takes_wrench: bool = False
    solves: bool = False  # needs a mass matrix that is regular somewhere
    uses: tuple[str, ...] = ()  # quantities of the formulations' table that it is built from

    def inputs(self, n: int, options: Options, p: int = 0) -> tuple[Port, ...]:
        """The input ports for an arm of n joints and p minimal parameters."""
        ports = [Port(name, (n,)) for name in self.state]
        if options.wrench and self.takes_wrench:
            ports.append(Port("wrench", (6,)))
        if options.gravity_input and self.feels_gravity:
            ports.append(Port("gravity", (3,)))
        if options.values_input and self.inertial:
            ports.append(Port("values", (p,)))
        return tuple(ports)

    def needs_minimal(self, options: Options) -> bool:
        """Whether its ports or its formulas ask for the minimal parameters."""
        return self.name == "regressor" or (options.values_input and self.inertial)


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
        return _by_parts(scene, "forward_dynamics").solved_dynamics()
    tau = minus(scene.given["tau"], scene.drive(scene.qd, scene.still))
    return list(scene.run(row, scene.qd, tau, scene.wrench, scene.armature))


def _by_parts(scene: Scene, quantity: str) -> Scene:
    """The scene with the formulations that a quantity is put together from."""
    parts = dict(zip(PARTS[quantity], scene.chosen[quantity].parts, strict=True))
    return replace(scene, chosen={**scene.chosen, **parts})


def _vector(name: str) -> Callable[[int, int], tuple[Port, ...]]:
    return lambda n, p: (Port(name, (n,)),)


def _matrix(*names: str) -> Callable[[int, int], tuple[Port, ...]]:
    return lambda n, p: tuple(Port(name, (n, n)) for name in names)


def _fixed(name: str, *shape: int) -> Callable[[int, int], tuple[Port, ...]]:
    return lambda n, p: (Port(name, shape),)


def _coriolis_matrix(scene: Scene) -> Rows:
    row = scene.chosen["coriolis_matrix"]
    if not row.parts:
        return scene.run(row, scene.qd)
    twice = jacobian(_by_parts(scene, "coriolis_matrix").bias(), scene.qd)
    return [[mul(0.5, x) for x in row] for row in twice]


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
    return _differentiated(scene, scene.given["qdd"])


def _differentiated(scene: Scene, qdd: Sequence[Scalar]) -> tuple[Rows, Rows, Rows]:
    """Derivatives of the joint forces, the drives included, by q, qd and qdd."""
    row = scene.chosen["inverse_dynamics_derivatives"]
    if row.parts:
        return _automatically(_by_parts(scene, row.quantity), qdd)
    dq, dqd, M = scene.run(row, scene.qd, qdd)
    damping = jacobian(scene.drive(scene.qd, scene.still), scene.qd)
    return dq, [plus(a, b) for a, b in zip(dqd, damping, strict=True)], scene.with_armature(M)


def _automatically(scene: Scene, qdd: Sequence[Scalar]) -> tuple[Rows, Rows, Rows]:
    """The same by automatic differentiation, with qdd held."""
    n = scene.arm.n
    held = fresh_symbols(scene.q[0], 1, n)
    tau = scene.forces(held)
    partial = [*jacobian(tau, scene.q), *jacobian(tau, scene.qd)]
    flat = substitute([x for row in partial for x in row], held, qdd)
    rows = [flat[k * n : (k + 1) * n] for k in range(2 * n)]
    return rows[:n], rows[n:], scene.mass_matrix


def _forward_dynamics_derivatives(scene: Scene) -> tuple[Rows, Rows, Rows]:
    n = scene.arm.n
    row = scene.chosen["inverse_dynamics_derivatives"]
    shared = _by_parts(scene, row.quantity) if row.parts else _sharing(scene)
    dq, dqd, _ = _differentiated(scene, shared.solved_dynamics())
    unit = [[1 if i == j else 0 for i in range(n)] for j in range(n)]
    solved = [
        [shared.factors.solve([-row[j] for row in block]) for j in range(n)] for block in (dq, dqd)
    ]
    inverse = [shared.factors.solve(e) for e in unit]
    a, b = ([list(row) for row in zip(*block, strict=True)] for block in solved)
    symmetric = [[inverse[min(i, j)][max(i, j)] for j in range(n)] for i in range(n)]
    return a, b, symmetric


def _sharing(scene: Scene) -> Scene:
    """The scene with the mass matrix that comes with the derivatives."""
    row = Formulation("mass_matrix", "composite", "dynarm", composite_derivatives.mass_matrix)
    return replace(scene, chosen={**scene.chosen, "mass_matrix": row})


def _regressor(scene: Scene) -> Rows:
    """Inverse dynamics from the minimal parameters, which it is linear in, by each of them."""
    assert scene.minimal is not None
    values = fresh_symbols(scene.q[0], 2, scene.minimal.count)
    row = formulation("inverse_dynamics", "minimal_newton_euler")
    fed = replace(scene, given={**scene.given, "values": values}, chosen={"inverse_dynamics": row})
    return jacobian(fed.inverse_dynamics(scene.qd, scene.given["qdd"]), values)


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
            solves=True,
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
            uses=("coriolis_matrix",),
        ),
        Quantity(
            "coriolis_tensor",
            ("q",),
            lambda n, p: (Port("C", (n, n, n)),),
            lambda s: s.run(s.chosen["coriolis_tensor"]),
            feels_gravity=False,
            uses=("coriolis_tensor",),
        ),
        Quantity(
            "mass_matrix_and_bias",
            ("q", "qd"),
            lambda n, p: (Port("M", (n, n)), Port("b", (n,))),
            _mass_matrix_and_bias,
            uses=("mass_matrix_and_bias",),
        ),
        Quantity(
            "regressor",
            ("q", "qd", "qdd"),
            lambda n, p: (Port("Y", (n, p)),),
            _regressor,
            inertial=False,
        ),
        Quantity("kinetic_energy", ("q", "qd"), _fixed("T"), _kinetic_energy, feels_gravity=False),
        Quantity(
            "potential_energy",
            ("q",),
            _fixed("U"),
            lambda s: kinematics.potential_energy(s.chain, s.pose, s.root, s.gravity),
        ),
        Quantity(
            "forward_kinematics",
            ("q",),
            _fixed("T", 4, 4),
            _homogeneous,
            feels_gravity=False,
            inertial=False,
        ),
        Quantity(
            "jacobian",
            ("q",),
            lambda n, p: (Port("J", (6, n)),),
            _jacobian,
            feels_gravity=False,
            inertial=False,
        ),
        Quantity(
            "jacobian_derivative",
            ("q", "qd"),
            lambda n, p: (Port("Jd", (6, n)),),
            _jacobian_derivative,
            feels_gravity=False,
            inertial=False,
        ),
        Quantity(
            "inverse_dynamics_derivatives",
            ("q", "qd", "qdd"),
            _matrix("dtau_dq", "dtau_dqd", "dtau_dqdd"),
            _inverse_dynamics_derivatives,
            uses=("inverse_dynamics_derivatives",),
        ),
        Quantity(
            "forward_dynamics_derivatives",
            ("q", "qd", "tau"),
            _matrix("dqdd_dq", "dqdd_dqd", "dqdd_dtau"),
            _forward_dynamics_derivatives,
            solves=True,
            uses=("inverse_dynamics_derivatives", "inverse_dynamics"),
        ),
    )
}


def quantity_named(name: str) -> Quantity:
    """The quantity of that name, or an error with the nearest names."""
    if not isinstance(name, str) or name not in QUANTITIES:
        raise UnknownName("quantity", name, QUANTITIES)
    return QUANTITIES[name]
