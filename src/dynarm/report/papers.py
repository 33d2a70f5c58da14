"""What the papers prove, plan and book: formulations that agree, operations in time, listings line by line."""

from __future__ import annotations

import os
from collections.abc import Sequence

from ..border.kinds import Json
from ..plan.schedule import Schedule
from ..reproductions.equivalence import QUANTITIES, Equivalence
from .html import Cell, Markup, Section, note, section, table, write_page


def equivalence_page(shown: Equivalence, path: str | os.PathLike[str]) -> None:
    """Every formulation beside the first, and section 4 of turney1980 step by step."""
    agree = [[QUANTITIES[x.quantity], x.formulation, x.paper, x.way, x.told] for x in shown.table]
    many = f"in numbers of {shown.digits} digits; differences from the first of each, as parts of the largest entry"
    words = f"Mass matrix M, Coriolis tensor C and gravity forces G in one pose, {many}."
    first = section(
        "Every formulation",
        note(words),
        table(["quantity", "formulation", "paper", "how", "difference"], agree),
    )
    title = f"Equivalence of formulations: {shown.arm.name}"
    told = f"largest difference {shown.told}"
    write_page(path, title, [first, _proof(shown)], told)


def _proof(shown: Equivalence) -> Section:
    head = "The proof, step by step"
    if not shown.proof:
        return section(head, shown.explain())
    rows = [[f"({x.equation})", x.says, x.numbers, f"{x.largest:.4g}", x.told] for x in shown.proof]
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
