"""How more than three wheels may share a load: on springs, at best, at worst.

elastic   wheels on springs that push and never pull (`springs.py`): one answer
best      of all ways in which wheels that push can balance the load, the one that asks for the least friction
worst     the one that asks for the most

Whatever the way, the forces balance the load. Each way is a set of cases in which what the wheels carry is linear in
the load: the sets of wheels that springs press on, or three wheels that carry all of it, the corners of what is
possible. Three wheels leave no choice, and all ways are the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from ..algebra.piecewise import chosen
from ..algebra.vectors import Scalar
from ..border.arguments import among, shown
from ..dynamics.papers.kane_tanner2001 import GroundLoad
from ..errors import InputError
from .springs import Springs, _height, _plane, _spans, carry
from .stability import Support, normal_forces, pressed

if TYPE_CHECKING:
    from .robot import MobileManipulator

CONTACTS = ("elastic", "best", "worst")
_TOUCH = 1e-9  # of the load, within which a force counts as none
_IDLE = 1e-9  # of the load: what a wheel without a force along the ground counts when friction is shared


def contact_word(contact: str) -> str:
    """The word, one of CONTACTS."""
    if not among(contact, CONTACTS):
        raise InputError(f"contact is {shown(contact)}; choose one of {', '.join(CONTACTS)}")
    return contact


def carried_up(
    support: Support, springs: Springs | None, load: GroundLoad
) -> tuple[list[Scalar], list[Scalar] | None]:
    """Vertical forces that balance a load, and which wheels stand (1 or 0); None: formally all do.

    Wheels on springs push and never pull. Where the robot tips no upward forces balance the load: then those of the
    smallest norm do, formally, as three wheels have them, and a negative one says that its wheel has lifted. springs
    None: always those of the smallest norm.
    """
    formal = normal_forces(support, load)
    if springs is None or support.determinate:
        return formal, None
    held = carry(springs, *pressed(load, float(-support.points[0, 2])))
    up = [chosen(held.tips, a, b) for a, b in zip(formal, held.up, strict=True)]
    return up, [chosen(held.tips, 1, stands) for stands in held.stands]


@dataclass(frozen=True, slots=True, eq=False)
class SharingCase:
    """A case: up = `up` @ load wherever all of `valid` @ load are not negative; load: force up, moments about x, y."""

    up: np.ndarray  # (w, 3)
    valid: np.ndarray  # (k, 3)


def elastic_shares(springs: Springs) -> tuple[SharingCase, ...]:
    """One case a set of wheels that may be all that carry."""
    xy, k = np.array(springs.places), np.array(springs.stiffness)
    middle = k @ xy / k.sum()
    made = []
    for group in springs.sets:
        planes = np.array([_plane(xy, k, middle, group, *unit) for unit in np.eye(3)], float)
        heights = np.array([[_height(p, at - middle) for p in planes] for at in xy], float)
        inside = np.isin(np.arange(len(xy)), group)
        made.append(
            SharingCase(
                np.where(inside[:, None], k[:, None] * heights, 0.0),
                np.where(inside[:, None], heights, -heights),
            )
        )
    return tuple(made)


def corner_shares(springs: Springs) -> tuple[SharingCase, ...]:
    """One case a triangle of wheels."""
    xy = np.array(springs.places)
    size = float(np.ptp(xy, axis=0).max())
    made = []
    for group in combinations(range(len(xy)), 3):
        some = list(group)
        if not _spans(xy[some], size):
            continue
        up = np.zeros((len(xy), 3))
        up[some] = np.linalg.inv(np.stack([np.ones(3), xy[some, 1], -xy[some, 0]]))
        made.append(SharingCase(up, up[some]))
    return tuple(made)


def below(robot: MobileManipulator, load: np.ndarray) -> np.ndarray:
    """(..., 3): force up and moments about x and y on the ground below {v} that answer a load (..., 6)."""
    h = robot.platform.height
    R, n = load[..., :3], load[..., 3:]
    return np.stack([-R[..., 2], h * R[..., 1] - n[..., 0], -h * R[..., 0] - n[..., 1]], axis=-1)


def elastic(robot: MobileManipulator, answer: np.ndarray) -> np.ndarray:
    """(..., w): what springs carry of (..., 3) force up and moments; with three wheels statics says it."""
    if robot.support.determinate:
        carried: np.ndarray = answer @ robot.support.share.T
        return carried
    parts = [np.asarray(answer[..., k], float) for k in range(3)]
    return np.stack(carry(robot.formulas.springs, *parts).up, axis=-1)


def possible(robot: MobileManipulator, answer: np.ndarray) -> np.ndarray:
    """(..., corners, w): what three wheels alone would carry; NaN where they cannot."""
    shares = robot.corner_shares
    up = np.einsum("swk,...k->...sw", np.array([s.up for s in shares]), answer)
    valid = np.einsum("svk,...k->...sv", np.array([s.valid for s in shares]), answer)
    holds = (valid >= -_TOUCH * np.abs(answer[..., None, :1])).all(-1)
    return np.where(holds[..., None], np.maximum(up, 0.0), np.nan)


def best(robot: MobileManipulator, answer: np.ndarray, push: np.ndarray) -> np.ndarray:
    """(..., w): the sharing with the smallest largest friction for forces `push` (..., w) along the ground.

    Every wheel carries t times its push, t as large as the load point's place in the polygon allows; what is left then
    lies on a side and is carried by the wheels at its ends.
    """
    springs = robot.formulas.springs
    xy = np.array(springs.places)
    weight = push + _IDLE * np.abs(answer[..., :1])
    sides = np.array(springs.sides)
    start, end = xy[sides[:, 0]], xy[sides[:, 1]]
    along = end - start
    length = np.linalg.norm(along, axis=1)
    along = along / length[:, None]
    # moment of a force up at (x, y) about each side, positive inside
    lever = along[:, 1] * start[:, 0] - along[:, 0] * start[:, 1]
    reach = xy[:, 1, None] * along[:, 0] - xy[:, 0, None] * along[:, 1] + lever  # (w, sides)
    whole = answer[..., 1:] @ along.T + answer[..., :1] * lever
    each = weight @ reach
    with np.errstate(divide="ignore", invalid="ignore"):
        times = np.where(each > 0, whole / each, np.inf)
    side = times.argmin(-1)
    up = weight * times.min(-1)[..., None]
    moments = np.stack([up.sum(-1), up @ xy[:, 1], -(up @ xy[:, 0])], axis=-1)
    left = answer - moments
    a, b = start[side], along[side]
    # of what is left, the part on the side's second wheel
    ahead = (-left[..., 2] - a[..., 0] * left[..., 0]) * b[..., 0]
    ahead = (ahead + (left[..., 1] - a[..., 1] * left[..., 0]) * b[..., 1]) / length[side]
    for wheel, part in ((sides[side, 0], left[..., 0] - ahead), (sides[side, 1], ahead)):
        at = np.expand_dims(wheel, -1)
        np.put_along_axis(
            up, at, np.take_along_axis(up, at, -1) + np.expand_dims(part, -1), axis=-1
        )
    positive: np.ndarray = np.maximum(up, 0.0)
    return positive


def worst(robot: MobileManipulator, answer: np.ndarray, push: np.ndarray) -> np.ndarray:
    """(..., w): the sharing with the largest friction of any wheel for forces `push` (..., w) along the ground."""
    corners = possible(robot, answer)
    load = np.abs(answer[..., None, :1])
    with np.errstate(invalid="ignore", divide="ignore"):
        weight = push[..., None, :] + _IDLE * load
        asked = np.where(np.isnan(corners), -np.inf, weight / (corners + _IDLE * load)).max(-1)
    which = np.expand_dims(asked.argmax(-1), (-1, -2))
    taken = np.take_along_axis(corners, which, -2)
    return np.asarray(np.squeeze(taken, -2))


def shared(
    robot: MobileManipulator, contact: str, load: np.ndarray, forces: np.ndarray
) -> np.ndarray:
    """(..., w, 3): forces on the wheels, those upwards shared in another way; as they are where it tips."""
    if contact == "elastic" or robot.support.determinate:
        return forces
    answer, push = below(robot, load), np.hypot(forces[..., 0], forces[..., 1])
    push = np.broadcast_to(push, answer.shape[:-1] + push.shape[-1:])
    up = (best if contact == "best" else worst)(robot, answer, push)
    stands = ~np.isnan(possible(robot, answer)).all((-1, -2))
    other = forces.copy()
    other[..., 2] = np.where(stands[..., None], up, forces[..., 2])
    return other
