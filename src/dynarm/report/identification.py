"""An identification: verdict, measured against predicted torques, residuals, parameters, what the logs determine."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..identify.judgement.fitted import one_scale
from ..identify.judgement.identifiability import DAMPED, SMALL
from ..identify.judgement.verdict import mean_error
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
    verdict,
    write_page,
)
from .link_steps import link_by_link
from .live import live_section
from .meaning import determined
from .torques import axes_of, predictions, share, torque_figure, worst
from .unknowns import against_cad, explained, names_explained, unit_words, value_cells

if TYPE_CHECKING:
    from ..identify.judgement.verdict import Validation, Verdict
    from ..identify.result import Fit
    from ..robot.arm import Arm

HELD_OUT = "; they took no part in the fit"
GRADES = {  # of an unknown: the word, and the kind of its cell
    "determined": ("yes", "good"),
    "hardly": ("hardly", "doubt"),
    "not": ("no", "bad"),
    "fixed": ("taken as 0", ""),
    DAMPED: ("damped", ""),
    SMALL: ("small", ""),
}
COLOURS = {
    "determined": "--good", "hardly": "--doubt", "not": "--bad", "fixed": "--faint", DAMPED: "--faint",
    SMALL: "--faint",
}  # fmt: skip


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
    parts = [section("Verdict", verdict_box(judged), _check_table(arm, checks))]
    parts += predictions(arm, checks)
    write_page(path, f"Validation: {arm.name}", parts)


def _subtitle(fit: Fit) -> str:
    logs = ", ".join(Path(log.source).name for log in fit.record.logs)
    return f"{logs}; {fit.record.identifier.estimator}, {fit.record.preparation.told}"


def sections(fit: Fit, checks: Sequence[Validation], judged: Verdict) -> list[Section]:
    """All parts of the report."""
    arm = fit.record.terms.arm
    return [
        _verdict(fit, checks, judged),
        *predictions(arm, checks, HELD_OUT),
        _fitted(fit),
        *friction_sections(fit),
        _identifiability(fit),
        _parameters(fit),
        *against_cad(fit),
        *_moved(fit),
        _residuals(fit),
        *link_by_link(fit),
        _about(fit),
    ]


def _moved(fit: Fit) -> list[Section]:
    """The identified robot, computing in the page."""
    made = live_section(fit.arm_, "Move what was identified")
    return [made] if made else []


# ---- outcome


def verdict_box(judged: Verdict) -> Markup:
    """The verdict's word, its reasons, and with each what to do."""
    told = [f"{r.text} → {r.advice}" if r.advice else r.text for r in judged.told]
    return verdict(judged.passed, told, bad=judged.word, unsure=judged.exit_code == 0)


def _one_scale(fit: Fit, checks: Sequence[Validation]) -> Markup:
    """Errors on fitted and held-out logs as measured, in units of the torques, per cent of deviations, and the band."""
    names = ["fitted logs", *(Path(c.source).name for c in checks)]
    heads = ("RMS on {}", "% on {}", "% in the band of {}")
    columns = ["joint", *(head.format(name) for name in names for head in heads)]
    joints = zip(fit.record.terms.row_names, force_units(fit.record.terms.arm), strict=True)
    rows = [
        [f"{name} [{unit}]", *map(_number, one_scale(fit.fitted_, checks, j))]
        for j, (name, unit) in enumerate(joints)
    ]
    return table(
        columns, rows, "One scale: whole logs as measured, nothing filtered but in the fit's band"
    )


def _verdict(fit: Fit, checks: Sequence[Validation], judged: Verdict) -> Section:
    check = fit.identifiability_
    numbers = {
        "unknowns": len(fit.names_),
        "determined": sum(g == "determined" for g in check.grades),
        "rank": fit.rank_,
        "condition": f"{fit.condition_:.3g}",
        "mean error": f"{100 * mean_error(fit.relative_, fit.silent_):.2f} %",
    }
    if checks:
        numbers["mean error, held out"] = f"{100 * float(np.mean([c.mean for c in checks])):.2f} %"
    columns = ["joint", "fitted", "made consistent", *(f"on {Path(c.source).name}" for c in checks)]
    rows = [
        [name, _number(own), _number(safe), *(_number(c.relative[j]) for c in checks)]
        for j, (name, own, safe) in enumerate(
            zip(fit.record.terms.row_names, fit.relative_, fit.consistent_, strict=True)
        )
    ]
    return section(
        "Verdict",
        verdict_box(judged),
        facts(numbers),
        table(
            columns,
            rows,
            "RMS error over the torque's standard deviation; fitted: filtered as in the fit, logs: as measured",
        ),
        _one_scale(fit, checks) if checks else Markup(""),
        note(judged.qualified(fit.status_)),
        *([note(fit.runs_.told)] if fit.runs_ else ()),
    )


def _check_table(arm: Arm, checks: Sequence[Validation]) -> Markup:
    columns = [
        "joint",
        *(
            f"{word} on {Path(c.source).name}"
            for c in checks
            for word in ("RMSE", "RMSE / deviation", "in the band")
        ),
    ]
    rows = [
        [name, *(_number(x) for c in checks for x in (c.rmse[j], c.relative[j], c.band[j]))]
        for j, name in enumerate(force_names(arm))
    ]
    return table(columns, rows)


def _number(x: float) -> float | str:
    """A number of a table; a dash where there is nothing to explain."""
    return "–" if np.isnan(x) else float(x)


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
    spectra = []
    for k, name in enumerate(names):
        frequency, density = left.spectrum[k]
        if len(frequency):
            level = np.sqrt(np.maximum(density, 1e-300)) / _size(left.spread[k])
            spectra.append(figures.line(frequency, level, name, f"--c{k % 8 + 1}"))
    layout = {
        "xaxis": figures.axis("frequency [Hz]"),
        "yaxis": figures.axis("amplitude density / deviation", type="log", exponentformat="power"),
        "legend": figures.LEGEND,
        "margin": {"l": 60, "r": 12, "t": 48, "b": 42},
    }
    lags = np.arange(1, left.correlation.shape[1] + 1)
    bands = [
        figures.line(lags, left.correlation[k], n, f"--c{k % 8 + 1}")
        for k, n in enumerate(names)
        if not fit.silent_[k]
    ]
    rows = [
        [
            name,
            float(left.rms[k]),
            _number(fit.relative_[k]),
            100 * float(left.white[k]),
            1e3 * float(fit.delays_[k]),
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
        table(("joint", "RMS", "RMS / deviation", "white [%]", "delay [ms]"), rows),
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
        share = Cell(number(percent, 3), percent, "number") if np.isfinite(percent) else ""
        value, std = value_cells(float(fit.values_[k]), float(fit.std_[k]))
        grade = Cell(word, list(GRADES).index(grades[k]), kind)
        rows.append([explained(fit, k), value, std, unit, share, grade])
    columns = ("unknown", "value", "± std", "unit", "std [%]", "determined")
    return section(
        "Parameters",
        "The combinations of masses, inertias and friction that torques depend on; point at a name for what it is. "
        "With 95 % certainty the true value lies within 1.96 standard deviations.",
        table(columns, rows, tall=len(rows) > 24),
        names_explained(fit),
        _interval_figure(fit),
    )


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
    return figure(bars, "Relative standard deviation of every unknown, best known first.", 300)


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
    free = [[float(doubt), content] for doubt, content in check.directions]
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


def _about(fit: Fit) -> Section:
    trials = [[t.cutoff, t.velocity, t.error] for t in fit.record.trials]
    notes = noted(
        (Path(log.source).name, (*log.notes, *log.quality.notes, *log.quality.warnings))
        for log in fit.record.logs
    )
    return section(
        "How it was done",
        lines(notes) if notes else None,
        table(
            ("cut-off [Hz]", "velocity", "error on unseen time"),
            trials,
            "Preparations that were tried",
        )
        if trials
        else None,
        note(fit.feasible_.status),
    )
