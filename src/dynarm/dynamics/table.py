"""The table of formulations: quantity x name -> function, paper, what it needs. Adding a paper is one line here.

What a function of each quantity takes and gives (all over abstract scalars):

    inverse_dynamics(arm, pose, qd, qdd, wrench)   -> n forces
    bias(arm, pose, qd)                            -> n forces, gravity included
    mass_matrix(arm, pose)                         -> n rows of n; mirrored entries are the same object
    mass_matrix_and_bias(arm, pose, qd)            -> (rows, forces)
    gravity(arm, pose)                             -> n forces that hold the arm at rest
    coriolis_tensor(arm, pose)                     -> C[i][j][k], symmetric in j, k
    forward_dynamics(arm, pose, qd, tau, wrench, armature) -> n accelerations
    coriolis_matrix(arm, pose, qd)                 -> rows of Christoffel's matrix
    inverse_dynamics_derivatives(arm, pose, qd, qdd) -> rows of d/dq, of d/dqd, and of the mass matrix

`arm` is a `robot.frames.chain.Chain`, or, where parameters == "minimal", what the minimal parameters make of it. The
papers' methods speak of chains on a fixed base. Rows with trees=True take any tree, with n the number of speeds, and
their `wrench` is a mapping from joints to wrenches on their links; that of the others acts on the last link.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import product

from ..algebra.vectors import Nested, Scalar
from ..border.arguments import among
from ..border.kinds import Json, Maker, Outside
from ..errors import InputError, UnknownName
from ..robot.frames.chain import Chain
from ..robot.frames.standard import without_centre
from .own import (
    articulated_body,
    composite_derivatives,
    gathered_composite,
    gathered_newton_euler,
    middle_composite,
    moved_composite,
)
from .papers import (
    composite_body_lin1991,
    composite_body_linfang1999,
    constants_newton_euler_lin1995,
    fijany_bejczy_lin1991,
    lagrange_turney1980,
    minimal_composite_linfang1999,
    minimal_newton_euler_lin1995,
    modified_newton_euler_turney1980,
    newton_euler_lin1995,
    newton_euler_turney1980,
    partial_velocity_lin1991,
    renaud_lin1991,
    spatial_composite_linfang1999,
    walker_orin_linfang1999,
)
from .papers.strobing_turney1980 import strobed_coriolis_tensor, strobed_mass_matrix

QUANTITIES = (
    "inverse_dynamics",
    "bias",
    "mass_matrix",
    "mass_matrix_and_bias",
    "gravity",
    "coriolis_tensor",
    "forward_dynamics",
    "coriolis_matrix",
    "inverse_dynamics_derivatives",
)
PAIRS = {  # quantities that a pair of others gives: side by side, or by L D L' of the first with the second
    "mass_matrix_and_bias": ("mass_matrix", "bias"),
    "forward_dynamics": ("mass_matrix", "inverse_dynamics"),
}
DIFFERENTIATED = {  # quantities that automatic differentiation of others gives, if one of those is asked for by name
    "coriolis_matrix": ("bias",),
    "inverse_dynamics_derivatives": ("inverse_dynamics", "mass_matrix"),
}
RESTING = {"gravity": ("inverse_dynamics",)}  # quantities that others give at rest
PARTS = {**PAIRS, **DIFFERENTIATED, **RESTING}
# quantities that one other gives: by L D L' of the matrix with the bias vector that comes with it, lin1991's simulator
WHOLE = {"forward_dynamics": "mass_matrix_and_bias"}


def anything(chain: Chain) -> str | None:
    """Refuses nothing."""
    return None


@dataclass(frozen=True, slots=True)
class Formulation:
    """One row: a method of a paper for one quantity."""

    quantity: str
    name: str
    paper: str
    function: Maker | None
    parameters: str = "natural"  # or "minimal"
    automatic: bool = True  # False: never tried unasked, because it is O(n^3) or worse
    refuses: Callable[[Chain], str | None] = anything  # why it does not apply to a chain
    parts: tuple[Formulation, ...] = ()  # of PARTS, which have no function of their own
    trees: bool = False  # whether it takes trees and free bases

    def declines(self, chain: Chain) -> str | None:
        """Why it does not apply to a robot, or None."""
        if not chain.serial and not self.trees:
            kind = "moves freely" if chain.root is not None else "branches"
            return f"it speaks of chains on a fixed base, and this robot {kind}"
        return self.refuses(chain)


def bias_of(inverse_dynamics: Maker) -> Maker:
    """The bias vector of an inverse dynamics: its forces at zero acceleration."""

    def bias(arm: Chain, pose: Nested, qd: Sequence[Scalar]) -> Nested:
        return inverse_dynamics(arm, pose, qd, [0] * len(qd))

    return bias


def _recursion(
    name: str,
    paper: str,
    function: Maker,
    parameters: str = "natural",
    **more: Outside,
) -> tuple[Formulation, Formulation]:
    """An inverse dynamics, which gives the bias vector too."""
    return (
        Formulation("inverse_dynamics", name, paper, function, parameters, **more),
        Formulation("bias", name, paper, bias_of(function), parameters, **more),
    )


_slow: Json = {"automatic": False, "refuses": without_centre}  # O(n^3), and about centres of mass

# fmt: off
TABLE: list[Formulation] = [
    *_recursion("lagrange", "turney1980", lagrange_turney1980.inverse_dynamics, **_slow),
    *_recursion("newton_euler", "turney1980", newton_euler_turney1980.inverse_dynamics, refuses=without_centre),
    *_recursion("modified_newton_euler", "turney1980", modified_newton_euler_turney1980.inverse_dynamics,
                refuses=without_centre),
    *_recursion("newton_euler_driving_axis", "lin1995", newton_euler_lin1995.inverse_dynamics),
    *_recursion("newton_euler_constants", "lin1995", constants_newton_euler_lin1995.inverse_dynamics),
    *_recursion("minimal_newton_euler", "lin1995", minimal_newton_euler_lin1995.inverse_dynamics, "minimal"),
    *_recursion("gathered_newton_euler", "dynarm", gathered_newton_euler.inverse_dynamics, trees=True),
    Formulation("bias", "base_composite", "lin1991", composite_body_lin1991.bias),
    Formulation("bias", "base_composite_moved", "dynarm", moved_composite.bias),

    Formulation("mass_matrix", "lagrange", "turney1980", lagrange_turney1980.mass_matrix, **_slow),
    Formulation("mass_matrix", "strobed", "turney1980",
                strobed_mass_matrix(newton_euler_turney1980.inverse_dynamics), **_slow),
    Formulation("mass_matrix", "strobed_modified", "turney1980",
                strobed_mass_matrix(modified_newton_euler_turney1980.inverse_dynamics), **_slow),
    Formulation("mass_matrix", "base_composite", "lin1991", composite_body_lin1991.mass_matrix),
    Formulation("mass_matrix", "base_composite_moved", "dynarm", moved_composite.mass_matrix),
    Formulation("mass_matrix", "renaud", "lin1991", renaud_lin1991.mass_matrix),
    Formulation("mass_matrix", "fijany_bejczy", "lin1991", fijany_bejczy_lin1991.mass_matrix),
    Formulation("mass_matrix", "partial_velocity", "lin1991", partial_velocity_lin1991.mass_matrix, automatic=False),
    Formulation("mass_matrix", "walker_orin", "linfang1999", walker_orin_linfang1999.mass_matrix,
                refuses=walker_orin_linfang1999.refuses),
    Formulation("mass_matrix", "spatial_composite", "linfang1999", spatial_composite_linfang1999.mass_matrix),
    *(Formulation("mass_matrix", f"composite_{k}", "linfang1999", composite_body_linfang1999.natural(f))
      for k, f in enumerate(composite_body_linfang1999.FORMULATIONS, start=1)),
    Formulation("mass_matrix", "composite_middle", "dynarm", middle_composite.mass_matrix),
    Formulation("mass_matrix", "minimal_composite_1", "linfang1999", minimal_composite_linfang1999.mass_matrix_1,
                "minimal"),
    Formulation("mass_matrix", "minimal_composite_2", "linfang1999", minimal_composite_linfang1999.mass_matrix_2,
                "minimal"),
    Formulation("mass_matrix", "gathered_composite", "dynarm", gathered_composite.mass_matrix, trees=True),

    Formulation("mass_matrix_and_bias", "base_composite", "lin1991", composite_body_lin1991.mass_matrix_and_bias),
    Formulation("mass_matrix_and_bias", "base_composite_moved", "dynarm",
                moved_composite.mass_matrix_and_bias),

    Formulation("gravity", "lagrange", "turney1980", lagrange_turney1980.gravity, **_slow),

    Formulation("coriolis_tensor", "lagrange", "turney1980", lagrange_turney1980.coriolis_tensor, **_slow),
    Formulation("coriolis_tensor", "strobed", "turney1980",
                strobed_coriolis_tensor(newton_euler_turney1980.inverse_dynamics), **_slow),
    Formulation("coriolis_tensor", "strobed_modified", "turney1980",
                strobed_coriolis_tensor(modified_newton_euler_turney1980.inverse_dynamics), **_slow),
    Formulation("coriolis_tensor", "base_composite", "lin1991", composite_body_lin1991.coriolis_tensor),
    Formulation("coriolis_tensor", "base_composite_moved", "dynarm", moved_composite.coriolis_tensor),

    Formulation("coriolis_tensor", "composite", "dynarm", composite_derivatives.coriolis_tensor, automatic=False,
                trees=True),

    Formulation("forward_dynamics", "articulated_body", "featherstone1983", articulated_body.forward_dynamics,
                trees=True),
    Formulation("coriolis_matrix", "composite", "dynarm", composite_derivatives.coriolis_matrix, trees=True),
    Formulation("inverse_dynamics_derivatives", "composite", "dynarm", composite_derivatives.derivatives, trees=True),
]
# fmt: on


@contextmanager
def extended(*rows: Formulation) -> Iterator[None]:
    """Inside, these rows stand in the table as well: how a formulation is tried before it gets its line.

    They are asked for by name only. The cheapest of a robot are remembered, and their code is kept on disk, by robots
    and not by tables: a row that could win would be heard of after it is gone. One whose formula changes while it is
    being tried wants another name.
    """
    for row in rows:
        if any(row.quantity == old.quantity and row.name == old.name for old in TABLE):
            raise ValueError(f"{row.quantity} by {row.name!r} stands in the table already")
        if row.automatic or row.trees:
            raise ValueError(f"{row.name!r} is on trial; give automatic=False, trees=False")
    before = len(TABLE)
    TABLE.extend(rows)
    try:
        yield
    finally:
        del TABLE[before:]


def formulations(quantity: str) -> tuple[str, ...]:
    """The names of the formulations of a quantity.

    Parameters
    ----------
    quantity : str
        "inverse_dynamics", "mass_matrix", "bias", "mass_matrix_and_bias",
        "coriolis_tensor", "forward_dynamics" ...

    Returns
    -------
    tuple[str, ...]
        The names that `dynarm.compile(arm, formulation={quantity: name})` takes.

    Examples
    --------
    >>> dynarm.formulations("coriolis_tensor")
    ('lagrange', 'strobed', 'strobed_modified', 'base_composite', 'base_composite_moved', 'composite')
    """
    check_quantity(quantity)
    names = [row.name for row in TABLE if row.quantity == quantity]
    if quantity in PARTS:
        names += map("+".join, product(*map(formulations, PARTS[quantity])))
    if quantity in WHOLE:
        names += formulations(WHOLE[quantity])
    return tuple(dict.fromkeys(names))


def check_quantity(quantity: str) -> None:
    """Refuse a quantity that has no formulations, with the nearest names."""
    if not among(quantity, QUANTITIES):
        raise UnknownName("quantity", quantity, QUANTITIES)


def formulation(quantity: str, name: str, chain: Chain | None = None) -> Formulation:
    """The row of the table for a quantity and a name; with a chain, refused where it does not apply to it."""
    row = _row(quantity, name)
    reason = row.declines(chain) if chain is not None else None
    if chain is not None and reason:
        others = ", ".join(r.name for r in applicable(quantity, chain, automatic=False))
        raise InputError(f"{name} does not apply to this robot: {reason}; these do: {others}")
    return row


def _row(quantity: str, name: str) -> Formulation:
    check_quantity(quantity)
    if not isinstance(name, str):
        raise UnknownName(f"formulation of {quantity}", name, formulations(quantity))
    for row in TABLE:
        if row.quantity == quantity and row.name == name:
            return row
    parts = name.split("+")
    pair = quantity in PARTS and len(parts) == len(PARTS[quantity])
    own = not pair or parts[-1] not in formulations(PARTS[quantity][-1])  # a bias vector
    if quantity in WHOLE and own and name in formulations(WHOLE[quantity]):
        return _joined(quantity, _row(WHOLE[quantity], name))
    if pair:
        return _joined(quantity, *map(_row, PARTS[quantity], parts))
    raise UnknownName(f"formulation of {quantity}", name, formulations(quantity))


def _joined(quantity: str, *parts: Formulation) -> Formulation:
    """Formulations that together give a quantity; what they share is found in the graph."""
    return Formulation(
        quantity,
        "+".join(part.name for part in parts),
        ", ".join(part.paper for part in parts),
        None,
        automatic=all(part.automatic for part in parts),
        refuses=lambda chain: next(filter(None, (part.declines(chain) for part in parts)), None),
        parts=parts,
        trees=all(part.trees for part in parts),
    )


def applicable(quantity: str, chain: Chain, automatic: bool = True) -> list[Formulation]:
    """The rows of a quantity that apply to a chain; with `automatic` only those worth trying unasked.

    Trees have few: all of them are tried.
    """
    check_quantity(quantity)
    return [
        row
        for row in TABLE
        if row.quantity == quantity
        and not row.declines(chain)
        and (row.automatic or not automatic or not chain.serial)
    ]
