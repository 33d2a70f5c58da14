"""What the arm carries, and what its drives give: both from a log with a payload and a log without.

tau = X values + Z payload, the second term in the loaded logs only; values (arm, friction) are common to both. With the
torques known, the payload is found; with the payload known and currents instead of torques, the drive gains are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..border.kinds import Maker, Numbers, Outside
from ..errors import InputError
from ..robot.arm import Arm, Joint, Tool
from .added import added_payload
from .carried import PARAMETERS, Payload, payload_of, torque_of
from .declared_terms import declared_columns
from .estimators import table
from .estimators.factors import Factors, RowSource, folded, triangle
from .estimators.least_squares import lengths, weighted
from .estimators.problem import Problem, Solution
from .flow import seen
from .identifier import Identifier
from .judgement.statistics import Residuals, inflation, residuals
from .logs.log import Log
from .logs.sources import logs_of
from .own_columns import Column
from .preprocess import Recording
from .regressor import Terms
from .result import Fit
from .tuning import choose_preparation

Logs = Log | Sequence[Log]
# singular value, columns of length one, from which on a direction counts as determined
_TOLD = 1e-6
_GAIN_PASSES = 10


@dataclass(frozen=True, slots=True, eq=False)
class Gains:
    """Torque per unit of drive signal (current), joint by joint, with standard deviations.

    `dynarm.drive_gains` makes it.

    Attributes
    ----------
    values : ndarray
        Torque per unit of the log's tau (n,).
    std : ndarray
        Standard deviations (n,).

    Examples
    --------
    >>> from dynarm.identify.payload import Gains
    >>> Gains(np.array([10.0, 5.0]), np.array([0.1, 0.1])).values
    array([10.,  5.])
    """

    values: np.ndarray
    std: np.ndarray

    def __repr__(self) -> str:
        told = ", ".join(f"{x:.4g}" for x in self.values)
        return f"<dynarm.Gains: {told}>"


def identify_payload(
    arm: Arm, without: Logs | Fit, loaded: Logs, tool: str | None = None, **options: Outside
) -> Payload:
    """The payload that explains the difference between logs without and with it; options are those of Identifier.

    The logs without it are fitted as Identifier fits them, friction chosen from them, and the payload is what that
    fit leaves, while friction may have changed as it does from run to run. With friction given in the options, one
    plain fit is made of both.

    Parameters
    ----------
    arm : Arm
        The robot.
    without : Log, path, list or Fit
        Logs without the payload, or a fit to such logs, which is held to as it is, its
        certainty counted.
    loaded : Log, path or list
        Logs with the payload.
    tool : str, optional
        The name of the tool that carries it, where there are several.
    **options : object
        Options of dynarm.Identifier.

    Returns
    -------
    Payload
        Mass, centre and inertia in the frame of the tool, with deviations.

    Examples
    --------
    >>> arm = dynarm.load("two_link")
    >>> t = np.linspace(0, 10, 1001)
    >>> q = np.column_stack([np.sin(2 * t), np.sin(3 * t)])
    >>> qd = np.column_stack([2 * np.cos(2 * t), 3 * np.cos(3 * t)])
    >>> empty, loaded = (
    ...     dynarm.Log(t, q, dynarm.compile(robot).inverse_dynamics(q, qd, -q * [4, 9]), qd=qd)
    ...     for robot in (arm, arm.with_payload(1.5))
    ... )
    >>> payload = dynarm.identify_payload(arm, empty, loaded, friction=(), armature=False)
    >>> round(payload.mass, 2)
    1.5
    """
    if isinstance(without, Fit):
        return _beside(arm, without, loaded, tool, options)
    identifier = Identifier(arm, **options)
    if identifier.automatic and not identifier.columns:
        return added_payload(identifier.fit(without), arm, logs_of(loaded, arm), tool)
    sources = _sources(identifier, without, loaded, _payload_columns(arm, arm.tool_named(tool)))
    method = table.named(identifier.estimator)
    method = method if method.together else table.named("wls")
    solution = method.solve(_problem(sources))
    inflations = _left(sources[1], solution.values).inflation
    spread = method.covariance(solution, inflations)[-10:, -10:]
    return payload_of(solution.values[-10:], spread, *_told(solution))


def drive_gains(
    arm: Arm,
    without: Logs,
    loaded: Logs,
    mass: float,
    com: Numbers = (0, 0, 0),
    inertia: Numbers = ((0, 0, 0),) * 3,
    tool: str | None = None,
    **options: Outside,
) -> Gains:
    """Torque per unit of the logs' tau (currents), from a payload that is known, given in the frame of the tool.

    What is solved is X values - gain current = -(the payload's torque) in the loaded logs, and 0 in the others.

    Parameters
    ----------
    arm : Arm
        The robot.
    without : Log, path or list
        Logs without the payload, whose `tau` holds currents.
    loaded : Log, path or list
        Logs with the payload.
    mass : float
        Mass of the payload [kg].
    com : array_like (3,)
        Its centre of mass in the frame of the tool [m].
    inertia : array_like (3, 3)
        Its inertia about the centre of mass [kg m^2].
    tool : str, optional
        Name of the tool, where the robot has several.
    **options : object
        Options of dynarm.Identifier.

    Returns
    -------
    Gains
        The gains, with deviations.

    Examples
    --------
    >>> arm = dynarm.load("two_link")
    >>> t = np.linspace(0, 10, 1001)
    >>> q = np.column_stack([np.sin(2 * t), np.sin(3 * t)])
    >>> qd = np.column_stack([2 * np.cos(2 * t), 3 * np.cos(3 * t)])
    >>> empty, loaded = (
    ...     dynarm.Log(t, q, dynarm.compile(robot).inverse_dynamics(q, qd, -q * [4, 9]) / [10, 5], qd=qd)
    ...     for robot in (arm, arm.with_payload(1.5))
    ... )
    >>> gains = dynarm.drive_gains(arm, empty, loaded, mass=1.5, friction=(), armature=False)
    >>> gains.values.round(2)
    array([10.,  5.])
    """
    identifier = Identifier(arm, **options)
    load = Joint(mass=mass, com=com, inertia=inertia, name="payload")
    ten = np.array(load.parameters)
    if not ten.any():
        raise InputError("the payload has neither mass nor inertia; give one that the drives feel")
    known = Column("payload", torque_of(arm, arm.tool_named(tool), ten))
    return _gains(_sources(identifier, without, loaded, (known,)))


def _payload_columns(arm: Arm, tool: Tool) -> tuple[Column, ...]:
    return tuple(
        Column(f"payload_{name}", torque_of(arm, tool, unit))
        for name, unit in zip(PARAMETERS, np.eye(10), strict=True)
    )


def _beside(
    arm: Arm, fit: Fit, loaded: Logs, tool: str | None, options: Mapping[str, Outside]
) -> Payload:
    """The payload by a fit, which says itself how logs are prepared."""
    if options:
        raise InputError(
            f"{', '.join(options)} is an option of the fit, which is given; leave it out, or give logs instead"
        )
    return added_payload(fit, arm, logs_of(loaded, arm), tool)


# ---- both logs together


def _sources(
    identifier: Identifier, without: Logs, loaded: Logs, columns: tuple[Column, ...]
) -> tuple[RowSource, RowSource]:
    """Logs without and with a payload, prepared alike; the payload's columns are zero in the first."""
    if identifier.columns:
        raise InputError("columns of the user's own are not taken here; leave them out")
    plain, full = (Recording(identifier.prepare(logs)) for logs in (without, loaded))
    declared = declared_columns(identifier.arm, (*plain.logs, *full.logs))
    base = replace(identifier, columns=declared).terms(identifier.given_widths)
    how, _ = choose_preparation(plain, base, identifier.prepared)
    empty = tuple(Column(c.name, _nothing(identifier.arm.nv)) for c in columns)
    return (
        RowSource(_with_columns(base, empty), plain.pieces(how), how),
        RowSource(_with_columns(base, columns), full.pieces(how), how),
    )


def _problem(sources: tuple[RowSource, RowSource]) -> Problem:
    terms = sources[1].terms
    return Problem(folded(sources, terms.support), names=terms.names, sources=sources)


def _left(loaded: RowSource, values: np.ndarray) -> Residuals:
    """The residuals of the loaded logs."""
    return residuals(loaded.terms, seen(loaded.pieces), loaded.how, values)


# ---- drive gains


def _gains(sources: tuple[RowSource, RowSource]) -> Gains:
    """Gains of the problem in which load is what X values - gain current must cancel, weighted by joint."""
    p = sources[1].terms.size - 1
    problem = Problem(_in_currents(_problem(sources).factors, p))
    factors, n = problem.factors, problem.factors.n
    count = factors.rows.sum(axis=0)
    most = max((float(np.abs(R[:, -1]).max(initial=0.0)) for R in factors.R[0]), default=0.0)
    sigma, solution = np.ones(n), weighted(problem, np.ones(n))
    for _ in range(_GAIN_PASSES):
        solution = weighted(problem, 1 / sigma)
        power = factors.squares(solution.values).sum(axis=0)
        sigma = np.sqrt(np.maximum(power / np.maximum(count - p / n, 1), 1e-24 * most**2))
    variances = np.maximum(np.diag(solution.covariance)[p:], 0)
    inflations = _inflation_of_gains(sources[1], solution.values, p)
    return Gains(solution.values[p:], np.sqrt(variances) * np.sqrt(inflations))


def _in_currents(factors: Factors, p: int) -> Factors:
    """[X load current] of each joint as [X -current -load]: its gain is an unknown, the load what is explained."""
    support, joints = [], []
    for j, own in enumerate(factors.support):
        R, arm = factors.joint(j), np.flatnonzero(own < p)
        # nothing where the joint does not feel it
        load = R[:, np.flatnonzero(own == p)].sum(axis=1)
        support.append(np.r_[own[arm], p + j])
        joints.append(np.column_stack([R[:, arm], -R[:, -1], -load]))
    return Factors(tuple(support), p + factors.n, [joints], factors.rows.sum(axis=0)[None])


def _inflation_of_gains(loaded: RowSource, x: np.ndarray, p: int) -> np.ndarray:
    """(n,) autocorrelation of the residual in currents: gain current - X values - load."""
    gains = np.where(np.abs(x[p:]) > 0, x[p:], 1.0)
    left = _left(loaded, np.r_[x[:p], 1.0])
    rows = zip(gains, left.measured, left.predicted, strict=True)
    return np.array([inflation(gain * a - b) for gain, a, b in rows])


def _with_columns(base: Terms, columns: tuple[Column, ...]) -> Terms:
    return Terms(
        base.arm,
        base.friction,
        base.shape,
        base.widths,
        base.armature,
        base.asymmetric,
        (*base.columns, *columns),
        True,
    )


def _nothing(n: int) -> Maker:
    return lambda q, qd, qdd: [0] * n


def _told(solution: Solution) -> tuple[np.ndarray, np.ndarray]:
    """Directions of the ten payload parameters that the data determine (rows, of unit worth), and those they do not."""
    X, _ = solution.data.merged().stacked(solution.weights)
    scale = lengths(X)
    R = triangle(X / scale)
    first = X.shape[1] - 10
    _, s, V = np.linalg.svd(R[first:, first:], full_matrices=True)
    count = int((s > _TOLD).sum())
    return V[:count] * scale[-10:], V[count:] / scale[-10:]
