"""Names of unknowns in words, values with their uncertainties, and values beside those of the robot's file."""

from __future__ import annotations

import numpy as np
import pytest

import dynarm
from dynarm.cli.rehearsal import simulated_log
from dynarm.report.html import table
from dynarm.report.meaning import determined, glossary, kind_of, meaning
from dynarm.report.unknowns import against_cad, told, value_cells
from oracles.page_numbers import read


@pytest.mark.parametrize("convention", ["lin1995", "linfang1999", "gautier1990"])
@pytest.mark.parametrize("robot", ["panda", "stanford", "scara", "puma560"])
def test_every_minimal_parameter_has_a_meaning(robot, convention):
    arm = dynarm.load(robot)
    minimal = dynarm.minimal_parameters(arm, convention=convention, armature=True)
    for name in minimal.names:
        kind, number = kind_of(name)
        assert str(number) in name and 1 <= number <= arm.n and kind
        said = meaning(name, arm.joint_names)
        assert f"({arm.joint_names[number - 1]})" in said
        assert ("motor" in said) == ("Ia" in name)


def test_kinds_are_told_apart():
    assert kind_of("U2_11-22") == ("difference of inertias across the joint", 2)
    assert kind_of("U1_33+Ia1") == ("inertia about the own joint", 1)
    assert kind_of("Izz12R")[1] == 12 and kind_of("k3_x") == ("mass moments", 3)
    assert kind_of("coulomb4") == ("dry friction", 4)
    assert kind_of("my column") is None and meaning("my column") == ""
    assert [name for name, _ in glossary(["k1_x", "k2_y", "U1_33", "own"])] == ["k1_x", "U1_33"]


def test_what_is_determined_is_told_by_kind_and_joint():
    names = ("U1_33", "U2_33", "U3_33", "U5_33", "k2_x", "k2_y", "coulomb1", "own")
    grades = ("determined",) * 4 + ("not", "hardly", "determined", "not")
    assert determined(names, grades) == [
        "Well determined (5 of 8): inertia about the own joint (joints 1 to 3, 5), dry friction (joint 1).",
        "Hardly determined (1 of 8): mass moments (joint 2).",
        "Not determined, say nothing about (2 of 8): mass moments (joint 2), own.",
    ]


@pytest.mark.parametrize(
    ("value", "std", "shown"),
    [
        (4.9759, 0.023, ("4.98", "0.02")), (4.9759, 0.00023, ("4.9759", "0.0002")),
        (-0.0025413, 0.0028322, ("−0.00254", "0.00283")), (123.456, 1.5, ("123", "2")),
        (0.0, 0.5, ("0.000", "0.500")), (-1e-9, 0.2, ("0.000", "0.200")), (2.0, 0.0, ("2.00", "0.00")),
        (1.5, float("inf"), ("1.50", "∞")), (1.5, float("nan"), ("1.50", "–")),
    ],
)  # fmt: skip
def test_values_have_three_digits_and_uncertainties_the_same_places(value, std, shown):
    cells = value_cells(value, std)
    assert tuple(cell.shown for cell in cells) == shown
    assert cells[0].value == value and cells[0].kind == "number"
    assert "1.2e+08" in told(1.2e8, 3).shown
    table(("a", "b"), [list(cells)])  # every cell can be written


def test_identified_values_stand_beside_those_of_the_file():
    arm = dynarm.load("two_link")
    t = np.arange(2001) / 200
    q = np.column_stack([np.sin(1.3 * t), 0.8 * np.sin(2.9 * t)])
    qd = np.column_stack([1.3 * np.cos(1.3 * t), 0.8 * 2.9 * np.cos(2.9 * t)])
    qdd = np.column_stack([-(1.3**2) * q[:, 0], -(2.9**2) * q[:, 1]])
    log = simulated_log(arm, t, q, qd, qdd)
    more = arm.parameters.copy()
    more[1] *= 1.3
    heavy = arm.with_parameters(more)
    fit = dynarm.Identifier(heavy).fit(log)
    (made,) = against_cad(fit)
    part = read(f"<section><h2>x</h2>{''.join(map(str, made.parts))}</section>")["x"]
    frame = fit.compare(heavy)
    (rows,) = part.tables
    apart = [float(row[-1][1]) for row in rows.rows]
    np.testing.assert_allclose(apart, frame["in_std"], rtol=1e-8)
    far = int((np.abs(frame["in_std"]) > 3).sum())
    assert far >= 2 and f"{far} of {len(frame)} values differ" in part.text
    (bars,) = part.figures[0]["data"]
    np.testing.assert_allclose(bars["y"], frame["in_std"], rtol=5e-5)
    assert bars["marker"]["color"].count("--c2") == far
    empty = arm.with_parameters(np.zeros_like(more))
    assert against_cad(dynarm.Identifier(empty).fit(log)) == []
