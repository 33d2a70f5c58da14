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

from .errors import InputError, UnknownName
from .papers import newton_euler_lin1995
from .robot.chain import Chain

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


PAIRS = ("mass_matrix", "bias")


def formulations(quantity: str) -> tuple[str, ...]:
    """The names of the formulations of a quantity."""
    check_quantity(quantity)
    names = [row.name for row in TABLE if row.quantity == quantity]
    if quantity == "mass_matrix_and_bias":
        names += [f"{a}+{b}" for a in formulations(PAIRS[0]) for b in formulations(PAIRS[1])]
    return tuple(names)


def check_quantity(quantity: str) -> None:
    """Refuse a quantity that has no formulations, with the nearest names."""
    if quantity not in QUANTITIES:
        raise UnknownName("quantity", quantity, QUANTITIES)


def formulation(quantity: str, name: str, chain: Chain | None = None) -> Formulation:
    """The row of the table for a quantity and a name; with a chain, refused where it does not apply to it."""
    row = _row(quantity, name)
    reason = row.refuses(chain) if chain is not None else None
    if chain is not None and reason:
        others = ", ".join(r.name for r in applicable(quantity, chain, automatic=False))
        raise InputError(f"{name} does not apply to this robot: {reason}; these do: {others}")
    return row


def _row(quantity: str, name: str) -> Formulation:
    check_quantity(quantity)
    for row in TABLE:
        if row.quantity == quantity and row.name == name:
            return row
    parts = name.split("+") if isinstance(name, str) else []
    if quantity == "mass_matrix_and_bias" and len(parts) == 2:
        return _pair(_row(PAIRS[0], parts[0]), _row(PAIRS[1], parts[1]))
    raise UnknownName(f"formulation of {quantity}", name, formulations(quantity))


def _pair(first: Formulation, second: Formulation) -> Formulation:
    """A mass matrix and a bias vector side by side; what they share is found in the graph."""

    def both(arm: Any, pose: Any, qd: Sequence[Any]) -> Any:
        return first.function(arm, pose), second.function(arm, pose, qd)

    return Formulation(
        "mass_matrix_and_bias",
        f"{first.name}+{second.name}",
        f"{first.paper}, {second.paper}",
        both,
        automatic=first.automatic and second.automatic,
        refuses=lambda chain: first.refuses(chain) or second.refuses(chain),
    )


def applicable(quantity: str, chain: Chain, automatic: bool = True) -> list[Formulation]:
    """The rows of a quantity that apply to a chain; with `automatic` only those worth trying unasked."""
    check_quantity(quantity)
    return [
        row
        for row in TABLE
        if row.quantity == quantity and not row.refuses(chain) and (row.automatic or not automatic)
    ]
