"""Operation counts of the Newton-Euler form in inertia constants against Tables II and III of lin1995.

The tables count minimal parameters; the constants of natural ones need no more.
"""

from __future__ import annotations

import numpy as np
import pytest

import dynarm
from dynarm.robot.generic import generic_arm

GENERIC = [(n, 1) for n in range(2, 13)] + [(n, 2) for n in range(4, 13)]
CLOSED = {
    1: ((82, -106), (70, -99)),
    2: ((82, -107), (70, -104)),
}  # gravity along joint 1; tilted 6 and 6 more


@pytest.mark.parametrize("gravity", [(0.0, 0.0, -9.81), (3.0, 4.0, -5.0)])
@pytest.mark.parametrize("n, type", GENERIC)
def test_constants_stay_at_or_below_the_printed_total(n, type, gravity):
    """Table III: (89n - 82) multiplications and (77n - 71) additions, which Table II sums to for Type 1."""
    found = dynarm.count(
        generic_arm(n, type, gravity=gravity), "inverse_dynamics", "newton_euler_constants"
    )
    assert found.mul <= 89 * n - 82 and found.add <= 77 * n - 71
    assert (found.div, found.sqrt) == (0, 0)
    if n > 2:
        tilted = 6 if gravity[0] else 0
        (m1, m0), (a1, a0) = CLOSED[type]
        assert found.mul <= m1 * n + m0 + tilted and found.add <= a1 * n + a0 + tilted


def general(name: str) -> dynarm.Arm:
    """A built-in robot with ten general parameters a link."""
    arm = dynarm.load(name)
    rng = np.random.default_rng(1)
    ten = [
        [rng.uniform(1, 2), *rng.uniform(-0.3, 0.3, 3), *rng.uniform(0.1, 0.9, 6)]
        for _ in arm.joints
    ]
    return arm.with_parameters(ten)


def test_puma_and_stanford():
    """PUMA 560: SymPyBotics' customised model has 362 mul, 313 add. Stanford arm, Table III: 231 mul, 219 add."""
    puma = dynarm.count(general("puma560"), "inverse_dynamics", "newton_euler_constants")
    assert puma.mul <= 257 and puma.add <= 240
    stanford = dynarm.count(general("stanford"), "inverse_dynamics", "newton_euler_constants")
    assert stanford.mul <= 224 and stanford.add <= 211
