"""A fleet of robots on a page: who stands out, what all share, how each differs, what drifts."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import numpy as np

from ..border.kinds import FloatArray, Json
from ..identify.fleet.outliers import LEAST
from . import figures
from .html import (
    Cell,
    Markup,
    Section,
    facts,
    figure,
    figures_grid,
    label,
    lines,
    note,
    section,
    table,
    verdict,
    write,
)
from .html import page as make_page
from .meaning import meaning
from .unknowns import places, told

if TYPE_CHECKING:
    from ..identify.fleet.drift import Drift
    from ..identify.fleet.result import Fleet

_DRAWN = 12  # unknowns whose robots are drawn
_TRENDS = 8  # trends that are drawn
_NAMED = 12  # robots whose names stand below their dots
_WIDE = 5.0  # times the median deviation, beyond which an interval does not widen a figure
_CLIP = 10.0  # deviations beyond which colours do not change


def page(fleet: Fleet, path: str | os.PathLike[str] | None = None) -> str:
    """The page of a fleet, also written where a path is given."""
    told = f"{len(fleet)} robots, {len(fleet.names)} unknowns each"
    html = make_page(f"Fleet: {fleet.arm.name}", sections(fleet), told)
    if path is not None:
        write(html, path)
    return html


def sections(fleet: Fleet) -> list[Section]:
    """Outcome, robots, what all share, drift."""
    parts = [_outcome(fleet), _robots(fleet), _shared(fleet)]
    return [*parts, _drift(fleet)] if fleet.drift else parts


def _outcome(fleet: Fleet) -> Section:
    names = fleet.outlier_names_
    reasons = ["no robot is further from the others than chance allows"]
    if len(fleet) < LEAST:
        reasons = [
            f"{len(fleet)} robots are compared; from {LEAST} on one that stands out is named"
        ]
    if names:
        reasons = [", ".join(names)]
    worst = [float(np.nanmax(fit.relative)) for fit in fleet.robots.values()]
    numbers = {
        "robots": len(fleet),
        "samples": sum(fit.samples for fit in fleet.robots.values()),
        "median of the worst joint's error": f"{np.median(worst):.1%}",
        "chance that any robot is named in vain": f"{fleet.rate:.2g}",
    }
    rows = [
        [one.robot, one.what, f"{one.deviations:+.1f}", f"{one.critical:.1f}"]
        for one in fleet.outliers
    ]
    return section(
        "Outcome",
        verdict(
            not names and len(fleet) >= LEAST,
            reasons,
            good="all alike",
            bad=f"{len(names)} stand{'s' * (len(names) == 1)} out" if names else "too few to tell",
            unsure=not names,
        ),
        facts(numbers),
        table(("robot", "stands out by", "deviations", "named beyond"), rows) if rows else None,
        lines([*(f"left out: {one}" for one in fleet.left_out), *fleet.notes]),
    )


def _most_different(fleet: Fleet) -> np.ndarray:
    """The unknowns whose robots are furthest apart beside what their fits cannot tell."""
    with np.errstate(invalid="ignore", divide="ignore"):
        told = fleet.pool.spread / np.nanmedian(
            np.where(np.isfinite(fleet.std_), fleet.std_, np.nan), axis=0
        )
    order = np.argsort(-np.nan_to_num(told))
    return np.sort(order[:_DRAWN])


def _heat(fleet: Fleet) -> Json:
    """Every robot's difference from what all share, in its own deviations and the spread between robots."""
    with np.errstate(invalid="ignore", divide="ignore"):
        apart = (fleet.values_ - fleet.pool.mean) / np.hypot(fleet.std_, fleet.pool.spread)
    heat = figures.heat_maps(
        list(fleet.names),
        list(fleet.robots)[::-1],  # the first at the top
        {"deviations": np.clip(np.nan_to_num(np.abs(apart[::-1])), 0, _CLIP)},
        "unknown",
        "robot",
        smooth=False,
    )
    heat["data"][0] |= {"zmin": 0, "zmax": _CLIP}  # one scale for all fleets: alike is light
    return heat


def _robots(fleet: Fleet) -> Section:
    """How the robots differ."""
    chosen = _most_different(fleet)
    drawn = [figure(_dots(fleet, int(k)), height=240) for k in chosen]
    return section(
        "Robots",
        figure(
            _heat(fleet),
            "Distance of each robot from what all share, over what its own deviation and the spread between robots "
            f"allow; dark: {_CLIP:.0f} or more.",
            height=figures.bar_height(len(fleet)),
        ),
        note("The unknowns in which the robots differ most, each robot with its 95 % interval:"),
        figures_grid(drawn),
    )


def _dots(fleet: Fleet, k: int) -> Json:
    """One unknown of all robots, with intervals, and what all share."""
    robots = list(fleet.robots)
    x, s = fleet.values_[:, k], fleet.std_[:, k]
    out = np.array([name in fleet.outlier_names_ for name in robots])
    names = [label(robot) for robot in robots]
    place = np.arange(len(robots))
    data = []
    for chosen, name, colour in ((~out, "robots", "--c1"), (out, "stand out", "--c2")):
        for i in np.flatnonzero(chosen & np.isfinite(s)):
            bar = [x[i] - 1.96 * s[i], x[i] + 1.96 * s[i]]
            data.append(
                figures.line(
                    [place[i]] * 2, bar, names[i], colour, showlegend=False, hoverinfo="skip"
                )
            )
        if chosen.any():
            data.append(
                {
                    "type": "scatter",
                    "mode": "markers",
                    "x": place[chosen],
                    "y": x[chosen],
                    "name": name,
                    "text": [names[i] for i in np.flatnonzero(chosen)],
                    "marker": {"color": colour, "size": 6},
                }
            )
    ends = [-0.5, len(robots) - 0.5]
    mean = fleet.pool.mean[k]
    data.append(figures.line(ends, [mean, mean], "all share", "--c3", line={"dash": "dash"}))
    unit = f" [{_written(fleet.units[k])}]" if fleet.units[k] else ""
    named = {"tickvals": place, "ticktext": names} if len(robots) <= _NAMED else {}
    layout = {
        "xaxis": figures.axis("robot", **named),
        "yaxis": figures.axis(fleet.names[k] + unit, range=_limits(x, s)),
        "legend": figures.LEGEND,
        "showlegend": bool(out.any()),
    }
    return {"data": data, "layout": layout}


def _limits(x: FloatArray, s: FloatArray) -> list[float]:
    """Between what a figure of robots lies: all values, and the intervals but for those that would hide all others."""
    usual = (
        s <= _WIDE * np.median(s[np.isfinite(s)]) if np.isfinite(s).any() else np.ones(len(s), bool)
    )
    reach = np.where(usual & np.isfinite(s), 1.96 * s, 0.0)
    low, high = float((x - reach).min()), float((x + reach).max())
    room = 0.05 * (high - low) or 1.0
    return [low - room, high + room]


def _shared(fleet: Fleet) -> Section:
    pool = fleet.pool
    rows = []
    for k, (name, m, s, w, unit) in enumerate(
        zip(fleet.names, pool.mean, pool.mean_std, pool.spread, fleet.units, strict=True)
    ):
        after = places(float(m), float(s))
        share = told(100 * w / abs(m), 1) if w < abs(m) else Cell("–", "", "number")
        cells = [told(float(x), after) for x in (m, s, w)]
        meant = Cell(name, k, title=meaning(name, fleet.arm.joint_names))
        rows.append([meant, *cells, _written(unit), share])
    head = ("unknown", "all share", "± std", "spread between robots", "unit", "spread [%]")
    return section(
        "What all share",
        table(head, rows),
        note(
            "Robots that stand out have no part in it. The spread is what the fits' own deviations do not explain."
        ),
    )


def _written(unit: str) -> str:
    """A unit as people write it."""
    return unit.replace("^2", "²")


def _drift(fleet: Fleet) -> Section:
    beyond = list(fleet.drifting_)
    order = sorted(fleet.drift, key=lambda one: -abs(one.deviations))
    rows = [
        [
            one.robot,
            one.what,
            f"{one.trend:+.3g}",
            f"{one.trend_std:.2g}",
            _written(one.unit),
            f"{one.deviations:+.1f}",
            f"{one.critical:.1f}",
        ]
        for one in (beyond or order[:5])
    ]
    head = (
        "robot",
        "unknown",
        f"change a {fleet.drift[0].period}",
        "std",
        "unit",
        "deviations",
        "named beyond",
    )
    said = f"{len(beyond)} beyond chance" if beyond else "none beyond chance; the largest are shown"
    return section(
        "Drift of friction and offsets",
        note(f"Trends of {len(fleet.drift)} unknowns of {len(fleet)} robots: {said}."),
        table(head, rows),
        figures_grid([_trend(one) for one in order[:_TRENDS]]),
    )


def _trend(one: Drift) -> Markup:
    """An unknown over time, with intervals and its line."""
    from ..identify.fleet.drift import PERIODS

    unit = PERIODS[one.period]
    t = (one.times - one.times[0]) / unit
    weight = one.std**-2.0
    middle = (t * weight).sum() / weight.sum()
    level = (one.values * weight).sum() / weight.sum()
    data = [
        figures.line([x, x], [y - 1.96 * s, y + 1.96 * s], one.what, "--c1", showlegend=False)
        for x, y, s in zip(t, one.values, one.std, strict=True)
    ]
    data.append(
        {
            "type": "scatter",
            "mode": "markers",
            "x": t,
            "y": one.values,
            "marker": {"color": "--c1", "size": 6},
        }
    )
    data.append(figures.line(t, level + one.trend * (t - middle), "trend", "--c2"))
    start = datetime.fromtimestamp(float(one.times[0]), UTC).strftime("%Y-%m-%d")
    layout = {
        "xaxis": figures.axis(f"{one.period}s since {start}"),
        "yaxis": figures.axis(f"{one.what} [{_written(one.unit)}]"),
        "showlegend": False,
        **figures.titled(f"{one.robot}{': drifts' if one.drifts else ''}"),
    }
    return figure({"data": data, "layout": layout}, height=240)
