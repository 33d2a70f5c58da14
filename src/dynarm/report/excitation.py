"""A motion for identification: positions, velocities, and its condition number among random motions."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from . import figures
from .html import facts, figure, figures_grid, section, table, write
from .html import page as make_page


def page(arm: Any, found: Any, path: str | os.PathLike[str]) -> None:
    """Write the page of a trajectory."""
    title = f"Excitation: {arm.name}"
    write(
        make_page(
            title,
            [section("Condition", *_condition(arm, found)), section("Motion", _motion(arm, found))],
        ),
        path,
    )


def _condition(arm: Any, found: Any) -> list[Any]:
    random = np.array([c for c in found.random if np.isfinite(c)])
    numbers = {
        "condition number": f"{found.condition:.4g}",
        "best of random motions": f"{random.min():.4g}" if len(random) else "–",
        "length": f"{found.t[-1]:g} s",
    }
    parts: list[Any] = [facts(numbers)]
    if len(random):
        data = [
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
                "x": [found.condition],
                "y": ["this motion"],
                "name": "this motion",
                "marker": {"color": "--c2", "size": 12, "symbol": "diamond"},
            },
        ]
        layout = {"xaxis": figures.axis("condition number", type="log"), "showlegend": False}
        layout["margin"] = {"l": 110, "r": 12, "t": 12, "b": 42}
        parts.append(
            figure(
                {"data": data, "layout": layout},
                "Smaller is better; random motions keep the same limits.",
                180,
            )
        )
    if found.joint_conditions:
        rows = [
            [name, float(c)]
            for name, c in zip(arm.joint_names, found.joint_conditions, strict=True)
        ]
        parts.append(table(("joint", "condition of its own unknowns"), rows))
    return parts


def _motion(arm: Any, found: Any) -> Any:
    made = []
    for values, word in ((found.q, "position [rad or m]"), (found.qd, "velocity [rad/s or m/s]")):
        series = dict(zip(arm.joint_names, values.T, strict=True))
        made.append(
            figure(
                figures.lines(
                    found.t, series, "time [s]", word, margin={"l": 55, "r": 12, "t": 48, "b": 42}
                )
            )
        )
    return figures_grid(made)
