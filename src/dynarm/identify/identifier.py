"""Identifier(arm).fit(log): from recordings to the values of a robot's parameters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ..border.arguments import among, each, flag, items, positive, real, shown
from ..border.kinds import Kept, Outside
from ..border.threads import single_threaded
from ..errors import InputError, KindError
from ..robot.arm import Arm, Friction
from .dataset.cluster import cluster_of
from .dataset.files import dataset_of
from .dataset.notes import heard, say
from .dataset.streamed import fit_dataset
from .declared_terms import declared_columns
from .estimators import table
from .fitting import AUTO, friction_words, recording_of
from .judgement.verdict import Validation
from .logs.log import Log
from .logs.sources import logs_of
from .own_columns import Column
from .position.checks import gains_of, refuse_unheard
from .position.fitting import fit_positions
from .preprocess import Preparation, Recording
from .regressor import FRICTION, Terms, terms_of
from .result import Fit, FitError
from .rows import check_terms
from .searchable import Searchable
from .solving import decided, fit_as

ROWS = ("joints", "base", "both")


@dataclass(unsafe_hash=True)  # frozen by Searchable, which lets scikit-learn keep notes of its own
class Identifier(Searchable):
    """What is to be found from a log, and how.

    Parameters
    ----------
    arm : Arm
        The robot; its geometry must be right, its masses need not be.
    friction : str, tuple, Friction or list, default "auto"
        Columns of every joint: any of "viscous", "coulomb", "offset"; a dynarm.Friction, or
        one for each joint, whose coefficients are unknown besides; or "auto": all three, and
        whichever families of curves, hysteresis, load, ripple and coupling lower the error
        on time that was not fitted (`fit.choice_`); (): none.
    shape : str, default "auto"
        Of Coulomb friction, "sign" or "tanh", or "auto": chosen with friction, else "sign".
        Whoever gives shape, width, asymmetric, cutoff or more of the preparation has plain
        friction.
    armature : bool or "auto", default "auto"
        Reflected motor inertias are unknown too; "auto": yes.
    estimator : str, default "wls"
        "ols", "wls", "irls" (robust), "iv" (instrumental variables), "recursive" (Lin's,
        link by link).
    cutoff : float, optional
        [Hz] of the low-pass filter; None: chosen from the data.
    width : float or sequence, optional
        Of tanh [rad/s or m/s], a number or one for each joint; None: for each joint that which
        explains its torque best.
    asymmetric : bool, default False
        Friction by direction; the offset is then part of it.
    columns : sequence of Column, optional
        Further terms of the user's own, see Column; what a log's channels declare
        (coupling, springs) is added.
    prior : Arm, optional
        An Arm whose (CAD) values are approached where the data say little; None: the arm
        itself, unless all its links are alike, as in files without real inertias, when zero
        is.
    regularise : float or "auto", default "auto"
        "auto": plain least squares where the log determines every unknown, no prior is given
        and friction is plain; beside families of friction, which explain much of what bodies
        do, 1; else as strongly as held-out time supports, at least 1; 0: never; or a number,
        1 being what the noise calls for.
    feasible : bool or "auto", default "auto"
        `values_` are made physically consistent; "auto": where the log does not determine
        every unknown, if that lowers the error on thirds of the logs that were not fitted.
    preparation : Preparation, optional
        All further choices about filtering and decimation; cutoff here wins over the one
        there.
    progress : callable, optional
        Called with (samples done, samples in all) while the regressor is folded.
    rows : str, optional
        Of a free base: which forces are explained, "joints" (what holds the base is not
        measured; forces on feet are wrenches on tools), "base" (the wrench on the base
        alone, which tells all minimal parameters), "both"; None: whatever the logs hold.
        Unknowns that these rows do not feel are told as not determined.
    pd : pair, optional
        (kp, kd) of the joints' controller, numbers or one for each joint: logs hold commanded
        positions (q_command) in place of torques, torque = kp (q_command - q) - kd qd; the
        fit is a PositionFit: drives and delay.

    Examples
    --------
    >>> arm = dynarm.load("two_link")
    >>> t = np.linspace(0, 10, 1001)
    >>> q = np.column_stack([np.sin(2 * t), np.sin(3 * t)])
    >>> qd = np.column_stack([2 * np.cos(2 * t), 3 * np.cos(3 * t)])
    >>> tau = dynarm.compile(arm).inverse_dynamics(q, qd, -q * [4, 9])
    >>> log = dynarm.Log(t, q, tau, qd=qd)
    >>> search = dynarm.Identifier(arm, friction=(), armature=False)
    >>> search.fit(log).values_.round(2)
    array([ 4.98,  5.  , -0.  ,  0.64,  1.2 ,  0.  ])
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
    feasible: Kept = AUTO
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
            if name == "asymmetric" or not among(getattr(self, name), (AUTO,)):
                flag(name, getattr(self, name))
        shape = "sign" if among(self.shape, (AUTO,)) else self.shape
        check_terms(self._words(), (shape,), self.columns)
        self.terms(self.given_widths)
        if self.pd is not None:
            gains_of(self.arm, self.pd)
            refuse_unheard(self.get_params())

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

    @property
    def given_widths(self) -> tuple[float, ...]:
        """Widths of the smoothed sign that were given, one a joint; empty where they are to be chosen."""
        if self.width is None:
            return ()
        given = each("width", self.width, (len(self.arm.joint_names),))
        if not (given > 0).all():
            raise InputError(f"width is {self.width}; give positive velocities")
        return tuple(given.tolist())

    def terms(self, widths: tuple[float, ...] = ()) -> Terms:
        """The columns of the model, before anything is chosen from the data.

        Parameters
        ----------
        widths : tuple[float, ...], optional
            Widths of the smoothed sign, one for each joint.

        Returns
        -------
        Terms
            The terms, with their names.

        Examples
        --------
        >>> search.terms().names[:2]
        ('U1_33', 'k1_x')
        """
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

    # ---- fitting

    def prepare(self, log: Outside) -> list[Log]:
        """The logs with their joints in the arm's order, checked; doubts about them are warnings.

        Samples that would decide a fit alone are left out, and the log's notes say so.

        Parameters
        ----------
        log : Log, path or DataFrame
            The log; several are a list of them.

        Returns
        -------
        list[Log]
            The logs as they are fitted.

        Examples
        --------
        >>> len(search.prepare(log))
        1
        """
        return list(self._recording(log).logs)

    def _recording(self, log: Outside) -> Recording:
        """The same, with the samples that choices look at."""
        told: list[tuple[str, str]] = []
        with heard(told):
            recording = recording_of(self.arm, logs_of(log, self.arm), self.rows)
        say(told)
        return recording

    @single_threaded
    def fit(self, log: Outside, y: Outside = None, client: Outside = None) -> Fit:
        """The values that explain one log or several.

        The identifier remembers the fit as `fit_`, for `predict` and `score`. With `pd` the fit is a PositionFit.

        Parameters
        ----------
        log : Log, path, DataFrame, list or Dataset
            The log, or a list of logs; or a folder or a pattern of names, or a Dataset, whose
            logs may be larger than memory.
        y : None
            Not used; scikit-learn passes it.
        client : distributed.Client, optional
            A Dask client, whose workers read and fold a dataset, which they must find under the
            same names.

        Returns
        -------
        Fit
            The fit.

        Examples
        --------
        >>> fit = search.fit(log)
        >>> fit.status_[:2]
        'ok'
        """
        if self.pd is not None:
            positions: Fit = self._fit_positions(log)  # typed as what nearly everybody gets
            return positions
        dataset = dataset_of(log)
        if client is not None and dataset is None:
            raise InputError("client is given, which folds datasets; give a folder or a Dataset")
        if dataset is not None:
            done = fit_dataset(self, dataset, None if client is None else cluster_of(client))
        else:
            recording = self._recording(log)
            done = self.fit_logs(list(recording.logs), recording)
        object.__setattr__(self, "fit_", done)
        return done

    def with_declared(self, logs: Sequence[Log]) -> Identifier:
        """The same, with the coupling and springs that the logs' channels declare.

        Parameters
        ----------
        logs : sequence of Log
            Logs whose channels may declare coupling or springs.

        Returns
        -------
        Identifier
            The identifier with these columns.

        Examples
        --------
        >>> search.with_declared([log]).arm is arm
        True
        """
        names = {column.name for column in self.columns}
        more = [c for c in declared_columns(self.arm, logs) if c.name not in names]
        return replace(self, columns=(*self.columns, *more)) if more else self

    def fit_logs(self, logs: list[Log], recording: Recording) -> Fit:
        """The fit of a recording; logs: those that it consists of, as prepared, or samples of them.

        Parameters
        ----------
        logs : list[Log]
            Those that the recording consists of, as prepared, or samples of them.
        recording : Recording
            What `fit` makes of logs or of a dataset; only `fit` calls this.

        Returns
        -------
        Fit
            The fit.

        Examples
        --------
        >>> fit = search.fit(log)  # prepares the logs and calls fit_logs
        """
        whole = self.with_declared(logs)
        try:
            return fit_as(whole, decided(whole, recording), recording, logs)
        except np.linalg.LinAlgError as error:
            raise FitError(
                f"{logs[0].source}: numbers too far apart to be solved for ({error}); check the units of t, q and tau"
            ) from None

    def _fit_positions(self, log: Outside) -> Outside:
        """The PositionFit of logs without torques, which only whoever gives pd asks for."""
        if dataset_of(log) is not None:
            raise InputError(
                "pd is given, whose logs are simulated whole; give them one by one, not a folder or a pattern"
            )
        done = fit_positions(self.arm, gains_of(self.arm, self.pd), logs_of(log, self.arm))
        object.__setattr__(self, "fit_", done)
        return done

    @property
    def prepared(self) -> Preparation:
        """The preparation with the cut-off that was given here, if one was."""
        how = self.preparation
        return how if self.cutoff is None else replace(how, cutoff=self.cutoff)

    def cross_validate(self, logs: Sequence[Log]) -> list[Validation]:
        """For each run, its prediction by the fit of all others.

        Parameters
        ----------
        logs : sequence of Log
            At least two runs.

        Returns
        -------
        list[Validation]
            One validation for each run.

        Examples
        --------
        >>> [check.mean < 0.01 for check in search.cross_validate([log.cut(0, 5), log.cut(5)])]
        [True, True]
        """
        runs = self.prepare(logs)
        if len(runs) < 2:
            raise InputError("cross-validation needs at least two logs; give a list of runs")
        return [self.fit([*runs[:k], *runs[k + 1 :]]).validate(run) for k, run in enumerate(runs)]
