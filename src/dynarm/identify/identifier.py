"""Identifier(arm).fit(log): from recordings to the values of a robot's parameters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ..border.arguments import among, each, flag, items, positive, real, shown
from ..border.kinds import Kept, Outside
from ..errors import InputError, KindError
from ..robot.arm import Arm, Friction
from . import tuning
from .auto import Decided, decide, overloaded, unloaded
from .declared_terms import declared_columns
from .estimators import table
from .estimators.factors import RowSource, fold
from .estimators.methods import wls
from .estimators.prior import pull_of
from .estimators.problem import Problem, Pull
from .fitting import AUTO, band_of, check_length, fitting_log, friction_words, loaded, with_damping
from .friction.selection import Choice, with_memory
from .judgement.identifiability import NOT, Identifiability, assess
from .judgement.outliers import left_out
from .judgement.soundness import check_stretches, negative_energy
from .judgement.statistics import residuals
from .judgement.verdict import Validation
from .logs.log import Log
from .logs.sources import logs_of
from .own_columns import Column
from .position.checks import gains_of
from .position.fitting import fit_positions
from .preprocess import Preparation, Recording
from .record import Record, nearest_to
from .regressor import FRICTION, Terms, terms_of
from .result import Fit, FitError
from .rows import check_terms
from .searchable import Searchable

ROWS = ("joints", "base", "both")
_CHOICES = 0.6  # part of the work that choices are


@dataclass(unsafe_hash=True)  # frozen by Searchable, which lets scikit-learn keep notes of its own
class Identifier(Searchable):
    """What is to be found from a log, and how.

    friction     columns of every joint: any of "viscous", "coulomb", "offset"; a dynarm.Friction, or one a joint,
                 whose coefficients are unknown besides; or "auto": all three, and whichever families of curves,
                 hysteresis, load, ripple and coupling lower the error on time that was not fitted (fit.choice_)
    shape        of Coulomb friction, "sign" or "tanh", or "auto": chosen with friction, else "sign"; width [rad/s or
                 m/s] of tanh: a number, one a joint, or None: for each joint that which explains its torque best.
                 Whoever gives shape, width, asymmetric, cutoff or more of the preparation has plain friction
    armature     reflected motor inertias are unknown too; "auto": yes
    estimator    "ols", "wls", "irls" (robust), "iv" (instrumental variables), "recursive" (Lin's, link by link)
    cutoff       [Hz] of the low-pass filter; None: chosen from the data
    asymmetric   friction by direction; the offset is then part of it
    columns      further terms of the user's own, see Column; what a log's channels declare (coupling, springs) is added
    prior        an Arm whose (CAD) values are approached where the data say little; None: the arm itself, unless all
                 its links are alike, as in files without real inertias, when zero is
    regularise   "auto": plain least squares where the log determines every unknown and no prior is given, else as
                 strongly as held-out time supports, at least 1; 0: never; or a number, 1 being what the noise calls for
    feasible     values_ are made physically consistent
    preparation  all further choices about filtering and decimation; cutoff here wins over the one there
    rows         of a free base: which forces are explained, "joints" (what holds the base is not measured; forces on
                 feet are wrenches on tools), "base" (the wrench on the base alone, which tells all minimal parameters),
                 "both"; None: whatever the logs hold. Unknowns that these rows do not feel are told as not determined
    pd           (kp, kd) of the joints' controller, numbers or one a joint: logs hold commanded positions (q_command)
                 in place of torques, torque = kp (q_command - q) - kd qd; the fit is a PositionFit: drives and delay
    progress     called with (samples done, samples in all) while the regressor is folded
    """

    arm: Arm
    friction: Outside = AUTO
    shape: str = AUTO
    armature: Outside = AUTO
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
    pd: Kept = None

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
        put = object.__setattr__
        put(self, "friction", friction_words(self.friction))
        self._check_records()
        if not isinstance(self.columns, tuple):
            own = tuple(items("columns", self.columns, "a list of dynarm.Column"))
            put(self, "columns", own)
        for name in ("armature", "asymmetric", "feasible"):
            if name != "armature" or not among(self.armature, (AUTO,)):
                flag(name, getattr(self, name))
        shape = "sign" if among(self.shape, (AUTO,)) else self.shape
        check_terms(self._words(), (shape,), self.columns)
        self.terms(self._widths())
        if self.pd is not None:
            gains_of(self.arm, self.pd)

    def _check_records(self) -> None:
        """Refuse records of friction that are not one a joint, or that other options contradict."""
        records = self._records()
        if not records:
            return
        joints = len(self.arm.coupling.masters)
        if len(records) != len(self.friction):
            raise InputError(
                f"friction mixes words and records: {shown(self.friction)}; give one kind of them"
            )
        if len(records) not in (1, joints):
            raise InputError(
                f"friction has {len(records)} records for {joints} joints; give one each"
            )
        if not among(self.shape, (AUTO,)) or self.width is not None or self.asymmetric:
            raise InputError(
                "friction is given by records, which say shape and width themselves; leave shape, width and "
                "asymmetric out"
            )
        for record in records:
            for other in record.coupling:
                if isinstance(other.joint, str) or not 0 <= other.joint < joints:
                    raise InputError(
                        f"friction is coupled with joint {shown(other.joint)}; give indices from 0 to {joints - 1}"
                    )
        if any(not r.plain or r.curve for r in records) and not self._listing:
            raise InputError(
                f"estimator is {self.estimator!r}, which takes no lists of friction; choose 'wls'"
            )

    def _records(self) -> tuple[Friction, ...]:
        """The records that friction was given by; none where it was not."""
        given = self.friction if isinstance(self.friction, tuple) else ()
        return tuple(entry for entry in given if isinstance(entry, Friction))

    def _words(self) -> tuple[Outside, ...]:
        """The plain terms of every joint."""
        return FRICTION if self.friction == AUTO or self._records() else tuple(self.friction)

    @property
    def _listing(self) -> bool:
        return table.named(self.estimator).listed

    @property
    def automatic(self) -> bool:
        """Whether friction, shape and states are chosen from the data."""
        left = self.friction == AUTO and among(self.shape, (AUTO,)) and self.width is None
        return bool(left and not self.asymmetric and self._listing and not self.prepared.described)

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
        """The columns of the model, before anything is chosen from the data."""
        records = self._records()
        shape: str | tuple[str, ...] = "sign" if among(self.shape, (AUTO,)) else self.shape
        if records:
            records = records * len(self.arm.coupling.masters) if len(records) == 1 else records
            shape, widths = tuple(r.shape for r in records), tuple(r.width for r in records)
        return terms_of(
            self.arm,
            self._words(),
            shape,
            widths,
            bool(self.armature),
            bool(self.asymmetric),
            tuple(self.columns),
            records if any(not r.plain or r.curve for r in records) else (),
        )

    def _ticker(self, samples: int) -> Callable[[int], None] | None:
        """What a pass over the data calls with the number of samples that it has done."""
        report, done = self.progress, 0
        if report is None:
            return None

        before = round(_CHOICES / (1 - _CHOICES) * samples) if self.automatic else 0

        def tick(more: int) -> None:
            nonlocal done
            done += more
            report(before + done, before + samples)

        return tick

    # ---- fitting

    def prepare(self, log: Outside) -> list[Log]:
        """The logs with their joints in the arm's order, checked; doubts about them are warnings.

        Samples that would decide a fit alone are left out, and the log's notes say so.
        """
        return [fitting_log(self.arm, one, self.rows) for one in logs_of(log, self.arm)]

    def fit(self, log: Outside, y: Outside = None) -> Fit:
        """The values that explain one log or several: a Log, a path, a DataFrame, or a list of such.

        The identifier remembers the fit as `fit_`, for `predict` and `score`. y is there for scikit-learn and unused.
        With pd the fit is a PositionFit.
        """
        if self.pd is not None:
            positions: Fit = self._fit_positions(log)
            return positions
        logs = self.prepare(log)
        names = {column.name for column in self.columns}
        more = [c for c in declared_columns(self.arm, logs) if c.name not in names]
        whole = replace(self, columns=(*self.columns, *more)) if more else self
        try:
            done = whole._fit(logs)
        except np.linalg.LinAlgError as error:
            raise FitError(
                f"{logs[0].source}: numbers too far apart to be solved for ({error}); check the units of t, q and tau"
            ) from None
        object.__setattr__(self, "fit_", done)
        return done

    def _fit_positions(self, log: Outside) -> Outside:
        """The PositionFit of logs without torques, which only whoever gives pd asks for."""
        done = fit_positions(self.arm, gains_of(self.arm, self.pd), logs_of(log, self.arm))
        object.__setattr__(self, "fit_", done)
        return done

    def _fit(self, logs: list[Log]) -> Fit:
        recording = Recording(logs)
        return self._fit_as(self._decided(recording), recording, logs)

    def _fit_as(self, decided: Decided, recording: Recording, logs: list[Log]) -> Fit:
        """The fit of what was decided."""
        method = table.named(self.estimator)
        terms, how, start = decided.terms, decided.how, decided.start
        pieces = with_memory(terms, recording.pieces(how), start)
        source = RowSource(terms, pieces, how)
        factors = fold(terms, pieces, how, tick=self._ticker(sum(map(len, pieces))))
        problem = with_damping(Problem(factors, names=terms.names, sources=(source,)), terms)
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
        if any(piece.loaded for _, piece in terms.listed_terms):
            solution, pieces = loaded(method, terms, pieces, how, solution)
            heavy = overloaded(terms, solution.values) if self.automatic else []
            if heavy:
                return self._fit_as(unloaded(decided, heavy), recording, logs)
            left = residuals(terms, pieces, how, solution.values)
        spread = method.covariance(solution, left.inflation)
        recording.keep(how)
        record = Record(
            replace(self, progress=None),
            terms,
            how,
            terms.widths,
            decided.trials,
            errors,
            solution.problem,
            check,
            left,
            recording,
            decided.choice,
            band_of(pieces, how),
            negative_energy(terms, pieces, solution.values, spread),
            tuple(f"{one.source}: {note}" for one in logs for note in left_out(one)),
        )
        if not self.feasible:
            return Fit(record, solution, solution.values, spread)
        near = nearest_to(record, solution.values, spread)
        left = residuals(terms, pieces, how, near.values)  # what is judged is what is returned
        return Fit(replace(record, residuals=left), solution, near.values, spread)

    def _decided(self, recording: Recording) -> Decided:
        """Terms and preparation, chosen from the data where nothing was said."""
        terms, how = self.terms(self._widths()), self.prepared
        check_stretches(recording.logs, how)
        if self.automatic:
            decided = decide(recording, terms, how, self._part)
        else:
            how, trials = tuning.choose_preparation(recording, terms, how)
            if self.shape == "tanh" and self.width is None and "coulomb" in terms.friction:
                pieces = recording.pieces(how)
                check_length(terms, pieces, how)
                terms = self.terms(tuning.choose_widths(terms, pieces, how)[0])
            decided = Decided(
                terms, how, trials, Choice(terms.records, refused="given by the user")
            )
        check_length(decided.terms, recording.pieces(decided.how), decided.how)
        return decided

    def _part(self, part: float) -> None:
        """Report progress of the choices, which come before the rows are folded."""
        if self.progress is not None:
            self.progress(round(_CHOICES * part * 1000), 1000)

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
