"""dynarm.equivalence: every formulation at many digits, and turney1980's proof walked step by step."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import mpmath
import numpy as np
import pytest

import dynarm
from dynarm.algebra.precise import Precise, precision
from dynarm.algebra.vectors import Sym3
from dynarm.dynamics.papers import equivalence_turney1980 as paper
from dynarm.dynamics.papers.equivalence_setting_turney1980 import points
from dynarm.dynamics.papers.lagrange_turney1980 import inverse_dynamics as by_lagrange
from dynarm.dynamics.papers.newton_euler_turney1980 import inverse_dynamics as by_newton_euler
from dynarm.errors import InputError, KindError
from dynarm.reproductions.equivalence import power_of_ten
from dynarm.robot.frames.chain import chain_of, pose
from dynarm.robot.frames.precise_chain import precise_chain
from strategies import FAMILIES

ROBOTS = ("stanford", "puma560", "scara", "two_link")


@pytest.mark.parametrize("name", ROBOTS)
def test_built_in_robots_agree_at_50_digits(name):
    seen = dynarm.equivalence(dynarm.load(name))
    assert seen.largest_difference < 1e-45
    assert {x.quantity for x in seen.table} == {"mass_matrix", "coriolis_tensor", "gravity"}
    applicable = {f for f in dynarm.formulations("mass_matrix") if not f.startswith("strobed")}
    assert {x.formulation for x in seen.table if x.way == "directly"} >= applicable - {
        "walker_orin"
    }


@pytest.mark.parametrize("seed", range(50))
def test_random_arms_agree_at_50_digits(seed):
    rng = np.random.default_rng([20, seed])
    arm = list(FAMILIES.values())[seed % len(FAMILIES)](rng, 1 + seed % 6)
    seen = dynarm.equivalence(arm)
    assert seen.largest_difference < 1e-45
    assert bool(seen.proof) == all(j.revolute for j in arm.joints)


def test_more_digits_agree_to_more_digits():
    arm = dynarm.load("two_link")
    assert 0 < dynarm.equivalence(arm, digits=16).largest_difference < 1e-16
    assert dynarm.equivalence(arm, digits=300).largest_difference < 1e-295
    # beyond a double's least the difference is told in digits, not as zero
    seen = dynarm.equivalence(arm, digits=600)
    assert 595 < seen.agreed_digits < 620 and seen.largest_difference == 0
    worst = min((*seen.table, *seen.proof), key=lambda x: x.agreed)
    assert seen.told == worst.told and re.fullmatch(r"\d\.\de-6[01]\d", seen.told)
    assert seen.told in repr(seen) and seen.told in str(seen) + seen.explain()


def test_digits_that_agree_are_the_difference():
    seen = dynarm.equivalence(dynarm.load("scara"))
    for x in seen.table:
        assert x.told == f"{x.difference:.1e}"
        assert x.difference == 0 or x.agreed == pytest.approx(-np.log10(x.difference), abs=1e-6)
    assert seen.largest_difference == pytest.approx(10**-seen.agreed_digits)
    assert power_of_ten(2.0) == "1.0e-02" and power_of_ten(1.0000001) == "1.0e-01"


def test_every_equation_of_the_section_is_walked():
    """(4.1) to (4.34), each once; the numbers are those on the page."""
    said = ", ".join(number for number, *_ in paper.EQUATIONS)
    numbers = [int(k) for k in re.findall(r"4\.(\d+)", said.replace("below 4.25", ""))]
    assert set(numbers) | {28} == set(range(1, 35))
    seen = dynarm.equivalence(dynarm.load("puma560"))
    assert [x.equation for x in seen.proof] == [number for number, *_ in paper.EQUATIONS]
    text = seen.explain()
    assert all(f"({x.equation}) {x.says}" in text for x in seen.proof)
    assert "rotational joints only" in dynarm.equivalence(dynarm.load("stanford")).explain()


def test_sides_are_the_two_formulations():
    """(4.34) has Newton-Euler's torques on the left and Lagrange's on the right."""
    arm = dynarm.load("puma560")
    chain, (q, qd, qdd) = chain_of(arm), np.random.default_rng(3).normal(size=(3, 6))
    steps = pose(chain, list(q))
    last = paper.proof(chain, steps, list(qd), list(qdd))[-1]
    np.testing.assert_allclose(last.left, by_newton_euler(chain, steps, qd, qdd), rtol=1e-12)
    np.testing.assert_allclose(last.right, by_lagrange(chain, steps, qd, qdd), rtol=1e-12)


@pytest.mark.parametrize("k", range(len(paper.EQUATIONS)))
def test_sides_speak_of_the_arm_and_its_state(k):
    """Of every equation the sides of two arms in two states differ: neither is a constant, nor a copy of anything."""
    rng = np.random.default_rng(k)
    sides = []
    for arm in (dynarm.load("puma560"), FAMILIES["generic"](rng, 6)):
        q, qd, qdd = rng.normal(size=(3, 6)).tolist()
        chain = chain_of(arm)
        sides.append(paper.proof(chain, pose(chain, q), qd, qdd)[k])
    left, right = np.array(sides[0].left, float), np.array(sides[0].right, float)
    size = np.abs(left).max()
    assert np.abs(left - right).max() < 1e-12 * size
    assert np.abs(left - np.array(sides[1].right, float)).max() > 1e-3 * size


def test_points_have_the_second_moment():
    rng = np.random.default_rng(1)
    J = Sym3(*rng.normal(size=6))
    total = sum(dm * np.outer(list(d), list(d)) for dm, d in points(J))
    np.testing.assert_allclose(total, [list(row) for row in J.full().rows], atol=1e-15)


def test_constants_have_all_their_digits():
    """A twist of 0.3 rad is that double's cosine at 50 digits, and a quarter turn is exact."""
    of = precision(50)
    joints = [dynarm.Joint(mass=1.0, com=(0.1, 0, 0)) for _ in range(3)]
    joints[1] = replace(joints[1], alpha=0.3, theta=0.7, a=0.1)
    joints[2] = replace(joints[2], alpha=np.pi / 2)
    chain = precise_chain(dynarm.Arm(joints), of)
    with mpmath.workdps(60):
        assert abs(mpmath.mpf(chain.joints[1].ca.value) - mpmath.cos(mpmath.mpf(0.3))) < 1e-58
        assert abs(mpmath.mpf(chain.joints[1].a.value) - mpmath.mpf(0.1)) == 0
    assert (chain.joints[2].ca, chain.joints[2].sa) == (0, 1)
    assert isinstance(chain.joints[1].theta, Precise)


@pytest.mark.parametrize("digits", [15, 1001, 0, -3, 2.5, "50", True])
def test_digits_that_make_no_sense(digits):
    with pytest.raises((InputError, KindError), match="digits"):
        dynarm.equivalence(dynarm.load("two_link"), digits=digits)


def test_what_is_no_chain_is_refused():
    joints = [dynarm.Joint(mass=1.0), dynarm.Joint(mass=1.0, parent=-1)]
    with pytest.raises(InputError, match=r"no chain on a fixed base.*tip="):
        dynarm.equivalence(dynarm.Arm(joints))
    with pytest.raises(KindError, match=r"dynarm\.load"):
        dynarm.equivalence("puma560")
    with pytest.raises(InputError, match="q has shape"):
        dynarm.equivalence(dynarm.load("two_link"), q=[1.0])


def test_section_numbers_stand_in_the_text():
    """The paper's own text knows these equations; numbers stand at the ends of its lines."""
    text = (Path(__file__).parents[3] / "shared" / "papers" / "turney1980.txt").read_text()
    body = text[text.index("4. CONNECTION") : text.index("5. IMPROVEMENTS")]
    for k in range(1, 35):
        assert re.search(rf"4\.{k}\b", body), k
