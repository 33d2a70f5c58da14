"""What a fit decides by itself where the user decided nothing: states, friction, delay and armatures.

The order matters. States come first, by plain friction, which hardly prefers any; a plain fit says what loads the
joints feel; friction is chosen on these; a delay only then, because hysteresis that no column explains looks like one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from ..border.kinds import FloatArray
from .estimators.factors import fold
from .estimators.methods import wls
from .estimators.prior import pull_of
from .estimators.problem import Problem
from .friction.families import poor
from .friction.selection import Basis, Choice, Tick, choose_friction, delayed_errors, scales_of
from .judgement.identifiability import NOT, assess
from .judgement.statistics import residuals
from .preprocess import Preparation, Recording, Stretch
from .regressor import Terms
from .rests import RESTS
from .tuning import Trial, choose_preparation, preparation_error

_SPLINE = 0.9  # of a spline's held-out error, below which a filter is taken in its place
_ENOUGH = 17  # samples an unknown of plain friction and the rigid body, of logs at a usual rate or faster;
_RATE = 125.0  # [1/s] the usual one: of slower logs the time counts that so many samples take,
_ROWS = 5  # and so many samples an unknown
_LOADED = 0.9  # sum of a joint's load coefficients that is no friction any more
_DELAY = 0.01  # part of the held-out error that a delay must gain

Trials = tuple[Trial, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Decided:
    """Terms and preparation with everything decided, the trials, and how friction was chosen."""

    terms: Terms
    how: Preparation
    trials: Trials
    choice: Choice
    start: FloatArray | None = None  # (p,) rigid values of a plain fit, for the first load


def decide(recording: Recording, terms: Terms, how: Preparation, tick: Tick) -> Decided:
    """What the logs support."""
    usual = Choice(terms.shapes)
    total = sum(map(len, recording.logs))
    lasting = sum(len(log) * max(1.0, _RATE * log.quality.step) for log in recording.logs)
    if lasting < _ENOUGH * terms.size or total < _ROWS * terms.size:
        short = f"too short: {total} samples for {terms.size} plain unknowns"
        return _plain(recording, terms, how, replace(usual, refused=short))
    if not terms.joints:
        return _plain(recording, terms, how, replace(usual, refused="no joint that could rub"))
    ways, trials = _smoothing(recording, terms, how)
    tick(0.1)
    each = 0.7 / len(ways)
    made: list[_Considered] = []
    for k, way in enumerate(ways):
        start = 0.1 + k * each
        made.append(_considered(recording, terms, way, partial(_onward, tick, start, each)))
        if made[0].choice.refused:
            return _plain(recording, terms, how, made[0].choice)
    quick, basis, choice = _better(made)
    plain_and_sharp = not choice.listed and set(choice.shapes) <= {"sign"}
    if basis is None or plain_and_sharp:  # slow rows tell a sharp sign nothing
        return _plain(recording, terms, how, choice)
    if how.smoothing == "auto":
        quick = replace(quick, delay=_delay(basis, choice))
    tick(0.9)
    listed = choice.records if choice.listed else ()
    chosen = replace(terms, shape=choice.shapes, widths=choice.widths, listed=listed)
    return Decided(chosen, quick, trials, choice, basis.values)


def _plain(recording: Recording, terms: Terms, how: Preparation, choice: Choice) -> Decided:
    """Plain friction, states by the filter that suits them."""
    filtered, trials = choose_preparation(recording, terms, replace(how, smoothing="filter"))
    return Decided(terms, filtered, trials, choice)


@dataclass(frozen=True, slots=True, eq=False)
class _Considered:
    """The friction that is chosen on states of one kind; no basis where nothing could be tried."""

    how: Preparation
    basis: Basis | None
    choice: Choice

    @property
    def error(self) -> float:
        """Mean over joints of the held-out error, that of plain friction where it leaves nothing to explain."""
        after = self.choice.after
        if after is None or not np.isfinite(after).any():
            return np.inf
        return float(np.nanmean(after))


def _onward(tick: Tick, start: float, share: float, part: float) -> None:
    """Report a part of one share of the work."""
    tick(start + share * part)


def _considered(recording: Recording, terms: Terms, way: Preparation, tick: Tick) -> _Considered:
    runs = recording.short.runs(way)
    basis = _basis(terms, runs, way, recording)
    why = poor(scales_of(basis), _accelerations(terms, runs))
    if why:
        return _Considered(way, None, Choice(terms.shapes, refused=why))
    choice = choose_friction(basis, tick)
    return _Considered(way, None if choice.refused else basis, choice)


def _better(made: Sequence[_Considered]) -> tuple[Preparation, Basis | None, Choice]:
    """The first, unless the error of another is much less: splines follow motions that are faster than these logs."""
    least = min(made[1:], key=lambda one: one.error, default=made[0])
    one = least if least.error < _SPLINE * made[0].error else made[0]
    return one.how, one.basis, one.choice


def _smoothing(
    recording: Recording, terms: Terms, how: Preparation
) -> tuple[list[Preparation], Trials]:
    """The spline, then a filter that is much better with plain friction; or the one that is wanted."""
    rests = how if how.slow is not None else replace(how, slow=RESTS)
    if how.smoothing != "auto" or recording.logs[0].floating:
        kind = "filter" if how.smoothing == "auto" else how.smoothing
        way, trials = choose_preparation(recording, terms, replace(rests, smoothing=kind))
        return [way], trials
    filtered, trials = choose_preparation(recording, terms, replace(rests, smoothing="filter"))
    spline = replace(rests, smoothing="spline", cutoff=np.inf, velocity="differentiate")
    error = preparation_error(recording, terms, spline)
    least = min((t.error for t in trials), default=np.inf)
    ways = [spline, filtered] if least < _SPLINE * error else [spline]
    return ways, (*trials, Trial(np.inf, "spline", error))


def _accelerations(terms: Terms, runs: Sequence[Sequence[Stretch]]) -> FloatArray:
    return np.concatenate([p.qdd[:, terms.first :] for run in runs for p in run])


def _basis(
    terms: Terms,
    runs: Sequence[Sequence[Stretch]],
    how: Preparation,
    recording: Recording,
) -> Basis:
    """A plain fit of the logs, drawn to its prior where they say little."""
    pieces = [piece for run in runs for piece in run]
    factors = fold(terms, pieces, how)
    problem = Problem(factors, names=terms.names)
    plain = wls.solve(problem)
    left = residuals(terms, pieces, how, plain.values)
    check = assess(terms, factors, plain, left.inflation, pieces)
    pull = pull_of(terms, factors, plain, None)
    ridge = float(np.sqrt(left.inflation.mean())) if check.worst > NOT else 0.0
    values = wls.solve(replace(problem, ridge=ridge, pull=pull)).values if ridge else plain.values
    steps = np.max([log.quality.resolution for log in recording.short.logs], axis=0)
    return Basis(terms, runs, how, values, pull, ridge, steps)


def _delay(basis: Basis, choice: Choice) -> float:
    """Time by which all torques lag the motion [s], from five shifts of up to two samples and a parabola.

    0 unless it gains more than a hundredth of the held-out error, and gains in every fold.
    """
    step = 1 / min(p.rate for run in basis.runs for p in run)
    shifts = step * np.arange(-2, 3)
    logs = [delayed_errors(basis, choice, float(s)) for s in shifts]
    errors = np.array([np.nanmean(e) for e in logs])
    k = int(np.clip(np.argmin(errors), 1, 3))
    a, b, c = np.exp(errors[k - 1 : k + 2])
    bend = a - 2 * b + c
    best = shifts[k] + 0.5 * step * (a - c) / bend if bend > 0 else shifts[np.argmin(errors)]
    late = float(np.clip(best, shifts[0], shifts[-1]))
    steps = logs[2] - delayed_errors(basis, choice, late)
    gains = np.nanmean(steps[np.isfinite(steps).any(axis=1)], axis=1)
    return late if gains.mean() > _DELAY and (gains > 0).all() else 0.0


def overloaded(terms: Terms, values: FloatArray) -> list[int]:
    """Independent joints whose friction would grow as fast as the load or faster, which no drive's does."""
    heavy = []
    for j in range(len(terms.joints)):
        own = [piece for i, piece in terms.listed_terms if i == j]
        loads = [c for c, p in zip(values[terms.listed_index(j)], own, strict=True) if p.loaded]
        if np.abs(loads).sum() >= _LOADED:
            heavy.append(j)
    return heavy


def unloaded(decided: Decided, joints: Sequence[int]) -> Decided:
    """The same without friction that grows with the load on some joints, and with the reason."""
    choice = decided.choice
    names = {decided.terms.arm.joint_names[j] for j in joints}
    records = tuple(
        replace(r, load_curve=(), load_presliding=()) if j in joints else r
        for j, r in enumerate(choice.records)
    )
    reason = "given up: friction would grow faster than the load"
    tried = tuple(
        replace(t, taken=False, reason=reason)
        if t.taken and t.joint in names and t.family.startswith("load")
        else t
        for t in choice.tried
    )
    fewer = replace(choice, records=records, tried=tried)
    terms = replace(decided.terms, listed=records if fewer.listed else ())
    return replace(decided, terms=terms, choice=fewer)
