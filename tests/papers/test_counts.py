"""Every polynomial that a paper prints against counts measured on the traced graphs of its generic arms."""

from __future__ import annotations

import tomllib
from fractions import Fraction
from functools import lru_cache
from pathlib import Path

import pytest

from dynarm import count
from dynarm.robot.generic import generic_arm
from dynarm.table import TABLE

GOLDEN = Path(__file__).parents[1] / "golden"
ROWS = [
    (path.stem, row)
    for path in sorted(GOLDEN.glob("*.toml"))
    for row in tomllib.loads(path.read_text(encoding="utf-8")).get("polynomial", [])
    if not row.get("quoted") and row.get("quantity") in {r.quantity for r in TABLE}
]
SLOW = {r.name for r in TABLE if not r.automatic}  # their graphs grow with n^4: fewer sizes


def value(coefficients, n: int) -> Fraction:
    total = Fraction(0)
    for c in coefficients:
        total = total * n + Fraction(c)
    return total


@lru_cache(maxsize=None)
def counted(n: int, type: int, principal: bool, quantity: str, formulation: str):
    return count(generic_arm(n, type, principal=principal), quantity, formulation)


@pytest.mark.parametrize(
    ("paper", "row"),
    ROWS,
    ids=[f"{p}-{r['table']}-{r['quantity']}-{r['formulation']}-{r['type']}" for p, r in ROWS],
)
def test_measured_counts_stay_at_or_below_the_printed_ones(paper, row):
    start = max(row["from_n"], 4 if row["type"] == 2 else 2)
    last = 8 if row["formulation"] in SLOW else 12
    for n in range(start, last + 1):
        found = counted(n, row["type"], row["principal"], row["quantity"], row["formulation"])
        mul, add = found.mul, found.add
        if "increment_over" in row:
            base = counted(n, row["type"], row["principal"], "mass_matrix", row["increment_over"])
            mul, add = mul - base.mul, add - base.add
        assert mul <= value(row["mul"], n), f"n = {n}: {mul} multiplications"
        assert add <= value(row["add"], n), f"n = {n}: {add} additions"
        assert not found.div and not found.sqrt


def test_there_are_golden_numbers_of_every_paper():
    assert {paper for paper, _ in ROWS} >= {"turney1980", "lin1991", "lin1995", "linfang1999"}
