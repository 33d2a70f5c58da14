"""A compiled model with a user's own columns: what the fit predicts, the model predicts, or it refuses to answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..algebra.vectors import Nested, Scalar, add, mul
from ..border.familiar import unknown_attribute
from ..border.kinds import Foreign, Given, Json, Numbers, Outside, Pickled
from ..errors import InputError
from ..graph.graph import Graph
from ..graph.trace import fresh_symbols, jacobian, trace_function
from ..model.friction_state import FUNCTIONS as STATE_FUNCTIONS
from ..model.model import Model
from ..plan.choice import choose
from ..plan.quantities import quantity_named
from ..plan.scene import Options, Scene, plus
from ..plan.sizes import sizes_of
from ..robot.arm import Arm
from .own_columns import Column

UNTOUCHED = ("forward_kinematics", "jacobian", "jacobian_derivative")  # no force is part of them
_ASIDE = (
    "friction",
    "friction_state",
    "wishes",
    "gravity_input",
    "parameters_input",
    "formulation",
)
TRACED = ("inverse_dynamics", "bias", "gravity", "mass_matrix", "mass_matrix_and_bias")
NUMERIC = ("forward_dynamics", "kinetic_energy")


class WithoutColumns(InputError, AttributeError):
    """A quantity in which the columns of the user's own have no part yet."""


class ExtendedModel:
    """A Model whose forces include further ones, coefficient times column.

    Inverse and forward dynamics, mass matrix, bias, gravity and kinetic energy include them; `graph`, `casadi`, `jax`
    and C export do for inverse dynamics, bias, gravity and mass matrix, if the columns are written with
    dynarm.algebra's functions. Whatever else a Model has is refused; `.rigid` is the model without the columns.
    Columns may depend on accelerations linearly (coupled gears).
    """

    def __init__(self, rigid: Model, columns: Sequence[Column], coefficients: Numbers):
        self.rigid = rigid
        self.arm = rigid.arm
        self.columns = tuple(columns)
        self.coefficients = np.asarray(coefficients, float)

    def __reduce__(self) -> Pickled:
        return ExtendedModel, (self.rigid, self.columns, self.coefficients)

    def __repr__(self) -> str:
        return (
            f"<model of '{self.arm.name}' with columns {self._names()}; .rigid is the one without>"
        )

    def _names(self) -> str:
        return ", ".join(column.name for column in self.columns)

    def __getattr__(self, name: str) -> Outside:
        if name in UNTOUCHED or name in _ASIDE:
            return getattr(self.rigid, name)
        if name.startswith("_") or not hasattr(self.rigid, name):
            raise unknown_attribute("a model with columns", name, model=True)
        raise self._refusal(name, (*TRACED, *NUMERIC))

    def _refusal(self, name: str, known: Sequence[str]) -> WithoutColumns:
        return WithoutColumns(
            f"{name} would leave out the columns of your own ({self._names()}); they are in {', '.join(known)}; "
            f"model.rigid.{name} is that of the arm alone"
        )

    # ---- numbers

    def extra(self, q: Numbers, qd: Numbers, qdd: Numbers) -> np.ndarray:
        """(..., n): the forces of the columns."""
        states = _alike(self.arm, q, qd, qdd)
        total = np.zeros(states[1].shape)
        for coefficient, column in zip(self.coefficients, self.columns, strict=True):
            total += coefficient * column.evaluate(*states)
        return total

    def inverse_dynamics(
        self, q: Numbers, qd: Numbers, qdd: Numbers, wrench: Given = None, **options: Outside
    ) -> np.ndarray:
        """Joint forces (..., n) for accelerations qdd, the columns' forces included."""
        rigid = self.rigid.inverse_dynamics(q, qd, qdd, wrench, **_without_out(options))
        return np.asarray(rigid + self.extra(q, qd, qdd))

    def bias(self, q: Numbers, qd: Numbers, **options: Outside) -> np.ndarray:
        """Bias forces (..., n) without the joints' friction: the columns' at qdd = 0 included."""
        rigid = self.rigid.bias(q, qd, **_without_out(options))
        return np.asarray(rigid + self.extra(q, qd, np.zeros(1)))

    def gravity(self, q: Numbers, **options: Outside) -> np.ndarray:
        """Joint forces (..., n) that hold the arm at rest without friction, the columns' at rest included."""
        rest = np.zeros(1)
        rigid = self.rigid.gravity(q, **_without_out(options))
        return np.asarray(rigid + self.extra(q, rest, rest))

    def _added_inertia(self, q: np.ndarray, qd: np.ndarray, still: np.ndarray) -> np.ndarray:
        """(..., n, n): how the columns' forces grow with each acceleration."""
        n = self.arm.nv
        columns = [
            self.extra(q, qd, np.broadcast_to(np.eye(n)[k], qd.shape)) - still for k in range(n)
        ]
        return np.stack(columns, axis=-1)

    def mass_matrix(self, q: Numbers, **options: Outside) -> np.ndarray:
        """Mass matrix (..., n, n), the columns' part included; symmetric if they are."""
        q = np.asarray(q, float)
        rest = np.zeros((*q.shape[:-1], self.arm.nv))
        added = self._added_inertia(q, rest, self.extra(q, rest, rest))
        return np.asarray(self.rigid.mass_matrix(q, **_without_out(options)) + added)

    def mass_matrix_and_bias(
        self, q: Numbers, qd: Numbers, **options: Outside
    ) -> tuple[np.ndarray, np.ndarray]:
        """Mass matrix (..., n, n) and bias forces (..., n), the columns' parts included."""
        return self.mass_matrix(q, **options), self.bias(q, qd, **options)

    def kinetic_energy(self, q: Numbers, qd: Numbers, **options: Outside) -> np.ndarray:
        """Kinetic energy (...) [J], the columns' inertia included."""
        qd = np.asarray(qd, float)
        M = self.mass_matrix(q, **options)
        return np.asarray(np.einsum("...i,...ij,...j->...", qd, M, qd) / 2)

    def forward_dynamics(
        self, q: Numbers, qd: Numbers, tau: Numbers, wrench: Given = None, **options: Outside
    ) -> np.ndarray:
        """Accelerations (..., n) under joint forces tau, the columns' forces included."""
        q, qd, tau = _alike(self.arm, q, qd, tau)
        rest = np.zeros_like(qd)
        still = self.extra(q, qd, rest)
        options = _without_out(options)
        added = self._added_inertia(q, qd, still)
        if not added.any():
            return self.rigid.forward_dynamics(q, qd, tau - still, wrench, **options)
        self._check_alone()
        bias = self.rigid.inverse_dynamics(q, qd, rest, wrench, **options) + still
        M = self.rigid.mass_matrix(q) + added
        return np.asarray(np.linalg.solve(M, (tau - bias)[..., None])[..., 0])

    def _check_alone(self) -> None:
        """Refuse columns of accelerations beside friction that depends on loads or on accelerations itself."""
        for joint in self.arm.joints if self.rigid.friction else ():
            if joint.friction is not None and not joint.friction.alone:
                raise InputError(
                    f"columns ({self._names()}) depend on accelerations, and friction of joint '{joint.name}' on load, "
                    "other joints or memory; forward dynamics needs one of them left out"
                )

    # ---- graphs

    def graph(self, key: str) -> Graph:
        """The operations behind a quantity, the columns' included: what C and CasADi functions are made from."""
        name, *more = key.split(":") if isinstance(key, str) else (key,)
        if name in UNTOUCHED or name in STATE_FUNCTIONS:
            return self.rigid.graph(key)
        word = quantity_named(name)
        if name not in TRACED:
            raise self._refusal(f"the graph of {name}", TRACED)
        rigid = self.rigid
        rigid.ports(key)  # refuses a wrench where there is none
        given = ("wrench" in more, False, "friction_state" in more)
        options = Options(rigid.friction, rigid.gravity_input, *given)
        sizes = sizes_of(self.arm)
        inputs, outputs = word.inputs(sizes, options), word.outputs(sizes)
        chosen = choose(self.arm, word.name, rigid.wishes, options)

        def compute(*symbols: Sequence[Scalar]) -> Nested:
            named = {port.name: x for port, x in zip(inputs, symbols, strict=True)}
            scene = Scene(self.arm, options, chosen, named)
            return self._with_columns(name, word.compute, scene)

        return trace_function(inputs, outputs, compute)

    def _with_columns(self, name: str, compute: Callable[[Scene], Nested], scene: Scene) -> Nested:
        rest = scene.still
        if name == "inverse_dynamics":
            return plus(compute(scene), self._traced(scene.q, scene.qd, scene.given["qdd"]))
        if name in ("bias", "gravity"):
            qd = scene.qd if name == "bias" else rest
            return plus(compute(scene), self._traced(scene.q, qd, rest))
        slopes = fresh_symbols(scene.q[0], 3, self.arm.nv)
        added = jacobian(self._traced(scene.q, rest, slopes), slopes)
        if name == "mass_matrix":
            return [plus(a, b) for a, b in zip(compute(scene), added, strict=True)]
        M, b = compute(scene)
        whole = [plus(x, y) for x, y in zip(M, added, strict=True)]
        return whole, plus(b, self._traced(scene.q, scene.qd, rest))

    def _traced(self, *states: Nested) -> list[Scalar]:
        """The columns' forces over symbols."""
        total: list[Scalar] = [0] * self.arm.nv
        for coefficient, column in zip(self.coefficients.tolist(), self.columns, strict=True):
            try:
                forces = list(column.function(*states))
                total = [add(x, mul(coefficient, f)) for x, f in zip(total, forces, strict=True)]
            except (TypeError, AttributeError, ValueError) as error:
                raise WithoutColumns(
                    f"column '{column.name}' cannot be written as formulas ({type(error).__name__}: {error}); use "
                    "dynarm.algebra's sin, cos, sign, tanh, magnitude and + - *, or model.rigid for the arm alone"
                ) from None
        return total

    def casadi(self, key: str) -> Foreign:
        """A casadi.Function of a quantity, the columns included; matrices come as columns, entries by rows."""
        return Model.casadi(self, key)  # type: ignore[arg-type]  # it asks for the graph only

    def jax(self, key: str) -> Foreign:
        """A function of JAX arrays for a quantity, the columns included."""
        return Model.jax(self, key)  # type: ignore[arg-type]


def _alike(arm: Arm, q: Numbers, *speeds: Numbers) -> list[np.ndarray]:
    """Coordinates and speeds with the same batch axes; one zero may stand for all speeds."""
    given = [np.asarray(x, float) for x in (q, *speeds)]
    batch = np.broadcast_shapes(*(x.shape[:-1] for x in given))
    widths = (arm.nq, *[arm.nv] * len(speeds))
    return [np.broadcast_to(x, (*batch, n)) for x, n in zip(given, widths, strict=True)]


def _without_out(options: Json) -> Json:
    """Options that the rigid model may be given: an array for the result would hold the rigid part alone."""
    if options.get("out") is not None:
        raise InputError("out= is not taken by a model with columns; use what is returned")
    return {name: value for name, value in options.items() if name != "out"}


def with_columns(model: Model, columns: Sequence[Column], coefficients: Numbers) -> ExtendedModel:
    """The model with a user's columns added to its forces."""
    return ExtendedModel(model, columns, coefficients)
