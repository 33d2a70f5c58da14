"""What is kept of one joint of the recursive procedure of lin1995's section IV."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ..record import Record
    from .problem import Solution


@dataclass(frozen=True, slots=True, eq=False)
class LinkStep:
    """One joint of the procedure: A_i w_i = gamma_i (111) with gamma_i = tau_i - phi_i (108).

    joint, name    counted from 0, and as the robot calls it
    unknowns       what w_i holds: minimal combinations of joint i, then its own armature and friction
    A, gamma, phi  rows (N, k), (N,), (N,); of long logs a triangle of them
    rows           how many rows there were
    singular       singular values of A with columns of length one, descending
    exciting       whether the motion excites joint i persistently (117): A has full rank
    values         w_i
    handed         unknowns of joints further out that phi_i is made of
    std, own_std   of w_i with white residuals: in all, and by the noise of this joint alone
    shares         (n,) what the noise of each joint contributes to the variances of w_i, 1 in all
    """

    joint: int
    name: str
    unknowns: tuple[str, ...]
    A: np.ndarray
    gamma: np.ndarray
    phi: np.ndarray
    rows: int
    singular: np.ndarray
    exciting: bool
    values: np.ndarray
    handed: tuple[str, ...]
    std: np.ndarray
    own_std: np.ndarray
    shares: np.ndarray

    @property
    def condition(self) -> float:
        """cond(A_i); infinite where the motion does not excite the joint persistently."""
        return float(self.singular[0] / self.singular[-1]) if self.exciting else float("inf")

    @property
    def inflation(self) -> np.ndarray:
        """(k,) how many times larger errors of outer joints make each standard deviation."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(self.own_std > 0, self.std / self.own_std, 1.0)

    @property
    def blame(self) -> int:
        """The joint whose motion and noise most of the doubt about w_i comes from."""
        return int(np.argmax(self.shares))


class LinkByLink:
    """What a fit tells of the procedure that its solution came from."""

    record: Record
    solution: Solution

    @property
    def joint_conditions_(self) -> tuple[float, ...]:
        """cond(A_i) of every joint (recursive estimator)."""
        return self.solution.joint_conditions

    @property
    def steps_(self) -> tuple[LinkStep, ...]:
        """The steps of lin1995's section IV from the tip inwards, one a joint (recursive estimator; else empty).

        A fit's file holds none of the rows that they are made of: a fit read from one refuses.
        """
        if self.solution.joint_conditions:
            self.record.solved("steps_ (dynarm.Identifier(arm, estimator='recursive').fit(log))")
        return self.solution.steps
