"""What a fit was made from and what was decided on the way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..errors import InputError
from .estimators.factors import Factors
from .estimators.feasibility import Feasible, nearest
from .estimators.problem import Problem, Pull
from .friction.selection import Choice
from .judgement.identifiability import Identifiability
from .judgement.statistics import Residuals
from .logs.log import Log
from .preprocess import Preparation, Recording
from .regressor import Terms
from .tuning import Trial

if TYPE_CHECKING:
    from .identifier import Identifier


@dataclass(frozen=True, eq=False)
class Record:
    """What a fit was made from and what was decided on the way."""

    identifier: Identifier
    terms: Terms
    preparation: Preparation
    widths: tuple[float, ...]
    trials: tuple[Trial, ...]
    ridge_errors: Mapping[float, float]
    problem: Problem | None  # None: the fit was read from a file, which holds no data
    identifiability: Identifiability
    residuals: Residuals
    recording: Recording
    choice: Choice  # how friction was chosen
    band: float = np.nan  # [Hz] where the motion's frequencies end, or the cut-off
    doubts: tuple[str, ...] = ()  # reasons not to rely on the fit
    notes: tuple[str, ...] = ()  # what was done to the logs

    @property
    def logs(self) -> Sequence[Log]:
        """The logs that were fitted."""
        return self.recording.logs

    @property
    def factors(self) -> Factors | None:
        """The folded data, rows weighted as the estimator left them; None: read from a file."""
        return None if self.problem is None else self.problem.factors

    @property
    def pull(self) -> Pull | None:
        """The prior, where the fit was regularised."""
        return self.problem.pull if self.problem is not None and self.problem.ridge > 0 else None

    def data(self, wanted: str) -> Factors:
        """The folded data, where the fit still has them."""
        return self.solved(wanted).factors

    def solved(self, wanted: str) -> Problem:
        """The problem that was solved, where the fit still has its data."""
        if self.problem is None:
            raise InputError(
                f"this fit was read from a file, without its logs; fit again for {wanted}"
            )
        return self.problem


def nearest_to(record: Record, values: np.ndarray, spread: np.ndarray) -> Feasible:
    """The consistent set nearest to fitted values, and to the prior arm (else the arm) where they leave it free."""
    prior = record.identifier.prior
    return nearest(record.terms, values, spread, None if prior is None else prior.parameters)
