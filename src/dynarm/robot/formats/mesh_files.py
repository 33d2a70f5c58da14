"""Triangles of the meshes that robot files name: STL and OBJ read here, other formats by trimesh where it is there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from ...border.files import content
from ...errors import DynarmError, FormatError

KINDS = (".stl", ".obj", ".ply", ".off", ".glb", ".gltf", ".dae")
MOST = 64 << 20  # bytes of a mesh
_FACES = 500_000
_STL = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("spare", "<u2")])


def mesh_paths(name: str, robot: Path) -> Iterator[Path]:
    """Where a mesh may be: beside the robot's file, or in the package that it names, above that file."""
    plain = name.removeprefix("file://")
    if Path(plain).suffix.lower() not in KINDS:
        return
    if not name.startswith("package://"):
        yield robot.parent / plain
        return
    inside = Path(name.removeprefix("package://"))
    within = Path(*inside.parts[1:]) if len(inside.parts) > 1 else inside
    for folder in (robot.parent, *robot.absolute().parents):
        yield folder / inside
        if folder.name == inside.parts[0]:
            yield folder / within
    yield robot.parent / within


def triangles(path: Path) -> np.ndarray:
    """(faces, 3, 3): the corners of a mesh's triangles in the file's units; FormatError where it has none."""
    kind = path.suffix.lower()
    data = content(path, MOST)
    try:
        if kind == ".stl":
            corners = _stl(data)
        elif kind == ".obj":
            corners = _obj(data.decode("utf-8", "replace"))
        else:
            corners = _by_trimesh(path)
    except DynarmError:
        raise
    except Exception as error:  # whatever a broken file, or the reader of its format, stumbles over
        raise FormatError(f"{path.name} cannot be read ({type(error).__name__})") from None
    if not len(corners) or len(corners) > _FACES or not np.isfinite(corners).all():
        raise FormatError(f"{path.name} has no faces, more than {_FACES}, or corners at infinity")
    return corners


def _stl(data: bytes) -> np.ndarray:
    if len(data) >= 84:
        count = int(np.frombuffer(data, "<u4", 1, 80)[0])
        if len(data) >= 84 + 50 * count and count:
            return np.asarray(np.frombuffer(data, _STL, count, 84)["corners"], float)
    words = [
        line.split()[1:4]
        for line in data.splitlines()
        if line.strip().lower().startswith(b"vertex")
    ]
    return np.array([[float(x) for x in row] for row in words]).reshape(-1, 3, 3)


def _obj(text: str) -> np.ndarray:
    vertices: list[list[float]] = []
    faces: list[tuple[int, int, int]] = []
    for line in text.splitlines():
        head, *rest = line.split() or [""]
        if head == "v":
            vertices.append([float(x) for x in rest[:3]])
        elif head == "f":
            ids = [int(word.split("/")[0]) for word in rest]
            ids = [i - 1 if i > 0 else len(vertices) + i for i in ids]
            faces += [(ids[0], ids[k], ids[k + 1]) for k in range(1, len(ids) - 1)]
    return np.asarray(np.array(vertices, float).reshape(-1, 3)[np.array(faces, int).reshape(-1, 3)])


def _by_trimesh(path: Path) -> np.ndarray:
    try:
        import trimesh
    except ImportError:
        raise FormatError(
            f"{path.name} is neither .stl nor .obj; pip install trimesh pycollada reads it"
        ) from None
    mesh = trimesh.load(path, force="mesh")
    if not isinstance(mesh, trimesh.Trimesh):
        raise FormatError(f"{path.name} holds no triangles")
    return np.asarray(mesh.triangles, float)
