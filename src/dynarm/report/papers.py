"""What the papers prove, plan and book: formulations that agree, operations in time, listings line by line."""

from __future__ import annotations

import os
from collections.abc import Sequence

from ..border.kinds import Json
from ..plan.schedule import Schedule
from ..reproductions.equivalence import MOST, QUANTITIES, Agreement, Equivalence, ProofStep
from .html import SUPERSCRIPTS, Cell, Markup, Section, note, number, section, table, write_page


def equivalence_page(shown: Equivalence, path: str | os.PathLike[str]) -> None:
    """Every formulation beside the first, and section 4 of turney1980 step by step."""
    agree = [
        [QUANTITIES[x.quantity], x.formulation, x.paper, x.way, _apart(x)] for x in shown.table
    ]
    many = f"in numbers of {shown.digits} digits; differences from the first of each, as parts of the largest entry"
    words = f"Mass matrix M, Coriolis tensor C and gravity forces G in one pose, {many}."
    first = section(
        "Every formulation",
        note(words),
        table(["quantity", "formulation", "paper", "how", "difference"], agree),
    )
    title = f"Equivalence of formulations: {shown.arm.name}"
    told = f"largest difference {_without_e(shown.told)}"
    write_page(path, title, [first, _proof(shown)], told)


def _apart(row: Agreement | ProofStep) -> Cell:
    """How far apart, in order of the digits that agree."""
    return Cell(_without_e(row.told), -min(row.agreed, MOST), "number")


def _without_e(told: str) -> str:
    """2.4e-63 as 2.4·10⁻⁶³: too small, maybe, to be a double."""
    size, power = told.split("e")
    below = "⁻" if int(power) < 0 else ""
    return f"{size}·10{below}{str(abs(int(power))).translate(SUPERSCRIPTS)}" if float(size) else "0"


def _proof(shown: Equivalence) -> Section:
    head = "The proof, step by step"
    if not shown.proof:
        return section(head, shown.explain())
    rows = [
        [
            f"({x.equation})",
            x.says,
            x.numbers,
            Cell(number(float(x.largest), 4), float(x.largest), "number"),
            _apart(x),
        ]
        for x in shown.proof
    ]
    words = "Both sides of every equation of turney1980's section 4, for all links of this arm."
    columns = ["equation", "says", "numbers", "largest", "sides apart"]
    return section(head, note(words), table(columns, rows, wide=["says"]))


def schedule_page(
    plan: Schedule, path: str | os.PathLike[str], stages: Sequence[Sequence[str | int]] = ()
) -> None:
    """The operations in time, how the length falls with the number of processors, and the rows of Table 5, if any."""
    curve = [[p, length, Cell(f"{gain:.2f}", gain, "number")] for p, length, gain in plan.curve()]
    picture = Markup('<div style="overflow-x: auto">{}</div>').format(Markup(plan.gantt()))
    words = "A column is one operation long; operations of the critical path are framed."
    sections = [
        section("In time", note(words), picture),
        section("Speed-up", table(["processors", "steps", "times as fast as one"], curve)),
    ]
    if stages:
        head = ["terms side by side", "mul", "add", "mul needed", "add needed"]
        sections.append(section("Table 5 of turney1980", table(head, stages)))
    title = f"{plan.quantity} by {plan.formulation}: {plan.arm.name}"
    told = f"{plan.operations} operations, critical path {len(plan.path)}"
    write_page(path, title, sections, told)


def rows_page(report: Sequence[Json], path: str | os.PathLike[str]) -> None:
    """A paper's listing line by line, and by rows beside what is needed here, for one robot or several."""
    booked = ["booked mul", "booked add", "needed mul", "needed add"]
    words = (
        "Booked: what the paper itself counts for a line. Needed: what its equation takes, by the paper's rotations, "
        "frames and gravity. Here: the operations of this library's graph after simplification, each with the "
        "equation that asks for it first; where a paper books sums without rows, booked is 0."
    )
    sections = []
    for one in report:
        sections += [
            section(
                f"{one['robot']}: printed, counted, ours",
                note(words),
                table(
                    ["row", *booked, "here mul", "here add", "equations and names here"],
                    one["ours"],
                    wide=["equations and names here"],
                ),
            ),
            section(
                f"{one['robot']}: line by line", table(["line", "times", *booked], one["rows"])
            ),
        ]
    first = report[0]
    mul, add = first["ours"][-1][5:7]
    title = f"{first['quantity']} by {first['formulation']}"
    robots = ", ".join(one["robot"] for one in report)
    told = (
        f"{robots}; {mul} multiplications and {add} additions here" if len(report) == 1 else robots
    )
    write_page(path, title, sections, told)
