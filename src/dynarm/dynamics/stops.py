"""Maxwell-slip elements: which ones a robot's joints have, and how their deflections move along with positions.

An element is a spring behind a slider: its deflection x follows the position and stops at its stroke,
x <- clip(x + dq, -stroke, stroke). What force that makes is said in `drive.py`. Where nothing is known of the past, as
at the first sample of a log, x begins by one rule, `begun_deflections`; a robot at rest begins with x = 0.

A friction state is one row of numbers: the deflections of all elements, in the order of `elements`, and after them the
positions of the independent joints that these belong to. A robot without elements has an empty one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ..border.kinds import FloatArray
from ..robot.arm import Arm, Joint
from .drive import stand_in

_MOVING = 0.1  # of the usual speed: a piece of motion that begins faster begins under way


@dataclass(frozen=True, slots=True)
class Stop:
    """One element: the joint that feels it, its stroke [rad or m], and the coupled joint whose position is added."""

    joint: int
    stroke: float
    other: int | None = None


def elements(joints: Sequence[Joint]) -> tuple[Stop, ...]:
    """The elements of all joints, each stroke of a position once, in the order of a friction state."""
    made = []
    for j, joint in enumerate(joints):
        friction = joint.friction
        if friction is None:
            continue
        made += [Stop(j, stroke) for stroke in friction.strokes]
        for coupled in friction.coupling:
            strokes = dict.fromkeys(d for d, _ in coupled.presliding)
            made += [Stop(j, stroke, int(coupled.joint)) for stroke in strokes]
    return tuple(made)


def strokes_of(held: Sequence[Stop]) -> FloatArray:
    """(k,): the strokes of some elements."""
    return np.array([e.stroke for e in held], float)


def state_size(arm: Arm) -> int:
    """Numbers of a friction state: a deflection an element and a position an independent joint; 0 without elements."""
    k = len(elements(arm.joints))
    return k + len(arm.coupling.masters) if k else 0


def element_steps(arm: Arm, own: FloatArray) -> FloatArray:
    """(..., k): how far the elements move with steps (..., n) of the independent joints."""
    coupling = arm.coupling
    rules = zip(coupling.of, coupling.multipliers, strict=True)
    steps = [own[..., j] if k == 1 else k * own[..., j] for j, k in rules]
    held = elements(arm.joints)
    moved = [steps[e.joint] if e.other is None else steps[e.joint] + steps[e.other] for e in held]
    return np.stack(moved, axis=-1) if moved else np.empty((*own.shape[:-1], 0))


def start_state(arm: Arm, q: FloatArray) -> FloatArray:
    """(..., m): the friction state at rest in the pose q (..., nq), no element deflected."""
    k = len(elements(arm.joints))
    if not k:
        return np.empty((*q.shape[:-1], 0))
    own = _joint_positions(arm, q)
    return np.concatenate([np.zeros((*own.shape[:-1], k)), own], axis=-1)


def next_state(arm: Arm, q: FloatArray, state: FloatArray) -> FloatArray:
    """(..., m): the friction state once the arm has moved on to q."""
    held = elements(arm.joints)
    if not held:
        return np.empty((*q.shape[:-1], 0))
    own, d = _joint_positions(arm, q), strokes_of(held)
    x, before = state[..., : len(held)], state[..., len(held) :]
    x = np.clip(x + element_steps(arm, own - before), -d, d)
    own = np.broadcast_to(own, (*x.shape[:-1], own.shape[-1]))
    return np.concatenate([x, own], axis=-1)


def states_along(
    arm: Arm, q: FloatArray, starts: Sequence[int] = (), begun: FloatArray | None = None
) -> FloatArray:
    """(N, m): the friction states along a motion (N, nq) that begins at rest, and at each of `starts` anew.

    begun: (pieces, k), deflections at the first sample and at each of `starts` in turn, where they are not 0.
    """
    held = elements(arm.joints)
    if not held:
        return np.empty((len(q), 0))
    own = _joint_positions(arm, q)
    moved = np.zeros((len(q), len(held)))
    moved[1:] = element_steps(arm, np.diff(own, axis=0))
    return np.concatenate([_all_pieces(moved, strokes_of(held), starts, begun), own], axis=-1)


def begun_deflections(
    held: Sequence[Stop], v: FloatArray, a: FloatArray, starts: Sequence[int] = ()
) -> FloatArray:
    """(pieces, k): what elements begin with at the first sample of a motion and at each of `starts`, in order.

    v, a: (N, k), velocity and acceleration of what each element follows. An element that moves faster than a tenth of
    its usual speed in that piece has slipped as far as `drive.stand_in` says; of a slower one nothing is known, and it
    is not deflected: the sign of a velocity near rest is noise.
    """
    edges = [*piece_starts(starts, len(v)), len(v)]
    begun = np.empty((len(edges) - 1, len(held)))
    for k, (first, last) in enumerate(pairwise(edges)):
        usual = np.sqrt((v[first:last] ** 2).mean(axis=0))
        moving = np.abs(v[first]) > _MOVING * usual
        begun[k] = np.where(moving, slipped_deflections(held, v[first], a[first]), 0.0)
    return begun


def slipped_deflections(held: Sequence[Stop], v: FloatArray, a: FloatArray) -> FloatArray:
    """(..., k): deflections that velocity and acceleration (..., k) of each element alone let expect."""
    made = [e.stroke * stand_in(v[..., k], a[..., k], e.stroke) for k, e in enumerate(held)]
    return np.stack(made, axis=-1)


def _joint_positions(arm: Arm, q: FloatArray) -> FloatArray:
    """(..., n): the positions of the independent joints, which a free base has seven coordinates before."""
    return q[..., arm.nq - len(arm.coupling.masters) :]


# ---- along a log


def stop_states(
    q: FloatArray, strokes: Sequence[float] | FloatArray, starts: Sequence[int] = ()
) -> FloatArray:
    """(N, k): deflections x <- clip(x + dq, -stroke, stroke) of elements along positions q, 0 at the first sample.

    q: (N,), the same for all strokes, or (N, k), one column a stroke. starts: samples after a gap, where the
    deflection is not known and begins at 0 again.

    Steps of a block are one map x -> clip(x + s, low, high), so that all blocks of a log advance together: once to
    find their maps, from which the deflection at the beginning of each follows, and once more from there.
    """
    d = np.asarray(strokes, float)
    position = np.asarray(q, float)
    moved = np.zeros((len(position), len(d)))
    steps = np.diff(position, axis=0)
    moved[1:] = steps[:, None] if position.ndim == 1 else steps
    return _all_pieces(moved, d, starts)


def piece_starts(starts: Sequence[int], count: int) -> list[int]:
    """The first sample of each piece, in order."""
    return [0, *sorted(s for s in {int(s) for s in starts} if 0 < s < count)]


def _all_pieces(
    moved: FloatArray, d: FloatArray, starts: Sequence[int], begun: FloatArray | None = None
) -> FloatArray:
    """The deflections along pieces that begin at 0 and at each of `starts`."""
    edges = [*piece_starts(starts, len(moved)), len(moved)]
    x = np.empty(moved.shape)
    for k, (first, last) in enumerate(pairwise(edges)):
        if begun is None:
            x[first:last] = _piece(moved[first:last], d)
            continue
        # one step more, from no deflection to the one that is known, comes before the piece
        steps = np.vstack([np.zeros(len(d)), begun[k], moved[first + 1 : last]])
        x[first:last] = _piece(steps, d)[1:]
    return x


def _piece(moved: FloatArray, d: FloatArray) -> FloatArray:
    """The deflections along one piece without a gap; the first of its steps led from elsewhere and does not count."""
    count, k = moved.shape
    length = max(1, int(np.sqrt(count)))
    blocks = -(-count // length)
    steps = np.zeros((blocks * length, k))
    steps[1:count] = moved[1:]
    steps = np.ascontiguousarray(steps.reshape(blocks, length, k).swapaxes(0, 1))
    x = _block_starts(steps, d)
    out = np.empty(steps.shape)
    for step, kept in zip(steps, out, strict=True):
        np.add(x, step, out=kept)
        np.minimum(kept, d, out=kept)
        x = np.maximum(kept, -d, out=kept)
    return out.swapaxes(0, 1).reshape(-1, k)[:count]


def _block_starts(steps: FloatArray, d: FloatArray) -> FloatArray:
    """(blocks, k): the deflections before the first step of each block; steps: (length, blocks, k)."""
    blocks, k = steps.shape[1:]
    low, high = np.tile(-d, (blocks, 1)), np.tile(d, (blocks, 1))  # what becomes of the ends
    for step in steps:
        for end in (low, high):
            np.add(end, step, out=end)
            np.minimum(end, d, out=end)
            np.maximum(end, -d, out=end)
    total = steps.sum(axis=0)
    x = np.zeros((blocks, k))
    for b in range(1, blocks):
        x[b] = np.clip(x[b - 1] + total[b - 1], low[b - 1], high[b - 1])
    return x
