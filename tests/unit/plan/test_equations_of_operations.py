"""Operations by the equations that they come from, and the papers' rows beside ours."""

from __future__ import annotations

import json

import pytest

import dynarm
from dynarm.cli.app import run
from dynarm.dynamics import table
from dynarm.errors import InputError
from dynarm.plan.equations import by_equation
from dynarm.plan.listed_rows import GROUPS, listed_rows
from dynarm.plan.printed import LISTINGS, as_printed
from dynarm.reproductions.published import counted_on
from dynarm.robot.frames.chain import chain_of
from dynarm.robot.frames.generic import generic_arm

LISTED = [key for key in LISTINGS if key in GROUPS]
CASES = [
    (*key, type) for key in LISTED for type in (1, 2) if type == 1 or key[0] != "inverse_dynamics"
]


def paper_arm(quantity, name, n, type):
    paper = table.formulation(quantity, name).paper
    return counted_on(paper, n, type, name == "modified_newton_euler")


def test_every_listing_but_lagrange_s_is_split():
    assert set(LISTINGS) - set(GROUPS) == {("inverse_dynamics", "lagrange")}


@pytest.mark.parametrize(("quantity", "name", "type"), CASES)
def test_rows_add_up_and_none_stands_alone(quantity, name, type):
    """Sums are the three counts; every line of the paper has operations of ours beside it, and the other way round."""
    for n in (4, 6):
        arm = paper_arm(quantity, name, n, type)
        rows = listed_rows(arm, quantity, name)
        listed = as_printed(chain_of(arm), quantity, name)
        counted = dynarm.count(arm, quantity, name)
        sums = [
            tuple(sum(getattr(x, key)[k] for x in rows) for k in (0, 1))
            for key in ("booked", "needed", "ours")
        ]
        assert sums == [listed.booked, (listed.mul, listed.add), (counted.mul, counted.add)]
        alone = {x.row for x in rows if not (x.lines and x.equations)}
        assert alone <= {"R, s", "c^, J^ (on hand)"}


def test_an_operation_belongs_to_the_equation_that_asks_for_it():
    """Newton-Euler's eqs by hand for six joints: F = m abar is 3 products a link, omega's sum one a joint."""
    shares = {
        x.equation: x for x in by_equation(generic_arm(6), "inverse_dynamics", "newton_euler")
    }
    assert (shares["(3.9)"].mul, shares["(3.9)"].add) == (18, 0)
    assert (shares["(3.15)"].mul, shares["(3.15)"].add) == (0, 5)
    assert shares["(3.18)"].add >= 9 * 5


def test_our_own_formulations_are_split_too():
    arm = generic_arm(5)
    for quantity, name in (("mass_matrix", "composite_middle"), ("bias", "gathered_newton_euler")):
        shares = by_equation(arm, quantity, name)
        counted = dynarm.count(arm, quantity, name)
        assert sum(x.mul for x in shares) == counted.mul
        assert sum(x.add for x in shares) == counted.add


def test_the_command_line_shows_them(capsys):
    words = ["count", "--n", "6", "--rows", "-q", "mass_matrix", "--formulation", "renaud"]
    assert run(words) == 0
    said = capsys.readouterr().out
    assert "(A7), (A8)" in said and "beside what is needed here" in said
    assert run([*words, "--json"]) == 0
    [one] = json.loads(capsys.readouterr().out)
    assert one["ours"][-1][1:7] == [553, 416, 528, 413, 402, 322]


def test_what_is_not_listed_is_refused():
    with pytest.raises(InputError, match="line by line"):
        listed_rows(generic_arm(4), "mass_matrix", "composite_middle")
    slides = dynarm.Arm([dynarm.Joint("prismatic", mass=1), dynarm.Joint(mass=1, com=(1, 0, 0))])
    with pytest.raises(InputError, match="does not speak of"):
        listed_rows(slides, "mass_matrix", "renaud")
