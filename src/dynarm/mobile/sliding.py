"""Friction of wheels that slide across when a skid-steer platform turns.

Wheel j of the kind 'skid' rolls ahead without slip and slides along its axle with u_j = (x_j - pivot) thd. The ground
resists with slide_j N_j sign(u_j), the sign smoothed over SLOW: Coulomb friction with the load N_j that the wheel has
at the present speeds without accelerations, on springs that push and never pull. The power of the drives is then the
rate of the energy plus sum slide_j N_j |u_j|.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..algebra.vectors import Scalar, Vec3, add, mul, sub, total
from ..dynamics.drive import smooth_sign
from ..dynamics.papers.kane_tanner2001 import (
    Load,
    Machine,
    PartialVelocities,
    ground,
    interaction,
)
from .springs import carry
from .stability import pressed

if TYPE_CHECKING:
    from .formulas import Formulas

SLOW = 1e-3  # [m/s] of sliding, over which the sign is smoothed


def slides(f: Formulas) -> bool:
    """Whether any wheel slides across."""
    return any(wheel.slide for wheel in f.wheels)


def sliding_forces(
    f: Formulas, machine: Machine, at: PartialVelocities, load: Load
) -> list[Scalar]:
    """Force [N] along the axle of each roller by which the ground resists its sliding."""
    if not slides(f):
        return [0] * len(f.rolling)
    steady = [0] * at.size
    wrench = interaction(machine, at, steady, load)
    height = f.platform.height
    idle = ground(machine, at, steady, [0] * len(f.rolling), wrench, height)
    up = carry(f.springs, *pressed(idle, height)).up
    return [
        mul(-mul(f.wheels[j].slide, up[j]), smooth_sign(speed, 1 / SLOW))
        if f.wheels[j].slide
        else 0
        for j, speed in zip(f.rolling, sliding_speeds(machine, at), strict=True)
    ]


def unbraced(f: Formulas, at: PartialVelocities) -> list[Vec3]:
    """(vx, vy, thd) of the ways in which no wheel is held along its axle.

    Of wheels that do not slide, those are the free motions; wheels that slide hold the platform when it turns as well.
    """
    places = {wheel.x for wheel in f.wheels if wheel.kind == "skid"}
    return [Vec3(1, 0, 0)] if len(places) > 1 else at.carriage.twists()


def sliding_speeds(machine: Machine, at: PartialVelocities) -> list[Scalar]:
    """Speed [m/s] of each roller along its axle."""
    v, w = at.carriage.v, at.carriage.w
    return [
        total(mul(wheel.skid.x, v.x), mul(wheel.skid.y, v.y), mul(wheel.skid.z, w))
        for wheel in machine.wheels
    ]


def resisted(
    F: list[Scalar], machine: Machine, at: PartialVelocities, across: Sequence[Scalar]
) -> list[Scalar]:
    """The bias F with the forces along the axles in it."""
    F = list(F)
    for r, twist in enumerate(at.carriage.twists()):
        pushed = [
            mul(force, wheel.skid.dot(twist))
            for wheel, force in zip(machine.wheels, across, strict=True)
        ]
        F[r] = sub(F[r], total(*pushed))
    return F


def dissipated(machine: Machine, at: PartialVelocities, across: Sequence[Scalar]) -> Scalar:
    """Power [W] that sliding takes."""
    lost: Scalar = 0
    for force, speed in zip(across, sliding_speeds(machine, at), strict=True):
        lost = add(lost, mul(-1, mul(force, speed)))
    return lost
