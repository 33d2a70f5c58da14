"""What an identifier asks of its options and logs before it fits them."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..border.arguments import items
from ..border.kinds import Outside
from ..errors import DynarmWarning, InputError
from ..robot.arm import Arm, Friction
from .band import band, factor_for
from .estimators.estimator import Estimator
from .estimators.factors import RowSource, fold
from .estimators.prior import DAMPING
from .estimators.problem import Problem, Solution, damped
from .flow import Flow, Stretches
from .friction.selection import with_memory
from .judgement.outliers import left_out, without_outliers
from .judgement.quality import unit_doubts
from .judgement.soundness import check_digits
from .logs.log import Log, in_order
from .logs.noted import one_a_kind
from .preprocess import Preparation, Recording, Stretch, middle
from .regressor import Terms
from .rests import resting, spans
from .rows import force_names
from .segments import LONG, sampled

AUTO = "auto"
_MOTION = 0.999  # part of the velocities' power inside the band of a fit
_LOAD_PASSES = 2  # fits after the first, each with the load of the one before


def band_of(pieces: Sequence[Stretch], how: Preparation) -> float:
    """Where the frequencies that a fit looks at end [Hz]."""
    assert how.cutoff is not None
    return float(how.cutoff) if np.isfinite(how.cutoff) else band(pieces, _MOTION)


def friction_words(given: Outside) -> Outside:
    """Words or records in a tuple, or "auto"."""
    if isinstance(given, tuple) or (isinstance(given, str) and given == AUTO):
        return given  # scikit-learn's clone asks for the very object that was given
    if isinstance(given, (str, Friction)):
        return (given,)
    return tuple(items("friction", given, "words such as 'viscous'"))


def with_damping(problem: Problem, terms: Terms) -> Problem:
    """The problem with the entries of friction's lists damped."""
    if terms.plain.all():
        return problem
    return replace(problem, pull=damped(np.where(terms.plain, 0.0, DAMPING)))


def remembered(terms: Terms, pieces: Stretches, values: np.ndarray | None) -> Stretches:
    """The pieces with deflections and load (`with_memory`); of a flow, as they come."""
    if isinstance(pieces, Flow):
        return pieces.mapped(lambda piece: with_memory(terms, [piece], values)[0])
    return with_memory(terms, pieces, values)


def loaded(
    method: Estimator, terms: Terms, pieces: Stretches, how: Preparation, solution: Solution
) -> tuple[Solution, Stretches]:
    """The solution once more, with the load that its own rigid part gives."""
    for _ in range(_LOAD_PASSES):
        pieces = remembered(terms, pieces, solution.values)
        assert solution.problem is not None
        sources = (RowSource(terms, pieces, how),)
        problem = replace(solution.problem, factors=fold(terms, pieces, how), sources=sources)
        solution = method.solve(problem)
    return solution, pieces


def fitting_log(arm: Arm, log: Log, rows: str | None) -> Log:
    """The log in the arm's joint order; refused or warned about where it cannot be right."""
    log = fitted_rows(in_order(log, arm), rows)
    if not log.measured.any():
        raise InputError(
            f"{log.source} holds no torques; give them, or the gains of the controller: Identifier(arm, pd=(kp, kd))"
        )
    flat = spans(log.tau) <= 1e-9 * np.maximum(np.abs(log.tau).max(axis=0), 1e-300)
    still = resting(log.q, 7 if log.floating else 0)
    if (flat & ~still).any():
        j = int(np.argmax(flat & ~still))
        raise InputError(
            f"{log.source}: the torque of joint '{force_names(arm)[j]}' is constant ({log.tau[0, j]:.6g}); "
            "check its column; if no sensor measures it, make it NaN, or name the joint as unmeasured in the channels"
        )
    check_digits(log)
    clean = without_outliers(log)
    lost = left_out(clean) if clean is not log else ()
    revolute = [arm.joints[i].revolute for i in arm.coupling.masters]
    qd = None if clean.qd is None else clean.split("qd")[1]
    doubts = unit_doubts(clean.t, clean.split("q")[1], qd, revolute)
    for doubt in one_a_kind((*lost, *doubts, *clean.quality.warnings)):
        warnings.warn(f"{log.source}: {doubt}", DynarmWarning, stacklevel=4)
    return clean


def recording_of(arm: Arm, logs: Sequence[Log], rows: str | None) -> Recording:
    """The logs as they are fitted, with samples of them as they are of logs that are read piece by piece.

    These are taken before samples that cannot be are left out: how many there are is not known of what is not held.
    """
    clean = [fitting_log(arm, log, rows) for log in logs]
    samples: list[Log] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DynarmWarning)  # said of the whole
        for k in sampled([len(log) for log in logs]):
            log = logs[k]
            held = len(log) <= LONG or len(clean[k]) == len(log)
            samples.append(middle(clean[k]) if held else fitting_log(arm, middle(log), rows))
    return Recording(clean, samples)


def fitted_rows(log: Log, rows: str | None) -> Log:
    """The log with the torques of some rows only: of the joints, of a free base, or of both."""
    if rows is None or not log.floating:
        return log
    base = np.arange(log.tau.shape[1]) < 6
    wanted = {"joints": ~base, "base": base, "both": base | True}[rows]
    measured = log.measured
    for part, name in ((base, "wrench on the base"), (~base, "torque of a joint")):
        if (wanted & part).any() and not (measured & part).any():
            raise InputError(
                f"rows is {rows!r}, {log.source} holds no {name}; record it, or choose other rows"
            )
    return log if wanted.all() else replace(log, tau=np.where(wanted, log.tau, np.nan))


def check_length(terms: Terms, pieces: Sequence[Stretch], how: Preparation) -> None:
    rows = sum(len(p) // factor_for(how, p.rate) for p in pieces)
    told = int(np.any([piece.keep.any(axis=0) for piece in pieces], axis=0).sum()) if pieces else 0
    if not pieces or rows * told < terms.size:
        raise InputError(
            f"{rows} samples of {told or terms.n} joints remain after filtering and decimation for {terms.size} "
            "unknowns; record longer, raise the cut-off or lower decimate"
        )
