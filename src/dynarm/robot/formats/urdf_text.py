"""An arm as the text of a URDF.

Links stand in the frames of the URDF that the arm came from, or in the internal frames if it came from elsewhere.
What was merged on loading stays merged: the file has one link a joint, that of a free base, and a link fixed to these
for each tool whose frame is another. What a URDF cannot hold (gravity, armature, friction beyond viscous and
Coulomb, of which the nearest to curves and hysteresis is written) is said in comments.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from ...errors import InputError, ModelError
from ..arm import Arm, Friction
from ..frames.poses import inverse
from ..frames.rounding import clean_pose, snap
from ..friction import nearest_plain
from ..inertia import unpack_parameters
from .xml_text import fresh, printable, quoted, spaced

LARGEST = 1e50  # of lengths, masses and inertias: their products must not overflow
MAX_NAME = 1000  # letters
ENDLESS = 1e308  # written for a limit that is not there: readers demand a number


def write_urdf(arm: Arm) -> str:
    """A URDF with the same kinematics and dynamics."""
    origin = arm.origin
    links = origin.links if origin else tuple(f"link{i + 1}" for i in range(arm.n))
    frames = [np.array(f).reshape(4, 4) for f in origin.frames] if origin else [np.eye(4)] * arm.n
    base = origin.base_link if origin else fresh("base_link", links)
    lines = ['<?xml version="1.0" encoding="utf-8"?>', f"<robot name={_name(arm.name)}>"]
    lines += _comments(arm)
    places = [*zip(links, frames, strict=True), (base, inverse(arm.base_pose))]  # [-1]: the base
    table = arm.urdf_parameters
    if arm.floating is None:
        lines.append(f"  <link name={_name(base)}/>")
    else:
        lines += _link_lines(base, "the free base", table[0])
    rows = table[len(table) - arm.n :]
    for i, joint in enumerate(arm.joints):
        parent, before = places[arm.parents[i]]
        T = inverse(before) @ joint.displacement() @ frames[i]
        lines += _link_lines(links[i], f"the link of joint '{joint.name}'", rows[i])
        lines += _joint_lines(arm, i, parent, links[i], clean_pose(T, arm.size))
    return "\n".join([*lines, *_tool_lines(arm, places), "</robot>", ""])


def _tool_lines(arm: Arm, places: Sequence[tuple[str, np.ndarray]]) -> list[str]:
    """Tools, and the end of a chain, as links fixed to those that carry them, where they are no links themselves."""
    taken = {name: (name, np.eye(4)) for name, _ in places}
    welds = {str(joint.name) for joint in arm.joints}
    end = arm.origin.tip_link if arm.origin else None
    wanted = [(tool.name, tool.joint, tool.matrix) for tool in arm.tools or ()]
    if not arm.branched:
        wanted.insert(0, (end or "", arm.n - 1, arm.tool_pose))
    lines: list[str] = []
    names = []
    for name, carrier, pose in wanted:
        parent, frame = places[carrier]
        T = clean_pose(inverse(frame) @ pose, arm.size)
        here = taken.get(name or parent)
        if here is not None and here[0] == parent and (here[1] == T).all():
            names.append(name)  # it is that link, or written already
            continue
        tip = fresh(name or "tool", taken)
        weld = fresh(f"{tip}_fixed", welds)
        taken[tip] = (parent, T)
        welds.add(weld)
        names.append(tip)
        lines += [
            f"  <link name={_name(tip)}/>",
            f'  <joint name={_name(weld)} type="fixed">',
            f"    <parent link={_name(parent)}/>",
            f"    <child link={_name(tip)}/>",
            f"    {_origin(T)}",
            "  </joint>",
        ]
    if arm.tools is not None:
        listed = names[len(names) - len(arm.tools) :]
        lines += _comment_lines([f"the robot's tools: load with tools={listed}"])
    return lines


def rpy_of(R: np.ndarray) -> tuple[float, float, float]:
    """Roll, pitch, yaw with R = Rz(yaw) Ry(pitch) Rx(roll), to rounding at any pitch.

    Yaw is taken after roll is undone: near pitch = 90 degrees the two are ill-determined, their sum is not.
    """
    roll = math.atan2(R[2, 1], R[2, 2])
    c, s = math.cos(roll), math.sin(roll)
    pitch = math.atan2(-R[2, 0], s * R[2, 1] + c * R[2, 2])
    yaw = math.atan2(s * R[0, 2] - c * R[0, 1], c * R[1, 1] - s * R[1, 2])
    return snap(roll), snap(pitch), snap(yaw)


def _comments(arm: Arm) -> list[str]:
    said = [f"gravity {list(arm.gravity)} is no part of a URDF: give it on loading"]
    if arm.floating is not None:
        said.append("the base moves freely: load with floating=True")
    for joint in arm.joints:
        lost = []
        if joint.armature:
            lost.append(f"armature {joint.armature!r}")
        plain = (
            Friction(viscous=joint.friction.viscous, coulomb=joint.friction.coulomb)
            if joint.friction
            else None
        )
        if joint.friction != plain:
            lost.append(f"{joint.friction}")
        if lost:
            said.append(f"joint {joint.name}, not held by a URDF: {', '.join(lost)}")
    return _comment_lines(said)


def _comment_lines(said: Iterable[str]) -> list[str]:
    return [f"  <!-- {printable(line).replace('--', '- -')} -->" for line in said]


def _link_lines(name: str, what: str, ten: np.ndarray) -> list[str]:
    if not ten.any():
        return [f"  <link name={_name(name)}/>"]
    mass, com, I = unpack_parameters(ten)
    if mass < 0 or (mass == 0 and ten[1:4].any()):
        raise ModelError(
            f"{what} has mass {mass} and first moments {ten[1:4].tolist()}, "
            "which a URDF cannot hold; save it as .toml"
        )
    if max(mass, *np.abs(com), *np.abs(I).ravel()) > LARGEST:
        raise ModelError(
            f"{what} has numbers beyond {LARGEST:g}, which no reader of URDF takes; save it as .toml"
        )
    entries = " ".join(
        f'i{"xyz"[r]}{"xyz"[c]}="{float(I[r, c])!r}"' for r in range(3) for c in range(r, 3)
    )
    return [
        f"  <link name={_name(name)}>",
        "    <inertial>",
        f'      <origin xyz="{spaced(com)}" rpy="0 0 0"/>',
        f'      <mass value="{mass!r}"/>',
        f"      <inertia {entries}/>",
        "    </inertial>",
        "  </link>",
    ]


def _joint_lines(arm: Arm, i: int, parent: str, child: str, T: np.ndarray) -> list[str]:
    joint = arm.joints[i]
    axis = arm.origin.axes[i] if arm.origin else (0.0, 0.0, 1.0)
    lines = [
        f"  <joint name={_name(str(joint.name))} type={_name(_kind(arm, i))}>",
        f"    <parent link={_name(parent)}/>",
        f"    <child link={_name(child)}/>",
        f"    {_origin(T)}",
        f'    <axis xyz="{spaced(axis)}"/>',
    ]
    effort, velocity = (
        ENDLESS if x is None else x for x in (joint.effort_limit, joint.velocity_limit)
    )
    low, high = joint.position_limits or (-ENDLESS, ENDLESS)
    ends = "" if _kind(arm, i) == "continuous" else f'lower="{low!r}" upper="{high!r}" '
    lines.append(f'    <limit {ends}effort="{effort!r}" velocity="{velocity!r}"/>')
    if joint.friction is not None:
        rich = joint.friction.curve or joint.friction.presliding
        plain = nearest_plain(joint.friction) if rich else joint.friction
        lines.append(f'    <dynamics damping="{plain.viscous!r}" friction="{plain.coulomb!r}"/>')
    if joint.mimic is not None:
        master = str(arm.joints[int(joint.mimic.joint)].name)
        rule = f'multiplier="{joint.mimic.multiplier!r}" offset="{joint.mimic.offset!r}"'
        lines.append(f"    <mimic joint={_name(master)} {rule}/>")
    return [*lines, "  </joint>"]


def _kind(arm: Arm, i: int) -> str:
    """The URDF's word for a joint: its own, unless limits say that a continuous joint is none."""
    joint = arm.joints[i]
    if not joint.revolute:
        return "prismatic"
    if joint.position_limits is not None:
        return "revolute"
    return arm.origin.kinds[i] if arm.origin and arm.origin.kinds[i] == "revolute" else "continuous"


def _origin(T: np.ndarray) -> str:
    return f'<origin xyz="{spaced(T[:3, 3])}" rpy="{spaced(rpy_of(T[:3, :3]))}"/>'


def _name(text: str) -> str:
    """A name in quotes, no longer than readers take it."""
    if len(text) > MAX_NAME:
        raise InputError(
            f"the name that begins with {text[:40]!r} is longer than {MAX_NAME} letters; shorten it"
        )
    return quoted(text)
