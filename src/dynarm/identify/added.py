"""The payload that a fit of the arm without it leaves unexplained in logs with it.

tau - forces of the fit = Z payload + D changes + noise: friction need not be quite what it was in the runs of the fit,
so that its parts may change by as much as they do from run to run (`friction/changes.py`). Friction that grows with the
load grows with the payload's weight, so that a few passes are made. Joints are weighted by what is left of each,
autocorrelation accounted for; the certainty is that of the noise, of the changes, and of the fit's own values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..border.kinds import Outside
from ..errors import InputError
from ..robot.arm import Arm
from .bodies import wrench_forces
from .carried import Payload, payload_of, torque_of
from .friction.changes import Changes, changes_of
from .friction.columns import Along
from .judgement.statistics import inflation
from .prediction import forces_along
from .preprocess import states_at
from .result import Fit
from .segments import starts_of

_PASSES = 4
_PART = 2048  # samples whose columns are held at a time
_TOLD = (
    1e-6  # singular value, columns of length one, from which on a direction counts as determined
)
_LEAST = 20  # samples


@dataclass(frozen=True, slots=True, eq=False)
class _Run:
    """One log as the fit sees it: states, what was measured, columns Z (N, n, 10) of the payload."""

    states: tuple[np.ndarray, np.ndarray, np.ndarray]
    tau: np.ndarray
    deflected: np.ndarray | None
    held: np.ndarray
    Z: np.ndarray

    def own(self, fit: Fit, ten: np.ndarray) -> np.ndarray:
        """(N, n): the forces of the arm alone, its friction under the payload's weight."""
        held = self.held + self.Z @ ten
        return forces_along(fit.record.terms, fit.values_, self.states, self.deflected, held)

    def left(self, fit: Fit, ten: np.ndarray) -> np.ndarray:
        """(N, n): what the arm alone leaves of the torques."""
        return np.asarray(self.tau - self.held - self.own(fit, ten))

    def changed(self, changes: Changes, ten: np.ndarray) -> np.ndarray:
        """(N, joints, 3): the parts of the friction under the payload's weight."""
        return changes.columns(self.states, self.deflected, self.held + self.Z @ ten)


@dataclass(frozen=True, slots=True, eq=False)
class _Solved:
    """The ten numbers and the changes (n, 3) of the logs, with what the solution was made of."""

    ten: np.ndarray
    change: np.ndarray
    weight: np.ndarray  # (n,) 1 / variance of what is left of each torque, per independent sample
    D: list[np.ndarray]  # (N, n, 3) of each log; the columns of a base are 0
    mean: np.ndarray  # (n, 3, 10) what changes take over from the ten
    inverse: np.ndarray  # (10, 10) covariance by noise and changes
    told: np.ndarray
    untold: np.ndarray


def added_payload(fit: Fit, arm: Arm, loaded: Sequence[Outside], tool: str | None) -> Payload:
    """The payload on a tool of the arm, held against a fit of the arm without it."""
    own = fit.record.terms.arm
    if arm.joint_names != own.joint_names:
        raise InputError(
            f"the fit is of '{own.name}' with joints {', '.join(own.joint_names)}; robot '{arm.name}' has "
            f"{', '.join(arm.joint_names)}: give the robot that was fitted"
        )
    runs = [_run(fit, arm, log, tool) for log in loaded]
    if sum(len(run.tau) for run in runs) < _LEAST:
        raise InputError(f"the logs with the payload have fewer than {_LEAST} samples; give more")
    changes = changes_of(fit)
    weight, ten = _weight([run.left(fit, np.zeros(10)) for run in runs]), np.zeros(10)
    for _ in range(_PASSES):
        left = [run.left(fit, ten) for run in runs]
        solved = _solved(runs, left, changes, weight, ten)
        ten = solved.ten
        weight = _weight(
            [
                y - run.Z @ ten - (D * solved.change).sum(axis=-1)
                for run, y, D in zip(runs, left, solved.D, strict=True)
            ]
        )
    return _certain(fit, runs, solved)


def unexplained(
    fit: Fit, arm: Arm, log: Outside, tool: str | None, ten: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """(N, n) twice: what is left of a log's torques by the arm alone, and with a payload of ten numbers."""
    run = _run(fit, arm, log, tool)
    return run.left(fit, np.zeros(10)), run.left(fit, ten) - run.Z @ ten


def _run(fit: Fit, arm: Arm, given: Outside, tool: str | None) -> _Run:
    log, terms = fit._log(given), fit.record.terms
    q, qd, qdd = states_at(log, fit.record.preparation)
    held = np.zeros_like(qd) if log.wrench is None else wrench_forces(terms.arm, q, log.wrench)
    carrier = arm.tool_named(tool)
    units = [torque_of(arm, carrier, unit)(q.T, qd.T, qdd.T) for unit in np.eye(10)]
    Z = np.stack([np.stack(list(unit), axis=-1) for unit in units], axis=-1)
    deflected = terms.deflections(q, qd, qdd, starts_of(log))
    return _Run((q, qd, qdd), log.tau, deflected, held, Z)


def _weight(left: Sequence[np.ndarray]) -> np.ndarray:
    """(n,) of each torque 1 / (mean square left, times its autocorrelation's inflation); 0 where none was measured."""
    rest = np.concatenate(list(left))
    seen = np.isfinite(rest).all(axis=0)
    largest = float(np.nanmax(np.abs(rest), initial=0.0))
    floor = max((1e-12 * largest) ** 2, 1e-300)
    swell = [
        max(inflation(part[:, j]) for part in left) if ok else 1.0 for j, ok in enumerate(seen)
    ]
    square = np.where(seen, (np.where(seen, rest, 0.0) ** 2).mean(axis=0), np.inf)
    return np.asarray(1 / (np.maximum(square, floor) * swell))


def _solved(
    runs: Sequence[_Run],
    left: Sequence[np.ndarray],
    changes: Changes,
    weight: np.ndarray,
    before: np.ndarray,
) -> _Solved:
    """The ten numbers by weighted least squares, the changes held to their deviations and eliminated."""
    n, seen = len(weight), weight > 0
    D = [_filled(run.changed(changes, before), n) for run in runs]
    dry = np.sqrt(np.concatenate([d[:, :, 1] ** 2 for d in D]).mean(axis=0))
    first = n - changes.parts.shape[1]
    spread = np.vstack([np.zeros((first, 3)), changes.deviations(dry[first:])])
    A, b = np.zeros((10, 10)), np.zeros(10)
    mean, kept = np.zeros((n, 3, 10)), np.zeros((n, 3))
    for j in np.flatnonzero(seen):
        Z = np.concatenate([run.Z[:, j] for run in runs])
        X = np.concatenate([d[:, j] for d in D]) * spread[j]
        y = np.concatenate([one[:, j] for one in left])
        held = np.linalg.solve(
            weight[j] * X.T @ X + np.eye(3), weight[j] * X.T @ np.column_stack([Z, y])
        )
        mean[j], kept[j] = spread[j][:, None] * held[:, :10], spread[j] * held[:, 10]
        rest = np.column_stack([Z, y]) - X @ held
        A += weight[j] * Z.T @ rest[:, :10]
        b += weight[j] * Z.T @ rest[:, 10]
    s = np.sqrt(np.maximum(np.diag(A), 1e-300))
    values, V = np.linalg.eigh(A / s / s[:, None])
    told = values > _TOLD**2 * values[-1]
    inverse = (V[:, told] / values[told]) @ V[:, told].T / s / s[:, None]
    ten = inverse @ b
    change = kept - mean @ ten
    return _Solved(ten, change, weight, D, mean, inverse, V[:, told].T * s, V[:, ~told].T / s)


def _filled(columns: np.ndarray, n: int) -> np.ndarray:
    """(N, n, 3), a free base's being 0."""
    out = np.zeros((len(columns), n, columns.shape[-1]))
    out[:, n - columns.shape[1] :] = columns
    return out


def _certain(fit: Fit, runs: Sequence[_Run], solved: _Solved) -> Payload:
    """The payload with its covariance: of noise and changes, and of the values of the fit."""
    mixed = np.zeros((10, len(fit.values_)))
    for run, D in zip(runs, solved.D, strict=True):
        mixed += _mixed(fit, run, D, solved)
    gain = solved.inverse @ mixed
    spread = solved.inverse + gain @ fit.covariance_ @ gain.T
    return payload_of(solved.ten, spread, solved.told, solved.untold)


def _mixed(fit: Fit, run: _Run, D: np.ndarray, solved: _Solved) -> np.ndarray:
    """(10, p): Z' W X, of Z what the changes leave, part by part."""
    terms = fit.record.terms
    held, total = run.held + run.Z @ solved.ten, 0.0
    for low in range(0, len(run.tau), _PART):
        part = slice(low, low + _PART)
        q, qd, qdd = (x[part] for x in run.states)
        load = terms.rigid_forces(fit.values_, q, qd, qdd) + held[part]
        deflected = None if run.deflected is None else run.deflected[part]
        along = Along(deflected, load) if terms.listed else None
        X = terms.evaluate(q, qd, qdd, along)
        Z = run.Z[part] - np.einsum("njc,jck->njk", D[part], solved.mean)
        total = total + np.einsum("njk,j,njp->kp", Z, solved.weight, X, optimize=True)
    return np.asarray(total)
