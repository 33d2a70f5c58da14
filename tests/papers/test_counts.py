"""Every polynomial that a paper prints against counts measured on the traced graphs of its generic arms."""

from __future__ import annotations

import pytest

from dynarm.dynamics.table import TABLE
from oracles.paper_counts import OPERATIONS, ROOT, counted, golden, pair, sizes, value

PAPERS = ("lin1991", "lin1995", "linfang1999", "turney1980")
ROWS = [
    (paper, row)
    for paper in PAPERS
    for row in golden(paper)["polynomial"]
    if ("held_by" in row or not row.get("quoted"))
    and row["quantity"] in {r.quantity for r in TABLE}
]


def name_of(case) -> str:
    paper, row = case
    return f"{paper}-{row['table']}-{row['quantity']}-{row['formulation']}-{row['type']}"


@pytest.mark.parametrize("case", ROWS, ids=name_of)
def test_measured_counts_stay_at_or_below_the_printed_ones(case):
    _, row = case
    for n in sizes(row["type"], row["from_n"]):
        options = row["type"], row["principal"]
        found = counted(n, row["quantity"], row.get("held_by", row["formulation"]), *options)
        cost = pair(found)
        if "increment_over" in row:
            cost = cost - pair(counted(n, "mass_matrix", row["increment_over"], *options))
        assert all(cost <= [value(row[op], n) for op in OPERATIONS]), (n, cost)
        assert not found.div and not found.sqrt


def test_there_are_golden_numbers_of_every_paper():
    assert {path.stem for path in (ROOT / "tests/golden").glob("*.toml")} >= set(PAPERS)
    assert {paper for paper, _ in ROWS} == set(PAPERS)


def test_the_golden_bounds_are_never_looser_than_the_printed_digits():
    """But for Table VI of linfang1999, whose counts leave out what Table VII counts."""
    for paper, row in ROWS:
        if (paper, row["table"]) == ("linfang1999", "VI"):
            continue
        for n in sizes(row["type"], row["from_n"]):
            for op in OPERATIONS:
                assert value(row[op], n) <= value(row[f"{op}_printed"], n), (paper, row["table"])
