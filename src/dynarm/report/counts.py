"""Counts of operations as bars and tables."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from ..border.kinds import Json
from . import figures
from .html import Cell, Markup, Section, figure, note, section, table, write_page

Rows = Sequence[Json]
COLUMNS = (
    "formulation",
    "paper",
    "mul",
    "add",
    "total",
    "path",
    "mul as written",
    "add as written",
    "here on its arm",
    "by its listing",
    "printed",
    "corrected",
)
# columns that stand where a paper has numbers
PAPERS = ("here on its arm", "by its listing", "printed", "corrected")


def bars(rows: Rows, chosen: str = "") -> Markup:
    """Multiplications and additions of each formulation, cheapest on top; the chosen one marked."""
    counted = [row for row in rows if row["mul"] != ""]
    names = [
        f"▸ {r['formulation']}" if r["formulation"] == chosen else r["formulation"] for r in counted
    ]
    parts = {
        "multiplications": [r["mul"] for r in counted],
        "additions": [r["add"] for r in counted],
    }
    return figure(
        figures.stacked_bars(names, parts, "operations of one evaluation"),
        height=figures.bar_height(len(names)),
    )


def cost_table(rows: Rows) -> Markup:
    """The same as a table that sorts."""
    columns = [c for c in COLUMNS if c not in PAPERS or any(r.get(c) for r in rows)]
    cells = []
    for row in rows:
        total = row["mul"] + row["add"] if row["mul"] != "" else ""
        full = {**row, "total": total}
        for c in PAPERS:
            if row.get(c):
                full[c] = Cell(row[c], sum(map(int, row[c].split("/"))), "number")
        cells.append([full.get(c, "") for c in columns])
    return table(columns, cells)


def sections(report: Mapping[str, Mapping[str, Rows]]) -> list[Section]:
    """For each robot and quantity the bars and the table."""
    parts = []
    for robot, quantities in report.items():
        for quantity, rows in quantities.items():
            notes = [note(f"{r['formulation']}: {r['note']}") for r in rows if r.get("note")]
            parts.append(section(f"{robot}: {quantity}", bars(rows), cost_table(rows), *notes))
    return parts


RULES = (
    "Counted on the graph of operations after simplification: a product with a constant is a multiplication, a "
    "change of sign is free, sine and cosine of the joints are free, forming rotation matrices is not. Path: "
    "the longest chain of operations that wait for each other. By its listing: the equations of the paper's "
    "own figure or table, by its rotations, frames and gravity. Printed: what the paper prints for generic arms, "
    "exactly; corrected: what it should have come to, where a printed sum is wrong."
)


def page(report: Mapping[str, Mapping[str, Rows]], path: str | os.PathLike[str]) -> None:
    """Write the page."""
    about = section("How it was counted", note(RULES))
    title = f"Operation counts: {', '.join(report)}"
    write_page(path, title, [*sections(report), about])
