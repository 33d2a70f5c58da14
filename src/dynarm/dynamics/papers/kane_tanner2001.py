"""Kane's equations of an arm on a wheeled platform, the wrench between them, and the load on the ground.

[tanner2001]  H. G. Tanner, K. J. Kyriakopoulos, Mobile manipulator modeling with Kane's approach, Robotica 19 (2001)
              675-690, sections 3.7 and 4.
Parts      kane_platform_tanner2001 (wheels, platform, base), kane_arm_tanner2001 (links, load).
Speeds     platform first (u1, u2 in (7); the independent ones in (8)), then steering u4 = phid where a wheel is
           steered, then the joints. Inputs: drive torque of each wheel, steering torque of each wheel, joint torques.
Differs    In (7) as printed only wheel o is kept from skidding, and the other wheels' sideways inertia is left out; it
           returns with (8), where all wheels roll. Torques about the base act at its mass centre c_0, the paper's
           point 0. The load of (9) is the whole wrench on the wheels, about the origin of {v}: corrected n_i.
           Errata: docs/papers/tanner2001.md.

    (6a), (6b)  platform speeds     (6c)  steering     (6d)  joints
    (6e)  torque, (6f), (6g)  force between arm and platform, by the virtual speeds of the base
    (7)   M u' + F = B tau
    (8)   S'M S z' + S'(M S' z + F) = S'B tau
    (9)   R = sum m (g - a) + F0;  n = -sum T*w - T*v + T0 + sum l x m (g - a) + r0 x F0;  r F_x = tau_d - I_y w_y'
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...algebra.vectors import ZERO, Scalar, Vec3, Z, add, mul, sub, total
from ...robot.frames.chain import Step
from .kane_arm_tanner2001 import (
    KaneLink,
    LinkMotion,
    Mount,
    add_links,
    base_motion,
    base_wrench,
    link_motions,
    load_forces,
)
from .kane_platform_tanner2001 import (
    Carriage,
    Carried,
    Roller,
    Rolling,
    Sums,
    add_carried,
    add_wheels,
    inertia_torque,
    rolling,
)

Rows = list[list[Scalar]]
Load = tuple[Vec3, Vec3]  # force and couple on the end effector, axes of the last link


@dataclass(frozen=True, slots=True, eq=False)
class Machine:
    """A mobile manipulator at one steering angle: wheels that roll, bodies carried (platform, base, casters), links."""

    wheels: tuple[Roller, ...]
    platform: Carried
    base: Carried
    casters: tuple[Carried, ...]
    links: tuple[KaneLink, ...]
    mount: Mount
    tool: Vec3  # end effector in the frame of link `hand`
    steered: bool
    parents: tuple[int, ...] | None = None  # where the arm branches
    hand: int = -1  # the link that carries the end effector

    @property
    def last(self) -> int:
        """Index of the link that carries the end effector."""
        return self.hand % len(self.links)

    @property
    def carried(self) -> tuple[Carried, ...]:
        return (self.platform, self.base, *self.casters)


@dataclass(frozen=True, slots=True, eq=False)
class PartialVelocities:
    """Partial velocities of everything at one state."""

    carriage: Carriage
    rolling: tuple[Rolling, ...]
    links: tuple[LinkMotion, ...]
    steering: int | None  # row of the steering speed
    size: int

    def rows(self, link: LinkMotion) -> tuple[int, ...]:
        """Row of each partial velocity of a link: platform, then the joints that move it."""
        first = self.size - len(self.links)
        return (*range(len(self.carriage.angular)), *(first + j for j in link.path))


def motion(
    machine: Machine,
    carriage: Carriage,
    pose: Sequence[Step],
    rates: Sequence[Scalar],
    lead: int | None = None,
    virtual: bool = False,
) -> PartialVelocities:
    """Partial velocities at a state. lead: the only wheel kept from skidding, as in (7); None: all of them."""
    wheels = tuple(
        rolling(carriage, wheel, skids=lead is not None and j != lead)
        for j, wheel in enumerate(machine.wheels)
    )
    base = base_motion(carriage, machine.mount, virtual)
    links = tuple(link_motions(machine.links, pose, rates, machine.mount, base, machine.parents))
    p = len(carriage.angular)
    first = p + (1 if machine.steered else 0)
    size = first + len(links)
    return PartialVelocities(
        carriage,
        wheels,
        links,
        p if machine.steered else None,
        size,
    )


def equations(
    machine: Machine, at: PartialVelocities, load: Load | None = None
) -> tuple[Rows, list[Scalar], Rows]:
    """M, F, B of M u' + F = B tau, gravity and load inside F."""
    sums = Sums.zero(at.size)
    add_wheels(sums, at.carriage, machine.wheels, at.rolling, at.steering)  # (6a), (6b), (6c)
    add_carried(sums, at.carriage, machine.carried)  # (6a), (6b)
    add_links(sums, machine.links, at.links, at.rows)  # (6a), (6b), (6d)
    if load is not None:
        hand = at.links[machine.last]
        forces = load_forces(hand, machine.links[machine.last], machine.tool, *load)
        for row, value in zip(at.rows(hand), forces, strict=True):
            sums.bias(row, -value)
    return sums.M, sums.F, _inputs(machine, at)  # (7)


def _inputs(machine: Machine, at: PartialVelocities) -> Rows:
    """B: drive torque on Z_3j/r, Z_4j/r, steering torque on Z_2j, joint torque on its own speed."""
    w, m = len(machine.wheels), len(machine.links)
    B: Rows = [[0] * (2 * w + m) for _ in range(at.size)]
    for j, (wheel, roll) in enumerate(zip(machine.wheels, at.rolling, strict=True)):
        for r, V in enumerate(roll.V):
            B[r][j] = mul(V, 1 / wheel.radius)
        if at.steering is not None:
            B[at.steering][w + j] = wheel.d
    for i in range(m):
        B[at.size - m + i][2 * w + i] = 1
    return B


def reduced(
    M: Rows, F: Sequence[Scalar], B: Rows, S: Rows, change: Sequence[Scalar]
) -> tuple[Rows, list[Scalar], Rows]:
    """The equations in fewer speeds: u = S z; change is S' z, the derivative of S along the motion times z."""
    n, k = len(S), len(S[0])
    MS = _product(M, S)
    full = [add(total(*(mul(M[r][s], change[s]) for s in range(n))), F[r]) for r in range(n)]
    St = [[S[r][c] for r in range(n)] for c in range(k)]
    bias = [total(*(mul(row[r], full[r]) for r in range(n))) for row in St]
    return _product(St, MS), bias, _product(St, B)  # (8)


def _product(A: Rows, B: Rows) -> Rows:
    return [
        [total(*(mul(a, b[c]) for a, b in zip(row, B, strict=True))) for c in range(len(B[0]))]
        for row in A
    ]


@dataclass(frozen=True, slots=True, eq=False)
class GroundLoad:
    """What the wheels must carry: the wrench (9) of everything above the ground, and the rolling force of each."""

    force: Vec3  # R
    moment: Vec3  # n, about the origin of {v}
    push: tuple[Scalar, ...]  # F_x of each wheel


def interaction(
    machine: Machine,
    at: PartialVelocities,
    accelerations: Sequence[Scalar],
    load: Load = (ZERO, ZERO),
) -> tuple[Vec3, Vec3]:
    """Force [N] and torque [N m] about c_0 that arm and base exert on the platform, axes of {v}."""

    def joined(link: LinkMotion) -> list[Scalar]:
        return [accelerations[r] for r in at.rows(link)]

    whole = (machine.tool, *load)
    force, torque = base_wrench(machine.links, at.links, joined, whole, machine.last)
    a, wd = _platform_acceleration(at, accelerations)
    base = machine.base
    force = force - _at(at, base.at, a, wd) * base.mass  # (6f), (6g)
    return force, torque - inertia_torque(base.inertia, at.carriage.w, wd)  # (6e)


def _platform_acceleration(
    at: PartialVelocities, accelerations: Sequence[Scalar]
) -> tuple[Vec3, Scalar]:
    """Acceleration of the origin of {v} (gravity as an upward one) and of the yaw."""
    a, wd = at.carriage.acceleration, at.carriage.wd
    for v, w, acc in zip(at.carriage.linear, at.carriage.angular, accelerations, strict=False):
        a, wd = a + v * acc, add(wd, mul(w, acc))
    return a, wd


def _at(at: PartialVelocities, point: Vec3, a: Vec3, wd: Scalar) -> Vec3:
    level, w = Vec3(point.x, point.y, 0), at.carriage.w
    return a + Z.cross(level) * wd - level * mul(w, w)


def ground(
    machine: Machine,
    at: PartialVelocities,
    accelerations: Sequence[Scalar],
    drive: Sequence[Scalar],
    wrench: tuple[Vec3, Vec3],
    height: Scalar,
) -> GroundLoad:
    """Load on the wheels (9). drive: torque on each wheel after friction; height: of {v} above the ground."""
    a, wd = _platform_acceleration(at, accelerations)
    w = at.carriage.w
    force = wrench[0] - a * machine.platform.mass
    moment = (
        wrench[1]
        - inertia_torque(machine.platform.inertia, w, wd)
        + machine.base.at.cross(wrench[0])
    )
    for body in machine.casters:
        weight = -(_at(at, body.at, a, wd) * body.mass)
        force, moment = force + weight, moment + body.at.cross(weight)
    push = []
    steer = accelerations[at.steering] if at.steering is not None else 0
    for wheel, roll, tau in zip(machine.wheels, at.rolling, drive, strict=True):
        centre = Vec3(wheel.x, wheel.y, sub(wheel.radius, height))
        weight = -(_at(at, centre, a, wd) * wheel.mass)
        speed = roll.change
        for V, acc in zip(roll.V, accelerations, strict=False):
            speed = add(speed, mul(V, acc))
        lift = mul(wheel.spin, 1 / wheel.radius)
        y, x = mul(lift, speed), mul(lift, mul(roll.turning, roll.speed))
        z = mul(
            wheel.turn,
            total(wd, mul(wheel.dd, mul(at.carriage.u4, at.carriage.u4)), mul(wheel.d, steer)),
        )
        c, s = wheel.c, wheel.s
        # I_y w_y' along the axle, -I_y w_z w_y along the rolling direction, I_z w_z' upwards
        torque = Vec3(-add(mul(c, x), mul(s, y)), sub(mul(c, y), mul(s, x)), z)
        force, moment = force + weight, moment + centre.cross(weight) - torque
        push.append(mul(sub(tau, y), 1 / wheel.radius))  # (9)
    return GroundLoad(force, moment, tuple(push))
