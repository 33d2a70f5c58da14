"""Measured tables of docs/papers/lin1995.md."""

from __future__ import annotations

import numpy as np

import dynarm
from oracles.industrial_arms import GROUPS, TILTED, group_arm, industrial_arm, table_2
from oracles.paper_counts import (
    OPERATIONS,
    both_forms,
    cell,
    counted,
    forms,
    general,
    golden,
    grid,
    pair,
    printed,
    sizes,
    spelled,
)


def natural() -> str:
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
                *forms(name, type, "inverse_dynamics", 1),
            ]
        )
    return grid(rows + robots("newton_euler_constants"))


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


def minimal() -> str:
    rows = [["", "printed", "as written", "simplified", "n = 6"]]
    name = "minimal_newton_euler"
    rows_of = {row["formulation"]: row for row in golden("lin1995")["polynomial"]}
    present, gautier = rows_of["minimal_newton_euler"], rows_of["gautier_khalil"]
    rows.append(
        ["Type 1, all rotational", printed(present), *forms(name, 1, "inverse_dynamics", 1)]
    )
    rows.append(["the same, Gautier and Khalil", printed(gautier), "-", "-", "-"])
    rows.append(["Type 2, joint 3 translational", "-", *forms(name, 2, "inverse_dynamics", 1)])
    rows.append(["bias, Type 1", "-", *forms(name, 1, "bias", 1)])
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


def groups() -> str:
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


BLOCKS = {"natural": natural, "minimal": minimal, "table II": groups}
