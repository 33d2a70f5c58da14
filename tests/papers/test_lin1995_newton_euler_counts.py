"""Operation counts of the Newton-Euler form in inertia constants against Tables II and III of lin1995.

The tables count minimal parameters; the constants of natural ones need no more.
"""

from __future__ import annotations

import pytest

import dynarm
from oracles.paper_counts import DOWN, counted, general, pair, sizes

GENERIC = [(n, type) for type in (1, 2) for n in sizes(type)]
NAME = "newton_euler_constants"


@pytest.mark.parametrize("gravity", [DOWN, (3.0, 2.0, -9.0)])
@pytest.mark.parametrize(("n", "type"), GENERIC)
def test_constants_stay_at_or_below_the_printed_total(n, type, gravity):
    """Table III: (89n - 82) multiplications and (77n - 71) additions, which Table II sums to for Type 1."""
    found = counted(n, "inverse_dynamics", NAME, type, gravity=gravity)
    assert found.mul <= 89 * n - 82 and found.add <= 77 * n - 71
    assert (found.div, found.sqrt) == (0, 0)


def test_puma_and_stanford():
    """PUMA 560: SymPyBotics' customised model has 362 mul, 313 add. Stanford arm, Table III: 231 mul, 219 add."""
    puma, stanford = (
        pair(dynarm.count(general(name), "inverse_dynamics", NAME))
        for name in ("puma560", "stanford")
    )
    assert (puma < [362, 313]).all() and (stanford <= [231, 219]).all()
