"""Measured tables of docs/papers/linfang1999.md."""

from __future__ import annotations

import dynarm
from dynarm.graph.graph import Count
from oracles.paper_counts import (
    OPERATIONS,
    bare,
    both_forms,
    cell,
    counted,
    forms,
    general,
    golden,
    grid,
    on_hand,
    pair,
    printed,
    sizes,
    value,
)

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
            columns = (4, 6, 11) if type == 1 else (6, 8, 9)  # as printed
            for n in columns:
                found = counted(n, "mass_matrix", name, type)
                alone = [value(p[f"{op}_printed"], n) for op in OPERATIONS] if p else []
                both = [
                    x + value(parts[type][f"{op}_printed"], n)
                    for x, op in zip(alone, OPERATIONS, strict=False)
                ]
                rows.append(
                    [
                        f"{label}, Type {type}" if n == columns[0] else "",
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


BLOCKS = {
    "type 1": lambda: table_6(1),
    "type 2": lambda: table_6(2),
    "columns": table_6_columns,
    "crossovers": table_6_crossovers,
    "real robots": real_robots,
    "table VIII": table_8,
}
