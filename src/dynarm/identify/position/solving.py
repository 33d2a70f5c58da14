"""Drives and delay that make the simulated closed loop follow the recorded positions best.

By Gauss-Newton on rollouts, which feel no noise of derivatives, from what reconstructed torques tell (`torques`): the
difference of simulated and recorded positions, joint by joint in units of its own size.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...border.kinds import FloatArray
from .bodies import Bodies
from .certainty import ALIKE, covariance, within_samples
from .loop import Loop
from .rollouts import COMMON, OWN, Rollouts, locked, loop_of
from .torques import begun
from .tracks import Track, moving, units

PASSES = 12  # Gauss-Newton steps at most
_LITTLE = 0.1  # of the squared errors in units of their sizes: less is not worth another step
_ENOUGH = 1e-2  # of a deviation: a smaller step is none
_LEAST = 1e-9  # [rad or m] of an error
_DAMPED = (0.01, 1.0)  # [rad, rad/s] by how much first states move in a step, about
_NARROWEST, _WIDEST = -2.5, 3.0  # of a width's logarithm: narrower ones only take more steps
_TURNS = 4  # of a step with bodies, each without the drives that the one before brought to a bound
PULL = 0.25  # of a width's logarithm: what no log tells stays near 0, by 2
_LEAD, _LONGEST = 0.002, 0.03  # [s] of Coulomb friction at first, and at most


@dataclass(frozen=True, slots=True, eq=False)
class DriveSolution:
    """Drives (4 n,) in the order of WORDS, joint by joint inside, delay, widths (n,) and lead of Coulomb friction.

    covariance: of drives, logarithms (n,) of the widths, delay and lead.
    """

    drives: FloatArray
    delay: float
    widths: FloatArray
    lead: float
    covariance: FloatArray
    told: FloatArray  # (4 n,) which drives the log tells at all
    rms: FloatArray  # (n,) of what is left [rad or m]
    worth: FloatArray  # (4 n,) what each drive would be if it alone took all of the torque
    passes: int
    natural: FloatArray | None = None  # (10 links,) bodies, where these were unknown
    of_bodies: FloatArray | None = None  # (p, p) covariance of their minimal parameters


@dataclass(frozen=True, slots=True, eq=False)
class DriveBounds:
    """Lowest and highest values of all unknowns, which are held at theirs, and the steps by which drives are varied."""

    low: FloatArray
    high: FloatArray
    held: np.ndarray
    steps: FloatArray  # (4 n,)


def solved(
    loop: Loop,
    tracks: Sequence[Track],
    bodies: Bodies | None = None,
    natural: FloatArray | None = None,
    most: int = PASSES,
) -> DriveSolution:
    """Drives and delay by rollouts, from those that torques give; the first states are unknown, too.

    bodies: where rigid bodies are unknown as well, beginning at natural parameters. most: steps of Gauss-Newton.
    """
    if bodies is not None and natural is not None:
        loop = bodies.loop(loop, natural)
    drives, delay, torque = begun(loop, tracks)
    rollouts, worth = Rollouts(loop, tracks, bodies), units(tracks, torque)
    starts = np.concatenate([np.concatenate(track.start) for track in tracks])
    bounds = _bounds(loop.n, len(starts), ~moving(tracks), 1e-3 * worth)
    x = np.concatenate([drives, np.zeros(loop.n), [delay, _LEAD], starts])
    x[bounds.held] = 0.0
    x[: 4 * loop.n] = locked(x[: 4 * loop.n], tracks)
    x = x if natural is None else np.concatenate([x, natural])
    x, left, passes = _descended(rollouts, x, bounds, most)
    J, sigma = rollouts.jacobian(x, bounds.steps), _sizes(left)
    n, size, last = loop.n, J.shape[2], rollouts.last
    held = np.concatenate([bounds.held, np.zeros(size - last, bool)])
    believed = None if bodies is None else bodies.believed(x[last:])
    spread, told = covariance(J, left, sigma, held, tracks, believed)
    armatures, late = within_samples(loop.kd, tracks)
    spread[:n, :n] += armatures
    spread[OWN * n, OWN * n] += late
    own, fitted = OWN * n + COMMON, loop_of(loop, x)
    return DriveSolution(
        np.where(bounds.held[: 4 * n], 0.0, x[: 4 * n]),
        float(x[OWN * n]),
        fitted.widths,
        fitted.lead,
        spread[:own, :own],
        told[: 4 * n],
        sigma,
        worth,
        passes,
        None if bodies is None else x[last:],
        None if bodies is None else spread[last:, last:],
    )


def fitted_loop(loop: Loop, bodies: Bodies | None, answer: DriveSolution) -> Loop:
    """The loop with the widths, the lead and the bodies of a solution."""
    if bodies is not None and answer.natural is not None:
        loop = bodies.loop(loop, answer.natural)
    return replace(loop, widths=answer.widths, lead=answer.lead)


def _bounds(n: int, starts: int, still: np.ndarray, steps: FloatArray) -> DriveBounds:
    """Of all unknowns; drives of joints that rest are held."""
    anything, free = np.full(starts, np.inf), np.zeros(COMMON + starts, bool)
    any_one = np.full(n, np.inf)
    narrow, wide = np.full(n, _NARROWEST), np.full(n, _WIDEST)
    low = np.concatenate([np.zeros(3 * n), -any_one, narrow, [0.0, 0.0], -anything])
    high = np.concatenate([np.full(4 * n, np.inf), wide, [np.inf, _LONGEST], anything])
    return DriveBounds(low, high, np.concatenate([still] * OWN + [free]), steps)


def _descended(
    rollouts: Rollouts, x: FloatArray, bounds: DriveBounds, most: int
) -> tuple[FloatArray, FloatArray, int]:
    """Unknowns and errors after steps of Gauss-Newton, and how many there were."""
    left, passes = rollouts.left(x), 0
    while passes < most:
        passes += 1
        sigma, J = _sizes(left), rollouts.jacobian(x, bounds.steps)
        if not np.isfinite(J).all():
            break
        step, length = _whole_step(rollouts, J, left, x, bounds)
        before = _cost(left, sigma) + _pulled(rollouts, x)
        for part in (1.0, 0.3, 0.1, 0.03):
            trial, last = x + part * step, rollouts.last
            trial[:last] = np.clip(trial[:last], bounds.low, bounds.high)
            tried = rollouts.left(trial)
            cost = _cost(tried, sigma) + _pulled(rollouts, trial)
            if np.isfinite(cost) and cost < before:
                break
        else:
            break
        gain, x, left = before - cost, trial, tried
        if gain < (
            _LITTLE if rollouts.bodies is None else ALIKE * _LITTLE
        ) or length < _ENOUGH * np.sqrt(len(x)):
            break
    return x, left, passes


def _pulled(rollouts: Rollouts, x: FloatArray) -> float:
    """What bodies cost that are not as believed, in units of the squares of errors."""
    bodies = rollouts.bodies
    return 0.0 if bodies is None else 2 * ALIKE * bodies.pull.at(x[rollouts.last :])[0]


def _sizes(left: FloatArray) -> FloatArray:
    """(n,): the size of each joint's errors, infinite where the loop runs away."""
    with np.errstate(over="ignore"):
        return np.asarray(np.maximum(np.sqrt((left**2).mean(axis=0)), _LEAST))


def _cost(left: FloatArray, sigma: FloatArray) -> float:
    with np.errstate(over="ignore", invalid="ignore"):
        return float(((left / sigma) ** 2).sum())


def _whole_step(
    rollouts: Rollouts, J: FloatArray, left: FloatArray, x: FloatArray, bounds: DriveBounds
) -> tuple[FloatArray, float]:
    """A step of all unknowns, and its length in deviations.

    Bodies as if drives had no bounds, then drives in theirs; once more without those that come to lie at one.
    """
    sigma, last, bodies = _sizes(left), rollouts.last, rollouts.bodies
    if bodies is None:
        return _stepped(J, left, sigma, x, bounds)
    gram, slope = _normal(J, left, sigma, x, last)
    free = ~bounds.held & (np.diag(gram)[:last] > 0) & ~_pinned(x, slope, bounds)
    for _ in range(_TURNS):
        own, right = _without_drives(gram, slope, np.flatnonzero(free), last)
        natural = bodies.drawn(own / ALIKE, right / ALIKE, x[last:])
        change = bodies.matrix @ (natural - x[last:])
        moved = left + J[:, :, last:] @ change
        step, length = _stepped(J[:, :, :last], moved, sigma, x[:last], bounds)
        to = x[:last] + step
        clipped = free & ((to <= bounds.low + 1e-9) | (to >= bounds.high - 1e-9))
        if not clipped.any():
            break
        free &= ~clipped
    far = float(np.sqrt(max(float(change @ own @ change) / ALIKE, 0.0)))
    return np.concatenate([step, natural - x[last:]]), float(np.hypot(length, far))


def _without_drives(
    gram: FloatArray, slope: FloatArray, free: np.ndarray, last: int
) -> tuple[FloatArray, FloatArray]:
    """Normal equations of bodies, from `last` on, when free drives follow them at their best."""
    size = np.sqrt(np.diag(gram)[free])
    both = gram[np.ix_(free, np.arange(last, len(gram)))] / size[:, None]
    unit = gram[np.ix_(free, free)] / np.outer(size, size) + 1e-9 * np.eye(len(free))
    gone = np.linalg.solve(unit, np.column_stack([both, slope[free] / size]))
    return gram[last:, last:] - both.T @ gone[:, :-1], slope[last:] - both.T @ gone[:, -1]


def _pinned(x: FloatArray, slope: FloatArray, bounds: DriveBounds) -> np.ndarray:
    """Which drives lie at a bound and would go beyond it."""
    own, down = x[: len(bounds.low)], slope[: len(bounds.low)]
    return np.asarray(((own <= bounds.low) & (down > 0)) | ((own >= bounds.high) & (down < 0)))


def _normal(
    J: FloatArray, left: FloatArray, sigma: FloatArray, x: FloatArray, last: int
) -> tuple[FloatArray, FloatArray]:
    """Normal equations of all columns, those before `last` being drives and first states, which are damped a little."""
    size, n = J.shape[2], J.shape[1]
    A, b = (J / sigma[:, None]).reshape(-1, size), (left / sigma).ravel()
    gram, slope = A.T @ A, A.T @ b
    widths, first = np.arange(4 * n, OWN * n), np.arange(OWN * n + COMMON, last)
    gram[widths, widths] += PULL
    slope[widths] += PULL * x[widths]
    gram[first, first] += np.tile(np.repeat(np.square(_DAMPED) ** -1.0, n), len(first) // (2 * n))
    return gram, slope


def _stepped(
    J: FloatArray, left: FloatArray, sigma: FloatArray, x: FloatArray, bounds: DriveBounds
) -> tuple[FloatArray, float]:
    """A step of Gauss-Newton inside the bounds, and its length in deviations."""
    from scipy.optimize import lsq_linear

    size = J.shape[2]
    whole, slope = _normal(J, left, sigma, x, size)
    scale = np.maximum(np.sqrt(np.diag(whole)), 1e-12)
    gram = whole / np.outer(scale, scale) + 1e-9 * np.eye(size)
    R = np.linalg.cholesky(gram).T
    target = np.linalg.solve(R.T, -slope / scale)
    held, low, high = bounds.held, (bounds.low - x) * scale, (bounds.high - x) * scale
    limits = np.where(held, -1e-12, low - 1e-12), np.where(held, 1e-12, high + 1e-12)
    y = lsq_linear(R, target, bounds=limits, method="bvls").x
    return np.where(held, 0.0, y / scale), float(np.linalg.norm(R @ y))
