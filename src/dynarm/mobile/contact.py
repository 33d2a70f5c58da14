"""The ground under a state with its inputs: forces, which of them statics determines, friction needed, tip-over.

More than three wheels share the vertical load as the `contact` says (`sharing.py`), and push without pulling as long as
the robot stands; axle forces that hold each other are split with the smallest norm.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..border.kinds import Numbers
from ..border.words import brief
from .constraints import roller
from .sharing import contact_word, shared
from .stability import Tipover, friction_needed

if TYPE_CHECKING:
    from .calls import Outputs
    from .robot import MobileManipulator

_GENERIC = 0.3  # steering angle [rad] at which no axles coincide by chance
_SMALL = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Contact:
    """Ground forces at a state (or a batch), and how far they can be known.

    Attributes
    ----------
    forces : ndarray
        Forces (..., w, 3) on each wheel: rolling, axle, up [N].
    determinate : ndarray
        Whether statics alone gives that component (w, 3).
    axle_sums : dict[tuple[str, ...], ndarray]
        {wheels on one axle: the sum of their axle forces}, which statics gives.
    friction_needed : ndarray
        Coefficient (..., w) that keeps each wheel from slipping.
    tipover : Tipover
        Tip-over angles and measure.
    formal : ndarray
        True where a wheel has lifted, so that the numbers are those of a robot held to the
        ground.
    status : str
        One sentence.
    contact : str
        How more than three wheels share the load.

    Examples
    --------
    >>> robot = dynarm.mobile.load("tanner2001")
    >>> q, z = np.zeros(len(robot.coordinate_names)), np.zeros(len(robot.speed_names))
    >>> contact = robot.contact(q, z, robot.hold(q))
    """

    forces: np.ndarray  # (..., w, 3): rolling, axle, up
    determinate: np.ndarray  # (w, 3): whether statics alone gives that component
    # wheels on one axle -> sum of their axle forces, determinate
    axle_sums: dict[tuple[str, ...], np.ndarray]
    friction_needed: np.ndarray  # (..., w)
    tipover: Tipover
    # (...): a wheel has lifted, so that the motion is that of a robot held to the ground
    formal: np.ndarray
    status: str
    contact: str = "elastic"  # how more than three wheels share the load

    __repr__ = brief

    def margin(self, friction: Numbers) -> np.ndarray:
        """(..., w) [N]: friction times vertical force minus the horizontal force; negative where a wheel slips.

        Parameters
        ----------
        friction : float or array_like (w,)
            Coefficient of friction with the ground.

        Returns
        -------
        ndarray
            Margins (..., w) [N].

        Examples
        --------
        >>> bool((contact.margin(0.8) > 0).all())
        True
        """
        sideways = np.hypot(self.forces[..., 0], self.forces[..., 1])
        left: np.ndarray = np.asarray(friction) * self.forces[..., 2] - sideways
        return left


def contact_of(robot: MobileManipulator, outputs: Outputs, contact: str) -> Contact:
    """The contact record out of the outputs of the `control` function."""
    contact = contact_word(contact)
    forces = shared(robot, contact, outputs.ground, outputs.forces)
    tipover = robot.tipover_of(outputs.ground)
    determinate = determinate_parts(robot)
    sums = {
        tuple(robot.wheel_names[j] for j in group): forces[..., list(group), 1].sum(-1)
        for group in axles(robot)
    }
    formal = (forces[..., 2] < 0).any(-1) if robot.support.determinate else tipover.formal
    return Contact(
        forces,
        determinate,
        sums,
        friction_needed(forces),
        tipover,
        np.asarray(formal),
        _status(robot, determinate, tipover, np.asarray(formal)) + f" (contact {contact})",
        contact,
    )


def _status(
    robot: MobileManipulator, determinate: np.ndarray, tipover: Tipover, formal: np.ndarray
) -> str:
    if not np.isfinite(tipover.measure).all():
        return tipover.status
    words = ["formal: a wheel has lifted, " + tipover.status if formal.any() else tipover.status]
    if not determinate[:, 1].all():
        words.append("axle forces are indeterminate: minimum-norm split")
    if not determinate[:, 2].all():
        words.append("vertical forces are indeterminate: shared by the contact")
    return "; ".join(words)


def _rows(robot: MobileManipulator, phi: float = _GENERIC) -> np.ndarray:
    """(k, 3): rows (1) of the wheels that guide."""
    rows = [tuple(roller(w, robot.platform.steering, phi).skid) for w in robot.wheels if w.braces]
    return np.array(rows, dtype=float).reshape(-1, 3)


def _fast(robot: MobileManipulator) -> list[int]:
    """The wheels that keep the platform from moving along their axles."""
    return [j for j, wheel in enumerate(robot.wheels) if wheel.braces]


def determinate_parts(robot: MobileManipulator) -> np.ndarray:
    """(w, 3): rolling forces always are; axle forces where no self-stress holds them; vertical with three wheels."""
    known = np.ones((len(robot.wheels), 3), dtype=bool)
    known[:, 2] = robot.support.determinate
    rows = _rows(robot)
    if not len(rows):
        return known
    _, values, right = np.linalg.svd(rows.T)
    rank = int((values > _SMALL * values[0]).sum())
    free = right[rank:]  # axle forces that hold each other
    known[_fast(robot), 1] = (np.abs(free) < 1e-9).all(0)
    return known


def axles(robot: MobileManipulator) -> list[tuple[int, ...]]:
    """Groups of wheels on one axle whose forces are known as a sum only."""
    rows, rolling = _rows(robot), _fast(robot)
    if not len(rows):
        return []
    known = determinate_parts(robot)
    groups: list[list[int]] = []
    for k in range(len(rows)):
        for group in groups:
            first = rows[group[0]]
            same = np.linalg.norm(np.cross(first, rows[k])) <= _SMALL * np.linalg.norm(first) ** 2
            if same and first @ rows[k] > 0:
                group.append(k)
                break
        else:
            groups.append([k])
    merged = np.array([rows[g[0]] for g in groups])
    if np.linalg.matrix_rank(merged, tol=_SMALL) < len(groups):
        return []  # not even the sums are determinate
    return [
        tuple(rolling[k] for k in g) for g in groups if len(g) > 1 and not known[rolling[g[0]], 1]
    ]
