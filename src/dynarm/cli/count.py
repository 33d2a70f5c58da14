"""dynarm count: multiplications, additions and critical path of every formulation."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import typer

from ..border.words import shown
from ..errors import InputError
from .console import print_json, progress, say, show_table
from .options import (
    BASE,
    FLOATING,
    FREEZE,
    HTML,
    JSON,
    MASSLESS,
    PACKAGES,
    SNAP,
    TIP,
    TOOLS,
    XACRO,
    given_parts,
    load_arm,
    refuse_given,
    robots,
    writable_all,
)

if TYPE_CHECKING:
    from ..plan.choice import Counted
    from ..robot.arm import Arm

EXAMPLES = ("dynarm count stanford", "dynarm count --n 3..4 --quantity mass_matrix")
COLUMNS = [
    "formulation",
    "paper",
    "mul",
    "add",
    "path",
    "mul as written",
    "add as written",
    "printed",
]
LONG = 12  # joints beyond which methods of O(n^3) and worse are left out
MOST = 60


def count(
    robot: str = typer.Argument(
        None,
        help="A built-in robot's name or a path; leave it out with --n.",
        autocompletion=robots,
    ),
    quantity: str = typer.Option(None, "--quantity", "-q", help="Only this quantity."),
    n: str = typer.Option(
        None, "--n", help="The papers' generic arms instead of a robot: 6, or 3..8."
    ),
    type: int = typer.Option(
        None,
        "--type",
        min=1,
        max=2,
        help="Generic arms: 1 all rotational (default), 2 joint 3 translational.",
    ),
    principal: bool = typer.Option(
        False,
        "--principal",
        help="Generic arms whose links have principal axes along their frames.",
    ),
    base: str = BASE,
    tip: str = TIP,
    floating: bool = FLOATING,
    tools: list[str] = TOOLS,
    freeze: list[str] = FREEZE,
    snap: bool = SNAP,
    xacro: list[str] = XACRO,
    packages: list[str] = PACKAGES,
    allow_massless: bool = MASSLESS,
    html: str = HTML,
    as_json: bool = JSON,
) -> None:
    """Count operations of every formulation.

    For a robot, or for the papers' generic manipulators. Beside the count of the simplified graph stand the count of
    the formulas as written and, for generic arms, what the paper prints (its row sums corrected; multiplications /
    additions).
    """
    from ..dynamics.table import DIFFERENTIATED, QUANTITIES, check_quantity

    writable_all({"--html": (html, (".html",))})
    if quantity is not None:
        check_quantity(quantity)
    whole = {"floating": floating, "tools": tools, "freeze": freeze, "snap": snap}
    macros = {"xacro": xacro, "packages": packages, "allow_massless": allow_massless}
    arms = _arms(robot, n, type, principal, {"base": base, "tip": tip, **whole, **macros})
    wanted = [q for q in QUANTITIES if q not in DIFFERENTIATED] if quantity is None else [quantity]
    generic = None if n is None else (type or 1, principal)
    report: dict[str, dict[str, list[dict[str, Any]]]] = {}
    jobs = [(arm, q) for arm in arms for q in wanted]
    with progress("counting") as done:
        for k, (arm, q) in enumerate(jobs):
            rows = costs(arm, q, generic)
            report.setdefault(arm.name, {})[q] = rows
            done((k + 1) / len(jobs))
    if html:
        from ..report.counts import page

        page(report, html)
    if as_json:
        print_json(report)
        return
    for arm in arms:
        for q, rows in report[arm.name].items():
            show_costs(f"{arm.name}, {arm.n} joints: {q}", rows)
    if html:
        say(f"wrote {html}")


def show_costs(title: str, rows: list[dict[str, Any]]) -> None:
    """The rows as a table; without the papers' column where no paper prints a number."""
    columns = [c for c in COLUMNS if c != "printed" or any(row["printed"] for row in rows)]
    show_table(title, columns, [[row[c] for c in columns] for row in rows], right=2)


def _arms(
    robot: str | None,
    n: str | None,
    type: int | None,
    principal: bool,
    part: dict[str, Any],
) -> list[Arm]:
    from ..robot.frames.generic import generic_arm

    if robot is not None and n is None:
        refuse_given("is for generic arms, with --n", {"--type": type, "--principal": principal})
        return [load_arm(robot, **part)]
    if robot is not None or n is None:
        raise InputError(
            "give a robot, or --n with numbers of joints; for example: dynarm count --n 3..8 --type 1"
        )
    refuse_given("is for a robot's file, not for --n; leave it out", given_parts(part))
    ends = re.fullmatch(r"([0-9]{1,9})(?:\.\.([0-9]{1,9}))?", n)
    if ends is None:
        raise InputError(f"--n is {shown(n)}; give a number or a range such as 3..8")
    numbers = range(int(ends[1]), int(ends[2] or ends[1]) + 1)
    if not numbers or numbers[0] < 1 or numbers[-1] > MOST:
        raise InputError(
            f"--n is {shown(n)}; give joints between 1 and {MOST}, the smaller number first"
        )
    return [generic_arm(k, type or 1, principal=principal) for k in numbers]


def costs(arm: Arm, quantity: str, generic: tuple[int, bool] | None = None) -> list[dict[str, Any]]:
    """What each formulation of a quantity costs, cheapest first; for a generic arm also what papers print."""
    from ..dynamics.table import DIFFERENTIATED, PARTS, TABLE
    from ..plan.choice import cheapest, unsuited
    from ..plan.choice import count as count_operations
    from ..plan.scene import PLAIN
    from ..reproductions.published import published, quoted
    from ..robot.frames.chain import chain_of

    chain = chain_of(arm)
    tried = [
        (row.name, row.paper)
        for row in TABLE
        if row.quantity == quantity
        and not row.declines(chain)
        and not unsuited(row, arm, PLAIN)
        and (arm.n <= LONG or row.automatic or not chain.serial)
    ]
    if quantity in PARTS and not (arm.floating and quantity in DIFFERENTIATED):
        parts = [cheapest(arm, part) for part in PARTS[quantity]]
        papers = dict.fromkeys(part.paper for part in parts)
        tried.append(("+".join(part.name for part in parts), ", ".join(papers)))
    rows = []
    for name, paper in tried:
        printed = published(quantity, name, generic[0], arm.n, generic[1]) if generic else None
        rows.append(_cells(name, paper, count_operations(arm, quantity, name), printed))
    rows.sort(key=lambda cells: cells["mul"] + cells["add"])
    if generic:
        for row in quoted(quantity, generic[0], arm.n, generic[1]):
            rows.append(_cells(row.formulation, f"in {row.paper}", None, row.at(arm.n)))
    return rows


def _cells(
    name: str, paper: str, counted: Counted | None, printed: tuple[int, int] | None
) -> dict[str, Any]:
    return {
        "formulation": name,
        "paper": paper,
        "mul": counted.mul if counted else "",
        "add": counted.add if counted else "",
        "path": counted.depth if counted else "",
        "mul as written": counted.as_written.mul if counted else "",
        "add as written": counted.as_written.add if counted else "",
        "printed": f"{printed[0]} / {printed[1]}" if printed else "",
    }
