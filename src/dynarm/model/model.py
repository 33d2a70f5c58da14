"""compile(arm) -> Model: the words users say. Each quantity is compiled when it is first used."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from ..border.familiar import told_attribute
from ..border.kinds import FloatArray, Given, Numbers, Out, Pickled
from ..border.memo import cached_property
from ..plan.sizes import packed_pattern, slopes_pattern
from ..robot.arm import Arm
from .calls import Calls
from .functions import quickly


def compile(
    arm: Arm,
    formulation: Mapping[str, str] | None = None,
    friction: bool = False,
    gravity: str | None = None,
    parameters: str | None = None,
) -> Model:
    """The model of an arm: dynamics as compiled functions of NumPy arrays.

    formulation: {quantity: name} to force one; else the cheapest for this robot is taken. friction=True: armature and
    friction of the joints take part; what has memory, as `model.friction_state` says. gravity="input": every function
    that feels gravity takes a keyword gravity=(..., 3) in the base link's axes. parameters="inputs": every function
    takes a keyword values=(..., p), the minimal parameters in the order of `model.minimal.names`.
    """
    return Model(arm, formulation, friction, gravity, parameters)


class Model(Calls):
    """Compiled dynamics of one arm. Immutable; pickles by its recipe; safe to share between threads."""

    def __reduce__(self) -> Pickled:
        gravity = "input" if self.gravity_input else None
        parameters = "inputs" if self.parameters_input else None
        return compile, (self.arm, self.wishes or None, self.friction, gravity, parameters)

    if not TYPE_CHECKING:  # else every misspelt name would be one
        __getattr__ = told_attribute

    # Every method below takes threads=, those that return one array out= as well; models compiled with
    # gravity="input" want gravity=(..., 3) [m/s^2] in the base link, those with parameters="inputs" values=(..., p).

    @quickly
    def inverse_dynamics(
        self, q: Numbers, qd: Numbers, qdd: Numbers, wrench: Given = None, *,
        gravity: Given = None, values: Given = None, friction_state: Given = None, out: Out = None,
        threads: int | None = None
    ) -> FloatArray:  # fmt: skip
        """Joint forces (..., n) [N m or N] for accelerations qdd; wrench (..., 6) acts on the tool, in its axes.

        inverse_dynamics(q, qd, qdd, wrench) = inverse_dynamics(q, qd, qdd) - J' wrench, J in tool axes (and with it
        the load that friction may grow with). friction_state (..., m): the memory of friction, by
        `model.friction_state`; without it each element is guessed from velocity and acceleration.
        """
        extras = {"wrench": wrench, "gravity": gravity, "values": values}
        extras["friction_state"] = friction_state
        return self._call("inverse_dynamics", (q, qd, qdd), out, threads, **extras)

    @quickly
    def forward_dynamics(
        self, q: Numbers, qd: Numbers, tau: Numbers, wrench: Given = None, *,
        gravity: Given = None, values: Given = None, friction_state: Given = None, out: Out = None,
        threads: int | None = None
    ) -> FloatArray:  # fmt: skip
        """Accelerations (..., n) under joint forces tau; wrench (..., 6) acts on the tool, in its axes.

        friction_state (..., m): the memory of friction, by `model.friction_state`; without it, the acceleration being
        what is asked for, elements count as slipped, the way the joint moves.
        """
        extras = {"wrench": wrench, "gravity": gravity, "values": values}
        extras["friction_state"] = friction_state
        return self._call("forward_dynamics", (q, qd, tau), out, threads, **extras)

    @quickly
    def mass_matrix(
        self, q: Numbers, *, values: Given = None, out: Out = None, threads: int | None = None
    ) -> FloatArray:  # fmt: skip
        """Mass matrix (..., n, n): kinetic energy = qd' M qd / 2."""
        return self._call("mass_matrix", (q,), out, threads, values=values)

    @quickly
    def mass_matrix_packed(
        self, q: Numbers, *, values: Given = None, out: Out = None, threads: int | None = None
    ) -> FloatArray:  # fmt: skip
        """The entries (..., k) of the mass matrix at `mass_matrix_pattern`; all others of its lower triangle are 0."""
        return self._call("mass_matrix_packed", (q,), out, threads, values=values)

    @cached_property
    def mass_matrix_pattern(self) -> tuple[np.ndarray, np.ndarray]:
        """Rows and columns of the entries of `mass_matrix_packed`, in the lower triangle."""
        rows, columns = np.array(packed_pattern(self.arm)).T
        return rows, columns

    @quickly
    def bias(
        self, q: Numbers, qd: Numbers, *,
        gravity: Given = None, values: Given = None, out: Out = None, threads: int | None = None
    ) -> FloatArray:  # fmt: skip
        """Rigid-body bias forces (..., n): inverse dynamics at qdd = 0 without friction."""
        return self._call("bias", (q, qd), out, threads, gravity=gravity, values=values)

    @quickly
    def gravity(
        self, q: Numbers, *,
        gravity: Given = None, values: Given = None, out: Out = None, threads: int | None = None
    ) -> FloatArray:  # fmt: skip
        """Joint forces (..., n) that hold the arm at rest against gravity, without friction."""
        return self._call("gravity", (q,), out, threads, gravity=gravity, values=values)

    @quickly
    def coriolis_matrix(
        self, q: Numbers, qd: Numbers, *,
        values: Given = None, out: Out = None, threads: int | None = None
    ) -> FloatArray:  # fmt: skip
        """Coriolis matrix (..., n, n) of Christoffel: bias = C @ qd + gravity, Mdot - 2C is skew."""
        return self._call("coriolis_matrix", (q, qd), out, threads, values=values)

    @quickly
    def coriolis_tensor(
        self, q: Numbers, *, values: Given = None, out: Out = None, threads: int | None = None
    ) -> FloatArray:  # fmt: skip
        """C[i, j, k] (..., n, n, n), symmetric in j, k: bias_i = sum C[i, j, k] qd_j qd_k + gravity_i."""
        return self._call("coriolis_tensor", (q,), out, threads, values=values)

    @quickly
    def mass_matrix_and_bias(
        self, q: Numbers, qd: Numbers, *,
        gravity: Given = None, values: Given = None, threads: int | None = None
    ) -> tuple[FloatArray, FloatArray]:  # fmt: skip
        """Mass matrix (..., n, n) and bias forces (..., n) from one kernel."""
        extras = {"gravity": gravity, "values": values}
        both = self._call("mass_matrix_and_bias", (q, qd), None, threads, **extras)
        return both  # type: ignore[return-value]

    @quickly
    def kinetic_energy(
        self, q: Numbers, qd: Numbers, *,
        values: Given = None, out: Out = None, threads: int | None = None
    ) -> FloatArray:  # fmt: skip
        """Kinetic energy (...) [J]."""
        return self._call("kinetic_energy", (q, qd), out, threads, values=values)

    @quickly
    def potential_energy(
        self, q: Numbers, *,
        gravity: Given = None, values: Given = None, out: Out = None, threads: int | None = None
    ) -> FloatArray:  # fmt: skip
        """Potential energy (...) [J], zero with every mass at the origin of the base link.

        From values= it is known but for a constant: minimal parameters say nothing about masses that do not move.
        """
        return self._call("potential_energy", (q,), out, threads, gravity=gravity, values=values)

    @quickly
    def center_of_mass(
        self, q: Numbers, *, values: Given = None, out: Out = None, threads: int | None = None
    ) -> FloatArray:  # fmt: skip
        """Centre of mass (..., 3) [m] of all moving links, in the base link (of a free base: in the world)."""
        return self._call("center_of_mass", (q,), out, threads, values=values)

    @quickly
    def center_of_mass_jacobian(
        self, q: Numbers, *, values: Given = None, out: Out = None, threads: int | None = None
    ) -> FloatArray:  # fmt: skip
        """Jacobian (..., 3, nv) of the centre of mass: its velocity is J @ qd."""
        return self._call("center_of_mass_jacobian", (q,), out, threads, values=values)

    @quickly
    def momentum(
        self, q: Numbers, qd: Numbers, *,
        values: Given = None, out: Out = None, threads: int | None = None
    ) -> FloatArray:  # fmt: skip
        """Linear momentum and angular momentum about the centre of mass (..., 6) [kg m/s, kg m^2/s], base axes."""
        return self._call("momentum", (q, qd), out, threads, values=values)

    @quickly
    def momentum_matrix(
        self, q: Numbers, *, values: Given = None, out: Out = None, threads: int | None = None
    ) -> FloatArray:  # fmt: skip
        """The matrix (..., 6, nv) of the momentum: momentum = A @ qd."""
        return self._call("momentum_matrix", (q,), out, threads, values=values)

    @quickly
    def momentum_rate(
        self, q: Numbers, qd: Numbers, qdd: Numbers, *,
        values: Given = None, out: Out = None, threads: int | None = None
    ) -> FloatArray:  # fmt: skip
        """The time derivative (..., 6) of the momentum: force, and moment about the centre of mass [N, N m]."""
        return self._call("momentum_rate", (q, qd, qdd), out, threads, values=values)

    @quickly
    def forward_kinematics(
        self, q: Numbers, *, values: Given = None, out: Out = None, threads: int | None = None
    ) -> FloatArray:  # fmt: skip
        """Pose (..., 4, 4) of the tool in the base link."""
        return self._call("forward_kinematics", (q,), out, threads, values=values)

    @quickly
    def jacobian(
        self, q: Numbers, *, values: Given = None, out: Out = None, threads: int | None = None
    ) -> FloatArray:  # fmt: skip
        """Jacobian (..., 6, n) of the tool's origin, linear then angular, base axes."""
        return self._call("jacobian", (q,), out, threads, values=values)

    @quickly
    def jacobian_derivative(
        self, q: Numbers, qd: Numbers, *,
        values: Given = None, out: Out = None, threads: int | None = None
    ) -> FloatArray:  # fmt: skip
        """Time derivative (..., 6, n) of the Jacobian."""
        return self._call("jacobian_derivative", (q, qd), out, threads, values=values)

    @quickly
    def inverse_dynamics_derivatives(
        self, q: Numbers, qd: Numbers, qdd: Numbers, *,
        gravity: Given = None, values: Given = None, friction_state: Given = None,
        threads: int | None = None
    ) -> tuple[FloatArray, FloatArray, FloatArray]:  # fmt: skip
        """dtau_dq, dtau_dqd, dtau_dqdd, each (..., n, n)."""
        extras = {"gravity": gravity, "values": values}
        extras["friction_state"] = friction_state
        three = self._call("inverse_dynamics_derivatives", (q, qd, qdd), None, threads, **extras)
        return three  # type: ignore[return-value]

    @quickly
    def inverse_dynamics_derivatives_packed(
        self, q: Numbers, qd: Numbers, qdd: Numbers, *,
        gravity: Given = None, values: Given = None, threads: int | None = None
    ) -> tuple[FloatArray, FloatArray, FloatArray]:  # fmt: skip
        """dtau_dq, dtau_dqd (..., k) at `derivatives_pattern`, all others being 0, and M as `mass_matrix_packed`."""
        word, extras = "inverse_dynamics_derivatives_packed", {"gravity": gravity, "values": values}
        three = self._call(word, (q, qd, qdd), None, threads, **extras)
        return three  # type: ignore[return-value]

    @cached_property
    def derivatives_pattern(self) -> tuple[np.ndarray, np.ndarray]:
        """Rows and columns of the entries of dtau_dq and dtau_dqd of `inverse_dynamics_derivatives_packed`."""
        rows, columns = np.array(slopes_pattern(self.arm)).T
        return rows, columns

    @quickly
    def forward_dynamics_derivatives(
        self, q: Numbers, qd: Numbers, tau: Numbers, *,
        gravity: Given = None, values: Given = None, friction_state: Given = None,
        threads: int | None = None
    ) -> tuple[FloatArray, FloatArray, FloatArray]:  # fmt: skip
        """dqdd_dq, dqdd_dqd, dqdd_dtau, each (..., n, n)."""
        extras = {"gravity": gravity, "values": values}
        extras["friction_state"] = friction_state
        three = self._call("forward_dynamics_derivatives", (q, qd, tau), None, threads, **extras)
        return three  # type: ignore[return-value]

    @quickly
    def regressor(
        self, q: Numbers, qd: Numbers, qdd: Numbers, *,
        gravity: Given = None, values: Given = None, out: Out = None, threads: int | None = None
    ) -> FloatArray:  # fmt: skip
        """Rigid-body regressor (..., n, p): tau = Y @ values, the minimal parameters of `model.minimal`."""
        extras = {"gravity": gravity, "values": values}
        return self._call("regressor", (q, qd, qdd), out, threads, **extras)
