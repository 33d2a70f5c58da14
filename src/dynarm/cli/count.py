"""dynarm count: multiplications, additions and critical path of every formulation."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import typer

from ..border.words import shown
from ..errors import InputError
from .console import part_of, print_json, progress, say, show_table
from .options import (
    HTML,
    JSON,
    PORTION,
    Portion,
    load_arm,
    refuse_given,
    robots,
    with_portion,
    writable_all,
)
from .wheeled import WHEELS, count_mobile, mobile_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..border.kinds import Json
    from ..plan.choice import Counted
    from ..plan.printed import AsPrinted
    from ..reproductions.published import Printed
    from ..robot.arm import Arm

EXAMPLES = (
    "dynarm count stanford",
    "dynarm count --n 3..4 --quantity mass_matrix",
    "dynarm count two_link --equivalence",
    "dynarm count stanford --schedule --quantity inverse_dynamics --processors 4",
)
COLUMNS = [
    "formulation",
    "paper",
    "mul",
    "add",
    "path",
    "mul as written",
    "add as written",
    "here on its arm",
    "by its listing",
    "printed",
    "corrected",
]
# columns that stand where a paper has numbers
PAPERS = ("here on its arm", "by its listing", "printed", "corrected")
LONG = 12  # joints beyond which methods of O(n^3) and worse are left out
MOST = 60
FIFTY = 50  # digits, unless told
STUDIES = ("--equivalence", "--schedule", "--rows")


ROBOT = typer.Argument(
    None,
    help="A built-in robot's name or a path; leave it out with --n.",
    autocompletion=robots,
)
N = typer.Option(None, "--n", help="The papers' generic arms instead of a robot: 6, or 3..8.")
TYPE = typer.Option(
    None,
    "--type",
    min=1,
    max=2,
    help="Generic arms: 1 all rotational (default), 2 joint 3 translational.",
)
PRINCIPAL = typer.Option(
    False,
    "--principal",
    help="Generic arms whose links have principal axes along their frames.",
)


EQUIVALENCE = typer.Option(
    False,
    "--equivalence",
    help="Compare all formulations in numbers of many digits, and walk through turney1980's proof.",
)
DIGITS = typer.Option(FIFTY, "--digits", help="Digits of --equivalence.")
SCHEDULE = typer.Option(False, "--schedule", help="Lay out the operations of --quantity in time.")
OF_SCHEDULE = typer.Option(
    None,
    "--formulation",
    help="Of --schedule and --rows; default: the cheapest, of those that a paper lists.",
)
ROWS = typer.Option(
    False,
    "--rows",
    help="Line by line: what the paper books, what its equation needs; of --quantity and --formulation.",
)
PROCESSORS = typer.Option(
    None, "--processors", help="Of --schedule; default: as many as can be used."
)


@with_portion
def count(
    robot: str = ROBOT,
    quantity: str = typer.Option(None, "--quantity", "-q", help="Only this quantity."),
    n: str = N,
    type: int = TYPE,
    principal: bool = PRINCIPAL,
    equivalence: bool = EQUIVALENCE,
    digits: int = DIGITS,
    schedule: bool = SCHEDULE,
    formulation: str = OF_SCHEDULE,
    processors: int = PROCESSORS,
    rows: bool = ROWS,
    wheels: bool = WHEELS,
    portion: Portion = PORTION,
    html: str = HTML,
    as_json: bool = JSON,
) -> None:
    """Count operations of every formulation.

    For a robot, or for the papers' generic manipulators. Beside the count of the simplified graph stand that of the
    formulas as this library writes them and that of the paper's own listing (its rotations, frames and gravity). For
    generic arms there is what the paper prints, exactly, and beside it the corrected sum where a printed one is wrong
    (multiplications / additions), and our count on the arm that the paper means: principal axes along its own frames,
    its own gravity. --rows takes a listing apart, line by line.
    """
    from ..dynamics.table import DIFFERENTIATED, QUANTITIES, check_quantity

    writable_all({"--html": (html, (".html",))})
    wheeled = mobile_of(robot, wheels, portion)
    kinds = (equivalence, schedule, rows)
    _check_study(kinds, digits, processors, formulation)
    if wheeled is not None:
        words = "is for arms; of an arm on wheels all functions are counted"
        refuse_given(words, {**dict(zip(STUDIES, kinds, strict=True)), "--quantity": quantity})
        refuse_given(words, {"--n": n})
        page_of = f"dynarm mobile {robot} --html FILE"
        refuse_given(f"is about arms; the page of a robot on wheels: {page_of}", {"--html": html})
        return count_mobile(wheeled, as_json)
    if quantity is not None:
        check_quantity(quantity)
    arms = _arms(robot, n, type, principal, portion)
    generic = None if n is None else (type or 1, principal)
    if any(kinds):
        from .studies import Asked, study

        asked = Asked(quantity, formulation, html, as_json)
        return study(arms, asked, kinds, digits, processors, generic)
    every = [q for q in QUANTITIES if q not in DIFFERENTIATED]
    report = _counted(arms, every if quantity is None else [quantity], generic)
    if html:
        from ..report.counts import page

        page(report, html)
    if as_json:
        print_json(report)
        return
    _show(arms, report, html)


def _counted(
    arms: list[Arm], wanted: list[str], generic: tuple[int, bool] | None
) -> dict[str, dict[str, list[Json]]]:
    """By robot and quantity the formulations and what they cost."""
    report: dict[str, dict[str, list[Json]]] = {}
    jobs = [(arm, q) for arm in arms for q in wanted]
    with progress("counting") as done:
        for k, (arm, q) in enumerate(jobs):
            report.setdefault(arm.name, {})[q] = costs(arm, q, generic, part_of(done, k, len(jobs)))
            done((k + 1) / len(jobs))
    return report


def _check_study(
    kinds: tuple[bool, bool, bool],
    digits: int,
    processors: int | None,
    formulation: str | None,
) -> None:
    """Refuse what says how --equivalence, --schedule and --rows are done where none of them is."""
    equivalence, schedule, rows = kinds
    refuse_given("is for --equivalence", {} if equivalence else {"--digits": digits != FIFTY})
    refuse_given("is for --schedule", {} if schedule else {"--processors": processors})
    if not schedule and not rows:
        what = "is for --schedule and --rows; without them every formulation is counted"
        refuse_given(what, {"--formulation": formulation})


def _show(arms: list[Arm], report: dict[str, dict[str, list[Json]]], html: str | None) -> None:
    for arm in arms:
        for q, table in report[arm.name].items():
            show_costs(f"{arm.name}, {arm.n} joints: {q}", table)
    if html:
        say(f"wrote {html}")


def show_costs(title: str, rows: list[Json]) -> None:
    """The rows as a table; without the papers' columns where no paper has a number; below it why some are corrected."""
    columns = [c for c in COLUMNS if c not in PAPERS or any(row[c] for row in rows)]
    show_table(title, columns, [[row[c] for c in columns] for row in rows], right=2)
    for row in rows:
        if row["note"]:
            say(f"  {row['formulation']}: {row['note']}")


def _arms(
    robot: str | None,
    n: str | None,
    type: int | None,
    principal: bool,
    portion: Portion,
) -> list[Arm]:
    from ..robot.frames.generic import generic_arm

    if robot is not None and n is None:
        refuse_given("is for generic arms, with --n", {"--type": type, "--principal": principal})
        return [load_arm(robot, portion)]
    if robot is not None or n is None:
        raise InputError(
            "give a robot, or --n with numbers of joints; for example: dynarm count --n 3..8 --type 1"
        )
    refuse_given("is for a robot's file, not for --n; leave it out", portion.given)
    ends = re.fullmatch(r"([0-9]{1,9})(?:\.\.([0-9]{1,9}))?", n)
    if ends is None:
        raise InputError(f"--n is {shown(n)}; give a number or a range such as 3..8")
    numbers = range(int(ends[1]), int(ends[2] or ends[1]) + 1)
    if not numbers or numbers[0] < 1 or numbers[-1] > MOST:
        raise InputError(
            f"--n is {shown(n)}; give joints between 1 and {MOST}, the smaller number first"
        )
    return [generic_arm(k, type or 1, principal=principal) for k in numbers]


def costs(
    arm: Arm,
    quantity: str,
    generic: tuple[int, bool] | None = None,
    done: Callable[[float], object] = lambda part: None,
) -> list[Json]:
    """What each formulation of a quantity costs, cheapest first; for a generic arm also what papers print.

    done is called with the part that is counted, formulation by formulation.
    """
    from ..dynamics.table import DIFFERENTIATED, PARTS, TABLE, WHOLE, applicable
    from ..plan.choice import cheapest, unsuited
    from ..plan.choice import count as count_operations
    from ..plan.printed import as_printed
    from ..plan.scene import PLAIN
    from ..reproductions.published import counted_on, published, quoted
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
    if quantity in WHOLE:
        tried += [(row.name, row.paper) for row in applicable(WHOLE[quantity], chain)]
    rows = []
    for k, (name, paper) in enumerate(tried):
        done(k / len(tried))
        stands = published(quantity, name, generic[0], arm.n, generic[1]) if generic else None
        counted = count_operations(arm, quantity, name)
        listed, there = counted.as_printed, None
        if generic:
            meant = counted_on(paper, arm.n, *generic)
            listed = as_printed(chain_of(meant), quantity, name)
            if (listed or stands) and meant != arm:
                there = count_operations(meant, quantity, name)
        rows.append(_cells(name, paper, counted, listed, stands, arm.n, there))
    rows.sort(key=lambda cells: cells["mul"] + cells["add"])
    if generic:
        for row in quoted(quantity, generic[0], arm.n, generic[1]):
            rows.append(_cells(row.formulation, f"in {row.paper}", None, None, row, arm.n))
    return rows


def _cells(
    name: str,
    paper: str,
    counted: Counted | None,
    listed: AsPrinted | None,
    stands: Printed | None,
    n: int,
    there: Counted | None = None,
) -> Json:
    """One row: our count, also on the arm that the paper means, the paper's listing on that, what it prints."""
    corrected = stands.corrected_at(n) if stands else None
    notes = [stands.why, f"without {stands.on_hand}" if stands.on_hand else ""] if stands else []
    return {
        "formulation": name,
        "paper": paper,
        "mul": counted.mul if counted else "",
        "add": counted.add if counted else "",
        "path": counted.depth if counted else "",
        "mul as written": counted.as_written.mul if counted else "",
        "add as written": counted.as_written.add if counted else "",
        "here on its arm": f"{there.mul} / {there.add}" if there else "",
        "by its listing": f"{listed.mul} / {listed.add}" if listed else "",
        "printed": "{} / {}".format(*stands.at(n)) if stands else "",
        "corrected": "{} / {}".format(*corrected) if corrected else "",
        "note": "; ".join(filter(None, notes)),
    }
