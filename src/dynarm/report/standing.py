"""A mobile manipulator that stands: support polygon with the load point, wheel loads, limits, payload against reach."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
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
    section,
    table,
    verdict,
    write_page,
)

if TYPE_CHECKING:
    from ..mobile.ground import Ground
    from ..mobile.limits import EmergencyStop, MobileLimits
    from ..mobile.outline import Outline
    from ..mobile.payload import PayloadMap
    from ..mobile.retime import Retimed
    from ..mobile.robot import MobileManipulator

HEAVY = figures.DANGER  # from nothing to the most


@dataclass(frozen=True, slots=True, eq=False)
class Standing:
    """What the page shows, computed before."""

    outline: Outline
    grounds: Mapping[str, Ground]  # by contact, the one asked for first
    point: np.ndarray  # (2,) where the load meets the ground
    limits: MobileLimits | None
    stop: EmergencyStop | None
    payload: PayloadMap | None
    adhesion: float | None
    units: Mapping[str, str]  # of the limits
    acting: str = ""  # what acts on it besides its weight, in words


def standing_page(robot: MobileManipulator, shown: Standing, path: str | os.PathLike[str]) -> None:
    """Write the page of a robot that stands."""
    first = next(iter(shown.grounds.values()))
    parts = [_stands(robot, shown)]
    if shown.limits is not None:
        parts.append(_allowed(shown))
    if shown.payload is not None:
        parts.append(_carried(shown.payload))
    write_page(path, f"How {robot.name} stands", parts, first.status)


def _stands(robot: MobileManipulator, shown: Standing) -> Section:
    ground = next(iter(shown.grounds.values()))
    up = ground.forces[:, 2]
    whole = float(up.sum())
    standing = bool(ground.measure >= 0)
    numbers = {
        "to tipping": f"{float(ground.degrees):.3g}°",
        "load on the ground": f"{whole:.4g} N",
        "least load of a wheel": f"{float(up.min()):.3g} N",
        "most friction needed": f"{float(ground.friction.max()):.3g}",
    }
    rows = [
        [
            name,
            *(_newtons(float(one.forces[j, 2]), whole) for one in shown.grounds.values()),
            100 * float(up[j]) / whole if whole > 0 else 0.0,
            float(ground.friction[j]),
        ]
        for j, name in enumerate(robot.wheel_names)
    ]
    heads = ["wheel", *(f"{way} [N]" for way in shown.grounds), "% of load", "friction needed"]
    return section(
        "How it stands",
        shown.acting,
        verdict(standing, [ground.status], "stands", "tips over"),
        facts(numbers),
        figures_grid([_above(shown), _loads(robot, shown)]),
        table(heads, rows, "Load of each wheel"),
        note(
            "Wheels push and never pull; more than three share the load as springs do (elastic), or in the way that "
            "asks for the least (best) or the most friction (worst)."
        ),
    )


def _newtons(force: float, whole: float) -> float:
    """A load without what solving left of nothing: whole ten-thousandths of what stands there."""
    step = 10.0 ** np.floor(np.log10(1e-4 * whole)) if whole > 0 else 0.0
    return float(np.round(force / step) * step) + 0.0 if step else force


def path_page(
    robot: MobileManipulator, fast: Retimed, ground: Ground, path: str | os.PathLike[str]
) -> None:
    """Write the page of a path in the shortest time: margins along it, and what limits each point.

    ground: under the path's points.
    """
    words, counts = np.unique(np.array(fast.by), return_counts=True)
    rows = [[str(words[k]), 100 * float(counts[k]) / len(fast.by)] for k in np.argsort(-counts)]
    numbers = {
        "time": f"{fast.time:.4g} s",
        "fastest along it": f"{float(fast.rate.max()):.4g}",
        "to tipping, at the least": f"{float(ground.degrees.min()):.3g}°",
    }
    part = section(
        "The path in the shortest time",
        facts(numbers),
        figures_grid(_along(robot, fast, ground)),
        table(("limited by", "% of the points"), rows, wide=("limited by",)),
    )
    write_page(path, f"A path of {robot.name}", [part], fast.status)


def _along(robot: MobileManipulator, fast: Retimed, ground: Ground) -> list[Markup]:
    """Speed, parts of the limits, and degrees to tipping along a path; speeds against time."""
    kinds: dict[str, list[int]] = {}
    for k, name in enumerate(fast.limits):
        kinds.setdefault(name.split()[0], []).append(k)
    used = {kind: fast.parts[:, places].max(-1) for kind, places in kinds.items()}
    angles = {
        f"{a} to {b}": np.degrees(ground.angles[:, k]) for k, (a, b) in enumerate(ground.axes)
    }
    speeds = {name: fast.motion.z[:, k] for k, name in enumerate(robot.speed_names)}
    along = "along the path [m, rad]"
    return [
        figure(
            figures.lines(fast.s, {"speed": fast.rate}, along, "speed along it"),
            "Speed along the path, from rest to rest.",
        ),
        figure(
            figures.lines(fast.s, used, along, "part of the limit"),
            "How much of each limit is used, the worst wheel, edge or joint of a kind; 1: all of it.",
        ),
        figure(figures.lines(fast.motion.t, speeds, "time [s]", "speed [m/s or rad/s]")),
        figure(
            figures.lines(fast.s, angles, along, "to tipping [°]"),
            "Degrees to tipping over each side of the support polygon.",
        ),
    ]


def _closed(points: np.ndarray) -> np.ndarray:
    return np.vstack([points, points[:1]])


def _above(shown: Standing) -> Markup:
    """Support polygon, wheels, arm and load point."""
    shape, point = shown.outline, shown.point
    polygon = _closed(shape.polygon)
    gap = np.full((len(shape.wheels), 1, 2), np.nan)
    rims = np.concatenate([shape.wheels, gap], axis=1).reshape(-1, 2)
    ground = next(iter(shown.grounds.values()))
    colour = "--good" if ground.measure >= 0 else "--bad"
    dot = {"size": 13, "symbol": "x", "color": colour}
    data: list[Json] = [
        {
            **figures.line(polygon[:, 0], polygon[:, 1], "support polygon", "--c1"),
            "fill": "toself",
        },
        figures.line(rims[:, 0], rims[:, 1], "wheels", "--ink", line={"width": 5}),
        {
            **figures.line(shape.arm[:, 0], shape.arm[:, 1], "arm", "--c2", line={"width": 4}),
            "mode": "lines+markers",
        },
        {
            "type": "scatter",
            "mode": "markers",
            "x": [point[0]],
            "y": [point[1]],
            "name": "load point",
            "marker": dot,
        },
    ]
    layout: Json = {
        "xaxis": figures.axis("x [m]", constrain="domain"),
        "yaxis": figures.axis("y [m]", scaleanchor="x", constrain="domain"),
        "legend": figures.LEGEND,
        "margin": {"l": 60, "r": 12, "t": 48, "b": 42},
        "hovermode": "closest",
    }
    told = "From above. The load point is where weight, inertia and load meet the ground; outside the polygon it tips."
    return figure({"data": data, "layout": layout}, told, height=420)


def _loads(robot: MobileManipulator, shown: Standing) -> Markup:
    """Bars of what each wheel carries."""
    ground = next(iter(shown.grounds.values()))
    colours = ["--bad" if off else "--c1" for off in ground.lifted]
    fig = figures.upright_bars(
        robot.wheel_names, ground.forces[:, 2].tolist(), colours, "load [N]", "%{x}: %{y} N"
    )
    return figure(fig, f"What each wheel carries (contact {ground.contact}).", height=420)


def _allowed(shown: Standing) -> Section:
    limits = shown.limits
    assert limits is not None
    ways = list(limits.others)
    rows = []
    for name, unit in shown.units.items():
        others = [limits.others[way][name] for way in ways]
        value = float(getattr(limits, name))
        rows.append(
            [name.replace("_", " "), unit.replace("^2", "²"), value, *others, limits.by[name]]
        )
    heads = ["limit", "unit", limits.contact, *ways, "limited by"]
    stop = None if shown.stop is None else f"Stop: {shown.stop.status}."
    return section(
        "What the ground allows",
        f"With the arm held and a friction of {shown.adhesion:g} between wheels and ground.",
        table(heads, rows, wide=("limited by",)),
        stop,
        note("∞: nothing limits it; –: not even at rest."),
    )


def _map(carried: PayloadMap) -> Markup:
    """Where the tool is, coloured by what it can carry."""
    marker: Json = {
        "size": 5,
        "color": carried.payload,
        "colorscale": HEAVY,
        "cmin": 0,
        "cmax": float(np.percentile(carried.payload, 95)) or 1.0,
        "colorbar": {"thickness": 12, "title": {"text": "kg"}},
    }
    above: Json = {
        "type": "scatter",
        "mode": "markers",
        "x": carried.place[:, 0],
        "y": carried.place[:, 1],
        "name": "payload",
        "marker": marker,
        "hovertemplate": "x %{x}, y %{y}: %{marker.color} kg<extra></extra>",
    }
    layout: Json = {
        "xaxis": figures.axis("x of the tool [m]", constrain="domain"),
        "yaxis": figures.axis("y of the tool [m]", scaleanchor="x", constrain="domain"),
        "margin": {"l": 60, "r": 12, "t": 20, "b": 42},
        "hovermode": "closest",
        "showlegend": False,
    }
    told = (
        "Where the tool is, seen from above, and what it can carry there: red nothing, green "
        f"{marker['cmax']:.3g} kg or more."
    )
    return figure({"data": [above], "layout": layout}, told, height=420)


def _carried(carried: PayloadMap) -> Section:
    """Where the tool is and what it can carry there; payload against reach."""
    reach, low, high = carried.envelope()
    curves = figures.lines(
        reach,
        {"in every pose": low, "in the best pose": high},
        "reach [m]",
        "payload [kg]",
        margin={"l": 60, "r": 12, "t": 48, "b": 42},
    )
    words, counts = np.unique(np.array(carried.by), return_counts=True)
    order = np.argsort(-counts)
    rows = [[str(words[k]), 100 * float(counts[k]) / len(carried.by)] for k in order]
    return section(
        "Payload against reach",
        carried.status,
        figures_grid(
            [
                _map(carried),
                figure(
                    curves,
                    "Reach: level distance of the tool from the middle of the support polygon.",
                    height=420,
                ),
            ]
        ),
        table(("what ends it", "% of the poses"), rows, wide=("what ends it",)),
    )
