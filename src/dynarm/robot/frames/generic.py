"""The generic manipulators on which the papers count operations: no constant of them is 0, 1 or equal to another.

Type 1: all joints rotational. Type 2: joint 3 translational (linfang1999, end of section 2).
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from ...border.words import shown
from ...errors import InputError
from ..arm import Arm, Joint

_GOLDEN = (math.sqrt(5) - 1) / 2


def _spread(k: int, low: float, high: float) -> float:
    """The k-th number of a low-discrepancy sequence in [low, high]: reproducible, never special."""
    return low + (high - low) * math.modf(0.5 + k * _GOLDEN)[0]


def generic_arm(
    n: int,
    type: int = 1,
    gravity: tuple[float, float, float] = (0.0, 0.0, -9.81),
    principal: bool = False,
) -> Arm:
    """A generic arm of n joints. With `principal` every link's central principal axes are parallel to its frame."""
    if type not in (1, 2):
        raise InputError(
            f"type is {shown(type)}; the papers count Type 1 (all rotational) and Type 2 (joint 3 translational)"
        )
    if n < 1:
        raise InputError(f"n is {n}; give at least one joint")
    joints = []
    for i in range(n):
        k = 20 * (i + 1)
        spread = [_spread(k + j, 0.1, 0.9) for j in range(16)]
        A = np.array(spread[:9]).reshape(3, 3) - 0.45
        inertia = A @ A.T * 0.1 + np.diag(spread[9:12]) * 0.05
        if principal:
            inertia = np.diag(np.diag(inertia))
        kind = "prismatic" if type == 2 and i == 2 else "revolute"
        joints.append(
            Joint(
                kind=kind,
                a=0.2 + 0.3 * spread[12] if i else 0.0,
                alpha=(-1) ** i * (0.4 + 0.7 * spread[13]) if i else 0.0,
                d=0.1 + 0.3 * spread[14] if i else 0.0,
                theta=0.3 + 0.5 * spread[15] if kind == "prismatic" else 0.0,
                mass=1 + 3 * spread[15],
                com=tuple(0.1 * (x + 0.2) for x in spread[3:6]),
                inertia=tuple(map(tuple, inertia)),
            )
        )
    return Arm(joints, gravity=gravity, name=f"generic_type{type}_{n}")


def along_standard_frames(arm: Arm) -> Arm:
    """The arm with every link's inertia given in standard frames instead of its own ones: turned by the next alpha."""
    joints = []
    for joint, after in zip(arm.joints, (*arm.joints[1:], None), strict=True):
        c, s = (math.cos(after.alpha), math.sin(after.alpha)) if after else (1.0, 0.0)
        R = np.array([[1, 0, 0], [0, c, -s], [0, s, c]])
        inertia = R @ np.array(joint.inertia) @ R.T
        joints.append(replace(joint, parameters=None, inertia=tuple(map(tuple, inertia))))
    return replace(arm, joints=tuple(joints))
