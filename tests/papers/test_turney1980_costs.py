"""Operation counts of turney1980's formulations on generic arms: below Tables 1-5, and as the documentation says."""

from __future__ import annotations

import numpy as np
import pytest

import dynarm
from dynarm.errors import InputError
from dynarm.plan.choice import Counted
from dynarm.reproductions.schedule import COSTS, schedule, table_5
from dynarm.robot.frames.generic import generic_arm
from oracles.paper_counts import counted, counted_principal, golden, sizes, tensor_counted, value

GOLDEN = golden("turney1980")


def cost(n: int, quantity: str, name: str, inertia: str = "general") -> Counted:
    """Of the generic arm of Type 1. 'standard': principal axes parallel to the standard frames, as in the paper."""
    return counted_principal(n, name) if inertia == "standard" else counted(n, quantity, name)


@pytest.mark.parametrize(
    "entry",
    GOLDEN["polynomial"],
    ids=lambda p: f"{p['formulation']}-{'principal' if p['principal'] else 'general'}",
)
@pytest.mark.parametrize("n", sizes())
def test_at_or_below_the_printed_polynomials(entry, n):
    found = cost(
        n, entry["quantity"], entry["formulation"], "standard" if entry["principal"] else "general"
    )
    for kind in ("mul", "add"):
        assert value(entry[kind], n) <= value(entry[f"{kind}_printed"], n)
        assert getattr(found, kind) <= getattr(found.as_written, kind) <= value(entry[kind], n)


# what the documentation prints: as written, with the first n from which it holds
WRITTEN = [
    ("inverse_dynamics", "newton_euler", "general", [103, -99], [85, -87], 2),
    ("inverse_dynamics", "newton_euler", "standard", [91, -93], [73, -80], 2),
    ("inverse_dynamics", "modified_newton_euler", "general", [94, -88], [82, -79], 2),
    ("inverse_dynamics", "modified_newton_euler", "standard", [85, -85], [70, -75], 2),
    ("inverse_dynamics", "lagrange", "general", [6, "93/2", "-1/2", -45], [4, 32, -10, -20], 4),
    ("mass_matrix", "lagrange", "general", [2, 50, -18, -60], [2, "67/2", "-33/2", -35], 4),
    ("bias", "newton_euler", "general", [103, -117], [84, -100], 3),
    ("bias", "modified_newton_euler", "general", [94, -110], [81, -94], 3),
]


@pytest.mark.parametrize(
    ("quantity", "name", "inertia", "mul", "add", "first"),
    WRITTEN,
    ids=lambda x: x if isinstance(x, str) else "",
)
def test_written_cost(quantity, name, inertia, mul, add, first):
    for n in range(first, 9):
        found = cost(n, quantity, name, inertia).as_written
        assert (found.mul, found.add) == (value(mul, n), value(add, n))


def test_crossovers():
    """Modified Newton-Euler is the cheapest for every n, Lagrange the dearest; strobing beats Lagrange's M always."""
    for n in sizes():
        for inertia in ("general", "standard"):
            modified, plain = (
                cost(n, "inverse_dynamics", name, inertia)
                for name in ("modified_newton_euler", "newton_euler")
            )
            assert modified.mul < plain.mul
            assert modified.total < plain.total < cost(n, "inverse_dynamics", "lagrange").total
    for n in range(2, 9):
        assert cost(n, "mass_matrix", "strobed").total < cost(n, "mass_matrix", "lagrange").total
    for name, wins in (("strobed", [2]), ("strobed_modified", [2, 8])):
        cheaper = [
            n
            for n in range(2, 9)
            if tensor_counted(n, name).total < tensor_counted(n, "lagrange").total
        ]
        assert cheaper == wins, "the paper claims less effort for every n"


def test_strobing_grows_as_the_paper_says():
    """Sections 6 and 7: M costs (k + d) n(n+1)/2 and terms linear in n; C is of order n^3.

    With unit motions some constants are 0 or 1 but for rounding; where rounding spares them, they fold away. That is
    worth at most two operations of each kind a link.
    """
    for n in range(3, 9):
        found = cost(n, "mass_matrix", "strobed").as_written
        assert abs(found.mul - value([33, -62, 30], n)) <= 2 * n
        assert abs(found.add - value([25, -44, 21], n)) <= 2 * n
    for kind in ("mul", "add"):
        growth = getattr(tensor_counted(8, "strobed"), kind) / getattr(
            tensor_counted(4, "strobed"), kind
        )
        assert np.log2(growth) == pytest.approx(3, abs=0.2)


# ---- Table 5


@pytest.mark.parametrize("n", sizes())
def test_schedule_is_that_of_table_5(n):
    (total,) = GOLDEN["total"]
    plan = schedule(n)
    assert plan.charged == (value(total["mul"], n), value(total["add"], n))
    assert plan.mul <= value(total["mul"], n)
    assert plan.add <= value(total["add"], n)
    assert len(plan.outward) == len(plan.inward) == n
    rows = [row for row in GOLDEN["row"] if row["table"] == "5"]
    assert [(s.mul, s.add) for s in plan.start] == [(r["mul"][0], r["add"][0]) for r in rows[:5]]
    for stages, row in zip((plan.outward, plan.inward), rows[5:], strict=True):
        assert (max(s.mul for s in stages), max(s.add for s in stages)) == (
            row["mul"][0],
            row["add"][0],
        )


@pytest.mark.parametrize("n", [1, 2, 3, 6, 12])
def test_schedule_computes_everything_once_and_nothing_too_early(n):
    done: set = set()
    for stage in schedule(n).stages:
        for term in stage.terms:
            assert term.key not in done
            assert set(term.needs) <= done, f"{term.key} runs before what it needs"
            done.add(term.key)
    links = range(1, n + 1)
    assert {("w", i) for i in links} | {("alpha", i) for i in links} | {
        ("A", i) for i in links
    } <= done
    assert {("m abar", i) for i in links} | {("own moment", i) for i in links} <= done
    assert {(name, i) for name in ("f", "r x R f", "R n", "n", "a") for i in range(1, n)} <= done


def test_schedule_uses_the_costs_of_table_4():
    printed = {
        row["term"]: (row["mul"][0], row["add"][0]) for row in GOLDEN["row"] if row["table"] == "4"
    }
    names = {
        "w": "w_i",
        "alpha": "alpha_i",
        "A": "A_i",
        "a": "a_i",
        "m abar": "m_i abar_i",
        "Tr A K sigma": "Tr{A_i K_i sigma'}",
        "(r + rbar) x m abar": "m (r_i + rbar_i) x abar_i",
        "f": "f_i",
        "r x R f": "r_i x R f_{i+1}",
        "R n": "R n_{i+1}",
    }
    for ours, theirs in names.items():
        assert COSTS[ours] == printed[theirs]
    assert COSTS["own moment"][1] + COSTS["n"][1] == 9  # four vectors


def test_critical_path():
    """Operation by operation the graph is 11n - 1 deep: a fifth of the steps that whole terms need."""
    for n in range(3, 13):
        found = cost(n, "inverse_dynamics", "modified_newton_euler")
        depth = found.as_written.depth
        assert found.depth <= depth == 11 * n - 1
        plan = schedule(n)
        assert 4 * depth < plan.mul + plan.add


@pytest.mark.parametrize("n", [0, -1, 2.0, True, "3"])
def test_schedule_refuses_what_is_no_number_of_joints(n):
    with pytest.raises(InputError, match="whole number of joints"):
        schedule(n)


@pytest.mark.parametrize("n", [2, 3, 6])
def test_table_5_is_rows_of_a_schedule(n):
    plan = dynarm.schedule(generic_arm(n), "inverse_dynamics", "modified_newton_euler")
    *rows, total = table_5(plan)
    golden_rows = [row for row in GOLDEN["row"] if row["table"] == "5"]
    wanted = [(value(r["mul"], n), value(r["add"], n)) for r in golden_rows]
    assert [row.printed for row in rows] == wanted
    (sums,) = GOLDEN["total"]
    assert total.printed == (value(sums["mul"], n), value(sums["add"], n))
    assert total.needed[0] <= total.printed[0] and total.needed[1] <= total.printed[1]
    with pytest.raises(InputError, match="modified_newton_euler"):
        table_5(dynarm.schedule(generic_arm(n), "inverse_dynamics", "newton_euler"))
    slides = dynarm.schedule(generic_arm(4, 2), "inverse_dynamics", "modified_newton_euler")
    with pytest.raises(InputError, match="rotational ones"):
        table_5(slides)
