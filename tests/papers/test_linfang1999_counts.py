"""Operation counts of linfang1999: the printed tables recounted row by row, and measured on traced graphs.

Table VI takes the first moments and inertia tensors of the composite bodies as on hand. The measured counterpart is
what the graph of the mass matrix has above the graph of those moments and tensors alone; forming R is counted in both.
"""

from __future__ import annotations

import numpy as np
import pytest

import dynarm
from oracles.paper_counts import OPERATIONS, bare, counted, general, golden, on_hand, sizes, value

GOLDEN = golden("linfang1999")
TABLE_VI = [p for p in GOLDEN["polynomial"] if p["table"] == "VI"]
PARTS = {p["type"]: p for p in GOLDEN["part"]}


def label(p: dict) -> str:
    return f"{p['table']}-{p['formulation']}-type{p['type']}"


def kinds(n: int, type: int) -> list[bool]:
    """The paper's K_i: whether joint i is translational."""
    return [type == 2 and i == 2 for i in range(n)]


# Rows of Tables I to V: multiplications and additions of each row, summed over the joints it stands for. i, j from 1.


def rows_1(K: list[bool]) -> np.ndarray:
    n, total = len(K), np.zeros(2, int)
    for i in range(3, n + 1):
        total += (0, 0) if K[i - 1] else (6, 2)
        total += (8, 6) if K[i - 1] else (12, 8)
        total += (i - 3) * np.array((8 + 12, 4 + 8))
    for i in range(2, n + 1):
        if K[0]:
            total += (6, 2) if i == 2 else (8, 4)
        else:
            total += (12, 8) if i == 2 else (14, 10)
    return total


def rows_outward(
    K: list[bool], carried: tuple[int, int], first: tuple[int, int], entry: dict
) -> np.ndarray:
    n, total = len(K), np.zeros(2, int)
    for j in range(1, n):
        total += (0, 0) if K[j - 1] else first
        total += max(0, n - j - 1) * (np.array((8, 4)) + (0 if K[j - 1] else np.array(carried)))
        for i in range(j + 1, n + 1):
            total += entry[K[j - 1], K[i - 1]]
    return total


def rows_2(K: list[bool]) -> np.ndarray:
    entry = {
        (False, False): (7, 6),
        (True, False): (2, 1),
        (False, True): (4, 3),
        (True, True): (1, 0),
    }
    return rows_outward(K, (8, 6), (0, 0), entry)


def rows_3(K: list[bool]) -> np.ndarray:
    entry = {
        (False, False): (5, 4),
        (True, False): (2, 1),
        (False, True): (3, 2),
        (True, True): (1, 0),
    }
    return rows_outward(K, (12, 8), (4, 2), entry)


def rows_4(K: list[bool]) -> np.ndarray:
    n, total = len(K), np.zeros(2, int)
    total += (n - 2) * np.array((24 + 8 + 6, 12 + 4 + 3)) + (2, 0)
    for i in range(2, n):
        total += (3 + 6, 0 + 3) if K[i - 1] else (6 + 9, 3 + 6)
    return total + n * (n - 1) // 2 * np.array((6 + 3, 6 + 2))


def rows_5(K: list[bool]) -> np.ndarray:
    n, total = len(K), np.zeros(2, int)
    for i in range(2, n + 1):
        total += (0 + 8, 0 + 5) if K[i - 1] else (4 + 14, 4 + 10)
        total += max(0, i - 3) * np.array((8 + 12, 4 + 8))
        total += (0, 0) if i == 2 else ((8, 4) if K[0] else (14, 10))
    return total


ROWS = {
    f"composite_{k}": f for k, f in enumerate((rows_1, rows_2, rows_3, rows_4, rows_5), start=1)
}


@pytest.mark.parametrize("p", TABLE_VI, ids=label)
def test_rows_of_the_tables_sum_to_the_golden_rows(p):
    """Where Table VI differs from its own rows, the rows count."""
    for n in sizes(p["type"], p["from_n"]):
        mul, add = ROWS[p["formulation"]](kinds(n, p["type"]))
        assert (mul, add) == (value(p["mul_rows"], n), value(p["add_rows"], n)), n


def test_table_6_differs_from_its_rows_where_the_golden_file_says_so():
    wrong = {
        (p["formulation"], p["type"]): tuple(
            p[f"{op}_printed"][-1] - p[f"{op}_rows"][-1] for op in OPERATIONS
        )
        for p in TABLE_VI
        if any(p[f"{op}_printed"] != p[f"{op}_rows"] for op in OPERATIONS)
    }
    assert wrong == {
        ("composite_1", 1): (2, 0),
        ("composite_1", 2): (2, 0),
        ("composite_2", 2): (3, 3),
        ("composite_4", 1): (-4, 0),
        ("composite_4", 2): (-4, 0),
    }


@pytest.mark.parametrize("p", TABLE_VI, ids=label)
def test_bounds_of_the_whole_are_tables_6_and_7_together(p):
    for n in sizes(p["type"], p["from_n"]):
        for op in OPERATIONS:
            part = value(PARTS[p["type"]][f"{op}_printed"], n)
            assert value(p[op], n) == value(p[f"{op}_rows"], n) + part


@pytest.mark.parametrize("row", GOLDEN["number"], ids=label)
def test_printed_columns_follow_their_polynomials(row):
    """But for two misprints, of which the golden file holds the right value too."""
    p = next(x for x in GOLDEN["polynomial"] if label(x) == label(row))
    for op in OPERATIONS:
        right = row.get(op, row[f"{op}_printed"])
        assert right == [value(p[f"{op}_printed"], n) for n in row["n"]]
    assert ("mul" in row) == (
        row["formulation"] in ("composite_5", "kawasaki_1") and row["type"] == 1
    )
    if "mul" in row:
        assert row["mul"] != row["mul_printed"]


def rows_of(name: str, type: int) -> dict:
    return next(p for p in TABLE_VI if (p["formulation"], p["type"]) == (name, type))


def test_claims_of_the_text_about_table_6():
    """What section 2 says in words, and what its tables give."""
    for n in range(4, 13):
        f2, f3 = (
            [
                [value(rows_of(f"composite_{k}", t)[f"{op}_rows"], n) for op in OPERATIONS]
                for t in (1, 2)
            ]
            for k in (2, 3)
        )
        assert f3[0][0] - f2[0][0] == n * (n - 1)  # as printed
        printed = [value(rows_of(f"composite_{k}", 2)["mul_printed"], n) for k in (2, 3)]
        assert printed[1] - printed[0] == n * n - 3 * n + 5  # printed: n (n - 3)
        # printed: 13n - 44, 11n - 36
        assert [a - b for a, b in zip(*f2, strict=True)] == [13 * n - 41, 11 * n - 33]


def measured(n: int, type: int, name: str):
    """Operations of the whole, repetitions removed, sums not yet factored."""
    return bare(n, "mass_matrix", name, type)


@pytest.mark.parametrize("p", TABLE_VI, ids=label)
def test_measured_counts_stay_at_or_below_table_6(p):
    for n in sizes(p["type"], p["from_n"]):
        whole, part = measured(n, p["type"], p["formulation"]), on_hand(n, p["type"])
        assert whole.mul - part.mul <= min(value(p["mul_rows"], n), value(p["mul_printed"], n)), n
        assert whole.add - part.add <= min(value(p["add_rows"], n), value(p["add_printed"], n)), n
        assert (whole.div, whole.sqrt) == (0, 0)


@pytest.mark.parametrize("p", TABLE_VI, ids=label)
def test_whole_mass_matrix_stays_at_or_below_tables_6_and_7(p):
    """Here without factored sums; `test_counts.py` compares what `dynarm.count` says."""
    for n in sizes(p["type"], p["from_n"]):
        whole = measured(n, p["type"], p["formulation"])
        assert whole.mul <= value(p["mul"], n) and whole.add <= value(p["add"], n), n


@pytest.mark.parametrize("type", [1, 2])
def test_composite_bodies_of_natural_parameters_stay_at_or_below_table_7(type):
    """Table VII counts minimal parameters; the constants k and U give natural ones the same economy."""
    for n in sizes(type):
        part = on_hand(n, type)
        assert part.mul <= value(PARTS[type]["mul_printed"], n), n
        assert part.add <= value(PARTS[type]["add_printed"], n), n


def test_ancestors_cost_more_than_formulation_1():
    """Section 1: moments about the local origins save what Walker and Orin's centres of mass cost."""
    for n in (4, 6, 8):
        first, spatial, ancestor = (
            measured(n, 1, name).total
            for name in ("composite_1", "spatial_composite", "walker_orin")
        )
        assert first < spatial < ancestor


def cheapest(cost: dict[int, int]) -> int:
    return min(cost, key=cost.__getitem__)


def test_crossovers_of_the_paper_follow_from_its_rows():
    """Multiplications and additions together: 2 for few joints (Type 1: to n = 3, a draw at 4), 1 up to 11, then 4."""
    best = {
        type: [
            cheapest(
                {
                    k: sum(
                        value(rows_of(f"composite_{k}", type)[f"{op}_rows"], n) for op in OPERATIONS
                    )
                    for k in range(1, 6)
                }
            )
            for n in range(2 + type, 14)
        ]
        for type in (1, 2)
    }
    assert best == {1: [2, 1, 1, 1, 1, 1, 1, 1, 1, 4, 4], 2: [2, 2, 2, 2, 2, 1, 1, 1, 4, 4]}


def test_crossovers_of_measured_counts():
    """The composite bodies give Formulation 1 its products with neighbours, so that 2 is never cheaper."""
    best = {
        type: [
            cheapest(
                {k: counted(n, "mass_matrix", f"composite_{k}", type).total for k in range(1, 6)}
            )
            for n in range(4, 13)
        ]
        for type in (1, 2)
    }
    assert best == {1: [1] * 9, 2: [1] * 7 + [4] * 2}


@pytest.mark.parametrize("type", [1, 2])
def test_a_frame_between_is_cheaper_than_either_end(type):
    """Forces carried inwards and axes carried outwards meet half-way: from five joints on the cheapest of all."""
    for n in range(5, 13):
        middle = counted(n, "mass_matrix", "composite_middle", type)
        others = [counted(n, "mass_matrix", f"composite_{k}", type).total for k in range(1, 6)]
        assert middle.total < min(others)


def test_puma_needs_fewer_operations_than_its_customised_model():
    """SymPyBotics at commit 5d4613a, PUMA 560 geometry, ten general parameters a link: 391 mul, 313 add."""
    puma = general("puma560")
    found = {k: dynarm.count(puma, "mass_matrix", f"composite_{k}") for k in range(1, 6)}
    assert all(c.mul < 391 and c.add < 313 for c in found.values())
    best = dynarm.count(puma, "mass_matrix")
    assert best.mul <= 130 and best.add <= 118
