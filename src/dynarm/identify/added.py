"""The payload that a fit of the arm without it leaves unexplained in logs with it.

tau - forces of the fit = Z payload + noise, joints weighted by what is left of each. Friction that grows with the load
grows with the payload's weight, so that a few passes are made. The certainty is that of the noise, autocorrelation
accounted for, and that of the fit's own values.
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
    ten, sigma = np.zeros(10), np.ones(own.nv)
    for _ in range(_PASSES):
        left = [run.left(fit, ten) for run in runs]
        ten, sigma = _solved(runs, left, sigma)
    return _certain(fit, runs, ten, sigma)


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


def _solved(
    runs: Sequence[_Run], left: Sequence[np.ndarray], sigma: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The ten numbers by weighted least squares, and the deviation of what they leave of each joint's torque."""
    Z = np.concatenate([run.Z for run in runs])
    y = np.concatenate(list(left))
    seen = np.isfinite(y).all(axis=0)
    A = (Z / sigma[:, None])[:, seen].reshape(-1, 10)
    scale = _lengths(A)
    ten = np.linalg.lstsq(A / scale, (y / sigma)[:, seen].ravel(), rcond=_TOLD)[0] / scale
    rest = y - Z @ ten
    floor = 1e-12 * max(float(np.nanmax(np.abs(y))), 1e-300)
    return ten, np.maximum(np.sqrt((rest**2).mean(axis=0)), floor)


def _certain(fit: Fit, runs: Sequence[_Run], ten: np.ndarray, sigma: np.ndarray) -> Payload:
    """The payload with its covariance: of the noise, and of the values of the fit."""
    seen = np.isfinite(sigma)
    weight = np.where(seen, 1 / np.where(seen, sigma, 1.0), 0.0)
    information, noisy = np.zeros((10, 10)), np.zeros((10, 10))
    mixed = np.zeros((10, len(fit.values_)))
    for run in runs:
        rest = run.left(fit, ten) - run.Z @ ten
        for j in np.flatnonzero(seen):
            A = run.Z[:, j] * weight[j]
            information += A.T @ A
            noisy += inflation(rest[:, j]) * (A.T @ A)
        mixed += _mixed(fit, run, ten, weight**2)
    s = np.sqrt(np.maximum(np.diag(information), 1e-300))
    values, V = np.linalg.eigh(information / s / s[:, None])
    told = values > _TOLD**2 * values[-1]
    inverse = (V[:, told] / values[told]) @ V[:, told].T / s / s[:, None]
    gain = inverse @ mixed
    spread = inverse @ noisy @ inverse + gain @ fit.covariance_ @ gain.T
    return payload_of(ten, spread, V[:, told].T * s, V[:, ~told].T / s)


def _mixed(fit: Fit, run: _Run, ten: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """(10, p): Z' W X, part by part."""
    terms = fit.record.terms
    held, total = run.held + run.Z @ ten, 0.0
    for low in range(0, len(run.tau), _PART):
        part = slice(low, low + _PART)
        q, qd, qdd = (x[part] for x in run.states)
        load = terms.rigid_forces(fit.values_, q, qd, qdd) + held[part]
        deflected = None if run.deflected is None else run.deflected[part]
        along = Along(deflected, load) if terms.listed else None
        X = terms.evaluate(q, qd, qdd, along)
        total = total + np.einsum("njk,j,njp->kp", run.Z[part], weight, X, optimize=True)
    return np.asarray(total)


def _lengths(A: np.ndarray) -> np.ndarray:
    size = np.linalg.norm(A, axis=0)
    return np.where(size > 0, size, 1.0)
