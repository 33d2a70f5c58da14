"""The measured tables in docs/papers are what is counted now.

Run as a program, this file writes them into the pages: PYTHONPATH=tests python tests/papers/test_documented_counts.py
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import dynarm
from dynarm.counts import graph
from dynarm.graph import Count
from dynarm.robot.generic import generic_arm
from dynarm.schedule import schedule
from dynarm.table import formulation
from industrial_arms import GROUPS, group_arm, industrial_arm, table_2
from paper_counts import (
    OPERATIONS,
    Page,
    bare,
    both_forms,
    cell,
    closed_form,
    counted,
    counted_principal,
    general,
    golden,
    grid,
    on_hand,
    pair,
    sizes,
    spelled,
    value,
)

COLUMNS = range(2, 9)  # numbers of joints that the tables show


def printed(row: dict, suffix: str = "_printed") -> str:
    return " / ".join(spelled(row[op + suffix]) for op in OPERATIONS)


# ---- turney1980


def turney_tables() -> str:
    def general_case(n: int, name: str) -> Count:
        return counted(n, "inverse_dynamics", name)

    cases: list[tuple[str, str, str, Callable, int]] = [
        ("Lagrange", "any", "lagrange", general_case, 3),
        ("Newton-Euler", "general", "newton_euler", general_case, 1),
        ("Newton-Euler", "principal", "newton_euler", counted_principal, 1),
        ("modified Newton-Euler", "principal", "modified_newton_euler", counted_principal, 1),
        ("modified Newton-Euler", "general", "modified_newton_euler", general_case, 1),
    ]
    rows = [["formulation", "inertia", "printed", "as written", "simplified", "n = 6"]]
    for label, inertia, name, cost, degree in cases:
        given = [
            p
            for p in golden("turney1980")["polynomial"]
            if p["formulation"] == name
            and (inertia == "any" or p["principal"] == (inertia == "principal"))
        ]
        found = {n: cost(n, name) for n in sizes()}
        six = [cell(found[6].as_written), cell(found[6])]
        if given:
            six.insert(0, " / ".join(str(value(given[0][f"{op}_printed"], 6)) for op in OPERATIONS))
        rows.append(
            [
                label,
                inertia,
                printed(given[0]) if given else "-",
                both_forms({n: c.as_written for n, c in found.items()}, degree),
                both_forms(found, degree),
                "; ".join(six),
            ]
        )
    return grid(rows)


def turney_strobing() -> str:
    rows = [["n", "M strobed", "M Lagrange", "C strobed", "C Lagrange"]]
    for n in COLUMNS:
        cells = [
            cell(counted(n, "mass_matrix", name))
            if quantity == "mass_matrix"
            else cell(tensor(n, name))
            for quantity in ("mass_matrix", "coriolis_tensor")
            for name in ("strobed", "lagrange")
        ]
        rows.append([str(n), *cells])
    return grid(rows)


def tensor(n: int, name: str):
    """Operations of the simplified graph only: as written these are large."""
    chosen = {"coriolis_tensor": formulation("coriolis_tensor", name)}
    return graph(generic_arm(n), "coriolis_tensor", chosen).count()


def turney_paths() -> str:
    """Table 5 and the critical paths."""
    (total,) = golden("turney1980")["total"]
    plans = {n: schedule(n) for n in sizes()}
    names = ("newton_euler", "modified_newton_euler")
    depth = {name: {n: counted(n, "inverse_dynamics", name) for n in sizes()} for name in names}
    rows = [["", "whole terms side by side, multiplications / additions", "n = 6"]]
    rows.append(
        ["Table 5", printed(total, ""), " / ".join(str(value(total[op], 6)) for op in OPERATIONS)]
    )
    charged = [closed_form({n: int(p.charged[k]) for n, p in plans.items()}, 1) for k in range(2)]
    rows.append(
        ["`schedule(n).charged`", " / ".join(charged), " / ".join(map(str, plans[6].charged))]
    )
    own = [closed_form({n: int(getattr(p, op)) for n, p in plans.items()}, 1) for op in OPERATIONS]
    rows.append(
        ["each stage as long as it is", " / ".join(own), f"{plans[6].mul} / {plans[6].add}"]
    )
    for name in names:
        found = {n: c.as_written.depth for n, c in depth[name].items()}
        rows.append(
            [f"critical path, `{name}`", f"{closed_form(found, 1)} operations", str(found[6])]
        )
    M = {n: counted(n, "mass_matrix", "lagrange").as_written.depth for n in COLUMNS}
    rows.append(["critical path, M by `lagrange`", f"{closed_form(M, 1)} operations", str(M[6])])
    return grid(rows)


# ---- lin1991

METHODS = {
    "renaud": "Renaud",
    "partial_velocity": "Lin 1988",
    "fijany_bejczy": "Fijany and Bejczy",
    "base_composite": "Present",
}
MOVED = "base_composite_moved"


def inertia(n: int, name: str) -> list[np.ndarray]:
    """Multiplications and additions of the inertia matrix: as written, simplified."""
    c = counted(n, "mass_matrix", name)
    return [pair(c.as_written), pair(c)]


def increment(n: int, name: str) -> list[np.ndarray]:
    """The same of what the bias vector adds to it in one graph."""
    c = counted(n, "mass_matrix_and_bias", name)
    return [x - y for x, y in zip((pair(c.as_written), pair(c)), inertia(n, name), strict=True)]


def lin1991_table(number: str, names: dict[str, str], measure: Callable) -> str:
    rows = [["method", "", *map(str, COLUMNS)]]
    given = {p["formulation"]: p for p in golden("lin1991")["polynomial"] if p["table"] == number}
    for name, label in names.items():
        for k, op in enumerate(OPERATIONS):
            cells = []
            for n in COLUMNS:
                paper = str(value(given[name][f"{op}_printed"], n)) if name in given else "-"
                cells.append(" / ".join([paper, *(str(x[k]) for x in measure(n, name))]))
            rows.append([f"{label} `{name}`", "MA"[k], *cells])
    return grid(rows)


def lin1991_closed_forms() -> str:
    rows = [["", "M", "A"]]
    for name in (*METHODS, MOVED):
        degree = 3 if name == "partial_velocity" else 2
        found = {n: bare(n, "mass_matrix", name) for n in sizes()}
        forms = [
            closed_form({n: getattr(c, op) for n, c in found.items()}, degree) for op in OPERATIONS
        ]
        rows.append([f"`{name}`", *forms])
    for name in ("base_composite", MOVED):
        added = {
            n: pair(bare(n, "mass_matrix_and_bias", name)) - pair(bare(n, "mass_matrix", name))
            for n in sizes()
        }
        forms = [closed_form({n: int(c[k]) for n, c in added.items()}, 2) for k in range(2)]
        rows.append([f"`{name}`, bias in addition", *forms])
    return grid(rows)


def lin1991_crossovers() -> str:
    """Sums of multiplications and additions, simplified."""
    rows = [["M + A", *map(str, COLUMNS)]]
    for name in (*METHODS, MOVED):
        rows.append([f"H by `{name}`", *(str(sum(inertia(n, name)[1])) for n in COLUMNS)])
    for name in ("base_composite", MOVED):
        rows.append(
            [f"b in addition, `{name}`", *(str(sum(increment(n, name)[1])) for n in COLUMNS)]
        )
    for name in ("newton_euler_constants", "minimal_newton_euler"):
        rows.append([f"b alone, `{name}`", *(str(counted(n, "bias", name).total) for n in COLUMNS)])
    return grid(rows)


# ---- lin1995

TILTED = (3.0, 2.0, -9.0)


def lin1995_natural() -> str:
    rows = [["", "printed (Table III)", "as written", "simplified", "n = 6"]]
    (given, *_) = golden("lin1995")["polynomial"]
    for label, name, type in (
        ("Type 1, all rotational", "newton_euler_constants", 1),
        ("Type 2, joint 3 translational", "newton_euler_constants", 2),
        ("plain (16)-(23), Type 1", "newton_euler_driving_axis", 1),
    ):
        rows.append(
            [
                label,
                printed(given) if type == 1 and "plain" not in label else "-",
                *forms(name, type),
            ]
        )
    return grid(rows + robots("newton_euler_constants"))


def forms(name: str, type: int, quantity: str = "inverse_dynamics", degree: int = 1) -> list[str]:
    found = {n: counted(n, quantity, name, type) for n in sizes(type)}
    written = {n: c.as_written for n, c in found.items()}
    return [both_forms(written, degree), both_forms(found, degree), cell(found[6])]


def robots(name: str) -> list[list[str]]:
    """Rows of real robots: printed where the paper counts them, as written, simplified."""
    numbers = {x["name"]: x for x in golden("lin1995")["number"]}
    rows = []
    for label, arm, key in (
        ("Stanford arm, general", general("stanford"), "stanford general"),
        ("Stanford arm, simplified", dynarm.load("stanford"), "stanford simplified"),
        ("PUMA 560, general", general("puma560"), None),
        ("PUMA 560, Armstrong's parameters", dynarm.load("puma560"), None),
    ):
        found = dynarm.count(arm, "inverse_dynamics", name)
        paper = " / ".join(str(numbers[key][op]) for op in OPERATIONS) if key else "-"
        rows.append([label, paper, cell(found.as_written), cell(found), "-"])
    return rows


def lin1995_minimal() -> str:
    rows = [["", "printed", "as written", "simplified", "n = 6"]]
    name = "minimal_newton_euler"
    present, gautier = golden("lin1995")["polynomial"][:2]
    rows.append(["Type 1, all rotational", printed(present), *forms(name, 1)])
    rows.append(["the same, Gautier and Khalil", printed(gautier), "-", "-", "-"])
    rows.append(["Type 2, joint 3 translational", "-", *forms(name, 2)])
    rows.append(["bias, Type 1", "-", *forms(name, 1, "bias")])
    tilted = {n: counted(n, "inverse_dynamics", name, gravity=TILTED) for n in sizes()}
    written = {n: c.as_written for n, c in tilted.items()}
    rows.append(
        [
            "Type 1, gravity tilted",
            "-",
            both_forms(written, 1),
            both_forms(tilted, 1),
            cell(tilted[6]),
        ]
    )
    (saving,) = golden("lin1995")["saving"]
    less = [np.polysub(present[op], saving[op]).tolist() for op in OPERATIONS]
    square = {n: dynarm.count(industrial_arm(n), "inverse_dynamics", name) for n in sizes()}
    written = {n: c.as_written for n, c in square.items()}
    rows.append(
        [
            "industrial (twists of 90 degrees), Type 1",
            " / ".join(map(spelled, less)),
            both_forms(written, 1),
            both_forms(square, 1),
            cell(square[6]),
        ]
    )
    return grid(rows + robots(name))


def lin1995_groups() -> str:
    rows = [["one joint more", "Table II", "Table II, corrected", "here"]]
    for group, (more, less) in GROUPS.items():
        cost = [
            dynarm.count(group_arm(word), "inverse_dynamics", "minimal_newton_euler")
            for word in (more, less)
        ]
        here = pair(cost[0]) - pair(cost[1])
        as_printed, corrected = table_2(corrected=False)[group], table_2()[group]
        rows.append([group, *(" / ".join(map(str, x)) for x in (as_printed, corrected, here))])
    return grid(rows)


# ---- linfang1999

FORMS = {
    "composite_1": "1",
    "composite_2": "2",
    "composite_3": "3",
    "composite_4": "4",
    "composite_5": "5",
    "composite_middle": "middle (ours)",
    "spatial_composite": "spatial",
    "walker_orin": "Walker and Orin",
}


def table_6(type: int) -> str:
    given = {
        p["formulation"]: p
        for p in golden("linfang1999")["polynomial"]
        if p["table"] == "VI" and p["type"] == type
    }
    rows = [
        [
            "form",
            "printed",
            "rows",
            "above c^, J^",
            "as written",
            "without repetitions",
            "simplified",
        ]
    ]
    for name, label in FORMS.items():
        found = {n: counted(n, "mass_matrix", name, type) for n in sizes(type)}
        whole = {n: bare(n, "mass_matrix", name, type) for n in sizes(type)}
        above = {n: Count(*(pair(c) - pair(on_hand(n, type))).tolist()) for n, c in whole.items()}
        row = given.get(name)
        same = row is not None and all(
            row[f"{op}_rows"] == row[f"{op}_printed"] for op in OPERATIONS
        )
        rows.append(
            [
                label,
                printed(row) if row else "-",
                "the same" if same else printed(row, "_rows") if row else "-",
                both_forms(above, 2) if name not in ("spatial_composite", "walker_orin") else "-",
                both_forms({n: c.as_written for n, c in found.items()}, 2),
                both_forms(whole, 2),
                both_forms(found, 2),
            ]
        )
    return grid(rows)


def table_6_columns() -> str:
    rows = [["", "n", "printed", "printed + Table VII", "as written", "simplified"]]
    parts = {p["type"]: p for p in golden("linfang1999")["part"]}
    for type in (1, 2):
        for name, label in FORMS.items():
            p = next(
                (
                    p
                    for p in golden("linfang1999")["polynomial"]
                    if (p["table"], p["formulation"], p["type"]) == ("VI", name, type)
                ),
                None,
            )
            for n in (4, 6, 11):
                found = counted(n, "mass_matrix", name, type)
                alone = [value(p[f"{op}_printed"], n) for op in OPERATIONS] if p else []
                both = [
                    x + value(parts[type][f"{op}_printed"], n)
                    for x, op in zip(alone, OPERATIONS, strict=False)
                ]
                rows.append(
                    [
                        f"{label}, Type {type}" if n == 4 else "",
                        str(n),
                        " / ".join(map(str, alone)) or "-",
                        " / ".join(map(str, both)) or "-",
                        cell(found.as_written),
                        cell(found),
                    ]
                )
    return grid(rows)


def table_6_crossovers() -> str:
    rows = [["M + A", *map(str, range(2, 13))]]
    for type in (1, 2):
        for name, label in FORMS.items():
            if name == "spatial_composite":
                continue
            cells = [
                str(counted(n, "mass_matrix", name, type).total) if n in sizes(type) else "-"
                for n in range(2, 13)
            ]
            rows.append([f"{label}, Type {type}", *cells])
    return grid(rows)


def real_robots() -> str:
    names = [*FORMS, "minimal_composite_1", "minimal_composite_2"]
    rows = [["", *(FORMS.get(name, f"`{name}`") for name in names)]]
    for label, arm in (
        ("puma560, general", general("puma560")),
        ("puma560, as measured", dynarm.load("puma560")),
        ("stanford, general", general("stanford")),
        ("stanford, Paul's data", dynarm.load("stanford")),
    ):
        found = [dynarm.count(arm, "mass_matrix", name) for name in names]
        best = min(c.total for c in found)
        rows.append([label, *(f"**{cell(c)}**" if c.total == best else cell(c) for c in found)])
    return grid(rows)


def table_8() -> str:
    rows = [["Table VIII", "printed", "as written", "simplified", "n = 6"]]
    for p in golden("linfang1999")["polynomial"]:
        if p["table"] == "VIII" and not p.get("quoted"):
            label = f"Formulation {p['formulation'][-1]}, Type {p['type']}"
            found = forms(p["formulation"], p["type"], "mass_matrix", 2)
            rows.append([label, printed(p), *found])
    return grid(rows)


PAGES = (
    Page(
        "turney1980",
        {"tables 1 to 4": turney_tables, "strobing": turney_strobing, "table 5": turney_paths},
    ),
    Page(
        "lin1991",
        {
            "table I": lambda: lin1991_table("I", METHODS | {MOVED: "(ours)"}, inertia),
            "table II": lambda: lin1991_table(
                "II", {"base_composite": "Present", MOVED: "(ours)"}, increment
            ),
            "closed forms": lin1991_closed_forms,
            "crossovers": lin1991_crossovers,
        },
    ),
    Page(
        "lin1995",
        {"natural": lin1995_natural, "minimal": lin1995_minimal, "table II": lin1995_groups},
    ),
    Page(
        "linfang1999",
        {
            "type 1": lambda: table_6(1),
            "type 2": lambda: table_6(2),
            "columns": table_6_columns,
            "crossovers": table_6_crossovers,
            "real robots": real_robots,
            "table VIII": table_8,
        },
    ),
)
CASES = [(page, name) for page in PAGES for name in page.blocks]


@pytest.mark.parametrize(("page", "name"), CASES, ids=[f"{p.paper}-{name}" for p, name in CASES])
def test_documented_tables_are_the_measured_ones(page, name):
    """If this fails, run this file as a program, and see whether the text around the table still holds."""
    assert page.stated(name) == [page.blocks[name]()]


if __name__ == "__main__":
    for page in PAGES:
        page.write()
