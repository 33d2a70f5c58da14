"""An arm with symbols for its state: what the words of a Model are computed from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ..algebra.ldl import LDL, factorise
from ..algebra.vectors import (
    IDENTITY,
    ZERO,
    Mat3,
    Nested,
    Scalar,
    Sym3,
    Vec3,
    add,
    mul,
    sub,
    total,
)
from ..border.memo import cached_property
from ..dynamics import drive_train as train
from ..dynamics import kinematics
from ..dynamics.own.free_base import Wrench, rotation_of
from ..dynamics.papers.minimal_parameters_lin1995 import layout
from ..dynamics.table import Formulation
from ..errors import InputError
from ..parameters.loads import loads
from ..parameters.minimal import MinimalParameters, minimal_chain
from ..robot.arm import Arm
from ..robot.frames.chain import Chain, Root, Step, chain_of, pose, tidy

Rows = list[list[Scalar]]


@dataclass(frozen=True, slots=True)
class Options:
    """What `compile` was asked for, besides the arm."""

    friction: bool = False
    gravity_input: bool = False
    wrench: bool = False
    values_input: bool = False
    memory: bool = False  # the friction state is an input


PLAIN = Options()


@dataclass(frozen=True)
class Scene:
    """An arm with symbols for its state, and the formulations chosen for it.

    Formulations speak of all joints; the state holds those that are independent. `spread` makes joint speeds of given
    ones, q = G y + g0, and `gathered` forces of theirs, tau_y = G' tau; without mimic joints both change nothing.
    """

    arm: Arm
    options: Options
    chosen: Mapping[str, Formulation]
    given: Mapping[str, Sequence[Scalar]] = field(default_factory=dict)
    minimal: MinimalParameters | None = None  # where the values of the minimal parameters are given

    @property
    def q(self) -> Sequence[Scalar]:
        return self.given["q"]

    @property
    def qd(self) -> Sequence[Scalar]:
        return self.given["qd"]

    # ---- the robot in its pose

    @cached_property
    def gravity(self) -> Vec3:
        """Gravitational acceleration in the user's base link, or in the world where the base is free."""
        return Vec3(*(self.given.get("gravity", self.arm.gravity)))

    @cached_property
    def chain(self) -> Chain:
        """The arm as a chain; where the minimal parameters are given, with natural ones that have these values."""
        local = None
        if self.arm.floating:
            local = self.root[0].T @ self.gravity
        elif "gravity" in self.given:
            local = self.gravity
        chain = chain_of(self.arm, local)
        if "values" not in self.given:
            return chain
        assert self.minimal is not None
        values = self.given["values"]
        chain = with_tables(chain, natural_parameters(self.minimal, values))
        return chain if chain.serial else replace(chain, loads=loads(self.minimal, values))

    def body(self, row: Formulation) -> Nested:
        """What a formulation wants to see of the arm."""
        if row.parameters == "minimal" and "values" in self.given:
            assert self.minimal is not None
            full = full_values(self.minimal, self.given["values"])
            return minimal_chain(self.chain, self.minimal.structure, full, folded=False)
        return body_of(self.chain, row)

    @cached_property
    def pose(self) -> tuple[Step, ...]:
        """The steps of the chain at q."""
        return pose(self.chain, self.joint_positions)

    @cached_property
    def joint_positions(self) -> Sequence[Scalar]:
        """Positions of all joints."""
        own = self.q[7:] if self.arm.floating else self.q
        coupling = self.arm.coupling
        if coupling.free:
            return own
        rules = zip(coupling.of, coupling.multipliers, coupling.offsets, strict=True)
        return [add(mul(k, own[j]), offset) for j, k, offset in rules]

    @cached_property
    def root(self) -> kinematics.Frame:
        """Frame 0 in the user's base link; of a free base, its pose in the world."""
        if self.arm.floating:
            return rotation_of(self.q[3:7]), Vec3(*self.q[:3])
        return constant_frame(self.arm.frame0)

    @cached_property
    def links(self) -> list[kinematics.Frame]:
        """The frames of the links, from the root."""
        return kinematics.frames(self.pose, self.root, self.chain.parents)

    @cached_property
    def tools(self) -> list[tuple[int, kinematics.Frame]]:
        """The joint that moves each tool, and the tool in its link's frame."""
        tools = self.arm.all_tools
        if not tools:
            raise InputError(
                f"robot '{self.arm.name}' branches and has no tools; load it with tools=['link', ...]"
            )
        return [(tool.joint, constant_frame(tool.matrix)) for tool in tools]

    def carrier(self, joint: int) -> kinematics.Frame:
        """The frame of a joint's link from the root; -1: of the base link."""
        if joint >= 0:
            return self.links[joint]
        return self.root if self.arm.floating else (IDENTITY, ZERO)

    @cached_property
    def wrenches(self) -> dict[int, Wrench]:
        """Force and moment on the links that carry tools, in their frames and about their origins."""
        if "wrench" not in self.given:
            return {}
        acting: dict[int, Wrench] = {}
        for k, (joint, (R, p)) in enumerate(self.tools):
            w = self.given["wrench"][6 * k : 6 * k + 6]
            force = R @ Vec3(*w[:3])
            moment = R @ Vec3(*w[3:]) + p.cross(force)
            before = acting.get(joint, (ZERO, ZERO))
            acting[joint] = before[0] + force, before[1] + moment
        return acting

    @property
    def wrench(self) -> Wrench:
        """Force and moment on the last link of a chain."""
        return self.wrenches.get(self.arm.n - 1, (ZERO, ZERO))

    def wrench_for(self, row: Formulation) -> Nested:
        """The wrenches as a formulation takes them: by joint, or that on the last link of a chain."""
        return self.wrenches if row.trees else self.wrench

    # ---- from the independent joints to all of them, and back

    @property
    def first(self) -> int:
        """Speeds of a free base, which come before those of the joints."""
        return 6 if self.arm.floating else 0

    def spread(self, speeds: Sequence[Scalar]) -> Sequence[Scalar]:
        """Speeds or accelerations of all joints (and a free base) from those of the independent ones."""
        coupling, k = self.arm.coupling, self.first
        if coupling.free:
            return speeds
        own = speeds[k:]
        rules = zip(coupling.of, coupling.multipliers, strict=True)
        return [*speeds[:k], *(mul(factor, own[j]) for j, factor in rules)]

    def gathered(self, forces: Sequence[Scalar]) -> list[Scalar]:
        """Forces on the independent joints (and a free base) from those on all of them: G' tau."""
        coupling, k = self.arm.coupling, self.first
        if coupling.free:
            return list(forces)
        own: list[Scalar] = [0] * len(coupling.masters)
        for j, factor, force in zip(coupling.of, coupling.multipliers, forces[k:], strict=True):
            own[j] = add(own[j], mul(factor, force))
        return [*forces[:k], *own]

    def gathered_rows(self, rows: Sequence[Sequence[Scalar]]) -> Rows:
        """G' A G of a matrix over all joints."""
        if self.arm.coupling.free:
            return [list(row) for row in rows]
        half = zip(*(self.gathered(row) for row in rows), strict=True)
        return [list(row) for row in zip(*(self.gathered(column) for column in half), strict=True)]

    # ---- dynamics

    def run(self, row: Formulation, *state: Nested) -> Nested:
        """A formulation's answer for this arm, over all joints."""
        assert row.function is not None
        return row.function(self.body(row), self.pose, *state)

    def inverse_dynamics(self, qd: Sequence[Scalar], qdd: Sequence[Scalar]) -> list[Scalar]:
        """Rigid-body joint forces by the chosen formulation."""
        row = self.chosen["inverse_dynamics"]
        forces = self.run(row, self.spread(qd), self.spread(qdd), self.wrench_for(row))
        return self.gathered(forces)

    def forces(self, qdd: Sequence[Scalar]) -> list[Scalar]:
        """Joint forces, the drives included, for an acceleration."""
        rigid = self.inverse_dynamics(self.qd, qdd)
        if not self.options.friction:
            return rigid
        motor = self.motor_forces(qdd)
        drives = plus(motor, self.free_friction(qdd))
        if self.loaded:
            drives = plus(drives, self.load_friction(plus(rigid, motor), qdd))
        return plus(rigid, drives)

    def motor_forces(self, qdd: Sequence[Scalar]) -> list[Scalar]:
        """Armature times acceleration, for the independent joints."""
        k = self.first
        own = zip(self.armature, self.spread(qdd)[k:], strict=True)
        return self.gathered([*[0] * k, *(mul(inertia, acc) for inertia, acc in own)])

    # ---- friction; see dynamics/drive_train.py

    @property
    def loaded(self) -> bool:
        """Whether friction grows with the load of joints."""
        return self.options.friction and train.any_loaded(self.arm.joints)

    def drive_motion(self, qdd: Sequence[Scalar] | None) -> train.DriveMotion:
        """What the drives feel; qdd None: the acceleration is not known."""
        k, state = self.first, self.given.get("friction_state")
        own = self.q[self.arm.nq - len(self.arm.coupling.masters) :]
        x = None if state is None else train.moved_deflections(self.arm, own, state)
        acc = None if qdd is None else self.spread(qdd)[k:]
        return train.DriveMotion(self.joint_positions, self.spread(self.qd)[k:], acc, x)

    def free_friction(self, qdd: Sequence[Scalar] | None = None) -> list[Scalar]:
        """Friction that no load changes; without qdd but for coupled inertia, and elements without a state slipped."""
        if not self.options.friction:
            return self.still
        own = train.free_forces(self.arm.joints, self.drive_motion(qdd))
        return self.gathered([*[0] * self.first, *own])

    def load_factors(self, qdd: Sequence[Scalar] | None = None) -> list[Scalar]:
        """Friction per unit of each independent joint's load, with zeros for a free base."""
        own = train.load_factors(self.arm.joints, self.drive_motion(qdd))
        return [*[0] * self.first, *(own[i] for i in self.arm.coupling.masters)]

    def load_friction(
        self, rigid: Sequence[Scalar], qdd: Sequence[Scalar] | None = None
    ) -> list[Scalar]:
        """Friction that comes with rigid-body forces (armatures included) on the joints."""
        factors = self.load_factors(qdd)
        return [train.loaded(r, g) for r, g in zip(rigid, factors, strict=True)]

    def borne(self, tau: Sequence[Scalar]) -> list[Scalar]:
        """The rigid-body forces that joint forces leave behind friction, where no drive feels other accelerations."""
        left = minus(tau, self.free_friction())
        if not self.loaded:
            return left
        train.check_factors(self.arm.joints)
        return [train.borne(y, g) for y, g in zip(left, self.load_factors(), strict=True)]

    def braking(self, tau: Sequence[Scalar], qdd: Sequence[Scalar]) -> list[Scalar]:
        """All of friction while the joint forces tau give accelerations qdd."""
        forces, K = self.free_friction(), self.coupled_inertia
        if K is not None:
            pairs = ([mul(k, acc) for k, acc in zip(row, qdd, strict=True)] for row in K)
            forces = plus(forces, [total(*row) for row in pairs])
        if not self.loaded:
            return forces
        rest = zip(minus(tau, forces), self.load_factors(), strict=True)
        return plus(forces, [train.loaded(train.borne(y, g), g) for y, g in rest])

    @cached_property
    def coupled_inertia(self) -> Rows | None:
        """Forces on joints per unit of acceleration of those that their drives are coupled with."""
        own = train.coupled_inertia(self.arm.joints) if self.options.friction else None
        if own is None:
            return None
        k, n = self.first, self.first + self.arm.n
        rows: Rows = [[0] * n for _ in range(k)]
        return self.gathered_rows([*rows, *([*[0] * k, *row] for row in own)])

    def bias(self) -> list[Scalar]:
        """Rigid-body bias forces by the chosen formulation."""
        return self.gathered(self.run(self.chosen["bias"], self.spread(self.qd)))

    @cached_property
    def armature(self) -> list[Scalar]:
        """Reflected motor inertia by joint; 0 where the model has no drives."""
        return [j.armature if self.options.friction else 0 for j in self.arm.joints]

    def with_armature(self, M: Rows) -> Rows:
        """M over all joints with the armatures on its diagonal, for the independent ones; mirrored entries are one."""
        own = [*[0] * self.first, *self.armature]
        full = [
            [add(x, own[i]) if i == j else x for j, x in enumerate(row)] for i, row in enumerate(M)
        ]
        if self.arm.coupling.free:
            return full
        rows = self.gathered_rows(full)
        return [[rows[max(i, j)][min(i, j)] for j in range(len(rows))] for i in range(len(rows))]

    @cached_property
    def mass_matrix(self) -> Rows:
        """Mass matrix by the chosen formulation, armatures included."""
        return self.with_armature(self.run(self.chosen["mass_matrix"]))

    @cached_property
    def factors(self) -> LDL:
        """The mass matrix as L D L'; from the tips inwards where it branches, which keeps its zeros."""
        return factorise(self.mass_matrix, inwards=not self.chain.serial)

    @property
    def still(self) -> list[Scalar]:
        """Zero for every speed."""
        return [0] * self.arm.nv

    def solved_dynamics(self) -> list[Scalar]:
        """Accelerations by L D L' of the mass matrix, where no drive feels those of other joints."""
        factors, borne = self.factors, self.borne(self.given["tau"])
        return factors.solve(minus(borne, self.inverse_dynamics(self.qd, self.still)))


def with_tables(chain: Chain, table: Sequence[Sequence[Scalar]]) -> Chain:
    """The chain with ten other parameters a link, those of a free base first."""
    rows = list(table)
    root = chain.root
    if root is not None:
        m, *rest = rows.pop(0)
        root = Root(m, Vec3(*rest[:3]), Sym3(*rest[3:]))
    limbs = [
        replace(limb, m=t[0], h=Vec3(*t[1:4]), J=Sym3(*t[4:]))
        for limb, t in zip(chain.joints, rows, strict=True)
    ]
    return replace(chain, joints=tuple(limbs), root=root)


def body_of(chain: Chain, row: Formulation) -> Nested:
    """What a formulation wants to see of the arm: the chain, or what the minimal parameters make of it."""
    return minimal_chain(chain) if row.parameters == "minimal" else chain


def full_values(minimal: MinimalParameters, values: Sequence[Scalar]) -> list[Scalar]:
    """The values of Theorem 2's whole set, those of merged combinations 0, from the minimal ones."""
    full: list[Scalar] = [0] * len(layout(minimal.structure))
    for k, value in zip(minimal.kept, values, strict=True):
        full[k] = value
    return full


def natural_parameters(minimal: MinimalParameters, values: Sequence[Scalar]) -> list[list[Scalar]]:
    """Ten parameters a link that have the given minimal parameters: p of them carry the values, the rest are 0."""
    links = len(minimal.arm.link_names)
    flat: list[Scalar] = [0] * (10 * links)
    for k, row in zip(minimal.columns, minimal.inverse, strict=True):
        for factor, value in zip(row.tolist(), values, strict=True):
            flat[k] = add(flat[k], mul(factor, value))
    return [flat[10 * i : 10 * i + 10] for i in range(links)]


def constant_frame(T: np.ndarray) -> kinematics.Frame:
    """A 4x4 pose as scalars, with what is 0 or 1 but for rounding made exact."""
    size = max(1.0, float(np.abs(T[:3, 3]).max()))
    rows = [Vec3(*(tidy(float(x)) for x in T[r, :3])) for r in range(3)]
    return Mat3(*rows), Vec3(*(tidy(float(x), size) for x in T[:3, 3]))


def plus(x: Sequence[Scalar], y: Sequence[Scalar]) -> list[Scalar]:
    """x + y, entry by entry."""
    return [add(a, b) for a, b in zip(x, y, strict=True)]


def minus(x: Sequence[Scalar], y: Sequence[Scalar]) -> list[Scalar]:
    """x - y, entry by entry."""
    return [sub(a, b) for a, b in zip(x, y, strict=True)]
