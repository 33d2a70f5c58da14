"""A URDF with other inertials and <dynamics>, and everything else as it was.

The file is the one that the arm came from, or one with the same joints. Links that are rigid with the link of a joint
keep their own inertias, and that link takes the whole of the change; where that is impossible, `shares.py` says what
is nearest. Numbers that do not change keep their very text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ...border.kinds import FloatArray
from ...errors import FormatError, InputError, ModelError
from ..arm import Arm, Friction, Joint, Origin
from ..frames.dh import Frames, modified_dh
from ..frames.poses import inverse
from ..friction import nearest_plain
from ..inertia import move_parameters, same_parameters, unpack_parameters
from .carried import CarriedLinks
from .edits import Edits
from .elements import Element, parse
from .mesh_paths import follow_meshes
from .posture import Posture
from .shares import Portions, shared
from .tree import Tree, TreeJoint, listed
from .urdf import read_tree, rotation_of

_ALIKE = 1e-9  # relative difference of lengths and angles of the same robot
_SAME = 1e-12  # relative difference below which a number keeps its text
_INERTIA = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
_UPPER = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))


@dataclass(frozen=True, slots=True, eq=False)
class Updated:
    """The new file, what a reader should know about it, and what in it is not as one would wish."""

    content: bytes
    notes: tuple[str, ...]
    doubts: tuple[str, ...]


def updated_urdf(
    arm: Arm, content: bytes, source: str, folders: tuple[Path, Path] | None = None
) -> Updated:
    """The URDF with the arm's inertias and friction; source names it in messages.

    folders: where it stands and where it will be, for the names of meshes.
    """
    if arm.origin is None:
        raise InputError(
            f"robot '{arm.name}' did not come from a URDF; load {source} and give that robot the numbers: "
            "dynarm.load(...).with_parameters(...)"
        )
    root, tree = parse(content, source), read_tree(content, source, arm.origin.snap)
    stand = same_joints(arm, arm.origin, tree)
    carried = CarriedLinks(tree, arm.origin.base_link, stand)
    frames = modified_dh(carried.segments, carried.parents, free=arm.floating is not None)
    check_same_place(arm, carried, frames, source)
    edits = Edits(content, root, source)
    links = {e.attributes["name"]: e for e in root.all("link")}
    doubts: list[str] = []
    for link, ten in _new_inertias(arm, tree, carried, frames, doubts):
        _put_inertial(edits, links[link], link, ten, tree.exact)
    joints = {e.attributes["name"]: e for e in root.all("joint")}
    notes = [*doubts, *_lost(arm), *(follow_meshes(edits, *folders) if folders else ())]
    for joint, before in zip(arm.joints, stand.kept, strict=True):
        _put_dynamics(edits, joints[before.name], joint, before)
    return Updated(edits.done(), tuple(notes), tuple(doubts))


# ---- the file's robot and the arm


def same_joints(arm: Arm, origin: Origin, tree: Tree) -> Posture:
    """The arm's joints among those of the file."""
    joints = tree.joints
    if origin.base_link not in tree.inertias:
        raise other_robot(tree.source, f"there is no link '{origin.base_link}' in it")
    kept = []
    for joint, link in zip(arm.joints, origin.links, strict=True):
        there = joints.get(str(joint.name))
        if there is None:
            raise other_robot(tree.source, f"there is no joint '{joint.name}' in it")
        if there.child != link:
            raise other_robot(
                tree.source, f"joint '{joint.name}' moves '{there.child}', not '{link}'"
            )
        kept.append(there)
    held = {name: at for name, at in origin.rigid if name in joints}
    names = {joint.name for joint in kept}
    more = [
        j.label
        for j in tree.outwards(origin.base_link)
        if j.movable and j.name not in names and j.name not in held
    ]
    if more:
        raise other_robot(
            tree.source, f"it has movable joints that the robot has not: {listed(more)}"
        )
    return Posture(tuple(kept), {}, held, {})


def check_same_place(arm: Arm, carried: CarriedLinks, frames: Frames, source: str) -> None:
    """Refuse a file whose joints stand elsewhere than the arm's."""
    size = max(arm.size, 1.0)
    for i, joint in enumerate(arm.joints):
        a, alpha, beta, d, theta = frames.steps[i]
        gamma, b = frames.branches[i]
        there = np.array([a, d, b, alpha, beta, theta, gamma])
        here = np.array(
            [joint.a, joint.d, joint.b, joint.alpha, joint.beta, joint.theta, joint.gamma]
        )
        apart = np.abs(there - here) > _ALIKE * np.array([size] * 3 + [1.0] * 4)
        if apart.any() or carried.parents[i] != arm.parents[i]:
            raise other_robot(source, f"joint '{joint.name}' stands elsewhere in it")
        if (carried.segments[i].kind == "revolute") != joint.revolute:
            raise other_robot(source, f"joint '{joint.name}' is of another kind in it")
    base = np.eye(4) if arm.floating else arm.base_pose
    if np.abs(base - frames.base).max() > _ALIKE * size:
        raise other_robot(source, "its base stands elsewhere")


def other_robot(source: str, why: str) -> FormatError:
    return FormatError(
        f"{source} is not the file of this robot: {why}; give the file that the robot was loaded from"
    )


# ---- inertias


def _new_inertias(
    arm: Arm, tree: Tree, carried: CarriedLinks, frames: Frames, doubts: list[str]
) -> Iterator[tuple[str, FloatArray]]:
    """Links whose inertia changes, with the ten parameters about the link's frame."""
    assert arm.origin is not None
    names = [*arm.origin.links, arm.origin.base_link]
    rows = {i: (arm.parameters[i - arm.n], frames.parameters[i]) for i in range(arm.n)}
    poses = [*frames.links, np.eye(4)]
    if arm.floating is not None:
        rows[-1] = arm.parameters[0], carried.tables[-1]
    for i, (now, before) in rows.items():
        if same_parameters(now, before):
            continue
        T = poses[i]
        change = move_parameters(now - before, T[:3, :3], T[:3, 3])
        own = tree.inertias[names[i]]
        fixed = [name for name in carried.merged[i] if tree.inertias[name] is not None]
        seen = [_seen(tree, carried, name) for name in fixed]
        shares = shared(np.zeros(10) if own is None else own, seen, change)
        _check_possible(names[i], shares.own)
        yield names[i], shares.own
        if shares.fixed is None:
            continue
        doubts.append(_told(names[i], fixed, shares))
        for name, ten in zip(fixed, shares.fixed, strict=True):
            X = inverse(carried.places[name].pose)
            yield name, move_parameters(ten, X[:3, :3], X[:3, 3])


def _seen(tree: Tree, carried: CarriedLinks, link: str) -> FloatArray:
    """The ten parameters of a link about the frame of the one that carries it."""
    T = carried.places[link].pose
    return move_parameters(tree.inertias[link], T[:3, :3], T[:3, 3])


def _told(link: str, fixed: Sequence[str], shares: Portions) -> str:
    several = len(fixed) > 1
    return (
        f"link{'s' * several} {listed(fixed)} could not keep {'their' if several else 'its'} inertia: '{link}' would "
        f"be left with {shares.why}; the sum is shared out among them, nearest to what they had"
    )


def _check_possible(link: str, ten: FloatArray) -> None:
    if ten[0] < 0 or (ten[0] == 0 and ten[1:4].any()):
        raise ModelError(
            f"link '{link}' has mass {ten[0]:g} and first moments {ten[1:4].tolist()}, which a URDF cannot hold; "
            "save the robot as .toml"
        )


def _put_inertial(edits: Edits, element: Element, link: str, ten: FloatArray, exact: bool) -> None:
    """Write ten parameters into a link, in the axes of its <inertial> where it has one."""
    inertial = element.first("inertial")
    if inertial is None:
        if ten.any():
            edits.insert(element, _inertial_lines(*unpack_parameters(ten)))
        return
    mass, com, I = unpack_parameters(ten)
    origin = inertial.first("origin")
    R = rotation_of(inertial, link, edits.source, exact)
    I = R.T @ I @ R
    rounding = _SAME * float(np.abs(I).max()) + 1e-15 * float(np.abs(ten[4:]).max())
    entries = {k: (float(I[r, c]), rounding) for k, (r, c) in zip(_INERTIA, _UPPER, strict=True)}
    missing = []
    for tag, numbers in (("mass", {"value": (mass, _SAME * abs(mass))}), ("inertia", entries)):
        there = inertial.first(tag)
        if there is not None:
            _put_numbers(edits, there, numbers)
        elif any(value for value, _ in numbers.values()):
            missing.append(
                _element(tag, {key: number(value) for key, (value, _) in numbers.items()})
            )
    if origin is not None:
        _put_vector(edits, origin, com)
    elif com.any():
        missing.insert(0, _element("origin", {"xyz": " ".join(map(number, com.tolist()))}))
    if missing:
        edits.insert(inertial, missing)


def _put_numbers(edits: Edits, element: Element, numbers: dict[str, tuple[float, float]]) -> None:
    """Attributes of an element, each with the difference below which its text stays."""
    values = {}
    for key, (value, most) in numbers.items():
        if abs(float(element.attributes.get(key, "0")) - value) > most:
            values[key] = number(value)
    edits.put(element, values)


def _put_vector(edits: Edits, element: Element, vector: FloatArray) -> None:
    words = element.attributes.get("xyz", "0 0 0").split()
    size = float(np.abs(vector).max())
    texts = [
        word if abs(float(word) - x) <= _SAME * size else number(x)
        for word, x in zip(words, vector.tolist(), strict=True)
    ]
    if texts != words:
        edits.put(element, {"xyz": " ".join(texts)})


def _inertial_lines(mass: float, com: FloatArray, I: FloatArray) -> list[str]:
    entries = {k: number(I[r, c]) for k, (r, c) in zip(_INERTIA, _UPPER, strict=True)}
    origin = {"xyz": " ".join(map(number, com.tolist())), "rpy": "0 0 0"}
    parts = (("origin", origin), ("mass", {"value": number(mass)}), ("inertia", entries))
    return ["<inertial>", *(f"\t{_element(tag, values)}" for tag, values in parts), "</inertial>"]


def _element(tag: str, values: dict[str, str]) -> str:
    attributes = " ".join(f'{key}="{value}"' for key, value in values.items())
    return f"<{tag} {attributes}/>"


def number(x: float) -> str:
    """All digits of a number."""
    return repr(float(x) + 0.0)


# ---- friction


def _put_dynamics(edits: Edits, element: Element, joint: Joint, before: TreeJoint) -> None:
    friction = joint.friction
    plain = friction if friction is None or _is_plain(friction) else nearest_plain(friction)
    viscous, coulomb = (plain.viscous, plain.coulomb) if plain else (0.0, 0.0)
    wanted = {"damping": (viscous, before.damping), "friction": (coulomb, before.friction)}
    values = {
        key: number(now)
        for key, (now, old) in wanted.items()
        if abs(now - old) > _SAME * max(abs(now), abs(old))
    }
    if not values:
        return
    there = element.first("dynamics")
    if there is not None:
        edits.put(there, values)
    else:
        edits.insert(element, [_element("dynamics", values)], last=True)


def _is_plain(friction: Friction) -> bool:
    return friction == Friction(friction.viscous, friction.coulomb)


def _lost(arm: Arm) -> list[str]:
    """What of the joints' drives a URDF does not hold."""
    motors = [str(j.name) for j in arm.joints if j.armature]
    rich = [str(j.name) for j in arm.joints if j.friction and not _is_plain(j.friction)]
    parts = [f"armature of {listed(motors)}"] if motors else []
    parts += [f"friction beyond viscous and Coulomb of {listed(rich)}"] if rich else []
    return [f"a URDF does not hold {'; '.join(parts)}"] if parts else []
