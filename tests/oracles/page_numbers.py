"""Numbers read back out of a written page: its tables, its boxes of facts, its figures."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest

SMALL = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
THREE = 5e-3  # relative: three digits
SHOWN = 5e-5  # relative: numbers are drawn and printed with five digits, held to half a unit of the last


@dataclass
class Table:
    caption: str = ""
    columns: list[str] = field(default_factory=list)
    # what is shown, what sorts
    rows: list[list[tuple[str, str | None]]] = field(default_factory=list)

    def texts(self, column: str) -> list[str]:
        return [row[self.columns.index(column)][0] for row in self.rows]

    def numbers(self, column: str, shown_to: float = SHOWN) -> np.ndarray:
        """What is shown, as numbers; NaN for a dash or nothing. What sorts must be the same numbers."""
        k = self.columns.index(column)
        shown = np.array([number(row[k][0]) for row in self.rows])
        sorting = [row[k][1] for row in self.rows]
        kept = np.array([float(s) if s else np.nan for s in sorting])
        np.testing.assert_allclose(shown, kept, rtol=shown_to)
        return kept


def number(text: str) -> float:
    """A number as pages print it."""
    text = text.strip().replace("−", "-").replace("∞", "inf")
    if "·10" in text:
        text = text.replace("·10", "e").replace("⁻", "-").translate(SMALL)
    return np.nan if text in ("", "–") else float(text)


@dataclass
class Part:
    """A section of a page."""

    title: str = ""
    text: str = ""
    tables: list[Table] = field(default_factory=list)
    facts: dict[str, str] = field(default_factory=dict)
    figures: list[dict[str, Any]] = field(default_factory=list)

    def figure(self, ylabel: str, axis: str = "yaxis") -> dict[str, Any]:
        """The one figure whose axis has that title."""
        (one,) = [
            f
            for f in self.figures
            if f["layout"].get(axis, {}).get("title", {}).get("text") == ylabel
        ]
        return one


class Reader(HTMLParser):
    def __init__(self, page: str):
        super().__init__(convert_charrefs=True)
        self.parts: list[Part] = [Part()]
        self.open: list[str] = []
        self.kind: dict[str, str | None] = {}
        self.term = ""
        self.feed(page)
        self.close()

    @property
    def table(self) -> Table:
        return self.parts[-1].tables[-1]

    def handle_starttag(self, tag, attrs):
        self.kind = dict(attrs)
        if tag in ("meta", "br", "input", "polyline", "circle"):
            return
        self.open.append(tag)
        if tag == "section":
            self.parts.append(Part())
        elif tag == "table":
            self.parts[-1].tables.append(Table())
        elif tag == "th":
            self.table.columns.append("")
        elif tag == "tr" and "tbody" in self.open:
            self.table.rows.append([])
        elif tag == "td":
            self.table.rows[-1].append(("", self.kind.get("data-value")))
        elif tag == "dt":
            self.term = ""

    def handle_endtag(self, tag):
        while self.open and self.open.pop() != tag:
            pass

    def handle_data(self, data):
        part = self.parts[-1]
        inner = self.open[-1] if self.open else ""
        if inner == "script":
            if self.kind.get("type") == "application/json":
                part.figures.append(json.loads(data))
            return
        part.text += data
        if inner == "h2":
            part.title += data
        elif inner == "caption":
            self.table.caption += data
        elif "th" in self.open:
            self.table.columns[-1] += data
        elif "td" in self.open:
            shown, value = self.table.rows[-1][-1]
            self.table.rows[-1][-1] = (shown + data, value)
        elif inner == "dt":
            self.term += data
        elif inner == "dd":
            part.facts[self.term] = part.facts.get(self.term, "") + data


def read(page: str) -> dict[str, Part]:
    """The sections of a page by their titles."""
    parts = Reader(page).parts
    return {p.title: p for p in parts}


def same_curve(trace: dict[str, Any], t: Any, values: Any) -> None:
    """The drawn line goes through these values at these times, lowest and highest included."""
    t, values = np.asarray(t, float), np.asarray(values, float)
    x = np.array(trace["x"], float)
    y = np.array([np.nan if v is None else v for v in trace["y"]], float)
    assert len(x) == len(y) >= min(len(t), 100)
    near = np.abs(t[None, :] - x[:, None]).argmin(axis=1)
    np.testing.assert_allclose(x, t[near], rtol=SHOWN, atol=1e-12)
    np.testing.assert_allclose(y, values[near], rtol=SHOWN, atol=1e-300)
    for extreme in (np.nanmin, np.nanmax):
        np.testing.assert_allclose(extreme(y), extreme(values), rtol=SHOWN, atol=1e-300)


def printed(text: str, value: float, digits: int) -> None:
    """The text begins with that value to so many significant digits."""
    shown = number(text.split()[0])
    assert shown == pytest.approx(float(f"{value:.{digits}g}"), rel=1e-12), (text, value)
