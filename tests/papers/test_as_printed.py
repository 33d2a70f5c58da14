"""`count(...).as_printed`: the papers' listings, booked as printed and counted line by line."""

from __future__ import annotations

import numpy as np
import pytest

import dynarm
from dynarm.dynamics.listings import lin1991
from dynarm.dynamics.listings.tally import Ledger, number
from dynarm.plan.printed import LISTINGS, as_printed
from dynarm.robot.frames.chain import chain_of
from dynarm.robot.frames.generic import generic_arm
from oracles.paper_counts import golden, value

GRAVITY = (1.0, 2.0, -9.81)
ADDED_UP = [
    row
    for paper in ("lin1991", "linfang1999")
    for row in golden(paper)["polynomial"]
    if (row["quantity"], row["formulation"]) in LISTINGS
    and row["quantity"] == "mass_matrix"
    and not row.get("quoted")
]


def listed(n, quantity, formulation, type=1):
    return as_printed(chain_of(generic_arm(n, type, GRAVITY)), quantity, formulation)


@pytest.mark.parametrize("row", ADDED_UP, ids=lambda r: f"{r['formulation']}-{r['type']}")
def test_the_bookings_add_up_to_the_printed_polynomials(row):
    """Or to the sum of the printed rows, where the golden numbers say that the printed sum is off."""
    corrected = "" if row["table"] == "VIII" else "_rows"
    for n in range(4, 9):
        sums = [row.get(op + corrected, row[f"{op}_printed"]) for op in ("mul", "add")]
        wanted = tuple(value(x, n) for x in sums)
        assert listed(n, "mass_matrix", row["formulation"], row["type"]).booked == wanted


def test_bookings_of_the_bias_vector_miss_the_printed_sum_by_a_constant():
    """The rows of d, eta and zeta_2 are lost in the scan: inferred ones are 2M 3A short for every n."""
    for n in range(3, 9):
        booked = listed(n, "mass_matrix_and_bias", "base_composite").booked
        assert booked == (23 * n * n + 44 * n - 82 - 2, 15 * n * n + 40 * n - 70 - 3)


@pytest.mark.parametrize(("quantity", "name"), LISTINGS)
@pytest.mark.parametrize("type", [1, 2])
def test_equations_need_no_more_than_the_paper_books(quantity, name, type):
    for n in range(4, 8):
        found = listed(n, quantity, name, type)
        assert (found.mul, found.add) <= found.booked and found.add <= found.booked[1]
        assert all(line.times > 0 for line in found.lines)


@pytest.mark.parametrize(("quantity", "name"), LISTINGS)
@pytest.mark.parametrize("type", [1, 2])
def test_listings_compute_what_they_count(quantity, name, type):
    rng = np.random.default_rng(3)
    for n in (4, 6):
        arm = generic_arm(n, type, GRAVITY)
        q, model = rng.normal(size=n), dynarm.compile(arm)
        result = LISTINGS[quantity, name](chain_of(arm), q, Ledger())
        M, b = result if quantity == "mass_matrix_and_bias" else (result, None)
        assert np.allclose([[number(x) for x in row] for row in M], model.mass_matrix(q), 1e-12)
        if b is not None:
            bias = lin1991.inertia_matrix_and_bias(chain_of(arm), q, q, Ledger())[1]
            assert np.allclose([number(x) for x in bias], model.bias(q, q), 1e-12, 1e-12)


def test_count_carries_it_and_says_none_where_there_is_no_listing():
    arm = generic_arm(6)
    renaud = dynarm.count(arm, "mass_matrix", "renaud").as_printed
    assert (renaud.mul, renaud.booked) == (528, (553, 416))
    assert dynarm.count(arm, "mass_matrix", "walker_orin").as_printed is None
    slides = dynarm.Arm([dynarm.Joint("prismatic", mass=1), dynarm.Joint(mass=1, com=(1, 0, 0))])
    assert dynarm.count(slides, "mass_matrix", "renaud").as_printed is None
