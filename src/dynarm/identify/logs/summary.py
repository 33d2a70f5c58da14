"""What a log shows of itself: a line, a short table, the same table in a notebook."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import numpy as np

from ...border.files import named

if TYPE_CHECKING:
    from .log import Log

_MOST = 12  # joints that are listed


def headline(log: Log) -> str:
    """One line: where it came from, how much it holds."""
    base = " on a free base" if log.floating else ""
    return f"{named(log.source)}: {log.n} joints{base}, {len(log)} samples, {log.duration:.3g} s"


def _rows(log: Log) -> list[tuple[str, ...]]:
    """Head, then for each joint the range of its positions and the largest velocity and torque, in SI units."""
    names = log.joint_names or log.labels or tuple(str(j + 1) for j in range(log.n))
    rows = [("joint", "q from", "to", *(("|qd| max",) if log.qd is not None else ()), "|tau| max")]
    q = log.split("q")[1]
    others = [log.split(name)[1] for name in ("qd", "tau") if getattr(log, name) is not None]
    for j, name in enumerate(names[:_MOST]):
        numbers = [q[:, j].min(), q[:, j].max()]
        numbers += [np.abs(x[:, j]).max() for x in others]
        rows.append((named(name), *(f"{x:.4g}" for x in numbers)))
    return rows


def _rest(log: Log) -> list[str]:
    """Lines below the table."""
    more = [f"... and {log.n - _MOST} joints more"] if log.n > _MOST else []
    return [*more, *map(named, log.notes)]


def text_summary(log: Log) -> str:
    """The headline, a row for each joint, the notes."""
    rows = _rows(log)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]) for row in rows
    ]
    return "\n".join([headline(log), *lines, *_rest(log)])


def html_summary(log: Log) -> str:
    """The same as an HTML table."""
    head, *rows = (
        "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in row)
        for tag, row in zip(["th"] + ["td"] * log.n, _rows(log), strict=False)
    )
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    below = "".join(f"<div>{escape(line)}</div>" for line in _rest(log))
    caption = f"<caption>{escape(headline(log))}</caption>"
    return f"<div><table>{caption}<tr>{head}</tr>{body}</table>{below}</div>"
