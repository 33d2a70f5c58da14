"""Minimal linear combinations of trees, on fixed and free bases: Theorem 2 of lin1995 along every path from the base.

Which combinations of joint i are minimal depends on the joints between it and the base only: they are those that the
theorem finds for the chain of its path. Composite body i is link i with all that hangs on it, and its inertia constants
m^, k, U are sums over its children, each by the paper's one step (10), (12), (14); a chain is a tree with one path.

A free base accelerates as it likes: all ten constants of its composite body are minimal, seven of every rotational
joint and four of every translational one. The base counts as joint -1, so its combinations are m0, k0_x ... U0_33.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...algebra.vectors import (
    SYM_ZERO,
    ZERO,
    Scalar,
    Sym3,
    Turn,
    Vec3,
    X,
    Z,
    add,
    pair,
    square_skew,
    sub,
)
from ...robot.frames.chain import Chain, Limb, Root, Step, pose, tidy
from ...robot.frames.weighed import Weighed, cut
from ..papers.minimal_chain_lin1995 import linfang_values
from ..papers.minimal_parameters_lin1995 import (
    TOLERANCE,
    Constants,
    Decision,
    Structure,
    combinations,
    constants,
    layout,
    structure_of,
)

BASE = -1
NOTHING = Constants(0, ZERO, SYM_ZERO)
LEFT_OVER = 1e-14  # of the terms that make up an entry: what rounding leaves of a zero
Entry = tuple[int, str]  # joint, or BASE, and kind of a combination
BASE_KINDS = ("m", "k_x", "k_y", "k_z", "U_11", "U_12", "U_22", "U_13", "U_23", "U_33")


# ---- paths


@dataclass(frozen=True, slots=True, eq=False)
class TreePath:
    """The joints from the base to a tip, as a chain of their own, and what Theorem 2 says of it."""

    joints: tuple[int, ...]
    chain: Chain
    structure: Structure


@dataclass(frozen=True, slots=True, eq=False)
class TreeStructure:
    """What Theorem 2 asks of the geometry, path by path; joints that paths share are decided on the first of them."""

    revolute: tuple[bool, ...]
    floating: bool
    paths: tuple[TreePath, ...]  # one to every tip
    homes: tuple[tuple[int, int], ...]  # of each joint: its first path, and its place there
    decisions: tuple[Decision, ...]

    @property
    def n(self) -> int:
        return len(self.revolute)

    @property
    def exact(self) -> bool:
        """Whether every decision is exact, and with it whatever is computed from the combinations."""
        return all(d.exact for d in self.decisions)

    @property
    def serial(self) -> bool:
        """Whether the robot is a chain on a fixed base."""
        return not self.floating and len(self.paths) == 1

    def home(self, i: int) -> tuple[Structure, int]:
        """The structure that joint i is decided by, and its place there."""
        path, place = self.homes[i]
        return self.paths[path].structure, place

    def layout(self) -> list[Entry]:
        """The joint and the kind of every combination, in order: those of a free base first."""
        kinds: list[list[str]] = [[] for _ in range(self.n)]
        for k, path in enumerate(self.paths):
            for place, kind in layout(path.structure):
                i = path.joints[place]
                if self.homes[i][0] == k:
                    kinds[i].append(kind)
        base = [(BASE, kind) for kind in BASE_KINDS] * self.floating
        return base + [(i, kind) for i, of in enumerate(kinds) for kind in of]


def tree_structure(chain: Chain, tolerance: float = TOLERANCE) -> TreeStructure:
    """The decisions of Theorem 2 for a tree; tolerance and gravity as of `structure_of`."""
    inner = {chain.parent_of(i) for i in range(chain.n)}
    homes: dict[int, tuple[int, int]] = {}
    paths: list[TreePath] = []
    asked: dict[tuple[str, tuple[int, ...]], Decision] = {}
    for tip in (i for i in range(chain.n) if i not in inner):
        joints = (*reversed(tuple(chain.ancestors(tip))), tip)
        own = _path_chain(chain, joints)
        structure = structure_of(own, tolerance) if chain.root is None else _free(own)
        structure = _agreed(structure, joints, homes, paths)
        for d in structure.decisions:
            named = replace(d, joints=tuple(joints[k] for k in d.joints))
            asked.setdefault((named.question, named.joints), named)
        for place, i in enumerate(joints):
            homes.setdefault(i, (len(paths), place))
        paths.append(TreePath(joints, own, structure))
    kinds = tuple(body.revolute for body in chain.joints)
    order = tuple(homes[i] for i in range(chain.n))
    return TreeStructure(kinds, chain.root is not None, tuple(paths), order, tuple(asked.values()))


def _path_chain(chain: Chain, joints: Sequence[int]) -> Chain:
    """The joints of a path as a chain: where several hang on a fixed base, frame 0 is that of its first joint."""
    if chain.serial:
        return chain
    bodies = [chain.joints[i] for i in joints]
    gravity = chain.gravity
    if chain.root is None and [chain.parent_of(i) for i in range(chain.n)].count(BASE) > 1:
        step = pose(Chain((bodies[0],), ZERO), [0])[0]
        gravity = _tidied(step.rise(gravity))
        bodies[0] = replace(bodies[0], a=0, d=0, theta=0.0, ca=1, sa=0, cb=1, sb=0, cg=1, sg=0, b=0)
    return Chain(tuple(bodies), gravity)


def _tidied(g: Vec3) -> Vec3:
    """The vector without what rounding left of zeros, where it is made of plain numbers."""
    if not all(isinstance(x, (int, float)) for x in g):
        return g
    size = max(abs(x) for x in g)
    return Vec3(*(tidy(float(x), size) for x in g))


def _free(chain: Chain) -> Structure:
    """The structure of a path on a free base: every joint is beyond s."""
    never = (False,) * chain.n
    return Structure(tuple(b.revolute for b in chain.joints), -1, -1, never, never, (), ())


def _agreed(
    structure: Structure,
    joints: Sequence[int],
    homes: dict[int, tuple[int, int]],
    paths: Sequence[TreePath],
) -> Structure:
    """The structure with the answers that earlier paths gave for the joints they share: paths differ in length."""
    delta = list(structure.delta)
    for place, i in enumerate(joints):
        if i in homes:
            path, at = homes[i]
            delta[place] = paths[path].structure.delta[at]
    return replace(structure, delta=tuple(delta))


# ---- inertia constants of composite bodies


def composites(
    chain: Chain, steps: Sequence[Step], third: bool = True
) -> tuple[Constants, list[Constants]]:
    """m^, k and U of a free base with all that hangs on it, and of every composite body; third as in the paper."""
    root = chain.root
    base = NOTHING if root is None else Constants(root.m, root.h, root.J)
    bodies = [Constants(b.m, b.h, b.J) for b in chain.joints]
    for i in range(chain.n - 1, -1, -1):
        parent = chain.parent_of(i)
        if parent >= 0:
            bodies[parent] = joined(bodies[parent], chain.joints[i], bodies[i], steps[i], third)
        elif root is not None:
            base = joined(base, chain.joints[i], bodies[i], steps[i], third)
    return base, bodies


def joined(
    inner: Constants, joint: Limb, outer: Constants, step: Step, third: bool = True
) -> Constants:
    """A body with another one on a joint of it: (10), (12), (14)."""
    if step.branch is None:
        return _one_step(inner, joint, outer, step, third)
    plain, about, b = _without_branch(step)
    of = _one_step(NOTHING, joint, outer, plain, third)
    k, way = about.fall(of.k), Z * b
    U = about.fall_sym(of.U) - square_skew(way) * of.m + pair(way, k)
    return Constants(add(inner.m, of.m), inner.k + k + way * of.m, inner.U + U)


def _one_step(
    inner: Constants, joint: Limb, outer: Constants, step: Step, third: bool
) -> Constants:
    bodies = (
        replace(joint, m=inner.m, h=inner.k, J=inner.U),
        replace(joint, m=outer.m, h=outer.k, J=outer.U),
    )
    return constants(Chain(bodies, ZERO), (step, step), third)[0]


def _without_branch(step: Step) -> tuple[Step, Turn, Scalar]:
    """The step behind Rz(gamma) Tz(b), the turn by gamma, and b."""
    assert step.branch is not None
    turned = step.turns[0].axis == "z"
    about = step.turns[0] if turned else Turn("z", 1, 0)
    turns = step.turns[turned:]
    along = Z * step.d
    for turn in reversed(turns[:-1]):
        along = turn.fall(along)
    return Step(turns, step.a, step.d, X * step.a + along), about, step.branch.z


# ---- the combinations


def tree_combinations(
    tree: TreeStructure, base: Constants, fixed: Sequence[Constants]
) -> list[Scalar]:
    """The minimal linear combinations, in the order of the tree's layout."""
    values: dict[Entry, Scalar] = {}
    for path in tree.paths:
        own = combinations(path.structure, [fixed[i] for i in path.joints])
        for (place, kind), value in zip(layout(path.structure), own, strict=True):
            values.setdefault((path.joints[place], kind), value)
    ten = (base.m, *base.k, *base.U)
    values |= {(BASE, kind): value for kind, value in zip(BASE_KINDS, ten, strict=True)}
    return [values[entry] for entry in tree.layout()]


def linfang_change(chain: Chain, tree: TreeStructure) -> np.ndarray:
    """What makes values of linfang1999 of those of lin1995, a matrix.

    What a joint hands inwards depends on the way to the joint that is given it: path by path, so that joints beyond a
    branch add up. A base, which no path of the papers has, shows it on links that have the values.
    """
    rows = {entry: k for k, entry in enumerate(tree.layout())}
    change = np.eye(len(rows))
    for path in tree.paths:
        own = [rows[path.joints[place], kind] for place, kind in layout(path.structure)]
        unit = list(np.eye(len(own)))
        change[np.ix_(own, own)] = linfang_values(path.chain, path.structure, unit)
    if tree.floating:
        steps = pose(chain, [0] * chain.n)
        values = [Weighed(row, row) for row in np.eye(len(rows))]
        base, _ = composites(links_of(chain, tree, values, steps), steps, third=False)
        for k, entry in enumerate((base.m, *base.k, *base.U)):
            change[k] = cut(entry.value, entry.weight, LEFT_OVER)
    return change


def composites_of(
    tree: TreeStructure, values: Sequence[Scalar]
) -> tuple[Constants, list[Constants]]:
    """Composite bodies, of a free base first, that have these values of lin1995; what is not minimal is 0."""
    table: list[dict[str, Scalar]] = [{} for _ in range(tree.n + 1)]  # the base's is the last
    for (i, kind), value in zip(tree.layout(), values, strict=True):
        table[i][kind] = value
    base = [table[BASE].get(kind, 0) for kind in BASE_KINDS]
    bodies = [_composite(*tree.home(i), table[i]) for i in range(tree.n)]
    return Constants(base[0], Vec3(*base[1:4]), Sym3(*base[4:])), bodies


def _composite(structure: Structure, place: int, of: dict[str, Scalar]) -> Constants:
    def get(kind: str) -> Scalar:
        return of.get(kind, 0)

    k = Vec3(get("k_x"), get("k_y"), get("k_z"))
    if "kappa1" in of:
        u = structure.axis(place)
        size = u.x * u.x + u.y * u.y
        across = Vec3(-u.y / size, u.x / size, 0)  # (86)
        upwards = Vec3(-u.z * u.x / size, -u.z * u.y / size, 1)  # (87)
        k = across * of["kappa1"] + upwards * of["kappa2"]
    U = Sym3(get("U_11-22"), get("U_12"), 0, get("U_13"), get("U_23"), get("U_33"))
    return Constants(get("m"), k, U)


def links_of(
    chain: Chain, tree: TreeStructure, values: Sequence[Scalar], steps: Sequence[Step]
) -> Chain:
    """The chain with links whose composite bodies have these values."""
    base, bodies = composites_of(tree, values)
    links = list(bodies)
    for i in range(chain.n):
        handed = joined(NOTHING, chain.joints[i], bodies[i], steps[i])
        parent = chain.parent_of(i)
        if parent >= 0:
            links[parent] = _less(links[parent], handed)
        else:
            base = _less(base, handed)
    joints = tuple(
        replace(b, m=link.m, h=link.k, J=link.U)
        for b, link in zip(chain.joints, links, strict=True)
    )
    root = None if chain.root is None else Root(base.m, base.k, base.U)
    return replace(chain, joints=joints, root=root)


def _less(of: Constants, other: Constants) -> Constants:
    return Constants(sub(of.m, other.m), of.k - other.k, of.U - other.U)
