"""An arm in the 3D scene: links as capsules along its frames, joints on their axes, masses and inertia ellipsoids."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from ..border.kinds import Foreign, Numbers
from ..robot.arm import Arm, Body, Joint, Tool
from ..robot.frames.placed import coordinates, link_poses, root_pose
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
        self, scene: Foreign, arm: Arm, root: str = "/arm", visuals: list[Visual] | None = None
    ):
        self.scene, self.arm, self.root = scene, arm, root
        self.q = coordinates(arm, np.zeros(len(arm.joint_names)))
        self.visuals = list(visuals or [])
        self.radius = (0.035 if arm.serial else 0.025) * reach(arm)
        self.base = scene.add_frame(root, show_axes=False)
        self.start = scene.add_frame(f"{root}/base", show_axes=False)
        self.frames = [
            scene.add_frame(
                f"{root}/link{k}",
                show_axes=False,
                axes_length=4 * self.radius,
                axes_radius=0.15 * self.radius,
            )
            for k in range(arm.n)
        ]
        self.skeleton = [handle for k in range(arm.n) for handle in self._link(k)]
        self.skeleton += self._stand()
        self.skeleton += [handle for tool in arm.all_tools for handle in self._to_tool(tool)]
        self.skeleton += [handle for k in _bare_ends(arm) for handle in self._stub(k)]
        self.skeleton += [self._joint(k) for k in range(arm.n)]
        bodies: list[tuple[str, Joint | Body]] = [
            (f"{root}/link{k}", joint) for k, joint in enumerate(arm.joints)
        ]
        if arm.floating:
            bodies.insert(0, (f"{root}/base", arm.floating))
        heaviest = max(body.mass for _, body in bodies)
        self.masses = [handle for body in bodies for handle in self._mass(*body, heaviest)]
        self.ellipsoids = [handle for body in bodies for handle in self._ellipsoid(*body)]
        self.labels = [
            scene.add_label(f"{root}/link{k}/name", str(joint.name), visible=False)
            for k, joint in enumerate(arm.joints)
        ]
        self.meshes = [self._mesh(k, visual) for k, visual in enumerate(visuals or [])]
        self.tools = [
            scene.add_frame(
                f"{self._node(tool.joint)}/{_tool_name(arm, tool)}",
                axes_length=3 * self.radius,
                axes_radius=0.2 * self.radius,
                position=tool.matrix[:3, 3],
                wxyz=quaternion(tool.matrix[:3, :3]),
            )
            for tool in arm.all_tools
        ]
        self.show(self.q)

    def show(self, q: Numbers) -> None:
        """Move every link to its place at coordinates q."""
        self.q = np.array(q, float)
        places = [root_pose(self.arm, self.q), *link_poses(self.arm, self.q)]
        for frame, T in zip((self.start, *self.frames), places, strict=True):
            frame.position, frame.wxyz = T[:3, 3], quaternion(T[:3, :3])

    def _node(self, joint: int) -> str:
        """The node of a joint's link; -1: of what a tool of the base stands on."""
        if joint >= 0:
            return f"{self.root}/link{joint}"
        return f"{self.root}/base" if self.arm.floating else self.root

    def lowest(self) -> float:
        """The height of the lowest point that is drawn, in the axes of the base link [m]."""
        places = [root_pose(self.arm, self.q), *link_poses(self.arm, self.q)]
        heights = [float(T[2, 3]) for T in places]
        for tool in self.arm.all_tools:
            heights.append(float((places[tool.joint + 1] @ tool.matrix)[2, 3]))
        for k in _bare_ends(self.arm):
            heights.append(float((places[k + 1] @ [*self.arm.joints[k].com, 1.0])[2]))
        under = [h - 0.7 * self.radius for h in heights]  # half of what a link is thick
        for visual in self.visuals:
            place = places[visual.link + 1] if visual.link >= 0 or self.arm.floating else np.eye(4)
            under.append(_lowest_corner(place @ visual.pose, visual.vertices))
        return min(under)

    # ---- what is drawn

    def _stand(self) -> list[Foreign]:
        """What leads from the base link to where the first joints hang; nothing under a free base."""
        foot = root_pose(self.arm, self.q)[:3, 3]
        if self.arm.floating:
            return []
        return self._rods(f"{self.root}/stand", [np.zeros(3), np.array(foot)])

    def _link(self, k: int) -> list[Foreign]:
        """What leads from the frame that joint k hangs on to its place, in that frame's own axes."""
        arm, parent = self.arm, self.arm.parents[k]
        joint = arm.joints[k]
        still = joint.displacement()
        along = [np.array([joint.a, 0, 0])] if arm.serial else []
        corners = [np.zeros(3), *along, still[:3, 3]]
        rail = len(corners) - 1
        if not joint.revolute:
            low, high = travel(arm, joint)
            corners += [still[:3, 3] + low * still[:3, 2], still[:3, 3] + high * still[:3, 2]]
        name = f"{self.root}/link{parent}" if parent >= 0 else f"{self.root}/base"
        return self._rods(name if parent == k - 1 else f"{name}/to{k}", corners, rail)

    def _to_tool(self, tool: Tool) -> list[Foreign]:
        end = tool.matrix[:3, 3]
        along = [np.array([0, 0, end[2]])] if self.arm.serial else []
        node = self._node(tool.joint)
        name = node if self.arm.tools is None else f"{node}/to_{_tool_name(self.arm, tool)}"
        return self._rods(name, [np.zeros(3), *along, end])

    def _stub(self, k: int) -> list[Foreign]:
        """The last link of a branch that has no tool, as far as its centre of mass."""
        return self._rods(f"{self.root}/link{k}", [np.zeros(3), np.array(self.arm.joints[k].com)])

    def _rods(self, name: str, corners: list[np.ndarray], rail: int = 99) -> list[Foreign]:
        """Capsules from corner to corner; those of a rail are thin."""
        rods = []
        for i, (a, b) in enumerate(pairwise(corners)):
            if np.linalg.norm(b - a) < _SMALL:
                continue
            thin = 0.45 if i >= rail else 0.7
            vertices, faces = capsule(a, b, thin * self.radius)
            rods.append(self.scene.add_mesh_simple(f"{name}/rod{i}", vertices, faces, color=LINK))
        return rods

    def _joint(self, k: int) -> Foreign:
        joint, r = self.arm.joints[k], self.radius
        name = f"{self.root}/link{k}/joint"
        if joint.revolute:
            return self.scene.add_cylinder(name, radius=1.25 * r, height=3 * r, color=REVOLUTE)
        return self.scene.add_box(name, color=PRISMATIC, dimensions=(2.2 * r, 2.2 * r, 3.4 * r))

    def _mass(self, node: str, body: Joint | Body, heaviest: float) -> list[Foreign]:
        if body.mass <= 0:
            return []
        size = self.radius * (0.5 + 1.3 * np.cbrt(body.mass / heaviest))
        return [
            self.scene.add_icosphere(
                f"{node}/mass", radius=size, color=MASS, position=body.com, visible=False
            )
        ]

    def _ellipsoid(self, node: str, body: Joint | Body) -> list[Foreign]:
        ellipsoid = inertia_ellipsoid(body.mass, np.array(body.inertia))
        if ellipsoid is None:
            return []
        half, axes = ellipsoid
        return [
            self.scene.add_icosphere(
                f"{node}/inertia",
                radius=1.0,
                scale=tuple(half.tolist()),
                color=MASS,
                opacity=0.35,
                position=body.com,
                wxyz=quaternion(axes),
                visible=False,
            )
        ]

    def _mesh(self, k: int, visual: Visual) -> Foreign:
        name = self._node(visual.link)
        T = visual.pose
        return self.scene.add_mesh_simple(
            f"{name}/mesh{k}",
            visual.vertices,
            visual.faces,
            color=visual.colour or MESH,
            position=T[:3, 3],
            wxyz=quaternion(T[:3, :3]),
            flat_shading=True,
            side="double",
        )


def reach(arm: Arm) -> float:
    """A length [m] to draw in proportion to: of a chain, or of the longest branch of a tree."""
    if not arm.serial:
        far = [0.0]
        for joint, parent in zip(arm.joints, arm.parents, strict=True):
            step = float(np.linalg.norm(joint.displacement()[:3, 3]))
            far.append(far[parent + 1] + step)
        return max(far) if max(far) > _SMALL else 1.0
    lengths = [float(np.hypot(j.a, j.d)) for j in arm.joints] + [
        float(np.linalg.norm(arm.tool_pose[:3, 3]))
    ]
    length = sum(lengths)
    return length if length > _SMALL else 1.0


def _lowest_corner(pose: np.ndarray, vertices: np.ndarray) -> float:
    """The height of the lowest corner of the box around a mesh: cheap, and never above the mesh."""
    low, high = np.min(vertices, axis=0), np.max(vertices, axis=0)
    middle, half = (low + high) / 2, (high - low) / 2
    return float(pose[2, :3] @ middle + pose[2, 3] - np.abs(pose[2, :3]) @ half)


def _bare_ends(arm: Arm) -> list[int]:
    """Joints of a tree on which neither a joint nor a tool hangs."""
    carriers = {*arm.parents, *(tool.joint for tool in arm.all_tools)}
    return [] if arm.serial else [k for k in range(arm.n) if k not in carriers]


def _tool_name(arm: Arm, tool: Tool) -> str:
    """The name of a tool's node; tools by name may be called anything, their nodes are numbered."""
    return "tool" if arm.tools is None else f"tool{arm.all_tools.index(tool)}"


def travel(arm: Arm, joint: Joint) -> tuple[float, float]:
    """Where a slide without limits is drawn to go [m]."""
    return joint.position_limits or (0.0, 0.6 * reach(arm))
