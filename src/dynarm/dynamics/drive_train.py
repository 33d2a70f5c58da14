"""The drives of all joints of a robot at once: what each of them feels of the others, of its load and of its past.

    tau = r + f(q, qd, qdd, x) + g(qd, x) |r|,      r = M qdd + h

Joint by joint, r is the rigid-body force with the armature's, f the friction that the load does not change, g what it
adds per unit of load, x the deflections of Maxwell-slip elements. What each of these is, `drive.py` says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..algebra.piecewise import between
from ..algebra.vectors import Scalar, add, magnitude, mul, sign, sub
from ..errors import ModelError
from ..robot.arm import Arm, Friction, Joint
from .drive import Instant, Neighbour, any_load, free_force, largest_load_factor, load_factor
from .stops import elements

Rows = list[list[Scalar]]


@dataclass(frozen=True, slots=True, eq=False)
class DriveMotion:
    """What the drives feel, one entry a joint, those that follow others included."""

    q: Sequence[Scalar]
    qd: Sequence[Scalar]
    qdd: Sequence[Scalar] | None = None  # None: not known; elements without a state have slipped
    x: Sequence[Scalar] | None = None  # deflections in the order of `stops.elements`; None: without


def instants(joints: Sequence[Joint], motion: DriveMotion) -> list[Instant]:
    """What the drive of each joint feels, but for its load."""
    own, summed = _deflections(joints, motion.x)
    known = motion.x is not None
    felt = []
    for j, joint in enumerate(joints):
        others = {}
        for i in partners(joint.friction):
            x = summed.get((j, i), {}) if known else None
            others[i] = Neighbour(motion.qd[i], motion.q[i], _entry(motion.qdd, i), x)
        x = own.get(j, {}) if known else None
        a = _entry(motion.qdd, j)
        felt.append(Instant(motion.qd[j], motion.q[j], a, x=x, others=others))
    return felt


def partners(friction: Friction | None) -> list[int]:
    """The joints whose motion a joint's friction feels."""
    return [] if friction is None else [int(c.joint) for c in friction.coupling]


def free_forces(joints: Sequence[Joint], motion: DriveMotion) -> list[Scalar]:
    """f, joint by joint [N m or N]: friction that does not grow with the load."""
    felt = zip(joints, instants(joints, motion), strict=True)
    return [0 if j.friction is None else free_force(j.friction, at) for j, at in felt]


def load_factors(joints: Sequence[Joint], motion: DriveMotion) -> list[Scalar]:
    """g, joint by joint: what is added per unit of load."""
    felt = zip(joints, instants(joints, motion), strict=True)
    return [0 if j.friction is None else load_factor(j.friction, at) for j, at in felt]


def loaded(r: Scalar, factor: Scalar) -> Scalar:
    """g |r| [N m or N]."""
    return mul(magnitude(r), factor)


def borne(y: Scalar, factor: Scalar) -> Scalar:
    """r with r + g |r| = y, where |g| < 1: what a force leaves of itself behind friction that grows with it."""
    return y / add(1, mul(factor, sign(y)))


def any_loaded(joints: Sequence[Joint]) -> bool:
    """Whether the friction of any joint grows with its load."""
    return any(any_load(joint.friction) for joint in joints)


def coupled_inertia(joints: Sequence[Joint]) -> Rows | None:
    """The matrix K of forces on joints per unit of other ones' acceleration; None where there is none."""
    rows: Rows = [[0] * len(joints) for _ in joints]
    for j, joint in enumerate(joints):
        for coupled in () if joint.friction is None else joint.friction.coupling:
            rows[j][int(coupled.joint)] = coupled.inertia or 0
    return rows if any(x for row in rows for x in row) else None


def check_factors(joints: Sequence[Joint]) -> None:
    """Refuse friction that may grow as fast as its load, so that no force can be told from another."""
    for joint in joints:
        largest = largest_load_factor(joint.friction)
        if largest >= 1:
            raise ModelError(
                f"friction of joint '{joint.name}' has load coefficients that sum to {largest:g}; accelerations need "
                "a sum below 1"
            )


def moved_deflections(arm: Arm, own: Sequence[Scalar], state: Sequence[Scalar]) -> list[Scalar]:
    """Deflections of the elements once the independent joints have moved from where a friction state is to `own`."""
    held, coupling = elements(arm.joints), arm.coupling
    steps = [sub(new, old) for new, old in zip(own, state[len(held) :], strict=True)]
    moved = [mul(k, steps[j]) for j, k in zip(coupling.of, coupling.multipliers, strict=True)]
    made = []
    for e, x in zip(held, state, strict=False):
        by = moved[e.joint] if e.other is None else add(moved[e.joint], moved[e.other])
        made.append(between(-e.stroke, add(x, by), e.stroke))
    return made


Own = dict[int, dict[float, Scalar]]
Summed = dict[tuple[int, int], dict[float, Scalar]]


def _deflections(joints: Sequence[Joint], x: Sequence[Scalar] | None) -> tuple[Own, Summed]:
    """Deflections by stroke: of each joint's own elements, and of those on the sum of two positions."""
    own: Own = {}
    summed: Summed = {}
    for e, value in zip(elements(joints), x or (), strict=x is not None):
        if e.other is None:
            own.setdefault(e.joint, {})[e.stroke] = value
        else:
            summed.setdefault((e.joint, e.other), {})[e.stroke] = value
    return own, summed


def _entry(values: Sequence[Scalar] | None, i: int) -> Scalar | None:
    return None if values is None else values[i]
