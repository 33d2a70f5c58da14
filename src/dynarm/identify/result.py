"""The outcome of a fit: values with their certainty, predictions, validation, a consistent arm and a compiled model."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ..border.arguments import real, samples, whole
from ..border.kinds import Foreign, Given, Numbers, Outside
from ..border.memo import cached_property
from ..errors import DynarmError, InputError
from ..robot.arm import Arm, Friction
from . import tables
from .bodies import wrench_forces
from .declared_terms import carried
from .estimators import table
from .estimators.feasibility import Feasible
from .estimators.link_steps import LinkByLink
from .estimators.problem import Solution
from .extended import ExtendedModel, with_columns
from .friction.selection import Choice
from .judgement import reasons as judgement
from .judgement.fitted import FittedErrors, fitted_errors
from .judgement.identifiability import Identifiability
from .judgement.reasons import POOR
from .judgement.runs import RunAgreement, alone
from .judgement.signs import impossible_signs
from .judgement.statistics import Residuals, bootstrap, essential
from .judgement.verdict import Validation, Verdict, compared, errors_over, mean_error
from .logs.log import Log, in_order
from .logs.sources import log_of, logs_of
from .prediction import forces_along, friction_curve, smoother_signs
from .preprocess import states_at
from .record import Record, arm_of, nearest_to
from .segments import starts_of
from .tuning import channel_delays, trial_factors

if TYPE_CHECKING:
    from ..model.model import Model


class FitError(DynarmError, ArithmeticError):
    """A fit whose outcome cannot be relied on."""


@dataclass(frozen=True, eq=False)
class Fit(LinkByLink):
    """What was found from logs: names, values and deviations of all unknowns, in one order.

    `dynarm.Identifier.fit` makes it; the guide "Identification in practice" says how to read it.

    Attributes
    ----------
    record : Record
        What was fitted: robot, terms, logs and how they were prepared.
    solution : Solution
        Rank, singular values and directions of the least-squares problem.
    values_ : ndarray
        Values (p,) of all unknowns, in the order of `names_`.
    covariance_ : ndarray
        Their covariance (p, p), autocorrelation of the residuals accounted for.

    Examples
    --------
    >>> arm = dynarm.load("two_link")
    >>> t = np.linspace(0, 10, 1001)
    >>> q = np.column_stack([np.sin(2 * t), np.sin(3 * t)])
    >>> qd = np.column_stack([2 * np.cos(2 * t), 3 * np.cos(3 * t)])
    >>> noise = np.random.default_rng(0).normal(0, 0.05, q.shape)
    >>> tau = dynarm.compile(arm).inverse_dynamics(q, qd, -q * [4, 9]) + noise
    >>> log = dynarm.Log(t, q, tau, qd=qd)
    >>> fit = dynarm.Identifier(arm, friction=(), armature=False).fit(log)
    >>> fit.names_
    ('U1_33', 'k1_x', 'k1_y', 'U2_33', 'k2_x', 'k2_y')
    """

    record: Record
    solution: Solution
    values_: np.ndarray
    covariance_: np.ndarray  # (p, p), autocorrelation of the residuals accounted for

    @property
    def held_(self) -> tuple[Log, ...]:
        """Logs that a `Dataset(hold_out=)` kept back, as `validate` and `verdict` take them.

        Of a dataset that does not fit into memory the middles of some.
        """
        return self.record.recording.held

    # ---- numbers

    @property
    def names_(self) -> tuple[str, ...]:
        """Names of all unknowns: minimal parameters, motor inertias, friction and offset by joint."""
        return self.record.terms.names

    @cached_property
    def std_(self) -> np.ndarray:
        """(p,) standard deviations; infinite for unknowns that the log says nothing about."""
        return self.solution.deviations(self.covariance_, self.record.data("std_").present)

    @property
    def relative_std_(self) -> np.ndarray:
        """(p,) standard deviations over the size of the values [%]."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(100 * self.std_ / np.abs(self.values_))

    def intervals(self, level: float = 0.95) -> np.ndarray:
        """(p, 2) confidence intervals.

        Parameters
        ----------
        level : float, default 0.95
            Confidence, 0.95 for 95 %.

        Returns
        -------
        ndarray
            Lower and upper ends (p, 2).

        Examples
        --------
        >>> fit.intervals().shape
        (6, 2)
        """
        from scipy.stats import norm

        share = real("level", level, "a share of at least 0, below 1", lambda x: 0 <= x < 1)
        half = float(norm.ppf(0.5 + share / 2)) * self.std_
        return np.column_stack([self.values_ - half, self.values_ + half])

    @property
    def rank_(self) -> int:
        """How many combinations of the unknowns the logs determine."""
        return self.record.identifiability.rank

    @property
    def condition_(self) -> float:
        """Condition number of the weighted regressor with columns of length one."""
        return self.record.identifiability.condition

    @property
    def ridge_(self) -> float:
        """Strength of the pull towards the prior; 0: plain least squares."""
        return self.solution.ridge

    @property
    def identifiability_(self) -> Identifiability:
        """What the logs determine, unknown by unknown, with advice."""
        return self.record.identifiability

    @property
    def residuals_(self) -> Residuals:
        """What the fit leaves of the torques, and how it is correlated in time."""
        return self.record.residuals

    @cached_property
    def delays_(self) -> np.ndarray:
        """(n,) time by which each joint's torque lags its motion [s]; NaN where the logs do not show it."""
        terms, recording, how = self.record.terms, self.record.recording, self.record.preparation
        pieces = recording.short.pieces(how)
        if not pieces:
            return np.full(terms.n, np.nan)
        return channel_delays(terms, pieces, how, trial_factors(recording, terms, how))

    @property
    def cutoff_(self) -> float:
        """Cut-off frequency used [Hz]."""
        assert self.record.preparation.cutoff is not None
        return self.record.preparation.cutoff

    @property
    def band_(self) -> float:
        """The fit's band [Hz]: its cut-off, or where 99.9 % of every joint's motion ends if states are splines."""
        return self.record.band

    @property
    def widths_(self) -> tuple[float, ...]:
        """Width of the smoothed sign, joint by joint."""
        return self.record.widths

    @property
    def relative_(self) -> np.ndarray:
        """(n,) fitted error: RMS residual over the torque's standard deviation, both filtered as fitted.

        NaN where no torque was fitted, and for joints that rest with all that moves them: there is nothing to explain.
        """
        left = self.record.residuals
        return errors_over(left.rms, left.spread)

    @property
    def silent_(self) -> np.ndarray:
        """(n,) torques that say nothing: none was fitted, or all that moves them rests."""
        return np.asarray(np.isnan(self.record.residuals.spread))

    @cached_property
    def consistent_(self) -> np.ndarray:
        """(n,) fitted error of the physically consistent values, as relative_."""
        if np.array_equal(self.values_, self.feasible_.values):
            return self.relative_
        factors = self.record.data("consistent_")
        rows = np.maximum(factors.rows.sum(axis=0), 1)
        rms = np.sqrt(factors.squares(self.feasible_.values).sum(axis=0) / rows)
        return errors_over(rms, self.record.residuals.spread)

    @cached_property
    def fitted_(self) -> FittedErrors:
        """Errors on the fitted logs as `validate` has them of others: whole logs, as measured; rmse, relative, band."""
        pieces = self.record.recording.short.pieces(self.record.preparation)
        return fitted_errors(self.record.terms, self.values_, pieces, self.band_)

    @cached_property
    def impossible_(self) -> tuple[str, ...]:
        """Values of the wrong sign by four standard deviations: motor inertias, friction."""
        return impossible_signs(self.record.terms, self.values_, self.covariance_, self.speeds_)

    @property
    def runs_(self) -> RunAgreement:
        """How runs that were fitted alone agree, and how much std_ was widened for it; false where there was one."""
        return self.record.runs or alone(self.record.terms)

    @cached_property
    def status_(self) -> str:
        """What to know about the outcome, in sentences; begins with 'ok' where nothing is wrong."""
        return judgement.status(self, int(self.record.data("status_").present.sum()))

    def check(self) -> Fit:
        """The fit itself, or an error that says why it cannot be relied on.

        Returns
        -------
        Fit
            The fit itself.

        Examples
        --------
        >>> fit.check() is fit
        True
        """
        if self.status_.startswith("doubtful"):
            raise FitError(self.status_)
        return self

    # ---- prediction

    def states(self, log: Outside) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Smooth q, qd, qdd (N, n) at the log's own samples, prepared as for the fit.

        Parameters
        ----------
        log : Log, path or DataFrame
            The log; several are a list of them.

        Returns
        -------
        ndarray
            Positions (N, n).
        ndarray
            Velocities (N, n).
        ndarray
            Accelerations (N, n).

        Examples
        --------
        >>> smooth_q, smooth_qd, smooth_qdd = fit.states(log)
        >>> smooth_q.shape
        (1001, 2)
        """
        return states_at(self._log(log), self.record.preparation)

    def _log(self, log: Outside) -> Log:
        """The log that was given (itself, its path, a DataFrame), its joints in the arm's order."""
        arm = self.record.terms.arm
        return in_order(log_of(log, arm), arm)

    def torque(
        self, q: Numbers, qd: Numbers, qdd: Numbers, friction_state: Given = None
    ) -> np.ndarray:
        """(N, n): the torques that the fit predicts for given states.

        Parameters
        ----------
        q : array_like (N, n)
            Positions.
        qd : array_like (N, n)
            Velocities.
        qdd : array_like (N, n)
            Accelerations.
        friction_state : array_like (..., m), optional
            (N, m) states of friction with memory, as `friction_states` and
            `model_.friction_state` give them; None: without memory.

        Returns
        -------
        ndarray
            Torques (N, n) [N m or N].

        Examples
        --------
        >>> fit.torque(*fit.states(log)).shape
        (1001, 2)
        """
        arm = self.record.terms.arm
        (q,) = samples(arm.name, arm.nq, q=q)
        states = [q, *samples(arm.name, arm.nv, qd=qd, qdd=qdd)]
        if len(states[0]) != len(states[1]):
            raise InputError(
                f"q has {len(q)} samples, qd has {len(states[1])}; give as many of each"
            )
        terms, deflected = self.record.terms, None
        if friction_state is not None:
            moved = terms.memory.next(friction_state, q)
            deflected = moved[:, : len(terms.memory.strokes)]
        return forces_along(terms, self.values_, (states[0], states[1], states[2]), deflected)

    def friction_states(self, log: Outside) -> np.ndarray:
        """(N, m): what friction with memory remembers at the samples of a log, as `predict` takes it.

        `model_.inverse_dynamics(*fit.states(log), friction_state=...)` is what `predict` says, and a controller
        that begins with the first of these states goes on as `predict` does.

        Parameters
        ----------
        log : Log, path or DataFrame
            The log; several are a list of them.

        Returns
        -------
        ndarray
            States (N, m); m is 0 without memory.

        Examples
        --------
        >>> fit.friction_states(log).shape
        (1001, 0)
        """
        log = self._log(log)
        q, qd, qdd = states_at(log, self.record.preparation)
        return self.record.terms.memory.along(q, starts_of(log), qd, qdd)

    def predict(self, log: Outside) -> np.ndarray:
        """(N, n): predicted torques at the samples of a log, the path of one, or a DataFrame.

        Parameters
        ----------
        log : Log, path or DataFrame
            The log; several are a list of them.

        Returns
        -------
        ndarray
            Torques (N, n) [N m or N].

        Examples
        --------
        >>> fit.predict(log).shape
        (1001, 2)
        """
        log = self._log(log)
        q, qd, qdd = states_at(log, self.record.preparation)
        terms, held = self.record.terms, None
        if log.wrench is not None:
            held = wrench_forces(terms.arm, q, log.wrench)
        deflected = terms.deflections(q, qd, qdd, starts_of(log))
        tau = forces_along(terms, self.values_, (q, qd, qdd), deflected, held)
        return tau if held is None else tau + held

    def validate(self, log: Outside) -> Validation:
        """The prediction of a log compared with what was measured.

        Parameters
        ----------
        log : Log, path or DataFrame
            The log; several are a list of them.

        Returns
        -------
        Validation
            Errors by joint: `.rmse`, `.relative`, `.band`.

        Examples
        --------
        >>> fit.validate(log).rmse.round(2)
        array([0.06, 0.05])
        """
        log = self._log(log)
        return compared(log, self.predict(log), self.record.terms.arm, self.band_)

    def score(self, log: Outside) -> float:
        """1 - mean over joints of (RMSE / standard deviation)^2: 1 is perfect, 0 as good as the mean torque.

        Of several logs the mean of theirs; torques that were not measured, or cannot change, do not count.

        Parameters
        ----------
        log : Log, path or DataFrame
            The log; several are a list of them.

        Returns
        -------
        float
            At most 1.

        Examples
        --------
        >>> fit.score(log) > 0.99
        True
        """
        runs = [self.validate(one) for one in logs_of(log, self.record.terms.arm)]
        return float(np.mean([1 - mean_error(run.relative**2, run.silent) for run in runs]))

    # ---- robot and model

    @property
    def friction_(self) -> tuple[Friction | None, ...]:
        """The friction of each independent joint, with its numbers: that of arm_."""
        joints = self.arm_.joints
        return tuple(joints[i].friction for i in self.record.terms.joints)

    @property
    def choice_(self) -> Choice:
        """What was tried on friction, joint by joint: gained, taken or refused, and why; print it, or ask its frame."""
        return self.record.choice

    @cached_property
    def feasible_(self) -> Feasible:
        """The physically consistent parameter set nearest to the values."""
        return nearest_to(self.record, self.solution.values, self.covariance_)

    @cached_property
    def arm_(self) -> Arm:
        """A physically consistent arm that gives the fitted values (or the nearest such), friction included.

        Coupling that a channels file declared is part of its friction; springs and columns of the user's own are not.
        """
        columns = self.record.terms.columns
        values = self.feasible_.values[len(self.names_) - len(columns) :]
        return carried(self._consistent_arm, columns, values.tolist())

    @cached_property
    def _consistent_arm(self) -> Arm:
        """arm_ without what columns stand for."""
        near = self.feasible_
        return arm_of(self.record.terms, near.parameters, near.armatures, near.values)

    @cached_property
    def model_(self) -> Model | ExtendedModel:
        """The compiled model that predicts exactly what the fit predicts, friction and the user's columns included.

        It is that of arm_ where the fitted values are consistent or feasible=True; else of the nearest arm that gives
        the fitted values, consistent or not.
        """
        from ..model.model import compile as compile_arm

        terms = self.record.terms
        arm = self._consistent_arm
        if not np.array_equal(self.values_, self.feasible_.values):
            arm = self._exact_arm()
        model = compile_arm(arm, friction=True)
        if not terms.columns:
            return model
        own = self.values_[terms.size - len(terms.columns) :]
        return with_columns(model, terms.columns, own)

    def _exact_arm(self) -> Arm:
        """The arm nearest to arm_ whose minimal parameters are the fitted ones."""
        terms, near = self.record.terms, self.feasible_
        rigid = terms.rigid
        natural = rigid.joined(near.parameters, near.armatures)
        gap = self.values_[: terms.rigid_size] - rigid.matrix @ natural
        table, armatures = rigid.parted(natural + np.linalg.pinv(rigid.matrix) @ gap)
        return arm_of(terms, table, armatures, self.values_)

    # ---- statistics

    @cached_property
    def essential_(self) -> tuple[str, ...]:
        """Names of the unknowns that the prediction needs; leaving the others out costs at most 1 % of error."""
        self.record.data("essential_")
        return essential(self.solution, self.names_)

    def bootstrap(self, repetitions: int = 200, seed: int = 0) -> np.ndarray:
        """(repetitions, p): values refitted to blocks of time drawn with replacement.

        By the estimator of the fit, with its prior; the rows of a robust fit count as they do there.

        Parameters
        ----------
        repetitions : int, default 200
            How often values are refitted.
        seed : int, default 0
            Seed of the draws.

        Returns
        -------
        ndarray
            Values (repetitions, p).

        Examples
        --------
        >>> draws = fit.bootstrap(repetitions=20)
        >>> draws.shape
        (20, 6)
        """
        count = whole("repetitions", repetitions, 1, 10**7), whole("seed", seed)
        problem = replace(self.record.solved("bootstrap"), weights=self.solution.weights)
        return bootstrap(problem, table.named(self.record.identifier.estimator).solve, *count)

    @cached_property
    def speeds_(self) -> np.ndarray:
        """(joints,): the largest speed of each joint in the logs."""
        runs = [(log.split("q")[1], log.t) for log in self.record.logs]
        tops = [np.abs(np.gradient(q, t, axis=0)).max(axis=0) for q, t in runs]
        return np.asarray(np.max(tops, axis=0))

    def friction_curve(self, joint: int, points: int = 201) -> tuple[np.ndarray, np.ndarray]:
        """Velocity and friction force of an independent joint over the range of the log: the part that velocity tells.

        Elements with memory count as slipped; load, ripple and coupling have no part in it.

        Parameters
        ----------
        joint : int
            Index of the joint, from 0.
        points : int, default 201
            Number of velocities.

        Returns
        -------
        ndarray
            Velocities (points,) [rad/s or m/s].
        ndarray
            Friction (points,) [N m or N].

        Examples
        --------
        >>> velocity, friction = fit.friction_curve(0)
        """
        return friction_curve(self.record.terms, self.values_, self.speeds_, joint, points)

    @cached_property
    def friction_advice_(self) -> tuple[str, ...]:
        """Joints whose torque a smoothed sign would explain much better than the sharp one that was fitted."""
        return smoother_signs(self.record)

    def verdict(self, held_out: Outside = (), limit: float = POOR) -> Verdict:
        """PASS where held-out logs are predicted about as well as fitted ones and nothing speaks against the values.

        Without held-out logs it is at best NOT VALIDATED. Reasons say what is wrong, advice what to do.

        Parameters
        ----------
        held_out : Log, path, Validation or list, optional
            Logs that were not fitted, as `validate` takes them, or what it returned for them,
            which is not computed again.
        limit : float, default 0.5
            Largest error of a joint that passes, relative to the standard deviation of its
            torque.

        Returns
        -------
        Verdict
            The verdict.

        Examples
        --------
        >>> print(fit.verdict().word)
        NOT VALIDATED
        """
        wanted = "an error over the torque's standard deviation, 0 or more"
        limit = real("limit", limit, wanted, lambda x: x >= 0)
        arm = self.record.terms.arm
        none = isinstance(held_out, (list, tuple)) and not held_out
        one = isinstance(held_out, Validation)
        given = [] if none else [held_out] if one else logs_of(held_out, arm)
        checks = [x if isinstance(x, Validation) else self.validate(x) for x in given]
        return judgement.verdict(self, checks, limit)

    # ---- text, tables, files

    @property
    def frame(self) -> Foreign:
        """A DataFrame of all unknowns: name, value, std, unit, status (determined, hardly, not, fixed)."""
        return tables.frame(self)

    def compare(self, arm: Arm) -> Foreign:
        """A DataFrame of the minimal parameters: identified, std, those of another arm, and the difference.

        Parameters
        ----------
        arm : Arm
            The other arm, such as the one of the drawings.

        Returns
        -------
        DataFrame
            One row for each minimal parameter.

        Examples
        --------
        >>> list(fit.compare(arm).columns)
        ['name', 'identified', 'std', 'other', 'difference', 'in_std', 'unit']
        """
        return tables.compare(self, arm)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fit to a TOML file that dynarm.load_fit reads; the logs stay where they are.

        Parameters
        ----------
        path : path-like
            The .toml file to write.

        Examples
        --------
        >>> fit.save("fit.toml")
        >>> np.allclose(dynarm.load_fit("fit.toml").values_, fit.values_)
        True
        """
        from .saved import save_fit

        save_fit(self, path)

    def summary(self) -> str:
        """A table for people: unknowns with their certainty, errors by joint, what the log determines.

        Returns
        -------
        str
            The table.

        Examples
        --------
        >>> print(fit.summary().splitlines()[0])
        two_link: 6 unknowns, estimator wls, cut-off 20 Hz, velocity recorded
        """
        return tables.summary(self)

    def __repr__(self) -> str:
        return tables.line(self)

    def __str__(self) -> str:
        return tables.short(self)

    def _repr_html_(self) -> str:
        return tables.fit_html(self)
