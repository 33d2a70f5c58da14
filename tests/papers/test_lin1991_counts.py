"""Operation counts of lin1991: the printed tables recounted, measured ones below them, and what the paper claims."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import dynarm
from dynarm.dynamics.table import formulations
from dynarm.plan.choice import cheapest
from dynarm.robot.frames.generic import generic_arm
from oracles.paper_counts import OPERATIONS, bare, counted, golden, pair, sizes, value

GOLDEN = golden("lin1991")
METHODS = ("renaud", "partial_velocity", "fijany_bejczy", "base_composite")
MOVED = "base_composite_moved"


def printed(table: str, name: str, op: str, n: int) -> Fraction:
    rows = (p for p in GOLDEN["polynomial"] if (p["table"], p["formulation"]) == (table, name))
    return value(next(rows)[f"{op}_printed"], n)


def increment(n: int, name: str) -> np.ndarray:
    """Multiplications and additions that the bias vector adds to the inertia matrix in one graph, simplified."""
    return pair(counted(n, "mass_matrix_and_bias", name)) - pair(counted(n, "mass_matrix", name))


# ---- the printed tables


@pytest.mark.parametrize(
    "row", GOLDEN["number"], ids=lambda row: f"{row['table']}-{row['formulation']}"
)
def test_printed_columns_follow_their_polynomials(row):
    for op in OPERATIONS:
        assert row[f"{op}_printed"] == [
            printed(row["table"], row["formulation"], op, n) for n in row["n"]
        ]


@pytest.mark.parametrize(("figure", "name"), [("3", "base_composite"), ("A1", "renaud")])
def test_rows_of_the_figures_sum_to_table_1(figure, name):
    rows = [row for row in GOLDEN["row"] if row["figure"] == figure]
    for n in range(3, 13):
        for op in OPERATIONS:
            assert sum(row[op] * value(row["times"], n) for row in rows) == printed(
                "I", name, op, n
            )


def test_table_2_is_the_difference_of_two_programs():
    for n in sizes():
        for op in OPERATIONS:
            alone, added, both = (printed(t, "base_composite", op, n) for t in ("I", "II", "text"))
            assert alone + added == both


def test_claims_about_the_inertia_matrix_follow_from_table_1():
    for n in sizes():
        total = {name: sum(printed("I", name, op, n) for op in OPERATIONS) for name in METHODS}
        best = min(total, key=total.__getitem__)
        assert best == ("partial_velocity" if n <= 4 else "base_composite")
        assert (total["renaud"] < total["fijany_bejczy"]) == (n <= 9)  # the appendix says: always


def test_claims_about_the_bias_vector_follow_from_table_2():
    names = ("base_composite", "khalil_kleinfinger", "balafoutis")
    for n in sizes():
        present, *others = (sum(printed("II", name, op, n) for op in OPERATIONS) for name in names)
        assert (present < min(others)) == (n <= 6)


# ---- measured


@pytest.mark.parametrize("name", METHODS)
def test_inertia_matrix_stays_at_or_below_table_1(name):
    for n in sizes():
        found = bare(n, "mass_matrix", name)
        assert found.mul <= printed("I", name, "mul", n) and found.add <= printed(
            "I", name, "add", n
        ), n
        assert (found.div, found.sqrt) == (0, 0)


@pytest.mark.parametrize("name", ["base_composite", MOVED])
def test_bias_vector_stays_at_or_below_table_2(name):
    for n in sizes():
        added = pair(bare(n, "mass_matrix_and_bias", name)) - pair(bare(n, "mass_matrix", name))
        assert all(added <= [printed("II", "base_composite", op, n) for op in OPERATIONS]), n


def test_counts_beat_an_independent_experiment_that_has_R_on_hand():
    """The equations as printed with R J R' at 16M 15A, the entries of R free; here nothing is free."""
    reached = {
        ("mass_matrix", MOVED): (["21/2", "27/2", -40], [6, 34, -61]),
        ("mass_matrix_and_bias", "base_composite"): ([23, 17, -57], [15, 34, -71]),
        ("mass_matrix", "renaud"): (["27/2", "-9/2", -22], [9, 21, -60]),
    }
    for (quantity, name), polynomials in reached.items():
        for n in sizes():
            assert all(pair(bare(n, quantity, name)) <= [value(p, n) for p in polynomials]), (
                name,
                n,
            )


@pytest.mark.parametrize("type", [1, 2])
def test_moving_the_force_saves_in_every_quantity(type):
    for n in (2, 3, 4, 7):
        for quantity in ("mass_matrix", "bias", "mass_matrix_and_bias", "coriolis_tensor"):
            paper, moved = (bare(n, quantity, name, type) for name in ("base_composite", MOVED))
            assert all(pair(moved) < pair(paper)), (n, quantity)


def test_leading_translational_joints_have_no_composite_tensors():
    """Of joint 1 only its axis, as the other frames see it, and the total mass are wanted: O(n) operations."""
    arm = generic_arm(5)
    longer = dynarm.Arm(
        [dynarm.Joint("prismatic", mass=2.0, name="rail"), *arm.joints], arm.gravity
    )
    for name in ("base_composite", MOVED):
        slid, alone = (pair(dynarm.count(x, "mass_matrix", name)) for x in (longer, arm))
        turning = pair(counted(6, "mass_matrix", name)) - pair(counted(5, "mass_matrix", name))
        assert all(2 * (slid - alone) < turning), (slid, alone, turning)


def test_crossovers_of_the_inertia_matrix():
    for n in range(2, 9):
        total = {name: counted(n, "mass_matrix", name).total for name in METHODS}
        fewest = {name for name in METHODS if total[name] == min(total.values())}
        assert fewest <= {"renaud", "fijany_bejczy"}
        assert n < 5 or total["fijany_bejczy"] < total["renaud"]


def test_crossovers_of_the_bias_vector():
    for n in range(2, 9):
        added = sum(increment(n, "base_composite"))
        for name in ("newton_euler_constants", "minimal_newton_euler"):
            assert (added < counted(n, "bias", name).total) == (n <= 5)


@pytest.mark.parametrize(
    ("quantity", "n"), [("mass_matrix_and_bias", 3), ("mass_matrix_and_bias", 4)]
)
def test_moved_composite_bodies_are_chosen_for_small_arms(quantity, n):
    assert cheapest(generic_arm(n), quantity).name == MOVED


def test_bias_coefficients_are_the_cheapest_coriolis_tensor():
    totals = {
        name: bare(4, "coriolis_tensor", name).total for name in formulations("coriolis_tensor")
    }
    assert min(totals, key=totals.__getitem__) == MOVED
