"""An arm with symbols for its state: what the words of a Model are computed from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..algebra.ldl import LDL, factorise
from ..algebra.vectors import ZERO, Mat3, Scalar, Sym3, Vec3, add, mul, sub
from ..border.memo import cached_property
from ..dynamics import kinematics
from ..dynamics.drive import drive_forces
from ..dynamics.papers.minimal_parameters_lin1995 import layout
from ..dynamics.table import Formulation
from ..parameters.minimal import MinimalParameters, minimal_chain
from ..robot.arm import Arm
from ..robot.frames.chain import Chain, Step, chain_of, pose, tidy

Rows = list[list[Scalar]]


@dataclass(frozen=True, slots=True)
class Options:
    """What `compile` was asked for, besides the arm."""

    friction: bool = False
    gravity_input: bool = False
    wrench: bool = False
    values_input: bool = False


PLAIN = Options()


@dataclass(frozen=True)
class Scene:
    """An arm with symbols for its state, and the formulations chosen for it."""

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

    @cached_property
    def gravity(self) -> Vec3:
        """Gravitational acceleration in the user's base link."""
        return Vec3(*(self.given.get("gravity", self.arm.gravity)))

    @cached_property
    def chain(self) -> Chain:
        """The arm as a chain; where the minimal parameters are given, with natural ones that have these values."""
        chain = chain_of(self.arm, self.gravity if "gravity" in self.given else None)
        if "values" not in self.given:
            return chain
        assert self.minimal is not None
        table = natural_parameters(self.minimal, self.given["values"])
        bodies = [
            replace(b, m=t[0], h=Vec3(*t[1:4]), J=Sym3(*t[4:]))
            for b, t in zip(chain.joints, table, strict=True)
        ]
        return Chain(tuple(bodies), chain.gravity)

    def body(self, row: Formulation) -> Any:
        """What a formulation wants to see of the arm."""
        if row.parameters == "minimal" and "values" in self.given:
            assert self.minimal is not None
            full = full_values(self.minimal, self.given["values"])
            return minimal_chain(self.chain, self.minimal.structure, full, folded=False)
        return body_of(self.chain, row)

    @cached_property
    def pose(self) -> tuple[Step, ...]:
        """The steps of the chain at q."""
        return pose(self.chain, self.q)

    @cached_property
    def root(self) -> kinematics.Frame:
        """Frame 0 in the user's base link."""
        return constant_frame(self.arm.frame0)

    @cached_property
    def tool(self) -> kinematics.Frame:
        """The tool in the last link's frame."""
        return constant_frame(self.arm.tool_pose)

    @cached_property
    def wrench(self) -> tuple[Vec3, Vec3]:
        """Force and moment on the last link, in its frame and about its origin."""
        if "wrench" not in self.given:
            return ZERO, ZERO
        w = self.given["wrench"]
        R, p = self.tool
        force = R @ Vec3(*w[:3])
        return force, R @ Vec3(*w[3:]) + p.cross(force)

    def run(self, row: Formulation, *state: Any) -> Any:
        """A formulation's answer for this arm."""
        assert row.function is not None
        return row.function(self.body(row), self.pose, *state)

    def drive(self, qd: Sequence[Scalar], qdd: Sequence[Scalar]) -> list[Scalar]:
        """The drives' share of the joint forces, where the model has it."""
        if not self.options.friction:
            return self.still
        return drive_forces(self.arm.joints, qd, qdd)

    def inverse_dynamics(self, qd: Sequence[Scalar], qdd: Sequence[Scalar]) -> list[Scalar]:
        """Rigid-body joint forces by the chosen formulation."""
        return list(self.run(self.chosen["inverse_dynamics"], qd, qdd, self.wrench))

    def forces(self, qdd: Sequence[Scalar]) -> list[Scalar]:
        """Joint forces, the drives included, for an acceleration."""
        return plus(self.inverse_dynamics(self.qd, qdd), self.drive(self.qd, qdd))

    def bias(self) -> list[Scalar]:
        """Rigid-body bias forces by the chosen formulation."""
        return list(self.run(self.chosen["bias"], self.qd))

    @cached_property
    def armature(self) -> list[Scalar]:
        """Reflected motor inertia by joint; 0 where the model has no drives."""
        return [j.armature if self.options.friction else 0 for j in self.arm.joints]

    def with_armature(self, M: Rows) -> Rows:
        """M with the armatures on its diagonal."""
        return [
            [add(x, self.armature[i]) if i == j else x for j, x in enumerate(row)]
            for i, row in enumerate(M)
        ]

    @cached_property
    def mass_matrix(self) -> Rows:
        """Mass matrix by the chosen formulation, armatures included."""
        return self.with_armature(self.run(self.chosen["mass_matrix"]))

    @cached_property
    def factors(self) -> LDL:
        """The mass matrix as L D L'."""
        return factorise(self.mass_matrix)

    @property
    def still(self) -> list[Scalar]:
        """Zero for every joint."""
        return [0] * self.arm.n

    def solved_dynamics(self) -> list[Scalar]:
        """Accelerations by L D L' of the mass matrix."""
        return self.factors.solve(minus(self.given["tau"], self.forces(self.still)))


def body_of(chain: Chain, row: Formulation) -> Any:
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
    n = minimal.arm.n
    flat: list[Scalar] = [0] * (10 * n)
    for k, row in zip(minimal.columns, minimal.inverse, strict=True):
        for factor, value in zip(row.tolist(), values, strict=True):
            flat[k] = add(flat[k], mul(factor, value))
    return [flat[10 * i : 10 * i + 10] for i in range(n)]


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
