"""Mass matrix by the spatial composite body method: Formulation 1 in the notation of spatial dynamics.

[linfang1999]  S.-K. Lin, C.-J. Fang, Efficient formulations for the manipulator inertia matrix in terms of minimal
           linear combinations of inertia parameters, J. Robotic Systems 16 (1999) 679-695, (12)-(17):
           Method IV of Lilly and Orin.
Frames     A spatial force is (moment about origin j, force), in frame j. The spatial inertia K_i of composite body i
           is about origin i, in frame i. X maps spatial forces of frame j+1 to frame j.
Differs    6x6 matrices are kept by their 3x3 blocks, of which a product takes only those that are not zero.
           Rotations are applied plane by plane, so that X is not multiplied out.

    (12) K_i  = [J^, [c^ x]; [c^ x]', m^ E]
    (13) X    = [R, [s x] R; 0, R]
    (14) phi  = [z; 0] (rotational), [0; z] (translational)
    (15) F_ii = K_i phi_i
    (16) F_ji = X F_{j+1,i}
    (17) D_ji = phi_j . F_ji
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...algebra.vectors import ZERO, Mat3, Scalar, Sym3, Vec3, Z, add, skew
from ...robot.frames.chain import Chain, Limb, Step
from .composite_bodies_linfang1999 import Composite, composites


@dataclass(frozen=True, slots=True, eq=False)
class Spatial:
    """Six scalars: the rotational and the translational part of a spatial vector."""

    rotational: Vec3
    translational: Vec3

    def dot(self, o: Spatial) -> Scalar:
        return add(self.rotational.dot(o.rotational), self.translational.dot(o.translational))


@dataclass(frozen=True, slots=True, eq=False)
class SpatialInertia:
    """A symmetric 6x6 matrix by its blocks [J, H; H', m E]."""

    J: Sym3
    H: Mat3
    m: Scalar

    def __matmul__(self, v: Spatial) -> Spatial:
        return Spatial(
            self.J @ v.rotational + self.H @ v.translational,
            self.H.T @ v.rotational + v.translational * self.m,
        )


def mass_matrix(arm: Chain, pose: Sequence[Step]) -> list[list[Scalar]]:
    """Mass matrix [kg m^2, kg m, kg]: the spatial force of each composite body carried inwards."""
    D: list[list[Scalar]] = [[0] * arm.n for _ in arm.joints]
    axes = [_axis(joint) for joint in arm.joints]
    for i, body in enumerate(composites(arm, pose)):
        F = _inertia(body) @ axes[i]  # (15)
        D[i][i] = axes[i].dot(F)  # (17)
        for j in range(i - 1, -1, -1):
            F = _shift(pose[j + 1], F)  # (16)
            D[j][i] = D[i][j] = axes[j].dot(F)  # (17)
    return D


def _inertia(body: Composite) -> SpatialInertia:
    return SpatialInertia(body.J, skew(body.c), body.m)  # (12)


def _axis(joint: Limb) -> Spatial:
    return Spatial(Z, ZERO) if joint.revolute else Spatial(ZERO, Z)  # (14)


def _shift(step: Step, F: Spatial) -> Spatial:
    force = step.fall(F.translational)
    return Spatial(step.fall(F.rotational) + step.s.cross(force), force)  # (13)
