"""A new formulation is a function and one row of the table: it is found by name, counted, compiled and compared.

The toy is a mass matrix by columns of the inverse dynamics of a paper, at unit accelerations and no gravity.
"""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import dynarm
from dynarm.algebra.vectors import ZERO
from dynarm.cli.app import run
from dynarm.dynamics import table
from dynarm.dynamics.papers import newton_euler_lin1995
from dynarm.dynamics.table import Formulation
from dynarm.errors import DynarmError

RNG = np.random.default_rng(5)


def by_columns(chain, pose):
    n, still = len(pose), replace(chain, gravity=ZERO)
    columns = []
    for k in range(n):
        unit = [1 if j == k else 0 for j in range(n)]
        columns.append(newton_euler_lin1995.inverse_dynamics(still, pose, [0] * n, unit))
    return [[columns[max(i, j)][min(i, j)] for j in range(n)] for i in range(n)]


TOY = Formulation(
    "mass_matrix",
    "toy_columns",
    "lin1995",
    by_columns,
    automatic=False,
    refuses=lambda chain: "it is for short arms" if len(chain.joints) > 6 else None,
)


@pytest.fixture(autouse=True)
def rows():
    before = list(table.TABLE)
    with table.extended(TOY):
        yield
    assert before == table.TABLE


def test_it_is_named_counted_and_compiled():
    arm = dynarm.load("puma560")
    assert dynarm.formulations("mass_matrix").count("toy_columns") == 1
    counted = dynarm.count(arm, "mass_matrix", "toy_columns")
    assert counted.total >= dynarm.count(arm, "mass_matrix").total
    model = dynarm.compile(arm, formulation={"mass_matrix": "toy_columns"})
    assert model.formulation["mass_matrix"] == "toy_columns"
    q = RNG.uniform(-3, 3, (9, 6))
    want = dynarm.compile(arm).mass_matrix(q)
    np.testing.assert_allclose(model.mass_matrix(q), want, rtol=1e-12, atol=1e-12 * want.max())
    np.testing.assert_allclose(model.graph("mass_matrix").evaluate(q)[0], want, atol=1e-12)
    qd, tau = RNG.normal(size=(2, 9, 6))
    np.testing.assert_allclose(
        model.forward_dynamics(q, qd, tau),
        dynarm.compile(arm).forward_dynamics(q, qd, tau),
        rtol=1e-9,
    )


def test_parts_of_other_quantities_may_be_it():
    arm = dynarm.load("scara")
    pair = "toy_columns+newton_euler_driving_axis"
    model = dynarm.compile(arm, formulation={"mass_matrix_and_bias": pair})
    q, qd = RNG.normal(size=(2, arm.n))
    M, b = model.mass_matrix_and_bias(q, qd)
    np.testing.assert_allclose(M, dynarm.compile(arm).mass_matrix(q), atol=1e-12)
    np.testing.assert_allclose(b, dynarm.compile(arm).bias(q, qd), atol=1e-12)


def test_the_command_line_counts_and_takes_it(capsys):
    assert run(["count", "scara", "--quantity", "mass_matrix", "--json"]) == 0
    (rows,) = (
        quantities["mass_matrix"] for quantities in json.loads(capsys.readouterr().out).values()
    )
    (row,) = [row for row in rows if row["formulation"] == "toy_columns"]
    assert row["paper"] == "lin1995" and row["mul"] > 0
    assert run(["compile", "scara", "-q", "mass_matrix", "-f", "mass_matrix=toy_columns"]) == 0
    assert "toy_columns" in capsys.readouterr().out


def test_it_refuses_robots_in_its_own_words():
    arm = dynarm.load("generic_7r")
    with pytest.raises(DynarmError, match="it is for short arms; these do: "):
        dynarm.compile(arm, formulation={"mass_matrix": "toy_columns"})


def test_rows_on_trial_never_win_and_are_gone_with_their_context():
    free = replace(TOY, name="free", function=lambda chain, pose: [[1] * len(pose)] * len(pose))
    arm = dynarm.load("two_link")
    with table.extended(free):
        assert dynarm.compile(arm).formulation["mass_matrix"] != "free"
        with pytest.raises(ValueError, match="already"), table.extended(free):
            pass
    with pytest.raises(DynarmError, match="free"):
        dynarm.count(arm, "mass_matrix", "free")
    for trait in ("automatic", "trees"):
        with (
            pytest.raises(ValueError, match="on trial"),
            table.extended(replace(free, **{trait: True})),
        ):
            pass
