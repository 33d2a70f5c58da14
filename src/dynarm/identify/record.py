"""What a fit was made from and what was decided on the way."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ..errors import InputError
from ..robot.arm import Arm
from .estimators.factors import Factors
from .estimators.feasibility import Feasible, nearest
from .estimators.problem import Problem, Pull
from .friction.selection import Choice
from .judgement.identifiability import Identifiability
from .judgement.runs import RunAgreement
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
    runs: RunAgreement | None = (
        None  # how runs that were fitted alone agree; None: read from a file
    )

    @property
    def logs(self) -> Sequence[Log]:
        """The logs that were fitted."""
        return self.recording.logs

    @property
    def strangers(self) -> tuple[str, ...]:
        """Sentences about logs that seem to be of another robot than the others."""
        return () if self.runs is None else self.runs.strangers

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
    own = None if prior is None else prior.parameters
    return nearest(record.terms, values, spread, own, _error_of(record))


def _error_of(record: Record) -> Callable[[np.ndarray], float] | None:
    """The mean over joints of the error that values have on the fitted rows; None where there are no data."""
    factors = record.factors
    if factors is None:
        return None
    merged = factors.merged()
    rows, spread = merged.rows[0], record.residuals.spread
    told = (rows > 0) & (np.nan_to_num(spread) > 0)
    if not told.any():
        return None

    def error(values: np.ndarray) -> float:
        rms = np.sqrt(merged.squares(values)[0] / np.maximum(rows, 1))
        return float((rms[told] / spread[told]).mean())

    return error


def arm_of(terms: Terms, table: np.ndarray, armatures: np.ndarray, values: np.ndarray) -> Arm:
    """The terms' arm with parameters (n, 10) and armatures (n,) of all joints, and with the friction of values (p,)."""
    arm, places = terms.arm, {i: k for k, i in enumerate(terms.joints)}
    whole = arm.with_parameters(table)
    joints = tuple(
        replace(
            joint,
            armature=float(armatures[i]),
            friction=terms.friction_of(places[i], values) if i in places else None,
        )
        for i, joint in enumerate(whole.joints)
    )
    return replace(whole, joints=joints)
