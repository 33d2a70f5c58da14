"""Records of a judgement: how a fit predicts a log, and whether it may be relied on."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..rests import idle_rows, resting

if TYPE_CHECKING:
    from ...robot.arm import Arm
    from ..logs.log import Log


@dataclass(frozen=True, slots=True, eq=False)
class Validation:
    """Prediction of a log against its torques as measured, unfiltered, on its own samples. rmse, relative: (n,).

    silent: torques that say nothing, because none was measured, or because all that moves them rests, so that they
    cannot change; relative is NaN there.
    """

    rmse: np.ndarray
    relative: np.ndarray
    t: np.ndarray
    measured: np.ndarray
    predicted: np.ndarray
    source: str
    silent: np.ndarray = None  # type: ignore[assignment]  # (n,); not given: none

    def __post_init__(self) -> None:
        if self.silent is None:
            object.__setattr__(self, "silent", np.zeros(len(self.relative), bool))

    @property
    def mean(self) -> float:
        """Mean over joints of RMSE / standard deviation."""
        return mean_error(self.relative, self.silent)


def mean_error(relative: np.ndarray, silent: np.ndarray) -> float:
    """The mean of the errors of torques that say something; 0 where none does."""
    told = relative[~silent]
    return float(told.mean()) if len(told) else 0.0


def errors_over(rms: np.ndarray, spread: np.ndarray) -> np.ndarray:
    """Errors over deviations; over 1 where a torque does not deviate at all. NaN stays."""
    return np.asarray(rms / np.where(spread == 0, 1.0, spread))


def compared(log: Log, predicted: np.ndarray, arm: Arm) -> Validation:
    """Predicted torques (N, n) at a log's own samples against those measured."""
    rmse = np.sqrt(((log.tau - predicted) ** 2).mean(axis=0))
    relative = errors_over(rmse, log.tau.std(axis=0))
    silent = ~log.measured | idle_rows(arm, resting(log.q, 7 if log.floating else 0))
    relative = np.where(silent, np.nan, relative)
    return Validation(rmse, relative, log.t, log.tau, predicted, log.source, silent)


@dataclass(frozen=True, slots=True)
class Verdict:
    """PASS or FAIL with reasons, for people and for scripts."""

    passed: bool
    reasons: tuple[str, ...]

    @property
    def word(self) -> str:
        return "PASS" if self.passed else "FAIL"

    @property
    def exit_code(self) -> int:
        return 0 if self.passed else 1

    def qualified(self, status: str) -> str:
        """A fit's status as it may stand beside this verdict: above a FAIL it does not begin with 'ok'.

        A fit that is sound on its own logs may still fail on held-out ones, or under a limit of the user's.
        """
        if self.passed or not status.startswith("ok"):
            return status
        return f"doubtful: {'; '.join(self.reasons)}{status.removeprefix('ok')}"

    def as_json(self) -> str:
        """One JSON object."""
        return json.dumps({"verdict": self.word, "reasons": list(self.reasons)})
