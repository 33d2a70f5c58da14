"""Choices made from the data where the user made none: cut-off, velocity source, width of the smoothed sign, ridge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..algebra import tanh
from .estimators import Pull, deviations, solve, wls
from .factors import Factors, fold
from .log import Log
from .preprocess import Preparation, Stretch, smooth, stretches
from .regressor import Column, Terms

CUTOFFS = (2.0, 3.0, 5.0, 8.0, 12.0, 20.0, 35.0, 60.0, 100.0, 150.0)  # [Hz]
WIDTHS = (0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4)  # [rad/s or m/s]
RIDGES = (0.003, 0.01, 0.03, 0.1, 0.2, 0.3)
FOLDS = 8
_TRIAL = 2000  # rows a joint in a trial fit
_FLAT = 0.005  # a lower cut-off is preferred where the error is this close to the best


@dataclass(frozen=True, slots=True)
class Trial:
    """One way to prepare the data, and the error that it led to on time that it was not fitted to."""

    cutoff: float
    velocity: str
    error: float  # mean over joints of RMSE / standard deviation, against the torque as measured


def choose_preparation(
    logs: Sequence[Log], terms: Terms, how: Preparation
) -> tuple[Preparation, tuple[Trial, ...]]:
    """The preparation with cut-off and velocity decided, and the trials that decided it."""
    rate = min(log.quality.rate for log in logs)
    recorded = all(log.qd is not None for log in logs)
    if how.velocity == "auto":
        sources = ["recorded", "differentiate"] if recorded else ["differentiate"]
    else:
        sources = [how.velocity]
    cutoffs = [how.cutoff] if how.cutoff is not None else [c for c in CUTOFFS if c < 0.4 * rate]
    if not cutoffs:
        cutoffs = [0.2 * rate]
    if len(sources) * len(cutoffs) == 1:
        return replace(how, cutoff=cutoffs[0], velocity=sources[0]), ()
    trials = []
    for source in sources:
        worse = 0
        for cutoff in cutoffs:
            tried = replace(how, cutoff=cutoff, velocity=source)
            error = _trial(logs, terms, tried)
            trials.append(Trial(float(cutoff), source, error))
            best = min(t.error for t in trials if t.velocity == source)
            worse = worse + 1 if error > 1.05 * best else 0
            if worse >= 3:  # well past the best
                break
    best = min(t.error for t in trials)
    good = [t for t in trials if t.error <= (1 + _FLAT) * best]
    chosen = min(good, key=lambda t: (t.cutoff, t.velocity != "recorded"))
    return replace(how, cutoff=chosen.cutoff, velocity=chosen.velocity), tuple(trials)


def _trial(logs: Sequence[Log], terms: Terms, how: Preparation) -> float:
    """Error of a fit to raw torques at sparse samples, on blocks that were left out."""
    pieces = [smooth(piece, how) for log in logs for piece in stretches(log)]
    step = max(1, sum(len(p) for p in pieces) // _TRIAL)
    sparse = [p.part(slice(None, None, step)) for p in pieces]
    sparse = [p for p in sparse if len(p) >= 8]
    plain = replace(how, decimate=1)
    factors = fold(terms, sparse, plain)
    spread = np.concatenate([p.tau for p in sparse]).std(axis=0)
    errors = held_out(factors, 0.0, None, folds=4)
    return float(np.mean(np.sqrt((errors**2).mean(axis=0)) / np.where(spread > 0, spread, 1)))


def held_out(factors: Factors, ridge: float, pull: Pull | None, folds: int = FOLDS) -> np.ndarray:
    """(folds, n): root mean square residual of each joint on stretches of time that were not fitted."""
    found = []
    number = np.arange(factors.blocks) * folds // factors.blocks
    for k in range(min(folds, factors.blocks)):
        inside, outside = np.flatnonzero(number != k), np.flatnonzero(number == k)
        rows = factors.rows[outside].sum(axis=0)
        if not len(inside) or not len(outside) or (rows == 0).any():
            continue
        values = wls(factors.merged(inside), ridge, pull, passes=4).values
        found.append(np.sqrt(factors.squares(values)[outside].sum(axis=0) / rows))
    return np.array(found) if found else np.full((1, factors.n), np.inf)


def choose_ridge(factors: Factors, pull: Pull | None) -> tuple[float, dict[float, float]]:
    """The pull towards the prior that predicts held-out time best, 0 where none helps, and the errors tried.

    Errors are compared fold by fold. Without a pull unless that is worse by more than its standard error; else the
    strongest pull that is not worse than the best by more than its standard error.
    """
    if factors.blocks < 4:
        return 0.0, {}
    tried = {0.0: held_out(factors, 0.0, pull)}
    floor = 1e-9 * np.sqrt(
        factors.squares(np.zeros(factors.size)).sum(axis=0) / np.maximum(factors.rows.sum(axis=0), 1)
    )
    if (tried[0.0] <= floor).all():  # nothing left to explain
        return 0.0, {}
    for ridge in RIDGES:
        tried[ridge] = held_out(factors, ridge, pull)
    logs = {r: np.log(np.maximum(e, floor)).mean(axis=1) for r, e in tried.items()}
    best = min(logs, key=lambda r: float(logs[r].mean()))

    def no_worse(ridge: float) -> bool:
        gap = logs[ridge] - logs[best]
        return bool(gap.mean() <= gap.std(ddof=1) / np.sqrt(len(gap)) + 1e-12)

    errors = {r: float(np.exp(e.mean())) for r, e in logs.items()}
    if no_worse(0.0):
        return 0.0, errors
    return max(r for r in logs if r >= best and no_worse(r)), errors


def choose_widths(
    terms: Terms, pieces: Sequence[Stretch], how: Preparation
) -> tuple[tuple[float, ...], np.ndarray]:
    """For each joint the width of tanh that explains its torque best, and the residual of every width (n, widths)."""
    others = tuple(w for w in terms.friction if w != "coulomb")
    smoothed = tuple(
        Column(f"{j}:{width}", _smoothed_sign(j, width)) for j in range(terms.n) for width in WIDTHS
    )
    trial = Terms(
        terms.arm, others, "sign", (), terms.armature, False, (*terms.columns, *smoothed)
    )
    factors = fold(trial, pieces, how, blocks=1)
    first = trial.size - len(smoothed)
    errors = np.zeros((terms.n, len(WIDTHS)))
    for j in range(terms.n):
        R, support = factors.R[0][j], factors.support[j]
        common = np.flatnonzero(support < first)
        for k in range(len(WIDTHS)):
            own = np.flatnonzero(support == first + j * len(WIDTHS) + k)
            A = R[:, np.r_[common, own]]
            values, *_ = np.linalg.lstsq(A, R[:, -1], rcond=1e-10)
            errors[j, k] = np.linalg.norm(R[:, -1] - A @ values)
    return tuple(WIDTHS[k] for k in errors.argmin(axis=1)), errors


def _smoothed_sign(joint: int, width: float):  # type: ignore[no-untyped-def]
    def force(q, qd, qdd):  # type: ignore[no-untyped-def]
        found = [0] * len(qd)
        found[joint] = tanh(qd[joint] * (1 / width))
        return found

    return force


def autocorrelation(residual: np.ndarray, cutoff_bins: float = 0.5) -> float:
    """Long-run variance over variance of a residual (N,): how many rows tell as much as one independent row."""
    n = len(residual)
    if n < 16:
        return 1.0
    r = residual - residual.mean()
    power = np.abs(np.fft.rfft(r)) ** 2 / n
    total = power[1:].mean()
    if total <= 0:
        return 1.0
    low = max(4, int(cutoff_bins * np.sqrt(len(power))))
    return float(max(1.0, power[1 : 1 + low].mean() / total))


def quick_values(factors: Factors) -> np.ndarray:
    """Weighted values after two passes, for choices that need a rough fit."""
    first = solve(factors, np.ones(factors.n))
    return solve(factors, 1 / np.maximum(deviations(factors, first.values), 1e-300)).values
