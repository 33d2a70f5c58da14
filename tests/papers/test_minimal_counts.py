"""Operation counts in minimal parameters: printed tables summed again, and counts of traced graphs held below them."""

from __future__ import annotations

import numpy as np
import pytest

import dynarm
from dynarm.algebra.vectors import Turn, Vec3
from dynarm.dynamics.papers.minimal_chain_lin1995 import minimal_chain
from dynarm.dynamics.papers.minimal_composite_linfang1999 import composites
from dynarm.graph.graph import Port
from dynarm.graph.trace import trace_function
from dynarm.robot.frames.chain import chain_of, pose
from dynarm.robot.frames.generic import generic_arm
from oracles.industrial_arms import GROUPS, TILTED, group_arm, industrial_arm, table_2
from oracles.paper_counts import DOWN, OPERATIONS, counted, general, golden, pair, sizes, value

GOLDEN, LINFANG = golden("lin1995"), golden("linfang1999")
PRESENT = GOLDEN["polynomial"][0]
NUMBERS = {x["name"]: x for x in GOLDEN["number"]}
NAME = "minimal_newton_euler"


def inverse_dynamics(arm) -> np.ndarray:
    return pair(dynarm.count(arm, "inverse_dynamics", NAME))


# ---- Table II and Table III


@pytest.mark.parametrize("n", sizes())
def test_the_columns_of_table_2_sum_to_table_3(n):
    column = table_2()
    total = column["first"] + (n - 2) * column["i >= s R"] + column["last"]
    assert total.tolist() == [value(PRESENT[op], n) for op in OPERATIONS]


def test_zeta_of_the_first_joint_needs_its_fourth_operation():
    """Table II prints 2M3A for i = r = 1: then the columns do not sum to Table III."""
    column, missing = table_2(), np.array(GOLDEN["table2"]["corrections"]["zeta_first"])
    total = column["first"] - missing + 4 * column["i >= s R"] + column["last"]
    assert all(total != [value(PRESENT[op], 6) for op in OPERATIONS])


def test_joint_s_belongs_to_the_last_columns():
    """The header of Table II prints s < i <= n. Without a column for joint s the sum falls short of Table III."""
    column = table_2()
    total = column["first"] + 3 * column["i >= s R"] + column["last"]
    assert all(total < [value(PRESENT[op], 6) for op in OPERATIONS])


def test_joints_before_r_need_the_force_of_those_beyond():
    """Table II has no mu for i < r: 10M6A a joint, less than any such joint costs; (66) makes 18M11A of it."""
    more, less = (inverse_dynamics(group_arm(word)) for word in GROUPS["i < r"])
    assert all(more - less > table_2(corrected=False)["i < r"])


def test_the_acceleration_of_a_translational_joint_takes_11_multiplications():
    """a = R (a + Omega b) + h* by (70), (71): 8M4A by two plane rotations, 3M3A and 3A. Table II prints 14M10A."""

    def acceleration(angles, a, column, rest):
        b, *h = rest
        about_x, about_z = Turn("x", *angles[:2]), Turn("z", *angles[2:])
        return list(about_z.rise(about_x.rise(Vec3(*a) + Vec3(*column) * b)) + Vec3(*h))

    ports = [Port("angles", (4,)), Port("a", (3,)), Port("column", (3,)), Port("rest", (4,))]
    found = trace_function(ports, [Port("a", (3,))], acceleration).count()
    row = GOLDEN["table2"]["rows"]["a"][GOLDEN["table2"]["columns"].index("i >= s T")]
    assert (found.mul, found.add) == (11, row[1]) and found.mul < row[0]


def test_the_cost_of_renauds_constants_with_a_translational_joint():
    """Page 363 prints 11M9A and 55M41A for (A7), (A8) of lin1991; the rows of its Fig. A1 sum to one and two more."""
    rows = golden("lin1991")["sliding_row"]
    for name, printed in (("c^_i", "renaud c^"), ("J^_i", "renaud J^")):
        found = [sum(row[op] for row in rows if row["term"] == name) for op in OPERATIONS]
        assert found[0] == NUMBERS[printed]["mul"] and found[1] > NUMBERS[printed]["add"]
        assert found == [NUMBERS[printed][f"{op}_rows"] for op in OPERATIONS]


@pytest.mark.parametrize("group", GROUPS)
def test_a_joint_of_each_group_costs_at_most_what_table_2_says(group):
    more, less = (inverse_dynamics(group_arm(word)) for word in GROUPS[group])
    assert (more - less <= table_2()[group]).all(), more - less


@pytest.mark.parametrize("gravity", [DOWN, TILTED])
@pytest.mark.parametrize("n", sizes())
def test_inverse_dynamics_of_type_1(n, gravity):
    """At or below Lin: 89n - 82, 77n - 71; an independent experiment: 85n - 106, 73n - 95 (gravity along joint 1)."""
    found = pair(counted(n, "inverse_dynamics", NAME, gravity=gravity))
    assert (found <= [value(PRESENT[op], n) for op in OPERATIONS]).all()
    tilt = 0 if gravity == DOWN else 6
    assert (found <= [85 * n - 106 + tilt, 73 * n - 95 + tilt]).all()


@pytest.mark.parametrize("n", sizes(2))
def test_inverse_dynamics_of_type_2(n):
    """At or below the independent experiment's 85n - 110, 73n - 102."""
    assert (pair(counted(n, "inverse_dynamics", NAME, 2)) <= [85 * n - 110, 73 * n - 102]).all()


@pytest.mark.parametrize("n", range(3, 9))
def test_the_industrial_saving(n):
    """Twists of 90 degrees: 20M 12A a joint less (printed 20M 10A), and the total stays below the printed one."""
    (saving,) = GOLDEN["saving"]
    less = [
        pair(counted(k, "inverse_dynamics", NAME)) - inverse_dynamics(industrial_arm(k))
        for k in (n, n + 1)
    ]
    assert (less[1] - less[0]).tolist() == [saving["mul"][0], saving["add"][0] + 2]
    printed = [value(PRESENT[op], n) - value(saving[op], n) for op in OPERATIONS]
    assert (inverse_dynamics(industrial_arm(n)) <= printed).all()


def test_stanford_arm():
    """General: any inertias on the arm's geometry. Simplified: the data of Paul. Below the paper and the experiment."""
    found = {
        "stanford general": inverse_dynamics(general("stanford")),
        "stanford simplified": inverse_dynamics(dynarm.load("stanford")),
    }
    reached = {"stanford general": (226, 211), "stanford simplified": (136, 102)}
    for name, cost in found.items():
        assert (cost <= [NUMBERS[name][op] for op in OPERATIONS]).all(), (name, cost)
        assert (cost <= reached[name]).all(), (name, cost)
    assert sum(found["stanford simplified"]) < 240


def test_puma_needs_fewer_operations_than_its_customised_model():
    """SymPyBotics at commit 5d4613a, PUMA 560 geometry, ten general parameters a link: 362 mul, 313 add."""
    puma = general("puma560")
    for found in (inverse_dynamics(puma), pair(dynarm.count(puma, "inverse_dynamics"))):
        assert (found < [362, 313]).all()
    assert (found <= [240, 228]).all()


# ---- Tables VII and VIII of linfang1999


@pytest.mark.parametrize("type", [1, 2])
@pytest.mark.parametrize("n", sizes(2))
def test_table_7(n, type):
    """First moments and the inertia that the mass matrix needs of the composite bodies, from minimal parameters."""
    arm = generic_arm(n, type)
    chain = chain_of(arm)
    body = minimal_chain(chain)

    def wanted(q):
        steps = body.placed(pose(chain, q))
        return [
            x
            for joint, c in zip(body.joints, composites(body, steps), strict=True)
            for x in ((c.c.x, c.c.y, *c.J) if joint.revolute else c.c)
        ]

    size = sum(5 if j.revolute else 3 for j in body.joints)
    found = trace_function([Port("q", (n,))], [Port("c", (size,))], wanted).count()
    part = next(p for p in LINFANG["part"] if p["table"] == "VII" and p["type"] == type)
    assert found.mul <= value(part["mul_printed"], n), found
    assert found.add <= value(part["add_printed"], n), found


def test_table_8_goes_below_the_experiment():
    """Formulation 1, independent experiment: 10n^2 - 25 / 6n^2 + 14n - 45, 335 / 255 for n = 6 (printed 407 / 301)."""
    for n in sizes(first=3):
        found = pair(counted(n, "mass_matrix", "minimal_composite_1"))
        assert (found <= [10 * n * n - 25, 6 * n * n + 14 * n - 45]).all()
