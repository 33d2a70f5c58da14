"""Records of a judgement: how a fit predicts a log, and whether it may be relied on."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..preprocess import low_pass
from ..rests import idle_rows, resting

if TYPE_CHECKING:
    from ...robot.arm import Arm
    from ..logs.log import Log

_ENDS = 0.3  # [s] of low-passed torques that are not looked at, at each end


@dataclass(frozen=True, slots=True, eq=False)
class Validation:
    """Prediction of a log against its torques as measured, unfiltered, on its own samples. rmse, relative: (n,).

    silent: torques that say nothing, because none was measured, or because all that moves them rests, so that they
    cannot change; relative is NaN there.
    band: as relative, both torques low-passed at the fit's band, which shows the model rather than the sensor's noise;
    NaN where no band is known.
    """

    rmse: np.ndarray
    relative: np.ndarray
    t: np.ndarray
    measured: np.ndarray
    predicted: np.ndarray
    source: str
    silent: np.ndarray = None  # type: ignore[assignment]  # (n,); not given: none
    band: np.ndarray = None  # type: ignore[assignment]  # (n,); not given: NaN

    def __post_init__(self) -> None:
        if self.silent is None:
            object.__setattr__(self, "silent", np.zeros(len(self.relative), bool))
        if self.band is None:
            object.__setattr__(self, "band", np.full(len(self.relative), np.nan))

    @property
    def mean(self) -> float:
        """Mean over joints of RMSE / standard deviation."""
        return mean_error(self.relative, self.silent)

    @property
    def band_mean(self) -> float:
        """The same of low-passed torques; NaN where no band is known."""
        return mean_error(self.band, self.silent)


def mean_error(relative: np.ndarray, silent: np.ndarray) -> float:
    """The mean of the errors of torques that say something; 0 where none does."""
    told = relative[~silent]
    return float(told.mean()) if len(told) else 0.0


def errors_over(rms: np.ndarray, spread: np.ndarray) -> np.ndarray:
    """Errors over deviations; over 1 where a torque does not deviate at all. NaN stays."""
    return np.asarray(rms / np.where(spread == 0, 1.0, spread))


def compared(log: Log, predicted: np.ndarray, arm: Arm, edge: float = np.nan) -> Validation:
    """Predicted torques (N, n) at a log's own samples against those measured. edge: of the fit's band [Hz]."""
    rmse = np.sqrt(((log.tau - predicted) ** 2).mean(axis=0))
    relative = errors_over(rmse, log.tau.std(axis=0))
    silent = ~log.measured | idle_rows(arm, resting(log.q, 7 if log.floating else 0))
    relative = np.where(silent, np.nan, relative)
    slow = np.where(silent, np.nan, band_errors(log, predicted, edge))
    return Validation(rmse, relative, log.t, log.tau, predicted, log.source, silent, slow)


def band_errors(log: Log, predicted: np.ndarray, edge: float) -> np.ndarray:
    """(n,): errors over deviations, both torques low-passed at a frequency [Hz], without the filter's ends."""
    n = log.tau.shape[1]
    count = int(log.duration / max(log.quality.step, 1e-12))
    if not np.isfinite(edge) or count < 32:
        return np.full(n, np.nan)
    rate = log.quality.rate
    grid = np.arange(log.t[0], log.t[-1], 1 / rate)

    def slow(x: np.ndarray) -> np.ndarray:
        even = np.column_stack([np.interp(grid, log.t, column) for column in x.T])
        return low_pass(np.nan_to_num(even), rate, edge, 4, None)

    ends = min(int(_ENDS * rate), len(grid) // 10)
    inside = slice(ends, len(grid) - ends)
    left, whole = slow(log.tau - predicted)[inside], slow(log.tau)[inside]
    return errors_over(np.sqrt((left**2).mean(axis=0)), whole.std(axis=0))


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
