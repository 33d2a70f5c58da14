"""Motions that make unknowns visible: Fourier series optimised within the robot's limits.

Slopes are exact: of the criterion by CasADi's automatic differentiation of the operations that the compiled model is
made of, of joint forces by the compiled model's own derivatives, of distances between links in closed form. Besides the
bridge of graphs, this is the only module that uses CasADi.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import casadi as ca
import numpy as np

from ...border.arguments import among, each, flag, items, real, shown, whole
from ...border.kinds import Foreign, Outside
from ...border.memo import cached_property
from ...border.progress import Report, progress_of
from ...border.threads import single_threaded
from ...errors import InputError, KindError
from ...model.model import Model
from ...model.model import compile as compile_arm
from ...robot.arm import Arm
from ..regressor import FRICTION, Terms
from ..rigid import rigid_of
from .clearance import clearance_of
from .limits import check_drives, limits_of
from .search import Best, Excitation, best_motion
from .shapes import shapes_of
from .trajectory import Trajectory, check_series
from .worth import condition_worth, volume_worth, worst

CRITERIA = ("condition", "logdet", "recursive")
_NOTHING = 1e-13  # rounding in a matrix of ones and lengths
_MEMORY = 1 << 30  # bytes that a motion may need
_SMOOTH = 0.05  # [rad/s or m/s] width of the sign that the optimiser sees


@single_threaded
def excite(
    arm: Arm,
    duration: float,
    harmonics: int = 5,
    *,
    criterion: str = "condition",
    period: float | None = None,
    rate: float = 100.0,
    position: Outside = None,
    velocity: Outside = None,
    acceleration: Outside = None,
    torque: Outside = None,
    box: Outside = None,
    floor: bool | float | None = True,
    collisions: bool = True,
    home: Outside = None,
    friction: Sequence[str] = FRICTION,
    armature: bool = True,
    starts: int = 5,
    iterations: int = 200,
    seed: int = 0,
    progress: bool | Report | None = None,
) -> Trajectory:
    """A motion whose log determines the arm's unknowns well, and that touches neither floor nor robot.

    Torques are those of the arm's own parameters, armature and friction included. A motion that the optimiser cannot
    bring within all limits is drawn towards a pose that keeps them, until it keeps them too; `status` says so. Where
    there is no such pose, an error tells which limit is in the way.

    Parameters
    ----------
    arm : Arm
        The robot.
    duration : float
        Length of the motion [s].
    harmonics : int, default 5
        Number of sines of each joint's Fourier series.
    criterion : str, default "condition"
        "condition": of all unknowns' regressor; "logdet": the largest determinant of the
        information; "recursive": the largest cond(A_i) of Lin's procedure.
    period : float, optional
        Time after which the motion repeats itself [s]; by default the duration in whole periods
        of about ten seconds.
    rate : float, default 100.0
        Samples a second [Hz].
    position : pair or sequence of pairs, optional
        (low, high) for all joints, or one pair for each joint; default: the joints' own limits,
        else half a turn.
    velocity : float or array_like (n,), optional
        Largest speeds; default: the joints' own limits, else 2 rad/s.
    acceleration : float or array_like (n,), optional
        Largest accelerations; default: four times the speed limit per second.
    torque : float or array_like (n,), optional
        Largest torques; default: the joints' own effort limits, where they are known.
    box : pair of points, optional
        ((x, y, z) lowest, (x, y, z) highest) of the tools in the base link; of a tree
        without tools, of the frames of all its links.
    floor : bool | float, default True
        Height [m] of the plane in the base link that all moving links stay above; True: 0, or
        the lowest point of a base that reaches far below, but none where the robot hangs below
        it: some link in most poses; False: no floor.
    collisions : bool, default True
        Links stay off each other, by capsules about the collision shapes of a URDF, else
        about rods from joint to joint. `checked` and `unchecked` of the result say what was
        looked at and what was not.
    home : array_like (n,), optional
        Joint positions that the motion starts and ends at, none of them an end of its range;
        default: the pose that suits the motion best.
    friction : sequence of str, optional
        Terms of friction that the log shall determine.
    armature : bool, default True
        Whether the log shall determine motor inertias.
    starts : int, default 5
        How many random motions the optimiser starts from; the better half is taken to the end.
    iterations : int, default 200
        Steps of the optimiser from each.
    seed : int, default 0
        Seed of the random motions.
    progress : bool | Report, optional
        True, False, or a function of the part that is done; default: a bar on the terminal
        if it takes long.

    Returns
    -------
    Trajectory
        The motion, with its condition number and what it was checked against.

    Examples
    --------
    >>> motion = dynarm.excite(dynarm.load("two_link"), 5.0, harmonics=2, starts=1, iterations=10)
    >>> motion.q.shape
    (501, 2)
    """
    _check(arm, criterion)
    series = check_series(duration, harmonics, period)
    starts, iterations = whole("starts", starts, 1, 10_000), whole("iterations", iterations)
    seed, armature = whole("seed", seed), flag("armature", armature)
    rate = real("rate", rate, "samples a second, at most 1e6", lambda x: 0 < x <= 1e6)
    friction = items("friction", friction, "a list of words such as 'viscous'")
    collisions, height = flag("collisions", collisions), _height(floor)
    _check_memory(duration * rate, arm.nv, series.size, rate)
    limits = limits_of(arm, position, velocity, acceleration, torque, box)
    check_drives(arm, limits)
    given = None if home is None else each("home", home, (arm.nv,))
    terms = Terms(arm, tuple(friction), "tanh", (_SMOOTH,) * arm.nv, armature)
    problem = _Problem(arm, terms, series, limits, criterion, rate)
    if collisions or height is not None:
        problem.clearance = clearance_of(
            arm, shapes_of(arm), limits, height, collisions, floor is not True
        )
    with progress_of(progress, "optimising the motion") as report:
        best = best_motion(problem, given, starts, iterations, seed, report or _ignored)
    t = np.arange(round(duration * rate) + 1) / rate
    return _recorded(problem, best, t)


def _recorded(problem: _Problem, best: Best, t: np.ndarray) -> Trajectory:
    """The motion at times t, with what is known of it."""
    q, qd, qdd = (B @ best.x.T for B in problem.series.basis(t))
    checked, unchecked = problem.told(best.x)
    return Trajectory(
        t,
        q,
        qd,
        qdd,
        problem.condition(best.x),
        problem.arm.joint_names,
        problem.joint_conditions(best.x),
        best.random,
        best.status,
        checked,
        unchecked,
        problem.kept(best.x),
        problem.torques(q, qd, qdd),
    )


def _ignored(part: float) -> None:
    """Nobody asked how far the work is."""


def _check(arm: Outside, criterion: Outside) -> None:
    """Refuse robots that no motion can be found for, and criteria that are none."""
    if not isinstance(arm, Arm):
        raise KindError(f"arm is {shown(arm)}; give a dynarm.Arm, for example dynarm.load('scara')")
    if arm.floating:
        raise InputError(
            f"robot '{arm.name}' is on a free base, whose motion its joints do not decide; design the motion for the "
            "robot on a fixed base (load it with floating=False), or move the base by hand"
        )
    if not among(criterion, CRITERIA):
        raise InputError(f"criterion is {shown(criterion)}; choose among {', '.join(CRITERIA)}")


def _height(floor: Outside) -> float | None:
    """Where the floor is in the base link; None: nowhere."""
    if floor is None or floor is False:
        return None
    return 0.0 if floor is True else real("floor", floor, "a height in metres, True or False")


def _check_memory(samples: float, n: int, size: int, rate: float) -> None:
    """Refuse motions that no memory holds."""
    needed = samples * 8 * (1 + 3 * n + 3 * size)
    if needed > _MEMORY:
        raise InputError(
            f"rate is {rate:g}; {samples:.3g} samples of {n} joints need {needed / 2**30:.1f} GB, give at most "
            f"{rate * _MEMORY / needed:.3g} samples a second, or a shorter motion"
        )


class _Problem(Excitation):
    """What the optimiser sees of the coefficients x (n, size) of one series: numbers and their slopes."""

    def worth(self, x: np.ndarray, sharpness: float) -> tuple[float, np.ndarray]:
        """The criterion, smoothed, and its slope (n, size)."""
        flat = x.T.ravel()
        seen = [np.array(M) for M in self._information.call([flat])]
        if not all(np.isfinite(M).all() for M in seen):
            return np.inf, np.zeros_like(x)
        if self.criterion == "logdet":
            value, slope = volume_worth(seen[0])
            slopes = [slope]
        else:
            parts = [condition_worth(M, sharpness) for M in seen]
            value, shares = worst(np.array([part[0] for part in parts]), sharpness)
            slopes = [share * part[1] for share, part in zip(shares, parts, strict=True)]
        slope = np.array(self._information_slope.call([flat, *slopes])[0])
        return value, slope.reshape(x.shape[1], -1).T

    def torque_push(self, x: np.ndarray, part: float) -> tuple[float, np.ndarray]:
        """The sum of squares of joint forces beyond a part of their limits, in those, and its slope (n, size)."""
        limit, slope = np.asarray(self.limits.torque), np.zeros_like(x)
        states = [np.ascontiguousarray(B @ x.T) for B in self.fine]
        tau = np.asarray(self._driven.inverse_dynamics(*states))
        over = np.maximum(np.abs(tau) / limit - part, 0)
        rows = np.flatnonzero(over.any(axis=1))
        if len(rows):
            force = (2 * over * np.sign(tau) / limit)[rows]
            few = [np.ascontiguousarray(state[rows]) for state in states]
            parts = self._driven.inverse_dynamics_derivatives(*few)
            for B, J in zip(self.fine, parts, strict=True):
                slope += np.einsum("ki,kij->jk", force, J) @ B[rows]
        return float((over**2).sum()), slope

    def _states(self, x: Foreign, bases: Sequence[np.ndarray]) -> list[Foreign]:
        """(n, points) of q, qd, qdd, from the symbol of all coefficients."""
        X = ca.reshape(x, self.terms.n, self.series.size)
        return [ca.mtimes(X, ca.DM(B.T)) for B in bases]

    @cached_property
    def _symbol(self) -> Foreign:
        return ca.MX.sym("x", self.terms.n * self.series.size)

    @cached_property
    def _information(self) -> Foreign:
        """casadi.Function x -> the information matrix, or one of each joint's own unknowns."""
        Q, V, A = self._states(self._symbol, self.bases)
        points, n = Q.shape[1], self.terms.n
        # (p, n points): rows of the regressor, transposed
        Y = self._regressor().map(points)(Q, V, A)
        if self.criterion != "recursive":
            parts = [Y[self.terms.independent.tolist(), :]]
        else:
            parts = [
                Y[own.tolist(), list(range(j, n * points, n))]
                for j, own in enumerate(self.owned())
                if len(own)
            ]
        return ca.Function("M", [self._symbol], [ca.mtimes(Y, Y.T) / points for Y in parts])

    @cached_property
    def _information_slope(self) -> Foreign:
        """casadi.Function (x, weights) -> the slope of the sum of weights times entries."""
        return _weighted_slope(self._information, self._symbol)

    def _regressor(self) -> Foreign:
        """casadi.Function (q, qd, qdd) -> (p, n): the scaled regressor, transposed."""
        n, terms = self.terms.n, self.terms
        q, qd, qdd = (ca.SX.sym(name, n) for name in ("q", "qd", "qdd"))
        words = len(terms.drive_names)
        drives = ca.SX(n, n * words)
        for j in range(n):
            for k in range(words):
                drives[j, j * words + k] = terms.drive_column(k, j, qd[j])
        Y = ca.horzcat(rigid_columns(self.arm, terms.armature, q, qd, qdd), drives)
        Y = ca.mtimes(ca.diag(ca.SX(1 / self.rows)), ca.mtimes(Y, ca.diag(ca.SX(1 / self.scale))))
        return ca.Function("Y", [q, qd, qdd], [ca.densify(Y.T)])

    @cached_property
    def _driven(self) -> Model:
        """The arm with friction whose sign is smooth for the optimiser."""
        joints = [
            j
            if j.friction is None
            else replace(j, friction=replace(j.friction, shape="tanh", width=_SMOOTH))
            for j in self.arm.joints
        ]
        return compile_arm(replace(self.arm, joints=tuple(joints)), friction=True)


def _weighted_slope(function: Foreign, x: Foreign) -> Foreign:
    """casadi.Function (x, weights of each output) -> the slope by x of the sum of weights times outputs."""
    outputs = function.call([x])
    weights = [ca.MX.sym(f"w{k}", *part.shape) for k, part in enumerate(outputs)]
    total = sum(ca.dot(part, weight) for part, weight in zip(outputs, weights, strict=True))
    return ca.Function("slope", [x, *weights], [ca.gradient(total, x)])


def rigid_columns(arm: Arm, armature: bool, q: Foreign, qd: Foreign, qdd: Foreign) -> Foreign:
    """SX (n, p): the regressor of the minimal parameters, armatures included on request."""
    rigid = rigid_of(arm, armature)
    entries = rigid.model.casadi("regressor")(q, qd, qdd)
    motors = ca.diag(qdd)
    if not arm.coupling.free:
        motors = ca.mtimes(motors, ca.sparsify(ca.DM(rigid.geared)))
    wide = ca.horzcat(ca.reshape(entries, rigid.compiled_size, arm.nv).T, motors)
    if rigid.places is None:
        return ca.mtimes(wide, ca.sparsify(ca.DM(rigid.mixture), _NOTHING))
    return wide[:, rigid.places.tolist()]
