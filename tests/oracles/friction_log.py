"""Friction along a log: forces and columns sample by sample, with the deflections that the motion left behind.

Written apart from the columns of identification, for logs with known friction and checks of compiled models. Rigid-body
forces come in, because what they are made from is the caller's affair.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dynarm.algebra.vectors import Scalar
from dynarm.border.kinds import FloatArray
from dynarm.dynamics.drive import Instant, columns, force_at, pieces
from dynarm.dynamics.drive_train import DriveMotion, instants
from dynarm.dynamics.stops import elements, states_along
from dynarm.robot.arm import Arm


def instants_along(
    arm: Arm,
    q: FloatArray,
    qd: FloatArray,
    qdd: FloatArray,
    rigid: FloatArray,
    starts: Sequence[int] = (),
    memory: bool = True,
) -> list[Instant]:
    """What the drive of each joint feels along a motion (N, nq), (N, nv), (N, nv): entries are batches (N,).

    rigid: (N, nv), the rigid-body forces with those of armatures, without friction. starts: samples after a gap, where
    deflections begin at 0 again. memory=False: without a state, by `drive.stand_in`.
    """
    coupling, n = arm.coupling, len(arm.coupling.masters)
    own, speeds, rates, load = (x[..., x.shape[-1] - n :].T for x in (q, qd, qdd, rigid))
    rules = list(zip(coupling.of, coupling.multipliers, coupling.offsets, strict=True))
    places = [k * own[j] + offset for j, k, offset in rules]
    vs, accs = ([k * v[j] for j, k, _ in rules] for v in (speeds, rates))
    count = len(elements(arm.joints))
    x = list(states_along(arm, q, starts)[:, :count].T) if memory and count else None
    felt = instants(arm.joints, DriveMotion(places, vs, accs, x))
    loads: dict[int, Scalar] = dict(zip(coupling.masters, load, strict=True))
    return [replace(at, r=loads.get(i, 0)) for i, at in enumerate(felt)]


def friction_along(
    arm: Arm,
    q: FloatArray,
    qd: FloatArray,
    qdd: FloatArray,
    rigid: FloatArray,
    starts: Sequence[int] = (),
    memory: bool = True,
) -> FloatArray:
    """(N, nv): the friction forces of an arm along a motion; arguments as `instants_along` takes them."""
    felt = instants_along(arm, q, qd, qdd, rigid, starts, memory)
    coupling = arm.coupling
    first = arm.nv - len(coupling.masters)
    out = np.zeros((len(q), arm.nv))
    for i, (joint, at) in enumerate(zip(arm.joints, felt, strict=True)):
        if joint.friction is not None:
            row = first + coupling.of[i]
            out[:, row] += coupling.multipliers[i] * force_at(joint.friction, at)
    return out


def columns_along(
    arm: Arm,
    q: FloatArray,
    qd: FloatArray,
    qdd: FloatArray,
    rigid: FloatArray,
    starts: Sequence[int] = (),
    memory: bool = True,
) -> list[FloatArray]:
    """For each independent joint (N, k): its friction's columns in the order of `drive.pieces`.

    Friction = columns @ coefficients, beside viscous, Coulomb and offset terms; arguments as of `instants_along`.
    """
    felt = instants_along(arm, q, qd, qdd, rigid, starts, memory)
    made = []
    for i in arm.coupling.masters:
        friction = arm.joints[i].friction
        own = np.empty((len(q), len(pieces(friction))))
        for k, column in enumerate([] if friction is None else columns(friction, felt[i])):
            own[:, k] = column
        made.append(own)
    return made
