"""Measured torques beside predicted ones: of every joint and log, of many those with the largest errors."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..identify.logs.numbers import clock_start
from ..identify.rows import force_names, force_units
from . import figures
from .html import Markup, Section, figure, figures_grid, note, section

if TYPE_CHECKING:
    from ..identify.judgement.verdict import Validation
    from ..robot.arm import Arm

POINTS = 500  # of a measured torque that are drawn: about as many as its figure is wide
DRAWN = 12  # joints whose torques are drawn
FIGURES = 18  # of predictions: of many logs the worst are drawn


def torque_figure(
    name: str, unit: str, t: np.ndarray, measured: np.ndarray, predicted: np.ndarray
) -> Markup:
    """Measured and predicted torque of one joint, and their difference below on the same scale."""
    data = [
        figures.line(t, measured, "measured", "--measured", POINTS, line={"width": 5}),
        figures.line(t, predicted, "predicted", "--predicted", POINTS, line={"width": 1.6}),
        figures.line(
            t, measured - predicted, "residual", "--c8", POINTS, yaxis="y2", line={"width": 1}
        ),
    ]
    layout = {
        "xaxis": figures.axis("time [s]", anchor="y2"),
        "yaxis": figures.axis(unit, domain=[0.34, 1.0]),
        "yaxis2": figures.axis("", domain=[0.0, 0.26]),
        "legend": figures.LEGEND,
        "hovermode": "x",
        "margin": {"l": 55, "r": 12, "t": 60, "b": 42},
        **figures.titled(name),
    }
    return figure({"data": data, "layout": layout}, height=340)


def axes_of(arm: Arm) -> list[tuple[str, str]]:
    """Name of each force and what its axis is called."""
    words = ("torque [N m]" if unit == "N m" else "force [N]" for unit in force_units(arm))
    return list(zip(force_names(arm), words, strict=True))


def share(measured: np.ndarray, predicted: np.ndarray) -> float:
    """Error over the torque's deviation; NaN where nothing was measured."""
    if not len(measured):
        return float("nan")
    left = np.asarray(measured) - np.asarray(predicted)
    return float(np.sqrt(np.mean(left**2)) / max(float(np.std(measured)), 1e-300))


def worst(errors: np.ndarray) -> tuple[list[int], str]:
    """The joints that are drawn, in their order: of many those with the largest errors, and that this is so."""
    known = [k for k in range(len(errors)) if not np.isnan(errors[k])]
    chosen = sorted(sorted(known, key=lambda k: -errors[k])[:DRAWN])
    more = f" Drawn: the {DRAWN} of {len(known)} joints with the largest errors."
    return chosen, more if len(chosen) < len(known) else ""


def predictions(arm: Arm, checks: Sequence[Validation], more: str = "") -> list[Section]:
    """The predictions of logs, of many the worst ones: a page stays a page."""
    room = max(1, FIGURES // max(1, min(DRAWN, len(force_names(arm)))))
    worst = sorted(sorted(range(len(checks)), key=lambda k: -checks[k].mean)[:room])
    made = [prediction(arm, checks[k], more) for k in worst]
    if len(worst) < len(checks):
        told = f"Of {len(checks)} logs the {len(worst)} with the largest errors are drawn."
        made.append(section("Further logs", told))
    return made


def prediction(arm: Arm, check: Validation, more: str = "") -> Section:
    t = check.t - clock_start(float(check.t[0]))
    shares = np.where(np.isnan(check.rmse), np.nan, np.nan_to_num(check.relative, nan=0.0))
    chosen, drawn = worst(shares)
    axes = axes_of(arm)
    made = [torque_figure(*axes[k], t, check.measured[:, k], check.predicted[:, k]) for k in chosen]
    told = f"Torques as measured, unfiltered, on the log's own samples{more}.{drawn}"
    return section(f"Prediction of {Path(check.source).name}", note(told), figures_grid(made))
