"""The functions of a mobile manipulator over abstract scalars: machine, motion, equations, ground, powers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..algebra.ldl import factorise
from ..algebra.vectors import ZERO, Mat3, Nested, Scalar, Vec3, add, cos, mul, sin, sub, total
from ..border.memo import cached_property
from ..dynamics.drive import friction_force
from ..dynamics.papers.kane_platform_tanner2001 import inertial_speeds, rolling_speeds
from ..dynamics.papers.kane_tanner2001 import (
    Load,
    Machine,
    PartialVelocities,
    equations,
    ground,
    interaction,
    motion,
    reduced,
)
from ..robot.arm import Arm
from ..robot.frames.chain import Chain, chain_of, pose, tidy
from .bodies import hand_of, links_of, machine_of, mount_of
from .constraints import Guidance, columns
from .platform import Base, Platform, Wheel
from .powers import powers
from .sharing import carried_up
from .sliding import resisted, slides, sliding_forces, unbraced
from .springs import Springs, springs_of
from .stability import Support, axle_forces

Flat = Sequence[Scalar]


@dataclass(frozen=True)
class Formulas:
    """The scalar functions of one robot."""

    platform: Platform
    wheels: tuple[Wheel, ...]
    base: Base
    arm: Arm
    gravity: float
    friction: bool
    guidance: Guidance
    support: Support
    pulls: bool = (
        False  # wheels may pull: vertical forces of the smallest norm, as the paper counts
    )

    @cached_property
    def chain(self) -> Chain:
        return chain_of(self.arm)

    @cached_property
    def rolling(self) -> tuple[int, ...]:
        """Indices of the wheels of the machine's rollers; a swerve wheel has two, along x and along y."""
        return tuple(j for j, _ in self._parts)

    @cached_property
    def slots(self) -> tuple[int, ...]:
        """Which input drives each roller; the second of a swerve wheel has the place of its steering."""
        return tuple(j + len(self.wheels) * part for j, part in self._parts)

    @cached_property
    def _parts(self) -> tuple[tuple[int, int], ...]:
        return tuple(
            (j, part)
            for j, wheel in enumerate(self.wheels)
            for part in range(wheel.guides + (wheel.kind == "swerve"))
        )

    def place_of(self, k: int) -> tuple[int, int]:
        """Wheel and component (0: rolling or x, 1: axle or y) of the force that roller k has."""
        return self._parts[k]

    @cached_property
    def lead(self) -> int:
        """Place among the rolling wheels of wheel o of (7): the first that is steered, else the first."""
        kinds = [self.wheels[j].kind for j in self.rolling]
        return next((k for k, kind in enumerate(kinds) if kind in ("steered", "ackermann")), 0)

    @property
    def m(self) -> int:
        return self.arm.n

    @property
    def n(self) -> int:
        """Number of independent speeds."""
        return len(self.guidance.speeds) + self.m

    @property
    def coordinates(self) -> int:
        return 3 + self.guidance.steered + self.m

    @property
    def inputs(self) -> int:
        return 2 * len(self.wheels) + self.m

    @property
    def recipe(self) -> tuple[object, ...]:
        """What the graphs depend on."""
        return self.platform, self.wheels, self.base, self.arm, self.gravity, self.friction

    def free(self, locked: bool) -> list[int]:
        """Places of the speeds that are not held; locked: the steering column is."""
        held = self.guidance.moving if locked and self.guidance.steered else None
        return [k for k in range(self.n) if k != held]

    # ---- the machine at a state

    def machine(self, phi: Scalar) -> Machine:
        return machine_of(self.platform, self.wheels, self.base, self.arm, phi)

    def _split(self, q: Flat) -> tuple[Scalar, Scalar, Flat]:
        """theta, phi and the joint positions."""
        return (q[2], q[3], q[4:]) if self.guidance.steered else (q[2], 0, q[3:])

    def state(
        self, q: Flat, z: Flat, virtual: bool = False, pull: Vec3 | None = None
    ) -> tuple[Machine, PartialVelocities, list[Scalar]]:
        """Machine and motion in the independent speeds, and what is returned beside them (skew)."""
        _, phi, joints = self._split(q)
        machine = self.machine(phi)
        cols, slopes = columns(self.guidance, self.platform.steering, phi)
        p = self.guidance.moving
        u4 = z[p] if self.guidance.steered else 0
        up = Vec3(0, 0, self.gravity) if pull is None else pull
        carriage = rolling_speeds(cols, slopes, z[:p], u4, up)
        whole = virtual or slides(self)
        at = motion(
            machine, carriage, pose(self.chain, joints), z[self.n - self.m :], virtual=whole
        )
        return machine, at, self._skew(cols)

    def _skew(self, cols: Sequence[Vec3]) -> list[Scalar]:
        if not self.guidance.steered:
            return []
        area = self.guidance.size**2
        first = mul(cols[0].y, cols[0].y)
        if len(cols) == 1:
            return [add(first, mul(area, mul(cols[0].z, cols[0].z)))]
        return [add(first, mul(1 / area, mul(cols[1].y, cols[1].y)))]

    # ---- pieces

    def push(self, load: Flat) -> Load:
        """Force and couple on the end effector, from the tool's axes to those of the last link."""
        pose = hand_of(self.arm)[1]
        R = Mat3(*(Vec3(*(tidy(float(x)) for x in row)) for row in pose[:3, :3]))
        return R @ Vec3(*load[:3]), R @ Vec3(*load[3:])

    @cached_property
    def springs(self) -> Springs:
        """The wheels as springs."""
        stiff = [1.0 if w.stiffness is None else w.stiffness for w in self.wheels]
        return springs_of(self.support.points[:, :2], stiff, self.support.axes)

    def _equations(
        self, machine: Machine, at: PartialVelocities, z: Flat, load: Load | None
    ) -> tuple[list[list[Scalar]], list[Scalar], list[list[Scalar]]]:
        M, F, B = self.rolled(machine, at, load)
        if self.friction:
            resist = [*self.wheel_friction(machine, at), *([0] * self.m)]
            F = [
                total(f, *(mul(b, r) for b, r in zip(row, resist, strict=True)))
                for f, row in zip(F, B, strict=True)
            ]
            for i, joint in enumerate(self.arm.joints):
                k = self.n - self.m + i
                M[k][k] = add(M[k][k], joint.armature)
                F[k] = add(F[k], friction_force(joint.friction, z[k]))
        return M, F, self._spread(B)

    def rolled(
        self, machine: Machine, at: PartialVelocities, load: Load | None
    ) -> tuple[list[list[Scalar]], list[Scalar], list[list[Scalar]]]:
        """M, F, B without friction of bearings and joints, but with that of wheels that slide across."""
        M, F, B = equations(machine, at, load)
        if slides(self):
            across = sliding_forces(self, machine, at, load or (ZERO, ZERO))
            F = resisted(F, machine, at, across)
        return M, F, B

    def wheel_friction(self, machine: Machine, at: PartialVelocities) -> list[Scalar]:
        """Torques that the bearings of axles and steering columns take from the inputs."""
        used = [self.wheels[j] for j in self.rolling]
        axles = [
            friction_force(w.rolling, mul(roll.speed, 1 / w.radius)) if w.rolling else 0
            for w, roll in zip(used, at.rolling, strict=True)
        ]
        columns_ = [
            friction_force(w.swivel, mul(r.d, at.carriage.u4)) if w.swivel and _known(r.d) else 0
            for w, r in zip(used, machine.wheels, strict=True)
        ]
        return axles + columns_

    def _spread(self, B: list[list[Scalar]]) -> list[list[Scalar]]:
        """B with zero columns for the casters."""
        w, k = len(self.wheels), len(self.rolling)
        wide = []
        for row in B:
            new: list[Scalar] = [0] * self.inputs
            for place, (j, _) in enumerate(self._parts):
                new[self.slots[place]] = row[place]
                if self.wheels[j].kind != "swerve":
                    new[w + j] = row[k + place]
            new[2 * w :] = row[2 * k :]
            wide.append(new)
        return wide

    def _accelerations(
        self, M: Sequence[Flat], F: Flat, B: Sequence[Flat], tau: Flat, locked: bool
    ) -> list[Scalar]:
        rest = [
            sub(total(*(mul(b, t) for b, t in zip(row, tau, strict=True))), f)
            for row, f in zip(B, F, strict=True)
        ]
        free = self.free(locked)
        solved = factorise([[M[r][s] for s in free] for r in free]).solve([rest[k] for k in free])
        zd: list[Scalar] = [0] * self.n
        for k, value in zip(free, solved, strict=True):
            zd[k] = value
        return zd

    def rates(self, q: Flat, at: PartialVelocities, z: Flat) -> list[Scalar]:
        """qd: the rates of the coordinates."""
        c, s = cos(q[2]), sin(q[2])
        v = at.carriage.v
        rates = [sub(mul(c, v.x), mul(s, v.y)), add(mul(s, v.x), mul(c, v.y)), at.carriage.w]
        return [*rates, *([at.carriage.u4] if self.guidance.steered else []), *z[self.n - self.m :]]

    def _ground(
        self, machine: Machine, at: PartialVelocities, zd: Flat, drive: Flat, load: Load
    ) -> tuple[list[Scalar], list[Scalar], list[list[Scalar]]]:
        """Interaction wrench, load on the ground, force on each wheel."""
        wrench = interaction(machine, at, zd, load)
        carried = ground(machine, at, zd, drive, wrench, self.platform.height)
        up, stands = carried_up(self.support, None if self.pulls else self.springs, carried)
        across = sliding_forces(self, machine, at, load)
        standing = None if stands is None else [stands[j] for j in self.rolling]
        side = axle_forces(machine.wheels, unbraced(self, at), carried, across, standing)
        return (
            [*wrench[0], *wrench[1]],
            [*carried.force, *carried.moment],
            self.placed(carried.push, side, up),
        )

    def placed(self, push: Flat, side: Flat, up: Flat) -> list[list[Scalar]]:
        """Forces of the rollers as those of the wheels: rolling, axle, up."""
        forces: list[list[Scalar]] = [[0, 0, n] for n in up]
        for k, (j, part) in enumerate(self._parts):
            forces[j][part] = push[k]
            if self.wheels[j].kind != "swerve":
                forces[j][1] = side[k]
        return forces

    # ---- the functions

    def equations(self, q: Flat, z: Flat) -> Nested:
        machine, at, skew = self.state(q, z)
        return (*self._equations(machine, at, z, None), *([skew] if skew else []))

    def kane_equations(self, q: Flat, u: Flat) -> Nested:
        machine, at = self._inertial(q, u)
        M, F, B = equations(machine, at)
        return M, F, self._spread(B), machine.wheels[self.lead].skid.z

    def _inertial(self, q: Flat, u: Flat) -> tuple[Machine, PartialVelocities]:
        theta, phi, joints = self._split(q)
        machine = self.machine(phi)
        lead = machine.wheels[self.lead]
        u4 = u[2] if self.guidance.steered else 0
        carriage = inertial_speeds(lead, theta, u[:2], u4, self.gravity)
        return machine, motion(
            machine, carriage, pose(self.chain, joints), u[len(u) - self.m :], lead=self.lead
        )

    def reduced(self, q: Flat, z: Flat) -> Nested:
        S, change = self.reduction(q, z)
        u = [total(*(mul(s, x) for s, x in zip(row, z, strict=True))) for row in S]
        machine, at = self._inertial(q, u)
        M, F, B = equations(machine, at)
        return reduced(M, F, self._spread(B), S, change)

    def reduction(self, q: Flat, z: Flat) -> tuple[list[list[Scalar]], list[Scalar]]:
        """S and S' z of (8): the paper's speeds out of the independent ones."""
        theta, phi, _ = self._split(q)
        cols, slopes = columns(self.guidance, self.platform.steering, phi)
        lead = self.machine(phi).wheels[self.lead]
        p, steered = self.guidance.moving, self.guidance.steered
        c, s = cos(theta), sin(theta)
        inverse = 1 / lead.skid.z
        u4 = z[p] if steered else 0
        shrink = mul(mul(-lead.roll.z, lead.d), mul(u4, inverse))  # Z_o' / Z_o
        w = total(*(mul(col.z, x) for col, x in zip(cols, z, strict=False)))
        S: list[list[Scalar]] = [[0] * self.n for _ in range(2 + steered + self.m)]
        change: list[Scalar] = [0] * len(S)
        for k, (col, slope) in enumerate(zip(cols, slopes, strict=True)):
            x, y = sub(mul(c, col.x), mul(s, col.y)), add(mul(s, col.x), mul(c, col.y))
            dx, dy = sub(mul(c, slope.x), mul(s, slope.y)), add(mul(s, slope.x), mul(c, slope.y))
            S[0][k], S[1][k] = mul(x, inverse), mul(y, inverse)
            rx = mul(sub(sub(mul(dx, u4), mul(y, w)), mul(x, shrink)), inverse)
            ry = mul(sub(add(mul(dy, u4), mul(x, w)), mul(y, shrink)), inverse)
            change[0], change[1] = add(change[0], mul(rx, z[k])), add(change[1], mul(ry, z[k]))
        for i in range(steered + self.m):
            S[2 + i][p + i] = 1
        return S, change

    def control(self, q: Flat, z: Flat, tau: Flat, load: Flat, locked: bool = False) -> Nested:
        machine, at, skew = self.state(q, z, virtual=True)
        push = self.push(load)
        M, F, B = self._equations(machine, at, z, push)
        zd = self._accelerations(M, F, B, tau, locked)
        drive = [tau[slot] for slot in self.slots]
        if self.friction:
            drive = [
                sub(t, r) for t, r in zip(drive, self.wheel_friction(machine, at), strict=False)
            ]
        wrench, ground_load, forces = self._ground(machine, at, zd, drive, push)
        return (M, F, B, zd, wrench, forces, ground_load, *([skew] if skew else []))

    def derivative(self, q: Flat, z: Flat, tau: Flat, load: Flat, locked: bool = False) -> Nested:
        machine, at, skew = self.state(q, z)
        push = self.push(load)
        zd = self._accelerations(*self._equations(machine, at, z, push), tau, locked)
        return (self.rates(q, at, z), zd, *([skew] if skew else []))

    def flow(self, q: Flat, z: Flat, tau: Flat, load: Flat, locked: bool = False) -> list[Scalar]:
        """Rates of q and z, the power [W] of inputs and load, and the power that friction takes."""
        machine, at, _ = self.state(q, z)
        push = self.push(load)
        M, F, B = self._equations(machine, at, z, push)
        zd = self._accelerations(M, F, B, tau, locked)
        return [*self.rates(q, at, z), *zd, *powers(self, machine, at, z, B, tau, push)]

    def prescribed(self, q: Flat, z: Flat, zd: Flat, load: Flat) -> Nested:
        machine, at, skew = self.state(q, z, virtual=True)
        push = self.push(load)
        M, F, _ = self.rolled(machine, at, push)
        needed = [
            add(total(*(mul(a, b) for a, b in zip(row, zd, strict=True))), f)
            for row, f in zip(M, F, strict=True)
        ]
        wrench = interaction(machine, at, zd, push)
        carried = ground(machine, at, zd, [0] * len(self.rolling), wrench, self.platform.height)
        rolls = self.pushed(carried.push)
        return (needed, [*carried.force, *carried.moment], rolls, *([skew] if skew else []))

    def pushed(self, push: Flat) -> list[Scalar]:
        """Rolling force of each wheel, then of each swerve wheel along y."""
        rolls: list[Scalar] = [0] * len(self.wheels)
        crossing = []
        for k, (j, part) in enumerate(self._parts):
            if part:
                crossing.append(push[k])
            else:
                rolls[j] = push[k]
        return [*rolls, *crossing]

    def energy(self, q: Flat, z: Flat) -> Nested:
        machine, at, _ = self.state(q, z)
        M, _, _ = equations(machine, at)
        twice = total(
            *(
                mul(total(*(mul(a, b) for a, b in zip(row, z, strict=True))), x)
                for row, x in zip(M, z, strict=True)
            )
        )
        if self.friction:
            for i, joint in enumerate(self.arm.joints):
                rate = z[self.n - self.m + i]
                twice = add(twice, mul(joint.armature, mul(rate, rate)))
        return mul(0.5, twice), self._potential(q)

    def _potential(self, q: Flat) -> Scalar:
        """Potential energy of the links, zero in the arm's zero pose."""
        zero = self._heights([0.0] * self.m)
        return mul(self.gravity, sub(self._heights(self._split(q)[2]), zero))

    def _heights(self, joints: Flat) -> Scalar:
        """Sum of mass times height of the links over frame 0."""
        ground = mount_of(self.base, self.arm).into @ Vec3(0, 0, 1)
        moments: Scalar = 0
        at: list[tuple[Vec3, Scalar]] = []  # upwards in each link's axes, height of its frame
        steps = pose(self.chain, joints)
        for i, (link, step) in enumerate(zip(links_of(self.arm), steps, strict=True)):
            k = self.chain.parent_of(i)
            up, height = at[k] if k >= 0 else (ground, 0)
            height, up = add(height, up.dot(step.s)), step.rise(up)
            at.append((up, height))
            moments = add(moments, mul(link.m, add(height, up.dot(link.c))))
        return moments


def _known(x: Scalar) -> bool:
    """Whether a factor is not a structural zero."""
    return not (isinstance(x, (int, float)) and x == 0)
