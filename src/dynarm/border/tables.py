"""Small tables of anything, as text for terminals and as HTML for notebooks; whatever they hold is only text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING

from ..errors import one_line

if TYPE_CHECKING:
    from .kinds import Outside

MOST = 40  # rows that are shown
_WIDE = 40  # letters of a cell
_STYLE = "text-align:left;font-family:monospace"


def cell(value: Outside) -> str:
    """A value as a cell shows it: numbers to six digits, one line, not too long."""
    if isinstance(value, bool) or not isinstance(value, float):
        text = "" if value is None else one_line(str(value))
    else:
        text = f"{value:.6g}"
    return text if len(text) <= _WIDE else text[: _WIDE - 3] + "..."


def text_table(title: str, head: Sequence[str], rows: Iterable[Sequence[Outside]]) -> str:
    """The title, then the table in columns of equal width."""
    body, more = _cut(rows)
    lines = [list(head), *body]
    widths = [max(len(line[k]) for line in lines) for k in range(len(head))]
    texts = ["  ".join(x.ljust(w) for x, w in zip(line, widths, strict=True)) for line in lines]
    texts = [one_line(title), *(f"  {text}".rstrip() for text in texts)]
    return "\n".join([*texts, f"  ... and {more} more"] if more else texts)


def html_table(title: str, head: Sequence[str], rows: Iterable[Sequence[Outside]]) -> str:
    """The same for a notebook's `_repr_html_`; every text is escaped."""
    body, more = _cut(rows)
    top = "".join(f"<th>{escape(x)}</th>" for x in head)
    lines = [f"<tr>{top}</tr>"]
    lines += ["<tr>" + "".join(f"<td>{escape(x)}</td>" for x in row) + "</tr>" for row in body]
    if more:
        lines.append(f'<tr><td colspan="{len(head)}">... and {more} more</td></tr>')
    caption = f"<caption>{escape(one_line(title))}</caption>"
    return f'<table style="{_STYLE}">{caption}{"".join(lines)}</table>'


def _cut(rows: Iterable[Sequence[Outside]]) -> tuple[list[list[str]], int]:
    """The cells of the first rows, and how many rows there are besides."""
    body = [[cell(x) for x in row] for row in rows]
    return body[:MOST], max(0, len(body) - MOST)
