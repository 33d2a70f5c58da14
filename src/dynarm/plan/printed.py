"""What a paper's own listing of a formulation costs for an arm: as the paper books it, and as its equations need."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..algebra.vectors import Nested
from ..dynamics.listings import lin1991, lin1995, linfang1999, quoted, turney1980
from ..dynamics.listings.tally import Ledger, ListedLine
from ..graph.graph import Count
from ..robot.frames.chain import Chain
from ..robot.frames.standard import links, without_centre

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
    ("inverse_dynamics", "lagrange"): turney1980.lagrange,
    ("inverse_dynamics", "newton_euler"): turney1980.newton_euler,
    ("inverse_dynamics", "modified_newton_euler"): turney1980.modified_newton_euler,
    ("inverse_dynamics", "minimal_newton_euler"): lin1995.inverse_dynamics,
    ("mass_matrix", "base_composite"): lin1991.inertia_matrix,
    ("mass_matrix", "renaud"): lin1991.renaud,
    ("mass_matrix", "fijany_bejczy"): quoted.fijany_bejczy,
    ("mass_matrix", "walker_orin"): quoted.walker_orin,
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
    is the printed polynomial; 0 where it prints equations and their sum, but no rows.
    """

    lines: tuple[ListedLine, ...] = ()

    @property
    def booked(self) -> tuple[int, int]:
        return sum(x.booked[0] for x in self.lines), sum(x.booked[1] for x in self.lines)


def as_printed(chain: Chain, quantity: str, formulation: str) -> AsPrinted | None:
    """The paper's listing counted for a chain; None where none is transcribed or it is not of such chains."""
    listing = LISTINGS.get((quantity, formulation))
    if listing is None or unspoken(chain, quantity, formulation) is not None:
        return None
    tally = Ledger()
    listing(chain, [0.3 + 0.1 * i for i in range(chain.n)], tally)
    lines = tally.report()
    mul, add = (sum(x.needed[k] for x in lines) for k in (0, 1))
    return AsPrinted(mul, add, lines=lines)


def unspoken(chain: Chain, quantity: str, formulation: str) -> str | None:
    """Why a chain is not one that a paper's listing speaks of, or None."""
    if not chain.serial or chain.n < 2 or not chain.joints[0].revolute:
        return "the listings are of chains of two joints and more, the first rotational"
    if any(joint.sb != 0 for joint in chain.joints):
        return "the listings are in Denavit-Hartenberg frames without a fifth parameter"
    second = chain.joints[1]
    if formulation.startswith("minimal") and not (second.revolute and second.sa != 0):
        return "in minimal terms the second joint is to be rotational and not parallel to the first"
    if LISTINGS[quantity, formulation].__module__ == turney1980.__name__:
        return _unspoken_of_1980(chain, formulation == "modified_newton_euler")
    return None


def _unspoken_of_1980(chain: Chain, principal: bool) -> str | None:
    if not all(joint.revolute for joint in chain.joints):
        return "turney1980 speaks of rotational joints only"
    if without_centre(chain):
        return "turney1980 speaks of links with centres of mass"
    scale = max(abs(x) for link in links(chain) for x in link.I)
    if principal and any(
        abs(x) > 1e-9 * scale for link in links(chain) for x in (link.I.xy, link.I.xz, link.I.yz)
    ):
        return "Table 4 takes principal axes along the standard frames"
    return None
