"""An arm in the 3D scene: links as capsules along its frames, joints on their axes, masses and inertia ellipsoids."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from ..robot.arm import Arm, Joint
from .meshes import Visual
from .shapes import capsule, inertia_ellipsoid, quaternion

LINK = (70, 84, 92)
REVOLUTE = (11, 110, 131)
PRISMATIC = (209, 96, 43)
MASS = (138, 79, 163)
MESH = (190, 198, 203)
_SMALL = 1e-9


class ArmDrawing:
    """Nodes of the scene that follow q. `root` is the node that the arm's base link stands on."""

    def __init__(
        self, scene: Any, arm: Arm, root: str = "/arm", visuals: list[Visual] | None = None
    ):
        self.scene, self.arm, self.root = scene, arm, root
        self.q = np.zeros(arm.n)
        self.radius = 0.035 * reach(arm)
        self.base = scene.add_frame(root, show_axes=False)
        self.frames = [
            scene.add_frame(
                f"{root}/link{k}",
                show_axes=False,
                axes_length=4 * self.radius,
                axes_radius=0.15 * self.radius,
            )
            for k in range(arm.n)
        ]
        self.skeleton = [handle for k in range(arm.n + 1) for handle in self._link(k)]
        self.skeleton += [self._joint(k) for k in range(arm.n)]
        self.masses = [handle for k in range(arm.n) for handle in self._mass(k)]
        self.ellipsoids = [handle for k in range(arm.n) for handle in self._ellipsoid(k)]
        self.labels = [
            scene.add_label(f"{root}/link{k}/name", str(joint.name), visible=False)
            for k, joint in enumerate(arm.joints)
        ]
        self.meshes = [self._mesh(k, visual) for k, visual in enumerate(visuals or [])]
        self.tool = scene.add_frame(
            f"{root}/link{arm.n - 1}/tool",
            axes_length=3 * self.radius,
            axes_radius=0.2 * self.radius,
            position=arm.tool_pose[:3, 3],
            wxyz=quaternion(arm.tool_pose[:3, :3]),
        )
        self.show(self.q)

    def show(self, q: Any) -> None:
        """Move every link to its place."""
        self.q = np.array(q, float)
        T = self.arm.base_pose
        for joint, angle, frame in zip(self.arm.joints, self.q, self.frames, strict=True):
            T = T @ joint.displacement(float(angle))
            frame.position, frame.wxyz = T[:3, 3], quaternion(T[:3, :3])

    # ---- what is drawn

    def _link(self, k: int) -> list[Any]:
        """What leads from frame k to the place of joint k + 1, or to the tool, in frame k's own axes."""
        arm = self.arm
        name = f"{self.root}/link{k - 1}" if k else f"{self.root}/base"
        if k == 0:
            self.scene.add_frame(
                name,
                show_axes=False,
                position=arm.base_pose[:3, 3],
                wxyz=quaternion(arm.base_pose[:3, :3]),
            )
        start = np.zeros(3)
        if k == arm.n:
            end = arm.tool_pose[:3, 3]
            corners = [start, np.array([0, 0, end[2]]), end]
        else:
            joint = arm.joints[k]
            still = joint.displacement()
            corners = [start, np.array([joint.a, 0, 0]), still[:3, 3]]
            if not joint.revolute:  # its rail
                low, high = travel(arm, joint)
                corners += [still[:3, 3] + low * still[:3, 2], still[:3, 3] + high * still[:3, 2]]
        rods = []
        for i, (a, b) in enumerate(pairwise(corners)):
            if np.linalg.norm(b - a) < _SMALL:
                continue
            thin = 0.45 if i > 1 else 0.7
            vertices, faces = capsule(a, b, thin * self.radius)
            rods.append(self.scene.add_mesh_simple(f"{name}/rod{i}", vertices, faces, color=LINK))
        return rods

    def _joint(self, k: int) -> Any:
        joint, r = self.arm.joints[k], self.radius
        name = f"{self.root}/link{k}/joint"
        if joint.revolute:
            return self.scene.add_cylinder(name, radius=1.25 * r, height=3 * r, color=REVOLUTE)
        return self.scene.add_box(name, color=PRISMATIC, dimensions=(2.2 * r, 2.2 * r, 3.4 * r))

    def _mass(self, k: int) -> list[Any]:
        joint = self.arm.joints[k]
        heaviest = max(j.mass for j in self.arm.joints)
        if joint.mass <= 0:
            return []
        size = self.radius * (0.5 + 1.3 * np.cbrt(joint.mass / heaviest))
        name = f"{self.root}/link{k}/mass"
        return [
            self.scene.add_icosphere(
                name, radius=size, color=MASS, position=joint.com, visible=False
            )
        ]

    def _ellipsoid(self, k: int) -> list[Any]:
        joint = self.arm.joints[k]
        ellipsoid = inertia_ellipsoid(joint.mass, np.array(joint.inertia))
        if ellipsoid is None:
            return []
        half, axes = ellipsoid
        return [
            self.scene.add_icosphere(
                f"{self.root}/link{k}/inertia",
                radius=1.0,
                scale=tuple(half.tolist()),
                color=MASS,
                opacity=0.35,
                position=joint.com,
                wxyz=quaternion(axes),
                visible=False,
            )
        ]

    def _mesh(self, k: int, visual: Visual) -> Any:
        name = f"{self.root}/link{visual.link}" if visual.link >= 0 else self.root
        T = visual.pose
        return self.scene.add_mesh_simple(
            f"{name}/mesh{k}",
            visual.vertices,
            visual.faces,
            color=MESH,
            position=T[:3, 3],
            wxyz=quaternion(T[:3, :3]),
            flat_shading=True,
            side="double",
        )


def reach(arm: Arm) -> float:
    """A length [m] to draw in proportion to."""
    lengths = [float(np.hypot(j.a, j.d)) for j in arm.joints] + [
        float(np.linalg.norm(arm.tool_pose[:3, 3]))
    ]
    length = sum(lengths)
    return length if length > _SMALL else 1.0


def travel(arm: Arm, joint: Joint) -> tuple[float, float]:
    """Where a slide without limits is drawn to go [m]."""
    return joint.position_limits or (0.0, 0.6 * reach(arm))
