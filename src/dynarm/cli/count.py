"""dynarm count: multiplications, additions and critical path of every formulation."""

from __future__ import annotations

from typing import Any

import typer

from ..counts import Counted
from ..counts import count as count_operations
from ..errors import InputError
from ..published import published
from ..robot.arm import Arm
from ..robot.chain import chain_of
from ..robot.files import load
from ..robot.generic import generic_arm
from ..table import QUANTITIES, TABLE, check_quantity
from .console import BASE, JSON, TIP, console, print_json, table

COLUMNS = ["formulation", "paper", "mul", "add", "path", "mul as written", "add as written", "printed"]


def count(
    robot: str = typer.Argument("", help="A built-in robot's name or a path; leave it out with --n."),
    quantity: str = typer.Option("", "--quantity", "-q", help="Only this quantity."),
    n: str = typer.Option("", "--n", help="The papers' generic arms instead of a robot: 6 or 3..8."),
    type: int = typer.Option(1, "--type", help="Generic arm: 1 all rotational, 2 joint 3 translational."),
    base: str = BASE,
    tip: str = TIP,
    as_json: bool = JSON,
) -> None:
    """Count what each formulation costs for a robot, or for the papers' generic manipulators.

    Beside the count of the simplified graph stand the count of the formulas as written and, for generic arms, the
    paper's printed polynomial.
    """
    arms = _arms(robot, n, type, base, tip)
    if quantity:
        check_quantity(quantity)
    wanted = [quantity] if quantity else [q for q in QUANTITIES if q != "mass_matrix_and_bias"]
    report = {arm.name: {q: _rows(arm, q, type if n else None) for q in wanted} for arm in arms}
    if as_json:
        print_json(report)
        return
    out = console()
    for arm in arms:
        for q, rows in report[arm.name].items():
            cells = [[row[c] for c in COLUMNS] for row in rows]
            out.print(table(f"{arm.name}, {arm.n} joints: {q}", COLUMNS, cells, right=2))
            out.print()


def _arms(robot: str, n: str, type: int, base: str, tip: str) -> list[Arm]:
    if bool(robot) == bool(n):
        raise InputError("give a robot, or --n with numbers of joints; for example: dynarm count --n 3..8 --type 1")
    if robot:
        return [load(robot, base=base, tip=tip)]
    low, _, high = n.partition("..")
    try:
        numbers = range(int(low), int(high or low) + 1)
    except ValueError:
        raise InputError(f"--n is {n!r}; give a number or a range such as 3..8") from None
    if not numbers or numbers[0] < 1 or numbers[-1] > 60:
        raise InputError(f"--n is {n!r}; give joints between 1 and 60, the smaller number first")
    return [generic_arm(k, type) for k in numbers]


def _rows(arm: Arm, quantity: str, type: int | None) -> list[dict[str, Any]]:
    chain = chain_of(arm)
    found = []
    for row in TABLE:
        if row.quantity != quantity or row.refuses(chain) or (arm.n > 12 and not row.automatic):
            continue
        counted = count_operations(arm, quantity, row.name)
        printed = published(quantity, row.name, type, arm.n) if type else None
        found.append(_cells(row.name, row.paper, counted, printed))
    return sorted(found, key=lambda cells: cells["mul"] + cells["add"])


def _cells(name: str, paper: str, counted: Counted, printed: tuple[int, int] | None) -> dict[str, Any]:
    return {
        "formulation": name,
        "paper": paper,
        "mul": counted.mul,
        "add": counted.add,
        "path": counted.depth,
        "mul as written": counted.as_written.mul,
        "add as written": counted.as_written.add,
        "printed": f"{printed[0]} / {printed[1]}" if printed else "",
    }
