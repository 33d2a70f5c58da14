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

    Parameters
    ----------
    arm : Arm
        The robot.
    formulation : Mapping[str, str], optional
        {quantity: name}, to use these formulations; by default the cheapest for this robot
        is taken.
    friction : bool, default False
        Armature and friction of the joints take part; what has memory, as
        `model.friction_state` says.
    gravity : str, optional
        "input": every function that feels gravity takes a keyword gravity=(..., 3) in the
        axes of the base link.
    parameters : str, optional
        "inputs": every function takes a keyword values=(..., p), the minimal parameters in
        the order of `model.minimal.names`.

    Returns
    -------
    Model
        The model; each of its functions is compiled when it is first used, and kept on
        disk.

    Examples
    --------
    >>> model = dynarm.compile(dynarm.load("two_link"))
    >>> model.gravity([0.0, 0.0]).round(3)
    array([60.822, 11.772])
    """
    return Model(arm, formulation, friction, gravity, parameters)


class Model(Calls):
    """Compiled dynamics of one arm. Immutable; pickles by its recipe; safe to share between threads.

    `dynarm.compile` makes it. Every method takes arrays with any leading axes, written (...) below, and
    computes all samples in one call; n is the number of joints. Methods that return one array take `out=`.

    Parameters
    ----------
    arm : Arm
        The robot.
    formulation : Mapping[str, str], optional
        {quantity: name} of the formulations that were asked for.
    friction : bool, default False
        Whether armature and friction of the joints take part.
    gravity : str, optional
        "input" where gravity is an argument of every function that feels it.
    parameters : str, optional
        "inputs" where the minimal parameters are an argument of every function.

    Examples
    --------
    >>> arm = dynarm.load("two_link")
    >>> model = dynarm.compile(arm)
    >>> q, qd, qdd = [0.3, 0.5], [1.0, -1.0], [0.0, 2.0]
    """

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
        the load that friction may grow with).

        Parameters
        ----------
        q : array_like (..., nq)
            Positions [rad or m], in the order of `arm.coordinate_names`.
        qd : array_like (..., nv)
            Velocities [rad/s or m/s], in the order of `arm.speed_names`.
        qdd : array_like (..., nv)
            Accelerations [rad/s^2 or m/s^2].
        wrench : array_like (..., 6), optional
            Force then torque acting on the tool, in the axes of the tool [N, N m].
        gravity : array_like (..., 3), optional
            Acceleration of gravity [m/s^2] in the axes of the base link, for models compiled
            with `gravity="input"`.
        values : array_like (..., p), optional
            Minimal parameters in the order of `model.minimal.names`, for models compiled with
            `parameters="inputs"`.
        friction_state : array_like (..., m), optional
            The memory of friction, from `model.friction_state`; without it each element is
            guessed from velocity and acceleration.
        out : ndarray, optional
            Array that the result is written into.
        threads : int, optional
            Threads for a large batch; as `dynarm.set_threads` says by default.

        Returns
        -------
        ndarray
            Joint forces (..., n) [N m or N].

        Examples
        --------
        >>> model.inverse_dynamics(q, qd, qdd).round(4)
        array([59.0274, 10.0619])
        >>> model.inverse_dynamics(q, qd, np.zeros((1000, 2))).shape
        (1000, 2)
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

        Parameters
        ----------
        q : array_like (..., nq)
            Positions [rad or m], in the order of `arm.coordinate_names`.
        qd : array_like (..., nv)
            Velocities [rad/s or m/s], in the order of `arm.speed_names`.
        tau : array_like (..., nv)
            Joint forces [N m or N].
        wrench : array_like (..., 6), optional
            Force then torque acting on the tool, in the axes of the tool [N, N m].
        gravity : array_like (..., 3), optional
            Acceleration of gravity [m/s^2] in the axes of the base link, for models compiled
            with `gravity="input"`.
        values : array_like (..., p), optional
            Minimal parameters in the order of `model.minimal.names`, for models compiled with
            `parameters="inputs"`.
        friction_state : array_like (..., m), optional
            The memory of friction, from `model.friction_state`; without it elements count as
            slipped the way the joint moves, because the acceleration is not known yet.
        out : ndarray, optional
            Array that the result is written into.
        threads : int, optional
            Threads for a large batch; as `dynarm.set_threads` says by default.

        Returns
        -------
        ndarray
            Accelerations (..., n) [rad/s^2 or m/s^2].

        Examples
        --------
        >>> model.forward_dynamics(q, qd, model.inverse_dynamics(q, qd, qdd)).round(6) + 0.0
        array([0., 2.])
        """
        extras = {"wrench": wrench, "gravity": gravity, "values": values}
        extras["friction_state"] = friction_state
        return self._call("forward_dynamics", (q, qd, tau), out, threads, **extras)

    @quickly
    def mass_matrix(
        self, q: Numbers, *, values: Given = None, out: Out = None, threads: int | None = None
    ) -> FloatArray:  # fmt: skip
        """Mass matrix (..., n, n): kinetic energy = qd' M qd / 2.

        Parameters
        ----------
        q : array_like (..., nq)
            Positions [rad or m], in the order of `arm.coordinate_names`.
        values : array_like (..., p), optional
            Minimal parameters in the order of `model.minimal.names`, for models compiled with
            `parameters="inputs"`.
        out : ndarray, optional
            Array that the result is written into.
        threads : int, optional
            Threads for a large batch; as `dynarm.set_threads` says by default.

        Returns
        -------
        ndarray
            The symmetric matrix (..., n, n) [kg m^2 for two revolute joints].

        Examples
        --------
        >>> model.mass_matrix(q).round(4)
        array([[7.0854, 1.6956],
               [1.6956, 0.6425]])
        """
        return self._call("mass_matrix", (q,), out, threads, values=values)

    @quickly
    def mass_matrix_packed(
        self, q: Numbers, *, values: Given = None, out: Out = None, threads: int | None = None
    ) -> FloatArray:  # fmt: skip
        """The entries (..., k) of the mass matrix at `mass_matrix_pattern`; all others of its lower triangle are 0.

        Parameters
        ----------
        q : array_like (..., nq)
            Positions [rad or m], in the order of `arm.coordinate_names`.
        values : array_like (..., p), optional
            Minimal parameters in the order of `model.minimal.names`, for models compiled with
            `parameters="inputs"`.
        out : ndarray, optional
            Array that the result is written into.
        threads : int, optional
            Threads for a large batch; as `dynarm.set_threads` says by default.

        Returns
        -------
        ndarray
            The entries (..., k).

        Examples
        --------
        >>> model.mass_matrix_packed(q).round(4)
        array([7.0854, 1.6956, 0.6425])
        """
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
        """Rigid-body bias forces (..., n): inverse dynamics at qdd = 0 without friction.

        Parameters
        ----------
        q : array_like (..., nq)
            Positions [rad or m], in the order of `arm.coordinate_names`.
        qd : array_like (..., nv)
            Velocities [rad/s or m/s], in the order of `arm.speed_names`.
        gravity : array_like (..., 3), optional
            Acceleration of gravity [m/s^2] in the axes of the base link, for models compiled
            with `gravity="input"`.
        values : array_like (..., p), optional
            Minimal parameters in the order of `model.minimal.names`, for models compiled with
            `parameters="inputs"`.
        out : ndarray, optional
            Array that the result is written into.
        threads : int, optional
            Threads for a large batch; as `dynarm.set_threads` says by default.

        Returns
        -------
        ndarray
            Joint forces (..., n) [N m or N] of gravity, centrifugal and Coriolis terms.

        Examples
        --------
        >>> model.bias(q, qd).round(4)
        array([55.6362,  8.7769])
        """
        return self._call("bias", (q, qd), out, threads, gravity=gravity, values=values)

    @quickly
    def gravity(
        self, q: Numbers, *,
        gravity: Given = None, values: Given = None, out: Out = None, threads: int | None = None
    ) -> FloatArray:  # fmt: skip
        """Joint forces (..., n) that hold the arm at rest against gravity, without friction.

        Parameters
        ----------
        q : array_like (..., nq)
            Positions [rad or m], in the order of `arm.coordinate_names`.
        gravity : array_like (..., 3), optional
            Acceleration of gravity [m/s^2] in the axes of the base link, for models compiled
            with `gravity="input"`.
        values : array_like (..., p), optional
            Minimal parameters in the order of `model.minimal.names`, for models compiled with
            `parameters="inputs"`.
        out : ndarray, optional
            Array that the result is written into.
        threads : int, optional
            Threads for a large batch; as `dynarm.set_threads` says by default.

        Returns
        -------
        ndarray
            Joint forces (..., n) [N m or N].

        Examples
        --------
        >>> model.gravity(q).round(4)
        array([55.0609,  8.2016])
        """
        return self._call("gravity", (q,), out, threads, gravity=gravity, values=values)

    @quickly
    def coriolis_matrix(
        self, q: Numbers, qd: Numbers, *,
        values: Given = None, out: Out = None, threads: int | None = None
    ) -> FloatArray:  # fmt: skip
        """Coriolis matrix (..., n, n) of Christoffel: bias = C @ qd + gravity, Mdot - 2C is skew.

        Parameters
        ----------
        q : array_like (..., nq)
            Positions [rad or m], in the order of `arm.coordinate_names`.
        qd : array_like (..., nv)
            Velocities [rad/s or m/s], in the order of `arm.speed_names`.
        values : array_like (..., p), optional
            Minimal parameters in the order of `model.minimal.names`, for models compiled with
            `parameters="inputs"`.
        out : ndarray, optional
            Array that the result is written into.
        threads : int, optional
            Threads for a large batch; as `dynarm.set_threads` says by default.

        Returns
        -------
        ndarray
            The matrix C (..., n, n).

        Examples
        --------
        >>> C = model.coriolis_matrix(q, qd)
        >>> np.allclose(C @ qd + model.gravity(q), model.bias(q, qd))
        True
        """
        return self._call("coriolis_matrix", (q, qd), out, threads, values=values)

    @quickly
    def coriolis_tensor(
        self, q: Numbers, *, values: Given = None, out: Out = None, threads: int | None = None
    ) -> FloatArray:  # fmt: skip
        """C[i, j, k] (..., n, n, n), symmetric in j, k: bias_i = sum C[i, j, k] qd_j qd_k + gravity_i.

        Parameters
        ----------
        q : array_like (..., nq)
            Positions [rad or m], in the order of `arm.coordinate_names`.
        values : array_like (..., p), optional
            Minimal parameters in the order of `model.minimal.names`, for models compiled with
            `parameters="inputs"`.
        out : ndarray, optional
            Array that the result is written into.
        threads : int, optional
            Threads for a large batch; as `dynarm.set_threads` says by default.

        Returns
        -------
        ndarray
            The tensor (..., n, n, n).

        Examples
        --------
        >>> model.coriolis_tensor(q)[0].round(4)
        array([[ 0.    , -0.5753],
               [-0.5753, -0.5753]])
        """
        return self._call("coriolis_tensor", (q,), out, threads, values=values)

    @quickly
    def mass_matrix_and_bias(
        self, q: Numbers, qd: Numbers, *,
        gravity: Given = None, values: Given = None, threads: int | None = None
    ) -> tuple[FloatArray, FloatArray]:  # fmt: skip
        """Mass matrix (..., n, n) and bias forces (..., n) from one kernel.

        Parameters
        ----------
        q : array_like (..., nq)
            Positions [rad or m], in the order of `arm.coordinate_names`.
        qd : array_like (..., nv)
            Velocities [rad/s or m/s], in the order of `arm.speed_names`.
        gravity : array_like (..., 3), optional
            Acceleration of gravity [m/s^2] in the axes of the base link, for models compiled
            with `gravity="input"`.
        values : array_like (..., p), optional
            Minimal parameters in the order of `model.minimal.names`, for models compiled with
            `parameters="inputs"`.
        threads : int, optional
            Threads for a large batch; as `dynarm.set_threads` says by default.

        Returns
        -------
        ndarray
            Mass matrix (..., n, n).
        ndarray
            Bias forces (..., n) [N m or N].

        Examples
        --------
        >>> M, b = model.mass_matrix_and_bias(q, qd)
        >>> np.allclose(M @ qdd + b, model.inverse_dynamics(q, qd, qdd))
        True
        """
        extras = {"gravity": gravity, "values": values}
        both = self._call("mass_matrix_and_bias", (q, qd), None, threads, **extras)
        return both  # type: ignore[return-value]

    @quickly
    def kinetic_energy(
        self, q: Numbers, qd: Numbers, *,
        values: Given = None, out: Out = None, threads: int | None = None
    ) -> FloatArray:  # fmt: skip
        """Kinetic energy (...) [J].

        Parameters
        ----------
        q : array_like (..., nq)
            Positions [rad or m], in the order of `arm.coordinate_names`.
        qd : array_like (..., nv)
            Velocities [rad/s or m/s], in the order of `arm.speed_names`.
        values : array_like (..., p), optional
            Minimal parameters in the order of `model.minimal.names`, for models compiled with
            `parameters="inputs"`.
        out : ndarray, optional
            Array that the result is written into.
        threads : int, optional
            Threads for a large batch; as `dynarm.set_threads` says by default.

        Returns
        -------
        ndarray
            Energy (...) [J].

        Examples
        --------
        >>> model.kinetic_energy(q, qd).round(4)
        np.float64(2.1683)
        """
        return self._call("kinetic_energy", (q, qd), out, threads, values=values)

    @quickly
    def potential_energy(
        self, q: Numbers, *,
        gravity: Given = None, values: Given = None, out: Out = None, threads: int | None = None
    ) -> FloatArray:  # fmt: skip
        """Potential energy (...) [J], zero with every mass at the origin of the base link.

        From values= it is known but for a constant: minimal parameters say nothing about masses that do not move.

        Parameters
        ----------
        q : array_like (..., nq)
            Positions [rad or m], in the order of `arm.coordinate_names`.
        gravity : array_like (..., 3), optional
            Acceleration of gravity [m/s^2] in the axes of the base link, for models compiled
            with `gravity="input"`.
        values : array_like (..., p), optional
            Minimal parameters in the order of `model.minimal.names`, for models compiled with
            `parameters="inputs"`.
        out : ndarray, optional
            Array that the result is written into.
        threads : int, optional
            Threads for a large batch; as `dynarm.set_threads` says by default.

        Returns
        -------
        ndarray
            Energy (...) [J].

        Examples
        --------
        >>> model.potential_energy(q).round(4)
        np.float64(22.94)
        """
        return self._call("potential_energy", (q,), out, threads, gravity=gravity, values=values)

    @quickly
    def center_of_mass(
        self, q: Numbers, *, values: Given = None, out: Out = None, threads: int | None = None
    ) -> FloatArray:  # fmt: skip
        """Centre of mass (..., 3) [m] of all moving links, in the base link (of a free base: in the world).

        Parameters
        ----------
        q : array_like (..., nq)
            Positions [rad or m], in the order of `arm.coordinate_names`.
        values : array_like (..., p), optional
            Minimal parameters in the order of `model.minimal.names`, for models compiled with
            `parameters="inputs"`.
        out : ndarray, optional
            Array that the result is written into.
        threads : int, optional
            Threads for a large batch; as `dynarm.set_threads` says by default.

        Returns
        -------
        ndarray
            Position (..., 3) [m].

        Examples
        --------
        >>> model.center_of_mass(q).round(4) + 0.0
        array([0.8018, 0.    , 0.3341])
        """
        return self._call("center_of_mass", (q,), out, threads, values=values)

    @quickly
    def center_of_mass_jacobian(
        self, q: Numbers, *, values: Given = None, out: Out = None, threads: int | None = None
    ) -> FloatArray:  # fmt: skip
        """Jacobian (..., 3, nv) of the centre of mass: its velocity is J @ qd.

        Parameters
        ----------
        q : array_like (..., nq)
            Positions [rad or m], in the order of `arm.coordinate_names`.
        values : array_like (..., p), optional
            Minimal parameters in the order of `model.minimal.names`, for models compiled with
            `parameters="inputs"`.
        out : ndarray, optional
            Array that the result is written into.
        threads : int, optional
            Threads for a large batch; as `dynarm.set_threads` says by default.

        Returns
        -------
        ndarray
            The matrix (..., 3, nv).

        Examples
        --------
        >>> model.center_of_mass_jacobian(q).shape
        (3, 2)
        """
        return self._call("center_of_mass_jacobian", (q,), out, threads, values=values)

    @quickly
    def momentum(
        self, q: Numbers, qd: Numbers, *,
        values: Given = None, out: Out = None, threads: int | None = None
    ) -> FloatArray:  # fmt: skip
        """Linear momentum and angular momentum about the centre of mass (..., 6) [kg m/s, kg m^2/s], base axes.

        Parameters
        ----------
        q : array_like (..., nq)
            Positions [rad or m], in the order of `arm.coordinate_names`.
        qd : array_like (..., nv)
            Velocities [rad/s or m/s], in the order of `arm.speed_names`.
        values : array_like (..., p), optional
            Minimal parameters in the order of `model.minimal.names`, for models compiled with
            `parameters="inputs"`.
        out : ndarray, optional
            Array that the result is written into.
        threads : int, optional
            Threads for a large batch; as `dynarm.set_threads` says by default.

        Returns
        -------
        ndarray
            Linear, then angular momentum (..., 6) [kg m/s, kg m^2/s].

        Examples
        --------
        >>> model.momentum(q, qd).round(3) + 0.0
        array([-1.478,  0.   ,  4.777,  0.   , -1.066,  0.   ])
        """
        return self._call("momentum", (q, qd), out, threads, values=values)

    @quickly
    def momentum_matrix(
        self, q: Numbers, *, values: Given = None, out: Out = None, threads: int | None = None
    ) -> FloatArray:  # fmt: skip
        """The matrix (..., 6, nv) of the momentum: momentum = A @ qd.

        Parameters
        ----------
        q : array_like (..., nq)
            Positions [rad or m], in the order of `arm.coordinate_names`.
        values : array_like (..., p), optional
            Minimal parameters in the order of `model.minimal.names`, for models compiled with
            `parameters="inputs"`.
        out : ndarray, optional
            Array that the result is written into.
        threads : int, optional
            Threads for a large batch; as `dynarm.set_threads` says by default.

        Returns
        -------
        ndarray
            The matrix (..., 6, nv).

        Examples
        --------
        >>> np.allclose(model.momentum_matrix(q) @ qd, model.momentum(q, qd))
        True
        """
        return self._call("momentum_matrix", (q,), out, threads, values=values)

    @quickly
    def momentum_rate(
        self, q: Numbers, qd: Numbers, qdd: Numbers, *,
        values: Given = None, out: Out = None, threads: int | None = None
    ) -> FloatArray:  # fmt: skip
        """The time derivative (..., 6) of the momentum: force, and moment about the centre of mass [N, N m].

        Parameters
        ----------
        q : array_like (..., nq)
            Positions [rad or m], in the order of `arm.coordinate_names`.
        qd : array_like (..., nv)
            Velocities [rad/s or m/s], in the order of `arm.speed_names`.
        qdd : array_like (..., nv)
            Accelerations [rad/s^2 or m/s^2].
        values : array_like (..., p), optional
            Minimal parameters in the order of `model.minimal.names`, for models compiled with
            `parameters="inputs"`.
        out : ndarray, optional
            Array that the result is written into.
        threads : int, optional
            Threads for a large batch; as `dynarm.set_threads` says by default.

        Returns
        -------
        ndarray
            Force and moment (..., 6) [N, N m].

        Examples
        --------
        >>> model.momentum_rate(q, qd, qdd).round(3) + 0.0
        array([-6.498,  0.   ,  0.194,  0.   , -1.64 ,  0.   ])
        """
        return self._call("momentum_rate", (q, qd, qdd), out, threads, values=values)

    @quickly
    def forward_kinematics(
        self, q: Numbers, *, values: Given = None, out: Out = None, threads: int | None = None
    ) -> FloatArray:  # fmt: skip
        """Pose (..., 4, 4) of the tool in the base link.

        Parameters
        ----------
        q : array_like (..., nq)
            Positions [rad or m], in the order of `arm.coordinate_names`.
        values : array_like (..., p), optional
            Minimal parameters in the order of `model.minimal.names`, for models compiled with
            `parameters="inputs"`.
        out : ndarray, optional
            Array that the result is written into.
        threads : int, optional
            Threads for a large batch; as `dynarm.set_threads` says by default.

        Returns
        -------
        ndarray
            Pose (..., 4, 4); of a robot with k tools (..., k, 4, 4).

        Examples
        --------
        >>> model.forward_kinematics(q)[:3, 3].round(4) + 0.0
        array([1.5127, 0.    , 0.8694])
        """
        return self._call("forward_kinematics", (q,), out, threads, values=values)

    @quickly
    def jacobian(
        self, q: Numbers, *, values: Given = None, out: Out = None, threads: int | None = None
    ) -> FloatArray:  # fmt: skip
        """Jacobian (..., 6, n) of the tool's origin, linear then angular, base axes.

        Parameters
        ----------
        q : array_like (..., nq)
            Positions [rad or m], in the order of `arm.coordinate_names`.
        values : array_like (..., p), optional
            Minimal parameters in the order of `model.minimal.names`, for models compiled with
            `parameters="inputs"`.
        out : ndarray, optional
            Array that the result is written into.
        threads : int, optional
            Threads for a large batch; as `dynarm.set_threads` says by default.

        Returns
        -------
        ndarray
            The matrix (..., 6, n); of a robot with k tools (..., k, 6, n).

        Examples
        --------
        >>> J = model.jacobian(q)
        >>> (J @ qd).round(4) + 0.0
        array([-0.2955,  0.    ,  0.9553,  0.    ,  0.    ,  0.    ])
        """
        return self._call("jacobian", (q,), out, threads, values=values)

    @quickly
    def jacobian_derivative(
        self, q: Numbers, qd: Numbers, *,
        values: Given = None, out: Out = None, threads: int | None = None
    ) -> FloatArray:  # fmt: skip
        """Time derivative (..., 6, n) of the Jacobian.

        Parameters
        ----------
        q : array_like (..., nq)
            Positions [rad or m], in the order of `arm.coordinate_names`.
        qd : array_like (..., nv)
            Velocities [rad/s or m/s], in the order of `arm.speed_names`.
        values : array_like (..., p), optional
            Minimal parameters in the order of `model.minimal.names`, for models compiled with
            `parameters="inputs"`.
        out : ndarray, optional
            Array that the result is written into.
        threads : int, optional
            Threads for a large batch; as `dynarm.set_threads` says by default.

        Returns
        -------
        ndarray
            The matrix (..., 6, n).

        Examples
        --------
        >>> model.jacobian_derivative(q, qd).shape
        (6, 2)
        """
        return self._call("jacobian_derivative", (q, qd), out, threads, values=values)

    @quickly
    def inverse_dynamics_derivatives(
        self, q: Numbers, qd: Numbers, qdd: Numbers, *,
        gravity: Given = None, values: Given = None, friction_state: Given = None,
        threads: int | None = None
    ) -> tuple[FloatArray, FloatArray, FloatArray]:  # fmt: skip
        """Derivatives dtau_dq, dtau_dqd, dtau_dqdd of inverse dynamics, each (..., n, n).

        Parameters
        ----------
        q : array_like (..., nq)
            Positions [rad or m], in the order of `arm.coordinate_names`.
        qd : array_like (..., nv)
            Velocities [rad/s or m/s], in the order of `arm.speed_names`.
        qdd : array_like (..., nv)
            Accelerations [rad/s^2 or m/s^2].
        gravity : array_like (..., 3), optional
            Acceleration of gravity [m/s^2] in the axes of the base link, for models compiled
            with `gravity="input"`.
        values : array_like (..., p), optional
            Minimal parameters in the order of `model.minimal.names`, for models compiled with
            `parameters="inputs"`.
        friction_state : array_like (..., m), optional
            The memory of friction, from `model.friction_state`.
        threads : int, optional
            Threads for a large batch; as `dynarm.set_threads` says by default.

        Returns
        -------
        ndarray
            dtau_dq (..., n, n).
        ndarray
            dtau_dqd (..., n, n).
        ndarray
            dtau_dqdd (..., n, n), the mass matrix (with armature where friction takes part).

        Examples
        --------
        >>> dq, dqd, dqdd = model.inverse_dynamics_derivatives(q, qd, qdd)
        >>> np.allclose(dqdd, model.mass_matrix(q))
        True
        """
        extras = {"gravity": gravity, "values": values}
        extras["friction_state"] = friction_state
        three = self._call("inverse_dynamics_derivatives", (q, qd, qdd), None, threads, **extras)
        return three  # type: ignore[return-value]

    @quickly
    def inverse_dynamics_derivatives_packed(
        self, q: Numbers, qd: Numbers, qdd: Numbers, *,
        gravity: Given = None, values: Given = None, threads: int | None = None
    ) -> tuple[FloatArray, FloatArray, FloatArray]:  # fmt: skip
        """dtau_dq, dtau_dqd (..., k) at `derivatives_pattern`, all others being 0, and M as `mass_matrix_packed`.

        Parameters
        ----------
        q : array_like (..., nq)
            Positions [rad or m], in the order of `arm.coordinate_names`.
        qd : array_like (..., nv)
            Velocities [rad/s or m/s], in the order of `arm.speed_names`.
        qdd : array_like (..., nv)
            Accelerations [rad/s^2 or m/s^2].
        gravity : array_like (..., 3), optional
            Acceleration of gravity [m/s^2] in the axes of the base link, for models compiled
            with `gravity="input"`.
        values : array_like (..., p), optional
            Minimal parameters in the order of `model.minimal.names`, for models compiled with
            `parameters="inputs"`.
        threads : int, optional
            Threads for a large batch; as `dynarm.set_threads` says by default.

        Returns
        -------
        ndarray
            Entries (..., k) of dtau_dq.
        ndarray
            Entries (..., k) of dtau_dqd.
        ndarray
            Entries of the mass matrix, as `mass_matrix_packed` gives them.

        Examples
        --------
        >>> dq, dqd, M = model.inverse_dynamics_derivatives_packed(q, qd, qdd)
        >>> rows, columns = model.derivatives_pattern
        >>> dense = model.inverse_dynamics_derivatives(q, qd, qdd)[0]
        >>> np.allclose(dense[rows, columns], dq)
        True
        """
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
        """Derivatives dqdd_dq, dqdd_dqd, dqdd_dtau of forward dynamics, each (..., n, n).

        Parameters
        ----------
        q : array_like (..., nq)
            Positions [rad or m], in the order of `arm.coordinate_names`.
        qd : array_like (..., nv)
            Velocities [rad/s or m/s], in the order of `arm.speed_names`.
        tau : array_like (..., nv)
            Joint forces [N m or N].
        gravity : array_like (..., 3), optional
            Acceleration of gravity [m/s^2] in the axes of the base link, for models compiled
            with `gravity="input"`.
        values : array_like (..., p), optional
            Minimal parameters in the order of `model.minimal.names`, for models compiled with
            `parameters="inputs"`.
        friction_state : array_like (..., m), optional
            The memory of friction, from `model.friction_state`.
        threads : int, optional
            Threads for a large batch; as `dynarm.set_threads` says by default.

        Returns
        -------
        ndarray
            dqdd_dq (..., n, n).
        ndarray
            dqdd_dqd (..., n, n).
        ndarray
            dqdd_dtau (..., n, n), the inverse of the mass matrix.

        Examples
        --------
        >>> dq, dqd, dtau = model.forward_dynamics_derivatives(q, qd, [1.0, 0.0])
        >>> np.allclose(dtau @ model.mass_matrix(q), np.eye(2))
        True
        """
        extras = {"gravity": gravity, "values": values}
        extras["friction_state"] = friction_state
        three = self._call("forward_dynamics_derivatives", (q, qd, tau), None, threads, **extras)
        return three  # type: ignore[return-value]

    @quickly
    def regressor(
        self, q: Numbers, qd: Numbers, qdd: Numbers, *,
        gravity: Given = None, values: Given = None, out: Out = None, threads: int | None = None
    ) -> FloatArray:  # fmt: skip
        """Rigid-body regressor (..., n, p): tau = Y @ values, the minimal parameters of `model.minimal`.

        Parameters
        ----------
        q : array_like (..., nq)
            Positions [rad or m], in the order of `arm.coordinate_names`.
        qd : array_like (..., nv)
            Velocities [rad/s or m/s], in the order of `arm.speed_names`.
        qdd : array_like (..., nv)
            Accelerations [rad/s^2 or m/s^2].
        gravity : array_like (..., 3), optional
            Acceleration of gravity [m/s^2] in the axes of the base link, for models compiled
            with `gravity="input"`.
        values : array_like (..., p), optional
            Minimal parameters in the order of `model.minimal.names`, for models compiled with
            `parameters="inputs"`.
        out : ndarray, optional
            Array that the result is written into.
        threads : int, optional
            Threads for a large batch; as `dynarm.set_threads` says by default.

        Returns
        -------
        ndarray
            The matrix Y (..., n, p).

        Examples
        --------
        >>> Y = model.regressor(q, qd, qdd)
        >>> np.allclose(Y @ model.minimal.values, model.inverse_dynamics(q, qd, qdd))
        True
        """
        extras = {"gravity": gravity, "values": values}
        return self._call("regressor", (q, qd, qdd), out, threads, **extras)
