"""dynarm count --equivalence, --schedule and --rows: what the papers prove, plan and book."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..errors import InputError
from .console import print_json, say, show_table

if TYPE_CHECKING:
    from ..plan.schedule import Schedule
    from ..robot.arm import Arm


@dataclass(frozen=True, slots=True)
class Asked:
    """What is studied, and where it is written."""

    quantity: str | None
    formulation: str | None
    html: str | None
    as_json: bool


def study(
    arms: Sequence[Arm],
    asked: Asked,
    kinds: tuple[bool, bool, bool],
    digits: int,
    processors: int | None,
    generic: tuple[int, bool] | None,
) -> None:
    """One of --equivalence, --schedule and --rows."""
    equivalence, _, rows = kinds
    if sum(kinds) > 1:
        raise InputError("--equivalence, --schedule and --rows: give one of them at a time")
    if rows:
        return line_by_line(arms, asked.quantity, asked.formulation, generic, asked.as_json)
    if len(arms) > 1:
        raise InputError("--equivalence and --schedule are for one robot")
    if equivalence:
        return compare(arms[0], digits, asked.html, asked.as_json)
    return lay_out(
        arms[0], asked.quantity, asked.formulation, processors, asked.html, asked.as_json
    )


def compare(arm: Arm, digits: int, html: str | None, as_json: bool) -> None:
    """Every formulation in numbers of many digits, and turney1980's section 4 on this arm."""
    from ..reproductions.equivalence import QUANTITIES, equivalence

    seen = equivalence(arm, digits)
    if html:
        from ..report.papers import equivalence_page

        equivalence_page(seen, html)
    if as_json:
        rows = [
            {
                "quantity": x.quantity,
                "formulation": x.formulation,
                "paper": x.paper,
                "way": x.way,
                "difference": x.difference,
            }
            for x in seen.table
        ]
        steps = [{"equation": x.equation, "difference": x.difference} for x in seen.proof]
        print_json(
            {
                "digits": digits,
                "largest_difference": seen.largest_difference,
                "table": rows,
                "proof": steps,
            }
        )
        return
    cells = [
        [QUANTITIES[x.quantity], x.formulation, x.paper, x.way, f"{x.difference:.1e}"]
        for x in seen.table
    ]
    head = ["", "formulation", "paper", "how", "difference"]
    show_table(
        f"{arm.name}: {digits} digits, largest difference {seen.largest_difference:.1e}",
        head,
        cells,
    )
    for line in seen.explain().splitlines():
        say(line)
    if html:
        say(f"wrote {html}")


def lay_out(
    arm: Arm,
    quantity: str | None,
    formulation: str | None,
    processors: int | None,
    html: str | None,
    as_json: bool,
) -> None:
    """The operations of a formulation in time."""
    from ..plan.schedule import schedule

    if quantity is None:
        raise InputError(
            "--schedule needs --quantity; for example: --schedule --quantity inverse_dynamics"
        )
    plan = schedule(arm, quantity, formulation, processors)
    stages = _stages(plan)
    if html:
        from ..report.papers import schedule_page

        schedule_page(plan, html, stages)
    curve = plan.curve()
    if as_json:
        print_json(
            {
                "quantity": plan.quantity,
                "formulation": plan.formulation,
                "processors": plan.processors,
                "operations": plan.operations,
                "critical_path": len(plan.path),
                "length": plan.length,
                "speedup": plan.speedup,
                "curve": [{"processors": p, "length": n, "speedup": x} for p, n, x in curve],
                "table_5": stages,
            }
        )
        return
    many = "any number of processors" if processors is None else f"{processors} processors"
    title = f"{arm.name}: {plan.quantity} by {plan.formulation}, {plan.operations} operations"
    say(f"{title}; critical path {len(plan.path)}; {plan.length} steps on {many}")
    show_table(
        "list schedules",
        ["processors", "steps", "times as fast as one"],
        [[p, n, f"{x:.2f}"] for p, n, x in curve],
        right=0,
    )
    if stages:
        head = ["terms side by side", "mul", "add", "mul needed", "add needed"]
        show_table("Table 5 of turney1980", head, stages, right=1)
    if html:
        say(f"wrote {html}")


def _stages(plan: Schedule) -> list[list[str | int]]:
    """The rows of Table 5, where it speaks of such a schedule."""
    from ..reproductions.schedule import table_5

    modified = (plan.quantity, plan.formulation) == ("inverse_dynamics", "modified_newton_euler")
    if not modified or not all(joint.revolute for joint in plan.arm.joints):
        return []
    return [[row.terms, *row.printed, *row.needed] for row in table_5(plan)]


def line_by_line(
    arms: Sequence[Arm],
    quantity: str | None,
    formulation: str | None,
    generic: tuple[int, bool] | None,
    as_json: bool,
) -> None:
    """A paper's listing of a formulation: each line's booking, what its equation needs, and what we need by rows."""
    from ..dynamics import table
    from ..plan.choice import count
    from ..plan.listed_rows import listed_rows
    from ..plan.printed import LISTINGS, as_printed
    from ..reproductions.published import counted_on
    from ..robot.frames.chain import chain_of

    if quantity is None or formulation is None or (quantity, formulation) not in LISTINGS:
        known = ", ".join(f"-q {q} --formulation {f}" for q, f in LISTINGS)
        raise InputError(f"--rows takes a formulation that a paper lists line by line: {known}")
    paper = table.formulation(quantity, formulation).paper
    report = []
    for arm in (counted_on(paper, a.n, *generic) for a in arms) if generic else arms:
        shared = listed_rows(arm, quantity, formulation)
        listed = as_printed(chain_of(arm), quantity, formulation)
        assert listed is not None
        lines = [[x.term, x.times, *x.booked, *x.needed] for x in listed.lines]
        lines.append(["sum", "", *listed.booked, listed.mul, listed.add])
        rows = [[x.row, *x.booked, *x.needed, *x.ours, " ".join(x.equations)] for x in shared]
        counted = count(arm, quantity, formulation)
        rows.append(["sum", *listed.booked, listed.mul, listed.add, counted.mul, counted.add, ""])
        report.append({"robot": arm.name, "rows": lines, "ours": rows})
    if as_json:
        print_json(report)
        return
    booked = ["booked mul", "booked add", "needed mul", "needed add"]
    for one in report:
        title = f"{one['robot']}: {quantity} by {formulation}"
        show_table(f"{title}, line by line", ["line", "times", *booked], one["rows"], right=1)
        head = ["row", *booked, "here mul", "here add", "equations and names here"]
        show_table(f"{title}, beside what is needed here", head, one["ours"], right=1, wrap=7)
