"""The table of formulations: quantity x name -> function, paper, what it needs. Adding a paper is one line here.

What a function of each quantity takes and gives (all over abstract scalars):

    inverse_dynamics(arm, pose, qd, qdd, wrench)   -> n forces
    bias(arm, pose, qd)                            -> n forces, gravity included
    mass_matrix(arm, pose)                         -> n rows of n; mirrored entries are the same object
    mass_matrix_and_bias(arm, pose, qd)            -> (rows, forces)
    coriolis_tensor(arm, pose)                     -> C[i][j][k], symmetric in j, k

`arm` is a `robot.chain.Chain`, or, where parameters == "minimal", what the minimal parameters make of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from .errors import UnknownName
from .papers import newton_euler_lin1995

QUANTITIES = ("inverse_dynamics", "bias", "mass_matrix", "mass_matrix_and_bias", "coriolis_tensor")


@dataclass(frozen=True, slots=True)
class Formulation:
    """One row: a method of a paper for one quantity."""

    quantity: str
    name: str
    paper: str
    function: Callable[..., Any]
    parameters: str = "natural"  # or "minimal"
    automatic: bool = True  # False: never tried unasked, because it is O(n^3) or worse
    refuses: Callable[[Any], str | None] = lambda chain: None  # why it does not apply to a chain


def bias_of(inverse_dynamics: Callable[..., Any]) -> Callable[..., Any]:
    """The bias vector of an inverse dynamics: its forces at zero acceleration."""

    def bias(arm: Any, pose: Any, qd: Sequence[Any]) -> Any:
        return inverse_dynamics(arm, pose, qd, [0] * len(qd))

    return bias


TABLE: tuple[Formulation, ...] = (
    Formulation(
        "inverse_dynamics",
        "newton_euler_driving_axis",
        "lin1995",
        newton_euler_lin1995.inverse_dynamics,
    ),
    Formulation(
        "bias",
        "newton_euler_driving_axis",
        "lin1995",
        bias_of(newton_euler_lin1995.inverse_dynamics),
    ),
)


def formulations(quantity: str) -> tuple[str, ...]:
    """The names of the formulations of a quantity."""
    check_quantity(quantity)
    return tuple(row.name for row in TABLE if row.quantity == quantity)


def check_quantity(quantity: str) -> None:
    """Refuse a quantity that has no formulations, with the nearest names."""
    if quantity not in QUANTITIES:
        raise UnknownName("quantity", quantity, QUANTITIES)


def formulation(quantity: str, name: str) -> Formulation:
    """The row of the table for a quantity and a name."""
    check_quantity(quantity)
    for row in TABLE:
        if row.quantity == quantity and row.name == name:
            return row
    raise UnknownName(f"formulation of {quantity}", name, formulations(quantity))
