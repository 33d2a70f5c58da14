"""What is kept of one joint of the recursive procedure of lin1995's section IV."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True, eq=False)
class LinkStep:
    """One joint of the procedure: A_i w_i = gamma_i (111) with gamma_i = tau_i - phi_i (108).

    joint, name    counted from 0, and as the robot calls it
    unknowns       what w_i holds: minimal combinations of joint i, then its own armature and friction
    A, gamma, phi  (m, k), (m,), (m,): the log's rows turned by one orthogonal matrix that leaves few of them, so that
                   A'A, A' gamma and every length are those of the rows
    rows           how many rows the log had
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
