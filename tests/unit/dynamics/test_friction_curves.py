"""What a friction record looks like: curves, loops and maps against formulas written once more."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dynarm import Coupled, Friction
from dynarm.dynamics.friction_curves import (
    load_map,
    presliding_loop,
    ripple_curve,
    velocity_curve,
)

RECORD = Friction(
    viscous=0.4,
    coulomb=0.7,
    coulomb_negative=0.5,
    offset=0.1,
    curve=((0.3, -0.2),),
    presliding=((1e-3, 0.6), (2e-2, 0.25)),
    load_curve=((0.05, 0.04),),
    load_presliding=((2e-2, 0.03), (5e-3, -0.01)),
    ripple=((7.0, 0.2, -0.1), (14.0, 0.05, 0.0)),
    coupling=(Coupled(1, viscous=3.0),),
)
V = np.linspace(-2, 2, 41)


def test_curve_and_map():
    slipped = 0.85 * np.sign(V) + np.where(V > 0, 0.7, -0.5) * (V != 0)
    wanted = 0.4 * V + 0.1 - 0.2 * np.tanh(V / 0.3) + slipped
    np.testing.assert_allclose(velocity_curve(RECORD, V), wanted, atol=1e-14)
    loads = np.array([0.0, 5.0, -20.0])
    grown = np.abs(loads)[:, None] * (0.04 * np.tanh(V / 0.05) + 0.02 * np.sign(V))
    np.testing.assert_allclose(load_map(RECORD, V, loads), wanted + grown, atol=1e-13)
    assert load_map(RECORD, V, np.empty(0)).shape == (0, 41)
    assert not velocity_curve(Friction(), V).any()


def test_ripple():
    q = np.linspace(0, 3, 50)
    wanted = 0.2 * np.sin(7 * q) - 0.1 * np.cos(7 * q) + 0.05 * np.sin(14 * q)
    np.testing.assert_allclose(ripple_curve(RECORD, q), wanted, atol=1e-14)
    assert not ripple_curve(replace(RECORD, ripple=()), q).any()


@pytest.mark.parametrize("load", [0.0, -10.0])
@pytest.mark.parametrize("reach", [5e-4, 1e-2, 0.1])
def test_a_loop_closes_and_takes_four_times_limit_and_slip(reach, load):
    q, force = presliding_loop(RECORD, reach, 20000, load)
    assert force[0] == pytest.approx(force[-1], abs=1e-9) and q[0] == q[-1] == reach
    turned = np.interp(-q[:10001], q[10000:], force[10000:])  # there and back are alike
    np.testing.assert_allclose(force[:10001], -turned, atol=1e-3 * np.abs(force).max())
    parts = [*RECORD.presliding, *((d, c * abs(load)) for d, c in RECORD.load_presliding)]
    wanted = sum(4 * c * max(reach - d, 0) for d, c in parts)
    area = np.sum((force[1:] + force[:-1]) / 2 * np.diff(q))
    assert area == pytest.approx(wanted, rel=1e-5, abs=1e-9)
