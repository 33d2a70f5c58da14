"""From decisions to a fit: what is fitted is decided, rows are folded, solved for, and judged."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ..border.arguments import among
from ..border.kinds import FloatArray
from . import tuning
from .auto import Decided, decide, overloaded, unloaded
from .estimators import table
from .estimators.factors import RowSource, fold
from .estimators.methods import wls
from .estimators.prior import pull_of
from .estimators.problem import Problem, Pull, Solution
from .fitting import AUTO, band_of, check_length, loaded, remembered, with_damping
from .flow import rows_of, seen
from .friction.selection import Choice
from .judgement.identifiability import DAMPED, NOT, Identifiability, assess
from .judgement.outliers import left_out
from .judgement.runs import agreement
from .judgement.soundness import check_stretches, negative_energy
from .judgement.statistics import residuals
from .judgement.stillness import check_strokes, never_moving, only_rests
from .logs.log import Log
from .possible import consistent_gain
from .preprocess import Recording, Stretch
from .record import Record, nearest_to
from .regressor import Terms
from .result import Fit

if TYPE_CHECKING:
    from .identifier import Identifier

_CHOICES = 0.6  # part of the work that choices are


def decided(identifier: Identifier, recording: Recording) -> Decided:
    """Terms and preparation, chosen from the data where nothing was said."""
    terms, how = identifier.terms(identifier.given_widths), identifier.prepared
    check_stretches(recording.logs, how)
    if identifier.automatic:
        made = decide(recording, terms, how, partial(_part, identifier))
    else:
        check_strokes(terms, recording.logs)
        how, trials = tuning.choose_preparation(recording, terms, how)
        if identifier.shape == "tanh" and identifier.width is None and "coulomb" in terms.friction:
            check_length(terms, recording.checked(how), how)
            terms = identifier.terms(tuning.choose_widths(terms, recording.pieces(how), how)[0])
        made = Decided(terms, how, trials, Choice(terms.records, refused="given by the user"))
    check_length(made.terms, recording.checked(made.how), made.how)
    return made


def _part(identifier: Identifier, part: float) -> None:
    """Report progress of the choices, which come before the rows are folded."""
    if identifier.progress is not None:
        identifier.progress(round(_CHOICES * part * 1000), 1000)


def fit_as(identifier: Identifier, chosen: Decided, recording: Recording, logs: list[Log]) -> Fit:
    """The fit of what was decided."""
    method = table.named(identifier.estimator)
    terms, how, start = chosen.terms, chosen.how, chosen.start
    pieces = remembered(terms, recording.pieces(how), start)
    source = RowSource(terms, pieces, how)
    factors = fold(terms, pieces, how, tick=_ticker(identifier, rows_of(pieces)))
    problem = with_damping(Problem(factors, names=terms.names, sources=(source,)), terms)
    free = method.plain or wls.solve
    plain = free(problem)  # without a prior: it tells what the log determines
    some = seen(pieces)
    left = residuals(terms, some, how, plain.values)
    check = assess(terms, factors, plain, left.inflation, some)
    pull = pull_of(terms, factors, plain, identifier.prior)
    unit = float(np.sqrt(left.inflation.mean()))
    ridge, errors = _ridge(identifier, problem, pull, unit, check)
    solution = plain
    if ridge > 0 or method.solve is not free:
        solution = method.solve(replace(problem, ridge=ridge, pull=pull))
    if any(piece.loaded for _, piece in terms.listed_terms):
        solution, pieces = loaded(method, terms, pieces, how, solution)
        heavy = overloaded(terms, solution.values) if identifier.automatic else []
        if heavy:
            return fit_as(identifier, unloaded(chosen, heavy), recording, logs)
        some = seen(pieces)
    taken = solution if method.orthogonal else None
    left = residuals(terms, some, how, solution.values, taken)
    agreed = agreement(terms, method, solution, left.inflation, recording.run_names)
    spread = agreed.widened(method.covariance(solution, left.inflation))
    recording.keep(how)
    record = Record(
        replace(identifier, progress=None),
        terms,
        how,
        terms.widths,
        chosen.trials,
        errors,
        solution.problem,
        check.told_from_zero(solution.values, np.sqrt(np.maximum(np.diag(spread), 0.0))),
        left,
        recording,
        chosen.choice,
        band_of(some, how),
        (*negative_energy(terms, some, solution.values, spread), *only_rests(recording.logs)),
        _notes(terms, recording, logs),
        agreed,
    )
    return _made(record, solution, spread, some)


def _notes(terms: Terms, recording: Recording, logs: Sequence[Log]) -> tuple[str, ...]:
    """What to know about the logs of a fit."""
    lost = (f"{one.source}: {note}" for one in logs for note in left_out(one))
    return (*lost, *never_moving(terms.arm, recording.logs))


def _made(record: Record, solution: Solution, spread: FloatArray, some: Sequence[Stretch]) -> Fit:
    """The fit, its values made physically consistent where that was asked for, or where it predicts better."""
    wanted = record.identifier.feasible
    if among(wanted, (AUTO,)):
        wanted, told = _better_consistent(record, solution)
        record = replace(record, notes=(*record.notes, *told))
    if not wanted:
        return Fit(record, solution, solution.values, spread)
    near = nearest_to(record, solution.values, spread)
    # what is judged is what is returned
    taken = solution if table.named(record.identifier.estimator).orthogonal else None
    left = residuals(record.terms, some, record.preparation, near.values, taken)
    return Fit(replace(record, residuals=left), solution, near.values, spread)


def _better_consistent(record: Record, solution: Solution) -> tuple[bool, tuple[str, ...]]:
    """Whether consistent values predict held-out time better than values that rest on a prior; and what to say."""
    if not solution.ridge > 0 or record.terms.whole or record.doubts:
        return False, ()
    errors = consistent_gain(record, table.named(record.identifier.estimator))
    if errors is None:
        return False, ()
    free, possible = errors
    words = f"held-out error {possible:.3f}, of free values {free:.3f}"
    if possible < free:
        return True, (f"values made physically consistent ({words})",)
    return False, (f"values not made physically consistent ({words})",)


def _ridge(
    identifier: Identifier, problem: Problem, pull: Pull, unit: float, check: Identifiability
) -> tuple[float, dict[float, float]]:
    """0 where the log determines all, else what held-out time supports; unit: what the noise alone calls for.

    Lists of friction explain much of what bodies do: beside them bodies are believed as the noise calls for
    in any case.
    """
    if identifier.regularise != "auto":
        return float(identifier.regularise) * unit, {}
    if not table.named(identifier.estimator).prior:
        return 0.0, {}
    if check.worst <= NOT and identifier.prior is None:
        return (unit if DAMPED in check.grades else 0.0), {}
    ridge, errors = tuning.choose_ridge(problem.factors, pull, unit)
    return max(ridge, unit), errors


def _ticker(identifier: Identifier, samples: int) -> Callable[[int], None] | None:
    """What a pass over the data calls with the number of samples that it has done."""
    report, done = identifier.progress, 0
    if report is None:
        return None

    before = round(_CHOICES / (1 - _CHOICES) * samples) if identifier.automatic else 0

    def tick(more: int) -> None:
        nonlocal done
        done += more
        report(before + done, before + samples)

    return tick
