"""Columns of listed friction along a motion: `dynamics.drive` says the forces, here is what they are computed from.

Elements with memory move along with the positions, stretch by stretch, as `model.friction_state` has them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...border.kinds import FloatArray
from ...dynamics.drive import Instant, Neighbour, columns
from ...dynamics.stops import Stop, elements
from ...robot.arm import Friction, Joint

# positions, velocities, accelerations (N, joints)
Motion = tuple[FloatArray, FloatArray, FloatArray]


@dataclass(frozen=True, slots=True, eq=False)
class Along:
    """What columns of listed friction need besides the states (N, ...): deflections of elements, and rigid forces."""

    deflections: FloatArray | None = None  # (N, elements); None: without memory
    load: FloatArray | None = None  # (N, n); None: none


def elements_of(records: Sequence[Friction]) -> tuple[Stop, ...]:
    """The elements of all joints' records, in the order of `deflections`."""
    return elements([Joint(friction=record) for record in records])


def listed_columns(
    records: Sequence[Friction],
    joint: int,
    motion: Motion,
    deflected: FloatArray | None,
    load: FloatArray | None,
) -> list[FloatArray]:
    """The columns (N,) of one joint's lists, for coefficients of one, in the order of `drive.pieces`.

    deflected: as `deflections` gives them; None: without memory. load: the rigid forces (N, joints); None: none.
    """
    q, v, a = motion
    x = None if deflected is None else _by_stroke(elements_of(records), joint, deflected)
    others = {
        int(c.joint): Neighbour(
            v[:, int(c.joint)],
            q[:, int(c.joint)],
            a[:, int(c.joint)],
            None if x is None else x.get(int(c.joint), {}),
        )
        for c in records[joint].coupling
    }
    r = np.zeros(len(q)) if load is None else load[:, joint]
    own = None if x is None else x.get(None, {})
    at = Instant(v[:, joint], q[:, joint], a[:, joint], r, own, others)
    return [np.broadcast_to(column, (len(q),)) for column in columns(records[joint], at)]


def _by_stroke(
    held: Sequence[Stop], joint: int, deflected: FloatArray
) -> Mapping[int | None, dict[float, FloatArray]]:
    """The deflections of a joint's elements by stroke, for itself (None) and for every coupled joint."""
    parts: dict[int | None, dict[float, FloatArray]] = {}
    for k, e in enumerate(held):
        if e.joint == joint:
            parts.setdefault(e.other, {})[e.stroke] = deflected[:, k]
    return parts
