"""An MJCF model with other inertials, armature, damping and frictionloss, and everything else as it was.

The file is the one that the arm came from. Bodies that are rigid with the body of a joint keep their own inertias, and
that body takes the whole of the change; where that is impossible, `shares.py` says what is nearest. Values stand on
bodies and joints themselves, so that defaults and classes need no change. Of what is included, the files that hold
something that changes come into the new file in the place of their <include>: no other file is written. In the end
MuJoCo reads the new text, and it must find the arm's numbers there.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ...border.kinds import FloatArray, Outside
from ...errors import FormatError, InputError, ModelError
from ..arm import Arm, Joint
from ..frames.dh import Frames, modified_dh
from ..frames.poses import inverse
from ..inertia import move_parameters, same_parameters, unpack_parameters
from .carried import CarriedLinks
from .edits import Edits
from .elements import Element, parse
from .mjcf import Opened, opened
from .mjcf_files import Document, Part, all_of
from .mjcf_text import drive_numbers, is_plain, principal_inertial
from .mjcf_tree import Compiled, Row, turn
from .shares import shared
from .tree import listed
from .urdf_update import Updated, check_same_place, number, same_joints

_SAME = 1e-12  # relative difference below which a number keeps its text
_TAKEN = 1e-9  # relative difference of what MuJoCo reads from what was written
_TURNS = ("quat", "axisangle", "xyaxes", "zaxis", "euler")
_DECLARATION = re.compile(rb"\s*<\?xml[^>]*\?>\s*")
_DIRECTORIES = ("meshdir", "texturedir")
_NAMING = ("mesh", "texture", "hfield", "skin")


def updated_mjcf(
    arm: Arm, content: bytes, source: str, path: Path, target: Path, packages: Outside = None
) -> Updated:
    """The model in the content of a file at `path` with the arm's numbers, as it is to stand at `target`."""
    if arm.origin is None:
        raise InputError(
            f"robot '{arm.name}' did not come from a file; load {source} and give that robot the numbers: "
            "dynarm.load(...).with_parameters(...)"
        )
    before = _Described.of(arm, _opened(arm, content, source, path, packages), source)
    texts = _Texts(before.opened.document, source)
    places = _Places(before.opened, source)
    doubts: list[str] = []
    for body, ten in _new_inertias(arm, before, doubts):
        texts.put_inertial(places.body(body), places.row(body), ten, f"body '{body}'")
    notes = list(doubts)
    for joint in arm.joints:
        row = before.rows[str(joint.name)]
        changed = _changed(joint, row)
        if changed:
            texts.put(places.joint(str(joint.name)), changed)
        notes += _lost(joint)
    moved = os.path.realpath(path.parent) != os.path.realpath(target.parent)
    if moved:
        notes += texts.follow(before.opened.document, path.parent, target.parent)
    after = texts.done(everything=moved)
    if after != content:
        _check_taken(arm, after, source, path, packages)
    return Updated(after, tuple(notes), tuple(doubts))


# ---- the file's robot and the arm


@dataclass(frozen=True, slots=True, eq=False)
class _Described:
    """The robot of the file, in the arm's frames."""

    opened: Opened
    carried: CarriedLinks
    frames: Frames
    rows: Mapping[str, Row]  # of joints, by name

    @classmethod
    def of(cls, arm: Arm, model: Opened, source: str) -> _Described:
        assert arm.origin is not None
        stand = same_joints(arm, arm.origin, model.tree)
        carried = CarriedLinks(model.tree, arm.origin.base_link, stand)
        frames = modified_dh(carried.segments, carried.parents, free=arm.floating is not None)
        check_same_place(arm, carried, frames, source)
        rows = dict(zip(model.model.joints, model.model.numbers["joints"], strict=True))
        return cls(model, carried, frames, rows)

    def tables(self, arm: Arm) -> Iterator[tuple[int, FloatArray, FloatArray]]:
        """Each link, -1 for a free base, with the arm's ten parameters and the file's, in the arm's frames."""
        for i in range(arm.n):
            yield i, arm.parameters[i - arm.n], self.frames.parameters[i]
        if arm.floating is not None:
            yield -1, arm.parameters[0], self.carried.tables[-1]


def _opened(arm: Arm, content: bytes, source: str, path: Path, packages: Outside) -> Opened:
    assert arm.origin is not None
    base, free = arm.origin.base_link, arm.floating is not None
    return opened(content, source, path, base=base, floating=free, mimic=False, packages=packages)


def _check_taken(arm: Arm, content: bytes, source: str, path: Path, packages: Outside) -> None:
    """Refuse where MuJoCo reads other numbers than the arm's in the new text."""
    after = _Described.of(arm, _opened(arm, content, source, path, packages), source)
    wrong = []
    for i, now, there in after.tables(arm):
        sizes = np.repeat(
            [np.abs(now[k]).max() for k in (slice(1), slice(1, 4), slice(4, 10))], (1, 3, 6)
        )
        if (np.abs(now - there) > _TAKEN * sizes + 1e-15).any():
            wrong.append(str(arm.joints[i].name) if i >= 0 else "the free base")
    wrong += [str(j.name) for j in arm.joints if _changed(j, after.rows[str(j.name)], _TAKEN)]
    if wrong:
        raise FormatError(
            f"{source}: MuJoCo takes other numbers for {listed(wrong)} than those that were to be written: <compiler> "
            "changes inertias (settotalmass, inertiafromgeom, boundmass, boundinertia, balanceinertia), springdamper "
            "the damping of a joint; take that out"
        )


# ---- inertias


def _new_inertias(
    arm: Arm, before: _Described, doubts: list[str]
) -> Iterator[tuple[str, FloatArray]]:
    """Bodies whose inertia changes, with the ten parameters about the body's frame."""
    assert arm.origin is not None
    tree, carried = before.opened.tree, before.carried
    names = [*arm.origin.links, arm.origin.base_link]
    to_link = [*before.frames.links, np.eye(4)]
    known = set(before.opened.model.bodies)
    for i, now, there in before.tables(arm):
        if same_parameters(now, there):
            continue
        bodies = [name for name in (names[i], *carried.merged[i]) if name in known]
        if not bodies:
            raise ModelError(
                f"joint '{arm.joints[i].name}' is one of several of its body, and only the last of these moves "
                "inertia in MJCF; give the others none, or save the robot anew"
            )
        main, *others = bodies
        back = inverse(carried.places[main].pose)
        fixed = [name for name in others if tree.inertias[name] is not None]
        seen = [_moved(tree.inertias[name], back @ carried.places[name].pose) for name in fixed]
        own = tree.inertias[main]
        change = _moved(now - there, back @ to_link[i])
        shares = shared(np.zeros(10) if own is None else own, seen, change)
        yield main, shares.own
        if shares.fixed is None:
            continue
        doubts.append(
            f"bodies {listed(fixed)}, fixed to '{main}', could not keep their inertia: '{main}' would be left with "
            f"{shares.why}; the sum is shared out among them, nearest to what they had"
        )
        for name, ten in zip(fixed, shares.fixed, strict=True):
            yield name, _moved(ten, inverse(back @ carried.places[name].pose))


def _moved(ten: Outside, T: FloatArray) -> FloatArray:
    moved: FloatArray = move_parameters(ten, T[:3, :3], T[:3, 3])
    return moved


# ---- drives


def _changed(joint: Joint, row: Row, apart: float = _SAME) -> dict[str, float]:
    """The numbers of a joint's drive that are not those of the file."""
    there = {"armature": "armature", "damping": "damping", "frictionloss": "friction"}
    return {
        key: value
        for key, value in drive_numbers(joint).items()
        if abs(value - row[there[key]]) > apart * max(abs(value), abs(row[there[key]]))
    }


def _lost(joint: Joint) -> list[str]:
    if joint.friction is None or is_plain(joint.friction):
        return []
    return [f"joint '{joint.name}', not held by MJCF: {joint.friction}"]


# ---- where bodies and joints stand


class _Places:
    """The elements of bodies and joints: by order where the model writes each of them itself, else by name."""

    def __init__(self, model: Opened, source: str) -> None:
        self.model: Compiled = model.model
        self.source = source
        written = [e for w in model.document.root.all("worldbody") for e in all_of(w, "body")]
        given = [str(row["name"]) for row in self.model.numbers["bodies"][1:]]
        names = [e.attributes.get("name", "") for e in written]
        if names == given:
            self.bodies = dict(zip(self.model.bodies[1:], written, strict=True))
        else:
            self.bodies = {e.attributes["name"]: e for e in written if e.attributes.get("name")}

    def row(self, body: str) -> Row:
        return self.model.row(self.model.bodies.index(body))

    def body(self, name: str) -> Element:
        element = self.bodies.get(name)
        if element is None:
            raise FormatError(
                f"{self.source}: body '{name}' comes from <replicate>, <attach> or <composite>, so that the file does "
                "not hold it by itself; write it out, or save the robot anew with arm.save"
            )
        return element

    def joint(self, name: str) -> Element:
        place = self.model.joints.index(name)
        for i in range(1, len(self.model.bodies)):
            own: list[int] = self.model.row(i)["joints"]
            if place in own:
                element = self.body(self.model.bodies[i])
                written = [e for e in element.children if e.tag in ("joint", "freejoint")]
                if len(written) == len(own):
                    return written[own.index(place)]
        raise FormatError(f"{self.source}: there is no <joint> for joint '{name}' in it")


# ---- texts


class _Texts:
    """The files of a model and what changes in them."""

    def __init__(self, document: Document, source: str) -> None:
        self.parts: tuple[Part, ...] = document.parts
        self.owners = document.owners
        self.edits = []
        self.elements: list[
            dict[int, Element]
        ] = []  # of each part: its elements by their first byte
        for part in self.parts:
            root = parse(part.content, source)
            self.edits.append(Edits(part.content, root, source))
            self.elements.append({element.start: element for element in _inside(root)})

    def _at(self, element: Element) -> tuple[Edits, Element]:
        k = self.owners.get(id(element), 0)
        return self.edits[k], self.elements[k][element.start]

    def put(self, element: Element, numbers: Mapping[str, float]) -> None:
        """Numbers of a joint; of several in one attribute the first."""
        edits, there = self._at(element)
        texts = {}
        for key, value in numbers.items():
            _, *more = there.attributes.get(key, "").split() or [""]
            texts[key] = " ".join([number(value), *more])
        edits.put(there, texts)

    def put_inertial(self, body: Element, row: Row, ten: FloatArray, what: str) -> None:
        """The inertia of a body, by numbers that its <inertial> has where they stay."""
        edits, there = self._at(body)
        inertial = there.first("inertial")
        mass, com, I = unpack_parameters(ten)
        moments, quaternion = principal_inertial(ten, what)
        turned = {
            "quat": " ".join(map(number, quaternion)),
            "diaginertia": " ".join(map(number, moments)),
        }
        if inertial is None:
            values = {"pos": " ".join(map(number, com.tolist())), "mass": number(mass), **turned}
            said = " ".join(f'{key}="{value}"' for key, value in values.items())
            edits.insert(there, [f"<inertial {said}/>"])
            return
        values = {}
        if abs(mass - row["mass"]) > _SAME * mass:
            values["mass"] = number(mass)
        if np.abs(com - row["ipos"]).max() > _SAME * np.abs(com).max():
            values["pos"] = " ".join(map(number, com.tolist()))
        R = turn(row["iquat"])
        diagonal = np.diag(np.array(row["inertia"]))
        if np.abs(I - R @ diagonal @ R.T).max() > _SAME * np.abs(I).max():
            values |= _turned(edits, inertial, R.T @ I @ R, turned)
        edits.put(inertial, values)

    def follow(self, document: Document, old: Path, new: Path) -> list[str]:
        """Let <compiler> say where meshes and textures are, from another folder; what was done."""
        if not any("file" in e.attributes for tag in _NAMING for e in all_of(document.root, tag)):
            return []
        edits = self.edits[0]
        said: dict[str, str] = {}
        for compiler in document.root.all("compiler"):
            said.update(compiler.attributes)
        way = os.path.relpath(os.path.realpath(old), os.path.realpath(new))
        values = {
            key: Path(os.path.join(way, said.get(key, said.get("assetdir", "")))).as_posix()
            for key in _DIRECTORIES
        }
        *_, last = [None, *edits.root.all("compiler")]
        if last is not None:
            edits.put(last, values)
        else:
            text = " ".join(f'{key}="{value}"' for key, value in values.items())
            edits.insert(edits.root, [f"<compiler {text}/>"])
        return [f"meshes and textures are looked for in '{values['meshdir']}', from the new folder"]

    def done(self, everything: bool) -> bytes:
        """The main file, with those parts in it that changed, or with all."""
        for k in range(len(self.parts) - 1, 0, -1):  # what a part includes comes after it
            part, edits = self.parts[k], self.edits[k]
            if edits.changes or everything:
                outer = self.parts[k].within
                self.edits[outer].replace(self.elements[outer][part.include], _bare(edits.done()))
        return self.edits[0].done()


def _turned(
    edits: Edits, inertial: Element, I: FloatArray, turned: dict[str, str]
) -> dict[str, str]:
    """Other moments, about the axes that the element has where these stay principal; I is given in these."""
    said = inertial.attributes
    away = np.abs(I - np.diag(np.diag(I))).max()
    if "fullinertia" not in said and away <= 1e-15 * np.abs(I).max():
        return {"diaginertia": " ".join(map(number, np.diag(I).tolist()))}
    if "fullinertia" in said:
        edits.swap(inertial, "fullinertia", "diaginertia", turned["diaginertia"])
        turned = {"quat": turned["quat"]}
    for key in _TURNS:
        if key in said and key != "quat":
            edits.swap(inertial, key, "quat", turned.pop("quat"))
    return turned


def _inside(element: Element) -> Iterator[Element]:
    yield element
    for child in element.children:
        yield from _inside(child)


def _bare(content: bytes) -> bytes:
    """A file without its declaration and the tags of its root: what stands in the place of its <include>."""
    root = parse(content, "included")
    edits = Edits(content, root, "included")
    before = _DECLARATION.sub(b"", content[: root.start].removeprefix(b"\xef\xbb\xbf"), count=1)
    return before + edits.inside(root).strip()
