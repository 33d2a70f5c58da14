"""A motion for identification: what it is worth, what it keeps, how it looks, and how near it comes to its limits."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np

from ..border.kinds import Json
from . import figures
from .html import Markup, facts, figure, figures_grid, lines, note, section, table, write_page
from .motion_picture import picture

if TYPE_CHECKING:
    from ..identify.design.trajectory import KeptLimits, Trajectory
    from ..robot.arm import Arm


def page(arm: Arm, motion: Trajectory, path: str | os.PathLike[str]) -> None:
    """Write the page of a trajectory."""
    parts = [
        section("Outcome", *_outcome(motion)),
        section("The motion", picture(arm, motion)),
        section("Positions, speeds, accelerations, torques", *_curves(arm, motion)),
        section("How near to the limits", _near(motion)),
        section("Condition", *_condition(motion)),
    ]
    length = f"{motion.t[-1]:g} s, {len(motion.t)} samples, {motion.q.shape[1]} joints"
    write_page(path, f"Excitation: {arm.name}", parts, length)


def _random(motion: Trajectory) -> np.ndarray:
    return np.array([c for c in motion.random if np.isfinite(c)])


def _outcome(motion: Trajectory) -> list[Markup]:
    random = _random(motion)
    numbers = {"condition number": f"{motion.condition:.3g}"}
    if len(random):
        numbers["random motions, median"] = f"{np.median(random):.3g}"
        numbers["better by"] = f"{np.median(random) / motion.condition:.2g} ×"
    numbers["length"] = f"{motion.t[-1]:g} s"
    home = ", ".join(f"{x:.3f}" for x in motion.q[0])
    parts = [
        facts(numbers),
        note(f"Starts and ends at rest at ({home}) rad or m; {motion.status}."),
    ]
    for word, told in (("Checked", motion.checked), ("Not checked", motion.unchecked)):
        if told:
            parts += [Markup("<h3>{}</h3>").format(word), lines(told)]
    return parts


# ---- curves with their limits


def _curves(arm: Arm, motion: Trajectory) -> list[Markup]:
    kept, n = motion.kept, motion.q.shape[1]
    none = np.full((n, 2), np.nan)
    both = [none] * 4 if kept is None else _limits(kept, none)
    turns = [arm.joints[i].revolute for i in arm.coupling.masters]
    unit = ("rad", "N m") if all(turns) else ("m", "N")
    if any(turns) and not all(turns):
        unit = ("rad or m", "N m or N")
    made = [
        _curve(motion, values, limits, word)
        for values, limits, word in (
            (motion.q, both[0], f"position [{unit[0]}]"),
            (motion.qd, both[1], f"speed [{unit[0]}/s]"),
            (motion.qdd, both[2], f"acceleration [{unit[0]}/s²]"),
            (motion.tau, both[3], f"torque [{unit[1]}]"),
        )
        if values is not None and values.any()
    ]
    told = "Dashed: the limits of each joint, in its colour; those far outside of all curves are not drawn."
    return [figures_grid(made), note(told)]


def _limits(kept: KeptLimits, none: np.ndarray) -> list[np.ndarray]:
    """(n, 2) lowest and highest of position, speed, acceleration, torque."""
    sides = np.array([-1.0, 1.0])
    torque = none if kept.torque is None else kept.torque[:, None] * sides
    rates = [kept.velocity[:, None] * sides, kept.acceleration[:, None] * sides]
    return [kept.position, *rates, torque]


def _curve(motion: Trajectory, values: np.ndarray, limits: np.ndarray, word: str) -> Markup:
    span = float(values.max() - values.min())
    low, high = float(values.min()) - 0.6 * span, float(values.max()) + 0.6 * span
    data: list[Json] = []
    for j, (name, column) in enumerate(zip(motion.joint_names, values.T, strict=True)):
        colour = f"--c{j % 8 + 1}"
        look = {"dash": "dashdot"} if j >= 8 else {}  # dashes are limits
        data.append(figures.line(motion.t, column, name, colour, legendgroup=name, line=look))
        for level in sorted({float(x) for x in limits[j] if low <= x <= high}):
            ends = [motion.t[0], motion.t[-1]]
            edge = figures.line(ends, [level, level], f"{name}, limit", colour, legendgroup=name)
            edge["line"] = {"width": 1, "dash": "dash", "color": colour}
            data.append({**edge, "showlegend": False, "hoverinfo": "skip"})
    layout: Json = {
        "xaxis": figures.axis("time [s]"),
        "yaxis": figures.axis(word),
        "legend": figures.LEGEND,
        "showlegend": motion.q.shape[1] > 1,
        "margin": {"l": 55, "r": 12, "t": 48, "b": 42},
    }
    return figure({"data": data, "layout": layout}, height=340)


def _range(low: float, high: float) -> str:
    return f"{low:.3g} … {high:.3g}".replace("-", "−")


def _near(motion: Trajectory) -> Markup:
    """For every joint the most that the motion asks for, beside its limit."""
    kept = motion.kept
    rows = []
    for j, name in enumerate(motion.joint_names):
        row: list[object] = [name, _range(motion.q[:, j].min(), motion.q[:, j].max())]
        row.append("–" if kept is None else _range(kept.position[j, 0], kept.position[j, 1]))
        tops = (motion.qd, None if kept is None else kept.velocity)
        quick = (motion.qdd, None if kept is None else kept.acceleration)
        strong = (motion.tau, None if kept is None else kept.torque)
        for values, limit in (tops, quick, strong):
            row.append(_share(values, limit, j))
        rows.append(row)
    heads = ("joint", "positions", "limits", "top speed", "top acceleration", "top torque")
    return table(heads, rows, "The most that is asked for, of the limit, in rad or m, s, N m or N.")


def _share(values: np.ndarray | None, limit: np.ndarray | None, j: int) -> str:
    """Such as 1.9 of 2 (95 %)."""
    if values is None:
        return "–"
    top = float(np.abs(values[:, j]).max())
    if limit is None or not np.isfinite(limit[j]):
        return f"{top:.3g}, no limit known"
    return f"{top:.3g} of {limit[j]:.3g} ({top / limit[j]:.0%})"


# ---- how much better than random


def _condition(motion: Trajectory) -> list[Markup]:
    random = _random(motion)
    parts: list[Markup] = []
    if len(random):
        data: list[Json] = [
            {
                "type": "box",
                "x": random,
                "name": "random motions",
                "marker": {"color": "--c8"},
                "boxpoints": "all",
            },
            {
                "type": "scatter",
                "mode": "markers",
                "x": [motion.condition],
                "y": ["this motion"],
                "name": "this motion",
                "marker": {"color": "--c2", "size": 12, "symbol": "diamond"},
            },
        ]
        layout = {"xaxis": figures.axis("condition number", type="log"), "showlegend": False}
        layout["margin"] = {"l": 110, "r": 12, "t": 12, "b": 42}
        told = f"Smaller is better. {len(random)} random motions keep the joints' limits, not floor and links."
        parts.append(figure({"data": data, "layout": layout}, told, 180))
    if motion.joint_conditions:
        rows = [
            [name, float(c)]
            for name, c in zip(motion.joint_names, motion.joint_conditions, strict=True)
        ]
        parts.append(table(("joint", "condition of its own unknowns"), rows))
    return parts
