"""A mobile manipulator in motion: animated view from above, tip-over margin along the path, ground forces."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..border.kinds import Json
from . import figures
from .html import (
    Cell,
    Section,
    facts,
    figure,
    figures_grid,
    lines,
    note,
    section,
    table,
    verdict,
    write_page,
)

if TYPE_CHECKING:
    from ..mobile.cases import CaseRun
    from ..mobile.outline import Outline
    from ..mobile.robot import MobileManipulator
    from ..mobile.run import MobileRun

Draw = Callable[["MobileManipulator", np.ndarray], "Outline"]
ROOM: Json = {"margin": {"l": 60, "r": 12, "t": 48, "b": 42}}
FRAMES = 120  # of an animation
MARGIN = figures.DANGER  # from tipping to safe


def page(
    robot: MobileManipulator, run: MobileRun, outline: Draw, path: str | os.PathLike[str]
) -> None:
    """Write the page of a run. outline(robot, q): .polygon, .arm and .wheels in the plane."""
    title = f"Mobile manipulator: {robot.name}"
    write_page(path, title, sections(robot, run, outline), run.status)


def case_page(played: CaseRun, outline: Draw, path: str | os.PathLike[str]) -> None:
    """Write the page of one of the paper's cases: its statements, then the run."""
    case = played.case
    rows = [
        [
            f.claim,
            Cell("holds" if f.holds else "fails", int(f.holds), "good" if f.holds else "bad"),
            f.text,
        ]
        for f in played.findings
    ]
    head = section(
        "What the paper says",
        verdict(played.ok, [], "every statement holds", "a statement does not hold"),
        table(("statement", "outcome", "found"), rows, wide=("statement", "found")),
        note(f"Our start, which the paper does not print: {case.start}."),
    )
    extra = section(
        "Forces across the path",
        figure(
            figures.lines(played.run.t, {"across": played.centripetal}, "time [s]", "force [N]"),
            "Sum of the ground forces across the platform's path, the paper's centripetal force.",
        ),
    )
    about = section("What had to be assumed", lines(played.assumptions))
    title = f"Fig. {case.number}: {case.title}"
    parts = [head, *sections(played.robot, played.run, outline), extra, about]
    write_page(path, title, parts, f"{played.robot.name}, {played.run.t[-1]:g} s without inputs")


def sections(robot: MobileManipulator, run: MobileRun, outline: Draw) -> list[Section]:
    """View from above, margin, forces, energy."""
    return [_above(robot, run, outline), _ground(robot, run), _motion(robot, run)]


def _picks(run: MobileRun) -> np.ndarray:
    wanted = np.linspace(run.t[0], run.t[-1], min(FRAMES, len(run.t)))
    return np.unique(np.searchsorted(run.t, wanted).clip(max=len(run.t) - 1))


def _above(robot: MobileManipulator, run: MobileRun, outline: Draw) -> Section:
    picks = _picks(run)
    shapes = [outline(robot, run.q[k]) for k in picks]
    low = float(run.measure.min())
    numbers = {
        "smallest margin": f"{low:.4g} N rad",
        "time with negative margin": f"{sum(b - a for a, b in run.intervals):.3g} s",
        "most friction needed": "a wheel lifts"
        if low < 0
        else f"{np.max(run.friction_needed):.3g}",
        "length of the run": f"{run.t[-1]:g} s",
    }
    negative = [[a, b, b - a] for a, b in run.intervals]
    return section(
        "View from above",
        facts(numbers),
        figure(
            _animation(run, picks, shapes),
            "The platform's path coloured by the tip-over margin (red: a wheel lifts; from there on "
            "forces are those of wheels held to the ground), the support polygon, the wheels and the arm. Below, the "
            "margin against time.",
            height=680,
        ),
        table(("from [s]", "to [s]", "length [s]"), negative, "Margin negative")
        if negative
        else None,
    )


# of what moves: support polygon, arm, wheels, the mark on the margin's curve
LOOKS: list[Json] = [
    {
        "mode": "lines",
        "fill": "toself",
        "name": "support polygon",
        "line": {"color": "--c1", "width": 1.5},
    },
    {
        "mode": "lines+markers",
        "name": "arm",
        "line": {"color": "--c2", "width": 4},
        "marker": {"size": 7},
    },
    {"mode": "lines", "name": "wheels", "line": {"color": "--ink", "width": 5}},
    {
        "mode": "markers",
        "name": "now",
        "marker": {"color": "--c2", "size": 11},
        "xaxis": "x2",
        "yaxis": "y2",
    },
]


def _closed(points: np.ndarray) -> np.ndarray:
    return np.vstack([points, points[:1]])


def _moving(shape: Outline, t: float, measure: float) -> list[Json]:
    """What changes from frame to frame: polygon, arm, wheels, mark on the margin's curve."""
    polygon, arm, wheels = _closed(shape.polygon), shape.arm, shape.wheels
    gap = np.full((len(wheels), 1, 2), np.nan)
    rims = np.concatenate([wheels, gap], axis=1).reshape(-1, 2)
    return [
        {"x": polygon[:, 0], "y": polygon[:, 1]},
        {"x": arm[:, 0], "y": arm[:, 1]},
        {"x": rims[:, 0], "y": rims[:, 1]},
        {"x": [t], "y": [measure]},
    ]


def _animation(run: MobileRun, picks: np.ndarray, shapes: Sequence[Outline]) -> figures.Figure:
    """The path with the margin's curve below, and for each frame what moves."""
    moving = [
        _moving(shape, float(run.t[k]), float(run.measure[k]))
        for shape, k in zip(shapes, picks, strict=True)
    ]
    marks = [
        {"type": "scatter", **look, **where} for look, where in zip(LOOKS, moving[0], strict=True)
    ]
    margin = figures.line(run.t, run.measure, "margin", "--c1", xaxis="x2", yaxis="y2")
    frames = [
        {"name": str(k), "data": parts, "traces": [2, 3, 4, 5], "label": f"{run.t[pick]:.2f} s"}
        for k, (parts, pick) in enumerate(zip(moving, picks, strict=True))
    ]
    return {
        "data": [_path(run, picks), margin, *marks],
        "layout": _layout(shapes),
        "frames": frames,
        "interval": float(np.clip(1000 * run.t[-1] / len(frames), 40, 120)),
    }


def _path(run: MobileRun, picks: np.ndarray) -> Json:
    """Where the platform goes, coloured by the margin."""
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "x": run.q[picks, 0],
        "y": run.q[picks, 1],
        "name": "path",
        "line": {"color": "--line", "width": 1},
        "marker": {
            "size": 6,
            "color": run.measure[picks],
            "colorscale": MARGIN,
            "cmin": min(float(run.measure.min()), 0.0),
            "cmax": max(float(np.abs(run.measure).max()), 1e-12),
        },
        "hovertemplate": "x %{x}, y %{y}: margin %{marker.color}<extra></extra>",
    }


def _layout(shapes: Sequence[Outline]) -> Json:
    """Axes that hold every outline, as wide as high, and those of the margin below."""
    every = np.concatenate([np.concatenate([s.polygon, s.arm]) for s in shapes])
    low, high = every.min(axis=0), every.max(axis=0)
    pad = 0.05 * float((high - low).max()) + 0.05
    return {
        "xaxis": figures.axis(
            "x [m]", range=[low[0] - pad, high[0] + pad], anchor="y", constrain="domain"
        ),
        "yaxis": figures.axis(
            "y [m]",
            range=[low[1] - pad, high[1] + pad],
            domain=[0.36, 1.0],
            scaleanchor="x",
            constrain="domain",
        ),
        "xaxis2": figures.axis("time [s]", anchor="y2"),
        "yaxis2": figures.axis(
            "margin [N rad]", domain=[0.0, 0.24], anchor="x2", zerolinecolor="--bad"
        ),
        "showlegend": False,
        "hovermode": "closest",
        "margin": {"l": 60, "r": 12, "t": 12, "b": 42},
    }


def _ground(robot: MobileManipulator, run: MobileRun) -> Section:
    up = {name: run.wheel_forces[:, j, 2] for j, name in enumerate(robot.wheel_names)}
    needed = {
        name: np.where(run.friction_needed[:, j] < 5, run.friction_needed[:, j], np.nan)
        for j, name in enumerate(robot.wheel_names)
    }
    angles = {
        f"{a} to {b}": np.degrees(run.tipover.angles[:, k])
        for k, (a, b) in enumerate(run.tipover.axes)
    }
    rows = [
        [
            name,
            float(run.wheel_forces[:, j, 2].min()),
            float(run.wheel_forces[:, j, 2].max()),
            float(run.friction_needed[:, j].max()),
        ]
        for j, name in enumerate(robot.wheel_names)
    ]
    events = [[e.t, e.wheel, f"{'loses' if e.lost else 'finds'} {e.kind}"] for e in run.events]
    return section(
        "Ground forces",
        table(("wheel", "lowest load [N]", "highest load [N]", "most friction needed"), rows),
        figures_grid(
            [
                figure(
                    figures.lines(run.t, up, "time [s]", "vertical force [N]", **ROOM),
                    "Negative: the wheel has lifted.",
                ),
                figure(
                    figures.lines(run.t, needed, "time [s]", "friction needed", **ROOM),
                    "Coefficient that keeps each wheel from slipping; gaps where it has lifted.",
                ),
                figure(
                    figures.lines(run.t, angles, "time [s]", "tip-over angle [°]", **ROOM),
                    "About each side of the support polygon.",
                ),
            ]
        ),
        table(("time [s]", "wheel", "event"), events[:200]) if events else None,
    )


def _motion(robot: MobileManipulator, run: MobileRun) -> Section:
    names = robot.speed_names
    speeds = {name: run.z[:, k] for k, name in enumerate(names)}
    energy = {"kinetic": run.kinetic, "potential": run.potential, "total": run.energy}
    return section(
        "Motion and energy",
        figures_grid(
            [
                figure(figures.lines(run.t, speeds, "time [s]", "speed [m/s or rad/s]", **ROOM)),
                figure(figures.lines(run.t, energy, "time [s]", "energy [J]", **ROOM)),
            ]
        ),
    )
