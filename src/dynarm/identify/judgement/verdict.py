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
    """Prediction of a log against its torques as measured, unfiltered, on its own samples.

    Attributes
    ----------
    rmse : ndarray
        RMS error (n,) [N m or N].
    relative : ndarray
        RMS error over the standard deviation of the torque (n,).
    t : ndarray
        Times (N,) [s].
    measured : ndarray
        Torques as measured (N, n).
    predicted : ndarray
        Torques as predicted (N, n).
    source : str
        Which log it was.
    silent : ndarray, optional
        Torques that say nothing, because none was measured, or because all that moves them
        rests, so that they cannot change; relative is NaN there.
    band : ndarray, optional
        As relative, both torques low-passed at the fit's band, which shows the model rather
        than the sensor's noise; NaN where no band is known.

    Examples
    --------
    >>> arm = dynarm.load("two_link")
    >>> t = np.linspace(0, 10, 1001)
    >>> q = np.column_stack([np.sin(2 * t), np.sin(3 * t)])
    >>> qd = np.column_stack([2 * np.cos(2 * t), 3 * np.cos(3 * t)])
    >>> tau = dynarm.compile(arm).inverse_dynamics(q, qd, -q * [4, 9])
    >>> log = dynarm.Log(t, q, tau, qd=qd)
    >>> fit = dynarm.Identifier(arm, friction=(), armature=False).fit(log.cut(0, 5))
    >>> fit.validate(log.cut(5)).mean < 0.01
    True
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

    def __repr__(self) -> str:
        joints = " ".join(f"{error:.3f}" for error in self.relative)
        return (
            f"<dynarm.Validation of {self.source}: mean error {self.mean:.3g}, by joint {joints}>"
        )

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

    def even(x: np.ndarray) -> np.ndarray:
        return np.column_stack([np.interp(grid, log.t, column) for column in x.T])

    left, whole = slow_parts(even(log.tau - predicted), even(log.tau), rate, edge)
    return errors_over(np.sqrt((left**2).mean(axis=0)), whole.std(axis=0))


def slow_parts(
    left: np.ndarray, whole: np.ndarray, rate: float, edge: float
) -> tuple[np.ndarray, np.ndarray]:
    """Residuals and torques (N, n), even in time, low-passed at a frequency [Hz], without the filter's ends."""
    ends = min(int(_ENDS * rate), len(whole) // 10)
    inside = slice(ends, len(whole) - ends)
    low = [low_pass(np.nan_to_num(x), rate, edge, 4, None)[inside] for x in (left, whole)]
    return low[0], low[1]


@dataclass(frozen=True, slots=True)
class Reason:
    """What speaks against a fit, what to do about it, and whether that fails it or makes it doubtful only."""

    text: str
    advice: str = ""
    grave: bool = True


UNSEEN = Reason(
    "no held-out log: nothing says how the fit predicts motion that it was not fitted to",
    "predict another log: fit.verdict(log) (--validate LOG), or a part kept back (--hold-out 0.3)",
    False,
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """PASS, DOUBTFUL, NOT VALIDATED or FAIL, with reasons and what to do, for people and for scripts.

    `Fit.verdict` makes it.

    Parameters
    ----------
    findings : tuple[Reason, ...], optional
        The reasons, each with its advice.
    validated : bool, default True
        Predictions of motion that took no part in the fit were looked at; without them
        nothing passes.

    Examples
    --------
    >>> verdict = dynarm.identify.result.Verdict()
    >>> verdict.word, verdict.exit_code
    ('PASS', 0)
    """

    findings: tuple[Reason, ...] = ()
    validated: bool = True

    @property
    def word(self) -> str:
        """The verdict in one word or two, such as PASS."""
        if any(finding.grave for finding in self.findings):
            return "FAIL"
        if not self.validated:
            return "NOT VALIDATED"
        return "DOUBTFUL" if self.findings else "PASS"

    @property
    def passed(self) -> bool:
        """Whether it is PASS."""
        return self.word == "PASS"

    @property
    def told(self) -> tuple[Reason, ...]:
        """All reasons: the findings, and that nothing unseen was predicted where that is so."""
        return self.findings if self.validated else (*self.findings, UNSEEN)

    @property
    def reasons(self) -> tuple[str, ...]:
        """What speaks against the fit, in sentences."""
        return tuple(reason.text for reason in self.told)

    @property
    def advice(self) -> tuple[str, ...]:
        """What to do about the reasons, each thing once."""
        return tuple(dict.fromkeys(reason.advice for reason in self.told if reason.advice))

    @property
    def exit_code(self) -> int:
        """1 where it is FAIL, else 0: the exit code of `dynarm identify`."""
        return 1 if self.word == "FAIL" else 0

    def qualified(self, status: str) -> str:
        """A fit's status as it may stand beside this verdict: beside findings it does not begin with 'ok'.

        A fit that is sound on its own logs may still fail on held-out ones, or under a limit of the user's.

        Parameters
        ----------
        status : str
            The status of a fit.

        Returns
        -------
        str
            The same, or without "ok" at its beginning.

        Examples
        --------
        >>> verdict.qualified("ok: the log determines every unknown")
        'ok: the log determines every unknown'
        """
        if not self.findings or not status.startswith("ok"):
            return status
        told = "; ".join(finding.text for finding in self.findings)
        return f"doubtful: {told}{status.removeprefix('ok')}"

    def __str__(self) -> str:
        """The word, the reasons, and under each what to do."""
        rows = [self.word]
        for reason in self.told:
            rows += [f"  {reason.text}", *([f"    {reason.advice}"] if reason.advice else [])]
        return "\n".join(rows)

    def as_json(self) -> str:
        """One JSON object.

        Returns
        -------
        str
            JSON.

        Examples
        --------
        >>> import json
        >>> json.loads(verdict.as_json())["verdict"]
        'PASS'
        """
        told = {"verdict": self.word, "reasons": list(self.reasons), "advice": list(self.advice)}
        return json.dumps(told)
