"""Arms on which lin1995 states costs by structure: twists of 90 degrees, and one joint more of a group of Table II."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache

import numpy as np

from dynarm import Arm, Joint
from dynarm.robot.frames.generic import generic_arm
from oracles.paper_counts import golden

TILTED = (3.0, 2.0, -9.0)

GROUPS = {  # words of joints with and without one more of the group
    "i < r": ("tttrrr", "ttrrr"),
    "r < i < s R": ("RRRrrr", "RRrrr"),
    "r < i < s T": ("Rtrrr", "Rrrr"),
    "i >= s R": ("Rrrrr", "Rrrr"),
    "i >= s T": ("Rrrtrr", "Rrrrr"),
}


@cache
def industrial_arm(n: int) -> Arm:
    """The generic arm of n rotational joints with twists of 90 degrees."""
    arm = generic_arm(n)
    joints = [replace(j, alpha=math.pi / 2) if i else j for i, j in enumerate(arm.joints)]
    return replace(arm, joints=tuple(joints))


@cache
def group_arm(word: str) -> Arm:
    """A generic arm by groups: t slides, oblique; R turns parallel to the joint before; r turns, oblique."""
    joints = []
    for i, letter in enumerate(word):
        shift = 0.07 * i
        sizes = {"a": 0.21 + shift, "d": 0.13 + shift, "theta": 0.4 + shift, "alpha": 0.6 + shift}
        if letter != "t":
            sizes["theta"] = 0.0
        if letter == "R":
            sizes["alpha"] = 0.0
        if i == 0:
            sizes = dict.fromkeys(sizes, 0.0)
        A = np.array([[0.3, 0.1 + shift, 0.2], [0.2, 0.4, 0.1], [0.1 + shift, 0.2, 0.5]])
        kind = "prismatic" if letter == "t" else "revolute"
        joints.append(
            Joint(kind, **sizes, mass=1.3 + shift, com=(0.1 + shift, 0.07, -0.09), inertia=A @ A.T)
        )
    return Arm(joints, gravity=TILTED)


def table_2(corrected: bool = True) -> dict[str, np.ndarray]:
    """The columns of Table II: multiplications and additions of one joint of each group, with what they leave out."""
    table = golden("lin1995")["table2"]
    found = {
        name: sum(np.array(row[k]) for row in table["rows"].values())
        for k, name in enumerate(table["columns"])
    }
    if not corrected:
        return found
    more = {k: np.array(v) for k, v in table["corrections"].items()}
    found["first"] = found["first"] + more["zeta_first"] + more["to_s_R"]
    found["i < r"] = found["i < r"] + more["mu_before_r"]
    found["r < i < s T"] = found["r < i < s T"] + more["slide_33"] + more["to_s_T"] - more["to_s_R"]
    found["i >= s T"] = found["i >= s T"] + more["slide"]
    found["last"] = found["i >= s R"] + more["last_mu"] + more["last_zeta"]
    return found
