"""What the arm carries, and what its drives give: both from a log with a payload and a log without.

tau = X values + Z payload, the second term in the loaded logs only; values (arm, friction) are common to both. With the
torques known, the payload is found; with the payload known and currents instead of torques, the drive gains are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..algebra.vectors import Scalar
from ..border.kinds import Maker, Numbers, Outside
from ..errors import InputError
from ..robot.arm import Arm, Joint, Tool, move_parameters, unpack_parameters
from ..robot.frames.chain import chain_of
from .bodies import body_forces, carried_forces
from .estimators import table
from .estimators.factors import Factors, RowSource, folded, triangle
from .estimators.feasibility import one_body
from .estimators.least_squares import lengths, weighted
from .estimators.problem import Problem, Solution
from .identifier import Identifier
from .judgement.statistics import Residuals, inflation, residuals
from .logs.log import Log
from .preprocess import Recording
from .regressor import Column, Terms
from .tables import html_table, plain_table
from .tuning import choose_preparation

PARAMETERS = ("m", "mcx", "mcy", "mcz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz")
Logs = Log | Sequence[Log]
# singular value, columns of length one, from which on a direction counts as determined
_TOLD = 1e-6
_GAIN_PASSES = 10
_HEADS = ("parameter", "value", "std", "unit")


@dataclass(frozen=True, slots=True, eq=False)
class Payload:
    """A payload in the tool frame: mass [kg], com [m], inertia about the com [kg m^2]; arm.with_payload takes them.

    parameters, std: the ten numbers about the tool frame's origin as fitted; mass, com and inertia are of the nearest
    consistent body. determined: how many of the ten the motion tells; the std of those it does not is infinite.
    consistent: no body of the nearest consistent ones had to differ in what the motion tells.
    """

    mass: float
    com: np.ndarray
    inertia: np.ndarray
    parameters: np.ndarray
    std: np.ndarray
    determined: int
    consistent: bool

    def __repr__(self) -> str:
        com = ", ".join(f"{x:.4g}" for x in self.com)
        told = "consistent" if self.consistent else "made consistent"
        return (
            f"<dynarm.Payload: {self.mass:.6g} kg at ({com}) m in the tool frame, {self.determined} of 10 numbers "
            f"determined, {told}>"
        )

    def __str__(self) -> str:
        return plain_table(repr(self), _HEADS, self._rows())

    def _repr_html_(self) -> str:
        return html_table(repr(self).strip("<>"), _HEADS, self._rows())

    def _rows(self) -> list[tuple[str, ...]]:
        units = ("kg", *("kg m",) * 3, *("kg m^2",) * 6)
        rows = zip(PARAMETERS, self.parameters, self.std, units, strict=True)
        return [(name, f"{value:.6g}", f"{std:.3g}", unit) for name, value, std, unit in rows]


@dataclass(frozen=True, slots=True, eq=False)
class Gains:
    """Torque per unit of drive signal (current), joint by joint, with standard deviations."""

    values: np.ndarray
    std: np.ndarray

    def __repr__(self) -> str:
        told = ", ".join(f"{x:.4g}" for x in self.values)
        return f"<dynarm.Gains: {told}>"


def identify_payload(
    arm: Arm, without: Logs, loaded: Logs, tool: str | None = None, **options: Outside
) -> Payload:
    """The payload that explains the difference between logs without and with it; options are those of Identifier.

    tool: the name of the tool that carries it, where there are several.
    """
    identifier = Identifier(arm, **options)
    sources = _sources(identifier, without, loaded, _payload_columns(arm, arm.tool_named(tool)))
    method = table.named(identifier.estimator)
    method = method if method.together else table.named("wls")
    solution = method.solve(_problem(sources))
    inflations = _left(sources[1], solution.values).inflation
    ten = solution.values[-10:]
    spread = method.covariance(solution, inflations)[-10:, -10:]
    seen, free = _told(solution)
    std = np.sqrt(np.maximum(np.diag(spread), 0))
    if len(free):  # what the motion does not tell is anything, not zero
        std = np.where(
            (np.abs(free) > 1e-9 * np.abs(free).max(axis=1)[:, None]).any(axis=0), np.inf, std
        )
    body = one_body(ten, spread + _anything(free, ten))
    mass, com, inertia = unpack_parameters(body)
    same = np.allclose(seen @ body, seen @ ten, rtol=1e-6, atol=1e-6 * np.abs(seen @ ten).max())
    return Payload(mass, com, inertia, ten, std, len(seen), bool(same))


def _anything(free: np.ndarray, ten: np.ndarray) -> np.ndarray:
    """(10, 10): the covariance of numbers that are not known along some directions, to a hundred times their size."""
    mass = max(abs(float(ten[0])), 1e-3)
    length = max(float(np.abs(ten[1:4]).max()) / mass, 1e-2)
    units = np.array([mass, *[mass * length] * 3, *[mass * length**2] * 6])
    size = np.abs(free / units).max(axis=1, initial=0.0)
    wide = 100 * free / np.where(size > 0, size, 1.0)[:, None]
    return np.asarray(wide.T @ wide)


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

    X values - gain current = -(payload's torque) in the loaded logs, 0 in the others.
    """
    identifier = Identifier(arm, **options)
    load = Joint(mass=mass, com=com, inertia=inertia, name="payload")
    ten = np.array(load.parameters)
    if not ten.any():
        raise InputError("the payload has neither mass nor inertia; give one that the drives feel")
    known = Column("payload", _torque_of(arm, arm.tool_named(tool), ten))
    return _gains(_sources(identifier, without, loaded, (known,)))


def _payload_columns(arm: Arm, tool: Tool) -> tuple[Column, ...]:
    return tuple(
        Column(f"payload_{name}", _torque_of(arm, tool, unit))
        for name, unit in zip(PARAMETERS, np.eye(10), strict=True)
    )


def _torque_of(arm: Arm, tool: Tool, ten: np.ndarray) -> Maker:
    """A column's function: joint forces of a body with ten parameters about the tool frame."""
    chain, T = chain_of(arm), tool.matrix
    moved = move_parameters(ten, T[:3, :3], T[:3, 3])
    last = arm.serial and arm.coupling.free and tool.joint == arm.n - 1

    def force(q: Sequence[Scalar], qd: Sequence[Scalar], qdd: Sequence[Scalar]) -> list[Scalar]:
        states = (np.column_stack([np.atleast_1d(x) for x in v]) for v in (q, qd, qdd))
        if last:
            return list(body_forces(chain, moved, *states).T)
        return list(carried_forces(arm, tool, moved, *map(np.ascontiguousarray, states)).T)

    return force


# ---- both logs together


def _sources(
    identifier: Identifier, without: Logs, loaded: Logs, columns: tuple[Column, ...]
) -> tuple[RowSource, RowSource]:
    """Logs without and with a payload, prepared alike; the payload's columns are zero in the first."""
    if identifier.columns:
        raise InputError("columns of the user's own are not taken here; leave them out")
    plain, full = (Recording(identifier.prepare(logs)) for logs in (without, loaded))
    base = identifier.terms(identifier._widths())
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
    return residuals(loaded.terms, loaded.pieces, loaded.how, values)


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
        columns,
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
