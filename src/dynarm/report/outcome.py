"""How an identification came out: verdict with reasons and what to do next, errors by joint on one scale."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..identify.judgement.identifiability import DAMPED
from ..identify.rows import force_names, force_units
from . import figures
from .html import Cell, Markup, Section, facts, figure, number, section, table, verdict
from .unknowns import told

if TYPE_CHECKING:
    from ..identify.judgement.verdict import Validation, Verdict
    from ..identify.result import Fit
    from ..robot.arm import Arm

FINE = 0.0995  # an error below which percentages have two places, above which one
SMALLEST = 1e-6  # that is written out
DIGITS = 3  # significant ones of an error
ONE_SCALE = "RMS error of the torques as measured, nothing filtered, in % of their standard deviation and in their unit"
OPEN = ("hardly", "not")  # grades of unknowns that a better motion would determine


def rounded(x: float, digits: int = DIGITS) -> Cell:
    """An error with so many digits, sorted by its value; a dash where there is nothing to explain."""
    size = abs(float(f"{x:.{digits}g}"))
    if np.isnan(x) or not SMALLEST < size < np.inf:
        return Cell(number(float(x), digits), "" if np.isnan(x) else float(x), "number")
    return told(float(x), max(0, digits - 1 - math.floor(math.log10(size))))


def verdict_box(
    judged: Verdict, more: Sequence[str] = (), checks: Sequence[Validation] = ()
) -> Markup:
    """The verdict's word, its reasons, and with each what to do; logs by their names, not where they lie."""
    lines = [f"{r.text} → {r.advice}" if r.advice else r.text for r in judged.told]
    for check in checks:
        lines = [text.replace(check.source, Path(check.source).name) for text in lines]
    doubtful = judged.exit_code == 0
    return verdict(judged.passed, [*lines, *more], bad=judged.word, unsure=doubtful)


def outcome(fit: Fit, checks: Sequence[Validation], judged: Verdict) -> Section:
    """The verdict, a few numbers, and the errors of every joint."""
    own = fit.fitted_
    plain = [grade for grade in fit.identifiability_.grades if grade != DAMPED]
    numbers: dict[str, object] = {}
    if checks:
        numbers["mean error, held out"] = _percent(float(np.mean([c.mean for c in checks])))
    numbers["mean error, fitted"] = _percent(_mean(own.relative))
    name, share = _worst(fit, checks)
    if name:
        numbers["worst joint"] = f"{name}: {_percent(share)}"
    numbers["determined"] = f"{plain.count('determined')} of {len(plain)} unknowns"
    return section(
        "Verdict",
        verdict_box(judged, [*_reasons(fit, checks), *_next(fit, judged)], checks),
        facts(numbers),
        _errors(fit, checks),
        _bars(fit, checks),
    )


def _percent(share: float) -> str:
    return f"{100 * share:.{2 if share < FINE else 1}f} %"


def _mean(relative: np.ndarray) -> float:
    known = relative[np.isfinite(relative)]
    return float(known.mean()) if len(known) else float("nan")


def _worst(fit: Fit, checks: Sequence[Validation]) -> tuple[str, float]:
    """The joint with the largest error, held out where something was; no name where nothing says anything."""
    shares = np.array([c.relative for c in checks] or [fit.fitted_.relative], float)
    shares = np.where(np.isfinite(shares), shares, -np.inf).max(axis=0)
    k = int(np.argmax(shares))
    if not np.isfinite(shares[k]):
        return "", float("nan")
    return str(fit.record.terms.row_names[k]), float(shares[k])


def _reasons(fit: Fit, checks: Sequence[Validation]) -> list[str]:
    """What speaks for the fit: how well it predicts what it has not seen."""
    name, share = _worst(fit, checks)
    if not checks or not name:
        return []
    mean = float(np.mean([c.mean for c in checks]))
    return [
        f"Motion that took no part in the fit is predicted to {_percent(mean)} of the torques' deviation on average; "
        f"worst is {name} with {_percent(share)}."
    ]


def predicted(checks: Sequence[Validation], names: Sequence[object]) -> list[str]:
    """How well a model predicts logs, in a sentence."""
    shares = np.array([check.relative for check in checks], float)
    shares = np.where(np.isfinite(shares), shares, -np.inf)
    if not shares.size or not np.isfinite(shares.max()):
        return []
    log, joint = np.unravel_index(int(np.argmax(shares)), shares.shape)
    mean = float(np.mean([check.mean for check in checks]))
    where = "" if len(checks) == 1 else f" on {Path(checks[int(log)].source).name}"
    return [
        f"Torques are predicted to {_percent(mean)} of their deviation on average; worst is {names[int(joint)]} with "
        f"{_percent(float(shares[log, joint]))}{where}."
    ]


def _next(fit: Fit, judged: Verdict) -> list[str]:
    """What to do next, beyond what the verdict's own reasons advise."""
    names, graded = fit.names_, fit.identifiability_.grades
    left = [name for name, grade in zip(names, graded, strict=True) if grade in OPEN]
    steps = []
    if judged.passed:
        steps.append(
            "Next: use it (model.toml; fit.arm_ and fit.model_ in Python) for motions like those of the logs; "
            "before faster ones or another payload, validate it on a log of those."
        )
    if left and not any("excite" in advice for advice in judged.advice):
        listed = ", ".join(left[:6]) + (f" and {len(left) - 6} more" if len(left) > 6 else "")
        steps.append(
            f"For a better fit: these logs leave {listed} open; a motion made for it determines them "
            "(dynarm excite, or dynarm.excite)."
        )
    return steps


def _names(checks: Sequence[Validation]) -> list[str]:
    """What held-out logs are called at the head of columns."""
    return ["held out"] if len(checks) == 1 else [Path(c.source).name for c in checks]


def _errors(fit: Fit, checks: Sequence[Validation]) -> Markup:
    """Errors as measured, in per cent of the torques' deviations and in their units: held-out ones first."""
    own, names = fit.fitted_, [*_names(checks), "fitted"]
    shares = [*(c.relative for c in checks), own.relative]
    sizes = [*(c.rmse for c in checks), own.rmse]
    terms = fit.record.terms
    return _table(terms.row_names, force_units(terms.arm), names, shares, sizes)


def _table(
    joints: Sequence[object],
    units: Sequence[str],
    names: Sequence[str],
    shares: Sequence[np.ndarray],
    sizes: Sequence[np.ndarray],
) -> Markup:
    """A row a joint: of every log the error in per cent and in the torque's unit, which heads have where it is one."""
    same = len(set(units)) == 1
    word = f"RMS [{units[0]}]" if same else "RMS"
    heads = [f"{name}: {w}" if name else w for name in names for w in ("%", word)]
    rows: list[list[object]] = []
    for j, (joint, unit) in enumerate(zip(joints, units, strict=True)):
        pairs = zip(shares, sizes, strict=True)
        cells = [rounded(x) for share, size in pairs for x in (100 * share[j], size[j])]
        rows.append([joint, *cells, *([] if same else [unit])])
    columns = ["joint", *heads, *([] if same else ["unit"])]
    return table(columns, rows, ONE_SCALE, tall=len(rows) > 24)


def _bars(fit: Fit, checks: Sequence[Validation]) -> Markup:
    """The same percentages as bars, side by side."""
    names = [str(name) for name in fit.record.terms.row_names]
    series = {"fitted": 100 * fit.fitted_.relative}
    if checks:
        held = np.array([c.relative for c in checks], float)
        word = "held out" if len(checks) == 1 else f"held out, worst of {len(checks)} logs"
        known = np.isfinite(held).any(axis=0)
        series[word] = 100 * np.where(
            known, np.where(np.isfinite(held), held, -np.inf).max(axis=0), np.nan
        )
    bars = figures.beside(names, series, ("--c1", "--c2"), "error [% of deviation]")
    beside = "fitted beside held out" if checks else "of the fitted logs alone: none was held out"
    return figure(bars, f"The same errors of every joint, {beside}.", 280)


def in_the_fit(fit: Fit, checks: Sequence[Validation]) -> Markup:
    """Errors on other scales: filtered as in the fit, with consistent values, and in the fit's band."""
    columns = ["joint", "fitted", "made consistent", "fitted, in band"]
    columns += [f"{name}, in band" for name in _names(checks)]
    band = fit.fitted_.band
    rows = [
        [name, *map(rounded, (own, safe, band[j], *(c.band[j] for c in checks)))]
        for j, (name, own, safe) in enumerate(
            zip(fit.record.terms.row_names, fit.relative_, fit.consistent_, strict=True)
        )
    ]
    return table(
        columns,
        rows,
        "RMS error over the torque's standard deviation on other scales: the rows of the fit, filtered, by the "
        "fitted and by the consistent values; whole logs low-passed at the fit's band, without most noise",
        tall=len(rows) > 24,
    )


def check_table(arm: Arm, checks: Sequence[Validation]) -> Markup:
    """Errors of a model on logs."""
    names = [""] if len(checks) == 1 else [Path(c.source).name for c in checks]
    shares, sizes = [c.relative for c in checks], [c.rmse for c in checks]
    return _table(force_names(arm), force_units(arm), names, shares, sizes)
