"""The arithmetic of turney1980's tables and appendix, from the printed numbers alone."""

from __future__ import annotations

import tomllib
from fractions import Fraction
from pathlib import Path

import pytest

from dynarm.graph.graph import Port
from dynarm.graph.trace import trace_function

GOLDEN = tomllib.loads(
    (Path(__file__).parents[1] / "golden" / "turney1980.toml").read_text(encoding="utf-8")
)


def value(coefficients, n) -> Fraction:
    total = Fraction(0)
    for c in coefficients:
        total = total * n + Fraction(c)
    return total


@pytest.mark.parametrize("table", ["2", "3", "4"])
@pytest.mark.parametrize("kind", ["mul", "add"])
def test_rows_sum_to_the_printed_totals(table, kind):
    rows = [row for row in GOLDEN["row"] if row["table"] == table]
    totals = [p for p in GOLDEN["polynomial"] if table in p["table"].split(", ")]
    assert len(rows) >= 6
    assert totals
    for n in range(1, 13):
        for total in totals:
            assert sum(value(row[kind], n) for row in rows) == value(total[f"{kind}_printed"], n)


def test_table_5_rows_sum_to_its_total():
    rows = [row for row in GOLDEN["row"] if row["table"] == "5"]
    (total,) = GOLDEN["total"]
    for kind in ("mul", "add"):
        for n in range(1, 13):
            assert sum(value(row[kind], n) for row in rows) == value(total[kind], n)


def number(table: str) -> dict:
    (found,) = (x for x in GOLDEN["number"] if x["table"] == table)
    return found


def test_appendix_second_derivatives():
    """i(i-1)/2 products of 4x4 matrices a link, 48 additions each."""
    entry = number("Appendix, second derivatives")
    for n in range(2, 13):
        exact = sum(48 * i * (i - 1) // 2 for i in range(1, n + 1))
        assert value(entry["add"], n) == exact
        assert value(entry["add_printed"], n) != exact


def test_appendix_kinetic_term():
    entry = number("Appendix, kinetic term of link q")
    for q in range(1, 13):
        exact = 16 * q + Fraction(q * (q - 1), 2) + 8 * q * (q - 1) + 64
        assert value(entry["mul"], q) == exact
        assert value(entry["mul_printed"], q) != exact


def test_appendix_sum_of_kinetic_terms():
    entry = number("Appendix, kinetic terms of all links")
    for n in range(1, 13):
        exact = sum(16 * q * (q + 1) + 32 for q in range(1, n + 1))
        assert value(entry["add"], n) == exact
        assert value(entry["add_printed"], n) != exact
    assert (value(entry["add"], 6), value(entry["add_printed"], 6)) == (1984, 1312)


def test_appendix_totals_are_interchanged():
    entry = number("Appendix, total")
    (table,) = {
        (tuple(p["mul_printed"]), tuple(p["add_printed"]))
        for p in GOLDEN["polynomial"]
        if "2" in p["table"]
    }
    assert table == (tuple(entry["add_printed"]), tuple(entry["mul_printed"]))
    assert table == (tuple(entry["mul"]), tuple(entry["add"]))


def test_alpha_costs_11_multiplications():
    """Tables 3 and 4 print 9; w x z theta' alone is 2, the product with a 3x3 matrix 9."""

    def alpha(R, before, w, rates):
        v, acc = rates
        x, y, z = before[0] + w[1] * v, before[1] - w[0] * v, before[2] + acc
        return [R[k] * x + R[k + 1] * y + R[k + 2] * z for k in (0, 3, 6)]

    ports = [Port("R", (9,)), Port("before", (3,)), Port("w", (3,)), Port("rates", (2,))]
    count = trace_function(ports, [Port("alpha", (3,))], alpha).count()
    assert (count.mul, count.add) == (11, 9)
    for table in ("3", "4"):
        (row,) = (r for r in GOLDEN["row"] if r["table"] == table and r["term"] == "alpha_i")
        assert (row["mul"], row["add"]) == ([9, 0], [9, 0])


@pytest.mark.parametrize(("table", "vectors"), [("3", 5), ("4", 4)])
def test_adding_up_n_costs_three_additions_a_vector(table, vectors):
    """n_i is the sum of 5 vectors in (3.20) and 4 in (5.2): 12 and 9 additions, where both tables print 15."""
    ports = [Port(f"v{k}", (3,)) for k in range(vectors)]

    def add_up(*terms):
        return [sum((term[k] for term in terms[1:]), terms[0][k]) for k in range(3)]

    count = trace_function(ports, [Port("n", (3,))], add_up).count()
    assert (count.mul, count.add) == (0, 3 * (vectors - 1))
    (row,) = (r for r in GOLDEN["row"] if r["table"] == table and r["term"] == "add n")
    assert count.add < row["add"][0] == 15
