"""Seeded random robots for everybody's tests.

`random_arm(rng, n, ...)` makes an `Arm` from modified Denavit-Hartenberg numbers, `random_tree(rng, n, ...)` one that
branches, whose joints may follow each other and whose base may float, `random_urdf(rng, n, ...)` the text of a URDF
whose chain has arbitrary axes and frames. `FAMILIES` names the structures that have broken formulas before;
`sample_arms(seed, count)` runs through them all, `sample_trees(seed, count)` through all kinds of trees. The same seed
gives the same robots on every machine.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import strategies as st

from dynarm import Arm, Body, Joint, Mimic, Tool

Rng = np.random.Generator
QUARTERS = (0.0, math.pi / 2, -math.pi / 2, math.pi)


def random_rotation(rng: Rng) -> np.ndarray:
    """A rotation matrix, uniform over all of them."""
    Q, R = np.linalg.qr(rng.normal(size=(3, 3)))
    Q = Q * np.sign(np.diag(R))
    return Q if np.linalg.det(Q) > 0 else -Q


def random_pose(rng: Rng, reach: float = 0.5) -> np.ndarray:
    """A 4x4 pose with its origin within reach."""
    T = np.eye(4)
    T[:3, :3] = random_rotation(rng)
    T[:3, 3] = rng.uniform(-reach, reach, 3)
    return T


def random_body(rng: Rng, mass: float | None = None) -> tuple[float, np.ndarray, np.ndarray]:
    """Mass, centre of mass and inertia about it, of a body that can exist."""
    mass = float(rng.uniform(0.5, 10)) if mass is None else mass
    com = rng.uniform(-0.2, 0.2, 3)
    A = rng.normal(size=(3, 3)) * 0.1
    spread = A @ A.T  # second moments of the mass distribution
    return mass, com, mass * (np.trace(spread) * np.eye(3) - spread)


def _kinds(rng: Rng, n: int, kinds: str | Sequence[str]) -> list[str]:
    """Joint kinds from 'mixed', 'R', 'P', or a word such as 'RRPR'."""
    if kinds == "mixed":
        return [("revolute", "revolute", "prismatic")[k] for k in rng.integers(0, 3, n)]
    word = [str(k)[0].upper() for k in kinds]
    word = word * n if len(word) == 1 else word
    assert len(word) == n, f"{kinds} does not describe {n} joints"
    return ["revolute" if k == "R" else "prismatic" for k in word]


def _numbers(
    rng: Rng, n: int, wanted: Any, special: Sequence[float], low: float, high: float
) -> list[float]:
    """n numbers: 'generic', 'structured' (only special ones), 'mixed' (some of each), 'zero', or those given."""
    if not isinstance(wanted, str):
        values = [float(x) for x in wanted]
        assert len(values) == n
        return values
    picked = [float(special[k]) for k in rng.integers(0, len(special), n)]
    free = rng.uniform(low, high, n)
    take = {
        "generic": np.ones(n, bool),
        "structured": np.zeros(n, bool),
        "mixed": rng.random(n) < 0.5,
    }
    if wanted == "zero":
        return [0.0] * n
    return [float(f) if t else p for f, t, p in zip(free, take[wanted], picked, strict=True)]


def random_gravity(rng: Rng, wanted: Any = "z") -> tuple[float, ...]:
    """Gravity: 'z' (down), 'generic' (tilted), 'none', or the vector given."""
    if not isinstance(wanted, str):
        return tuple(float(x) for x in wanted)
    if wanted == "generic":
        return tuple((9.81 * random_rotation(rng)[:, 0]).tolist())
    return {"z": (0.0, 0.0, -9.81), "none": (0.0, 0.0, 0.0)}[wanted]


def random_arm(
    rng: Rng,
    n: int,
    kinds: str | Sequence[str] = "mixed",
    twists: Any = "generic",
    offsets: Any = "generic",
    gravity: Any = "z",
    *,
    base: bool = False,
    tool: bool = True,
    massless: Sequence[int] = (),
    name: str = "random",
) -> Arm:
    """An arm of n joints with physical links.

    kinds    'mixed', 'R', 'P' or a word such as 'RRPR'
    twists   alpha: 'generic', 'structured' (0, +-90, 180 degrees), 'mixed', 'zero', or n numbers
    offsets  a and d, and theta: 'generic', 'structured' (0, for theta also quarter turns), 'mixed', 'zero'
    gravity  'z', 'generic', 'none', or a vector in the user's base link
    base     a random pose of frame 0 in the user's base link; tool likewise; massless: indices of links without mass
    """
    kind = _kinds(rng, n, kinds)
    alpha = _numbers(rng, n, twists, QUARTERS, -math.pi, math.pi)
    a = _numbers(rng, n, offsets, (0.0,), -0.6, 0.6)
    d = _numbers(rng, n, offsets, (0.0,), -0.6, 0.6)
    theta = _numbers(rng, n, offsets, QUARTERS, -math.pi, math.pi)
    joints = []
    for i in range(n):
        mass, com, inertia = random_body(rng)
        if i in massless:
            mass, com, inertia = 0.0, np.zeros(3), np.zeros((3, 3))
        joints.append(
            Joint(kind[i], a[i], alpha[i], d[i], theta[i], mass=mass, com=com, inertia=inertia)  # type: ignore[arg-type]
        )
    return Arm(
        joints,  # type: ignore[arg-type]
        gravity=random_gravity(rng, gravity),  # type: ignore[arg-type]
        name=name,
        base=random_pose(rng) if base else None,
        tool=random_pose(rng, 0.2) if tool else None,
    )


def _parallel_start(sign: float) -> Callable[[Rng, int], Arm]:
    """Arms whose first axes are parallel (antiparallel: pi), then generic."""

    def make(rng: Rng, n: int) -> Arm:
        k = int(rng.integers(1, n)) if n > 1 else 1
        twists = [0.0] + [0.0 if sign > 0 else math.pi] * (k - 1)
        twists += rng.uniform(-math.pi, math.pi, n - k).tolist()
        return random_arm(
            rng, n, "mixed", twists, "generic", "z" if rng.random() < 0.5 else "generic"
        )

    return make


FAMILIES: dict[str, Callable[[Rng, int], Arm]] = {
    "generic": lambda rng, n: random_arm(rng, n, "R", "generic", "generic", "generic", base=True),
    "mixed": lambda rng, n: random_arm(rng, n, "mixed", "generic", "generic", "generic"),
    "structured": lambda rng, n: random_arm(rng, n, "mixed", "structured", "mixed", "z"),
    "industrial": lambda rng, n: random_arm(rng, n, "R", "structured", "structured", "z"),
    "half_structured": lambda rng, n: random_arm(
        rng, n, "mixed", "mixed", "mixed", "generic", base=True
    ),
    "leading_prismatic": lambda rng, n: random_arm(
        rng,
        n,
        "P" * (k := int(rng.integers(1, n + 1))) + "R" * (n - k),
        "mixed",
        "mixed",
        "generic",
    ),
    "all_prismatic": lambda rng, n: random_arm(rng, n, "P", "mixed", "mixed", "generic"),
    "planar": lambda rng, n: random_arm(rng, n, "R", "zero", "mixed", "z"),
    "planar_upright": lambda rng, n: random_arm(rng, n, "mixed", "zero", "mixed", (9.81, 0.0, 0.0)),
    "parallel_first": _parallel_start(1.0),
    "antiparallel_first": _parallel_start(-1.0),
    "massless_ends": lambda rng, n: random_arm(
        rng, n, "mixed", "mixed", "mixed", "generic", massless=(0,) if n > 1 else ()
    ),
}


def sample_arms(seed: int, count: int, sizes: Sequence[int] = tuple(range(1, 10))) -> Iterator[Arm]:
    """count arms through all families and sizes, each named after its family, number of joints and seed."""
    names = list(FAMILIES)
    for k in range(count):
        rng = np.random.default_rng([seed, k])
        n = int(sizes[int(rng.integers(len(sizes)))])
        family = names[k % len(names)]
        yield replace(FAMILIES[family](rng, n), name=f"{family}_{n}_{seed}_{k}")


def random_states(rng: Rng, n: int, samples: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """q, qd, qdd, each (samples, n)."""
    return tuple(rng.uniform(-s, s, (samples, n)) for s in (math.pi, 2.0, 5.0))  # type: ignore[return-value]


def whole_state(rng: Rng, arm: Arm) -> dict[str, np.ndarray]:
    """One state of a whole robot by name: q (the quaternion of a free base is a unit), qd, qdd, tau, wrenches."""
    q = rng.uniform(-math.pi, math.pi, arm.nq)
    if arm.floating:
        q[3:7] /= np.linalg.norm(q[3:7])
    qd, qdd, tau = (rng.uniform(-s, s, arm.nv) for s in (2.0, 5.0, 20.0))
    wrench = rng.normal(size=(len(arm.all_tools), 6)) * 10
    return {"q": q, "qd": qd, "qdd": qdd, "tau": tau, "wrench": wrench}


def arm_strategy(max_joints: int = 6) -> st.SearchStrategy[Arm]:
    """Hypothesis: an arm of any family."""

    def make(seed: int, n: int, family: str) -> Arm:
        return FAMILIES[family](np.random.default_rng(seed), n)

    return st.builds(
        make,
        st.integers(0, 2**32 - 1),
        st.integers(1, max_joints),
        st.sampled_from(sorted(FAMILIES)),
    )


# ---- trees


def random_parents(rng: Rng, n: int, branching: float = 0.5) -> list[int]:
    """The joint before, or with the chance of `branching` any of the four before it or the base."""
    back = [int(rng.integers(max(-1, i - 5), i)) for i in range(n)]
    others = [-1 if k == i - 5 else k for i, k in enumerate(back)]
    return [k if rng.random() < branching else i - 1 for i, k in enumerate(others)]


def _mimics(rng: Rng, n: int, count: int) -> dict[int, Mimic]:
    """`count` joints (one at least stays free) that follow others, by round multipliers or any."""
    order = rng.permutation(n)
    followers = order[: min(count, n - 1)]
    masters = order[len(followers) :]
    return {
        int(i): Mimic(
            int(rng.choice(masters)),
            float(rng.choice([1.0, -1.0, 0.5, 2.0, rng.uniform(-2, 2)])),
            float(rng.choice([0.0, rng.uniform(-1, 1)])),
        )
        for i in followers
    }


def _placed_joint(rng: Rng, kind: str, twists: str, offsets: str, near: float) -> dict[str, Any]:
    """The numbers of one step, without a branch; with the chance of `near` a nearly parallel axis."""
    (alpha,) = _numbers(rng, 1, twists, QUARTERS, -math.pi, math.pi)
    a, d = (_numbers(rng, 1, offsets, (0.0,), -0.6, 0.6)[0] for _ in range(2))
    (theta,) = _numbers(rng, 1, offsets, QUARTERS, -math.pi, math.pi)
    numbers = {"kind": kind, "a": a, "alpha": alpha, "d": d, "theta": theta}
    if rng.random() < near:
        tilt = rng.uniform(0.01, 0.05, 2) * rng.choice([-1, 1], 2)
        numbers |= {"alpha": float(tilt[0]), "beta": float(tilt[1])}
    return numbers


def random_tree(
    rng: Rng,
    n: int,
    kinds: str | Sequence[str] = "mixed",
    twists: str = "mixed",
    offsets: str = "mixed",
    gravity: Any = "z",
    *,
    branching: float = 0.4,
    near: float = 0.0,
    mimic: int = 0,
    floating: bool = False,
    massless: float = 0.0,
    armature: bool = False,
    base: bool = False,
    tools: int = 0,
    name: str = "tree",
) -> Arm:
    """A tree of n joints with physical links.

    kinds, twists, offsets, gravity, base    as of `random_arm`
    branching   chance that a joint hangs on another one than the joint before it (0: a chain)
    near        chance of an axis that is nearly parallel to its parent's, by Hayati's rotation
    mimic       number of joints that follow others
    floating    whether the base moves freely
    massless    chance of a link without mass, that of the base excepted
    armature    whether joints have reflected inertias
    tools       number of tools, on any links
    """
    kind = _kinds(rng, n, kinds)
    parents = random_parents(rng, n, branching)
    followers = _mimics(rng, n, mimic)
    joints = []
    for i in range(n):
        mass, com, inertia = random_body(rng)
        if rng.random() < massless:
            mass, com, inertia = 0.0, np.zeros(3), np.zeros((3, 3))
        place = _placed_joint(rng, kind[i], twists, offsets, near)
        if parents[i] != i - 1 or (parents.count(parents[i]) > 1 and rng.random() < 0.5):
            place["gamma"] = _numbers(rng, 1, offsets, QUARTERS, -math.pi, math.pi)[0]
            place["b"] = _numbers(rng, 1, offsets, (0.0,), -0.6, 0.6)[0]
        inertial = {"mass": mass, "com": com, "inertia": inertia}
        own = float(rng.uniform(0.01, 0.5)) if armature else 0.0
        joints.append(
            Joint(**place, **inertial, armature=own, parent=parents[i], mimic=followers.get(i))
        )
    return Arm(
        joints,
        gravity=random_gravity(rng, gravity),
        name=name,
        base=random_pose(rng) if base and not floating else None,
        floating=Body(*random_body(rng)) if floating else None,
        tools=[
            Tool(f"tool{k + 1}", int(rng.integers(-1, n)), random_pose(rng, 0.2))
            for k in range(tools)
        ]
        or None,
    )


TREES = ("fixed", "floating", "mimic", "floating_mimic")
TREE_GRAVITY = ("along", "across", "generic", "none")


def sample_trees(
    seed: int,
    count: int,
    sizes: Sequence[int] = (1, 2, 3, 4, 5, 6, 7, 8),
    first: int = 0,
    massless: float = 0.1,
) -> Iterator[Arm]:
    """count trees, from number `first` on: fixed, floating, with joints that follow others; gravity along the first
    axis, across it, tilted, none; axes structured, mixed, generic. Each is named after what is special about it.
    """
    for k in range(first, first + count):
        rng = np.random.default_rng([seed, k])
        family, gravity = TREES[k % 4], TREE_GRAVITY[k // 4 % 4]
        twists = ("structured", "mixed", "generic")[k // 16 % 3]
        offsets = ("mixed", "structured", "generic")[k // 48 % 3]
        n = max(int(rng.choice(sizes)), 2 if "mimic" in family else 1)
        arm = random_tree(
            rng,
            n,
            "R" if rng.random() < 0.2 else "mixed",
            twists,
            offsets,
            "generic" if gravity in ("along", "across") else gravity,
            branching=float(rng.choice([0.2, 0.5, 0.9])),
            near=0.1 if twists == "mixed" else 0.0,
            mimic=int(rng.integers(1, 3)) if "mimic" in family else 0,
            floating="floating" in family,
            massless=massless,
            armature=bool(rng.random() < 0.5),
            base=bool(rng.random() < 0.5),
            tools=int(rng.integers(0, 3)),
            name=f"{family}_{gravity}_{twists}_{offsets}_{n}_{seed}_{k}",
        )
        yield _pulled(arm, gravity)


def _pulled(arm: Arm, gravity: str) -> Arm:
    """The tree with gravity along or across the first rotational axis of its first path."""
    if gravity not in ("along", "across"):
        return arm
    T = arm.base_pose
    for joint in arm.joints:
        if joint.parent is not None and joint is not arm.joints[0]:
            break
        T = T @ joint.displacement()
        if joint.revolute:
            break
    u, old = T[:3, 2], np.array(arm.gravity)
    wanted = 9.81 * u if gravity == "along" else np.cross(u, old)
    return replace(arm, gravity=tuple(wanted.tolist()))


# ---- URDF text


def _rpy(R: np.ndarray) -> tuple[float, float, float]:
    """Roll, pitch, yaw of a rotation matrix."""
    return (
        math.atan2(R[2, 1], R[2, 2]),
        math.atan2(-R[2, 0], math.hypot(R[2, 1], R[2, 2])),
        math.atan2(R[1, 0], R[0, 0]),
    )


def _origin(rng: Rng, style: str, reach: float) -> str:
    """An <origin>: free numbers, industrial ones (quarter turns, few offsets), or quarter turns written as 1.5708."""
    if style == "generic":
        xyz, rpy = rng.uniform(-reach, reach, 3), _rpy(random_rotation(rng))
    else:
        xyz = np.where(rng.random(3) < 0.5, 0.0, np.round(rng.uniform(-reach, reach, 3), 3))
        turns = (
            rng.integers(-1, 3, 3)
            if style != "parallel"
            else np.array([2 * rng.integers(0, 2), 0, 0])
        )
        quarter = 1.5708 if style == "rounded" else math.pi / 2
        rpy = tuple(float(k) * quarter for k in turns)
    numbers = [" ".join(repr(float(x)) for x in triple) for triple in (xyz, rpy)]
    return f'<origin xyz="{numbers[0]}" rpy="{numbers[1]}"/>'


def _inertial(rng: Rng) -> str:
    mass, _, inertia = random_body(rng)
    I = {
        f"i{'xyz'[r]}{'xyz'[c]}": repr(float(inertia[r, c])) for r in range(3) for c in range(r, 3)
    }
    entries = " ".join(f'{key}="{value}"' for key, value in I.items())
    return f'<inertial>{_origin(rng, "generic", 0.2)}<mass value="{mass!r}"/><inertia {entries}/></inertial>'


def random_urdf(
    rng: Rng,
    n: int,
    kinds: str | Sequence[str] = "mixed",
    style: str = "generic",
    *,
    fixed: float = 0.3,
    branches: float = 0.0,
    name: str = "random",
) -> str:
    """The text of a URDF whose n movable joints form one chain, links link0 ... , joints joint1 ... jointn.

    style      of axes and origins: 'generic', 'industrial', 'parallel' (all axes parallel or antiparallel), 'rounded'
               (industrial, with quarter turns written as 1.5708: nearly parallel axes)
    fixed      chance of a fixed joint with a massive link before each movable one
    branches   chance of a side branch with a movable joint on each link; then load with tip=f'link{n}'
    """
    kind = _kinds(rng, n, kinds)
    lines = [f'<robot name="{name}">', '<link name="link0"/>']
    parent = "link0"
    for i in range(1, n + 1):
        if rng.random() < fixed:
            lines += [
                f'<link name="flange{i}">{_inertial(rng)}</link>',
                f'<joint name="weld{i}" type="fixed"><parent link="{parent}"/><child link="flange{i}"/>'
                f"{_origin(rng, style, 0.3)}</joint>",
            ]
            parent = f"flange{i}"
        if style == "generic":
            axis = rng.normal(size=3)
        else:
            axis = np.eye(3)[rng.integers(0, 3) if style != "parallel" else 2] * rng.choice(
                [-1.0, 1.0]
            )
        word = kind[i - 1] if kind[i - 1] == "prismatic" or rng.random() < 0.7 else "continuous"
        lines += [
            f'<link name="link{i}">{_inertial(rng)}</link>',
            f'<joint name="joint{i}" type="{word}"><parent link="{parent}"/><child link="link{i}"/>'
            f'{_origin(rng, style, 0.5)}<axis xyz="{" ".join(repr(float(x)) for x in axis)}"/>'
            f'<limit lower="-3" upper="3" velocity="2" effort="50"/></joint>',
        ]
        parent = f"link{i}"
        if rng.random() < branches:
            lines += [
                f'<link name="side{i}">{_inertial(rng)}</link>',
                f'<joint name="finger{i}" type="{"prismatic" if rng.random() < 0.5 else "revolute"}">'
                f'<parent link="{parent}"/><child link="side{i}"/>{_origin(rng, style, 0.2)}<axis xyz="0 1 0"/>'
                f'<limit lower="0" upper="1" velocity="1" effort="1"/></joint>',
            ]
    return "\n".join([*lines, "</robot>", ""])


URDF_STYLES = ("generic", "industrial", "parallel", "rounded")
