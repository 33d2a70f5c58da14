"""The rows of Theorem 2 over the natural parameters, and the same parameters in the conventions of three papers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..algebra.vectors import Sym3, Vec3
from ..dynamics.own.minimal_tree import (
    TreeStructure,
    composites,
    linfang_change,
    tree_combinations,
)
from ..robot.arm import PARAMETER_NAMES, Arm
from ..robot.frames.chain import Chain, Root, pose
from ..robot.frames.weighed import Weighed
from .redundancy import Merging
from .units import Even, length_of, product, units

CONVENTIONS = ("lin1995", "linfang1999", "gautier1990")
# the order in which Gautier and Khalil keep a link's parameters; the later ones are grouped into the earlier
_KEPT = {
    True: ("Ixx", "Ixy", "Ixz", "Iyz", "Izz", "mcx", "mcy", "mcz", "Iyy", "m"),
    False: ("m", "mcx", "mcy", "mcz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz"),
}


def natural_values(arm: Arm, armature: bool) -> np.ndarray:
    """The arm's natural parameters in one row: ten of a free base, ten a joint or, with its armature, eleven."""
    table = arm.parameters
    if not armature:
        return table.ravel()
    base = len(table) - arm.n
    wide = np.column_stack([table[base:], [j.armature for j in arm.joints]])
    return np.concatenate([table[:base].ravel(), wide.ravel()])


def theorem_rows(chain: Chain, tree: TreeStructure) -> tuple[np.ndarray, np.ndarray]:
    """(all, 10 links): Theorem 2 on unit vectors instead of numbers, and the weights of the entries."""
    width = 10 * (chain.n + tree.floating)
    unit = iter([Weighed(row, row) for row in np.eye(width)])

    def link() -> tuple[Weighed, Vec3, Sym3]:
        m, x, y, z, *J = (next(unit) for _ in range(10))
        return m, Vec3(x, y, z), Sym3(*J)

    root = Root(*link()) if tree.floating else None
    bodies = []
    for body in chain.joints:
        m, h, J = link()
        bodies.append(replace(body, m=m, h=h, J=J))
    whole = replace(chain, joints=tuple(bodies), root=root)
    forms = composites(whole, pose(chain, [0] * chain.n))
    rows = [Weighed(np.zeros(width), 0) + row for row in tree_combinations(tree, *forms)]
    return np.array([row.value for row in rows]), np.array([row.weight for row in rows])


def widened(rows: np.ndarray, tree: TreeStructure, armature: bool) -> np.ndarray:
    """The rows over 11 columns a joint, and one row for each armature."""
    if not armature:
        return rows
    n, count = tree.n, len(rows)
    base = 10 * tree.floating
    wide = np.zeros((count + n, n, 11))
    wide[:count, :, :10] = rows[:, base:].reshape(count, n, 10)
    wide[count + np.arange(n), np.arange(n), 10] = 1
    first = np.zeros((count + n, base))
    first[:count] = rows[:, :base]
    return np.column_stack([first, wide.reshape(len(wide), 11 * n)])


def to_linfang(
    chain: Chain, tree: TreeStructure, armature: bool, merged: Merging
) -> tuple[np.ndarray, Merging]:
    """(p, p), what makes values of linfang1999 of those of lin1995, and what is merged of the former."""
    size = len(tree.layout())
    change = np.eye(size + chain.n * armature)
    change[:size, :size] = linfang_change(chain, tree)
    every = units(tree, armature)
    kept = every[merged.kept]
    length = length_of(chain)
    taken = product(merged.matrix, Even.of(length, every, every).inverse(change))
    own = Even.of(length, kept, kept).inverse(taken[:, merged.kept])
    return own, replace(merged, matrix=product(own, taken))


def preference(arm: Arm, armature: bool) -> list[int]:
    """The natural parameters in the order in which gautier1990 keeps them, from the base outwards; armatures last."""
    base, width = 10 if arm.floating else 0, 11 if armature else 10
    order = [
        base + width * i + PARAMETER_NAMES.index(p)
        for i, joint in enumerate(arm.joints)
        for p in _KEPT[joint.revolute]
    ]
    return [*range(base), *order, *[base + width * i + 10 for i in range(arm.n)] * armature]
