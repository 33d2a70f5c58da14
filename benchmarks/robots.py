"""The robots that are measured, each with its twins in the peers' libraries."""

from __future__ import annotations

import tempfile
import warnings
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

import dynarm
from dynarm.robot.frames.generic import generic_arm

NAMES = {
    "panda": "panda_description/urdf/panda.urdf",
    "ur10": "ur_description/urdf/ur10_robot.urdf",
}
TIPS = {"panda": {"tip": "panda_link8"}}


def _share() -> Path:
    import pinocchio

    root = Path(pinocchio.__file__).resolve()
    for parent in root.parents:
        found = parent / "share" / "example-robot-data" / "robots"
        if found.is_dir():
            return found
    raise dynarm.DynarmError("the wheel example-robot-data is not installed; pip install '.[test]'")


@dataclass(frozen=True)
class Robot:
    """An arm and its twins."""

    arm: dynarm.Arm

    @cached_property
    def model(self) -> dynarm.Model:
        """The arm, compiled."""
        return dynarm.compile(self.arm)

    @cached_property
    def urdf(self) -> str:
        """The arm as URDF, joints without friction: what dynarm computes by default."""
        joints = [replace(joint, friction=None, armature=0.0) for joint in self.arm.joints]
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "arm.urdf"
            replace(self.arm, joints=joints).save(path)
            return path.read_text(encoding="utf-8")

    @cached_property
    def pinocchio(self) -> Any:
        import pinocchio as pin

        model, parent = pin.Model(), 0
        for i, (joint, ten) in enumerate(zip(self.arm.joints, self.arm.parameters, strict=True)):
            T = joint.displacement() if i else self.arm.base_pose @ joint.displacement()
            kind = pin.JointModelRZ() if joint.revolute else pin.JointModelPZ()
            parent = model.addJoint(
                parent, kind, pin.SE3(T[:3, :3].copy(), T[:3, 3].copy()), str(joint.name)
            )
            model.appendBodyToJoint(
                parent, pin.Inertia.FromDynamicParameters(np.array(ten)), pin.SE3.Identity()
            )
        model.gravity.linear = np.array(self.arm.gravity)
        return model

    @cached_property
    def mujoco(self) -> Any:
        import mujoco

        return mujoco.MjModel.from_xml_string(self._mjcf())

    def _mjcf(self) -> str:
        """The arm as MJCF: one body a link, no geometry, no contacts."""
        text, tail = [], []
        for i, joint in enumerate(self.arm.joints):
            T = joint.displacement() if i else self.arm.base_pose @ joint.displacement()
            m, c, I = joint.mass, np.array(joint.com), np.array(joint.inertia)
            kind = "hinge" if joint.revolute else "slide"
            full = I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]
            text.append(
                f'<body pos="{_numbers(T[:3, 3])}" xyaxes="{_numbers([*T[:3, 0], *T[:3, 1]])}">'
                f'<inertial pos="{_numbers(c)}" mass="{m!r}" fullinertia="{_numbers(full)}"/>'
                f'<joint type="{kind}" axis="0 0 1"/>'
            )
            tail.append("</body>")
        return (
            f'<mujoco><compiler angle="radian" balanceinertia="false"/>'
            f'<option gravity="{_numbers(self.arm.gravity)}" integrator="RK4" timestep="0.001">'
            '<flag contact="disable" constraint="disable"/></option>'
            f"<worldbody>{''.join(text)}{''.join(tail)}</worldbody></mujoco>"
        )


def _numbers(values: Any) -> str:
    return " ".join(repr(float(x)) for x in values)


def robot(name: str) -> Robot:
    """A robot of the benchmark: 'panda', 'ur10', a built-in name, a path, or 'generic:12' (n joints)."""
    if name.startswith("generic:"):
        return Robot(generic_arm(int(name.split(":")[1])))
    if name not in NAMES:
        return Robot(dynarm.load(name))
    with warnings.catch_warnings():  # doubtful inertias of these URDFs are equal for all
        warnings.simplefilter("ignore", dynarm.DynarmWarning)
        return Robot(dynarm.load(_share() / NAMES[name], **TIPS.get(name, {})))
