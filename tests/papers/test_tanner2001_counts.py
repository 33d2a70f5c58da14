"""Operation counts beside the polynomials of section 5.2, and Newton-Euler and Lagrange on the same machine."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from dynarm.errors import InputError
from dynarm.mobile import counts

GOLDEN = tomllib.loads((Path(__file__).parents[1] / "golden" / "tanner2001.toml").read_text())[
    "counts"
]
SIZES = [(m, w) for w in (3, 4) for m in range(1, 7)]


@cache
def row(m: int, w: int) -> counts.Row:
    return counts.row(m, w)


def polynomial(coefficients, m, w):
    a, b, c, d = coefficients
    return a * m * m + b * m + c + d * w


@pytest.mark.parametrize("m, w", SIZES)
def test_traced_counts_below_the_polynomials(m, w):
    found = row(m, w)
    mul, add = (polynomial(GOLDEN[key], m, w) for key in ("multiplications", "additions"))
    assert found.paper == (mul, add)
    for count in (
        found.equations_7,
        found.equations_8,
        found.reduced_8,
        found.everything,
        found.kane,
    ):
        assert count.mul <= mul
        assert count.add <= add


@pytest.mark.parametrize("m, w", [(1, 4), (2, 3), (6, 4)])
def test_section_5_3_fails_when_measured(m, w):
    """Kane's equations cost more than Newton-Euler and less than Lagrange for the same generalised forces."""
    found = row(m, w)
    assert found.kane.mul > found.newton_euler.mul
    assert found.kane.mul < found.lagrange.mul


@pytest.mark.parametrize("w", [3, 4])
@pytest.mark.parametrize("name", ["newton_euler", "lagrange", "newton_euler_driving_axis"])
def test_arm_formulations_on_a_planar_base_agree(name, w):
    """The generalised forces of Kane, Newton-Euler and Lagrange are the same numbers."""
    robot = counts.generic_machine(2, w)
    f = robot.formulas
    rng = np.random.default_rng(w)
    q, z, zd = (rng.uniform(-0.7, 0.7, n) for n in (f.coordinates, f.n, f.n))
    M, F, _ = robot.equations(q, z)
    expected = M @ zd + F
    given = q.tolist(), z.tolist(), zd.tolist()
    for found in (counts.kane_inverse(f, *given), counts.chain_inverse(robot, name, *given)):
        assert np.abs(np.array(found, float) - expected).max() < 1e-12 * np.abs(expected).max()


def test_generic_machines_have_three_or_four_wheels():
    with pytest.raises(InputError, match="3 or 4 wheels"):
        counts.generic_machine(2, 5)


def test_planar_chain_needs_a_plain_mount():
    from dynarm import mobile

    with pytest.raises(InputError, match="mounted at"):
        counts.planar_chain(mobile.load("diffdrive_puma560"))
