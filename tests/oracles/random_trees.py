"""Joints anywhere in space that make a tree, as segments and as URDFs: what is read into an `Arm`.

Trees that are arms already come from `strategies.random_tree`.
"""

from __future__ import annotations

import math

import numpy as np

from dynarm.robot.formats.urdf_text import rpy_of
from dynarm.robot.frames.dh import JointLine
from dynarm.robot.frames.poses import rotation, translation
from dynarm.robot.inertia import pack_parameters
from strategies import QUARTERS, Rng, random_body, random_parents, random_pose, random_rotation

SLIGHT = (1e-12, 1e-9, 3.7e-6, 1e-4, 1e-2, 0.049)  # angles [rad] between nearly parallel axes


def _placement(rng: Rng, style: str) -> np.ndarray:
    if style == "generic":
        return random_pose(rng)
    away = translation(*np.round(rng.uniform(-0.4, 0.4, 3) * rng.integers(0, 2, 3), 3))
    if style == "slight":
        tilt = rotation(("x", "y")[rng.integers(2)], SLIGHT[rng.integers(len(SLIGHT))])
        return away @ tilt @ rotation("x", (0.0, math.pi)[rng.integers(2)])
    turns = rotation("x", QUARTERS[rng.integers(4)]) @ rotation("z", QUARTERS[rng.integers(4)])
    return np.asarray(away @ turns)


def random_lines(rng: Rng, n: int, style: str = "generic") -> tuple[list[JointLine], list[int]]:
    """Joints with their parents: 'generic', 'structured' (quarter turns, few offsets), 'slight' (nearly parallel)."""
    segments = []
    for _ in range(n):
        axis = random_rotation(rng)[:, 0] if style == "generic" else np.array([0.0, 0.0, 1.0])
        kind = "prismatic" if rng.random() < 0.3 else "revolute"
        body = pack_parameters(*random_body(rng))
        segments.append(JointLine(kind, _placement(rng, style), axis, body))
    return segments, random_parents(rng, n)


def tree_urdf(rng: Rng, n: int, style: str = "generic", mimic: float = 0.0) -> str:
    """A URDF of such a tree: links l0 (the base, with inertia) to ln, joints j1 to jn, a weld at each end."""
    segments, parents = random_lines(rng, n, style)
    lines = ['<robot name="tree">', _link("l0", random_body(rng))]
    masters: list[int] = []
    for i, (segment, parent) in enumerate(zip(segments, parents, strict=True), start=1):
        inside = f'<axis xyz="{_text(segment.axis)}"/>'
        if masters and rng.random() < mimic:
            master = masters[int(rng.integers(len(masters)))]
            factor, offset = rng.uniform(-2, 2, 2).tolist()
            inside += f'<mimic joint="j{master}" multiplier="{factor!r}" offset="{offset!r}"/>'
        else:
            masters.append(i)
        lines.append(_link(f"l{i}", random_body(rng)))
        kind = "continuous" if segment.kind == "revolute" else "prismatic"
        lines.append(_joint(f"j{i}", kind, f"l{parent + 1}", f"l{i}", segment.placement, inside))
        if i not in {p + 1 for p in parents}:
            lines.append(_link(f"end{i}", random_body(rng)))
            lines.append(_joint(f"weld{i}", "fixed", f"l{i}", f"end{i}", random_pose(rng), ""))
    return "\n".join([*lines, "</robot>"])


def _joint(
    name: str, kind: str, parent: str, child: str, placement: np.ndarray, inside: str
) -> str:
    place = f'xyz="{_text(placement[:3, 3])}" rpy="{_text(rpy_of(placement[:3, :3]))}"'
    limit = '<limit lower="-3" upper="3" effort="10" velocity="1"/>' if kind == "prismatic" else ""
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f"<origin {place}/>{inside}{limit}</joint>"
    )


def _link(name: str, body: tuple[float, np.ndarray, np.ndarray]) -> str:
    mass, com, inertia = body
    entries = " ".join(
        f'i{"xyz"[r]}{"xyz"[c]}="{float(inertia[r, c])!r}"' for r in range(3) for c in range(r, 3)
    )
    return (
        f'<link name="{name}"><inertial><origin xyz="{_text(com)}"/><mass value="{mass!r}"/>'
        f"<inertia {entries}/></inertial></link>"
    )


def _text(values: object) -> str:
    return " ".join(repr(float(x)) for x in np.asarray(values).tolist())
