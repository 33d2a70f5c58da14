"""A payload: its ten numbers with their certainty, the body that they belong to, and the joint forces it takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ..algebra.vectors import Scalar
from ..border.kinds import Maker
from ..robot.arm import Arm, Tool, move_parameters, unpack_parameters
from ..robot.frames.chain import chain_of
from .bodies import body_forces, carried_forces
from .estimators.feasibility import one_body
from .tables import html_table, plain_table

PARAMETERS = ("m", "mcx", "mcy", "mcz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz")
_LIGHT = 1e-9  # [kg] of which the centre is nowhere
_REACH = 0.1  # [m] by which lengths of a payload are measured
_BLIND = 1e-9  # part of a number that may come from what the motion does not tell
_HEADS = ("parameter", "value", "std", "unit")


@dataclass(frozen=True, slots=True, eq=False)
class Payload:
    """A payload in the frame of the tool.

    `dynarm.identify_payload` makes it; `arm.with_payload` takes its mass, com and inertia.

    Attributes
    ----------
    mass : float
        Mass [kg].
    com : ndarray
        Centre of mass (3,) [m].
    inertia : ndarray
        Inertia (3, 3) about the centre of mass [kg m^2].
    parameters : ndarray
        The ten numbers about the origin of the tool's frame, as fitted; mass, com and
        inertia are of the nearest consistent body.
    std : ndarray
        Their deviations (10,); infinite for those that the motion does not tell.
    determined : int
        How many of the ten the motion tells; the std of those it does not is infinite.
    consistent : bool
        No body of the nearest consistent ones had to differ in what the motion tells.
    covariance : ndarray, optional
        Covariance (10, 10) of the parameters, as wide as a hundred times their size where
        the motion tells nothing.

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
    >>> heavier = arm.with_payload(payload.mass, payload.com, payload.inertia)
    """

    mass: float
    com: np.ndarray
    inertia: np.ndarray
    parameters: np.ndarray
    std: np.ndarray
    determined: int
    consistent: bool
    covariance: np.ndarray | None = None

    @property
    def mass_std(self) -> float:
        """[kg]"""
        return float(self.std[0])

    @property
    def com_std(self) -> np.ndarray:
        """(3,) [m], infinite where the motion does not tell it."""
        return self._spread(lambda ten: ten[1:4] / ten[0])

    @property
    def inertia_std(self) -> np.ndarray:
        """(6,) [kg m^2] of Ixx, Ixy, Iyy, Ixz, Iyz, Izz about the centre, infinite where it is not told."""
        return self._spread(_about_centre)

    def _spread(self, function: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        """The deviations of a function of the ten numbers, by its slope at the body."""
        ten = _ten(max(self.mass, _LIGHT), self.com, self.inertia)
        steps = 1e-6 * np.array([ten[0], *[ten[0] * _REACH] * 3, *[ten[0] * _REACH**2] * 6])
        slope = np.column_stack(
            [
                (function(ten + step) - function(ten - step)) / (2 * step.sum())
                for step in np.diag(steps)
            ]
        )
        units = np.abs(slope) * steps
        weight = units.sum(axis=1)
        blind = (units[:, ~np.isfinite(self.std)] > _BLIND * weight[:, None]).any(axis=1)
        spread = np.diag(np.nan_to_num(self.std, posinf=0.0) ** 2)
        if self.covariance is not None:
            spread = self.covariance
        std = np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", slope, spread, slope), 0))
        return np.where(blind, np.inf, std)

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


def _ten(mass: float, com: np.ndarray, inertia: np.ndarray) -> np.ndarray:
    """The ten parameters about the tool's frame."""
    turned = inertia + mass * (com @ com * np.eye(3) - np.outer(com, com))
    return np.array([mass, *(mass * com), *turned[[0, 0, 1, 0, 1, 2], [0, 1, 1, 2, 2, 2]]])


def _about_centre(ten: np.ndarray) -> np.ndarray:
    """(6,): inertia about the centre."""
    inertia = unpack_parameters(ten)[2]
    return np.asarray(inertia[[0, 0, 1, 0, 1, 2], [0, 1, 1, 2, 2, 2]])


def payload_of(ten: np.ndarray, spread: np.ndarray, seen: np.ndarray, free: np.ndarray) -> Payload:
    """The payload of ten fitted numbers and their covariance; seen, free: directions that the motion tells, or not."""
    std = np.sqrt(np.maximum(np.diag(spread), 0))
    if len(free):  # what the motion does not tell is anything, not zero
        std = np.where(
            (np.abs(free) > 1e-9 * np.abs(free).max(axis=1)[:, None]).any(axis=0), np.inf, std
        )
    wide = spread + _anything(free, ten)
    body = one_body(ten, wide)
    mass, com, inertia = unpack_parameters(body)
    same = np.allclose(seen @ body, seen @ ten, rtol=1e-6, atol=1e-6 * np.abs(seen @ ten).max())
    return Payload(mass, com, inertia, ten, std, len(seen), bool(same), wide)


def _anything(free: np.ndarray, ten: np.ndarray) -> np.ndarray:
    """(10, 10): the covariance of numbers that are not known along some directions, to a hundred times their size."""
    mass = max(abs(float(ten[0])), 1e-3)
    length = max(float(np.abs(ten[1:4]).max()) / mass, 1e-2)
    units = np.array([mass, *[mass * length] * 3, *[mass * length**2] * 6])
    size = np.abs(free / units).max(axis=1, initial=0.0)
    wide = 100 * free / np.where(size > 0, size, 1.0)[:, None]
    return np.asarray(wide.T @ wide)


def torque_of(arm: Arm, tool: Tool, ten: np.ndarray) -> Maker:
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
