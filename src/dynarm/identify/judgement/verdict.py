"""Records of a judgement: how a fit predicts a log, and whether it may be relied on."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ..logs.log import Log


@dataclass(frozen=True, slots=True, eq=False)
class Validation:
    """Prediction of a log against its torques as measured, unfiltered, on its own samples. rmse, relative: (n,)."""

    rmse: np.ndarray
    relative: np.ndarray
    t: np.ndarray
    measured: np.ndarray
    predicted: np.ndarray
    source: str

    @property
    def mean(self) -> float:
        """Mean over joints of RMSE / standard deviation."""
        return float(self.relative.mean())


def compared(log: Log, predicted: np.ndarray) -> Validation:
    """Predicted torques (N, n) at a log's own samples against those measured."""
    rmse = np.sqrt(((log.tau - predicted) ** 2).mean(axis=0))
    spread = log.tau.std(axis=0)
    relative = rmse / np.where(spread > 0, spread, 1.0)
    return Validation(rmse, relative, log.t, log.tau, predicted, log.source)


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
