"""What a log of positions and commands tells of a robot's drives: a table, an arm, a model, and rollouts."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...border.kinds import FloatArray, Foreign, Outside
from ...border.memo import cached_property
from ...model.model import Model
from ...model.model import compile as compile_arm
from ...robot.arm import Arm, Friction
from ..logs.log import Log, in_order
from ..logs.sources import log_of, logs_of
from ..tables import html_table, plain_table
from .body_rows import BodyRow, body_rows, body_table
from .checks import position_log
from .deciding import BodyChoice
from .loop import WORDS, Loop, simulated
from .rollouts import first_state, locked
from .solving import DriveSolution, fitted_loop
from .tracks import Track, tracks_of

HARDLY, NOT = 0.3, 1.0  # deviations over the worth of an unknown
_FAR = 0.3  # of a joint's motion: rollouts that miss more of it explain nothing
_LEAST = 2e-3  # [rad or m] by which a joint moves whose rollouts are judged
_SMALL = 0.1  # of what an unknown could be at most: less is not asked of a log
_HEADS = ("unknown", "value", "std", "unit", "by the log")


@dataclass(frozen=True, slots=True, eq=False)
class Rollout:
    """Positions of the closed loop simulated along a log, and how far they are from the recorded ones.

    `mrad` holds the same errors of revolute joints in mrad (mm of others), `mean` that of all joints.

    Attributes
    ----------
    source : str
        Which log it follows.
    t : ndarray
        Times (N,) [s].
    q : ndarray
        Positions (N, n) of the simulated loop.
    recorded : ndarray
        Positions (N, n) as recorded.
    rmse : ndarray
        Errors (n,) [rad or m].

    Examples
    --------
    >>> from dynarm.identify.position.result import Rollout
    >>> still = np.zeros((3, 2))
    >>> Rollout("log", np.arange(3.0), still, still, np.zeros(2)).mean
    0.0
    """

    source: str
    t: FloatArray
    q: FloatArray
    recorded: FloatArray
    rmse: FloatArray

    @property
    def mrad(self) -> FloatArray:
        """(n,) errors [mrad or mm]."""
        return np.asarray(1e3 * self.rmse)

    @property
    def mean(self) -> float:
        """RMS over all joints [mrad or mm]."""
        return float(np.sqrt((self.mrad**2).mean()))

    def __repr__(self) -> str:
        return f"<dynarm.Rollout of {self.source}: {self.mean:.3g} mrad>"


@dataclass(frozen=True, eq=False)
class PositionFit:
    """Armature, viscous and Coulomb friction and offset of every joint, with certainty, and the delay of the commands.

    `dynarm.Identifier(arm, pd=(kp, kd)).fit(log)` makes it. The rigid bodies are those of the description, unless the
    log tells them and is surely followed better with those; `choice.told` says which, `bodies_` and the table then have
    them.
    `names_`, `values_`, `std_`: armature, viscous, coulomb, offset of the first joint, of the second, ...;
    `grades_`: 'determined', 'hardly' or 'not' by the log. Values that the log does not determine are those of
    the description, or where bodies are told those that go with the bodies.

    Attributes
    ----------
    arm : Arm
        The description.
    loop : Loop
        The closed loop that was fitted.
    solved : DriveSolution
        The solution.
    worth : ndarray
        What each unknown could be at most (4 n,).
    logs : tuple[Log, ...]
        The logs that were fitted.
    choice : BodyChoice
        What is to be said about the rigid bodies, and those that the log tells.

    Examples
    --------
    >>> from dataclasses import replace
    >>> arm = dynarm.load("two_link")
    >>> real = replace(arm, joints=[replace(joint, armature=0.2) for joint in arm.joints])
    >>> plant = dynarm.compile(real, friction=True)
    >>> t = np.linspace(0, 4, 401)
    >>> command = np.column_stack([0.5 * np.sin(3 * t), 0.5 * np.sin(4 * t)])
    >>> def torque(t, q, qd):
    ...     return 400 * (0.5 * np.sin([3 * t, 4 * t]) - q) - 40 * qd
    >>> run = dynarm.simulate(plant, [0, 0], [0, 0], 4.0, torque, times=t, rtol=1e-6)
    >>> log = dynarm.Log(t, run.q, q_command=command)
    >>> fit = dynarm.Identifier(arm, pd=(400.0, 40.0)).fit(log)
    >>> fit.names_[0]
    'armature1'
    """

    arm: Arm
    loop: Loop
    solved: DriveSolution
    worth: FloatArray  # (4 n,) what each unknown could be at most
    logs: tuple[Log, ...]
    choice: BodyChoice = BodyChoice()

    # ---- numbers

    @property
    def names_(self) -> tuple[str, ...]:
        """(4 n) names of the unknowns: armature1, viscous1, coulomb1, offset1, armature2, ..."""
        return tuple(f"{word}{j + 1}" for j in range(self.loop.n) for word in WORDS)

    def _by_joint(self, x: FloatArray) -> FloatArray:
        """(4 n,) from words first to joints first."""
        return np.asarray(x.reshape(4, -1).T.ravel())

    @cached_property
    def std_(self) -> FloatArray:
        """Standard deviations; infinite where the log tells nothing."""
        return self._by_joint(np.sqrt(np.diag(self.solved.covariance)[: 4 * self.loop.n]))

    @cached_property
    def fitted_(self) -> FloatArray:
        """The values as they were fitted, determined or not."""
        return self._by_joint(self.solved.drives)

    @cached_property
    def grades_(self) -> tuple[str, ...]:
        """(4 n) 'determined', 'hardly' or 'not', by the log."""
        size = np.maximum(np.abs(self.fitted_), _SMALL * self._by_joint(self.worth))
        doubts = np.where(np.isfinite(self.std_), self.std_ / size, np.inf)
        return tuple("determined" if x < HARDLY else "hardly" if x < NOT else "not" for x in doubts)

    @cached_property
    def values_(self) -> FloatArray:
        """(4 n,) values; those that the log does not determine are the description's, but where bodies are told."""
        return np.asarray(np.where(self._kept, self._described, self.fitted_))

    @property
    def _kept(self) -> np.ndarray:
        """(4 n,): which are as described. Of unknowns that only go with bodies the sum is told: those are not."""
        lost = np.array([grade == "not" for grade in self.grades_])
        return lost & ~np.isfinite(self.std_) if self.choice.bodies else lost

    @property
    def _described(self) -> FloatArray:
        rows = []
        for joint in self.arm.joints:
            own = joint.friction or Friction()
            rows.append([joint.armature, own.viscous, own.coulomb, own.offset])
        return np.array(rows).ravel()

    @property
    def delay_(self) -> float:
        """Time by which commands that go straight from sample to sample take effect late [s].

        Those that are held until the next one show half a sample more.
        """
        return self.solved.delay

    @property
    def delay_std_(self) -> float:
        """Standard deviation of the delay [s], a quarter of a sample for not knowing which of both they do included."""
        return float(np.sqrt(self.solved.covariance[-2, -2]))

    @property
    def undetermined_(self) -> tuple[str, ...]:
        """Unknowns that the log does not determine; they are as described, or where bodies are told go with these."""
        return tuple(
            n for n, grade in zip(self.names_, self.grades_, strict=True) if grade == "not"
        )

    @property
    def status_(self) -> str:
        """What to know about the outcome; begins with 'ok' where nothing is wrong."""
        parts, word = self._shortcomings(), "ok"
        if self.choice.doubts or self.far_ > _FAR or len(self.undetermined_) == len(self.names_):
            word = "doubtful"
        return f"{word}: {'; '.join([*self.choice.doubts[:1], *parts, self.choice.told])}"

    @cached_property
    def far_(self) -> float:
        """What rollouts leave of the fitted motion: their error over the deviation of positions, of the worst joint."""
        q = np.concatenate([track.q for track in tracks_of(self.logs)])
        far = self.solved.rms / np.maximum(q.std(axis=0), _LEAST)
        return float(np.nan_to_num(far[np.ptp(q, axis=0) > _LEAST], nan=np.inf).max())

    def _shortcomings(self) -> list[str]:
        """What the log does not tell, in words; that it tells all drives if it does."""
        lost, told = self.undetermined_, []
        if self.far_ > _FAR:
            told.append(
                f"rollouts miss recorded positions by {100 * min(self.far_, 99):.0f} % of their motion, check units, "
                "gains and description"
            )
        if not lost:
            return [*told, "the log determines all drives"]
        if len(lost) == len(self.names_):
            return [*told, "no drive is determined by the log, all are kept as described"]
        kept = [n for n, own in zip(self.names_, self._kept, strict=True) if own]
        if kept:
            told.append(f"not determined by the log, kept as described: {', '.join(kept)}")
        if merged := [n for n in lost if n not in kept]:
            told.append(f"determined together with rigid bodies only: {', '.join(merged)}")
        return told

    # ---- robot and model

    @cached_property
    def friction_(self) -> tuple[Friction, ...]:
        """The friction of each joint."""
        rows = self.values_.reshape(-1, 4)
        return tuple(
            Friction(float(v), float(c), float(o), "tanh", float(width))
            for (_, v, c, o), width in zip(rows, self.solved.widths, strict=True)
        )

    @cached_property
    def arm_(self) -> Arm:
        """The arm with its drives, and with bodies that the log tells; .save("x.xml") and .update_mjcf write it."""
        joints = tuple(
            replace(joint, armature=float(armature), friction=friction)
            for joint, armature, friction in zip(
                self.arm.joints, self.values_[::4], self.friction_, strict=True
            )
        )
        arm, natural = replace(self.arm, joints=joints), self.solved.natural
        return arm if natural is None else arm.with_parameters(natural.reshape(-1, 10))

    @cached_property
    def model_(self) -> Model:
        """Compiled, armature and friction included."""
        return compile_arm(self.arm_, friction=True)

    # ---- rollouts

    def rollout(self, log: Outside) -> Rollout:
        """The closed loop simulated along a log's commands, from the state that its first half second tells.

        Parameters
        ----------
        log : Log, path or DataFrame
            The log; several are a list of them.

        Returns
        -------
        Rollout
            Positions and their errors.

        Examples
        --------
        >>> fit.rollout(log).q.shape
        (401, 2)
        """
        one = position_log(self.arm, log_of(log, self.arm))
        return _rolled(self.loop_, tracks_of([one]), self._drives, self.delay_, one.source)

    def validate(self, log: Outside) -> Rollout:
        """The same as `rollout`, as other fits call it.

        Parameters
        ----------
        log : Log, path or DataFrame
            The log; several are a list of them.

        Returns
        -------
        Rollout
            Positions and their errors.

        Examples
        --------
        >>> fit.validate(log).mean >= 0
        True
        """
        return self.rollout(log)

    def described(self, log: Outside) -> Rollout:
        """The rollout of the robot as described, with the same controller and delay: what the fit is compared with.

        Parameters
        ----------
        log : Log, path or DataFrame
            The log; several are a list of them.

        Returns
        -------
        Rollout
            Positions and their errors.

        Examples
        --------
        >>> fit.described(log).mean > fit.rollout(log).mean
        True
        """
        one = in_order(log_of(log, self.arm), self.arm)
        drives = self._described.reshape(-1, 4).T.ravel()
        loop = replace(self.loop, widths=self.solved.widths, lead=self.solved.lead)
        return _rolled(loop, tracks_of([one]), drives, self.delay_, one.source)

    def predict(self, log: Outside) -> FloatArray:
        """(N, n): positions of the closed loop simulated along a log.

        Parameters
        ----------
        log : Log, path or DataFrame
            The log; several are a list of them.

        Returns
        -------
        ndarray
            Positions (N, n) [rad or m].

        Examples
        --------
        >>> fit.predict(log).shape
        (401, 2)
        """
        return self.rollout(log).q

    def score(self, log: Outside) -> float:
        """1 - mean over joints of (rollout error / deviation of positions)^2, of several logs the mean.

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
        >>> fit.score(log) > 0.9
        True
        """
        runs = [self.rollout(one) for one in logs_of(log, self.arm)]
        parts = [run.rmse / np.maximum(run.recorded.std(axis=0), 1e-12) for run in runs]
        return float(np.mean([1 - float((x**2).mean()) for x in parts]))

    @property
    def loop_(self) -> Loop:
        """The closed loop with the bodies that were chosen and with the widths and the lead of Coulomb friction."""
        return fitted_loop(self.loop, self.choice.bodies, self.solved)

    @property
    def _drives(self) -> FloatArray:
        return self.values_.reshape(-1, 4).T.ravel()

    # ---- text, tables, files

    @property
    def frame(self) -> Foreign:
        """A DataFrame: name, joint, value, std, unit, status; after the drives rigid bodies that the log tells."""
        import pandas

        names = self.arm.joint_names
        owners = [names[k // 4] for k in range(len(self.names_))]
        drives = (self.names_, owners, self.values_, self.std_, self._units, self.grades_)
        rows = [*zip(*drives, strict=True)]
        rows += [(r.name, r.joint, r.value, r.std, r.unit, r.grade) for r in self.bodies_]
        return pandas.DataFrame(rows, columns=["name", "joint", "value", "std", "unit", "status"])

    @cached_property
    def bodies_(self) -> tuple[BodyRow, ...]:
        """Minimal parameters of the rigid bodies, each with its deviation; none where these are as described."""
        return tuple(body_rows(self.choice.bodies, self.solved))

    @property
    def _units(self) -> list[str]:
        turning = ("kg m^2", "N m s/rad", "N m", "N m")
        sliding = ("kg", "N s/m", "N", "N")
        return [u for joint in self.arm.joints for u in (turning if joint.revolute else sliding)]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the arm with its drives: .xml (MJCF), .urdf or .toml.

        Parameters
        ----------
        path : path-like
            x.xml (MJCF), x.urdf or x.toml.

        Examples
        --------
        >>> fit.save("found.toml")
        """
        self.arm_.save(path)

    def _rows(self) -> list[tuple[str, ...]]:
        rows = zip(self.names_, self.values_, self.std_, self._units, self.grades_, strict=True)
        drives = [(n, f"{x:.5g}", f"{std:.2g}", unit, grade) for n, x, std, unit, grade in rows]
        return [*drives, *body_table(self.bodies_)]

    def summary(self) -> str:
        """A table for people.

        Returns
        -------
        str
            The table.

        Examples
        --------
        >>> print(fit.summary().splitlines()[0])
        <dynarm.PositionFit of 'two_link': 8 unknowns, delay 0 +- 3 ms, rollout error 0.0212 mrad>
        """
        return "\n".join([plain_table(repr(self), _HEADS, self._rows()), self.status_])

    def __repr__(self) -> str:
        late = f"{1e3 * self.delay_:.3g} +- {1e3 * self.delay_std_:.1g} ms"
        left = float(np.sqrt((self.solved.rms**2).mean()))
        return (
            f"<dynarm.PositionFit of '{self.arm.name}': {len(self.names_)} unknowns, delay {late}, "
            f"rollout error {1e3 * left:.3g} mrad>"
        )

    def __str__(self) -> str:
        return self.summary()

    def _repr_html_(self) -> str:
        return html_table(repr(self).strip("<>"), _HEADS, self._rows())


def _rolled(
    loop: Loop, tracks: Sequence[Track], drives: FloatArray, delay: float, source: str
) -> Rollout:
    runs, drives = [], locked(drives, tracks)
    for k in tracks:
        steps, x = loop.substeps(k.t, k.q, drives), first_state(loop, k, drives, delay)
        start = x[: loop.n], x[loop.n :]
        runs.append(simulated(loop, k.t, k.command, start, drives[None], delay, steps)[:, 0])
    q, recorded = np.vstack(runs), np.vstack([k.q for k in tracks])
    t = np.concatenate([k.t for k in tracks])
    return Rollout(source, t, q, recorded, np.sqrt(((q - recorded) ** 2).mean(axis=0)))
