"""What a paper's own listing of a formulation costs for an arm: as the paper books it, and as its equations need."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..algebra.vectors import Nested
from ..dynamics.listings import lin1991, linfang1999
from ..dynamics.listings.tally import Ledger, ListedLine
from ..graph.graph import Count
from ..robot.frames.chain import Chain

Listing = Callable[[Chain, list[float], Ledger], Nested]
TABLES = (
    linfang1999.formulation_1,
    linfang1999.formulation_2,
    linfang1999.formulation_3,
    linfang1999.formulation_4,
    linfang1999.formulation_5,
)


def _with_bias(arm: Chain, q: list[float], tally: Ledger) -> Nested:
    return lin1991.inertia_matrix_and_bias(arm, q, q, tally)


LISTINGS: dict[tuple[str, str], Listing] = {
    ("mass_matrix", "base_composite"): lin1991.inertia_matrix,
    ("mass_matrix", "renaud"): lin1991.renaud,
    ("mass_matrix_and_bias", "base_composite"): _with_bias,
    **{
        ("mass_matrix", f"composite_{k}"): linfang1999.on_hand(table)
        for k, table in enumerate(TABLES, start=1)
    },
    **{
        ("mass_matrix", f"minimal_composite_{k}"): linfang1999.with_bodies(table)
        for k, table in enumerate(TABLES[:2], start=1)
    },
}


@dataclass(frozen=True, slots=True)
class AsPrinted(Count):
    """Operations that the equations of a paper's listing need, line by line, by its own rotations, frames and gravity.

    booked: multiplications and additions that the paper itself books for these lines; where its rows add up, their sum
    is the printed polynomial.
    """

    lines: tuple[ListedLine, ...] = ()

    @property
    def booked(self) -> tuple[int, int]:
        return sum(x.booked[0] for x in self.lines), sum(x.booked[1] for x in self.lines)


def as_printed(chain: Chain, quantity: str, formulation: str) -> AsPrinted | None:
    """The paper's listing counted for a chain; None where none is transcribed or it is not of such chains."""
    listing = LISTINGS.get((quantity, formulation))
    if listing is None or not _spoken_of(chain, formulation.startswith("minimal")):
        return None
    tally = Ledger()
    listing(chain, [0.3 + 0.1 * i for i in range(chain.n)], tally)
    lines = tally.report()
    mul, add = (sum(x.needed[k] for x in lines) for k in (0, 1))
    return AsPrinted(mul, add, lines=lines)


def _spoken_of(chain: Chain, minimal: bool) -> bool:
    """Whether a chain is one of the listings': two joints or more, the first rotational; in minimal terms, the second
    one rotational too and not parallel to it."""
    if not chain.serial or chain.n < 2 or not chain.joints[0].revolute:
        return False
    if any(joint.sb != 0 for joint in chain.joints):
        return False
    second = chain.joints[1]
    return not minimal or (second.revolute and second.sa != 0)
