"""Measured tables of docs/papers/lin1991.md."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dynarm.algebra.vectors import ZERO
from dynarm.dynamics.papers import composite_body_lin1991
from dynarm.graph.graph import Count, Port
from dynarm.graph.trace import trace_function
from dynarm.reproductions.published import GENERAL
from dynarm.robot.frames.chain import chain_of, pose
from dynarm.robot.frames.generic import generic_arm
from oracles.paper_counts import (
    COLUMNS,
    OPERATIONS,
    bare,
    cell,
    closed_form,
    counted,
    golden,
    grid,
    kept,
    pair,
    sizes,
    value,
)

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
    c = counted(n, "mass_matrix_and_bias", name, gravity=GENERAL)
    return [x - y for x, y in zip((pair(c.as_written), pair(c)), inertia(n, name), strict=True)]


def table(number: str, names: dict[str, str], measure: Callable) -> str:
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


def closed_forms() -> str:
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


def crossovers() -> str:
    """Sums of multiplications and additions, simplified."""
    rows = [["M + A", *map(str, COLUMNS)]]
    for name in (*METHODS, MOVED):
        rows.append([f"H by `{name}`", *(str(sum(inertia(n, name)[1])) for n in COLUMNS)])
    for name in ("base_composite", MOVED):
        rows.append(
            [f"b in addition, `{name}`", *(str(sum(increment(n, name)[1])) for n in COLUMNS)]
        )
    for name in ("newton_euler_constants", "minimal_newton_euler"):
        alone = (counted(n, "bias", name, gravity=GENERAL).total for n in COLUMNS)
        rows.append([f"b alone, `{name}`", *map(str, alone)])
    return grid(rows)


@kept
def body_fixed(n: int, k: int, bias: bool) -> Count:
    """H, or H and b, with origin k (counted from 1; 1 is the base's) for the reference point, before factoring."""
    chain = chain_of(generic_arm(n, 1, GENERAL))

    def traced(q: Sequence[Any], qd: Sequence[Any]) -> list[Any]:
        steps = pose(chain, q)
        way = ZERO
        for step in reversed(steps[1:k]):
            way = step.fall(way) + step.s
        if not bias:
            rows = composite_body_lin1991.mass_matrix(chain, steps, -way)
            return [rows[i][j] for j in range(n) for i in range(j + 1)]
        rows, b = composite_body_lin1991.mass_matrix_and_bias(chain, steps, qd, -way)
        return [rows[i][j] for j in range(n) for i in range(j + 1)] + list(b)

    size = n * (n + 1) // 2 + n * bias
    return trace_function([Port("q", (n,)), Port("qd", (n,))], [Port("H", (size,))], traced).count()


def references() -> str:
    rows = [["reference", "H, M / A", "H and b, M / A"]]
    for k in range(1, 7):
        name = "base" if k == 1 else f"origin {k}, on link {k}"
        rows.append([name, *(cell(body_fixed(6, k, bias)) for bias in (False, True))])
    return grid(rows)


BLOCKS = {
    "references": references,
    "table I": lambda: table("I", METHODS | {MOVED: "(ours)"}, inertia),
    "table II": lambda: table("II", {"base_composite": "Present", MOVED: "(ours)"}, increment),
    "closed forms": closed_forms,
    "crossovers": crossovers,
}
