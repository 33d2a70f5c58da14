"""Measured tables of docs/papers/turney1980.md."""

from __future__ import annotations

from collections.abc import Callable

from dynarm.graph.graph import Count
from dynarm.reproductions.schedule import schedule
from oracles.paper_counts import (
    COLUMNS,
    OPERATIONS,
    both_forms,
    cell,
    closed_form,
    counted,
    counted_principal,
    golden,
    grid,
    printed,
    sizes,
    tensor_counted,
    value,
)


def tables_1_to_4() -> str:
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


def strobing() -> str:
    names = {"strobed": "strobed", "strobed_modified": "improved", "lagrange": "Lagrange"}
    rows = [["n", *(f"{x} {word}" for x in "MC" for word in names.values())]]
    for n in COLUMNS:
        cells = [
            cell(counted(n, "mass_matrix", name))
            if quantity == "mass_matrix"
            else cell(tensor_counted(n, name))
            for quantity in ("mass_matrix", "coriolis_tensor")
            for name in names
        ]
        rows.append([str(n), *cells])
    return grid(rows)


def table_5() -> str:
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


BLOCKS = {"tables 1 to 4": tables_1_to_4, "strobing": strobing, "table 5": table_5}
