"""An identification: verdict, measured against predicted torques, residuals, parameters, what the logs determine."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..border.kinds import Json
from ..identify.judgement.identifiability import DAMPED, SMALL
from ..identify.logs.noted import noted
from ..identify.logs.numbers import clock_start
from ..identify.rows import force_names, force_units
from . import figures
from .friction import friction_sections
from .html import (
    Cell,
    Markup,
    Section,
    facts,
    figure,
    figures_grid,
    lines,
    note,
    number,
    section,
    table,
    write_page,
)
from .link_steps import link_by_link
from .live import live_section
from .meaning import determined
from .outcome import check_table, in_the_fit, outcome, predicted, rounded, verdict_box
from .torques import axes_of, predictions, share, torque_figure, worst
from .unknowns import against_cad, explained, names_explained, unit_words, value_cells

if TYPE_CHECKING:
    from ..identify.judgement.verdict import Validation, Verdict
    from ..identify.result import Fit
    from ..robot.arm import Arm

LISTED = 6  # logs that are named below the title
FAR = 1000  # [%] of a value beyond which its deviation is not told exactly
HELD_OUT = "; they took no part in the fit"
GRADES = {  # of an unknown: the word, and the kind of its cell
    "determined": ("yes", "good"),
    "hardly": ("hardly", "doubt"),
    "not": ("no", "bad"),
    "fixed": ("taken as 0", ""),
    DAMPED: ("damped", ""),
    SMALL: ("small", ""),
}
COLOURS = {  # of bars: blue, amber, red and grey differ for the colour-blind too
    "determined": "--c1", "hardly": "--c5", "not": "--bad", "fixed": "--faint", DAMPED: "--faint",
    SMALL: "--faint",
}  # fmt: skip
WORDS = {"not": "not determined", SMALL: "not told from 0", "fixed": "taken as 0"}


def page(
    fit: Fit, checks: Sequence[Validation], judged: Verdict, path: str | os.PathLike[str]
) -> None:
    """Write the report of a fit, its predictions of held-out logs, and the verdict."""
    title = f"Identification: {fit.record.terms.arm.name}"
    write_page(path, title, sections(fit, checks, judged), _subtitle(fit))


def validation_page(
    arm: Arm, checks: Sequence[Validation], judged: Verdict, path: str | os.PathLike[str]
) -> None:
    """Write the report of a model's predictions of logs."""
    told = verdict_box(judged, predicted(checks, force_names(arm)), checks)
    parts = [section("Verdict", told, check_table(arm, checks))]
    parts += predictions(arm, checks)
    write_page(path, f"Validation: {arm.name}", parts)


def _subtitle(fit: Fit) -> str:
    names = [Path(log.source).name for log in fit.record.logs]
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return f"from {', '.join(names[:LISTED])}{more}" if names else ""


def sections(fit: Fit, checks: Sequence[Validation], judged: Verdict) -> list[Section]:
    """All parts of the report."""
    arm = fit.record.terms.arm
    return [
        outcome(fit, checks, judged),
        *predictions(arm, checks, HELD_OUT),
        _fitted(fit),
        *friction_sections(fit),
        _identifiability(fit),
        _parameters(fit),
        *against_cad(fit),
        *_moved(fit),
        _residuals(fit),
        *link_by_link(fit),
        _about(fit, checks, judged),
    ]


def _moved(fit: Fit) -> list[Section]:
    """The identified robot, computing in the page."""
    made = live_section(fit.arm_, "Move what was identified")
    return [made] if made else []


# ---- torques and what is left of them


def _fitted(fit: Fit) -> Section:
    left, arm = fit.residuals_, fit.record.terms.arm
    start = clock_start(float(min(log.t[0] for log in fit.record.logs)))
    errors = np.array([share(m, p) for m, p in zip(left.measured, left.predicted, strict=True)])
    chosen, more = worst(errors)
    axes = axes_of(arm)
    made = [
        torque_figure(*axes[k], left.t[k] - start, left.measured[k], left.predicted[k])
        for k in chosen
    ]
    told = "The rows that were fitted: filtered and thinned, without those in which a joint rests."
    return section("Measured and predicted torques", note(told + more), figures_grid(made))


def _residuals(fit: Fit) -> Section:
    left, names = fit.residuals_, fit.record.terms.row_names
    spectra = _spectra(fit)
    layout = {
        "xaxis": figures.axis("frequency [Hz]"),
        "yaxis": figures.axis("amplitude density / deviation", type="log", exponentformat="power"),
        "legend": figures.LEGEND,
        "margin": {"l": 60, "r": 12, "t": 48, "b": 42},
    }
    lags = np.arange(1, left.correlation.shape[1] + 1)
    bands = [
        figures.line(lags, left.correlation[k], n, f"--c{k % 8 + 1}", line=figures.dashed(k))
        for k, n in enumerate(names)
        if not fit.silent_[k]
    ]
    rows = [
        [
            name,
            force_units(fit.record.terms.arm)[k],
            rounded(left.rms[k]),
            rounded(100 * fit.relative_[k]),
            rounded(100 * left.white[k], 2),
            rounded(1e3 * fit.delays_[k]),
        ]
        for k, name in enumerate(names)
        if not fit.silent_[k]
    ]
    lag_layout = {
        **layout,
        "xaxis": figures.axis("lag [samples]"),
        "yaxis": figures.axis("autocorrelation"),
    }
    return section(
        "Residuals",
        table(("joint", "unit", "RMS", "% of deviation", "white [%]", "delay [ms]"), rows),
        note(
            "White: part of the autocorrelations inside the 95 % band of white noise. Delay: by which the "
            "torque lags the motion. A peak in a spectrum is something that the model leaves out."
        ),
        figures_grid(
            [
                figure({"data": spectra, "layout": layout}, "Spectrum of the residuals."),
                figure({"data": bands, "layout": lag_layout}, "Autocorrelation of the residuals."),
            ]
        ),
    )


def _spectra(fit: Fit) -> list[Json]:
    """Lines of what is left over frequency, in units of the torques' deviations."""
    left, drawn = fit.residuals_, []
    for k, name in enumerate(fit.record.terms.row_names):
        frequency, density = left.spectrum[k]
        if len(frequency):
            level = np.sqrt(np.maximum(density, 1e-300)) / _size(left.spread[k])
            look = figures.dashed(k)
            drawn.append(figures.line(frequency, level, name, f"--c{k % 8 + 1}", line=look))
    return drawn


def _size(spread: float) -> float:
    """What residuals are measured in; 1 where a torque has no deviation."""
    return 1.0 if np.isnan(spread) else max(float(spread), 1e-300)


# ---- parameters


def _parameters(fit: Fit) -> Section:
    grades = fit.identifiability_.grades
    rows = []
    for k, unit in enumerate(unit_words(fit)):
        word, kind = GRADES[grades[k]]
        percent = float(fit.relative_std_[k])
        share = Cell(_certainty(percent), percent, "number") if np.isfinite(percent) else ""
        value, std = value_cells(float(fit.values_[k]), float(fit.std_[k]))
        grade = Cell(word, list(GRADES).index(grades[k]), kind)
        rows.append([explained(fit, k), value, std, unit, share, grade])
    columns = ("unknown", "value", "± std", "unit", "std [%]", "determined")
    return section(
        "Parameters",
        "The combinations of masses, inertias and friction that torques depend on; point at a name, or touch it, for "
        "what it is. "
        "With 95 % certainty the true value lies within 1.96 standard deviations.",
        table(columns, rows, tall=len(rows) > 24),
        names_explained(fit),
        _interval_figure(fit),
    )


def _certainty(percent: float) -> str:
    """A relative deviation; what is several times its value needs no digits."""
    if percent >= FAR:
        return f"> {FAR}"
    return f"{percent:.0f}" if percent >= 100 else number(percent, 2)


def _interval_figure(fit: Fit) -> Markup:
    """Each value in units of its own standard deviation would hide sizes; relative intervals show certainty."""
    known = np.abs(fit.values_) > 0
    with np.errstate(divide="ignore", invalid="ignore"):
        percent = np.where(known, 100 * fit.std_ / np.abs(fit.values_), np.inf)
    order = np.argsort(percent)
    grades = fit.identifiability_.grades
    shown = [int(k) for k in order if np.isfinite(percent[k]) and grades[k] != DAMPED]
    bars = figures.upright_bars(
        [fit.names_[k] for k in shown],
        [max(float(percent[k]), 1e-3) for k in shown],
        [COLOURS[grades[k]] for k in shown],
        "relative std [%]",
        "%{x}: %{y} %",
        type="log",
        dtick=1,
    )
    bars["key"] = _key([grades[k] for k in shown])
    return figure(bars, "Relative standard deviation of every unknown, best known first.", 300)


def _key(grades: Sequence[str]) -> list[dict[str, str]]:
    """What the colours of bars mean, of those that are there."""
    there = [grade for grade in COLOURS if grade in grades]
    return [{"color": COLOURS[grade], "text": WORDS.get(grade, grade)} for grade in there]


def _identifiability(fit: Fit) -> Section:
    check = fit.identifiability_
    order = [int(k) for k in np.argsort(-check.doubts) if check.grades[k] != DAMPED]
    bars = figures.upright_bars(
        [check.names[k] for k in order],
        [float(min(max(check.doubts[k], 1e-4), 1e3)) for k in order],
        [COLOURS[check.grades[k]] for k in order],
        "doubt",
        "%{x}: doubt %{y}",
        [(1, "--bad")],
        type="log",
        dtick=1,
    )
    bars["key"] = _key([check.grades[k] for k in order])
    free = [[rounded(float(doubt)), content] for doubt, content in check.directions]
    return section(
        "What the logs determine",
        lines(determined(check.names, check.grades)),
        lines(check.advice) if check.advice else None,
        figure(
            bars,
            "Doubt, before solving: how far each unknown could be off without showing in the torques, over what it may "
            "be worth. Beyond 1 the logs say nothing about it.",
            height=300,
        ),
        table(
            ("doubt", "combination that the logs leave free"),
            free,
            wide=("combination that the logs leave free",),
        )
        if free
        else None,
    )


# ---- what was done


def _prepared(fit: Fit) -> str:
    """What was done to the logs, as a sentence."""
    done = fit.record.preparation
    if done.smoothing == "spline":
        return "Positions were smoothed by splines, from which speeds and accelerations come."
    if done.cutoff is None or not np.isfinite(done.cutoff):
        how = "Nothing was filtered"
    else:
        how = f"Motion and torques were low-passed at {done.cutoff:g} Hz"
    speeds = "were taken as recorded" if done.velocity == "recorded" else "come from the positions"
    return f"{how}; speeds {speeds}."


def _about(fit: Fit, checks: Sequence[Validation], judged: Verdict) -> Section:
    trials = [[t.cutoff, t.velocity, rounded(t.error)] for t in fit.record.trials]
    notes = noted(
        (Path(log.source).name, (*log.notes, *log.quality.notes, *log.quality.warnings))
        for log in fit.record.logs
    )
    numbers = {
        "estimator": fit.record.identifier.estimator,
        "unknowns": len(fit.names_),
        "rank": fit.rank_,
        "condition number": f"{fit.condition_:.3g}",
    }
    return section(
        "How it was done",
        facts(numbers),
        _prepared(fit),
        lines(notes) if notes else None,
        in_the_fit(fit, checks),
        table(
            ("cut-off [Hz]", "velocity", "error on unseen time"),
            trials,
            "Preparations that were tried",
        )
        if trials
        else None,
        note(fit.runs_.told) if fit.runs_ else None,
        note(judged.qualified(fit.status_)),
    )
