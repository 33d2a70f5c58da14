"""What fitted values say along a motion and over velocity, and where another shape of friction would say it better."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..border.arguments import whole
from ..border.kinds import FloatArray, Outside
from ..dynamics.drive import Instant, pieces
from .regressor import Terms
from .tuning import choose_widths

if TYPE_CHECKING:
    from .record import Record

WORTH_IT = 0.2  # part of an error by which another friction shape must lower it to be recommended
_PART = 4096  # samples at once

States = tuple[np.ndarray, np.ndarray, np.ndarray]


def forces_along(
    terms: Terms,
    values: np.ndarray,
    states: States,
    deflected: FloatArray | None,
    held: FloatArray | None = None,
) -> np.ndarray:
    """(N, n): `Terms.forces` along states q, qd, qdd (N, ...), part by part."""
    out = np.empty(states[1].shape)
    for low in range(0, len(out), _PART):
        part = slice(low, low + _PART)
        x, borne = (None if array is None else array[part] for array in (deflected, held))
        q, qd, qdd = (array[part] for array in states)
        out[part] = terms.forces(values, q, qd, qdd, x, borne)
    return out


def friction_curve(
    terms: Terms, values: np.ndarray, tops: np.ndarray, joint: Outside, points: Outside
) -> tuple[np.ndarray, np.ndarray]:
    """Velocities up to the largest (joints,) and the friction force of a joint there: the part that velocity tells."""
    joint = whole("joint", joint, 0, len(terms.joints) - 1)
    points = whole("points", points, 2, 10**7)
    speed = np.linspace(-tops[joint], tops[joint], points)
    wide = np.zeros((points, terms.n))
    wide[:, terms.first + joint] = speed
    force = np.zeros(points)
    for word, column in zip(terms.drive_names, terms.drive_columns(wide), strict=True):
        force += values[terms.drive_index(joint, word)] * column[:, joint]
    record = terms.friction_of(joint, values)
    for piece in [] if record is None else pieces(record):
        if piece.family in ("curve", "presliding"):  # fully slipped, without load
            force += piece.coefficient * piece.force(Instant(speed))
    return speed, force


def smoother_signs(record: Record) -> tuple[str, ...]:
    """Joints whose torque a smoothed sign would explain much better than the sharp one that was fitted."""
    terms, how = record.terms, record.preparation
    sharp = terms.shape == "sign" and "coulomb" in terms.friction
    if not sharp or not record.logs or record.identifier.automatic:
        return ()
    widths, errors = choose_widths(terms, record.recording.short.pieces(how), how)
    some = np.where(errors[:, 0] > 0, errors[:, 0], np.inf)  # no rows, no error, no gain
    gains = np.where(errors[:, 0] > 0, 1 - errors.min(axis=1) / some, 0.0)
    return tuple(
        f"joint {name}: shape='tanh' (width {width:g}) would lower the error by {100 * gain:.0f} %"
        for name, width, gain in zip(terms.arm.joint_names, widths, gains, strict=True)
        if gain > WORTH_IT
    )
