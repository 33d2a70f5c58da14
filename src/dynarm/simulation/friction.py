"""Sharp Coulomb friction: each joint slides one way, slides the other way, or sticks; the motion in between is smooth.

A sliding joint feels its Coulomb friction as a constant. When its velocity reaches zero it sticks if friction can hold
it: its acceleration is then zero, and the friction is whatever that takes. When that is more than the joint's Coulomb
friction, it slides off in the direction of the excess.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..drive import friction_force
from ..model import Model
from ..robot.arm import Friction

TINY = 1e-10  # velocity [rad/s or m/s] below which a joint stands still at the start of a run


@dataclass(slots=True)
class Sliding:
    """Which joints slide which way: mode +1, -1, or 0 for a joint that sticks."""

    model: Model
    sharp: np.ndarray  # joints with sharp Coulomb friction
    mode: np.ndarray
    limits: np.ndarray  # (n, 2): Coulomb friction for positive and for negative velocity
    smooth: tuple[Friction | None, ...]  # what else the joints' friction has
    terms: Any = field(repr=False)  # (q, qd) -> M, bias

    @classmethod
    def of(cls, model: Model) -> Sliding | None:
        """The friction of a model's joints, or None where none of it is sharp."""
        frictions = [j.friction for j in model.arm.joints]
        limits = np.array([_coulomb(f) for f in frictions])
        sharp = limits.max(axis=1) > 0
        if not sharp.any():
            return None
        smooth = tuple(
            _without_coulomb(f) if s else f for f, s in zip(frictions, sharp, strict=True)
        )
        return cls(
            model,
            sharp,
            np.ones(len(sharp)),
            limits,
            smooth,
            model.functions["mass_matrix_and_bias"],
        )

    def start(self, q: np.ndarray, qd: np.ndarray, tau: np.ndarray) -> None:
        """The modes at the beginning of a run."""
        self.mode = np.sign(np.where(np.abs(qd) < TINY, 0.0, qd))
        self._release(q, qd, tau)

    def rates(self, q: np.ndarray, qd: np.ndarray, tau: np.ndarray) -> tuple[np.ndarray, float]:
        """Accelerations and the rate of the total energy, with the modes as they are."""
        qdd, _ = self._solve(q, qd, tau)
        lost = self._smooth(qd) + np.where(self.mode > 0, self.limits[:, 0], -self.limits[:, 1]) * (
            self.sharp & (self.mode != 0)
        )
        lost = np.where(self._stuck, 0.0, lost)
        return qdd, float((tau - lost) @ np.where(self._stuck, 0.0, qd))

    @property
    def _stuck(self) -> np.ndarray:
        return self.sharp & (self.mode == 0)

    def _smooth(self, qd: np.ndarray) -> np.ndarray:
        return np.array([float(friction_force(f, v)) for f, v in zip(self.smooth, qd, strict=True)])

    def _solve(
        self, q: np.ndarray, qd: np.ndarray, tau: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Accelerations, and for stuck joints the force that friction holds."""
        M, b = self.terms(q, qd)
        coulomb = np.where(self.mode > 0, self.limits[:, 0], -self.limits[:, 1]) * (
            self.sharp & (self.mode != 0)
        )
        free = tau - b - self._smooth(qd) - coulomb
        stuck = self._stuck
        qdd = np.zeros(len(q))
        if not stuck.all():
            moving = ~stuck
            qdd[moving] = np.linalg.solve(M[np.ix_(moving, moving)], free[moving])
        return qdd, free - M @ qdd

    def _release(self, q: np.ndarray, qd: np.ndarray, tau: np.ndarray) -> None:
        """Let go the stuck joints that friction cannot hold, the most overloaded one first."""
        while self._stuck.any():
            _, held = self._solve(q, qd, tau)
            limit = np.where(held > 0, self.limits[:, 0], self.limits[:, 1])
            excess = np.where(self._stuck, np.abs(held) - limit, -np.inf)
            worst = int(np.argmax(excess))
            if excess[worst] <= 0:
                return
            self.mode[worst] = np.sign(held[worst])

    def switch(self, y: np.ndarray, tau: np.ndarray) -> np.ndarray:
        """The state after a joint has come to rest or broken loose, modes set anew."""
        n = len(self.mode)
        y = y.copy()
        q, qd = y[:n], y[n : 2 * n]
        rest = self.sharp & (np.abs(qd) < 1e-7)
        qd[rest] = 0.0
        self.mode = np.where(rest, 0.0, np.where(self.sharp, np.sign(qd), self.mode))
        self._release(q, qd, tau)
        return y

    def events(self, motion: Any) -> list[Callable[..., float]]:
        """For each joint with sharp friction the function whose zero ends its mode."""
        found = []
        n = len(self.mode)
        for i in np.flatnonzero(self.sharp):
            found.append(self._rest(int(i), n) if self.mode[i] else self._loose(int(i), n, motion))
        return found

    def _rest(self, i: int, n: int) -> Callable[..., float]:
        def function(t: float, y: np.ndarray) -> float:
            return float(y[n + i])

        function.terminal = True  # type: ignore[attr-defined]
        function.direction = -self.mode[i]  # type: ignore[attr-defined]
        return function

    def _loose(self, i: int, n: int, motion: Any) -> Callable[..., float]:
        def function(t: float, y: np.ndarray) -> float:
            q, qd = y[:n], y[n : 2 * n]
            _, held = self._solve(q, qd, motion.force(t, q, qd))
            limit = self.limits[i, 0] if held[i] > 0 else self.limits[i, 1]
            return float(limit - abs(held[i]))

        function.terminal = True  # type: ignore[attr-defined]
        function.direction = -1  # type: ignore[attr-defined]
        return function


def _coulomb(f: Friction | None) -> tuple[float, float]:
    if f is None or f.shape != "sign":
        return 0.0, 0.0
    return f.coulomb, f.coulomb if f.coulomb_negative is None else f.coulomb_negative


def _without_coulomb(f: Friction | None) -> Friction | None:
    if f is None:
        return None
    return Friction(viscous=f.viscous, offset=f.offset, viscous_negative=f.viscous_negative)
