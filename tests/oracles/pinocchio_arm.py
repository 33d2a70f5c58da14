"""Pinocchio as an oracle: the same robot, its conventions translated in this one place.

Every method takes one state as plain arrays (q, qd, qdd of n numbers, in the chain's joint order) and answers in
dynarm's conventions: vectors in the axes of the user's base link, Jacobian linear then angular at the tool, ten
parameters a link about the frame that pinocchio's model was built from.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pinocchio as pin

from dynarm import Arm


@dataclass(frozen=True, eq=False)
class PinocchioArm:
    """A pinocchio model of a serial chain, joints in chain order, and the pose of the user's base link in its world."""

    model: Any
    tool: int  # frame index
    order: tuple[int, ...]  # pinocchio's joint index of each joint of the chain
    base: Any  # SE3 of the base link in pinocchio's world

    def __post_init__(self) -> None:
        object.__setattr__(self, "data", self.model.createData())
        columns = [self.model.joints[i].idx_v for i in self.order]
        assert sorted(columns) == list(range(self.model.nv)), (
            "one column for each joint of the chain"
        )
        object.__setattr__(self, "columns", np.array(columns))

    # ---- states

    def _q(self, q: Sequence[float]) -> np.ndarray:
        full = pin.neutral(self.model)
        for value, index in zip(np.asarray(q, float), self.order, strict=True):
            joint = self.model.joints[index]
            start = joint.idx_q
            if joint.nq == 2:  # continuous joints are a point of the unit circle there
                full[start : start + 2] = np.cos(value), np.sin(value)
            else:
                full[start] = value
        return full

    def _v(self, v: Sequence[float]) -> np.ndarray:
        full = np.zeros(self.model.nv)
        full[self.columns] = v
        return full

    # ---- dynamics

    def inverse_dynamics(self, q: Any, qd: Any, qdd: Any) -> np.ndarray:
        """Joint forces (n,) [N m or N]."""
        tau = pin.rnea(self.model, self.data, self._q(q), self._v(qd), self._v(qdd))
        return np.array(tau)[self.columns]

    def forward_dynamics(self, q: Any, qd: Any, tau: Any) -> np.ndarray:
        """Joint accelerations (n,)."""
        return np.array(pin.aba(self.model, self.data, self._q(q), self._v(qd), self._v(tau)))[
            self.columns
        ]

    def mass_matrix(self, q: Any) -> np.ndarray:
        """Mass matrix (n, n), both triangles."""
        upper = np.triu(pin.crba(self.model, self.data, self._q(q)))
        full = upper + np.triu(upper, 1).T
        return full[np.ix_(self.columns, self.columns)]

    def bias(self, q: Any, qd: Any) -> np.ndarray:
        """Coriolis, centrifugal and gravity forces (n,)."""
        return np.array(pin.nonLinearEffects(self.model, self.data, self._q(q), self._v(qd)))[
            self.columns
        ]

    def gravity(self, q: Any) -> np.ndarray:
        """Gravity forces (n,)."""
        return np.array(pin.computeGeneralizedGravity(self.model, self.data, self._q(q)))[
            self.columns
        ]

    def coriolis_matrix(self, q: Any, qd: Any) -> np.ndarray:
        """C (n, n) by Christoffel symbols: bias = C qd + gravity."""
        C = np.array(pin.computeCoriolisMatrix(self.model, self.data, self._q(q), self._v(qd)))
        return C[np.ix_(self.columns, self.columns)]

    def regressor(self, q: Any, qd: Any, qdd: Any) -> np.ndarray:
        """Y (n, 10 n): tau = Y @ parameters.ravel(), the parameters those of `parameters`."""
        Y = pin.computeJointTorqueRegressor(
            self.model, self.data, self._q(q), self._v(qd), self._v(qdd)
        )
        # pinocchio hands a matrix of one row back as a vector
        Y = np.reshape(Y, (self.model.nv, -1))
        blocks = np.concatenate([np.arange(10 * (i - 1), 10 * i) for i in self.order])
        return Y[np.ix_(self.columns, blocks)]

    @property
    def parameters(self) -> np.ndarray:
        """(n, 10) inertial parameters about the joint frames of pinocchio's model."""
        return np.array([self.model.inertias[i].toDynamicParameters() for i in self.order])

    def inverse_dynamics_derivatives(self, q: Any, qd: Any, qdd: Any) -> tuple[np.ndarray, ...]:
        """dtau/dq, dtau/dqd, dtau/dqdd, each (n, n)."""
        found = pin.computeRNEADerivatives(
            self.model, self.data, self._q(q), self._v(qd), self._v(qdd)
        )
        wanted = np.ix_(self.columns, self.columns)
        dq, dqd, M = (np.array(part) for part in found)
        M = np.triu(M) + np.triu(M, 1).T
        return dq[wanted], dqd[wanted], M[wanted]

    # ---- energies

    def kinetic_energy(self, q: Any, qd: Any) -> float:
        """Kinetic energy [J]."""
        return float(pin.computeKineticEnergy(self.model, self.data, self._q(q), self._v(qd)))

    def potential_energy(self, q: Any) -> float:
        """Potential energy [J], zero with every mass at the origin of the user's base link."""
        energy = float(pin.computePotentialEnergy(self.model, self.data, self._q(q)))
        mass = sum(self.model.inertias[i].mass for i in self.order)
        return energy + mass * float(self.model.gravity.linear @ self.base.translation)

    # ---- kinematics

    def forward_kinematics(self, q: Any) -> np.ndarray:
        """4x4 pose of the tool in the user's base link."""
        pin.framesForwardKinematics(self.model, self.data, self._q(q))
        return np.array(self.base.actInv(self.data.oMf[self.tool]).homogeneous)

    def jacobian(self, q: Any) -> np.ndarray:
        """(6, n): linear then angular velocity of the tool's origin per unit qd, axes of the user's base link."""
        J = pin.computeFrameJacobian(
            self.model, self.data, self._q(q), self.tool, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
        )
        turned = np.kron(np.eye(2), np.array(self.base.rotation).T) @ np.reshape(J, (6, -1))
        return turned[:, self.columns]

    def jacobian_derivative(self, q: Any, qd: Any) -> np.ndarray:
        """Time derivative (6, n) of `jacobian` along qd."""
        pin.computeJointJacobiansTimeVariation(self.model, self.data, self._q(q), self._v(qd))
        J = pin.getFrameJacobianTimeVariation(
            self.model, self.data, self.tool, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
        )
        turned = np.kron(np.eye(2), np.array(self.base.rotation).T) @ np.reshape(J, (6, -1))
        return turned[:, self.columns]


def _inertia(ten: np.ndarray) -> Any:
    """Pinocchio's inertia out of ten parameters about the frame's origin."""
    m = float(ten[0])
    if m == 0:
        assert not ten[1:4].any(), (
            "pinocchio keeps a centre of mass, so a massless link has no first moments"
        )
        xx, xy, yy, xz, yz, zz = ten[4:]
        return pin.Inertia(0.0, np.zeros(3), np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]))
    return pin.Inertia.FromDynamicParameters(np.asarray(ten, float))


def pinocchio_model(arm: Arm) -> PinocchioArm:
    """The arm in pinocchio, straight from its Denavit-Hartenberg numbers; armature and friction are left out."""
    model = pin.Model()
    model.name = arm.name
    parent = 0
    order = []
    for i, (joint, ten) in enumerate(zip(arm.joints, arm.parameters, strict=True)):
        step = joint.displacement() if i else arm.base_pose @ joint.displacement()
        kind = pin.JointModelRZ() if joint.revolute else pin.JointModelPZ()
        placement = pin.SE3(step[:3, :3].copy(), step[:3, 3].copy())
        parent = model.addJoint(parent, kind, placement, str(joint.name))
        model.appendBodyToJoint(parent, _inertia(ten), pin.SE3.Identity())
        order.append(parent)
    T = arm.tool_pose
    tool = pin.Frame(
        "tool", parent, 0, pin.SE3(T[:3, :3].copy(), T[:3, 3].copy()), pin.FrameType.OP_FRAME
    )
    index = model.addFrame(tool)
    model.gravity.linear = np.array(arm.gravity)
    return PinocchioArm(model, index, tuple(order), pin.SE3.Identity())


def pinocchio_from_urdf(
    source: str | Path,
    base: str | None = None,
    tip: str | None = None,
    gravity: Sequence[float] = (0.0, 0.0, -9.81),
) -> PinocchioArm:
    """The chain of a URDF (a path, or its text) from link base to link tip; all other joints are locked at zero.

    tip None: every joint of the file, which must then be one chain, and the tool is the last link moved.
    """
    text = (
        str(source)
        if str(source).lstrip().startswith("<")
        else Path(source).read_text(encoding="utf-8")
    )
    whole = _whole(text)
    if tip is None:
        joint = whole.njoints - 1
        tip = next(
            f.name for f in whole.frames if f.type == pin.FrameType.BODY and f.parentJoint == joint
        )
    ends = [_joint_of(whole, link) for link in (base, tip)]
    start = ends[0] if base else 0
    wanted = []
    joint = ends[1]
    while joint != start:
        assert joint, f"link {tip} does not hang on {base}"
        wanted.append(whole.names[joint])
        joint = whole.parents[joint]
    locked = [i for i in range(1, whole.njoints) if whole.names[i] not in wanted]
    model = pin.buildReducedModel(whole, locked, pin.neutral(whole))
    data = model.createData()
    pin.framesForwardKinematics(model, data, pin.neutral(model))
    root = (
        data.oMf[model.getFrameId(base, pin.FrameType.BODY)].copy() if base else pin.SE3.Identity()
    )
    model.gravity.linear = root.rotation @ np.array(gravity, float)
    order = tuple(model.getJointId(name) for name in reversed(wanted))
    return PinocchioArm(model, model.getFrameId(tip, pin.FrameType.BODY), order, root)


@functools.lru_cache(maxsize=2)  # a file is asked for many of its chains in a row
def _whole(text: str) -> Any:
    return pin.buildModelFromXML(_distinct_names(text))


def _distinct_names(text: str) -> str:
    """The URDF with every joint renamed: where a joint and a link share a name, pinocchio cannot reduce the model."""
    root = ElementTree.fromstring(text.encode())
    for joint in root.iter("joint"):
        joint.set("name", "joint of " + joint.get("name", ""))
    for mimic in root.iter("mimic"):
        mimic.set("joint", "joint of " + mimic.get("joint", ""))
    return ElementTree.tostring(root, encoding="unicode")


def _joint_of(model: Any, link: str | None) -> int:
    """The joint that moves a link."""
    if link is None:
        return 0
    assert model.existFrame(link, pin.FrameType.BODY), f"no link {link}"
    return int(model.frames[model.getFrameId(link, pin.FrameType.BODY)].parentJoint)
