"""Identifier(arm).fit(log): from recordings to the values of a robot's parameters."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ..border.arguments import among, each, flag, items, positive, real, shown
from ..border.kinds import Kept, Outside
from ..errors import DynarmWarning, InputError, KindError
from ..robot.arm import Arm
from . import tuning
from .estimators import table
from .estimators.factors import RowSource, fold
from .estimators.methods import wls
from .estimators.prior import pull_of
from .estimators.problem import Problem, Pull
from .judgement.identifiability import NOT, Identifiability, assess
from .judgement.outliers import left_out, without_outliers
from .judgement.quality import unit_doubts
from .judgement.soundness import check_digits, check_stretches, negative_energy
from .judgement.statistics import residuals
from .judgement.verdict import Validation
from .logs.log import Log, in_order
from .logs.sources import logs_of
from .preprocess import Preparation, Recording, Stretch, factor_for
from .record import Record, nearest_to
from .regressor import Column, Terms, check_terms, force_names, terms_of
from .rests import resting
from .result import Fit, FitError
from .searchable import Searchable

ROWS = ("joints", "base", "both")


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
    rows         of a free base: which forces are explained, "joints" (what holds the base is not measured; forces on
                 feet are wrenches on tools), "base" (the wrench on the base alone, which tells all minimal parameters),
                 "both"; None: whatever the logs hold. Unknowns that these rows do not feel are told as not determined
    progress     called with (samples done, samples in all) while the regressor is folded
    """

    arm: Arm
    friction: Sequence[str] = ("viscous", "coulomb", "offset")
    shape: str = "sign"
    armature: bool = True
    estimator: str = "wls"
    cutoff: float | None = None
    width: Kept = None
    asymmetric: bool = False
    columns: Sequence[Column] = ()
    prior: Arm | None = None
    regularise: Kept = "auto"
    feasible: bool = False
    preparation: Preparation = field(default_factory=Preparation)
    progress: Callable[[int, int], None] | None = None
    rows: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.arm, Arm):
            raise KindError(
                f"arm is {shown(self.arm)}; give a dynarm.Arm, for example dynarm.load(...)"
            )
        table.named(self.estimator)
        if self.prior is not None and not isinstance(self.prior, Arm):
            raise KindError(f"prior is {shown(self.prior)}; give a dynarm.Arm, or None")
        if self.prior is not None and self.prior.n != self.arm.n:
            raise InputError(f"prior has {self.prior.n} joints, the arm {self.arm.n}")
        if self.prior is not None and (self.prior.floating is None) != (self.arm.floating is None):
            raise InputError("prior and arm do not stand alike, on a free or a fixed base")
        self._check_base()
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

    def _check_base(self) -> None:
        """Refuse what a base does not allow."""
        if self.rows is not None and not among(self.rows, ROWS):
            raise InputError(f"rows is {shown(self.rows)}; choose among {', '.join(ROWS)}, or None")
        if self.rows in ("base", "both") and not self.arm.floating:
            raise InputError(
                f"rows is {self.rows!r}, robot '{self.arm.name}' stands on a fixed base, whose wrench is no force of "
                "its model; load it with floating=True, and give the pose at which the base stands"
            )
        if self.arm.floating and not table.named(self.estimator).floating:
            raise InputError(
                f"estimator is {self.estimator!r}, which goes from joint to joint and knows no free base; choose 'wls'"
            )

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
        given = each("width", self.width, (len(self.arm.joint_names),))
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

    def prepare(self, log: Outside) -> list[Log]:
        """The logs with their joints in the arm's order, checked; doubts about them are warnings.

        Samples that would decide a fit alone are left out, and the log's notes say so.
        """
        return [_fitting(self.arm, one, self.rows) for one in logs_of(log, self.arm)]

    def fit(self, log: Outside, y: Outside = None) -> Fit:
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
        method = table.named(self.estimator)
        source, recording, trials = self._source(logs)
        terms, pieces, how = source.terms, source.pieces, source.how
        factors = fold(terms, pieces, how, tick=self._ticker(sum(map(len, pieces))))
        problem = Problem(factors, names=terms.names, sources=(source,))
        free = method.plain or wls.solve
        plain = free(problem)  # without a prior: it tells what the log determines
        left = residuals(terms, pieces, how, plain.values)
        check = assess(terms, factors, plain, left.inflation, pieces)
        pull = pull_of(terms, factors, plain, self.prior)
        unit = float(np.sqrt(left.inflation.mean()))
        ridge, errors = self._ridge(problem, pull, unit, check)
        solution = plain
        if ridge > 0 or method.solve is not free:
            solution = method.solve(replace(problem, ridge=ridge, pull=pull))
            left = residuals(terms, pieces, how, solution.values)
        spread = method.covariance(solution, left.inflation)
        recording.keep(how)
        record = Record(
            replace(self, progress=None),
            terms,
            how,
            terms.widths,
            trials,
            errors,
            solution.problem,
            check,
            left,
            recording,
            negative_energy(terms, pieces, solution.values, spread),
            tuple(f"{one.source}: {note}" for one in logs for note in left_out(one)),
        )
        if not self.feasible:
            return Fit(record, solution, solution.values, spread)
        near = nearest_to(record, solution.values, spread)
        left = residuals(terms, pieces, how, near.values)  # what is judged is what is returned
        return Fit(replace(record, residuals=left), solution, near.values, spread)

    def _source(self, logs: Sequence[Log]) -> tuple[RowSource, Recording, tuple[tuning.Trial, ...]]:
        """The rows to fit, preparation and widths decided, the memory of the logs, and the trials that decided."""
        terms, how = self.terms(self._widths()), self.prepared
        check_stretches(logs, how)
        recording = Recording(logs)
        how, trials = tuning.choose_preparation(recording, terms, how)
        pieces = recording.pieces(how)
        _check_length(terms, pieces, how)
        if self.shape == "tanh" and self.width is None and "coulomb" in terms.friction:
            terms = self.terms(tuning.choose_widths(terms, pieces, how)[0])
        return RowSource(terms, pieces, how), recording, trials

    @property
    def prepared(self) -> Preparation:
        """The preparation with the cut-off that was given here, if one was."""
        how = self.preparation
        return how if self.cutoff is None else replace(how, cutoff=self.cutoff)

    def cross_validate(self, logs: Sequence[Log]) -> list[Validation]:
        """For each run, its prediction by the fit of all others."""
        runs = self.prepare(logs)
        if len(runs) < 2:
            raise InputError("cross-validation needs at least two logs; give a list of runs")
        return [self.fit([*runs[:k], *runs[k + 1 :]]).validate(run) for k, run in enumerate(runs)]

    def _ridge(
        self, problem: Problem, pull: Pull, unit: float, check: Identifiability
    ) -> tuple[float, dict[float, float]]:
        """0 where the log determines all, else what held-out time supports; unit: what the noise alone calls for."""
        if self.regularise != "auto":
            return float(self.regularise) * unit, {}
        able = table.named(self.estimator).prior
        if not able or (check.worst <= NOT and self.prior is None):
            return 0.0, {}
        ridge, errors = tuning.choose_ridge(problem.factors, pull, unit)
        return max(ridge, unit), errors


def _fitting(arm: Arm, log: Log, rows: str | None) -> Log:
    """The log in the arm's joint order; refused or warned about where it cannot be right."""
    log = _with_rows(in_order(log, arm), rows)
    flat = np.ptp(log.tau, axis=0) <= 1e-9 * np.maximum(np.abs(log.tau).max(axis=0), 1e-300)
    still = resting(log.q, 7 if log.floating else 0)
    if (flat & ~still).any():
        j = int(np.argmax(flat & ~still))
        raise InputError(
            f"{log.source}: the torque of joint '{force_names(arm)[j]}' is constant ({log.tau[0, j]:.6g}); "
            "check its column"
        )
    check_digits(log)
    clean = without_outliers(log)
    lost = left_out(clean) if clean is not log else ()
    revolute = [arm.joints[i].revolute for i in arm.coupling.masters]
    qd = None if clean.qd is None else clean.split("qd")[1]
    doubts = unit_doubts(clean.t, clean.split("q")[1], qd, revolute)
    for doubt in (*lost, *doubts, *clean.quality.warnings):
        warnings.warn(f"{log.source}: {doubt}", DynarmWarning, stacklevel=4)
    return clean


def _with_rows(log: Log, rows: str | None) -> Log:
    """The log with the torques of some rows only: of the joints, of a free base, or of both."""
    if rows is None or not log.floating:
        return log
    base = np.arange(log.tau.shape[1]) < 6
    wanted = {"joints": ~base, "base": base, "both": base | True}[rows]
    measured = log.measured
    for part, name in ((base, "wrench on the base"), (~base, "torque of a joint")):
        if (wanted & part).any() and not (measured & part).any():
            raise InputError(
                f"rows is {rows!r}, {log.source} holds no {name}; record it, or choose other rows"
            )
    return log if wanted.all() else replace(log, tau=np.where(wanted, log.tau, np.nan))


def _check_length(terms: Terms, pieces: Sequence[Stretch], how: Preparation) -> None:
    rows = sum(len(p) // factor_for(how, p.rate) for p in pieces)
    told = int(np.any([piece.keep.any(axis=0) for piece in pieces], axis=0).sum()) if pieces else 0
    if not pieces or rows * told < terms.size:
        raise InputError(
            f"{rows} samples of {told or terms.n} joints remain after filtering and decimation for {terms.size} "
            "unknowns; record longer, raise the cut-off or lower decimate"
        )
