"""Pinocchio as an oracle for whole robots: a tree with the same joints, base, couplings and tools.

Built from the numbers of an `Arm` (its poses and inertias, not its recursions). Mimic joints are coupled here, by
q = G y + g0 and tau_y = G' tau, so that what pinocchio computes knows nothing of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin

from dynarm import Arm


def inertia_of(ten: Any) -> Any:
    """Pinocchio's inertia of ten parameters, whatever they are."""
    m, x, y, z, xx, xy, yy, xz, yz, zz = map(float, ten)
    J = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    c = np.array([x, y, z]) / m if m else np.zeros(3)
    return pin.Inertia(m, c, J - m * (c @ c * np.eye(3) - np.outer(c, c)))


def pose_of(T: Any) -> Any:
    return pin.SE3(np.array(T)[:3, :3], np.array(T)[:3, 3])


def depth_first(parents: Any) -> list[int]:
    """The joints as pinocchio wants them: whatever hangs on a joint comes before its neighbour."""
    order: list[int] = []
    todo = [-1]
    while todo:
        i = todo.pop()
        order += [i] if i >= 0 else []
        todo += [j for j in reversed(range(len(parents))) if parents[j] == i]
    return order


def put_joint(model: Any, q: np.ndarray, index: int, position: float) -> None:
    """Set one joint of a configuration."""
    joint = model.joints[index]
    if joint.nq == 2:  # continuous joints are a point of the unit circle there
        q[joint.idx_q : joint.idx_q + 2] = np.cos(position), np.sin(position)
    else:
        q[joint.idx_q] = position


@dataclass(frozen=True, eq=False)
class PinocchioTree:
    """The model, its data, the coupling and the frames of the tools."""

    model: Any
    G: np.ndarray  # (speeds of all joints, independent speeds)
    offsets: np.ndarray
    tools: tuple[int, ...]
    floating: bool

    @classmethod
    def of(cls, arm: Arm) -> PinocchioTree:
        model = pin.Model()
        model.gravity.linear = np.array(arm.gravity)
        base, first = 0, pose_of(arm.base_pose)
        if arm.floating:
            base = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "free")
            model.appendBodyToJoint(base, inertia_of(arm.parameters[0]), pin.SE3.Identity())
        ids: dict[int, int] = {}
        rows = arm.parameters[-arm.n :]
        for i in depth_first(arm.parents):
            joint, parent = arm.joints[i], arm.parents[i]
            kind = pin.JointModelRZ() if joint.revolute else pin.JointModelPZ()
            place = pose_of(joint.displacement())
            holder = ids[parent] if parent >= 0 else base
            place = place if parent >= 0 else first * place
            ids[i] = model.addJoint(holder, kind, place, str(joint.name))
            model.appendBodyToJoint(ids[i], inertia_of(rows[i]), pin.SE3.Identity())
        tools = []
        for k, tool in enumerate(arm.all_tools):
            holder = ids[tool.joint] if tool.joint >= 0 else base  # else a fixed base's own link
            frame = pin.Frame(f"tool{k}", holder, 0, pose_of(tool.matrix), pin.FrameType.OP_FRAME)
            tools.append(model.addFrame(frame))
        k = 6 if arm.floating else 0
        G = np.zeros((k + arm.n, arm.nv))
        G[:k, :k] = np.eye(k)
        for i, (of, factor) in enumerate(
            zip(arm.coupling.of, arm.coupling.multipliers, strict=True)
        ):
            G[model.joints[ids[i]].idx_v, k + of] = factor
        offsets = np.zeros(arm.n)
        for i, offset in enumerate(arm.coupling.offsets):
            offsets[model.joints[ids[i]].idx_v - k] = offset
        return cls(model, G, offsets, tuple(tools), bool(arm.floating))

    def __post_init__(self) -> None:
        object.__setattr__(self, "data", self.model.createData())

    def q(self, q: Any) -> np.ndarray:
        k, kv = (7, 6) if self.floating else (0, 0)
        positions = self.G[kv:, kv:] @ q[k:] + self.offsets
        if self.model.nq == k + len(positions):
            return np.concatenate([q[:k], positions])
        full = pin.neutral(self.model)
        full[:k] = q[:k]
        for index in range(2 if k else 1, self.model.njoints):
            put_joint(
                self.model, full, index, float(positions[self.model.joints[index].idx_v - kv])
            )
        return full

    def inverse_dynamics(self, q: Any, qd: Any, qdd: Any) -> np.ndarray:
        G = self.G
        return G.T @ np.array(pin.rnea(self.model, self.data, self.q(q), G @ qd, G @ qdd))

    def mass_matrix(self, q: Any) -> np.ndarray:
        upper = np.triu(pin.crba(self.model, self.data, self.q(q)))
        return self.G.T @ (upper + np.triu(upper, 1).T) @ self.G

    def forward_dynamics(self, q: Any, qd: Any, tau: Any) -> np.ndarray:
        G = self.G
        if G.shape[0] == G.shape[1]:  # a permutation
            return G.T @ np.array(pin.aba(self.model, self.data, self.q(q), G @ qd, G @ tau))
        bias = self.inverse_dynamics(q, qd, np.zeros_like(qd))
        return np.linalg.solve(self.mass_matrix(q), tau - bias)

    def derivatives(self, q: Any, qd: Any, qdd: Any) -> tuple[np.ndarray, ...]:
        G = self.G
        pin.computeRNEADerivatives(self.model, self.data, self.q(q), G @ qd, G @ qdd)
        upper = np.triu(self.data.M)
        full = self.data.dtau_dq, self.data.dtau_dv, upper + np.triu(upper, 1).T
        return tuple(G.T @ np.array(x) @ G for x in full)

    def forward_derivatives(self, q: Any, qd: Any, tau: Any) -> tuple[np.ndarray, ...]:
        """Through the implicit relation, which holds with couplings as well."""
        qdd = self.forward_dynamics(q, qd, tau)
        dq, dqd, M = self.derivatives(q, qd, qdd)
        inverse = np.linalg.inv(M)
        return -inverse @ dq, -inverse @ dqd, inverse

    def mass_matrix_rate(self, q: Any, qd: Any) -> np.ndarray:
        """dM/dt, which is C + C' of any Coriolis matrix with Mdot - 2 C skew."""
        G = self.G
        C = np.array(pin.computeCoriolisMatrix(self.model, self.data, self.q(q), G @ qd))
        return G.T @ (C + C.T) @ G

    def energies(self, q: Any, qd: Any) -> tuple[float, float]:
        full = self.q(q)
        kinetic = pin.computeKineticEnergy(self.model, self.data, full, self.G @ qd)
        return kinetic, pin.computePotentialEnergy(self.model, self.data, full)

    def tool_poses(self, q: Any) -> np.ndarray:
        pin.framesForwardKinematics(self.model, self.data, self.q(q))
        return np.array([self.data.oMf[k].homogeneous for k in self.tools])

    def tool_jacobians(self, q: Any) -> np.ndarray:
        frame = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
        full = self.q(q)
        rows = [pin.computeFrameJacobian(self.model, self.data, full, k, frame) for k in self.tools]
        return np.array([J.reshape(6, -1) @ self.G for J in rows])

    def tool_jacobian_rates(self, q: Any, qd: Any) -> np.ndarray:
        frame = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
        full = self.q(q)
        pin.computeJointJacobiansTimeVariation(self.model, self.data, full, self.G @ qd)
        pin.updateFramePlacements(self.model, self.data)
        rows = [
            pin.getFrameJacobianTimeVariation(self.model, self.data, k, frame) for k in self.tools
        ]
        return np.array([J.reshape(6, -1) @ self.G for J in rows])

    def center_of_mass(self, q: Any) -> np.ndarray:
        return np.array(pin.centerOfMass(self.model, self.data, self.q(q)))

    def center_of_mass_jacobian(self, q: Any) -> np.ndarray:
        return (
            np.array(pin.jacobianCenterOfMass(self.model, self.data, self.q(q))).reshape(3, -1)
            @ self.G
        )

    def momentum_matrix(self, q: Any) -> np.ndarray:
        return (
            np.array(pin.ccrba(self.model, self.data, self.q(q), np.zeros(self.model.nv))).reshape(
                6, -1
            )
            @ self.G
        )

    def momentum_rate(self, q: Any, qd: Any, qdd: Any) -> np.ndarray:
        G = self.G
        full = self.q(q)
        rate = pin.computeCentroidalMomentumTimeVariation(
            self.model, self.data, full, G @ qd, G @ qdd
        )
        return np.array(rate.vector)
