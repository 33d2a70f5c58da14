"""A motion for identification: positions, velocities, and its condition number among random motions."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np

from ..border.kinds import Json
from . import figures
from .html import Markup, facts, figure, figures_grid, section, table, write_page

if TYPE_CHECKING:
    from ..identify.design.trajectory import Trajectory
    from ..robot.arm import Arm


def page(arm: Arm, motion: Trajectory, path: str | os.PathLike[str]) -> None:
    """Write the page of a trajectory."""
    parts = [
        section("Condition", *_condition(arm, motion)),
        section("Motion", _curves(arm, motion)),
    ]
    write_page(path, f"Excitation: {arm.name}", parts)


def _condition(arm: Arm, motion: Trajectory) -> list[Markup]:
    random = np.array([c for c in motion.random if np.isfinite(c)])
    numbers = {
        "condition number": f"{motion.condition:.4g}",
        "best of random motions": f"{random.min():.4g}" if len(random) else "–",
        "length": f"{motion.t[-1]:g} s",
    }
    parts = [facts(numbers)]
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
        parts.append(
            figure(
                {"data": data, "layout": layout},
                "Smaller is better; random motions keep the limits of the joints, not floor and links.",
                180,
            )
        )
    if motion.joint_conditions:
        rows = [
            [name, float(c)]
            for name, c in zip(arm.joint_names, motion.joint_conditions, strict=True)
        ]
        parts.append(table(("joint", "condition of its own unknowns"), rows))
    return parts


def _curves(arm: Arm, motion: Trajectory) -> Markup:
    made = []
    for values, word in ((motion.q, "position [rad or m]"), (motion.qd, "velocity [rad/s or m/s]")):
        series = dict(zip(arm.joint_names, values.T, strict=True))
        made.append(
            figure(
                figures.lines(
                    motion.t, series, "time [s]", word, margin={"l": 55, "r": 12, "t": 48, "b": 42}
                )
            )
        )
    return figures_grid(made)
