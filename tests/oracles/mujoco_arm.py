"""MuJoCo as a second oracle: the same robot, its conventions translated in this one place.

MuJoCo reads URDF itself, so a file can be taken past dynarm's reader altogether (`mujoco_from_urdf`); an arm that came
from elsewhere is written as MJCF (`mujoco_model`). Every method takes one state of the chain's joints as plain arrays;
joints off the chain stand at zero and do not move.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import mujoco
import numpy as np

from dynarm import Arm

OPTIONS = '<option integrator="Euler"><flag contact="disable" constraint="disable"/></option>'


@dataclass(frozen=True, eq=False)
class MujocoArm:
    """A MuJoCo model and the places of the chain's joints in it."""

    model: Any
    data: Any
    places: np.ndarray  # of each joint in qpos, which is that in qvel: all joints have one degree

    def _set(self, q: Any, qd: Any, qdd: Any) -> None:
        for name, value in (("qpos", q), ("qvel", qd), ("qacc", qdd)):
            whole = getattr(self.data, name)
            whole[:] = 0
            whole[self.places] = value

    def inverse_dynamics(self, q: Any, qd: Any, qdd: Any) -> np.ndarray:
        """Joint forces (n,) [N m or N]."""
        self._set(q, qd, qdd)
        mujoco.mj_inverse(self.model, self.data)
        return np.array(self.data.qfrc_inverse[self.places])

    def mass_matrix(self, q: Any) -> np.ndarray:
        """Mass matrix (n, n)."""
        n = len(self.places)
        self._set(q, np.zeros(n), np.zeros(n))
        mujoco.mj_forward(self.model, self.data)
        columns = []
        for unit in np.eye(self.model.nv)[self.places]:
            column = np.zeros(self.model.nv)
            mujoco.mj_mulM(self.model, self.data, column, unit)
            columns.append(column[self.places])
        return np.array(columns)

    def bias(self, q: Any, qd: Any) -> np.ndarray:
        """Coriolis, centrifugal and gravity forces (n,)."""
        self._set(q, qd, np.zeros(len(self.places)))
        mujoco.mj_forward(self.model, self.data)
        return np.array(self.data.qfrc_bias[self.places])

    def gravity(self, q: Any) -> np.ndarray:
        """Gravity forces (n,)."""
        return self.bias(q, np.zeros(len(self.places)))


def _arm(text: str, joints: Sequence[str], gravity: Sequence[float]) -> MujocoArm:
    model = mujoco.MjModel.from_xml_string(text)
    model.opt.gravity[:] = gravity
    # a URDF's friction, armature and limits are no part of rigid-body dynamics
    for passive in (model.dof_damping, model.dof_frictionloss, model.dof_armature):
        passive[:] = 0
    assert model.nq == model.nv == model.njnt
    return MujocoArm(model, mujoco.MjData(model), np.array([model.joint(j).id for j in joints]))


def mujoco_model(arm: Arm) -> MujocoArm:
    """The arm in MuJoCo, straight from its Denavit-Hartenberg numbers; armature and friction are left out."""
    bodies = []
    for i, joint in enumerate(arm.joints):
        T = joint.displacement() if i else arm.base_pose @ joint.displacement()
        I = np.array(joint.inertia)
        entries = I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]
        bodies.append(
            f'<body pos="{_numbers(T[:3, 3])}" xyaxes="{_numbers([*T[:3, 0], *T[:3, 1]])}">'
            f'<inertial pos="{_numbers(joint.com)}" mass="{joint.mass!r}" fullinertia="{_numbers(entries)}"/>'
            f'<joint name="{joint.name}" type="{"hinge" if joint.revolute else "slide"}" axis="0 0 1"/>'
        )
    text = (
        f'<mujoco><compiler angle="radian"/>{OPTIONS}'
        f"<worldbody>{''.join(bodies)}{'</body>' * arm.n}</worldbody></mujoco>"
    )
    return _arm(text, arm.joint_names, arm.gravity)


def mujoco_from_urdf(
    source: str | Path, joints: Sequence[str], gravity: Sequence[float] = (0.0, 0.0, -9.81)
) -> MujocoArm:
    """Joints of a URDF (a path, or its text) as MuJoCo's own reader understands it, shapes left out."""
    given = str(source)
    text = given if given.lstrip().startswith("<") else Path(source).read_text(encoding="utf-8")
    root = ElementTree.fromstring(text.encode())
    for link in root.iter("link"):
        for shape in [*link.findall("visual"), *link.findall("collision")]:
            link.remove(shape)
    for joint in root.iter("joint"):
        for mimic in joint.findall("mimic"):
            joint.remove(mimic)
    options = ElementTree.fromstring(
        f'<mujoco><compiler fusestatic="true" strippath="false"/>{OPTIONS}</mujoco>'
    )
    root.append(options)
    return _arm(ElementTree.tostring(root, encoding="unicode"), joints, gravity)


def _numbers(values: Any) -> str:
    return " ".join(repr(float(x)) for x in values)
