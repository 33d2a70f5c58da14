"""Controllers from compiled functions: joint PD with gravity compensation, and computed torque.

Each samples the state at its own rate and holds its torque in between; with rate=None it acts continuously. A reference
is a pose (n,), or a function of time that returns q, qd and qdd. Gains are a number, (n,), or (N, n) for a batch; n is
the number of independent joints. A free base is not driven: only the joints are, and its six entries of torque are 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..border.arguments import real, reals
from ..border.kinds import Outside
from ..border.words import brief, shown
from ..errors import InputError, KindError
from ..model.model import Model

Reference = Callable[[float], tuple[Outside, Outside, Outside]]


@dataclass(frozen=True)
class Controller:
    """What the controllers share.

    Parameters
    ----------
    model : Model
        The model that the controller believes in, which need not be the one that is
        simulated.
    reference : callable or array_like
        f(t) giving q, qd and qdd, or a constant position.
    kp : float or array_like (n,)
        Gain of the position error.
    kd : float or array_like (n,)
        Gain of the velocity error.
    rate : float, optional
        Samples a second [Hz]; None: continuous.
    limit : float or array_like (n,), optional
        Largest torque, a number or (n,); None: the arm's own effort limits where it has
        them.
    values : array_like (p,), optional
        What the controller believes in, for a model with parameters="inputs".
    gravity : array_like (3,), optional
        What the controller believes in, for a model with gravity="input".

    Examples
    --------
    >>> model = dynarm.compile(dynarm.load("two_link"))
    >>> control = dynarm.simulation.GravityPD(model, [0.5, 0.0], kp=200, kd=40)
    >>> isinstance(control, dynarm.simulation.Controller)
    True
    """

    model: Model
    reference: Outside
    kp: Outside
    kd: Outside
    rate: float | None = None
    limit: Outside = None
    values: Outside = None
    gravity: Outside = None

    __repr__ = brief

    def __post_init__(self) -> None:
        if not isinstance(self.model, Model):
            raise KindError(f"model is {shown(self.model)}; give dynarm.compile(arm)")
        if not self.model.arm.n:
            raise InputError(
                f"robot '{self.model.arm.name}' has no joints that a controller could drive; give torque as a function"
            )
        if self.rate is not None:
            words = "samples per second, or None for continuous control"
            real("rate", self.rate, words, lambda x: 0 < x < np.inf)
        for word, given, wanted in (
            (
                "values= for a model with parameters='inputs'",
                self.values,
                self.model.parameters_input,
            ),
            ("gravity= for a model with gravity='input'", self.gravity, self.model.gravity_input),
        ):
            if (given is not None) != wanted:
                raise InputError(f"give {word}, and only for one")
        put, arm = object.__setattr__, self.model.arm
        joints, names = [arm.joints[i] for i in arm.coupling.masters], arm.joint_names
        put(self, "reference", _reference(self.reference, names))
        for name in ("kp", "kd"):
            put(self, name, _fitting(name, getattr(self, name), names))
        own = [np.inf if j.effort_limit is None else j.effort_limit for j in joints]
        limit = _fitting("limit", own if self.limit is None else self.limit, names)
        put(self, "limit", np.where(limit > 0, limit, np.inf) if self.limit is None else limit)
        known = {"values": self.values, "gravity": self.gravity}
        listed = self.model.entry_names
        put(
            self,
            "_known",
            {k: reals(k, v, names=listed(k)) for k, v in known.items() if v is not None},
        )

    def __call__(self, t: float, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        torque: np.ndarray = np.clip(self.law(t, q, qd), -self.limit, self.limit)
        free = self.model.arm.nv - torque.shape[-1]
        if not free:
            return torque
        return np.concatenate([np.zeros((*torque.shape[:-1], free)), torque], axis=-1)

    def joints(self, x: np.ndarray) -> np.ndarray:
        """The joints' entries of a state or of forces, without those of a free base.

        Parameters
        ----------
        x : ndarray
            A state or forces.

        Returns
        -------
        ndarray
            The joints' part.

        Examples
        --------
        >>> control.joints(np.array([0.1, 0.2]))
        array([0.1, 0.2])
        """
        return x[..., -len(self.model.arm.joint_names) :]

    def law(self, t: float, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        """The torque before its limits.

        Parameters
        ----------
        t : float
            Time [s].
        q : array_like (..., nq)
            Positions [rad or m], in the order of `arm.coordinate_names`.
        qd : array_like (..., nv)
            Velocities [rad/s or m/s], in the order of `arm.speed_names`.

        Returns
        -------
        ndarray (n,)
            Torque [N m or N].

        Examples
        --------
        >>> control.law(0.0, np.array([0.5, 0.0]), np.zeros(2)).shape
        (2,)
        """
        raise KindError(
            f"{type(self).__name__} has no control law; use GravityPD or ComputedTorque"
        )


@dataclass(frozen=True, repr=False)
class GravityPD(Controller):
    """tau = kp (q_ref - q) + kd (qd_ref - qd) + gravity(q).

    Parameters
    ----------
    model : Model
        The model that the controller believes in, which need not be the one that is
        simulated.
    reference : callable or array_like
        f(t) giving q, qd and qdd, or a constant position.
    kp : float or array_like (n,)
        Gain of the position error [N m/rad or N/m].
    kd : float or array_like (n,)
        Gain of the velocity error [N m s/rad or N s/m].
    rate : float, optional
        Samples a second [Hz]; None: continuous.
    limit : float or array_like (n,), optional
        Largest torque; None: the arm's own effort limits where it has them.
    values : array_like (p,), optional
        For a model with parameters="inputs".
    gravity : array_like (3,), optional
        For a model with gravity="input".

    Examples
    --------
    >>> model = dynarm.compile(dynarm.load("two_link"))
    >>> control = dynarm.simulation.GravityPD(model, [0.5, 0.0], kp=200, kd=40)
    >>> control(0.0, np.array([0.5, 0.0]), np.zeros(2)).round(3)
    array([53.376, 10.331])
    """

    def law(self, t: float, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        """The torque before its limits.

        Parameters
        ----------
        t : float
            Time [s].
        q : array_like (..., nq)
            Positions [rad or m], in the order of `arm.coordinate_names`.
        qd : array_like (..., nv)
            Velocities [rad/s or m/s], in the order of `arm.speed_names`.

        Returns
        -------
        ndarray (n,)
            Torque [N m or N].

        Examples
        --------
        >>> control.law(0.0, np.array([0.5, 0.0]), np.zeros(2)).round(3)
        array([53.376, 10.331])
        """
        wanted, rate, _ = self.reference(t)
        hold = self.joints(self.model.gravity(q, **self._known))  # type: ignore[attr-defined]
        q, qd = self.joints(q), self.joints(qd)
        torque: np.ndarray = self.kp * (wanted - q) + self.kd * (rate - qd) + hold
        return torque


@dataclass(frozen=True, repr=False)
class ComputedTorque(Controller):
    """tau = inverse dynamics at qdd_ref + kd (qd_ref - qd) + kp (q_ref - q): the error obeys e'' + kd e' + kp e = 0.

    Parameters
    ----------
    model : Model
        The model that the controller believes in, which need not be the one that is
        simulated.
    reference : callable or array_like
        f(t) giving q, qd and qdd, or a constant position.
    kp : float or array_like (n,)
        Gain of the position error [1/s^2].
    kd : float or array_like (n,)
        Gain of the velocity error [1/s].
    rate : float, optional
        Samples a second [Hz]; None: continuous.
    limit : float or array_like (n,), optional
        Largest torque; None: the arm's own effort limits where it has them.
    values : array_like (p,), optional
        For a model with parameters="inputs".
    gravity : array_like (3,), optional
        For a model with gravity="input".

    Examples
    --------
    >>> model = dynarm.compile(dynarm.load("two_link"))
    >>> control = dynarm.simulation.ComputedTorque(model, [0.5, 0.0], kp=100, kd=20)
    >>> run = dynarm.simulate(model, [0.0, 0.0], [0.0, 0.0], 2.0, control)
    >>> run.q[-1].round(3) + 0.0
    array([0.5, 0. ])
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.model.arm.floating:
            raise InputError(
                f"computed torque needs a force for every speed; robot '{self.model.arm.name}' has a free base that "
                "nothing drives, use GravityPD"
            )

    def law(self, t: float, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        """The torque before its limits.

        Parameters
        ----------
        t : float
            Time [s].
        q : array_like (..., nq)
            Positions [rad or m], in the order of `arm.coordinate_names`.
        qd : array_like (..., nv)
            Velocities [rad/s or m/s], in the order of `arm.speed_names`.

        Returns
        -------
        ndarray (n,)
            Torque [N m or N].

        Examples
        --------
        >>> control.law(0.0, np.array([0.5, 0.0]), np.zeros(2)).round(3)
        array([53.376, 10.331])
        """
        wanted, rate, acceleration = self.reference(t)
        demand = acceleration + self.kd * (rate - qd) + self.kp * (wanted - q)
        return self.model.inverse_dynamics(q, qd, demand, **self._known)  # type: ignore[attr-defined]


def _reference(given: Outside, names: tuple[str, ...]) -> Reference:
    if callable(given):
        reference: Reference = given
        return reference
    pose, still = _fitting("reference", given, names), np.zeros(len(names))
    return lambda t: (pose, still, still)


def _fitting(name: str, value: Outside, names: tuple[str, ...]) -> np.ndarray:
    """An array that goes with (n,) or (N, n)."""
    n = len(names)
    array = reals(name, value, f"a number or {n} numbers", names)
    if array.ndim > 2 or (array.ndim and array.shape[-1] not in (1, n)) or np.isnan(array).any():
        raise InputError(
            f"{name} has shape {array.shape}; give a number, ({n},), or (N, {n}) for a batch"
        )
    return array
