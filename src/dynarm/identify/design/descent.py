"""Motions made better step by step: the criterion, and springs that push them back within their limits.

Limits are springs on a fine grid, soft at first, so that a motion may pass through the floor on its way to a better
one, then stiff; what little is left is taken away by drawing the motion towards its home, where every limit holds.
The start at rest, and at home where there is one, are kept exactly: motions are sought in the space that keeps them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.optimize import minimize

from ...robot.arm import Arm
from .clearance import Clearance
from .limbs import Limbs
from .limits import Limits
from .trajectory import Series

_FULL = 0.97  # part of each limit from which on springs push
_STIFF = 100.0  # of springs at limits, over those at bodies
_UNIT = 0.05  # of the robot's size: length by which springs at bodies are measured
_MEMORY = 30  # steps that the approximation of curvature remembers
_FAILED = 1e10


class Sight(Protocol):
    """What is seen of motions: their worth and their limits."""

    arm: Arm
    series: Series
    limits: Limits
    fine: tuple[np.ndarray, np.ndarray, np.ndarray]
    clearance: Clearance | None

    @property
    def limbs(self) -> Limbs: ...
    @property
    def box_points(self) -> tuple[np.ndarray, np.ndarray]: ...
    def worth(self, x: np.ndarray, sharpness: float) -> tuple[float, np.ndarray]: ...
    def torque_push(self, x: np.ndarray, part: float) -> tuple[float, np.ndarray]: ...


@dataclass(frozen=True, slots=True)
class Press:
    """How stiff springs are, and how near the smooth criterion is to the true one.

    spare: what is kept between bodies besides their margin [m]; part: of torque limits from which on springs push.
    """

    stiffness: float
    sharpness: float
    spare: float = 0.0
    part: float = _FULL


# a blunt criterion leads to where motions are good all round, a sharp one to the condition number itself
STAGES = (Press(3.0, 1.0), Press(20.0, 4.0), Press(150.0, 12.0), Press(400.0, 25.0))


@dataclass(frozen=True, slots=True, eq=False)
class Descent:
    """The search for one motion: x = fixed + z free, for any z (n, k)."""

    sight: Sight
    fixed: np.ndarray  # (n, size)
    free: np.ndarray  # (k, size), rows of length one

    def value(self, x: np.ndarray, stage: Press) -> tuple[float, np.ndarray]:
        """Criterion and springs, and their slope (n, size)."""
        worth, slope = self.sight.worth(x, stage.sharpness)
        push, pushed = self.springs(x, stage.spare, stage.part)
        return worth + stage.stiffness * push, slope + stage.stiffness * pushed

    def springs(
        self, x: np.ndarray, spare: float = 0.0, most: float = _FULL
    ) -> tuple[float, np.ndarray]:
        """The mean over the motion of squares beyond the limits, and its slope (n, size)."""
        sight, limits = self.sight, self.sight.limits
        middle, half = (limits.high + limits.low) / 2, (limits.high - limits.low) / 2
        total, slope = 0.0, np.zeros_like(x)
        nil = np.zeros_like(half)
        bounds = ((middle, half), (nil, limits.velocity), (nil, limits.acceleration))
        for B, (centre, bound) in zip(sight.fine, bounds, strict=True):
            part = (B @ x.T - centre) / bound
            over = np.maximum(np.abs(part) - _FULL, 0)
            total += _STIFF * float((over**2).sum())
            slope += 2 * _STIFF * ((over * np.sign(part) / bound).T @ B)
        if limits.torque is not None:
            push, pushed = sight.torque_push(x, most)
            total, slope = total + _STIFF * push, slope + _STIFF * pushed
        q = sight.fine[0] @ x.T
        for push, pushed in self._bodies(q, spare):
            total, slope = total + push, slope + pushed.T @ sight.fine[0]
        return total / len(q), slope / len(q)

    def _bodies(self, q: np.ndarray, spare: float) -> list[tuple[float, np.ndarray]]:
        """Springs between bodies, and at the walls of the box, with their slopes (N, n)."""
        sight, unit = self.sight, _UNIT * self.sight.arm.size
        pushes = []
        if sight.clearance is not None and not sight.clearance.empty:
            pushes.append(sight.clearance.push(q, spare, unit))
        if sight.limits.box is not None:
            poses = sight.limbs.poses(q)
            joints, local = sight.box_points
            places = np.einsum("nkij,kj->nki", poses[:, joints, :3, :3], local)
            places = places + poses[..., :3, 3][:, joints]
            low, high = sight.limits.box
            spare = min(spare, float((high - low).min()) / 4)
            over = np.maximum(places - high + spare, 0) - np.maximum(low - places + spare, 0)
            row = np.repeat(np.arange(len(q)), len(joints))
            force = 2 / unit**2 * over.reshape(-1, 3)
            each = np.tile(joints, len(q))
            slope = sight.limbs.pull(poses, row, each, places.reshape(-1, 3), force)
            pushes.append((float((over**2).sum()) / unit**2, slope))
        return pushes

    def improved(
        self, x: np.ndarray, stage: Press, iterations: int, step: Callable[[], None]
    ) -> tuple[np.ndarray, bool]:
        """Coefficients after at most so many steps of a quasi-Newton method, and whether it came to its end."""
        shape = (len(x), len(self.free))

        def seen(z: np.ndarray) -> tuple[float, np.ndarray]:
            value, slope = self.value(self.fixed + z.reshape(shape) @ self.free, stage)
            slope = (slope @ self.free.T).ravel()
            if not np.isfinite(value) or not np.isfinite(slope).all():
                return _FAILED, np.zeros_like(z)
            return value, slope

        first = ((x - self.fixed) @ self.free.T).ravel()
        if iterations == 0:
            return self.fixed + first.reshape(shape) @ self.free, False
        options = {"maxiter": iterations, "maxfun": 3 * iterations, "maxcor": _MEMORY, "ftol": 1e-7}
        done = minimize(
            seen, first, jac=True, method="L-BFGS-B", options=options, callback=lambda z: step()
        )
        best = done.x if np.isfinite(done.x).all() else first
        return self.fixed + best.reshape(shape) @ self.free, bool(done.success)


def descent_of(sight: Sight, home: np.ndarray | None) -> Descent:
    """The search among motions that start at rest, and at home where there is one."""
    rows = sight.series.rest()
    n, size = len(sight.limits.low), sight.series.size
    fixed = np.zeros((n, size))
    if home is not None:
        rows = np.vstack([rows, sight.series.basis(np.zeros(1))[0]])
        fixed[:, 0] = home
    free = np.linalg.svd(rows)[2][len(rows) :]
    if home is not None:  # as near to zero as the start allows
        fixed = fixed - (fixed @ free.T) @ free
    return Descent(sight, fixed, free)


def started_at(x: np.ndarray, series: Series, home: np.ndarray) -> np.ndarray:
    """The motion shifted so that it starts at home."""
    moved = x.copy()
    moved[:, 0] += home - series.basis(np.zeros(1))[0][0] @ x.T
    return moved


def shrunk(
    x: np.ndarray, home: np.ndarray, limits: Limits, bases: Sequence[np.ndarray], full: float
) -> np.ndarray:
    """The motion of each joint drawn towards home as little as its position, velocity and acceleration need."""
    q, qd, qdd = (B @ x.T for B in bases)
    middle, half = (limits.high + limits.low) / 2, full * (limits.high - limits.low) / 2
    low, high = np.minimum(middle - half, home), np.maximum(middle + half, home)
    tiny = 1e-300
    ratios = (
        (q.max(axis=0) - home) / np.maximum(high - home, tiny),
        (home - q.min(axis=0)) / np.maximum(home - low, tiny),
        np.abs(qd).max(axis=0) / (full * limits.velocity),
        np.abs(qdd).max(axis=0) / (full * limits.acceleration),
    )
    part = 1 / np.maximum(np.max(ratios, axis=0), 1.0)
    drawn = np.asarray(part[:, None] * x)
    drawn[:, 0] += (1 - part) * home
    return drawn
