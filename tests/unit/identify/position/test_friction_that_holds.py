"""Coulomb friction that holds: a clipped line of velocity and acceleration with a lead, a smoothed sign without."""

from __future__ import annotations

import numpy as np
import pytest

from dynarm.algebra.ldl import factorise
from dynarm.identify.position.holding import BLUNT, Holding

MASS, COULOMB, WIDTH, LEAD = 0.05, 0.3, 0.006, 0.0095
SPEEDS = np.array([-0.05, -0.012, -0.004, 0.0, 0.002, 0.007, 0.02, 0.3])


def friction(lead: float, push: float) -> np.ndarray:
    """What holds one joint at some speeds against a push [N m]."""
    held = Holding([COULOMB], [1 / WIDTH], lead)
    (a,) = held.accelerations(factorise([[MASS]]), [push / MASS], [SPEEDS])
    return np.asarray(push - MASS * a)


@pytest.mark.parametrize("push", [-0.5, 0.0, 0.1, 0.4])
def test_a_lead_holds_as_engines_do(push):
    force = friction(LEAD, push)
    a = (push - force) / MASS
    line = COULOMB / (BLUNT * WIDTH) * (SPEEDS + LEAD * a)
    assert np.abs(force - np.clip(line, -COULOMB, COULOMB)).max() < 2e-3 * COULOMB


@pytest.mark.parametrize("push", [-0.5, 0.0, 0.4])
def test_without_a_lead_it_is_a_smoothed_sign(push):
    assert np.allclose(friction(0.0, push), COULOMB * np.tanh(SPEEDS / WIDTH), atol=1e-12)
