"""Terms of a user's own: columns of the linear model that are functions of the state."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ..algebra.vectors import Scalar
from ..border.arguments import each, items, shown
from ..errors import InputError, KindError

Forces = Callable[[Sequence[Scalar], Sequence[Scalar], Sequence[Scalar]], Sequence[Scalar]]


@dataclass(frozen=True, slots=True)
class Column:
    """A term of the user's own: one unknown coefficient times forces that depend on the state.

    Each scalar may be a number or a whole batch; use the sin, cos, sign, tanh and magnitude of `dynarm.algebra`. With a
    free base its entries come first, as the arm has them (`coordinate_names`, `speed_names`).

    Parameters
    ----------
    name : str
        What the coefficient is called among the unknowns.
    function : Forces
        function(q, qd, qdd), one scalar for each joint, returning the force on each joint for
        a coefficient of one, 0 where a joint does not feel it.

    Examples
    --------
    >>> gears = dynarm.Column("inertia56", lambda q, qd, qdd: [0, 0, 0, 0, qdd[5], qdd[4]])
    >>> gears.name
    'inertia56'
    """

    name: str
    function: Forces

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.strip():
            raise KindError(f"name is {shown(self.name)}; give the column a name")
        if not callable(self.function):
            raise KindError(f"function is {shown(self.function)}; give a function of q, qd, qdd")

    def evaluate(self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
        """The forces (..., n) of a coefficient of one.

        Parameters
        ----------
        q : ndarray (..., nq)
            Positions.
        qd : ndarray (..., n)
            Velocities.
        qdd : ndarray (..., n)
            Accelerations.

        Returns
        -------
        ndarray
            Forces (..., n).

        Examples
        --------
        >>> gears.evaluate(np.zeros(6), np.zeros(6), np.arange(6.0))
        array([0., 0., 0., 0., 5., 4.])
        """
        n = qd.shape[-1]
        states = ([x[..., j] for j in range(x.shape[-1])] for x in (q, qd, qdd))
        word = f"what column '{self.name}' returns"
        forces = items(word, self.function(*states), "one force a joint")
        if len(forces) != n:
            raise InputError(f"column '{self.name}' returns {len(forces)} forces for {n} joints")
        out = np.empty(qd.shape)
        for j, force in enumerate(forces):
            out[..., j] = each(f"force {j + 1} of column '{self.name}'", force, qd.shape[:-1])
        return out
