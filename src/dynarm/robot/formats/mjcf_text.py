"""An arm as the text of an MJCF model.

Bodies stand in the frames of the file that the arm came from, or in the internal frames if it came from elsewhere. What
was merged on loading stays merged. MuJoCo lets no body without inertia move: links without any, as between the joints
of a universal joint, become several joints of one body. Inertias are written by their principal axes, because MuJoCo
finds those of a full tensor only to 1e-12 kg m^2. What MJCF cannot hold is said in comments.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ...border.kinds import FloatArray
from ...errors import ModelError
from ..arm import Arm, Friction, Joint
from ..frames.poses import inverse
from ..frames.rounding import clean_pose
from ..friction import nearest_plain
from ..inertia import unpack_parameters
from .xml_text import fresh, printable, quoted, spaced

LEAST = 1e-15  # of masses and moments that MuJoCo lets move


def write_mjcf(arm: Arm) -> str:
    """An MJCF model with the same kinematics and dynamics."""
    writer = _Model(arm)
    lines = [
        f"<mujoco model={quoted(arm.name)}>",
        *writer.comments(),
        '  <compiler angle="radian" autolimits="true"/>',
        f'  <option gravity="{spaced(arm.gravity)}"/>',
        "  <worldbody>",
        *writer.base(),
        "  </worldbody>",
        *writer.couplings(),
        "</mujoco>",
        "",
    ]
    return "\n".join(lines)


@dataclass(frozen=True, slots=True, eq=False)
class _Axis:
    """A joint on its body: its index, axis and anchor in the body's frame."""

    joint: int
    axis: FloatArray
    anchor: FloatArray


class _Model:
    """The arm with the frames and names that its bodies get."""

    def __init__(self, arm: Arm) -> None:
        self.arm = arm
        origin = arm.origin
        eyes = [np.eye(4)] * arm.n
        self.frames = [np.array(f).reshape(4, 4) for f in origin.frames] if origin else eyes
        self.axes = [np.array(a) for a in origin.axes] if origin else [np.eye(3)[2]] * arm.n
        links = origin.links if origin else tuple(f"link{i + 1}" for i in range(arm.n))
        self.base_name = fresh(origin.base_link if origin else "base_link", links)
        self.links = [fresh(name, ["world"]) for name in links]
        self.table = arm.urdf_parameters[-arm.n :] if arm.n else np.zeros((0, 10))
        self.below: dict[int, list[int]] = {}
        for i, parent in enumerate(arm.parents):
            self.below.setdefault(parent, []).append(i)
        self.sites: dict[int, list[str]] = {}
        for name, carrier, T in self._tools():
            frame = self.frames[carrier] if carrier >= 0 else inverse(arm.base_pose)
            place = _place(clean_pose(inverse(frame) @ T, arm.size))
            self.sites.setdefault(carrier, []).append(f"<site name={quoted(name)}{place}/>")

    def _tools(self) -> Iterator[tuple[str, int, FloatArray]]:
        arm = self.arm
        names = {tool.name for tool in arm.tools or ()}
        if arm.n and not arm.branched:
            end = arm.origin.tip_link if arm.origin else None
            yield fresh(end or "tool", names), arm.n - 1, arm.tool_pose
        for tool in arm.tools or ():
            yield tool.name, tool.joint, tool.matrix

    def base(self) -> Iterator[str]:
        """The base with all that it carries; a fixed one that is not the world itself as a body that stands there."""
        arm, pad = self.arm, "    "
        before = inverse(arm.base_pose)
        if arm.floating is None and self.base_name == "world":
            yield from self._inside(-1, before, pad)
            return
        yield f"{pad}<body name={quoted(self.base_name)}>"
        if arm.floating is not None:
            ten = np.array(arm.floating.parameters)
            yield f"{pad}  {inertial_text(ten, 'the free base')}"
            yield f"{pad}  <freejoint/>"
        yield from self._inside(-1, before, pad + "  ")
        yield f"{pad}</body>"

    def _inside(self, i: int, frame: FloatArray, pad: str) -> Iterator[str]:
        """Sites and bodies on a link whose frame stands at `frame` in its internal one."""
        yield from (pad + site for site in self.sites.get(i, ()))
        for child in self.below.get(i, ()):
            T = inverse(frame) @ self.arm.joints[child].displacement() @ self.frames[child]
            yield from self._body(child, clean_pose(T, self.arm.size), pad)

    def _body(self, i: int, T: FloatArray, pad: str) -> Iterator[str]:
        """The body that joint i moves, or, where that has no inertia, the one that it moves together with others."""
        moves = [_Axis(i, self.axes[i], np.zeros(3))]
        while not self.table[i].any() and len(self.below.get(i, ())) == 1:
            (child,) = self.below[i]
            step = inverse(self.frames[i]) @ self.arm.joints[child].displacement()
            step = clean_pose(step @ self.frames[child], self.arm.size)
            back = inverse(step)
            R, p = back[:3, :3], back[:3, 3]
            moves = [_Axis(m.joint, R @ m.axis, R @ m.anchor + p) for m in moves]
            moves.append(_Axis(child, self.axes[child], np.zeros(3)))
            T, i = T @ step, child
        yield f"{pad}<body name={quoted(self.links[i])}{_place(T)}>"
        yield f"{pad}  {inertial_text(self.table[i], f'the link of joint {self._name(i)!r}')}"
        yield from (f"{pad}  {self._joint(move)}" for move in moves)
        yield from self._inside(i, self.frames[i], pad + "  ")
        yield f"{pad}</body>"

    def _name(self, i: int) -> str:
        return str(self.arm.joints[i].name)

    def _joint(self, move: _Axis) -> str:
        joint = self.arm.joints[move.joint]
        said = {"name": quoted(self._name(move.joint)), "axis": f'"{spaced(move.axis)}"'}
        said["type"] = '"hinge"' if joint.revolute else '"slide"'
        if move.anchor.any() and joint.revolute:
            said["pos"] = f'"{spaced(move.anchor)}"'
        limits = joint.position_limits
        if limits is not None and limits[0] < limits[1]:
            said["range"] = f'"{spaced(limits)}"'
        if joint.effort_limit is not None and joint.effort_limit > 0:
            effort = joint.effort_limit
            said["actuatorfrcrange"] = f'"{spaced((-effort, effort))}"'
        said |= {key: f'"{value!r}"' for key, value in drive_numbers(joint).items() if value}
        return "<joint" + "".join(f" {key}={value}" for key, value in said.items()) + "/>"

    def couplings(self) -> list[str]:
        rows = []
        for joint in self.arm.joints:
            if joint.mimic is not None:
                master = self._name(int(joint.mimic.joint))
                line = f"{joint.mimic.offset!r} {joint.mimic.multiplier!r} 0 0 0"
                pair = f"joint1={quoted(str(joint.name))} joint2={quoted(master)}"
                rows.append(f'    <joint {pair} polycoef="{line}"/>')
        return ["  <equality>", *rows, "  </equality>"] if rows else []

    def comments(self) -> list[str]:
        said = []
        for joint in self.arm.joints:
            lost = []
            if joint.velocity_limit:
                lost.append(f"velocity limit {joint.velocity_limit!r}")
            if joint.position_limits and not joint.position_limits[0] < joint.position_limits[1]:
                lost.append(f"position limits {joint.position_limits}")
            if joint.friction is not None and not is_plain(joint.friction):
                lost.append(f"{joint.friction}")
            if lost:
                said.append(f"joint {joint.name}, not held by MJCF: {', '.join(lost)}")
        if self.arm.tools is not None:
            said.append(f"the robot's tools: load with tools={[t.name for t in self.arm.tools]}")
        return [f"  <!-- {printable(line).replace('--', '- -')} -->" for line in said]


def drive_numbers(joint: Joint) -> dict[str, float]:
    """What MJCF holds of a joint's drive: of curves and hysteresis the nearest plain friction."""
    friction = joint.friction or Friction()
    if not is_plain(friction):
        friction = nearest_plain(friction)
    return {
        "armature": joint.armature,
        "damping": friction.viscous,
        "frictionloss": friction.coulomb,
    }


def is_plain(friction: Friction) -> bool:
    """Whether MJCF holds all of it."""
    return friction == Friction(friction.viscous, friction.coulomb)


def inertial_text(ten: FloatArray, what: str) -> str:
    """The <inertial> of a body that moves, by its principal axes; refused where MuJoCo would."""
    moments, quaternion = principal_inertial(ten, what)
    mass, com, _ = unpack_parameters(ten)
    return (
        f'<inertial pos="{spaced(com)}" quat="{spaced(quaternion)}" mass="{mass!r}" '
        f'diaginertia="{spaced(moments)}"/>'
    )


def principal_inertial(ten: FloatArray, what: str) -> tuple[list[float], list[float]]:
    """Principal moments of a body that moves and the quaternion of their axes; refused where MuJoCo would."""
    mass, _, I = unpack_parameters(ten)
    moments, R = principal(I)
    if mass <= LEAST or min(moments) <= LEAST:
        raise ModelError(
            f"{what} has mass {mass:g} and principal moments {', '.join(f'{m:g}' for m in moments)}; MuJoCo lets only "
            "bodies move in which all of these are positive: save it as .toml or .urdf"
        )
    if moments[0] + moments[1] < moments[2]:
        raise ModelError(
            f"{what} has principal moments {', '.join(f'{m:g}' for m in moments)}, which violate the triangle "
            "inequality; MuJoCo refuses them: save it as .toml or .urdf"
        )
    return moments, quaternion_of(R).tolist()


def principal(I: FloatArray) -> tuple[list[float], FloatArray]:
    """Principal moments, rising, and their axes; a sum that rounding alone leaves short of the third is made it."""
    if not (I - np.diag(np.diag(I))).any():
        order = np.argsort(np.diag(I), kind="stable")
        moments, R = np.diag(I)[order], np.eye(3)[:, order]
    else:
        scale = float(np.abs(I).max())
        moments, R = np.linalg.eigh((I + I.T) / 2 / scale)
        moments = moments * scale
    if np.linalg.det(R) < 0:
        R = R * [1, 1, -1]
    a, b, c = moments.tolist()
    if 0 < c - a - b <= 1e-12 * c:
        c = a + b
    return [a, b, c], R


def quaternion_of(R: FloatArray) -> FloatArray:
    """The unit quaternion w, x, y, z of a rotation, w not negative, to rounding at every angle."""
    K = np.array(
        [
            [R[0, 0] + R[1, 1] + R[2, 2], 0, 0, 0],
            [R[2, 1] - R[1, 2], R[0, 0] - R[1, 1] - R[2, 2], 0, 0],
            [R[0, 2] - R[2, 0], R[0, 1] + R[1, 0], R[1, 1] - R[0, 0] - R[2, 2], 0],
            [R[1, 0] - R[0, 1], R[0, 2] + R[2, 0], R[1, 2] + R[2, 1], R[2, 2] - R[0, 0] - R[1, 1]],
        ]
    )
    K = K + np.tril(K, -1).T + np.eye(4)  # 4 q q'
    column = K[:, int(np.argmax(np.diag(K)))]
    q: FloatArray = column / math.hypot(*column.tolist())
    return -q if q[0] < 0 else q


def _place(T: FloatArray) -> str:
    text = f' pos="{spaced(T[:3, 3])}"' if T[:3, 3].any() else ""
    if (T[:3, :3] == np.eye(3)).all():
        return text
    return f'{text} quat="{spaced(quaternion_of(T[:3, :3]))}"'
