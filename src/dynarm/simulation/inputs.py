"""What drives a run: no torque, a constant, samples with a stated hold, a function of time and state, or a controller.

A run is cut at the times where an input jumps or has a corner. Inside such an interval an input is a `Law`: a constant,
a straight line, or a function of the state.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from ..border.arguments import above_zero, among, check_finite, real, reals, shown
from ..border.frames import is_plain, order_of
from ..border.kinds import Maker, Outside
from ..border.words import brief
from ..errors import DynarmError, InputError
from .health import BLOWN

Array = np.ndarray
HOLDS = ("zero", "linear")
MOST_TICKS = 1e8  # of a controller in one run: gigabytes of times
TOGETHER = 1e-12  # part of a run that two breaks must be apart


class Failed(Exception):
    """A torque, wrench or event function that returned no finite number."""

    done = 0  # steps of the present call that had been made before


class Raised(Exception):
    """A user's function raised: `error` goes on to the user, whatever an integrator would make of it on the way."""

    def __init__(self, error: Exception):
        super().__init__(error)
        self.error = error


@contextmanager
def errors_of_functions() -> Iterator[None]:
    """What a torque, wrench or event function raises goes to the user as it was raised, with its traceback."""
    try:
        yield
    except Raised as raised:
        raise raised.error from None


def asked(function: Maker, *state: Outside) -> Outside:
    """What a user's function returns; what it raises is carried past the integrator."""
    try:
        return function(*state)
    except (Failed, Raised):
        raise
    except Exception as error:
        raise Raised(error) from None


class Law(Protocol):
    """Forces inside one interval; `steady` ones do not ask for the state."""

    @property
    def steady(self) -> bool: ...

    def __call__(self, t: float, q: Array, qd: Array) -> Array: ...


class Source(Protocol):
    """Forces of a whole run."""

    def breaks(self, t_end: float) -> Array: ...

    def during(self, start: float, end: float, q: Array, qd: Array) -> Law: ...


@dataclass(frozen=True, slots=True)
class Constant:
    """The same forces always."""

    value: Array
    steady: bool = True

    def __call__(self, t: float, q: Array, qd: Array) -> Array:
        return self.value

    def breaks(self, t_end: float) -> Array:
        return np.zeros(0)

    def during(self, start: float, end: float, q: Array, qd: Array) -> Constant:
        return self


@dataclass(frozen=True, slots=True)
class Line:
    """Forces on a straight line in time."""

    start: float
    value: Array
    slope: Array
    steady: bool = True

    def __call__(self, t: float, q: Array, qd: Array) -> Array:
        return self.value + (t - self.start) * self.slope

    def rows(self, times: Array) -> Array:
        """The forces at several times, time first."""
        ahead = (times - self.start).reshape(-1, *[1] * self.value.ndim)
        forces: Array = self.value + ahead * self.slope
        return forces


@dataclass(frozen=True, slots=True)
class Sampled:
    """Forces known at times t.

    Before the first and after the last time the nearest row is used.

    Parameters
    ----------
    t : array_like (T,)
        Times [s].
    values : array_like (T, n) or (T, N, n)
        One row for each time; with a second axis, one for each sample of a batch.
    hold : str, default "zero"
        "zero" keeps each row until the next, "linear" goes straight between them.
    labels : tuple[Outside, ...], optional
        Names of the columns, where values is a table.

    Examples
    --------
    >>> push = dynarm.simulation.Sampled([0.0, 0.5], [[60.0, 20.0], [0.0, 0.0]])
    >>> model = dynarm.compile(dynarm.load("two_link"))
    >>> dynarm.simulate(model, [0.0, 0.0], [0.0, 0.0], 1.0, push).status
    'success'
    """

    t: Outside
    values: Outside
    hold: str = "zero"
    labels: tuple[Outside, ...] | None = field(default=None, repr=False)  # of a DataFrame's columns

    __repr__ = brief

    def __post_init__(self) -> None:
        t = reals("samples: t", self.t, "an array of seconds")
        values = reals("samples: values", self.values, "an array of real numbers")
        if self.labels is None and np.ndim(self.values) == 2 and not is_plain(self.values):
            columns = getattr(self.values, "columns", None)
            object.__setattr__(self, "labels", None if columns is None else tuple(columns))
        if t.ndim != 1 or len(t) < 1 or values.ndim < 2 or len(values) != len(t):
            raise InputError(
                f"samples: t has shape {t.shape}, values {values.shape}; give one row for each time"
            )
        if not (np.isfinite(t).all() and np.isfinite(values).all()):
            raise InputError("samples hold NaN or infinity; give finite numbers")
        if np.any(np.diff(t) <= 0):
            raise InputError("samples: t must increase from row to row")
        if not among(self.hold, HOLDS):
            raise InputError(f"samples: hold is {shown(self.hold)}; choose 'zero' or 'linear'")
        object.__setattr__(self, "t", t)
        object.__setattr__(self, "values", values)

    def ordered(self, names: Sequence[str], what: str) -> Sampled:
        """The same with the columns of a DataFrame in the order of the names.

        Parameters
        ----------
        names : sequence of str
            The names in the wanted order.
        what : str
            What the columns are, for an error message.

        Returns
        -------
        Sampled
            The same samples.

        Examples
        --------
        >>> push.ordered(("shoulder", "elbow"), "torque").hold
        'zero'
        """
        if self.labels is None:
            return self
        places = order_of(list(self.labels), names, what, "columns")
        return Sampled(self.t, self.values if places is None else self.values[:, places], self.hold)

    def breaks(self, t_end: float) -> Array:
        """Times at which the forces jump, until the end of a run.

        Parameters
        ----------
        t_end : float
            End of the run [s].

        Returns
        -------
        ndarray
            The times [s].

        Examples
        --------
        >>> push.breaks(1.0)
        array([0.5])
        """
        inside: Array = self.t[(self.t > 0) & (self.t < t_end)]
        return inside

    def during(self, start: float, end: float, q: Array, qd: Array) -> Law:
        # looked up a little inside: breaks that differ by rounding are one, and may lie just before a sample
        """The forces as a function of time between two breaks.

        Parameters
        ----------
        start : float
            Time of the first break [s].
        end : float
            Time of the second [s].
        q : array_like (..., nq)
            Positions at the start.
        qd : array_like (..., nv)
            Velocities at the start.

        Returns
        -------
        callable
            f(t, q, qd).

        Examples
        --------
        >>> law = push.during(0.0, 0.5, np.zeros(2), np.zeros(2))
        """
        inside = start + 1e-6 * (end - start)
        k = int(np.searchsorted(self.t, inside, side="right")) - 1
        if self.hold == "zero" or k < 0 or k == len(self.t) - 1:
            return Constant(self.values[max(k, 0)])
        slope = (self.values[k + 1] - self.values[k]) / (self.t[k + 1] - self.t[k])
        return Line(float(self.t[k]), self.values[k], slope)


@dataclass(frozen=True, slots=True)
class FunctionInput:
    """Forces by a function f(t, q, qd) of the user, checked on every call."""

    function: Maker
    shape: tuple[int, ...]
    what: str
    names: Sequence[str] = ()
    steady: bool = False
    entry: tuple[int, ...] | None = None  # shape of what is given for one sample, if not a row

    def __call__(self, t: float, q: Array, qd: Array) -> Array:
        returned = asked(self.function, t, locked(q), locked(qd))
        try:
            what = f"what the {self.what} function returned"
            force = reals(what, returned, "real numbers", self.names)
        except DynarmError as error:
            raise Raised(error) from None
        fitted = _fitted(force, self.shape, self.entry or self.shape[-1:])
        if fitted is None:
            wanted = (*self.shape[:-1], *(self.entry or self.shape[-1:]))
            raise Raised(
                InputError(
                    f"the {self.what} function returned shape {force.shape} at t = {t:.6g} s; it must be {wanted}"
                )
            )
        force = fitted
        # of a motion that has blown up, nothing is to blame
        sound = (np.abs(qd) < BLOWN).all(axis=-1)
        if not np.isfinite(force).all(axis=-1)[sound].all():
            raise Failed(f"the {self.what} function returned NaN or infinity at t = {t:.6g} s")
        return force

    def breaks(self, t_end: float) -> Array:
        return np.zeros(0)

    def during(self, start: float, end: float, q: Array, qd: Array) -> FunctionInput:
        return self


@dataclass(slots=True)
class Held:
    """Forces by a function that is asked once a period and held in between. One object for one run: it remembers."""

    function: FunctionInput
    period: float
    last: Array | None = field(default=None)

    def breaks(self, t_end: float) -> Array:
        if t_end > MOST_TICKS * self.period:
            raise InputError(
                f"{self.function.what}: a rate of {1 / self.period:g} Hz over {t_end:g} s is more than "
                f"{MOST_TICKS:.0e} samples; lower the rate or end the run earlier"
            )
        ticks = self.period * np.arange(1, int(np.ceil(t_end / self.period)) + 1)
        return ticks[ticks < t_end * (1 - 1e-12)]

    def during(self, start: float, end: float, q: Array, qd: Array) -> Constant:
        tick = round(start / self.period) * self.period
        if self.last is None or abs(start - tick) <= 1e-9 * self.period:
            self.last = np.array(self.function(start, q, qd))
        return Constant(self.last)


def breaks_of(sources: Sequence[Source], t_end: float, halts: Sequence[float] = ()) -> Array:
    """Times inside a run at which any of its inputs jumps or has a corner; those that rounding separates are one."""
    times = np.unique(np.concatenate([halts, *(s.breaks(t_end) for s in sources)]))
    near = TOGETHER * t_end
    apart = np.diff(times, prepend=0.0) > near
    return times[apart & (times < t_end - near)]


def locked(x: Array) -> Array:
    """A view that cannot be written to: what a user's function does must not change the state."""
    view = x.view()
    view.flags.writeable = False
    return view


def source_of(
    given: Outside,
    shape: tuple[int, ...],
    what: str,
    names: Sequence[str] = (),
    wanted: str = "None, an array, dynarm.simulation.Sampled or f(t, q, qd)",
    entry: tuple[int, ...] | None = None,
) -> Source:
    """What the user gave for torque or wrench, as a source of forces of the given shape.

    wanted: what may be given; entry: the shape that it has for one sample, if that is not a row (wrenches by tool).
    """
    one = shape[-1:] if entry is None else entry
    if given is None:
        return Constant(np.zeros(shape))
    if isinstance(given, Sampled):
        samples = given.ordered(names, what)
        if samples.values.shape[1:] not in ((*shape[:-1], *one), one):
            raise InputError(
                f"{what}: a row of the samples has shape {samples.values.shape[1:]}; give {one}"
            )
        if len(one) == 1:
            return samples
        lead = samples.values.shape[: -len(one)]
        return Sampled(samples.t, samples.values.reshape(*lead, -1), samples.hold)
    if callable(given):
        function = FunctionInput(given, shape, what, names, entry=entry)
        rate = getattr(given, "rate", None)
        if rate is None:
            return function
        per_second = "samples per second, or None"
        return Held(function, 1 / real(f"{what}: rate", rate, per_second, above_zero))
    return Constant(_constant(given, shape, what, names, wanted, one))


def _constant(
    given: Outside,
    shape: tuple[int, ...],
    what: str,
    names: Sequence[str],
    wanted: str,
    one: tuple[int, ...],
) -> Array:
    value = reals(what, given, wanted, names)
    lead = shape[:-1]
    if value.shape not in ((*lead, *one), one):
        entries = f"{one[0]} entries" if len(one) == 1 else f"shape {one}"
        raise InputError(
            f"{what} has shape {value.shape}; give {entries}"
            + (f", or {(*lead, *one)} for the batch" if lead else "")
        )
    check_finite(what, value)
    return np.broadcast_to(value.reshape(*value.shape[: -len(one)], -1), shape).copy()


def _fitted(force: Array, shape: tuple[int, ...], one: tuple[int, ...]) -> Array | None:
    """What was given for the batch or for one sample of it, in rows; None where it is neither."""
    if force.shape == (*shape[:-1], *one):
        return force.reshape(shape)
    if force.shape == one or (force.ndim == 0 and one == (1,)):
        return np.broadcast_to(force.reshape(-1), shape)
    return None
