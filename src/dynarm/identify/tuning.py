"""Choices made from the data where the user made none: cut-off, velocity source, width of the smoothed sign, ridge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..algebra.vectors import Scalar
from ..dynamics.drive import COULOMB, Instant
from ..robot.arm import Friction
from .estimators.factors import Factors, fold
from .estimators.least_squares import quick
from .estimators.problem import Pull
from .own_columns import Column, Forces
from .preprocess import Preparation, Recording, Stretch
from .regressor import Terms

CUTOFFS = (2.0, 3.0, 5.0, 8.0, 12.0, 20.0, 35.0, 60.0, 100.0, 150.0)  # [Hz]
# [rad/s or m/s]
WIDTHS = (0.001, 0.005, 0.01, 0.015, 0.02, 0.03, 0.04, 0.05, 0.06, 0.08, 0.1, 0.12, 0.15, 0.2, 0.3)
RIDGES = (0.5, 1.0, 2.0, 4.0)  # in units of what the noise alone would call for
FOLDS = 8
_TRIAL_RIDGE = 0.02
_EXACT = 1e-6  # held-out error below which recorded states are taken as they are
_TRIAL = 2000  # rows a joint in a trial fit
_WORTH = 0.01  # part of the held-out error by which a delay must lower it
_SHIFTS = (-0.03, -0.02, -0.01, 0.0, 0.01, 0.02, 0.03)  # [s]


@dataclass(frozen=True, slots=True)
class Trial:
    """One way to prepare the data, and the error that it led to on time that it was not fitted to."""

    cutoff: float
    velocity: str
    error: float  # mean over joints of RMSE / standard deviation, against the torque as measured


def choose_preparation(
    recording: Recording, terms: Terms, how: Preparation
) -> tuple[Preparation, tuple[Trial, ...]]:
    """The preparation with cut-off, velocity and delay decided, and the trials that decided it."""
    chosen, trials = _choose_smoothing(recording, terms, replace(how, delay=how.delay or 0.0))
    if how.delay is None:
        chosen = replace(chosen, delay=choose_delay(recording, terms, chosen))
    return chosen, trials


def choose_delay(recording: Recording, terms: Terms, how: Preparation) -> float:
    """Time by which all torques lag the motion [s], from five shifts of up to two samples and a parabola.

    0 unless the parabola's least error on held-out time is 1 % below that without a shift.
    """
    step = max(log.quality.step for log in recording.short.logs)
    shifts = step * np.arange(-2, 3)
    errors = np.array([_trial(recording, terms, replace(how, delay=float(s))) for s in shifts])
    still = errors[2]
    k = int(np.clip(np.argmin(errors), 1, 3))
    a, b, c = errors[k - 1 : k + 2]
    bend = a - 2 * b + c
    best = shifts[k] + 0.5 * step * (a - c) / bend if bend > 0 else shifts[np.argmin(errors)]
    late = float(np.clip(best, shifts[0], shifts[-1]))
    error = _trial(recording, terms, replace(how, delay=late))
    recording.keep(how)
    return late if error < (1 - _WORTH) * still else 0.0


def _choose_smoothing(
    recording: Recording, terms: Terms, how: Preparation
) -> tuple[Preparation, tuple[Trial, ...]]:
    """The preparation with cut-off and velocity decided; a spline needs neither."""
    if how.smoothing == "spline":
        return replace(how, cutoff=np.inf, velocity="differentiate"), ()
    logs = recording.logs
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
    trials: list[Trial] = []
    if how.cutoff is None and recorded and all(log.qdd is not None for log in logs):
        exact = replace(how, cutoff=np.inf, velocity="recorded")
        trials.append(Trial(np.inf, "recorded", _trial(recording, terms, exact, 0.0)))
        if trials[0].error < _EXACT:  # a simulation: nothing to filter
            return exact, tuple(trials)
    for source in sources:
        worse = 0
        for cutoff in cutoffs:
            tried = replace(how, cutoff=cutoff, velocity=source)
            error = _trial(recording, terms, tried)
            trials.append(Trial(float(cutoff), source, error))
            recording.keep(_best(how, trials))
            best = min(t.error for t in trials if t.velocity == source)
            worse = worse + 1 if error > 1.05 * best else 0
            if worse >= 3:  # well past the best
                break
    return _best(how, trials), tuple(trials)


def _best(how: Preparation, trials: Sequence[Trial]) -> Preparation:
    chosen = min(trials, key=lambda t: t.error)
    return replace(how, cutoff=chosen.cutoff, velocity=chosen.velocity)


def _sparse(pieces: Sequence[Stretch]) -> Sequence[Stretch]:
    """So few samples of the pieces as a trial needs; many short stretches stay whole."""
    step = max(1, sum(len(p) for p in pieces) // _TRIAL)
    thinned = [p.part(slice(None, None, step)) for p in pieces]
    return [p for p in thinned if len(p) >= 8] or pieces


def trial_factors(recording: Recording, terms: Terms, how: Preparation) -> Factors:
    """The sparse samples folded without decimation."""
    sparse, plain = _sparse(recording.short.pieces(how)), replace(how, decimate=1)
    return recording.short.once(how, terms, lambda: fold(terms, sparse, plain))


def preparation_error(recording: Recording, terms: Terms, how: Preparation) -> float:
    """Mean over joints of the error that a preparation leads to on time that was not fitted, over deviations."""
    return _trial(recording, terms, how)


def _trial(
    recording: Recording, terms: Terms, how: Preparation, ridge: float = _TRIAL_RIDGE
) -> float:
    """Error of a fit to raw torques at sparse samples, on blocks that were left out."""
    sparse = _sparse(recording.short.pieces(how))
    factors = trial_factors(recording, terms, how)
    spread = np.concatenate([p.tau for p in sparse]).std(axis=0)
    errors = held_out(split(factors, 4), ridge, None)
    return float(np.nanmean(np.sqrt((errors**2).mean(axis=0)) / np.where(spread > 0, spread, 1)))


def split(factors: Factors, folds: int = FOLDS) -> list[tuple[Factors, Factors]]:
    """Pairs of factors: all blocks but a stretch of time, and that stretch."""
    folds = min(folds, factors.blocks)
    told = factors.rows.any(axis=0)  # rows of torques that were measured
    number = np.arange(factors.blocks) * folds // factors.blocks
    pairs = []
    for k in range(folds):
        inside, outside = np.flatnonzero(number != k), np.flatnonzero(number == k)
        if len(inside) and len(outside) and factors.rows[outside].sum(axis=0)[told].all():
            pairs.append((factors.merged(inside.tolist()), factors.merged(outside.tolist())))
    return pairs


def held_out(
    pairs: Sequence[tuple[Factors, Factors]], ridge: float, pull: Pull | None
) -> np.ndarray:
    """(folds, n): root mean square residual of each joint on stretches of time that were not fitted; NaN: no rows."""
    if not pairs:
        return np.full((1, 1), np.inf)
    with np.errstate(invalid="ignore"):
        errors = [np.sqrt(b.squares(quick(a, ridge, pull))[0] / b.rows[0]) for a, b in pairs]
    return np.array(errors)


def choose_ridge(factors: Factors, pull: Pull, unit: float) -> tuple[float, dict[float, float]]:
    """The pull towards the prior in units of `unit`, and the held-out errors of those tried.

    It is the strongest that predicts held-out time no worse than the best, by more than the standard error of their
    difference fold by fold. unit: standard deviation of the weighted noise, the ridge of a prior that holds each
    unknown to its worth (Hoerl, Kennard and Baldwin's rule).
    """
    pairs = split(factors)
    if len(pairs) < 3 or unit <= 0:
        return 0.0, {}
    tried = {r: np.nanmean(np.log(held_out(pairs, r * unit, pull)), axis=1) for r in (0.0, *RIDGES)}
    best = min(tried, key=lambda r: float(tried[r].mean()))

    def no_worse(ridge: float) -> bool:
        gap = tried[ridge] - tried[best]
        return bool(gap.mean() <= gap.std(ddof=1) / np.sqrt(len(gap)))

    errors = {r * unit: float(np.exp(e.mean())) for r, e in tried.items()}
    return max(r for r in tried if r == best or no_worse(r)) * unit, errors


def choose_widths(
    terms: Terms, pieces: Sequence[Stretch], how: Preparation
) -> tuple[tuple[float, ...], np.ndarray]:
    """For each joint the width of tanh that explains its torque best, and the residual of every width (n, widths)."""
    others = tuple(w for w in terms.friction if w != COULOMB.name)
    smoothed = tuple(
        Column(f"{j}:{width}", _smoothed_sign(terms.first + j, width))
        for j in range(len(terms.joints))
        for width in WIDTHS
    )
    trial = Terms(
        terms.arm, others, "sign", (), terms.armature, False, (*terms.columns, *smoothed), True
    )
    factors = fold(trial, pieces, how, blocks=1)
    first = trial.size - len(smoothed)
    errors = np.zeros((len(terms.joints), len(WIDTHS)))
    for j in range(len(terms.joints)):
        R, support = factors.R[0][terms.first + j], factors.support[terms.first + j]
        common = np.flatnonzero(support < first)
        for k in range(len(WIDTHS)):
            own = np.flatnonzero(support == first + j * len(WIDTHS) + k)
            A = R[:, np.r_[common, own]]
            values, *_ = np.linalg.lstsq(A, R[:, -1], rcond=1e-10)
            errors[j, k] = np.linalg.norm(R[:, -1] - A @ values)
    return tuple(WIDTHS[k] for k in errors.argmin(axis=1)), errors


def _smoothed_sign(row: int, width: float) -> Forces:
    """The Coulomb column of one joint's row, for a sign smoothed over a width."""
    shape = Friction(shape="tanh", width=width)

    def force(q: Sequence[Scalar], qd: Sequence[Scalar], qdd: Sequence[Scalar]) -> list[Scalar]:
        forces: list[Scalar] = [0] * len(qd)
        forces[row] = COULOMB.force(shape, Instant(qd[row]))
        return forces

    return force


def channel_delays(
    terms: Terms, pieces: Sequence[Stretch], how: Preparation, still: Factors | None = None
) -> np.ndarray:
    """(n,): time by which each joint's torque lags its motion [s].

    Torques are shifted against the motion, each joint is fitted alone, and the least error is found by a parabola; NaN
    where it lies beyond the shifts tried. still: the factors of the pieces as they are (`trial_factors`).
    """
    plain = replace(how, decimate=1)
    errors = []
    for shift in _SHIFTS:
        factors = still if shift == 0 else None
        if factors is None:
            factors = fold(terms, _sparse([_shifted(p, shift) for p in pieces]), plain, blocks=1)
        errors.append([_alone(factors.joint(j)) for j in range(terms.n)])
    table = np.array(errors) ** 2
    return np.array([_least(column) for column in table.T])


def _shifted(piece: Stretch, shift: float) -> Stretch:
    """The stretch with its torques earlier by `shift`."""
    tau = np.column_stack([np.interp(piece.t + shift, piece.t, x) for x in piece.tau.T])
    keep = piece.keep.copy()
    keep[(piece.t + shift < piece.t[0]) | (piece.t + shift > piece.t[-1])] = False
    return replace(piece, tau=tau, keep=keep)


def _alone(R: np.ndarray) -> float:
    """Residual of one joint fitted by itself; 0 where it has no rows."""
    values, *_ = np.linalg.lstsq(R[:, :-1], R[:, -1], rcond=1e-10)
    return float(np.linalg.norm(R[:, -1] - R[:, :-1] @ values))


def _least(errors: np.ndarray) -> float:
    k = int(np.argmin(errors))
    if k in (0, len(errors) - 1):
        return float("nan")
    a, b, c = errors[k - 1 : k + 2]
    return float(_SHIFTS[k] + 0.5 * (_SHIFTS[k + 1] - _SHIFTS[k]) * (a - c) / (a - 2 * b + c))
