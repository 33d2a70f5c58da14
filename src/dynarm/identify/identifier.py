"""Identifier(arm).fit(log): from recordings to the values of a robot's parameters."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..border.arguments import among, each, flag, items, positive, real, shown
from ..errors import DynarmWarning, InputError, KindError, UnknownName
from ..robot.arm import Arm
from . import tuning
from .estimators import least_squares as estimators
from .estimators.factors import Factors, fold
from .estimators.instruments import instrumented
from .estimators.least_squares import Pull, Solution
from .estimators.prior import pull_of
from .estimators.robust import robust
from .judgement.identifiability import NOT, Identifiability, assess
from .judgement.outliers import left_out, without_outliers
from .judgement.quality import unit_doubts
from .judgement.soundness import check_digits, check_stretches, negative_energy
from .judgement.statistics import Residuals, covariance, residuals
from .judgement.verdict import Validation
from .logs.log import Log, in_order
from .logs.sources import logs_of
from .preprocess import Preparation, Stretch, factor_for, smooth, stretches
from .regressor import Column, Terms, check_terms, terms_of
from .result import Fit, FitError, Record, nearest_to
from .searchable import Searchable

ESTIMATORS = ("ols", "wls", "irls", "iv", "recursive")


@dataclass(unsafe_hash=True)  # frozen by Searchable, which lets scikit-learn keep notes of its own
class Identifier(Searchable):
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
        # a tuple stays itself: scikit-learn's clone asks for the very object that was given
        if not isinstance(words, tuple):
            words = tuple(items("friction", words, "words such as 'viscous'"))
        put(self, "friction", words)
        if not isinstance(self.columns, tuple):
            own = tuple(items("columns", self.columns, "a list of dynarm.Column"))
            put(self, "columns", own)
        for name in ("armature", "asymmetric", "feasible"):
            flag(name, getattr(self, name))
        check_terms(self.friction, self.shape, self.columns)
        self.terms(self._widths())

    def __repr__(self) -> str:
        """The robot, and the options that are not as usual."""
        usual = Identifier(self.arm).get_params()
        other = {
            name: value
            for name, value in self.get_params().items()
            if name != "arm" and value is not usual[name] and value != usual[name]
        }
        told = "".join(
            f", {name}={value.name!r}" if isinstance(value, Arm) else f", {name}={shown(value)}"
            for name, value in other.items()
        )
        return f"<dynarm.Identifier of '{self.arm.name}'{told}>"

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

    def prepare(self, log: Any) -> list[Log]:
        """The logs with their joints in the arm's order, checked; doubts about them are warnings.

        Samples that would decide a fit alone are left out, and the log's notes say so.
        """
        return [_fitting(self.arm, one) for one in logs_of(log, self.arm)]

    def fit(self, log: Any, y: Any = None) -> Fit:
        """The values that explain one log or several: a Log, a path, a DataFrame, or a list of such.

        The identifier remembers the fit as `fit_`, for `predict` and `score`. y is there for scikit-learn and unused.
        """
        logs = self.prepare(log)
        try:
            done = self._fit(logs)
        except np.linalg.LinAlgError as error:
            raise FitError(
                f"{logs[0].source}: numbers too far apart to be solved for ({error}); check the units of t, q and tau"
            ) from None
        object.__setattr__(self, "fit_", done)
        return done

    def _fit(self, logs: list[Log]) -> Fit:
        terms = self.terms(self._widths())
        how = self.preparation
        if self.cutoff is not None:
            how = replace(how, cutoff=self.cutoff)
        check_stretches(logs, how)
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
        doubts = negative_energy(terms, pieces, solution.values, spread)
        notes = tuple(f"{one.source}: {note}" for one in logs for note in left_out(one))
        record = Record(
            replace(self, progress=None),
            terms,
            how,
            widths,
            trials,
            errors,
            factors,
            check,
            left,
            logs,
            pull if solution.ridge > 0 else None,
            doubts,
            notes,
        )
        if not self.feasible:
            return Fit(record, solution, solution.values, spread)
        near = nearest_to(record, solution.values, spread)
        left = residuals(terms, pieces, how, near.values)  # what is judged is what is returned
        return Fit(replace(record, residuals=left), solution, near.values, spread)

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
            return robust(terms, factors, pieces, how, ridge, pull)
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
    check_digits(log)
    clean = without_outliers(log)
    lost = left_out(clean) if clean is not log else ()
    doubts = unit_doubts(clean.t, clean.q, clean.qd, [j.revolute for j in arm.joints])
    for doubt in (*lost, *doubts, *clean.quality.warnings):
        warnings.warn(f"{log.source}: {doubt}", DynarmWarning, stacklevel=4)
    return clean


def _check_length(terms: Terms, pieces: Sequence[Stretch], how: Preparation) -> None:
    rows = sum(len(p) // factor_for(how, p.rate) for p in pieces)
    if not pieces or rows * terms.n < terms.size:
        raise InputError(
            f"{rows} samples of {terms.n} joints remain after filtering and decimation for {terms.size} unknowns; "
            "record longer, raise the cut-off or lower decimate"
        )


def _own_weights(factors: Factors, solution: Solution) -> Solution:
    """An ordinary fit with the weights that make its covariance one of white noise of equal size."""
    free = max(int(factors.rows.sum()) - factors.size, 1)
    common = float(np.sqrt(factors.squares(solution.values).sum() / free))
    common = common if common > 0 else 1.0
    return replace(
        solution,
        weights=np.full(factors.n, 1 / common),
        covariance=solution.covariance * common**2,
        scales=solution.scales / common,
        pulls=solution.pulls / common,
    )
