"""MuJoCo as an oracle for whole robots: trees on fixed and free bases, written as MJCF from the numbers of an `Arm`.

Speeds of MuJoCo's free joint are the linear velocity in the axes of the world and the angular one in those of the body;
its quaternion begins with w. Both are converted here: v = R v_body, and what is along qd is T qd with T = diag(R, 1),
so that forces are T' times MuJoCo's and accelerations T qdd + Tdot qd. Couplings are applied as q = G y + g0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np

from dynarm import Arm
from oracles.mujoco_arm import OPTIONS


@dataclass(frozen=True, eq=False)
class MujocoTree:
    """A MuJoCo model, the place of each joint among its speeds, and the coupling."""

    model: Any
    data: Any
    places: np.ndarray  # of all joints in qvel, after a free base
    G: np.ndarray  # (joints, independent joints)
    offsets: np.ndarray
    free: bool

    @classmethod
    def of(cls, arm: Arm) -> MujocoTree:
        model = mujoco.MjModel.from_xml_string(_written(arm))
        model.opt.gravity[:] = arm.gravity
        places = [int(model.joint(f"joint {i}").dofadr[0]) for i in range(arm.n)]
        coupling = arm.coupling
        G = np.zeros((arm.n, len(coupling.masters)))
        for i, (of, factor) in enumerate(zip(coupling.of, coupling.multipliers, strict=True)):
            G[i, of] = factor
        offsets = np.array(coupling.offsets)
        data = mujoco.MjData(model)
        return cls(model, data, np.array(places, int), G, offsets, arm.floating is not None)

    def _turn(self, q: Any) -> np.ndarray:
        """(MuJoCo's speeds, speeds of the arm)."""
        k = 6 if self.free else 0
        T = np.zeros((self.model.nv, k + self.G.shape[1]))
        if self.free:
            T[:3, :3], T[3:6, 3:6] = self._rotation(q), np.eye(3)
        T[self.places, k:] = self.G
        return T

    def _rotation(self, q: Any) -> np.ndarray:
        R = np.zeros(9)
        mujoco.mju_quat2Mat(R, np.array([q[6], *q[3:6]]))
        return R.reshape(3, 3)

    def _set(self, q: Any, qd: Any, qdd: Any) -> np.ndarray:
        T = self._turn(q)
        k = 7 if self.free else 0
        if self.free:
            self.data.qpos[:7] = [*q[:3], q[6], *q[3:6]]
        self.data.qpos[self.places + (1 if self.free else 0)] = self.G @ q[k:] + self.offsets
        self.data.qvel[:] = T @ qd
        self.data.qacc[:] = T @ qdd
        if self.free:  # d(R v)/dt = R (vd + w x v)
            self.data.qacc[:3] += self._rotation(q) @ np.cross(qd[3:6], qd[:3])
        mujoco.mj_fwdPosition(self.model, self.data)
        mujoco.mj_fwdVelocity(self.model, self.data)
        return T

    def inverse_dynamics(self, q: Any, qd: Any, qdd: Any) -> np.ndarray:
        """Forces (nv,) by mj_rne."""
        T = self._set(q, qd, qdd)
        forces = np.zeros(self.model.nv)
        mujoco.mj_rne(self.model, self.data, 1, forces)
        return T.T @ forces

    def drives(self, q: Any, qd: Any, qdd: Any) -> np.ndarray:
        """Forces (nv,) of armature, damping and dry friction, by the numbers of the model."""
        T, model, data = self._set(q, qd, qdd), self.model, self.data
        dry = model.dof_frictionloss * np.sign(data.qvel)
        return T.T @ (model.dof_armature * data.qacc + model.dof_damping * data.qvel + dry)

    def mass_matrix(self, q: Any) -> np.ndarray:
        """Mass matrix (nv, nv) by mj_fullM."""
        n = (6 if self.free else 0) + self.G.shape[1]
        T = self._set(q, np.zeros(n), np.zeros(n))
        M = np.zeros((self.model.nv, self.model.nv))
        if hasattr(self.data, "qM"):  # MuJoCo 3
            mujoco.mj_fullM(self.model, M, self.data.qM)
        else:
            mujoco.mj_fullM(self.model, self.data, M)
        return T.T @ M @ T


def _written(arm: Arm) -> str:
    below: dict[int, list[int]] = {}
    for i, parent in enumerate(arm.parents):
        below.setdefault(parent, []).append(i)

    def body(i: int) -> str:
        joint = arm.joints[i]
        T = joint.displacement()
        T = arm.base_pose @ T if arm.parents[i] < 0 else T
        kind = "hinge" if joint.revolute else "slide"
        inside = _inertial(joint.mass, joint.com, joint.inertia)
        inside += f'<joint name="joint {i}" type="{kind}" axis="0 0 1"/>'
        inside += "".join(map(body, below.get(i, ())))
        place = f'pos="{_text(T[:3, 3])}" xyaxes="{_text([*T[:3, 0], *T[:3, 1]])}"'
        return f"<body {place}>{inside}</body>"

    inside = "".join(map(body, below.get(-1, ())))
    if arm.floating:
        base = arm.floating
        own = _inertial(base.mass, base.com, base.inertia)
        inside = f"<body>{own}<freejoint/>{inside}</body>"
    compiler = '<compiler angle="radian"/>'
    return f"<mujoco>{compiler}{OPTIONS}<worldbody>{inside}</worldbody></mujoco>"


def _inertial(mass: Any, com: Any, inertia: Any) -> str:
    I = np.array(inertia)
    entries = I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]
    return f'<inertial pos="{_text(com)}" mass="{mass!r}" fullinertia="{_text(entries)}"/>'


def _text(values: Any) -> str:
    return " ".join(repr(float(x)) for x in values)
