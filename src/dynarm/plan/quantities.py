"""What a Model can compute: each quantity's inputs, outputs, and how it is built from the formulations.

inverse_dynamics, bias, mass_matrix, mass_matrix_and_bias, coriolis_tensor   straight from the table
gravity            inverse dynamics at rest, or a formula of its own
coriolis_matrix    C = 1/2 d(bias)/d(qd): the Christoffel form, because bias is quadratic in qd
forward_dynamics   M qdd = tau - bias by L D L', or a recursion of its own
*_derivatives      by composite bodies, or by automatic differentiation of a formulation that was asked for; those of
                   forward dynamics through the implicit relation
                   d(qdd) = M^-1 (d(tau) - d(inverse dynamics) at qdd held)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from ..algebra.vectors import Nested
from ..border.trial import on_trial
from ..dynamics import kinematics
from ..errors import UnknownName
from ..graph.graph import Port
from . import evaluation, slopes
from .scene import Options, Scene
from .sizes import Sizes


@dataclass(frozen=True, slots=True)
class Quantity:
    """A word of the Model: the state it needs, what it returns, and how the scene computes that."""

    name: str
    state: tuple[str, ...]
    outputs: Callable[[Sizes], tuple[Port, ...]]
    compute: Callable[[Scene], Nested]
    feels_gravity: bool = True
    inertial: bool = True  # can be computed from the minimal parameters, and depends on them
    takes_wrench: bool = False
    feels_friction: bool = False  # friction is a part of it, and with it the friction state
    solves: bool = False  # needs a mass matrix that is regular somewhere
    uses: tuple[str, ...] = ()  # quantities of the formulations' table that it is built from

    def inputs(self, sizes: Sizes, options: Options) -> tuple[Port, ...]:
        """The input ports for an arm of these sizes."""
        ports = [sizes.state(name) for name in self.state]
        if options.wrench and self.takes_wrench:
            ports.append(Port("wrench", (*sizes.tool_axis, 6)))
        if options.memory and self.feels_friction:
            ports.append(Port("friction_state", (sizes.memory,)))
        if options.gravity_input and self.feels_gravity:
            ports.append(Port("gravity", (3,)))
        if options.values_input and self.inertial:
            ports.append(Port("values", (sizes.p,)))
        return tuple(ports)

    def needs_minimal(self, options: Options) -> bool:
        """Whether its ports or its formulas ask for the minimal parameters."""
        return self.name == "regressor" or (options.values_input and self.inertial)


Outputs = Callable[[Sizes], tuple[Port, ...]]


def _vector(name: str) -> Outputs:
    return lambda of: (Port(name, (of.nv,)),)


def _matrix(*names: str) -> Outputs:
    return lambda of: tuple(Port(name, (of.nv, of.nv)) for name in names)


def _fixed(name: str, *shape: int) -> Outputs:
    return lambda of: (Port(name, shape),)


def _by_speed(name: str, rows: int, tools: bool = True) -> Outputs:
    return lambda of: (Port(name, (*(of.tool_axis if tools else ()), rows, of.nv)),)


QUANTITIES: dict[str, Quantity] = {
    q.name: q
    for q in (
        Quantity(
            "inverse_dynamics",
            ("q", "qd", "qdd"),
            _vector("tau"),
            lambda s: s.forces(s.given["qdd"]),
            takes_wrench=True,
            feels_friction=True,
            uses=("inverse_dynamics",),
        ),
        Quantity(
            "forward_dynamics",
            ("q", "qd", "tau"),
            _vector("qdd"),
            evaluation.forward_dynamics,
            takes_wrench=True,
            feels_friction=True,
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
        Quantity(
            "mass_matrix_packed",
            ("q",),
            lambda of: (Port("M", (of.packed,)),),
            evaluation.packed,
            feels_gravity=False,
            uses=("mass_matrix",),
        ),
        Quantity("bias", ("q", "qd"), _vector("b"), Scene.bias, uses=("bias",)),
        Quantity(
            "gravity",
            ("q",),
            _vector("g"),
            evaluation.gravity,
            uses=("gravity",),
        ),
        Quantity(
            "coriolis_matrix",
            ("q", "qd"),
            _matrix("C"),
            evaluation.coriolis_matrix,
            feels_gravity=False,
            uses=("coriolis_matrix",),
        ),
        Quantity(
            "coriolis_tensor",
            ("q",),
            lambda of: (Port("C", (of.nv,) * 3),),
            evaluation.coriolis_tensor,
            feels_gravity=False,
            uses=("coriolis_tensor",),
        ),
        Quantity(
            "mass_matrix_and_bias",
            ("q", "qd"),
            lambda of: (Port("M", (of.nv, of.nv)), Port("b", (of.nv,))),
            evaluation.mass_matrix_and_bias,
            uses=("mass_matrix_and_bias",),
        ),
        Quantity(
            "regressor",
            ("q", "qd", "qdd"),
            lambda of: (Port("Y", (of.nv, of.p)),),
            evaluation.regressor,
            inertial=False,
        ),
        Quantity(
            "kinetic_energy",
            ("q", "qd"),
            _fixed("T"),
            evaluation.kinetic_energy,
            feels_gravity=False,
        ),
        Quantity(
            "potential_energy",
            ("q",),
            _fixed("U"),
            lambda s: kinematics.potential_energy(s.chain, s.pose, s.root, s.gravity),
        ),
        Quantity(
            "center_of_mass",
            ("q",),
            _fixed("c", 3),
            lambda s: list(evaluation.center_of_mass(s)),
            feels_gravity=False,
            inertial=False,
        ),
        Quantity(
            "center_of_mass_jacobian",
            ("q",),
            _by_speed("J", 3, tools=False),
            evaluation.center_of_mass_jacobian,
            feels_gravity=False,
            inertial=False,
        ),
        Quantity(
            "momentum",
            ("q", "qd"),
            _fixed("h", 6),
            evaluation.momentum,
            feels_gravity=False,
            inertial=False,
        ),
        Quantity(
            "momentum_matrix",
            ("q",),
            _by_speed("A", 6, tools=False),
            evaluation.momentum_matrix,
            feels_gravity=False,
            inertial=False,
        ),
        Quantity(
            "momentum_rate",
            ("q", "qd", "qdd"),
            _fixed("hd", 6),
            evaluation.momentum_rate,
            feels_gravity=False,
            inertial=False,
        ),
        Quantity(
            "forward_kinematics",
            ("q",),
            lambda of: (Port("T", (*of.tool_axis, 4, 4)),),
            evaluation.tool_pose,
            feels_gravity=False,
            inertial=False,
        ),
        Quantity(
            "jacobian",
            ("q",),
            _by_speed("J", 6),
            evaluation.tool_jacobian,
            feels_gravity=False,
            inertial=False,
        ),
        Quantity(
            "jacobian_derivative",
            ("q", "qd"),
            _by_speed("Jd", 6),
            evaluation.jacobian_derivative,
            feels_gravity=False,
            inertial=False,
        ),
        Quantity(
            "inverse_dynamics_derivatives",
            ("q", "qd", "qdd"),
            _matrix("dtau_dq", "dtau_dqd", "dtau_dqdd"),
            slopes.inverse_dynamics_derivatives,
            feels_friction=True,
            uses=("inverse_dynamics_derivatives",),
        ),
        Quantity(
            "inverse_dynamics_derivatives_packed",
            ("q", "qd", "qdd"),
            lambda of: (
                Port("dtau_dq", (of.slopes,)),
                Port("dtau_dqd", (of.slopes,)),
                Port("M", (of.packed,)),
            ),
            slopes.packed_derivatives,
            feels_friction=True,
            uses=("inverse_dynamics_derivatives",),
        ),
        Quantity(
            "forward_dynamics_derivatives",
            ("q", "qd", "tau"),
            _matrix("dqdd_dq", "dqdd_dqd", "dqdd_dtau"),
            slopes.forward_dynamics_derivatives,
            solves=True,
            feels_friction=True,
            uses=("inverse_dynamics_derivatives", "inverse_dynamics"),
        ),
    )
}


def quantity_named(name: str) -> Quantity:
    """The quantity of that name, or an error with the nearest names."""
    if not isinstance(name, str) or name not in QUANTITIES:
        raise UnknownName("quantity", name, QUANTITIES)
    return QUANTITIES[name]


@contextmanager
def extended(*quantities: Quantity) -> Iterator[None]:
    """Inside, these quantities stand in the table as well: how one is tried before it gets its row.

    Machine code is kept by a quantity's name: one whose formula changes while it is being tried wants another name.
    """
    known = [q.name for q in quantities if q.name in QUANTITIES]
    if known:
        raise ValueError(f"quantity {known[0]!r} stands in the table already")
    with on_trial(QUANTITIES, {q.name: q for q in quantities}):
        yield
