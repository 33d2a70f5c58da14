"""dynarm count --equivalence and --schedule: what the papers prove and plan, on one robot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..errors import InputError
from .console import print_json, say, show_table

if TYPE_CHECKING:
    from ..robot.arm import Arm


def only(arms: Sequence[Arm], equivalence: bool, schedule: bool) -> Arm:
    """The one robot that is studied."""
    if len(arms) > 1 or (equivalence and schedule):
        raise InputError("--equivalence and --schedule are for one robot, one of them at a time")
    return arms[0]


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
    if html:
        from ..report.papers import schedule_page

        schedule_page(plan, html)
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
    if html:
        say(f"wrote {html}")
