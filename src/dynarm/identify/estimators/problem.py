"""What an estimator is given and what it gives back: solve(Problem) -> Solution.

All estimators solve for values in tau = X values. Weights are one a joint, 1 / standard deviation of its residual. A
ridge is the pull towards a prior, in units that do not depend on the units of the parameters: sd = |y| / (ridge |x_k|).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from .factors import Factors, RowSource, joined


@dataclass(frozen=True, slots=True, eq=False)
class Pull:
    """A prior: values that the unknowns are pulled to, and how much each is (1: by the ridge, 0: not at all).

    damping: how much besides, whatever the ridge, in scaled unknowns; None: none.
    """

    values: np.ndarray
    strength: np.ndarray
    damping: np.ndarray | None = None


def damped(damping: np.ndarray) -> Pull:
    """No prior, and unknowns that are damped."""
    return Pull(np.zeros(len(damping)), np.zeros(len(damping)), damping)


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """Folded rows of tau = X values by block and joint, the prior, and the rows themselves where they are at hand."""

    factors: Factors
    ridge: float = 0.0
    pull: Pull | None = None  # None: towards zero, every unknown alike
    names: tuple[str, ...] = ()
    weights: np.ndarray | None = None  # (n,) to begin with; None: one over the size of each torque
    sources: tuple[RowSource, ...] = ()  # for estimators that fold the rows again, another way
    # R[block][joint] of [Z X y], Z the instruments of the joint's unknowns; None: not folded yet
    instruments: list[list[np.ndarray]] | None = None

    @property
    def start(self) -> np.ndarray:
        """(size,) the prior's values; 0 where there is none, and for unknowns that take no part."""
        values = np.zeros(self.factors.size) if self.pull is None else self.pull.values
        return np.where(self.factors.present, values, 0.0)

    @property
    def strength(self) -> np.ndarray:
        """(size,) how much each unknown is pulled."""
        return np.ones(self.factors.size) if self.pull is None else self.pull.strength

    @property
    def pulls(self) -> np.ndarray:
        """(size,) how much each scaled unknown is drawn to its start, the ridge and damping together."""
        drawn = self.ridge * self.strength
        damping = None if self.pull is None else self.pull.damping
        return drawn if damping is None else np.asarray(np.hypot(drawn, damping))

    @property
    def free(self) -> Problem:
        """The problem without its prior; what is damped remains so."""
        pull = self.pull
        if pull is None or pull.damping is None:
            return replace(self, ridge=0.0, pull=None)
        return replace(self, ridge=0.0, pull=damped(pull.damping))

    @property
    def settled(self) -> Problem:
        """The problem without its logs' rows, which are much larger than what was folded from them."""
        return replace(self, sources=())

    def drawn(self, blocks: Sequence[int] | None = None) -> Problem:
        """The same problem, prior included, on some blocks of time (all), as one block; a block may come twice."""
        chosen = range(self.factors.blocks) if blocks is None else blocks
        instruments = self.instruments
        if instruments is not None:
            instruments = [
                [joined(parts) for parts in zip(*(instruments[b] for b in chosen), strict=True)]
            ]
        return replace(
            self, factors=self.factors.merged(chosen), instruments=instruments, sources=()
        )


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """Values of all unknowns, and what they were found with."""

    problem: Problem | None  # as it was solved, rows weighted; None: read from a file, without data
    values: np.ndarray
    weights: np.ndarray  # (n,) of the joints' rows
    covariance: np.ndarray  # (p, p) for white residuals
    rank: int
    condition: float  # of the weighted regressor with columns of length one
    singular: np.ndarray  # its singular values, descending
    directions: np.ndarray  # its right singular vectors by rows, in scaled unknowns
    scales: np.ndarray  # (p,) length of each weighted column: scaled unknown = value * scale
    ridge: float = 0.0
    # (p,) how each value is drawn to its prior
    pulls: np.ndarray = field(default_factory=lambda: np.zeros(0))
    joint_conditions: tuple[float, ...] = ()  # recursive: cond(A_i)
    iterations: int = 1
    status: str = "solved"

    @property
    def data(self) -> Factors:
        """The folded rows that the values were found from."""
        assert self.problem is not None
        return self.problem.factors

    def deviations(self, covariance: np.ndarray, present: np.ndarray) -> np.ndarray:
        """(p,) of all unknowns; infinite for those that no row (present) or no direction of the data tells of."""
        std = np.where(present, np.sqrt(np.maximum(np.diag(covariance), 0.0)), np.inf)
        if self.ridge == 0 and self.rank < present.sum():
            free = (self.directions[self.singular <= 1e-11 * self.singular[0]] ** 2).sum(axis=0)
            std = np.where(free > 1e-12, np.inf, std)
        return std
