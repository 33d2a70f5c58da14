"""A mobile manipulator in the 3D scene: platform, wheels, support polygon, ground forces as arrows, the arm on top."""

from __future__ import annotations

import numpy as np

from ..border.kinds import Foreign
from ..mobile.outline import platform_pose, wheel_headings
from ..mobile.robot import MobileManipulator
from .arm import ArmDrawing
from .shapes import capsule, quaternion

BODY = (150, 164, 172)
WHEEL = (28, 36, 41)
FORCE = (26, 127, 69)
LIFTED = (192, 50, 43)


class MobileDrawing:
    """Nodes of the scene that follow q and the ground forces."""

    def __init__(self, scene: Foreign, robot: MobileManipulator):
        self.scene, self.robot = scene, robot
        height = robot.platform.height
        points = robot.support.points[:, :2]
        size = np.ptp(points, axis=0)
        self.platform = scene.add_frame("/platform", show_axes=False)
        scene.add_box(
            "/platform/body",
            color=BODY,
            opacity=0.55,
            dimensions=(float(size[0]), max(float(size[1]) * 0.8, 0.1), 0.5 * height),
            position=(*points.mean(axis=0), 0.1 * height),
        )
        self.wheels = []
        for j, wheel in enumerate(robot.wheels):
            centre = (*wheel.place, wheel.radius - height)
            holder = scene.add_frame(f"/platform/wheel{j}", show_axes=False, position=centre)
            scene.add_cylinder(
                f"/platform/wheel{j}/rim",
                radius=wheel.radius,
                height=0.35 * wheel.radius,
                color=WHEEL,
                wxyz=(np.sqrt(0.5), np.sqrt(0.5), 0.0, 0.0),
            )
            self.wheels.append(holder)
        self._polygon()
        mount = robot.base.mount_pose
        top = np.array([*mount[:2, 3], 0.35 * height])  # of the body, below what the arm stands on
        if np.linalg.norm(mount[:3, 3] - top) > 0.05 and mount[2, 3] > top[2]:
            vertices, faces = capsule(top, mount[:3, 3], 0.04 * float(size.max()))
            scene.add_mesh_simple("/platform/mast", vertices, faces, color=BODY)
        scene.add_frame(
            "/platform/mount",
            show_axes=False,
            position=mount[:3, 3],
            wxyz=quaternion(mount[:3, :3]),
        )
        self.arm = ArmDrawing(scene, robot.arm, "/platform/mount/arm")
        weight = (robot.platform.mass + sum(j.mass for j in robot.arm.joints)) * max(
            robot.gravity, 1.0
        )
        self.size = float(size.max())
        self.scale = 2.0 * self.size / weight  # metres of an arrow a newton

    def _polygon(self) -> None:
        corners = self.robot.support.points[list(self.robot.support.corners)].copy()
        corners[:, 2] += 0.005
        segments = np.stack([corners, np.roll(corners, -1, axis=0)], axis=1)
        self.scene.add_line_segments(
            "/platform/polygon",
            segments.astype(np.float32),
            colors=FORCE,
            thickness=4.0,
            thickness_units="screen",
        )

    def show(self, q: np.ndarray, forces: np.ndarray | None = None) -> None:
        """Move the machine to q; forces (w, 3) along rolling direction, axle and up, on each wheel."""
        q = np.asarray(q, float)
        T = platform_pose(q)
        self.platform.position = (*T[:2, 3], self.robot.platform.height)
        self.platform.wxyz = quaternion(T[:3, :3])
        headings = wheel_headings(self.robot, q)
        for holder, heading in zip(self.wheels, headings, strict=True):
            holder.wxyz = (np.cos(heading / 2), 0.0, 0.0, np.sin(heading / 2))
        self.arm.show(q[len(q) - self.robot.arm.n :])
        if forces is not None:
            self._arrows(np.asarray(forces, float), headings)

    def _arrows(self, forces: np.ndarray, headings: list[float]) -> None:
        starts = self.robot.support.points
        ends, colours = [], []
        for at, heading, (rolling, axle, up) in zip(starts, headings, forces, strict=True):
            c, s = np.cos(heading), np.sin(heading)
            arrow = np.array([c * rolling - s * axle, s * rolling + c * axle, up])
            ends.append(at + self.scale * arrow)
            colours.append(LIFTED if up < 0 else FORCE)
        points = np.stack([starts, np.array(ends)], axis=1).astype(np.float32)
        r = 0.025 * self.size
        self.scene.add_arrows(
            "/platform/forces",
            points,
            np.array(colours, np.uint8),
            shaft_radius=r,
            head_radius=2.2 * r,
            head_length=4 * r,
        )
