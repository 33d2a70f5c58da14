"""What the arm carries, and what its drives give: both from a log with a payload and a log without.

tau = X values + Z payload, the second term in the loaded logs only; values (arm, friction) are common to both. With the
torques known, the payload is found; with the payload known and currents instead of torques, the drive gains are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..errors import InputError
from ..robot.arm import Arm, Joint, move_parameters, unpack_parameters
from ..robot.frames.chain import chain_of
from .bodies import body_forces
from .estimators.factors import Factors, fold, triangle
from .estimators.feasibility import one_body
from .estimators.least_squares import Solution, deviations, sizes, solve
from .identifier import Identifier
from .judgement.statistics import covariance, inflation, residuals
from .logs.log import Log
from .preprocess import Preparation, smooth, stretches
from .regressor import Column, Terms
from .tables import html_table, plain_table
from .tuning import choose_preparation

PARAMETERS = ("m", "mcx", "mcy", "mcz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz")
Logs = Log | Sequence[Log]
_TOLD = (
    1e-6  # singular value, columns of length one, from which on a direction counts as determined
)
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


def identify_payload(arm: Arm, without: Logs, loaded: Logs, **options: Any) -> Payload:
    """The payload that explains the difference between logs without and with it; options are those of Identifier."""
    both = _Pair(Identifier(arm, **options), without, loaded, _payload_columns(arm))
    p = both.terms.size
    solution = both.solve()
    found = solution.values[p - 10 :]
    spread = covariance(both.factors, solution, both.inflation(solution.values))[p - 10 :, p - 10 :]
    seen, free = _told(both.factors, solution, p)
    std = np.sqrt(np.maximum(np.diag(spread), 0))
    if len(free):  # what the motion does not tell is anything, not zero
        std = np.where(
            (np.abs(free) > 1e-9 * np.abs(free).max(axis=1)[:, None]).any(axis=0), np.inf, std
        )
    body = one_body(found, spread + _anything(free, found))
    mass, com, inertia = unpack_parameters(body)
    same = np.allclose(seen @ body, seen @ found, rtol=1e-6, atol=1e-6 * np.abs(seen @ found).max())
    return Payload(mass, com, inertia, found, std, len(seen), bool(same))


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
    com: Any = (0, 0, 0),
    inertia: Any = ((0, 0, 0),) * 3,
    **options: Any,
) -> Gains:
    """Torque per unit of the logs' tau (currents), from a payload that is known, given in the tool frame.

    X values - gain current = -(payload's torque) in the loaded logs, 0 in the others.
    """
    identifier = Identifier(arm, **options)
    load = Joint(mass=mass, com=com, inertia=inertia, name="payload")
    ten = np.array(load.parameters)
    if not ten.any():
        raise InputError("the payload has neither mass nor inertia; give one that the drives feel")
    known = Column("payload", _torque_of(arm, ten))
    return _Pair(identifier, without, loaded, (known,)).gains()


def _payload_columns(arm: Arm) -> tuple[Column, ...]:
    return tuple(
        Column(f"payload_{name}", _torque_of(arm, unit))
        for name, unit in zip(PARAMETERS, np.eye(10), strict=True)
    )


def _torque_of(arm: Arm, ten: np.ndarray) -> Any:
    """A column's function: joint forces of a body with ten parameters about the tool frame."""
    chain, T = chain_of(arm), arm.tool_pose
    moved = move_parameters(ten, T[:3, :3], T[:3, 3])

    def force(q: Sequence[Any], qd: Sequence[Any], qdd: Sequence[Any]) -> list[Any]:
        states = (np.column_stack([np.atleast_1d(x) for x in v]) for v in (q, qd, qdd))
        return list(body_forces(chain, moved, *states).T)

    return force


class _Pair:
    """Logs without and with a payload, folded with the same columns."""

    def __init__(
        self, identifier: Identifier, without: Logs, loaded: Logs, columns: Sequence[Column]
    ):
        if identifier.columns:
            raise InputError("columns of the user's own are not taken here; leave them out")
        plain, full = identifier.prepare(without), identifier.prepare(loaded)
        arm = identifier.arm
        base = identifier.terms(identifier._widths())
        how = identifier.preparation
        how, _ = choose_preparation(plain, base, _with_cutoff(how, identifier.cutoff))
        self.terms = _with_columns(base, tuple(columns))
        self.how = how
        self.base, self.extra = base.size, len(columns)
        self.pieces = [
            [smooth(p, how) for log in logs for p in stretches(log)] for logs in (plain, full)
        ]
        empty = _with_columns(base, tuple(Column(c.name, _nothing(arm.n)) for c in columns))
        self.parts = [
            _widened(fold(empty, self.pieces[0], how), self.terms),
            fold(self.terms, self.pieces[1], how),
        ]

    @property
    def factors(self) -> Factors:
        """Both logs' factors, block after block."""
        a, b = self.parts
        return Factors(
            self.terms.support, self.terms.size, [*a.R, *b.R], np.vstack([a.rows, b.rows])
        )

    def solve(self) -> Solution:
        """The weighted solution of both logs together."""
        merged = self.factors.merged()
        floor = 1e-12 * np.maximum(sizes(merged), 1e-300)
        sigma = sizes(merged)
        for _ in range(20):
            found = solve(merged, 1 / np.maximum(sigma, floor))
            new = deviations(merged, found.values)
            if np.abs(new / np.maximum(sigma, floor) - 1).max() < 1e-6:
                break
            sigma = new
        return solve(merged, 1 / np.maximum(sigma, floor))

    def inflation(self, values: np.ndarray) -> np.ndarray:
        """(n,) autocorrelation of the loaded log's residuals."""
        return residuals(self.terms, self.pieces[1], self.how, values).inflation

    def gains(self) -> Gains:
        """Gains from the factors of [X load current]: load is what X values - gain current must cancel."""
        n, p = self.terms.n, self.base
        rows, right, owner = [], [], []
        for part in self.parts:
            for j in range(n):
                R, support = part.joint(j), self.terms.support[j]
                arm_part = np.flatnonzero(support < p)
                load = np.flatnonzero(support == p)
                wide = np.zeros((len(R), p + n))
                wide[:, support[arm_part]] = R[:, arm_part]
                wide[:, p + j] = -R[:, -1]
                rows.append(wide)
                right.append(-R[:, load[0]] if len(load) else np.zeros(len(R)))
                owner.append(np.full(len(R), j))
        A, b, joint = np.vstack(rows), np.concatenate(right), np.concatenate(owner)
        count = self.factors.rows.sum(axis=0)
        sigma = np.ones(n)
        x, spread = np.zeros(p + n), np.zeros((p + n, p + n))
        for _ in range(10):
            w = 1 / sigma[joint]
            scale = np.linalg.norm(A * w[:, None], axis=0)
            scale[scale == 0] = 1.0
            scaled = A * w[:, None] / scale
            x = np.linalg.lstsq(scaled, b * w, rcond=1e-12)[0] / scale
            spread = np.linalg.pinv(scaled.T @ scaled, rcond=1e-12) / np.outer(scale, scale)
            left = (b - A @ x) ** 2
            power = np.array([left[joint == j].sum() for j in range(n)])
            sigma = np.sqrt(
                np.maximum(power / np.maximum(count - p / n, 1), 1e-24 * np.abs(b).max() ** 2)
            )
        inflations = self.inflation_of_gains(x)
        return Gains(x[p:], np.sqrt(np.maximum(np.diag(spread)[p:], 0)) * np.sqrt(inflations))

    def inflation_of_gains(self, x: np.ndarray) -> np.ndarray:
        """(n,) autocorrelation of the residual in currents: gain current - X values - load."""
        gains = np.where(np.abs(x[self.base :]) > 0, x[self.base :], 1.0)
        values = np.r_[x[: self.base], 1.0]
        left = residuals(self.terms, self.pieces[1], self.how, values)
        found = []
        for j in range(self.terms.n):
            found.append(inflation(gains[j] * left.measured[j] - left.predicted[j]))
        return np.array(found)


def _with_cutoff(how: Preparation, cutoff: float | None) -> Preparation:
    return how if cutoff is None else replace(how, cutoff=cutoff)


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


def _nothing(n: int) -> Any:
    return lambda q, qd, qdd: [0] * n


def _widened(factors: Factors, terms: Terms) -> Factors:
    """Factors over the unknowns of more terms, which were zero there."""
    R = []
    for block in factors.R:
        joints = []
        for j, part in enumerate(block):
            support = terms.support[j]
            wide = np.zeros((len(part), len(support) + 1))
            wide[:, np.searchsorted(support, factors.support[j])] = part[:, :-1]
            wide[:, -1] = part[:, -1]
            joints.append(wide)
        R.append(joints)
    return Factors(terms.support, terms.size, R, factors.rows)


def _told(factors: Factors, solution: Solution, p: int) -> tuple[np.ndarray, np.ndarray]:
    """Directions of the ten payload parameters that the data determine (rows, of unit worth), and those they do not."""
    X, _ = factors.merged().stacked(solution.weights)
    scale = np.linalg.norm(X, axis=0)
    scale[scale == 0] = 1.0
    R = triangle(X / scale)
    _, s, V = np.linalg.svd(R[p - 10 :, p - 10 :], full_matrices=True)
    count = int((s > _TOLD).sum())
    return V[:count] * scale[p - 10 :], V[count:] / scale[p - 10 :]
