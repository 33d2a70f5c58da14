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

    function(q, qd, qdd) takes and returns one scalar a joint (a batch is a scalar; use dynarm.algebra's sin, cos, sign,
    tanh, magnitude), 0 for joints that do not feel it; of a free base those of the base come first, as the arm has them
    (coordinate_names, speed_names). Example, wrist gears that couple joints 5 and 6:

        Column("inertia56", lambda q, qd, qdd: [0, 0, 0, 0, qdd[5], qdd[4]])
    """

    name: str
    function: Forces

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.strip():
            raise KindError(f"name is {shown(self.name)}; give the column a name")
        if not callable(self.function):
            raise KindError(f"function is {shown(self.function)}; give a function of q, qd, qdd")

    def evaluate(self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
        """The forces (..., n) of a coefficient of one."""
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
