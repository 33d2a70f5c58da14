"""Gathered links from minimal parameters: what makes a recursion on gathered links (`gathered_links`) run on them.

The values of lin1995 are constants of composite bodies. Whatever in these is no minimal parameter may have any value;
with 0 for it the composite bodies are known, a link is the difference between its composite body and those of its
children, and such links are gathered as any others are. Joints that the base shields (before s in the words of
Theorem 2) show less of their links than a gathered one has: there the rest is left out, or handed on inwards. All of it
is linear, with coefficients of geometry alone: a constant matrix.

    rotational joint       h_x h_y Q_xx Q_xy Q_yy Q_xz Q_yz      before s: Q_xx = J_zz and, where they show, h_x h_y
    translational joint    m h_x h_y h_z                         before s: m and, where it shows, h across the axis
    free base, first       m h_x h_y h_z Q_xx Q_xy Q_yy Q_xz Q_yz Q_zz
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...algebra.vectors import ZERO, Scalar, Sym3, Vec3, X, add, mul, total
from ...robot.frames.chain import Chain, Step, pose
from ...robot.frames.weighed import Weighed, cut
from ..papers.minimal_parameters_lin1995 import Structure
from .gathered_links import Mass, both, gathered
from .minimal_tree import LEFT_OVER, TreeStructure, links_of


def load_matrix(chain: Chain, tree: TreeStructure) -> np.ndarray:
    """(entries of the gathered links, combinations): the entries from values of lin1995 in the order of the layout."""
    count = len(tree.layout())
    values = [Weighed(row, row) for row in np.eye(count)]
    steps = pose(chain, [0] * chain.n)
    masses, base = gathered(links_of(chain, tree, values, steps), steps)
    masses = _shown(chain, tree, masses, steps)
    entries = [x + Weighed(np.zeros(count), 0) for x in _entries(tree, masses, base)]
    size = np.array([np.broadcast_to(x.weight, count) for x in entries]).reshape(-1, count)
    return cut(np.array([x.value for x in entries]).reshape(-1, count), size, LEFT_OVER)


def masses_of(tree: TreeStructure, entries: Sequence[Scalar]) -> tuple[list[Mass], Mass]:
    """The gathered links, and that of a free base, from their entries."""
    row = iter(entries)
    base = Mass()
    if tree.floating:
        m, x, y, z, *Q = (next(row) for _ in range(10))
        base = Mass(m, Vec3(x, y, z), Sym3(*Q))
    masses = []
    for revolute in tree.revolute:
        if revolute:
            x, y, xx, xy, yy, xz, yz = (next(row) for _ in range(7))
            masses.append(Mass(0, Vec3(x, y, 0), Sym3(xx, xy, yy, xz, yz, 0)))
        else:
            m, x, y, z = (next(row) for _ in range(4))
            masses.append(Mass(m, Vec3(x, y, z)))
    return masses, base


def combined(matrix: np.ndarray, values: Sequence[Scalar]) -> list[Scalar]:
    """matrix @ values over abstract scalars, where zeros cost nothing."""
    return [
        total(*(mul(float(row[k]), values[k]) for k in np.flatnonzero(row).tolist()))
        for row in matrix
    ]


def _entries(tree: TreeStructure, masses: Sequence[Mass], base: Mass) -> list[Scalar]:
    rows = [base.m, *base.h, *base.Q] if tree.floating else []
    for revolute, of in zip(tree.revolute, masses, strict=True):
        rows += [of.h.x, of.h.y, *list(of.Q)[:5]] if revolute else [of.m, *of.h]
    return rows


# ---- joints before s


def _shown(
    chain: Chain, tree: TreeStructure, masses: Sequence[Mass], steps: Sequence[Step]
) -> list[Mass]:
    """The gathered links, of joints before s only what shows."""
    given = list(masses)
    for i in range(chain.n - 1, -1, -1):
        structure, place = tree.home(i)
        if place >= structure.s:
            continue
        if chain.joints[i].revolute:
            given[i] = _turning(given[i], structure.delta[place])
            continue
        given[i], rest = _sliding(given[i], structure, place)
        parent = chain.parent_of(i)
        if parent >= 0:
            given[parent] = given[parent] + _moved(rest, steps[i])
    return given


def _turning(of: Mass, delta: bool) -> Mass:
    """A rotational joint about a fixed direction: its moment of inertia about it, and h where gravity or inner joints
    feel it.
    """
    h = Vec3(of.h.x, of.h.y, 0) if delta else ZERO
    return Mass(0, h, Sym3(add(of.Q.xx, of.Q.yy), 0, 0, 0, 0, 0))


def _sliding(of: Mass, structure: Structure, place: int) -> tuple[Mass, Mass]:
    """A translational joint in a fixed plane of motion, and what the joint within carries as well.

    h is felt as the joint moves only if it is not along the axis u that all of it turns about.
    """
    if place < structure.r:
        return Mass(of.m), Mass()
    if not structure.sigma[place]:
        return Mass(of.m), Mass(0, of.h, of.Q)
    u = structure.axis(place)
    return Mass(of.m, of.h - u * u.dot(of.h)), Mass(Q=of.Q)


def _moved(of: Mass, step: Step) -> Mass:
    """Massless moments of a translational joint about its parent's origin, at d = 0."""
    s = X * step.a if step.branch is None else step.branch
    h = step.fall(of.h)
    return Mass(0, h, step.fall_sym(of.Q) + both(s, h))
