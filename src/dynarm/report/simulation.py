"""A simulated motion: positions, velocities, torques and energy against time."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..border.kinds import Json
from . import figures
from .html import (
    Markup,
    Section,
    facts,
    figure,
    figures_grid,
    note,
    number,
    section,
    table,
    verdict,
    write,
)
from .html import page as make_page

if TYPE_CHECKING:
    from ..simulation.run import Run

SHOWN = 8  # runs of a batch that are drawn
RESTING = 1e-9  # [degrees, m, N m, N and these a second] below which nothing moves


def page(run: Run, path: str | os.PathLike[str] | None = None) -> str:
    """The page of a run, also written where a path is given."""
    html = make_page(f"Simulation: {run.model.arm.name}", sections(run), subtitle(run))
    if path is not None:
        write(html, path)
    return html


def subtitle(run: Run) -> str:
    """How it was integrated, in a line."""
    step = f", step {run.dt:g} s" if run.dt is not None else ""
    return f"{run.method}{step}, {len(run.t)} times until {run.t[-1]:g} s"


def sections(run: Run) -> list[Section]:
    """Outcome, motion, torques and energy."""
    return [_outcome(run), _motion(run), _energy(run)]


def _outcome(run: Run) -> Section:
    good = run.status in ("success", "event")
    energy = np.atleast_2d(run.energy)
    numbers = {
        "status": run.status,
        "end": f"{run.t[-1]:.4g} s",
        "energy at the start": f"{number(float(energy[0, 0]))} J",
        "energy at the end": f"{number(float(energy[0, -1]))} J",
        "left unexplained": f"{number(float(run.unexplained), 2)} J",
    }
    events = [[when, name] for when, name in run.events]
    return section(
        "Outcome",
        None if good else verdict(False, [run.message], bad="ended early"),
        facts(numbers),
        table(("time [s]", "event"), events) if events else None,
    )


def _motion(run: Run) -> Section:
    arm = run.model.arm
    own = [arm.joints[i] for i in arm.coupling.masters]
    turning = [k for k, j in enumerate(own) if j.revolute]
    sliding = [k for k, j in enumerate(own) if not j.revolute]
    parts = _base_motion(run) if arm.floating else []
    for joints, position, speed, force in (
        (turning, "position [°]", "velocity [°/s]", "torque [N m]"),
        (sliding, "position [m]", "velocity [m/s]", "force [N]"),
    ):
        if not joints:
            continue
        factor = 180 / np.pi if joints is turning else 1.0
        for values, title, scale in (
            (run.q, position, factor),
            (run.qd, speed, factor),
            (run.tau, force, 1.0),
        ):
            values = values[..., -len(own) :]
            if title == force and not np.any(values[..., joints]):
                continue
            parts.append(figure(_curves(run, arm.joint_names, joints, values * scale, title)))
    told = note("No joint is driven: torques are zero.") if not np.any(run.tau) else None
    return section("Motion", _batch_note(run), figures_grid(parts), told)


def _base_motion(run: Run) -> list[Markup]:
    """Where a free base is, how it is turned, and how it moves."""
    names, speeds = run.model.arm.coordinate_names[:7], run.model.arm.speed_names[:6]
    return [
        figure(_curves(run, labels, entries, values, title))
        for labels, entries, values, title in (
            (names, [0, 1, 2], run.q, "base: position [m]"),
            (names, [3, 4, 5, 6], run.q, "base: quaternion"),
            (speeds, [0, 1, 2], run.qd, "base: velocity in its axes [m/s]"),
            (speeds, [3, 4, 5], run.qd * (180 / np.pi), "base: angular velocity [°/s]"),
        )
    ]


def _curves(
    run: Run, names: Sequence[str], joints: list[int], values: np.ndarray, title: str
) -> figures.Figure:
    data: list[Json] = []
    runs = values.reshape(-1, *values.shape[-2:])[:SHOWN]
    for sample, one in enumerate(runs):
        for j in joints:
            colour, look = f"--c{j % 8 + 1}", figures.dashed(j)
            traced = figures.line(run.t, one[:, j], names[j], colour, legendgroup=str(j), line=look)
            traced["showlegend"] = sample == 0 and len(joints) > 1
            if len(runs) > 1:
                traced["opacity"] = 0.6
            data.append(traced)
    layout = {
        "xaxis": figures.axis("time [s]"),
        "yaxis": figures.axis(title, **_calm(values[..., joints])),
        "legend": figures.LEGEND,
    }
    return {
        "data": data,
        "layout": {
            **layout,
            "hovermode": "closest",
            "margin": {"l": 55, "r": 12, "t": 48, "b": 42},
        },
    }


def _calm(values: np.ndarray) -> Json:
    """The range of an axis on which nothing but rounding would be seen: it is drawn as the rest that it is."""
    known = values[np.isfinite(values)]
    return {"range": [-1, 1]} if known.size and np.abs(known).max() < RESTING else {}


def _batch_note(run: Run) -> Markup | None:
    if run.q.ndim < 3:
        return None
    count = int(np.prod(run.q.shape[:-2]))
    return note(f"{count} runs at once; the first {min(count, SHOWN)} are drawn.")


def _energy(run: Run) -> Section:
    def first(values: np.ndarray) -> np.ndarray:
        row: np.ndarray = values.reshape(-1, values.shape[-1])[0]
        return row

    series = {
        "kinetic": first(run.kinetic),
        "potential": first(run.potential),
        "total": first(run.energy),
    }
    if np.any(run.work) or np.any(run.loss):
        series["start + work - loss"] = first(run.energy)[0] + first(run.work) - first(run.loss)
    balance = figures.lines(run.t, {"unexplained": first(run.balance)}, "time [s]", "energy [J]")
    return section(
        "Energy",
        figures_grid(
            [
                figure(
                    figures.lines(run.t, series, "time [s]", "energy [J]"),
                    "Kinetic, potential and total energy.",
                ),
                figure(
                    balance,
                    "What the power balance leaves unexplained: the integrator's own error.",
                ),
            ]
        ),
    )
