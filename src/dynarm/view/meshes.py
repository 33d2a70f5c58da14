"""The meshes of a URDF, where their files are there: which link each belongs to, and where on it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..border.extras import extra
from ..border.kinds import Foreign
from ..robot.arm import Arm
from ..robot.formats.elements import Element, parse
from ..robot.formats.posture import Posture, posture
from ..robot.formats.tree import Tree
from ..robot.formats.urdf import read_tree, rpy_rotation

SKIPPED = frozenset(("collision", "gazebo", "transmission", "sensor", "ros2_control"))
KINDS = (".stl", ".obj", ".ply", ".off", ".glb", ".gltf", ".dae")
Colour = tuple[int, int, int]
MOST = 200_000  # faces of a mesh that is still drawn


@dataclass(frozen=True, slots=True, eq=False)
class Visual:
    """One mesh. link: index of the moving link that carries it, -1: the base; pose (4, 4) in that link's frame."""

    link: int
    pose: np.ndarray
    vertices: np.ndarray
    faces: np.ndarray
    colour: Colour | None = None  # red, green, blue of the file; None: it says none


def visuals(
    path: Path,
    arm: Arm,
    freeze: Foreign = True,
    text: bytes | None = None,
    packages: Mapping[str, str] | None = None,
) -> tuple[list[Visual], list[str]]:
    """What can be drawn of a URDF's visuals, and what cannot, in sentences; freeze as the arm was loaded with it.

    text: of a file of macros what it expands to; packages: folders by the names of package://name/...
    """
    content = path.read_bytes() if text is None else text
    root, tree = parse(content, str(path), SKIPPED), read_tree(content, str(path))
    links = arm.origin.links if arm.origin else ()
    kept = [joint for joint in tree.above.values() if joint.child in links]
    stand = posture(tree, kept, freeze)
    palette = {m.attributes.get("name", ""): _painted(m) for m in root.all("material")}
    drawn: list[Visual] = []
    missing: list[str] = []
    for link in root.all("link"):
        place = _place(link.attributes.get("name", ""), tree, arm, stand)
        if place is None:
            continue
        index, T = place
        for visual in link.all("visual"):
            loaded, why = _geometry(visual, path, packages or {})
            if loaded is None:
                missing += [why] if why else []
                continue
            vertices, faces, own = loaded
            colour = _colour(visual, palette) or own
            drawn.append(Visual(index, T @ _origin(visual), vertices, faces, colour))
    return drawn, missing


def _place(link: str, tree: Tree, arm: Arm, stand: Posture) -> tuple[int, np.ndarray] | None:
    """The moving link that a link is part of, and its pose there; None if it is not on the arm."""
    if arm.origin is None:
        return None
    T = np.eye(4)
    while True:
        if link in arm.origin.links:
            k = arm.origin.links.index(link)
            return k, np.array(arm.origin.frames[k]).reshape(4, 4) @ T
        if link == arm.origin.base_link:
            return -1, T
        if link not in tree.above:
            return None
        T = stand.placement(tree.above[link]) @ T
        link = tree.above[link].parent


def _numbers(text: str, size: int) -> np.ndarray:
    try:
        values = np.array([float(x) for x in text.split()])
    except ValueError:
        return np.zeros(size)
    return values if len(values) == size else np.zeros(size)


def _origin(visual: Element) -> np.ndarray:
    T = np.eye(4)
    origin = visual.first("origin")
    if origin is not None:
        T[:3, 3] = _numbers(origin.attributes.get("xyz", "0 0 0"), 3)
        T[:3, :3] = rpy_rotation(*_numbers(origin.attributes.get("rpy", "0 0 0"), 3))
    return T


def _painted(material: Element) -> Colour | None:
    """The colour that a material states, 0 to 255."""
    colour = material.first("color")
    if colour is None:
        return None
    rgba = np.clip(_numbers(colour.attributes.get("rgba", ""), 4), 0, 1)
    red, green, blue = (int(x) for x in np.rint(255 * rgba[:3]))
    return (red, green, blue)


def _colour(visual: Element, palette: Mapping[str, Colour | None]) -> Colour | None:
    """The colour of a visual: its material's own, or that of the robot's material of this name."""
    material = visual.first("material")
    if material is None:
        return None
    return _painted(material) or palette.get(material.attributes.get("name", ""))


def _mesh_colour(mesh: Foreign) -> Colour | None:
    """The colour that a mesh's own file gives it; None where it gives none."""
    look = getattr(mesh, "visual", None)
    if look is None or not getattr(look, "defined", False):
        return None
    try:
        shades = np.asarray(getattr(look, "material", look).main_color, float)
    except Exception:  # a picture where a colour should be, and whatever else such files hold
        return None
    if shades.shape not in ((3,), (4,)):
        return None
    red, green, blue = (int(x) for x in shades[:3])
    return (red, green, blue)


Loaded = tuple[np.ndarray, np.ndarray, Colour | None]


def _geometry(
    visual: Element, urdf: Path, packages: Mapping[str, str]
) -> tuple[Loaded | None, str]:
    """Vertices, faces and own colour of a visual, or why there are none."""
    import trimesh

    geometry = visual.first("geometry")
    shape = next(iter(geometry.children), None) if geometry is not None else None
    if shape is None:
        return None, ""
    a = shape.attributes
    if shape.tag == "box":
        return _parts(trimesh.creation.box(_numbers(a.get("size", ""), 3))), ""
    if shape.tag == "sphere":
        return _parts(trimesh.creation.icosphere(radius=float(a.get("radius", 0)))), ""
    if shape.tag == "cylinder":
        return _parts(
            trimesh.creation.cylinder(float(a.get("radius", 0)), float(a.get("length", 0)))
        ), ""
    if shape.tag != "mesh":
        return None, f"<{shape.tag}> is not drawn"
    name = a.get("filename", "")
    file = next((p for p in _candidates(name, urdf, packages) if p.is_file()), None)
    if file is None:
        return None, f"mesh {name} is not there"
    scale = _numbers(a.get("scale", "1 1 1"), 3)
    try:
        mesh: Foreign = trimesh.load(file, force="mesh")
    except ImportError:
        return None, f"mesh {name} needs a reader that is missing; install it: {extra('view')}"
    except Exception as error:  # whatever the reader of that format stumbles over
        return None, f"mesh {name} cannot be read ({type(error).__name__})"
    if not len(getattr(mesh, "faces", ())) or len(mesh.faces) > MOST:
        return None, f"mesh {name} has no faces, or more than {MOST}"
    vertices, faces, colour = _parts(mesh)
    return (vertices * scale.astype(np.float32), faces, colour), ""


def _parts(mesh: Foreign) -> Loaded:
    vertices, faces = np.asarray(mesh.vertices, np.float32), np.asarray(mesh.faces, np.uint32)
    return vertices, faces, _mesh_colour(mesh)


def _candidates(name: str, urdf: Path, packages: Mapping[str, str]) -> Iterator[Path]:
    """Where a mesh may be: beside the URDF, or in the package that it names, as given or above the URDF."""
    plain = name.removeprefix("file://")
    if Path(plain).suffix.lower() not in KINDS:
        return
    if not name.startswith("package://"):
        yield urdf.parent / plain
        return
    inside = Path(name.removeprefix("package://"))
    within = Path(*inside.parts[1:]) if len(inside.parts) > 1 else inside
    if inside.parts and inside.parts[0] in packages:
        yield Path(packages[inside.parts[0]]) / within
    for folder in (urdf.parent, *urdf.absolute().parents):
        yield folder / inside
        if folder.name == inside.parts[0]:
            yield folder / within
    yield urdf.parent / within
