"""Numbers of the 3D page as HTML: torques of joints with their limits, tables, lists.

Names are escaped: they come from other people's files.
"""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

    from ..robot.arm import Arm, Joint


def torques(arm: Arm, columns: dict[str, np.ndarray]) -> str:
    """The joints' torques as an HTML table; names are escaped, they come from other people's files."""
    own = [arm.joints[i] for i in arm.coupling.masters]
    free = arm.nv - len(own)  # a free base has forces too, which no motor gives
    limited = any(j.effort_limit for j in own)
    last = list(columns.values())[-1]
    rows = [
        [
            str(j.name),
            *(f"{plain(values[k])} {'N m' if j.revolute else 'N'}" for values in columns.values()),
            *([share(float(last[k]), j)] if limited else []),
            reach_words(j),
        ]
        for k, j in enumerate(own, start=free)
    ]
    return table(("joint", *columns, *(["of limit"] if limited else []), "range"), rows)


def plain(value: float, digits: int = 3) -> str:
    """A number with so many places; zero has no sign."""
    text = f"{value:.{digits}f}"
    return text.removeprefix("-") if float(text) == 0 else text


def share(force: float, joint: Joint) -> str:
    """A force in per cent of what the joint can give."""
    return f"{100 * abs(force) / joint.effort_limit:.0f} %" if joint.effort_limit else "–"


def reach_words(joint: Joint) -> str:
    """Where a joint may go."""
    if joint.position_limits is None:
        return "free"
    factor, unit, digits = (180 / math.pi, "°", 0) if joint.revolute else (1.0, " m", 2)
    low, high = (plain(x * factor, digits) for x in joint.position_limits)
    return f"{low} to {high}{unit}"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    top = "".join(
        f"<th style='text-align:left;padding:0 0.3em'>{html.escape(x)}</th>" for x in head
    )
    # numbers stay with their units on one line, names may be broken
    looks = ["overflow-wrap:anywhere;min-width:5em", *["white-space:nowrap"] * len(head)]
    body = "".join(
        "<tr>"
        + "".join(
            f"<td style='padding:0 0.3em;{look}'>{html.escape(x)}</td>"
            for x, look in zip(row, looks, strict=False)
        )
        + "</tr>"
        for row in rows
    )
    return f"<div style='overflow-x:auto'><table style='font-size:0.78em'><tr>{top}</tr>{body}</table></div>"


def listed(items: Sequence[str]) -> str:
    return (
        "<ul style='font-size:0.8em;overflow-wrap:anywhere'>"
        + "".join(f"<li>{html.escape(x)}</li>" for x in items)
        + "</ul>"
    )
