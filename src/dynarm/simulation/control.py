"""Controllers from compiled functions: joint PD with gravity compensation, and computed torque.

Each samples the state at its own rate and holds its torque in between; with rate=None it acts continuously. A reference
is a pose (n,), or a function of time that returns q, qd and qdd.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import InputError
from ..model import Model

Reference = Callable[[float], tuple[Any, Any, Any]]


def _reference(given: Any, n: int) -> Reference:
    if callable(given):
        return given
    pose = np.asarray(given, float)
    if pose.shape[-1:] != (n,):
        raise InputError(
            f"reference has shape {pose.shape}; give {n} positions, or a function of time"
        )
    still = np.zeros(n)
    return lambda t: (pose, still, still)


@dataclass(frozen=True)
class Controller:
    """A model that the controller believes in, a reference, gains, sampling rate [Hz] and torque limits."""

    model: Model
    reference: Any
    kp: Any
    kd: Any
    rate: float | None = None
    limit: Any = None  # (n,) largest torque; None: the arm's own effort limits where it has them

    depends = "state"

    def __post_init__(self) -> None:
        if self.rate is not None and not self.rate > 0:
            raise InputError(
                f"rate is {self.rate!r}; give samples per second, or None for continuous control"
            )
        object.__setattr__(self, "reference", _reference(self.reference, self.model.arm.n))
        for name in ("kp", "kd"):
            object.__setattr__(self, name, np.asarray(getattr(self, name), float))
        limit = self.limit
        if limit is None:
            limit = [
                np.inf if j.effort_limit is None else j.effort_limit for j in self.model.arm.joints
            ]
        object.__setattr__(
            self, "limit", np.broadcast_to(np.asarray(limit, float), (self.model.arm.n,))
        )

    def __call__(self, t: float, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        return np.clip(self.law(t, q, qd), -self.limit, self.limit)

    def law(self, t: float, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        """The torque before its limits."""
        raise TypeError(
            f"{type(self).__name__} has no control law; use GravityPD or ComputedTorque"
        )


@dataclass(frozen=True)
class GravityPD(Controller):
    """tau = kp (q_ref - q) + kd (qd_ref - qd) + gravity(q)."""

    def law(self, t: float, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        wanted, rate, _ = self.reference(t)
        return self.kp * (wanted - q) + self.kd * (rate - qd) + self.model.gravity(q)


@dataclass(frozen=True)
class ComputedTorque(Controller):
    """tau = inverse dynamics at qdd_ref + kd (qd_ref - qd) + kp (q_ref - q): the error obeys e'' + kd e' + kp e = 0."""

    def law(self, t: float, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        wanted, rate, acceleration = self.reference(t)
        demand = acceleration + self.kd * (rate - qd) + self.kp * (wanted - q)
        return self.model.inverse_dynamics(q, qd, demand)
