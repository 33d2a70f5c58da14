"""What an estimator is: how values are found from a problem, and how sure they are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .least_squares import sandwich
from .problem import Problem, Solution

Solve = Callable[[Problem], Solution]


@dataclass(frozen=True, slots=True)
class Estimator:
    """How values are found from a problem, and how sure they are.

    covariance   (p, p) of a solution, the inflations (n,) of its joints' residuals given
    plain        the fit without a prior that says what a log determines; None: weighted least squares
    prior        a prior can take part
    together     an unknown is found from the rows of all joints that feel it; where not, a payload, which no joint
                 tells alone, is found by weighted least squares
    listed       takes unknowns that are damped, as entries of friction's lists are
    floating     works on a free base, whose unknowns no single row tells
    """

    solve: Solve
    covariance: Callable[[Solution, np.ndarray], np.ndarray] = sandwich
    plain: Solve | None = None
    prior: bool = True
    together: bool = True
    floating: bool = True
    listed: bool = False

    @property
    def orthogonal(self) -> bool:
        """Whether residuals are orthogonal to the columns: as many freedoms are gone from them as values were found."""
        return self.covariance is sandwich
