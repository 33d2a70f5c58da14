"""The outcome of a fit: values with their certainty, predictions, validation, a consistent arm and a compiled model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arguments import items, real, samples, whole
from ..errors import DynarmError
from ..memo import cached_property
from ..robot.arm import Arm, Friction
from .estimators import Solution
from .extended import ExtendedModel, with_columns
from .factors import Factors
from .feasibility import Feasible, nearest
from .identifiability import Identifiability
from .log import Log, in_order
from .preprocess import Preparation, smooth, states_at, stretches
from .regressor import Terms, wrench_forces
from .statistics import Residuals, bootstrap, essential
from .tuning import Trial, channel_delays, choose_widths, middle
from .verdict import Validation, Verdict

if TYPE_CHECKING:
    from ..model import Model
    from .identifier import Identifier

POOR = 0.5  # a joint whose error exceeds this part of its torque's deviation is not explained
OVERFIT = 3.0  # held-out error over fitted error beyond which a fit does not carry over
WORTH_IT = 0.2  # part of an error by which another friction shape must lower it to be recommended
SMALL = 0.1  # fitted errors below this are not compared with


class FitError(DynarmError, ArithmeticError):
    """A fit whose outcome cannot be relied on."""


@dataclass(frozen=True, eq=False)
class Record:
    """What a fit was made from and what was decided on the way."""

    identifier: Identifier
    terms: Terms
    preparation: Preparation
    widths: tuple[float, ...]
    trials: tuple[Trial, ...]
    ridge_errors: Mapping[float, float]
    factors: Factors
    identifiability: Identifiability
    residuals: Residuals
    logs: Sequence[Log]


def nearest_to(record: Record, values: np.ndarray, spread: np.ndarray) -> Feasible:
    """The consistent set nearest to fitted values, and to the prior arm (else the arm) where they leave it free."""
    prior = record.identifier.prior
    return nearest(record.terms, values, spread, None if prior is None else prior.parameters)


@dataclass(frozen=True, eq=False)
class Fit:
    """names_, values_, std_ of all unknowns in order; see CONTRACT and the how-to for the rest."""

    record: Record
    solution: Solution
    values_: np.ndarray
    covariance_: np.ndarray  # (p, p), autocorrelation of the residuals accounted for

    # ---- numbers

    @property
    def names_(self) -> tuple[str, ...]:
        return self.record.terms.names

    @cached_property
    def std_(self) -> np.ndarray:
        """(p,) standard deviations; infinite for unknowns that the log says nothing about."""
        std = np.sqrt(np.maximum(np.diag(self.covariance_), 0.0))
        std = np.where(self.record.factors.present, std, np.inf)
        if self.solution.ridge == 0 and self.solution.rank < self.record.factors.present.sum():
            V, s = self.solution.directions, self.solution.singular
            free = (V[s <= 1e-11 * s[0]] ** 2).sum(axis=0) > 1e-12
            std = np.where(free, np.inf, std)
        return std

    @property
    def relative_std_(self) -> np.ndarray:
        """(p,) standard deviations over the size of the values [%]."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return 100 * self.std_ / np.abs(self.values_)

    def intervals(self, level: float = 0.95) -> np.ndarray:
        """(p, 2) confidence intervals."""
        from scipy.stats import norm

        share = real("level", level, "a share of at least 0, below 1", lambda x: 0 <= x < 1)
        half = float(norm.ppf(0.5 + share / 2)) * self.std_
        return np.column_stack([self.values_ - half, self.values_ + half])

    @property
    def rank_(self) -> int:
        return self.record.identifiability.rank

    @property
    def condition_(self) -> float:
        """Condition number of the weighted regressor with columns of length one."""
        return self.record.identifiability.condition

    @property
    def joint_conditions_(self) -> tuple[float, ...]:
        """cond(A_i) of every joint (recursive estimator)."""
        return self.solution.joint_conditions

    @property
    def ridge_(self) -> float:
        """Strength of the pull towards the prior; 0: plain least squares."""
        return self.solution.ridge

    @property
    def identifiability_(self) -> Identifiability:
        return self.record.identifiability

    @property
    def residuals_(self) -> Residuals:
        return self.record.residuals

    @cached_property
    def delays_(self) -> np.ndarray:
        """(n,) time by which each joint's torque lags its motion [s]; NaN where the logs do not show it."""
        how = self.record.preparation
        pieces = [smooth(p, how) for log in self.record.logs for p in stretches(middle(log))]
        return channel_delays(self.record.terms, pieces, how)

    @property
    def cutoff_(self) -> float:
        """Cut-off frequency used [Hz]."""
        assert self.record.preparation.cutoff is not None
        return self.record.preparation.cutoff

    @property
    def widths_(self) -> tuple[float, ...]:
        """Width of the smoothed sign, joint by joint."""
        return self.record.widths

    @property
    def relative_(self) -> np.ndarray:
        """(n,) fitted error: RMS residual over the torque's standard deviation, both filtered as fitted."""
        left = self.record.residuals
        return left.rms / np.where(left.spread > 0, left.spread, 1.0)

    @cached_property
    def consistent_(self) -> np.ndarray:
        """(n,) fitted error of the physically consistent values, as relative_."""
        if np.array_equal(self.values_, self.feasible_.values):
            return self.relative_
        factors = self.record.factors
        rows = np.maximum(factors.rows.sum(axis=0), 1)
        rms = np.sqrt(factors.squares(self.feasible_.values).sum(axis=0) / rows)
        spread = self.record.residuals.spread
        return rms / np.where(spread > 0, spread, 1.0)

    @cached_property
    def status_(self) -> str:
        """What to know about the outcome, in sentences; begins with 'ok' where nothing is wrong."""
        check = self.record.identifiability
        told = []
        known = int(self.record.factors.present.sum())
        if check.rank < known:
            told.append(f"rank {check.rank} of {known}: some unknowns cannot be told apart")
        if check.undetermined:
            told.append(
                f"{len(check.undetermined)} unknowns are not determined by the log: {', '.join(check.undetermined)}"
            )
        joints = self.record.terms.arm.joint_names
        for name, condition in zip(joints, self.joint_conditions_, strict=False):
            if not np.isfinite(condition):
                told.append(f"the motion does not excite joint {name} persistently")
        bad = [j for j, e in zip(joints, self.relative_, strict=True) if e > POOR]
        if bad:
            told.append(f"the torque of {', '.join(bad)} is not explained")
        head = "ok" if not told else "doubtful: " + "; ".join(told)
        if self.solution.ridge > 0:
            head += f"; regularised (ridge {self.solution.ridge:.2g})"
        return f"{head}; {self.feasible_.status}"

    def check(self) -> Fit:
        """The fit itself, or an error that says why it cannot be relied on."""
        if self.status_.startswith("doubtful"):
            raise FitError(self.status_)
        return self

    # ---- prediction

    def states(self, log: Log) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Smooth q, qd, qdd (N, n) at the log's own samples, prepared as for the fit."""
        return states_at(in_order(log, self.record.terms.arm), self.record.preparation)

    def torque(self, q: Any, qd: Any, qdd: Any) -> np.ndarray:
        """(N, n): the torques that the fit predicts for given states."""
        arm = self.record.terms.arm
        states = samples(arm.name, arm.n, q=q, qd=qd, qdd=qdd)
        out = np.empty(states[0].shape)
        for low in range(0, len(out), 4096):
            part = slice(low, low + 4096)
            out[part] = self.record.terms.forces(self.values_, *(x[part] for x in states))
        return out

    def predict(self, log: Log) -> np.ndarray:
        """(N, n): predicted torques at the log's own samples."""
        log = in_order(log, self.record.terms.arm)
        tau = self.torque(*states_at(log, self.record.preparation))
        if log.wrench is not None:
            tau = tau + wrench_forces(self.record.terms.arm, log.q, log.wrench)
        return tau

    def validate(self, log: Log) -> Validation:
        """The prediction of a log compared with what was measured."""
        log = in_order(log, self.record.terms.arm)
        predicted = self.predict(log)
        rmse = np.sqrt(((log.tau - predicted) ** 2).mean(axis=0))
        spread = log.tau.std(axis=0)
        relative = rmse / np.where(spread > 0, spread, 1.0)
        return Validation(rmse, relative, log.t, log.tau, predicted, log.source)

    # ---- robot and model

    @cached_property
    def feasible_(self) -> Feasible:
        """The physically consistent parameter set nearest to the values."""
        return nearest_to(self.record, self.solution.values, self.covariance_)

    @cached_property
    def arm_(self) -> Arm:
        """A physically consistent arm that gives the fitted values (or the nearest such), friction included."""
        near = self.feasible_
        return self._arm(near.parameters, near.armatures, near.values)

    def _arm(self, table: np.ndarray, armatures: np.ndarray, values: np.ndarray) -> Arm:
        terms = self.record.terms
        joints = tuple(
            replace(
                joint.with_parameters(table[j].tolist()),
                armature=float(armatures[j]),
                friction=self._friction(j, values),
            )
            for j, joint in enumerate(terms.arm.joints)
        )
        return replace(terms.arm, joints=joints)

    def _friction(self, j: int, values: np.ndarray) -> Friction | None:
        terms = self.record.terms
        if not terms.drive_names:
            return None
        found = {w: float(values[terms.drive_index(j, w)]) for w in terms.drive_names}
        return Friction(shape=terms.shape, width=terms.widths[j], **found)

    @cached_property
    def model_(self) -> Model | ExtendedModel:
        """The compiled model that predicts exactly what the fit predicts, friction and the user's columns included.

        It is that of arm_ where the fitted values are consistent or feasible=True; else of the nearest arm that gives
        the fitted values, consistent or not.
        """
        from ..model import compile as compile_arm

        terms = self.record.terms
        arm = self.arm_
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
        natural = near.parameters
        if terms.armature:
            natural = np.column_stack([natural, near.armatures])
        matrix = terms.rigid.matrix
        gap = self.values_[: terms.rigid_size] - matrix @ natural.ravel()
        natural = natural + (np.linalg.pinv(matrix) @ gap).reshape(natural.shape)
        armatures = natural[:, 10] if terms.armature else np.zeros(terms.n)
        return self._arm(natural[:, :10], armatures, self.values_)

    # ---- statistics

    @cached_property
    def essential_(self) -> tuple[str, ...]:
        """Names of the unknowns that the prediction needs; leaving the others out costs at most 1 % of error."""
        return essential(self.record.factors, self.solution, self.names_)

    def bootstrap(self, repetitions: int = 200, seed: int = 0) -> np.ndarray:
        """(repetitions, p): values refitted to blocks of time drawn with replacement."""
        count = whole("repetitions", repetitions, 1, 10**7), whole("seed", seed)
        return bootstrap(self.record.factors, self.solution.ridge, None, *count)

    def friction_curve(self, joint: int, points: int = 201) -> tuple[np.ndarray, np.ndarray]:
        """Velocity and friction force of a joint over the range of the log."""
        terms = self.record.terms
        joint, points = whole("joint", joint, 0, terms.n - 1), whole("points", points, 2, 10**7)
        top = max(
            float(np.abs(np.gradient(log.q[:, joint], log.t)).max()) for log in self.record.logs
        )
        speed = np.linspace(-top, top, points)
        wide = np.zeros((points, terms.n))
        wide[:, joint] = speed
        force = np.zeros(points)
        for word, column in zip(terms.drive_names, terms.drive_columns(wide), strict=True):
            force += self.values_[terms.drive_index(joint, word)] * column[:, joint]
        return speed, force

    @cached_property
    def friction_advice_(self) -> tuple[str, ...]:
        """Joints whose torque a smoothed sign would explain much better than the sharp one that was fitted."""
        terms, how = self.record.terms, self.record.preparation
        if terms.shape != "sign" or "coulomb" not in terms.friction:
            return ()
        pieces = [smooth(p, how) for log in self.record.logs for p in stretches(middle(log))]
        widths, errors = choose_widths(terms, pieces, how)
        gains = 1 - errors.min(axis=1) / np.maximum(errors[:, 0], 1e-300)
        return tuple(
            f"joint {name}: shape='tanh' (width {width:g}) would lower the error by {100 * gain:.0f} %"
            for name, width, gain in zip(terms.arm.joint_names, widths, gains, strict=True)
            if gain > WORTH_IT
        )

    def verdict(self, held_out: Log | Sequence[Log] = (), limit: float = POOR) -> Verdict:
        """PASS where every joint is explained, on fitted and held-out logs, by unknowns that the log determines."""
        reasons = []
        wanted = "an error over the torque's standard deviation, 0 or more"
        limit = real("limit", limit, wanted, lambda x: x >= 0)
        joints = self.record.terms.arm.joint_names
        for j, error in zip(joints, self.relative_, strict=True):
            if error > limit:
                reasons.append(
                    f"joint {j}: error {error:.2f} of the torque's standard deviation on the fitted log"
                )
        wanted = "a dynarm.Log or a list of them"
        logs = [held_out] if isinstance(held_out, Log) else items("held_out", held_out, wanted)
        for log in logs:
            found = self.validate(log).relative
            for j, error, own in zip(joints, found, self.relative_, strict=True):
                if error > limit:
                    reasons.append(f"joint {j}: error {error:.2f} on {log.source}")
                elif error > OVERFIT * max(own, SMALL):
                    reasons.append(
                        f"joint {j}: error {error:.2f} on {log.source} against {own:.2f} on the fitted log"
                    )
        check = self.record.identifiability
        if check.undetermined and self.record.identifier.prior is None:
            reasons.append(f"the log does not determine {', '.join(check.undetermined)}")
        for j, error, own in zip(joints, self.consistent_, self.relative_, strict=True):
            if error > limit >= own:
                reasons.append(
                    f"joint {j}: error {error:.2f} once the values are made physically consistent"
                )
        return Verdict(not reasons, tuple(reasons))

    # ---- text

    def summary(self) -> str:
        """A table for people: unknowns with their certainty, errors by joint, what the log determines."""
        check = self.record.identifiability
        how = self.record.preparation
        lines = [
            f"{self.record.terms.arm.name}: {len(self.names_)} unknowns, estimator {self.record.identifier.estimator}, "
            f"cut-off {self.cutoff_:g} Hz, velocity {how.velocity}",
            "",
            f"{'unknown':<16}{'value':>14}{'std':>12}{'rel. std':>10}  determined",
        ]
        rows = zip(
            self.names_, self.values_, self.std_, self.relative_std_, check.grades, strict=True
        )
        for name, value, std, relative, grade in rows:
            percent = f"{relative:.1f} %" if np.isfinite(relative) else "-"
            word = {"determined": "yes", "not": "no"}.get(grade, grade)
            lines.append(f"{name:<16}{value:>14.6g}{std:>12.3g}{percent:>10}  {word}")
        lines += ["", f"{'joint':<20}{'error/std':>10}{'RMS':>12}{'delay [ms]':>12}{'white':>8}"]
        left = self.residuals_
        for j, name in enumerate(self.record.terms.arm.joint_names):
            lines.append(
                f"{name:<20}{self.relative_[j]:>10.3f}{left.rms[j]:>12.4g}{1e3 * self.delays_[j]:>12.1f}"
                f"{100 * left.white[j]:>7.0f}%"
            )
        names = self.record.terms.arm.joint_names
        for name, condition in zip(names, self.joint_conditions_, strict=False):
            lines.append(f"cond(A_i) of {name}: {condition:.3g}")
        for log in self.record.logs:
            lines += [f"{log.source}: {note}" for note in (*log.notes, *log.quality.notes)]
        return "\n".join([*lines, "", check.summary(), *self.friction_advice_, self.status_])
