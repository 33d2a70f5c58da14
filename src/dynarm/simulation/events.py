"""Events: zeros of functions of time and state, found on the interpolant of an integrator's step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ..border.arguments import among, flag, float_of, real, shown
from ..border.kinds import Outside
from ..errors import InputError, KindError
from ..model.model import Model
from .inputs import Failed, Raised, asked, locked

POINTS = 8  # places of a step at which signs are looked at
LIMITS = ("ignore", "report", "stop")


@dataclass(frozen=True, slots=True)
class Event:
    """A function of (t, q, qd) whose zeros are reported.

    Parameters
    ----------
    name : str
        What the event is called in `run.events`.
    function : callable
        f(t, q, qd).
    terminal : bool, default False
        The run ends there.
    direction : float, default 0.0
        +1 for rising zeros only, -1 for falling ones, 0 for both.

    Examples
    --------
    >>> low = dynarm.simulation.Event("low", lambda t, q, qd: q[0] + 0.5, terminal=True)
    >>> model = dynarm.compile(dynarm.load("two_link"))
    >>> dynarm.simulate(model, [0.0, 0.0], [0.0, 0.0], 2.0, events=[low]).status
    'event'
    """

    name: str
    function: Callable[[float, np.ndarray, np.ndarray], float]
    terminal: bool = False
    direction: float = 0.0

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise KindError(f"name of an event is {shown(self.name)}; give a string")
        if not callable(self.function):
            raise KindError(f"event '{self.name}' is {shown(self.function)}; give a function")
        flag("terminal", self.terminal)
        real("direction", self.direction, "1 for rising zeros, -1 for falling ones, 0 for both")

    def __call__(self, t: float, q: np.ndarray, qd: np.ndarray) -> float:
        returned = asked(self.function, t, locked(q), locked(qd))
        try:
            value = float_of(returned)
        except (TypeError, ValueError, OverflowError):
            words = f"what event '{self.name}' returned is {shown(returned)}; return a real number"
            raise Raised(KindError(words)) from None
        if np.isnan(value):
            raise Failed(f"event '{self.name}' returned NaN at t = {t:.6g} s")
        return value

    def crosses(self, before: float, after: float) -> bool:
        """Whether a sign change is one that was asked for; a start on zero is none.

        Parameters
        ----------
        before : float
            The function's value at one step.
        after : float
            The function's value at the next.

        Returns
        -------
        bool
            Whether it counts.

        Examples
        --------
        >>> low.crosses(0.1, -0.1)
        True
        """
        rising, falling = before < 0 <= after, before > 0 >= after
        return (rising and self.direction >= 0) or (falling and self.direction <= 0)


def root(function: Callable[[float], float], low: float, high: float) -> float:
    """A time between low and high at which the function changes its sign."""
    from scipy.optimize import brentq

    a, b = function(low), function(high)
    if a == 0:
        return low
    if b == 0 or (a < 0) == (b < 0):
        return high
    width = 4 * np.spacing(max(abs(low), abs(high), 1e-300))
    ends = {low: a, high: b}  # not asked again: of noise, the same sides are seen

    def inside(t: float) -> float:
        return ends[t] if t in ends else function(t)

    crossing, _ = brentq(inside, low, high, xtol=width, rtol=8.9e-16, full_output=True, disp=False)
    return float(crossing)  # of a function that jumps, where it was last seen to


def events_of(given: Outside, model: Model, limits: str) -> list[Event]:
    """The user's functions and the joints' position limits, as events."""
    if not among(limits, LIMITS):
        raise InputError(f"limits is {shown(limits)}; choose 'ignore', 'report' or 'stop'")
    if callable(given):
        given = [given]
    if not isinstance(given, Sequence) or isinstance(given, str):
        raise KindError(f"events is {shown(given)}; give a list of functions of (t, q, qd)")
    events = [_event(e, k) for k, e in enumerate(given)]
    return events + (_limits(model, limits == "stop") if limits != "ignore" else [])


def _event(given: Outside, k: int) -> Event:
    if isinstance(given, Event):
        return given
    if not callable(given):
        raise KindError(f"events[{k}] is {shown(given)}; give a function of (t, q, qd)")
    name = getattr(given, "__name__", f"event {k}")
    terminal, direction = getattr(given, "terminal", False), getattr(given, "direction", 0.0)
    return Event(name, given, flag("terminal", terminal), direction)


def _limits(model: Model, stop: bool) -> list[Event]:
    events = []
    coupling, first = model.arm.coupling, model.arm.nq - len(model.arm.coupling.masters)
    for i, joint in enumerate(model.arm.joints):
        place, factor, shift = first + coupling.of[i], coupling.multipliers[i], coupling.offsets[i]
        for side, bound in zip(("lower", "upper"), joint.position_limits or (), strict=False):

            def gap(
                t: float,
                q: np.ndarray,
                qd: np.ndarray,
                rule: tuple[int, float, float] = (place, factor, shift - bound),
            ) -> float:
                place, factor, shift = rule
                return float(factor * q[place] + shift)

            direction = -1.0 if side == "lower" else 1.0
            events.append(Event(f"{side} limit of {joint.name}", gap, stop, direction))
    return events
