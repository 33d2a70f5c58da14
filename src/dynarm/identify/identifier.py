"""Identifier(arm).fit(log): from recordings to the values of a robot's parameters."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..arguments import among, each, flag, items, positive, real, shown
from ..errors import DynarmWarning, InputError, KindError, UnknownName
from ..robot.arm import Arm
from . import estimators, tuning
from .estimators import Pull, Solution
from .factors import Factors, fold
from .identifiability import NOT, Identifiability, assess
from .instruments import instrumented
from .log import Log, in_order
from .preprocess import Preparation, Stretch, factor_for, smooth, stretches
from .prior import pull_of
from .quality import unit_doubts
from .regressor import Column, Terms, check_terms, terms_of
from .result import Fit, Record, nearest_to
from .statistics import Residuals, covariance, residuals
from .verdict import Validation

ESTIMATORS = ("ols", "wls", "irls", "iv", "recursive")
_HUBER = 1.345


@dataclass(frozen=True)
class Identifier:
    """What is to be found from a log, and how.

    friction     columns of every joint: any of "viscous", "coulomb", "offset"
    shape        of Coulomb friction, "sign" or "tanh"; width [rad/s or m/s] of tanh: a number, one a joint, or None:
                 for each joint the width that explains its torque best
    armature     reflected motor inertias are unknown too
    estimator    "ols", "wls", "irls" (robust), "iv" (instrumental variables), "recursive" (Lin's, link by link)
    cutoff       [Hz] of the low-pass filter; None: chosen from the data
    asymmetric   friction by direction; the offset is then part of it
    columns      further terms of the user's own, see Column
    prior        an Arm whose (CAD) values are approached where the data say little; None: the arm itself, unless all
                 its links are alike, as in files without real inertias, when zero is
    regularise   "auto": plain least squares where the log determines every unknown and no prior is given, else as
                 strongly as held-out time supports, at least 1; 0: never; or a number, 1 being what the noise calls for
    feasible     values_ are made physically consistent
    preparation  all further choices about filtering and decimation; cutoff here wins over the one there
    progress     called with (samples done, samples in all) while the regressor is folded
    """

    arm: Arm
    friction: Sequence[str] = ("viscous", "coulomb", "offset")
    shape: str = "sign"
    armature: bool = True
    estimator: str = "wls"
    cutoff: float | None = None
    width: Any = None
    asymmetric: bool = False
    columns: Sequence[Column] = ()
    prior: Arm | None = None
    regularise: Any = "auto"
    feasible: bool = False
    preparation: Preparation = field(default_factory=Preparation)
    progress: Callable[[int, int], None] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.arm, Arm):
            raise KindError(
                f"arm is {shown(self.arm)}; give a dynarm.Arm, for example dynarm.load(...)"
            )
        if not among(self.estimator, ESTIMATORS):
            raise UnknownName("estimator", self.estimator, ESTIMATORS)
        if self.prior is not None and not isinstance(self.prior, Arm):
            raise KindError(f"prior is {shown(self.prior)}; give a dynarm.Arm, or None")
        if self.prior is not None and self.prior.n != self.arm.n:
            raise InputError(f"prior has {self.prior.n} joints, the arm {self.arm.n}")
        if not among(self.regularise, ("auto",)):
            wanted = "'auto' or a number of at least 0"
            real("regularise", self.regularise, wanted, lambda x: 0 <= x < np.inf)
        if self.cutoff is not None:
            real("cutoff", self.cutoff, "a frequency in Hz", positive)
        if not isinstance(self.preparation, Preparation):
            raise KindError(f"preparation is {shown(self.preparation)}; give dynarm.Preparation()")
        if self.progress is not None and not callable(self.progress):
            raise KindError(f"progress is {shown(self.progress)}; give a function, or None")
        words = [self.friction] if isinstance(self.friction, str) else self.friction
        put = object.__setattr__
        put(self, "friction", tuple(items("friction", words, "words such as 'viscous'")))
        put(self, "columns", tuple(items("columns", self.columns, "a list of dynarm.Column")))
        for name in ("armature", "asymmetric", "feasible"):
            flag(name, getattr(self, name))
        check_terms(self.friction, self.shape, self.columns)
        self.terms(self._widths())

    def _widths(self) -> tuple[float, ...]:
        if self.width is None:
            return ()
        given = each("width", self.width, (self.arm.n,))
        if not (given > 0).all():
            raise InputError(f"width is {self.width}; give positive velocities")
        return tuple(given.tolist())

    def terms(self, widths: tuple[float, ...] = ()) -> Terms:
        """The columns of the model."""
        return terms_of(
            self.arm,
            tuple(self.friction),
            self.shape,
            widths,
            bool(self.armature),
            bool(self.asymmetric),
            tuple(self.columns),
        )

    def _ticker(self, samples: int) -> Callable[[int], None] | None:
        """What a pass over the data calls with the number of samples that it has done."""
        report, done = self.progress, 0
        if report is None:
            return None

        def tick(more: int) -> None:
            nonlocal done
            done += more
            report(done, samples)

        return tick

    # ---- fitting

    def prepare(self, log: Log | Sequence[Log]) -> list[Log]:
        """The logs with their joints in the arm's order, checked; doubts about them are warnings."""
        logs = (
            [log] if isinstance(log, Log) else items("log", log, "a dynarm.Log or a list of them")
        )
        if not logs:
            raise InputError("no log given; pass a dynarm.Log or a list of them")
        return [_fitting(self.arm, one) for one in logs]

    def fit(self, log: Log | Sequence[Log]) -> Fit:
        """The values that explain one log or several."""
        logs = self.prepare(log)
        terms = self.terms(self._widths())
        how = self.preparation
        if self.cutoff is not None:
            how = replace(how, cutoff=self.cutoff)
        how, trials = tuning.choose_preparation(logs, terms, how)
        pieces = [smooth(piece, how) for one in logs for piece in stretches(one)]
        _check_length(terms, pieces, how)
        widths: tuple[float, ...] = terms.widths
        if self.shape == "tanh" and self.width is None and "coulomb" in terms.friction:
            widths, _ = tuning.choose_widths(terms, pieces, how)
            terms = self.terms(widths)
        factors = fold(terms, pieces, how, tick=self._ticker(sum(map(len, pieces))))
        plain, left = self._plain(terms, factors, pieces, how)
        check = assess(terms, factors, plain, left.inflation, pieces)
        pull = pull_of(terms, factors, plain, self.prior)
        ridge, errors = self._ridge(factors, pull, float(np.sqrt(left.inflation.mean())), check)
        factors, solution = self._solve(terms, factors, pieces, how, ridge, pull, plain)
        if solution is not plain:
            left = residuals(terms, pieces, how, solution.values)
        spread = self._covariance(factors, solution, left.inflation)
        record = Record(self, terms, how, widths, trials, errors, factors, check, left, logs)
        if not self.feasible:
            return Fit(record, solution, solution.values, spread)
        near = nearest_to(record, solution.values, spread)
        return Fit(record, solution, near.values, spread)

    def _covariance(
        self, factors: Factors, solution: Solution, inflations: np.ndarray
    ) -> np.ndarray:
        if self.estimator == "recursive":
            return estimators.recursive_covariance(factors, solution.values, inflations)
        if self.estimator == "iv":
            return solution.covariance * float(np.mean(inflations))
        return covariance(factors, solution, inflations)

    def cross_validate(self, logs: Sequence[Log]) -> list[Validation]:
        """For each run, its prediction by the fit of all others."""
        runs = self.prepare(logs)
        if len(runs) < 2:
            raise InputError("cross-validation needs at least two logs; give a list of runs")
        return [self.fit([*runs[:k], *runs[k + 1 :]]).validate(run) for k, run in enumerate(runs)]

    def _plain(
        self, terms: Terms, factors: Factors, pieces: Sequence[Stretch], how: Preparation
    ) -> tuple[Solution, Residuals]:
        """The fit without a prior, which tells what the log determines."""
        if self.estimator == "ols":
            plain = _own_weights(factors, estimators.ols(factors.merged()))
        else:
            plain = estimators.wls(factors)
        return plain, residuals(terms, pieces, how, plain.values)

    def _ridge(
        self, factors: Factors, pull: Pull, unit: float, check: Identifiability
    ) -> tuple[float, dict[float, float]]:
        """0 where the log determines all, else what held-out time supports; unit: what the noise alone calls for."""
        if self.regularise != "auto":
            return float(self.regularise) * unit, {}
        if self.estimator in ("recursive", "iv") or (check.worst <= NOT and self.prior is None):
            return 0.0, {}
        ridge, errors = tuning.choose_ridge(factors, pull, unit)
        return max(ridge, unit), errors

    def _solve(
        self,
        terms: Terms,
        factors: Factors,
        pieces: Sequence[Stretch],
        how: Preparation,
        ridge: float,
        pull: Pull,
        plain: Solution,
    ) -> tuple[Factors, Solution]:
        if self.estimator == "recursive":
            return factors, estimators.recursive(factors)
        if self.estimator == "iv":
            return factors, instrumented(terms, factors, pieces, how, plain)
        if self.estimator == "irls":
            return _robust(terms, factors, pieces, how, ridge, pull)
        if self.estimator == "ols":
            return factors, _own_weights(factors, estimators.ols(factors.merged(), ridge, pull))
        if ridge == 0:
            return factors, plain
        return factors, estimators.wls(factors, ridge, pull)


def _fitting(arm: Arm, log: Log) -> Log:
    """The log in the arm's joint order; refused or warned about where it cannot be right."""
    log = in_order(log, arm)
    flat = np.ptp(log.tau, axis=0) <= 1e-9 * np.maximum(np.abs(log.tau).max(axis=0), 1e-300)
    if flat.any():
        j = int(np.argmax(flat))
        raise InputError(
            f"{log.source}: the torque of joint '{arm.joint_names[j]}' is constant ({log.tau[0, j]:.6g}); "
            "check its column"
        )
    doubts = unit_doubts(log.t, log.q, log.qd, [j.revolute for j in arm.joints])
    for doubt in (*doubts, *log.quality.warnings):
        warnings.warn(f"{log.source}: {doubt}", DynarmWarning, stacklevel=4)
    return log


def _check_length(terms: Terms, pieces: Sequence[Stretch], how: Preparation) -> None:
    rows = sum(len(p) // factor_for(how, p.rate) for p in pieces)
    if not pieces or rows * terms.n < terms.size:
        raise InputError(
            f"{rows} samples of {terms.n} joints remain after filtering and decimation for {terms.size} unknowns; "
            "record longer, raise the cut-off or lower decimate"
        )


def _own_weights(factors: Factors, solution: Solution) -> Solution:
    """An ordinary fit with the weights that make its covariance one of white noise of equal size."""
    sigma = estimators.deviations(factors, solution.values)
    rows = factors.rows.sum(axis=0)
    common = float(np.sqrt((sigma**2 * rows).sum() / max(rows.sum() - factors.size, 1)))
    common = common if common > 0 else 1.0
    return replace(
        solution,
        weights=np.full(factors.n, 1 / common),
        covariance=solution.covariance * common**2,
        scales=solution.scales / common,
    )


def _robust(
    terms: Terms,
    factors: Factors,
    pieces: Sequence[Stretch],
    how: Preparation,
    ridge: float,
    pull: Pull,
    passes: int = 8,
) -> tuple[Factors, Solution]:
    """Huber's estimator: rows beyond 1.345 standard deviations count less, iterated."""
    solution = estimators.wls(factors, ridge, pull)
    for _ in range(passes):
        values = solution.values
        sigma = _middle_deviation(terms, pieces, how, values)

        def weigh(j: int, X: np.ndarray, y: np.ndarray) -> np.ndarray:
            left = np.abs(y - X @ values[terms.support[j]])  # noqa: B023
            limit = _HUBER * sigma[j]  # noqa: B023
            return np.sqrt(np.minimum(1.0, limit / np.maximum(left, limit * 1e-12 + 1e-300)))

        factors = fold(terms, pieces, how, weigh)
        before, solution = values, estimators.wls(factors, ridge, pull)
        change = np.abs(solution.values - before) * solution.scales
        if change.max() < 1e-4 * np.abs(solution.values * solution.scales).max():
            break
    return factors, solution


def _middle_deviation(
    terms: Terms, pieces: Sequence[Stretch], how: Preparation, values: np.ndarray
) -> np.ndarray:
    """(n,) standard deviation of each joint's residual from its median size: outliers do not count."""
    left = residuals(terms, pieces, how, values)
    sizes = [np.abs(a - b) for a, b in zip(left.measured, left.predicted, strict=True)]
    return np.array([1.4826 * np.median(x) if len(x) else 0.0 for x in sizes])


def check_log(arm: Arm, log: Log | Sequence[Log], **options: Any) -> Identifiability:
    """Which unknowns a log determines: the identifiability check alone."""
    return Identifier(arm, **options).fit(log).identifiability_
