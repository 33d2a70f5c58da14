"""Figures as plain data: {"data": traces, "layout": layout}, in those words of plotly that `plot.js` draws."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..border.kinds import Json, Numbers, Outside
from .html import label

Figure = Json
MOST = 1200  # points of a line that a page keeps
LEGEND = {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0}
# light to dark in the page's accent: readable on both grounds
SHADES = [[0, "#e8f4f6"], [0.25, "#a6d3dc"], [0.5, "#5aa9b9"], [0.75, "#1f7c90"], [1, "#063f4c"]]

# from danger to safety: red, amber and blue differ in lightness too, and for the colour-blind
DANGER = [[0, "#b3261e"], [0.35, "#e0a63a"], [1, "#1f6fb5"]]


def thinned(x: np.ndarray, y: np.ndarray, most: int = MOST) -> tuple[np.ndarray, np.ndarray]:
    """At most so many points of a curve: the lowest and the highest of every stretch, so that no peak is lost."""
    x, y = np.asarray(x, float), np.asarray(y, float)
    if len(x) <= most:
        return x, y
    size = -(-len(x) // (most // 2))
    keep = []
    for start in range(0, len(x), size):
        part = y[start : start + size]
        known = np.isfinite(part)
        low, high = np.where(known, part, np.inf), np.where(known, part, -np.inf)
        keep += sorted({start + int(low.argmin()), start + int(high.argmax())})
    return x[keep], y[keep]


def line(
    x: Numbers, y: Numbers, name: str, colour: str = "", most: int = MOST, **more: Outside
) -> Json:
    """A line; `more` goes to the trace."""
    samples = len(np.asarray(x))
    x, y = thinned(np.asarray(x, float), np.asarray(y, float), most)
    if len(x) < samples:
        more = {"meta": {"samples": samples}, **more}
    look = {"width": 1.5, **({"color": colour} if colour else {}), **more.pop("line", {})}
    return {
        "type": "scatter",
        "mode": "lines",
        "x": x,
        "y": y,
        "name": label(name),
        "line": look,
        **more,
    }


def axis(title: str = "", **more: Outside) -> Json:
    """An axis with a title."""
    return {"title": {"text": label(title)}, **more}


def lines(
    x: Numbers,
    series: Mapping[str, Numbers],
    xlabel: str,
    ylabel: str,
    title: str = "",
    **layout: Outside,
) -> Figure:
    """Curves over one axis."""
    data = [
        line(x, y, name, f"--c{k % 8 + 1}", line=dashed(k))
        for k, (name, y) in enumerate(series.items())
    ]
    return {
        "data": data,
        "layout": {
            "xaxis": axis(xlabel),
            "yaxis": axis(ylabel),
            "legend": LEGEND,
            "showlegend": len(data) > 1,
            "hovermode": "x unified",
            **titled(title),
            **layout,
        },
    }


def dashed(k: int) -> Json:
    """The look of the k-th line: after eight colours lines are dashed, then dotted."""
    dash = ("", "dash", "dot", "dashdot")[k // 8 % 4]
    return {"dash": dash} if dash else {}


def titled(title: str) -> Json:
    """A figure's heading, where it has one."""
    if not title:
        return {}
    return {
        "title": {
            "text": label(title),
            "font": {"size": 13},
            "x": 0,
            "xref": "paper",
            "yref": "container",
            "y": 0.97,
        }
    }


def upright_bars(
    names: Sequence[str],
    values: Sequence[float],
    colours: Sequence[str],
    ylabel: str,
    hover: str,
    levels: Sequence[tuple[float, str]] = (),
    **yaxis: Outside,
) -> Figure:
    """One bar a name, and dotted lines at levels (value, colour)."""
    bars = {
        "type": "bar",
        "x": [label(n) for n in names],
        "y": list(values),
        "marker": {"color": list(colours)},
        "hovertemplate": hover + "<extra></extra>",
    }
    line = {"type": "line", "xref": "paper", "x0": 0, "x1": 1}
    shapes = [
        {**line, "y0": y, "y1": y, "line": {"color": colour, "width": 1, "dash": "dot"}}
        for y, colour in levels
    ]
    layout = {
        "xaxis": {"automargin": True, "tickangle": -60, "tickfont": {"size": 10}},
        "yaxis": axis(ylabel, **yaxis),
        "shapes": shapes,
        "margin": {"l": 60, "r": 12, "t": 12, "b": 80},
    }
    return {"data": [bars], "layout": layout}


def beside(
    names: Sequence[str],
    series: Mapping[str, Numbers],
    colours: Sequence[str],
    ylabel: str,
) -> Figure:
    """A group of upright bars a name, one bar of each series."""
    data = [
        {
            "type": "bar",
            "x": [label(n) for n in names],
            "y": np.asarray(values, float),
            "name": label(word),
            "marker": {"color": colour},
            "hovertemplate": f"%{{x}}, {label(word)}: %{{y}}<extra></extra>",
        }
        for (word, values), colour in zip(series.items(), colours, strict=False)
    ]
    return {"data": data, "layout": {"xaxis": {}, "yaxis": axis(ylabel), "legend": LEGEND}}


def stacked_bars(names: Sequence[str], parts: Mapping[str, Sequence[float]], xlabel: str) -> Figure:
    """Horizontal bars made of parts, the first name on top."""
    colours = ("--c1", "--c2", "--c5")
    data = [
        {
            "type": "bar",
            "orientation": "h",
            "y": [label(n) for n in names],
            "x": list(values),
            "name": label(part),
            "marker": {"color": colours[k]},
            "hovertemplate": "%{y}: %{x} " + label(part) + "<extra></extra>",
        }
        for k, (part, values) in enumerate(parts.items())
    ]
    layout = {
        "barmode": "stack",
        "bargap": 0.25,
        "xaxis": axis(xlabel),
        "yaxis": {"autorange": "reversed", "automargin": True, "tickfont": {"size": 11}},
        "legend": {**LEGEND, "traceorder": "normal"},
    }
    return {"data": data, "layout": layout}


def bar_height(bars: int) -> int:
    """Pixels for a figure with so many bars."""
    return 110 + 24 * bars


def heat_maps(
    x: Sequence[str] | Numbers,
    y: Sequence[str] | Numbers,
    maps: Mapping[str, Numbers],
    xlabel: str,
    ylabel: str,
    smooth: bool = True,
) -> Figure:
    """One heat map at a time, chosen from a list."""
    data = [
        {
            "type": "heatmap",
            "x": x,
            "y": y,
            "z": z,
            "name": label(name),
            "visible": k == 0,
            "colorscale": SHADES,
            "zsmooth": "best" if smooth else False,
            "colorbar": {"thickness": 12},
            "hovertemplate": f"{label(xlabel)} %{{x}}<br>{label(ylabel)} %{{y}}<br>%{{z}}<extra></extra>",
        }
        for k, (name, z) in enumerate(maps.items())
    ]
    layout: Json = {
        "xaxis": axis(xlabel),
        "yaxis": axis(ylabel),
        "margin": {"l": 60, "r": 12, "t": 50, "b": 45},
    }
    if len(data) > 1:
        layout["updatemenus"] = [_menu(list(maps))]
    return {"data": data, "layout": layout}


def _menu(names: Sequence[str]) -> Json:
    """A list that shows one trace and hides the others."""
    buttons = [
        {
            "label": label(name),
            "method": "restyle",
            "args": [{"visible": [j == k for j in range(len(names))]}],
        }
        for k, name in enumerate(names)
    ]
    return {
        "buttons": buttons,
        "x": 0,
        "xanchor": "left",
        "y": 1.02,
        "yanchor": "bottom",
        "bgcolor": "--card",
        "bordercolor": "--line",
        "pad": {"t": 0, "b": 4},
    }
