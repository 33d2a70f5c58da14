"""An arm as a system: its compiled model, whether wrenches act on its tools, and its inputs for a whole run.

The quaternion of a free base is read at unit length wherever the motion is computed: an integrator's own state may
stray from it by what the integrator allows itself, and only its direction counts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from weakref import WeakKeyDictionary

import numpy as np

from ..algebra.vectors import ZERO, Scalar, Vec3, add, mul
from ..border.arguments import among
from ..border.kinds import Json, Outside
from ..border.words import shown
from ..dynamics.own import gathered_newton_euler
from ..dynamics.own.free_base import turning, unit
from ..dynamics.papers import newton_euler_lin1995
from ..dynamics.table import Formulation
from ..errors import KindError
from ..graph.graph import Port
from ..machine.load.march import March
from ..model.model import Model
from ..plan.choice import choose
from ..plan.evaluation import coordinate_rates
from ..plan.quantities import quantity_named
from ..plan.scene import Options, Scene, minus, plus
from .memory import Memory
from .system import Body, Layout, Linear, Rates, Switching, compiled

SPEEDS = {True: math.pi, False: 1.0}  # of joints without a velocity limit [rad/s, m/s]
FREE = [SPEEDS[False]] * 3 + [SPEEDS[True]] * 3  # of a free base

_KERNELS: WeakKeyDictionary[Model, dict[tuple[str, bool], March]] = WeakKeyDictionary()


_FORMULATED: WeakKeyDictionary[Model, dict[str, Model]] = WeakKeyDictionary()


def formulated(model: Outside, formulation: str | None) -> Model:
    """The model, or its arm's with another formulation of the forward dynamics, which may not apply to it."""
    if not isinstance(model, Model):
        raise KindError(f"model is {shown(model)}; give dynarm.compile(arm)")
    if formulation is None:
        return model
    known = _FORMULATED.setdefault(model, {})
    if not among(formulation, known):
        wishes = {**model.wishes, "forward_dynamics": formulation}
        gravity = "input" if model.gravity_input else None
        parameters = "inputs" if model.parameters_input else None
        known[formulation] = Model(model.arm, wishes, model.friction, gravity, parameters)
    return known[formulation]


@dataclass(frozen=True, eq=False)
class Plant:
    """What is set in motion: a model, whether wrenches act on its tools, and its inputs for a whole run."""

    model: Model
    wrench: bool = False
    gravity: np.ndarray | None = None  # (3,) or (N, 3), for a model compiled with gravity="input"
    values: np.ndarray | None = None  # (p,) or (N, p), for one with parameters="inputs"
    # (m,) or (N, m), what friction remembers at the start; None: nothing
    friction_state: np.ndarray | None = None

    @property
    def layout(self) -> Layout:
        arm = self.model.arm
        push = 6 * len(arm.all_tools) if self.wrench else 0
        return Layout(arm.nq, arm.nv, arm.nv, push, self.model.friction_state.size)

    @property
    def memory(self) -> Memory | None:
        """Deflections of elements, where the joints have any."""
        if not self.model.friction_state.size:
            return None
        return Memory(self.model.arm, self.friction_state)

    @property
    def options(self) -> Options:
        model = self.model
        memory = bool(model.friction_state.size)
        return Options(
            model.friction, model.gravity_input, self.wrench, model.parameters_input, memory
        )

    @property
    def extras(self) -> tuple[np.ndarray, ...]:
        """Gravity and values of the minimal parameters, where the kernels take them, in the order of their ports."""
        return tuple(x for x in (self.gravity, self.values) if x is not None)

    @property
    def extra_ports(self) -> list[Port]:
        ports = [Port("gravity", (3,))] if self.model.gravity_input else []
        if self.model.parameters_input:
            ports.append(Port("values", (self.model.minimal.count,)))
        return ports

    @property
    def keywords(self) -> Json:
        """The same as keywords of the model's methods."""
        both = {"gravity": self.gravity, "values": self.values}
        return {name: x for name, x in both.items() if x is not None}

    @property
    def speed_limits(self) -> list[float]:
        arm = self.model.arm
        own = [arm.joints[i] for i in arm.coupling.masters]
        free = FREE if arm.floating else []
        return [*free, *(j.velocity_limit or SPEEDS[j.revolute] for j in own)]

    @property
    def normalised(self) -> Callable[[Sequence[Scalar]], Sequence[Scalar]] | None:
        """Joint positions are any numbers; the quaternion of a free base has unit length."""
        return _normalised if self.model.arm.floating else None

    # ---- over scalars

    def scene(
        self, chosen: dict[str, Formulation], given: dict[str, Scalar], extras: Sequence[Scalar]
    ) -> Scene:
        """The model's arm with symbols for a state and for gravity and values."""
        named = {p.name: x for p, x in zip(self.extra_ports, extras, strict=True)}
        minimal = self.model.minimal if self.model.parameters_input else None
        given = {k: v for k, v in given.items() if v is not None}
        return Scene(self.model.arm, self.options, chosen, given | named, minimal)

    def chosen(self, *quantities: str) -> dict[str, Formulation]:
        """The formulations for some quantities."""
        model = self.model
        formulations: dict[str, Formulation] = {}
        minimal = model.minimal if model.parameters_input else None
        for name in quantities:
            formulations |= choose(model.arm, name, model.wishes, self.options, minimal)
        return formulations

    def placed(self, q: Sequence[Scalar]) -> Sequence[Scalar]:
        """Coordinates from which the dynamics may be computed."""
        return q if self.normalised is None else self.normalised(q)

    def moving(self, q: Sequence[Scalar], scene: Scene) -> list[Scalar]:
        """The rates of the coordinates q; a quaternion turns at the length that it has, and keeps it."""
        rates = coordinate_rates(scene)
        if not self.model.arm.floating:
            return rates
        return [*rates[:3], *turning(q[3:7], Vec3(*scene.qd[3:6])), *rates[7:]]

    def flow(self) -> Rates:
        """[rates of q, qdd, power of torques and wrench, power that friction takes] by the cheapest formulation."""
        chosen = self.chosen("forward_dynamics")
        compute = quantity_named("forward_dynamics").compute
        layout = self.layout

        def rates(x: Scalar, tau: Scalar, wrench: Scalar, *extras: Scalar) -> list[Scalar]:
            q = self.placed(x[layout.q])
            past = x[layout.past] or None
            given = {"q": q, "qd": x[layout.qd], "tau": tau, "wrench": wrench}
            scene = self.scene(chosen, given | {"friction_state": past}, extras)
            qdd, still = compute(scene), [0] * layout.memory
            return [*self.moving(x[layout.q], scene), *qdd, *still, *powers(scene, tau, qdd)]

        return rates

    def compiled(
        self, name: str, inputs: Sequence[Port], outputs: Sequence[Port], body: Body
    ) -> March:
        """The kernel of a function over scalars, gravity and values of the parameters being its last inputs."""
        known = _KERNELS.setdefault(self.model, {})
        recipe = (self.model.arm, self.options, sorted(self.model.wishes.items()))
        ports = [*inputs, *self.extra_ports], outputs
        return compiled(known, (name, self.wrench), recipe, ports, body)

    # ---- over arrays

    def mass_matrix(self, q: np.ndarray) -> np.ndarray:
        return self.model.mass_matrix(q, values=self.values)

    @property
    def linear(self) -> Callable[[np.ndarray, np.ndarray, np.ndarray], Linear] | None:
        """By the compiled derivatives, which know of no wrench; those of a free base are by its turns, not by q."""
        beside = self.wrench or self.model.arm.floating or self.layout.memory
        return None if beside else self._linear

    def _linear(self, q: np.ndarray, qd: np.ndarray, tau: np.ndarray) -> Linear:
        n = self.layout.speeds
        A, B = np.zeros((2 * n, 2 * n)), np.zeros((2 * n, n))
        A[:n, n:] = np.eye(n)
        parts = self.model.forward_dynamics_derivatives(q, qd, tau, **self.keywords)
        A[n:, :n], A[n:, n:], B[n:] = parts
        return Linear(A, B)

    def switching(self, slack: float) -> Switching | None:
        """Sharp Coulomb friction of the joints."""
        from .friction import Sliding

        return Sliding.of(self, slack)

    def sample(self, k: int) -> Plant:
        given = (self.gravity, self.values, self.friction_state)
        own = (None if x is None else (x[k] if x.ndim > 1 else x) for x in given)
        return Plant(self.model, self.wrench, *own)


def powers(scene: Scene, tau: Sequence[Scalar], qdd: Sequence[Scalar]) -> list[Scalar]:
    """The power [W] of torques and wrench, and the power that friction takes; what its springs hold is in that."""
    acting = plus(tau, pushed(scene)) if scene.options.wrench else tau
    return [dot(acting, scene.qd), dot(scene.braking(tau, qdd), scene.qd)]


def pushed(scene: Scene) -> list[Scalar]:
    """Joint forces J' wrench, of all wrenches together."""
    weightless = replace(scene.chain, gravity=ZERO)
    still = scene.spread(scene.still)
    if scene.chain.serial and scene.arm.tools is None:
        held = newton_euler_lin1995.inverse_dynamics(
            weightless, scene.pose, still, still, scene.wrench
        )
    else:
        held = gathered_newton_euler.inverse_dynamics(
            weightless, scene.pose, still, still, scene.wrenches
        )
    return minus(scene.still, scene.gathered(held))


def _normalised(q: Sequence[Scalar]) -> Sequence[Scalar]:
    """Coordinates of a free base and its joints, the quaternion at unit length."""
    return [*q[:3], *unit(q[3:7]), *q[7:]]


def dot(x: Sequence[Scalar], y: Sequence[Scalar]) -> Scalar:
    """x . y."""
    total: Scalar = 0
    for a, b in zip(x, y, strict=True):
        total = add(total, mul(a, b))
    return total
