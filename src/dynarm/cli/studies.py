"""dynarm count --equivalence, --schedule and --rows: what the papers prove, plan and book."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isinf
from typing import TYPE_CHECKING

from ..errors import InputError
from .console import print_json, say, show_table

if TYPE_CHECKING:
    from ..border.kinds import Json
    from ..plan.schedule import Schedule
    from ..robot.arm import Arm

BOOKED = ["booked mul", "booked add", "needed mul", "needed add"]
LINES = ["line", "times", *BOOKED]
HERE = ["row", *BOOKED, "here mul", "here add", "equations and names here"]


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
        return line_by_line(arms, asked, generic)
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
                "agreed_digits": None if isinf(seen.agreed_digits) else seen.agreed_digits,
                "table": rows,
                "proof": steps,
            }
        )
        return
    cells = [[QUANTITIES[x.quantity], x.formulation, x.paper, x.way, x.told] for x in seen.table]
    head = ["", "formulation", "paper", "how", "difference"]
    show_table(
        f"{arm.name}: {digits} digits, largest difference {seen.told}",
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
    asked: Asked,
    generic: tuple[int, bool] | None,
) -> None:
    """A paper's listing of a formulation: each line's booking, what its equation needs, and what we need by rows."""
    from ..reproductions.published import counted_on

    names = [_listed(arms[0], asked)] * len(arms)
    arms = [counted_on(_paper(asked, names[0]), a.n, *generic) for a in arms] if generic else arms
    report = [
        _listing(arm, str(asked.quantity), name) for arm, name in zip(arms, names, strict=True)
    ]
    if asked.html:
        from ..report.papers import rows_page

        rows_page(report, asked.html)
    if asked.as_json:
        print_json([{k: one[k] for k in ("robot", "rows", "ours")} for one in report])
        return
    for one in report:
        title = f"{one['robot']}: {one['quantity']} by {one['formulation']}"
        show_table(f"{title}, line by line", LINES, one["rows"], right=1)
        show_table(f"{title}, beside what is needed here", HERE, one["ours"], right=1, wrap=7)
    if asked.html:
        say(f"wrote {asked.html}")


def _paper(asked: Asked, name: str) -> str:
    from ..dynamics.table import formulation

    return formulation(str(asked.quantity), name).paper


def _listed(arm: Arm, asked: Asked) -> str:
    """The formulation whose listing is asked for: the one that is named, else the cheapest that has one."""
    from ..dynamics.table import check_quantity, formulation
    from ..plan.choice import count
    from ..plan.printed import LISTINGS, unspoken
    from ..robot.frames.chain import chain_of

    q = asked.quantity
    known = [f for of, f in LISTINGS if of == q]
    if q is None or not known:
        has = ", ".join(dict.fromkeys(of for of, _ in LISTINGS))
        raise InputError(f"--rows needs --quantity, of those that papers list line by line: {has}")
    check_quantity(q)
    if asked.formulation is not None:
        formulation(q, asked.formulation)
        if asked.formulation not in known:
            raise InputError(
                f"no paper lists {q} by {asked.formulation} line by line; listed are: {', '.join(known)}"
            )
        return asked.formulation
    chain = chain_of(arm)
    fit = [f for f in known if unspoken(chain, q, f) is None]
    if not fit:
        reason = unspoken(chain, q, known[0])
        raise InputError(
            f"no listing of {q} speaks of robot '{arm.name}': {reason}; without --rows its formulations are counted"
        )
    return min(fit, key=lambda f: count(arm, q, f).total)


def _listing(arm: Arm, quantity: str, formulation: str) -> Json:
    """The rows of one robot."""
    from ..plan.choice import count
    from ..plan.listed_rows import listed_rows
    from ..plan.printed import as_printed
    from ..robot.frames.chain import chain_of

    shared = listed_rows(arm, quantity, formulation)
    listed = as_printed(chain_of(arm), quantity, formulation)
    assert listed is not None
    lines = [[x.term, x.times, *x.booked, *x.needed] for x in listed.lines]
    lines.append(["sum", "", *listed.booked, listed.mul, listed.add])
    rows = [[x.row, *x.booked, *x.needed, *x.ours, " ".join(x.equations)] for x in shared]
    counted = count(arm, quantity, formulation)
    rows.append(["sum", *listed.booked, listed.mul, listed.add, counted.mul, counted.add, ""])
    named = {"robot": arm.name, "quantity": quantity, "formulation": formulation}
    return {**named, "rows": lines, "ours": rows}
