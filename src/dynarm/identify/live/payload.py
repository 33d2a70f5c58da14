"""LivePayload and MomentumObserver: estimates that run along with a robot, one sample at a time or along a record."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace

import numpy as np

from ...border.arguments import above_zero, real, reals, shown
from ...border.kinds import FloatArray, Kept, Numbers, Outside
from ...errors import InputError, KindError
from ...model.export import Exported, export_c
from ...model.model import Model
from ..result import Fit
from .formulas import PAIRS, TEN
from .kernels import LiveKernels

# deviations of a payload that nobody has seen yet [kg, kg m, kg m^2]
_DIAGONAL = np.array([TEN + PAIRS.index((i, i)) for i in range(TEN)])


def _model_of(given: Outside) -> Model:
    model = given.model_ if isinstance(given, Fit) else given
    if not isinstance(model, Model):
        raise KindError(
            f"model is {shown(given)}; give a fit, or dynarm.compile(arm, friction=True)"
        )
    return model


def _rows(model: Model, **given: Numbers) -> list[FloatArray]:
    """The arrays, each (..., n) and finite."""
    out = []
    for name, value in given.items():
        array = reals(name, value, f"numbers (..., {model.arm.n})", model.entry_names("qd"))
        if not array.ndim or array.shape[-1] != model.arm.n:
            raise InputError(
                f"{name} has shape {array.shape}; robot '{model.arm.name}' has {model.arm.n} joints"
            )
        if not np.isfinite(array).all():
            raise InputError(f"{name} holds NaN or infinity; leave such samples out")
        out.append(array)
    return out


@dataclass(frozen=True, slots=True, eq=False)
class PayloadStream:
    """The estimate after each sample.

    Attributes
    ----------
    mass : ndarray
        Mass (N,) [kg].
    mass_std : ndarray
        Its deviation (N,).
    com : ndarray
        Centre (N, 3) in the frame of the tool [m].
    com_std : ndarray
        Its deviation (N, 3).
    last : LivePayload
        The estimate after the last sample.

    Examples
    --------
    >>> live = dynarm.LivePayload(dynarm.compile(dynarm.load("two_link")), noise=0.1)
    >>> stream = live.along([[0.3, 0.5]], [[0.0, 0.0]], [[0.0, 0.0]], [[60.0, 20.0]])
    >>> stream.com.shape
    (1, 3)
    """

    mass: FloatArray
    mass_std: FloatArray
    com: FloatArray
    com_std: FloatArray
    last: LivePayload


@dataclass(frozen=True, eq=False)
class LivePayload:
    """What the arm carries, estimated sample by sample.

    A new record each time, nothing is changed: `live = live.update(q, qd, qdd, tau)`.

    Parameters
    ----------
    model : Fit or Model
        A fit, or a compiled model of the arm without the payload.
    noise : float or array_like (n,), optional
        Standard deviation of what the model does not explain of each torque [N m]; None:
        that of the fit.
    state : ndarray, optional
        Where an earlier estimate stood; `update` fills it in.

    Examples
    --------
    >>> arm = dynarm.load("two_link")
    >>> t = np.linspace(0, 10, 1001)
    >>> q = np.column_stack([np.sin(2 * t), np.sin(3 * t)])
    >>> qd, qdd = np.column_stack([2 * np.cos(2 * t), 3 * np.cos(3 * t)]), -q * [4, 9]
    >>> tau = dynarm.compile(arm.with_payload(1.5)).inverse_dynamics(q, qd, qdd)
    >>> live = dynarm.LivePayload(dynarm.compile(arm), noise=0.1)
    """

    model: Outside
    noise: Kept = None
    state: Kept = None
    _kernels: LiveKernels = field(init=False, repr=False)

    def __post_init__(self) -> None:
        model = _model_of(self.model)
        put = object.__setattr__
        put(self, "_kernels", LiveKernels(model))
        if self.noise is None and not isinstance(self.model, Fit):
            raise InputError(
                "noise is None; a model does not know it, give a deviation for each joint [N m]"
            )
        put(self, "noise", self._noise(model))
        if self.state is None:
            put(
                self,
                "state",
                np.concatenate([np.zeros(TEN), [PRIOR[i] ** 2 * (i == j) for i, j in PAIRS]]),
            )

    def _noise(self, model: Model) -> FloatArray:
        if self.noise is None:
            left = self.model.residuals_
            return np.asarray(left.rms * np.sqrt(np.maximum(left.inflation, 1.0)))
        noise = reals("noise", self.noise, f"a number or {model.arm.n} numbers")
        if (
            noise.shape not in ((), (model.arm.n,))
            or not (noise > 0).all()
            or not np.isfinite(noise).all()
        ):
            raise InputError(f"noise is {shown(self.noise)}; give deviations above 0, one a joint")
        return np.array(np.broadcast_to(noise, model.arm.n))

    def update(self, q: Numbers, qd: Numbers, qdd: Numbers, tau: Numbers) -> LivePayload:
        """The estimate after one more sample (n,), or after several (N, n).

        Parameters
        ----------
        q : array_like (n,) or (N, n)
            Positions.
        qd : array_like (n,) or (N, n)
            Velocities.
        qdd : array_like (n,) or (N, n)
            Accelerations.
        tau : array_like (n,) or (N, n)
            Torques.

        Returns
        -------
        LivePayload
            The new estimate.

        Examples
        --------
        >>> round(live.update(q, qd, qdd, tau).mass, 2)
        1.5
        """
        return self.along(q, qd, qdd, tau).last

    def along(self, q: Numbers, qd: Numbers, qdd: Numbers, tau: Numbers) -> PayloadStream:
        """The estimates after each of the samples (N, n).

        Parameters
        ----------
        q : array_like (N, n)
            Positions.
        qd : array_like (N, n)
            Velocities.
        qdd : array_like (N, n)
            Accelerations.
        tau : array_like (N, n)
            Torques.

        Returns
        -------
        PayloadStream
            Mass and centre after each sample.

        Examples
        --------
        >>> live.along(q, qd, qdd, tau).mass.shape
        (1001,)
        """
        model = self._kernels.model
        arrays = [np.atleast_2d(x) for x in _rows(model, q=q, qd=qd, qdd=qdd, tau=tau)]
        if len({len(x) for x in arrays}) > 1:
            raise InputError(
                f"{[len(x) for x in arrays]} samples of q, qd, qdd, tau; give as many of each"
            )
        kernel, variance = self._kernels.ufunc("live_payload"), self.noise**2
        states = np.empty((len(arrays[0]) + 1, len(self.state)))
        states[0] = self.state
        for k, sample in enumerate(zip(*arrays, strict=True)):
            kernel(states[k], *sample, variance, out=states[k + 1])
        last = replace(self, state=states[-1].copy())
        mass, com, std = _told(states[1:])
        return PayloadStream(mass, std[:, 0], com, std[:, 1:], last)

    @property
    def mass(self) -> float:
        """[kg]"""
        return float(self.state[0])

    @property
    def com(self) -> FloatArray:
        """(3,) [m] in the tool's frame."""
        return np.asarray(_told(self.state[None])[1][0])

    @property
    def mass_std(self) -> float:
        """Standard deviation of the mass [kg]."""
        return float(np.sqrt(self.state[_DIAGONAL[0]]))

    @property
    def com_std(self) -> FloatArray:
        """(3,) standard deviations of the centre of mass [m]."""
        return np.asarray(_told(self.state[None])[2][0, 1:])

    @property
    def parameters(self) -> FloatArray:
        """(10,): m, mcx, mcy, mcz, Ixx, Ixy, Iyy, Ixz, Iyz, Izz about the tool's frame."""
        return np.array(self.state[:TEN])

    @property
    def std(self) -> FloatArray:
        """(10,): their deviations."""
        return np.asarray(np.sqrt(np.maximum(self.state[_DIAGONAL], 0.0)))

    def export_c(
        self, folder: str | os.PathLike[str], *, force: bool = False, single: bool = False
    ) -> Exported:
        """Write the functions live_payload, momentum_observer and momentum as C99 with a self-test.

        Parameters
        ----------
        folder : path-like
            The folder to write into; made where it is missing.
        force : bool, default False
            Write into a folder that is not empty, replacing files of the same names.
        single : bool, default False
            Write float instead of double.

        Returns
        -------
        Exported
            What was written.

        Examples
        --------
        >>> files = live.export_c("live")
        """
        return export_c(self._kernels, folder, force=force, single=single)

    def __repr__(self) -> str:
        com = ", ".join(f"{x:.3g}" for x in self.com)
        return f"<dynarm.LivePayload: {self.mass:.4g} +- {self.mass_std:.2g} kg at ({com}) m>"


def _told(states: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Mass, centre of mass, and their deviations (N, 4); of the centre by the slope of mc / m."""
    mass = states[:, 0]
    safe = np.where(np.abs(mass) > 1e-9, mass, 1e-9)
    com = states[:, 1:4] / safe[:, None]
    var = states[:, _DIAGONAL[:4]]
    both = states[:, [TEN + PAIRS.index((i, 0)) for i in (1, 2, 3)]]
    spread = (var[:, 1:] - 2 * com * both + com**2 * var[:, :1]) / safe[:, None] ** 2
    std = np.sqrt(np.maximum(np.column_stack([var[:, 0], spread]), 0.0))
    return mass, com, std


@dataclass(frozen=True, eq=False)
class MomentumObserver:
    """The joint torque from outside, without accelerations.

    `push, observer = observer.update(q, qd, tau)`.

    Parameters
    ----------
    model : Fit or Model
        A fit, or a compiled model of the arm.
    dt : float
        Time between samples [s].
    lag : float, default 0.02
        Time constant with which the estimate follows [s], some samples at least.
    state : ndarray, optional
        Where an earlier observer stood; `update` fills it in.

    Examples
    --------
    >>> model = dynarm.compile(dynarm.load("two_link"))
    >>> observer = dynarm.MomentumObserver(model, dt=0.01)
    >>> q, qd = np.array([0.3, 0.5]), np.zeros(2)
    """

    model: Outside
    dt: float
    lag: float = 0.02
    state: Kept = None
    _kernels: LiveKernels = field(init=False, repr=False)

    def __post_init__(self) -> None:
        for name in ("dt", "lag"):
            real(name, getattr(self, name), "a number of seconds above 0", above_zero)
        if self.lag < self.dt:
            raise InputError(
                f"lag is {self.lag:g} s, samples are {self.dt:g} s apart; give a longer one"
            )
        object.__setattr__(self, "_kernels", LiveKernels(_model_of(self.model)))

    def update(self, q: Numbers, qd: Numbers, tau: Numbers) -> tuple[FloatArray, MomentumObserver]:
        """The torque from outside after one more sample (n,), or after each of several (N, n), and the observer.

        Parameters
        ----------
        q : array_like (n,) or (N, n)
            Positions.
        qd : array_like (n,) or (N, n)
            Velocities.
        tau : array_like (n,) or (N, n)
            Torques.

        Returns
        -------
        ndarray
            The torque from outside (n,) or (N, n) [N m or N].
        MomentumObserver
            The observer after these samples.

        Examples
        --------
        >>> push, observer = observer.update(q, qd, model.gravity(q))
        >>> bool(np.abs(push).max() < 1e-9)
        True
        """
        arrays = _rows(self._kernels.model, q=q, qd=qd, tau=tau)
        rows = [np.atleast_2d(x) for x in arrays]
        kernel, n = self._kernels.ufunc("momentum_observer"), rows[0].shape[1]
        start = self._kernels.ufunc("momentum")(rows[0][0], rows[1][0])
        s = start if self.state is None else self.state
        out, times = np.empty((len(rows[0]), n)), np.array([self.dt, self.lag])
        for k, sample in enumerate(zip(*rows, strict=True)):
            out[k], s = kernel(s, *sample, times)
        push = out if arrays[0].ndim > 1 else out[0]
        return push, replace(self, state=s)


PRIOR = (30.0, *[10.0] * 3, *[3.0] * 6)
