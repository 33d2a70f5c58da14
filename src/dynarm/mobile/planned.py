"""A planned motion over abstract scalars: the inputs that it takes and what the ground then carries.

The joints do what is planned, held or moved by their drives. The wheels that are driven share the drive with the
smallest squared torque, the steering columns likewise. On the ground the vertical forces are those of wheels on springs
(`springs.py`), which push and never pull; a wheel that carries nothing takes no force along the ground as long as the
others can, and what statics leaves open along the axles is split among those that stand with the smallest norm.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..algebra.ldl import factorise
from ..algebra.piecewise import arctangent, chosen, smallest, step
from ..algebra.vectors import Scalar, Vec3, add, mul, sqrt, sub, total
from ..dynamics.papers.kane_tanner2001 import (
    GroundLoad,
    Machine,
    PartialVelocities,
    ground,
    interaction,
)
from .sliding import sliding_forces, unbraced
from .springs import carry
from .stability import axle_forces, pressed, tip_sides

if TYPE_CHECKING:
    from .formulas import Formulas

Flat = Sequence[Scalar]
Rows = list[list[Scalar]]
_SINGULAR = 1e-9  # of what all wheels together give, below which those that stand cannot do it
NOTHING = 1e-30  # [N] added to a load that may be 0, so that no quotient overflows


def inverse_dynamics(
    f: Formulas, q: Flat, z: Flat, zd: Flat, gravity: Flat, load: Flat
) -> tuple[Flat, ...]:
    """The inputs tau [N m or N] that give accelerations zd: B tau = M zd + F."""
    machine, at, skew = f.state(q, z, pull=-Vec3(*gravity))
    needed, B = _needed(f, machine, at, z, zd, load)
    tau = _inputs(f, machine, B, needed, [1] * len(f.rolling))
    return (tau, *([skew] if skew else []))


def contact(f: Formulas, q: Flat, z: Flat, zd: Flat, gravity: Flat, load: Flat) -> tuple[Flat, ...]:
    """Forces on the wheels, friction that each needs, tip-over angles and measure, the load on the ground."""
    machine, at, skew = f.state(q, z, virtual=True, pull=-Vec3(*gravity))
    needed, B = _needed(f, machine, at, z, zd, load)
    wrench = interaction(machine, at, zd, f.push(load))
    height = f.platform.height
    still = ground(machine, at, zd, [0] * len(f.rolling), wrench, height)
    R, n = still.force, still.moment
    held = carry(f.springs, *pressed(still, height))
    stands = [held.stands[j] for j in f.rolling]
    drive = _inputs(f, machine, B, needed, stands)
    lost = f.wheel_friction(machine, at) if f.friction else [0] * (2 * len(f.rolling))
    pushes = [
        add(push, mul(sub(drive[f.slots[k]], lost[k]), 1 / f.wheels[j].radius))
        for k, (j, push) in enumerate(zip(f.rolling, still.push, strict=True))
    ]
    across = sliding_forces(f, machine, at, f.push(load))
    carried = GroundLoad(R, n, tuple(pushes))
    side = axle_forces(machine.wheels, unbraced(f, at), carried, across, stands)
    forces = f.placed(pushes, side, held.up)
    angles = [arctangent(s, c) for s, c in tip_sides(f.support, R, n)]
    measure = mul(smallest(angles), sqrt(R.dot(R)))
    friction = [_friction(*row) for row in forces]
    return (forces, friction, angles, measure, [*R, *n], *([skew] if skew else []))


def demand(f: Formulas, q: Flat, z: Flat, zd: Flat, gravity: Flat, load: Flat) -> tuple[Flat, ...]:
    """The load on the ground and the rolling force of each wheel, all driven wheels on the ground, bearings free."""
    machine, at, skew = f.state(q, z, virtual=True, pull=-Vec3(*gravity))
    M, F, B = f.rolled(machine, at, f.push(load))
    needed = [
        add(total(*(mul(a, b) for a, b in zip(row, zd, strict=True))), bias)
        for row, bias in zip(M, F, strict=True)
    ]
    drive = _inputs(f, machine, f._spread(B), needed, [1] * len(f.rolling))
    wrench = interaction(machine, at, zd, f.push(load))
    torques = [drive[slot] for slot in f.slots]
    carried = ground(machine, at, zd, torques, wrench, f.platform.height)
    return ([*carried.force, *carried.moment], f.pushed(carried.push), *([skew] if skew else []))


def _friction(rolling: Scalar, axle: Scalar, up: Scalar) -> Scalar:
    """The coefficient that holds a wheel: huge where it carries nothing and is pushed, 0 where neither."""
    size = sqrt(add(mul(rolling, rolling), mul(axle, axle)))
    return size / add(up, NOTHING)


def _needed(
    f: Formulas, machine: Machine, at: PartialVelocities, z: Flat, zd: Flat, load: Flat
) -> tuple[list[Scalar], Rows]:
    """M zd + F, and B."""
    M, F, B = f._equations(machine, at, z, f.push(load))
    rows = [
        add(total(*(mul(a, b) for a, b in zip(row, zd, strict=True))), bias)
        for row, bias in zip(M, F, strict=True)
    ]
    return rows, B


def _inputs(f: Formulas, machine: Machine, B: Rows, needed: Flat, stands: Flat) -> list[Scalar]:
    """The inputs with the smallest norm; stands: 1 for rolling wheels that may drive, as long as they can."""
    p, w = f.guidance.moving, len(f.wheels)
    driven = [k for k, j in enumerate(f.rolling) if f.wheels[j].driven]
    columns = [[B[r][f.slots[k]] for r in range(p)] for k in driven]
    weights = _able(columns, [stands[k] for k in driven])
    inner = [
        [
            total(*(mul(g, mul(c[r], c[s])) for c, g in zip(columns, weights, strict=True)))
            for s in range(p)
        ]
        for r in range(p)
    ]
    shares = factorise(inner).solve(list(needed[:p]))
    tau: list[Scalar] = [0] * f.inputs
    for k, c, g in zip(driven, columns, weights, strict=True):
        tau[f.slots[k]] = mul(g, total(*(mul(a, b) for a, b in zip(c, shares, strict=True))))
    if f.guidance.steered:
        turns = [wheel.d for wheel in machine.wheels]
        part = needed[p] / total(*(mul(d, d) for d in turns))
        for j, d in zip(f.rolling, turns, strict=True):
            tau[w + j] = mul(d, part)
    tau[2 * w :] = needed[f.n - f.m :]
    return tau


def _able(columns: Rows, weights: Flat) -> list[Scalar]:
    """The weights where the wheels they leave can drive every speed, else 1 for all."""
    every = _spread(columns, [1] * len(columns))
    left = _spread(columns, weights)
    can = step(sub(left, mul(_SINGULAR, every)))
    return [chosen(can, weight, 1) for weight in weights]


def _spread(columns: Rows, weights: Flat) -> Scalar:
    """The determinant of the sum of weight c c' over columns c of one to three entries."""
    p = len(columns[0])
    table = [
        [
            total(*(mul(g, mul(c[r], c[s])) for c, g in zip(columns, weights, strict=True)))
            for s in range(p)
        ]
        for r in range(p)
    ]
    if p == 1:
        return table[0][0]
    if p == 3:
        return Vec3(*table[0]).dot(Vec3(*table[1]).cross(Vec3(*table[2])))
    return sub(mul(table[0][0], table[1][1]), mul(table[0][1], table[0][1]))
