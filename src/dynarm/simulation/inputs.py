"""What drives a run: no torque, a constant, samples with a stated hold, a function, or a controller."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ..errors import InputError, KindError

Array = np.ndarray
HOLDS = ("zero", "linear")


class Failed(Exception):
    """A torque or wrench function that raised or returned something else than forces."""


class Source(Protocol):
    """Forces at a time and state; `held` says that they stay constant between ticks, whatever the state does."""

    @property
    def depends(self) -> str: ...  # "nothing", "time" or "state"

    def __call__(self, t: float, q: Array, qd: Array) -> Array: ...


@dataclass(frozen=True, slots=True)
class Constant:
    """The same forces always."""

    value: Array
    depends: str = "nothing"

    def __call__(self, t: float, q: Array, qd: Array) -> Array:
        return self.value


@dataclass(frozen=True, slots=True)
class Sampled:
    """Forces known at times t: `hold="zero"` keeps each until the next, "linear" goes straight between them.

    Before the first and after the last sample the nearest one is used.
    """

    t: Any
    values: Any
    hold: str = "zero"
    depends: str = "time"

    def __post_init__(self) -> None:
        t, values = np.asarray(self.t, float), np.asarray(self.values, float)
        if t.ndim != 1 or len(t) < 1 or len(values) != len(t):
            raise InputError(
                f"samples: t has shape {t.shape}, values {values.shape}; give one row for each time"
            )
        if np.any(np.diff(t) <= 0):
            raise InputError("samples: t must increase from row to row")
        if not (np.isfinite(t).all() and np.isfinite(values).all()):
            raise InputError("samples hold NaN or infinity; give finite numbers")
        if self.hold not in HOLDS:
            raise InputError(f"samples: hold is {self.hold!r}; choose 'zero' or 'linear'")
        object.__setattr__(self, "t", t)
        object.__setattr__(self, "values", values)

    def __call__(self, t: float, q: Array, qd: Array) -> Array:
        k = int(np.searchsorted(self.t, t, side="right")) - 1
        k = min(max(k, 0), len(self.t) - 1)
        if self.hold == "zero" or k == len(self.t) - 1 or t <= self.t[0]:
            return self.values[k]
        part = (t - self.t[k]) / (self.t[k + 1] - self.t[k])
        return self.values[k] * (1 - part) + self.values[k + 1] * part


@dataclass(frozen=True, slots=True)
class Function:
    """Forces by a function f(t, q, qd) of the user, checked on every call."""

    function: Callable[..., Any]
    shape: tuple[int, ...]
    what: str
    depends: str = "state"

    def __call__(self, t: float, q: Array, qd: Array) -> Array:
        try:
            found = np.asarray(self.function(t, q, qd), dtype=float)
        except Exception as error:
            raise Failed(
                f"the {self.what} function raised {type(error).__name__}: {error}"
            ) from error
        if found.shape[-1:] != self.shape[-1:] or found.ndim > len(self.shape):
            raise Failed(f"the {self.what} function returned shape {found.shape}, not {self.shape}")
        return np.broadcast_to(found, self.shape)


def source_of(given: Any, shape: tuple[int, ...], what: str) -> Source:
    """What the user gave for torque or wrench, as a source of forces of the given shape."""
    if given is None:
        return Constant(np.zeros(shape))
    if isinstance(given, Sampled):
        if given.values.shape[1:] != shape[-1:] and given.values.shape[1:] != shape:
            raise InputError(
                f"{what}: samples have shape {given.values.shape[1:]}; give {shape[-1:]}"
            )
        return given
    if callable(given):
        return Function(given, shape, what)
    if isinstance(given, str):
        raise KindError(
            f"{what} is {given!r}; give None, an array, dynarm.simulation.Sampled or f(t, q, qd)"
        )
    try:
        value = np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        raise KindError(
            f"{what} is {given!r}; give None, an array, dynarm.simulation.Sampled or f(t, q, qd)"
        ) from None
    try:
        value = np.broadcast_to(value, shape).copy()
    except ValueError:
        raise InputError(f"{what} has shape {value.shape}; give {shape[-1]} entries") from None
    if not np.isfinite(value).all():
        raise InputError(f"{what} holds NaN or infinity; give finite numbers")
    return Constant(value)
