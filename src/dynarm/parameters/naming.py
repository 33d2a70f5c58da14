"""Names of minimal and natural parameters, and the decisions behind them in words."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..dynamics.own.minimal_tree import TreeStructure
from ..dynamics.papers.minimal_parameters_lin1995 import WRITTEN, Decision, name_of
from ..robot.arm import PARAMETER_NAMES, Arm
from .redundancy import DEPENDENT, Merging
from .spelling import merged_text


def natural_names(arm: Arm, armature: bool) -> tuple[str, ...]:
    """m0 ... Izz0 of a free base, m1 ... Izz1 of the first joint's link, with its Ia1 behind them."""
    kinds = (*PARAMETER_NAMES, "Ia") if armature else PARAMETER_NAMES
    base = [f"{p}0" for p in PARAMETER_NAMES] if arm.floating else []
    return (*base, *(f"{p}{i + 1}" for i in range(arm.n) for p in kinds))


def all_names(tree: TreeStructure, armature: bool) -> list[str]:
    """The combinations of Theorem 2, and the armatures behind them."""
    names = [name_of(i, kind) for i, kind in tree.layout()]
    return names + [f"Ia{i + 1}" for i in range(tree.n)] * armature


def merged_names(names: Sequence[str], merged: Merging) -> list[str]:
    """What is kept, with the names of what was merged into it."""
    pairs = zip(merged.matrix, merged.kept, strict=True)
    return [merged_text(row, names, k, "") for row, k in pairs]


def regrouped_name(row: np.ndarray, own: int, natural: Sequence[str]) -> str:
    """A natural parameter's name, with R where others are grouped into it."""
    return natural[own] + ("R" if np.count_nonzero(row) > 1 else "")


def said(d: Decision, arm: Arm) -> str:
    """A decision in words, joints by name."""
    joints = " and ".join(f"'{arm.joints[i].name}'" for i in d.joints)
    length = d.question == "no offset"
    what = {
        "parallel": f"axes of joints {joints}",
        "no offset": f"axes of joints {joints}",
        "along gravity": f"axis of joint {joints}",
    }[d.question]
    taken = {
        ("parallel", True): "taken as parallel",
        ("parallel", False): "not parallel",
        ("no offset", True): "taken as one line",
        ("no offset", False): "apart",
        ("along gravity", True): "taken as along gravity",
        ("along gravity", False): "not along gravity",
    }[d.question, d.yes]
    unit = "of the robot's size apart" if length else "rad off"
    measured = d.measured if length else math.asin(min(1.0, d.measured))
    return f"{what}: {measured:.3g} {unit}, {taken} (tolerance {d.limit:g})"


def all_doubts(arm: Arm, tree: TreeStructure, armature: bool, merged: Merging) -> tuple[str, ...]:
    """What was decided by the tolerance, not by the geometry."""
    doubts = [said(d, arm) for d in tree.decisions if d.doubtful]
    names = all_names(tree, armature)
    for k, left in merged.left.items():
        if left > WRITTEN:
            doubts.append(
                f"{names[k]}: {left:.3g} of its column in the regressor is no combination of others, "
                f"taken as none (tolerance {DEPENDENT:g})"
            )
    return tuple(doubts)
