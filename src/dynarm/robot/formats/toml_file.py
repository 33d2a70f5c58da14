"""A robot as TOML: read without trust, written so that everything comes back bit by bit.

    name = "arm"                     gravity = [0, 0, -9.81]
    convention = "modified"          # or "classic": distal frames Rz(theta) Tz(d) Tx(a) Rx(alpha), converted on reading
    base = [[...], ...]              # 4x4, pose of frame 0 in the base link; tool likewise, in the last link's frame

    [[joints]]
    kind = "revolute"                # or "prismatic"
    a = 0.0    alpha = "pi/2"    d = 0.0    theta = "-90 deg"    beta = 0.0
    mass = 1.0    com = [0, 0, 0]
    inertia = [0.1, 0.1, 0.1]        # about the centre of mass: the diagonal, or 3x3; or
    inertia_at_origin = [...]        # the same about the frame's origin; or, in place of mass, com and inertia,
    parameters = [...]               # m, mcx, mcy, mcz, Ixx, Ixy, Iyy, Ixz, Iyz, Izz about the frame's origin
    armature = 0.0    friction = { viscous = 0.1, coulomb = 0.2 }
    position_limits = [-3, 3]    velocity_limit = 2    effort_limit = 100
    parent = "elbow"                 # or its index, -1: the base; left out: the joint before this one
    gamma = 0.0    b = 0.0           # Rz(gamma) Tz(b) before the rest, where several joints hang on a link
    mimic = { joint = "elbow", multiplier = 1.0, offset = 0.0 }

    [about]                          # title, source, licence, inertias: texts about the file, checked and not kept
    [floating]                       # the link of a base that moves freely: mass, com, inertia ... as of a joint
    [[tools]]                        # name = "hand"    joint = "wrist" (or its index, -1: the base)    pose = 4x4

Keys that are not known are refused by name: a misspelt key must not become a silent default.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace

import numpy as np

from ...border.arguments import number, numbers
from ...border.digits import words, written
from ...border.kinds import Outside
from ...border.toml import known_keys, tables
from ...border.toml_text import toml_lines, toml_value
from ...errors import DynarmError, FormatError, InputError, UnknownName
from ..about import MAX_BYTES, about_of_table
from ..arm import Arm, Body, Coupled, Friction, Joint, Mimic, Origin, Tool
from ..frames.poses import rigid
from ..inertia import pack_parameters, unpack_parameters

FORMAT = 1
MAX_JOINTS = 256
MAX_TEXT = 1000
MAX_NOTE = 100_000

_ANGLES = ("alpha", "beta", "theta", "gamma")
_JOINT_KEYS = frozenset(f.name for f in fields(Joint)) | {"inertia_at_origin"}
_BODY_KEYS = frozenset(f.name for f in fields(Body)) | {"inertia_at_origin"}
_ARM_KEYS = frozenset(
    (
        *("format", "name", "convention", "gravity", "base", "tool", "joints", "origin"),
        *("floating", "tools", "about"),
    )
)
_DIGITS = r"[0-9]+(?:\.[0-9]*)?"
# for text without repeated blanks: with ` *` in place of ` ?` a long run of them would be tried in every division
_ANGLE = re.compile(rf"([+-]?) ?({_DIGITS}|) ?\*? ?(pi|deg) ?(?:/ ?({_DIGITS}))?")


def read_toml(content: bytes, source: str) -> Arm:
    """The arm that a TOML document describes; source names it in messages."""
    table = tables(content, source, MAX_BYTES)
    try:
        return _arm(table)
    except DynarmError as error:
        raise FormatError(f"{source}: {error}") from None


def arm_of_table(table: Mapping[str, Outside]) -> Arm:
    """The arm that a parsed TOML table describes, for files that hold an arm among other things."""
    return _arm(table)


def _short(value: Outside) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _string(table: Mapping[str, Outside], key: str, default: str) -> str:
    value = table.get(key, default)
    if not isinstance(value, str) or not value or len(value) > MAX_TEXT:
        raise FormatError(f"{key} is {_short(value)}; give a text of 1 to {MAX_TEXT} characters")
    return value


def _arm(table: Mapping[str, Outside]) -> Arm:
    known_keys(table, _ARM_KEYS, "the file")
    if table.get("format", FORMAT) != FORMAT:
        raise FormatError(f"format is {_short(table['format'])}; this dynarm reads format {FORMAT}")
    about_of_table(table.get("about", {}))  # for readers of the file; an arm keeps numbers
    rows = table.get("joints", [] if "floating" in table else None)
    if not isinstance(rows, list) or not len(rows) <= MAX_JOINTS:
        raise FormatError(f"there must be 1 to {MAX_JOINTS} [[joints]] tables")
    names = [row.get("name") if isinstance(row, Mapping) else None for row in rows]
    names = [name or f"joint{i + 1}" for i, name in enumerate(names)]
    joints = [_joint(row, f"joint {i + 1}", names) for i, row in enumerate(rows)]
    poses = {key: numbers(key, table[key], (4, 4)) for key in ("base", "tool") if key in table}
    common: dict[str, Outside] = {
        "gravity": table.get("gravity", (0.0, 0.0, -9.81)),
        "name": _string(table, "name", "arm"),
        **poses,
    }
    convention = table.get("convention", "modified")
    if convention == "classic":
        for key in ("origin", "floating", "tools"):
            if key in table:
                raise FormatError(f"{key} goes with convention = 'modified'; leave one of them out")
        return Arm.from_classic_dh(joints, **common)
    if convention != "modified":
        raise UnknownName("convention", convention, ("modified", "classic"))
    return Arm(
        tuple(joints),
        origin=_origin(table["origin"]) if "origin" in table else None,
        floating=_body(table["floating"]) if "floating" in table else None,
        tools=_tools(table["tools"], names) if "tools" in table else None,
        **common,
    )


def _body(row: Outside) -> Body:
    given = dict(known_keys(row, _BODY_KEYS, "floating"))
    _read_inertia(given, "floating")
    return Body(**given)


def _tools(rows: Outside, names: Sequence[Outside]) -> tuple[Tool, ...]:
    if not isinstance(rows, list):
        raise FormatError(f"tools is {_short(rows)}; give [[tools]] tables")
    if len(rows) > MAX_JOINTS:
        raise FormatError(f"there are {len(rows)} [[tools]]; at most {MAX_JOINTS} are read")
    made = []
    for i, row in enumerate(rows):
        given = dict(known_keys(row, [f.name for f in fields(Tool)], f"tool {i + 1}"))
        if "joint" not in given:
            raise FormatError(f"tool {i + 1} has no joint; name the one whose link carries it")
        joint = _index(given["joint"], names, f"tool {i + 1}: joint")
        pose = numbers(f"tool {i + 1}: pose", given["pose"], (4, 4)) if "pose" in given else None
        made.append(Tool(_string(given, "name", ""), joint, pose))
    return tuple(made)


def _index(value: Outside, names: Sequence[Outside], what: str) -> Outside:
    """The index of a joint that is given by its name or index."""
    if not isinstance(value, str):
        return value
    if value not in names:
        raise UnknownName(what, value, [name for name in names if isinstance(name, str)])
    return names.index(value)


def _joint(row: Outside, where: str, names: Sequence[Outside]) -> Joint:
    given = dict(known_keys(row, _JOINT_KEYS, where))
    if "parent" in given:
        given["parent"] = _index(given["parent"], names, f"{where}: parent")
    if "mimic" in given:
        rule = known_keys(given["mimic"], [f.name for f in fields(Mimic)], f"{where}: mimic")
        if "joint" not in rule:
            raise FormatError(f"{where}: mimic has no joint; name the one that is followed")
        given["mimic"] = Mimic(**rule)
    if "name" in given:
        _string(given, "name", "")
    for key in _ANGLES:
        if key in given:
            given[key] = _angle(given[key], f"{where}: {key}")
    if "friction" in given:
        given["friction"] = _friction(given["friction"], f"{where}: friction")
    _read_inertia(given, where)
    return Joint(**given)


def _friction(table: Outside, where: str) -> Friction:
    given = dict(known_keys(table, [f.name for f in fields(Friction)], where))
    if isinstance(given.get("coupling"), list):
        keys = [f.name for f in fields(Coupled)]
        rows = [known_keys(row, keys, f"{where} coupling") for row in given["coupling"]]
        if not all("joint" in row for row in rows):
            raise FormatError(f"{where} coupling has no joint; name the one that is felt")
        given["coupling"] = [Coupled(**row) for row in rows]
    return Friction(**given)


def _read_inertia(given: dict[str, Outside], where: str) -> None:
    """Tensors of a link as matrices; one about the frame's origin becomes the ten parameters."""
    for key in ("inertia", "inertia_at_origin"):
        if key in given:
            given[key] = _inertia(given[key], f"{where}: {key}")
    if "inertia_at_origin" in given:
        if "inertia" in given or "parameters" in given:
            raise FormatError(f"{where}: give one of inertia, inertia_at_origin and parameters")
        about_origin = given.pop("inertia_at_origin")
        link = Joint(mass=given.pop("mass", 0.0), com=given.pop("com", (0, 0, 0)))
        ten = np.array(link.parameters, float)
        ten[4:] = about_origin[[0, 0, 1, 0, 1, 2], [0, 1, 1, 2, 2, 2]]
        given["parameters"] = tuple(ten.tolist())


def _angle(value: Outside, what: str) -> Outside:
    """An angle [rad] given as a number or as text: 'pi/2', '-pi', '3 pi / 4', '-90 deg'."""
    if not isinstance(value, str):
        return value
    match = _ANGLE.fullmatch(" ".join(words(value))) if len(value) <= MAX_TEXT else None
    if not match:
        raise FormatError(
            f"{what} is {_short(value)}; give radians, or a text such as 'pi/2' or '-90 deg'"
        )
    sign, factor, unit, divisor = match.groups()
    try:
        above, below = written(factor or "1"), written(divisor or "1")
    except ValueError:
        raise FormatError(f"{what} is {_short(value)}; give fewer digits") from None
    if below == 0:
        raise FormatError(f"{what} is {_short(value)}; it divides by zero")
    turn = above / below * (np.pi if unit == "pi" else np.pi / 180)
    return -turn if sign == "-" else turn


def _inertia(value: Outside, what: str) -> np.ndarray:
    """A 3x3 tensor given in full or by its diagonal."""
    if isinstance(value, list) and len(value) == 3 and not any(isinstance(x, list) for x in value):
        return np.diag(numbers(what, value, (3,)))
    return numbers(what, value, (3, 3))


def _origin(table: Outside) -> Origin:
    keys = [f.name for f in fields(Origin)]
    given = dict(known_keys(table, keys, "origin"))
    for key in ("base_link", "links", "frames", "axes", "kinds"):
        if key not in given:
            raise FormatError(f"origin has no {key}; write files with arm.save")
    n = len(given["links"]) if isinstance(given["links"], list) else 0
    for key, most in (("links", MAX_TEXT), ("kinds", MAX_TEXT), ("notes", MAX_NOTE)):
        words = given.get(key, [])
        if not isinstance(words, list) or not all(
            isinstance(w, str) and len(w) <= most for w in words
        ):
            raise FormatError(f"origin: {key} is {_short(words)}; give a list of texts")
        given[key] = tuple(words)
    given["base_link"] = _string(given, "base_link", "")
    if "tip_link" in given:
        given["tip_link"] = _string(given, "tip_link", "")
    given["rigid"] = _positions(given.get("rigid", []))
    if not isinstance(given.get("snap", False), bool):
        raise FormatError(f"origin: snap is {_short(given['snap'])}; give true or false")
    if "base" in given:
        given["base"] = tuple(numbers("origin: base", given["base"], (10,)).tolist())
    given["frames"] = _rows("origin: frames", given["frames"], (n, 16))
    given["axes"] = _rows("origin: axes", given["axes"], (n, 3))
    for k, (frame, axis) in enumerate(zip(given["frames"], given["axes"], strict=True), 1):
        _check_axis(k, frame, axis)
    return Origin(**given)


def _positions(rows: Outside) -> tuple[tuple[str, float], ...]:
    """Joints and where they are held."""
    pairs = []
    for row in rows if isinstance(rows, list) else [rows]:
        if not isinstance(row, list) or len(row) != 2 or not isinstance(row[0], str):
            raise FormatError(f"origin: rigid is {_short(rows)}; give a list of [joint, position]")
        position = number("origin: rigid", row[1])
        pairs.append((row[0], position))
    return tuple(pairs)


def _check_axis(k: int, frame: Sequence[float], axis: Sequence[float]) -> None:
    """A frame is a pose, and the joint's axis in it our z axis: else a URDF would be another robot."""
    R = rigid(f"origin: frame {k}", np.reshape(frame, (4, 4)))[:3, :3]
    largest = max(map(abs, axis))
    along = R @ (np.array(axis) / largest) if largest else np.zeros(3)
    if not largest or along[2] < (1 - 1e-9) * float(np.linalg.norm(along)):
        raise FormatError(
            f"origin: axis {k} is {_short(list(axis))}, not along its joint; write files with arm.save"
        )


def _rows(what: str, value: Outside, shape: tuple[int, ...]) -> tuple[tuple[float, ...], ...]:
    if not shape[0] and value == []:
        return ()
    return tuple(map(tuple, numbers(what, value, shape).tolist()))


# ---- writing


def write_toml(arm: Arm) -> str:
    """The arm as TOML text, every number with all its digits."""
    names = [arm.name, *(j.name for j in arm.joints), *(tool.name for tool in arm.tools or ())]
    if arm.origin is not None:
        names += [arm.origin.base_link, *arm.origin.links, arm.origin.tip_link]
    for name in names:
        if len(str(name)) > MAX_TEXT:
            raise InputError(
                f"the name that begins with {_short(name)} is longer than {MAX_TEXT} letters; shorten it"
            )
    lines = [
        f"format = {FORMAT}",
        f"name = {toml_value(arm.name)}",
        f"gravity = {toml_value(arm.gravity)}",
    ]
    lines += [f"{key} = {_matrix(pose)}" for key, pose in (("base", arm.base), ("tool", arm.tool))]
    if arm.tools is not None and not arm.tools:
        lines.append("tools = []")
    for joint in arm.joints:
        lines += ["", "[[joints]]", *_joint_lines(arm, joint)]
    if arm.floating is not None:
        lines += ["", "[floating]"]
        lines += [
            f"{key} = {toml_value(getattr(arm.floating, key))}"
            for key in _inertial_keys(arm.floating)
        ]
    for tool in arm.tools or ():
        lines += ["", "[[tools]]", f"name = {toml_value(tool.name)}"]
        lines += [f"joint = {_joint_name(arm, tool.joint)}", f"pose = {_matrix(tool.pose)}"]
    if arm.origin is not None:
        lines += ["", "[origin]", *toml_lines(arm.origin, long=True)]
    return "\n".join(lines) + "\n"


def _joint_name(arm: Arm, i: int) -> str:
    """A joint as a file names it; the base is -1."""
    return toml_value(arm.joints[i].name) if i >= 0 else "-1"


def _joint_lines(arm: Arm, joint: Joint) -> list[str]:
    lines = []
    place = ("gamma", "b", "a", "alpha", "beta", "d", "theta")
    for key in ("name", "kind", *place, *_inertial_keys(joint), "armature"):
        value = getattr(joint, key)
        if key not in ("beta", "gamma", "b") or value:
            lines.append(f"{key} = {toml_value(value)}")
    if joint.parent is not None:
        lines.insert(2, f"parent = {_joint_name(arm, joint.parent)}")
    if joint.mimic is not None:
        rule = joint.mimic
        lines.append(
            f"mimic = {{ joint = {_joint_name(arm, int(rule.joint))}, "
            f"multiplier = {toml_value(rule.multiplier)}, offset = {toml_value(rule.offset)} }}"
        )
    if joint.friction is not None:
        lines.append(f"friction = {{ {', '.join(_friction_lines(arm, joint.friction))} }}")
    for key in ("position_limits", "velocity_limit", "effort_limit"):
        if getattr(joint, key) is not None:
            lines.append(f"{key} = {toml_value(getattr(joint, key))}")
    return lines


def _friction_lines(arm: Arm, friction: Friction) -> list[str]:
    """A line a number of the record; lists that are empty are left out, coupled joints go by their names."""
    lines = []
    for f in fields(friction):
        value = getattr(friction, f.name)
        if f.name == "coupling" and value:
            named = (replace(c, joint=str(arm.joints[int(c.joint)].name)) for c in value)
            lines.append(f"coupling = {toml_value(tuple(named))}")
        elif value is not None and value != ():
            lines.append(f"{f.name} = {toml_value(value)}")
    return lines


def _inertial_keys(joint: Joint | Body) -> tuple[str, ...]:
    """What must be written for mass, com, inertia and parameters to come back bit by bit."""
    assert joint.parameters is not None
    body = ("mass", "com", "inertia")
    packed = tuple(pack_parameters(joint.mass, joint.com, joint.inertia).tolist())
    if joint.mass >= 0 and packed == joint.parameters:
        return body
    mass, com, inertia = unpack_parameters(joint.parameters)
    if (mass, tuple(com.tolist()), tuple(map(tuple, inertia.tolist()))) == (
        joint.mass,
        joint.com,
        joint.inertia,
    ):
        return ("parameters",)
    return (*body, "parameters")


def _matrix(flat: Sequence[float]) -> str:
    rows = (toml_value(flat[4 * i : 4 * i + 4]) for i in range(4))
    return "[\n" + "".join(f"  {row},\n" for row in rows) + "]"
