"""The power that goes into a machine on wheels, and the power that friction takes from it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..algebra.vectors import Scalar, mul, total
from ..dynamics.drive import friction_force
from ..dynamics.papers.kane_arm_tanner2001 import load_forces
from ..dynamics.papers.kane_tanner2001 import Load, Machine, PartialVelocities
from .sliding import dissipated, sliding_forces

if TYPE_CHECKING:
    from .formulas import Formulas

Flat = Sequence[Scalar]


def powers(
    f: Formulas,
    machine: Machine,
    at: PartialVelocities,
    z: Flat,
    B: Sequence[Flat],
    tau: Flat,
    push: Load,
) -> list[Scalar]:
    """Power [W] of inputs and load, and that of friction: bearings, joints, wheels that slide."""
    rates = [total(*(mul(row[k], x) for row, x in zip(B, z, strict=True))) for k in range(f.inputs)]
    hand = at.links[machine.last]
    pushed = load_forces(hand, machine.links[machine.last], machine.tool, *push)
    gained = [mul(t, rate) for t, rate in zip(tau, rates, strict=True)]
    gained += [mul(force, z[row]) for row, force in zip(at.rows(hand), pushed, strict=True)]
    slid = dissipated(machine, at, sliding_forces(f, machine, at, push))
    if not f.friction:
        return [total(*gained), slid]
    w, resist = len(f.wheels), f.wheel_friction(machine, at)
    places = [*f.slots, *(w + j for j in f.rolling)]
    lost = [mul(r, rates[place]) for r, place in zip(resist, places, strict=True)]
    for joint, rate in zip(f.arm.joints, z[f.n - f.m :], strict=True):
        lost.append(mul(friction_force(joint.friction, rate), rate))
    return [total(*gained), total(slid, *lost)]
