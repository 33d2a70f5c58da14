"""Columns of listed friction along a motion: `dynamics.drive` says the forces, here is what they are computed from.

Elements with memory move along with the positions, stretch by stretch. Where one begins in motion an element has
slipped, as far as velocity and acceleration tell; where it begins at rest nothing is known and it is not deflected.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ...border.kinds import FloatArray
from ...dynamics.drive import Instant, Neighbour, columns, stand_in
from ...dynamics.stops import Stop, elements, stop_states, strokes_of
from ...robot.arm import Friction, Joint

_MOVING = 0.1  # of the usual speed: a stretch that begins faster begins in motion

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


def deflections(
    records: Sequence[Friction], motion: Motion, starts: Sequence[int] = ()
) -> FloatArray | None:
    """(N, elements): deflections along a motion; None where no record has an element.

    starts: samples after gaps, where deflections begin anew.
    """
    held = elements_of(records)
    if not held:
        return None
    q, v, a = (_followed(held, x) for x in motion)
    strokes, out = strokes_of(held), np.empty(q.shape)
    edges = [0, *sorted(s for s in {int(s) for s in starts} if 0 < s < len(q)), len(q)]
    for first, last in pairwise(edges):
        usual = np.sqrt((v[first:last] ** 2).mean(axis=0))
        begun = _slipped(v[first], a[first], strokes) * (np.abs(v[first]) > _MOVING * usual)
        path = np.vstack([q[first] - begun, q[first:last]])
        out[first:last] = stop_states(path, strokes)[1:]
    return out


def _followed(held: Sequence[Stop], x: FloatArray) -> FloatArray:
    """(N, elements): what each element follows, the motion of a joint or the sum of two."""
    own = [x[:, e.joint] if e.other is None else x[:, e.joint] + x[:, e.other] for e in held]
    return np.column_stack(own)


def _slipped(v: FloatArray, a: FloatArray, strokes: FloatArray) -> FloatArray:
    """(elements,): deflections that velocity and acceleration alone let expect."""
    rows = zip(v.tolist(), a.tolist(), strokes.tolist(), strict=True)
    return np.array([d * stand_in(speed, rate, d) for speed, rate, d in rows])


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
