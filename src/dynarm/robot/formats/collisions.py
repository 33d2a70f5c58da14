"""The collision shapes of a URDF, link by link: triangles of boxes, cylinders and meshes, and spheres."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ...border.digits import written
from ...border.files import content
from ...errors import DynarmError, FormatError
from .elements import Element, parse
from .mesh_files import mesh_paths, triangles
from .urdf import rpy_rotation

MOST_BYTES = 16 * 2**20
_OTHERS = frozenset(("visual", "material", "gazebo", "transmission", "sensor", "ros2_control"))
_ROUND = 16  # corners of the polygon about a circle


@dataclass(frozen=True, slots=True, eq=False)
class Solid:
    """What a collision element holds, in its link's frame: triangles (faces, 3, 3), or a sphere about `centre`."""

    triangles: np.ndarray | None
    centre: np.ndarray
    radius: float = 0.0

    @property
    def lowest(self) -> float:
        """The least z of any of its points."""
        if self.triangles is None:
            return float(self.centre[2]) - self.radius
        return float(self.triangles[..., 2].min())


def collision_shapes(path: Path) -> tuple[dict[str, list[Solid]], dict[str, str]]:
    """By name of link, its solids; and of links whose shapes cannot be read, why. Raises FormatError for no URDF."""
    root = parse(content(path, MOST_BYTES), path.name, _OTHERS)
    solids: dict[str, list[Solid]] = {}
    why: dict[str, str] = {}
    for link in root.all("link"):
        name = link.attributes.get("name", "")
        for element in link.all("collision"):
            try:
                solids.setdefault(name, []).append(_solid(element, path))
            except (DynarmError, ValueError) as error:
                why[name] = str(error)
    return {name: shapes for name, shapes in solids.items() if shapes}, why


def _numbers(text: str, count: int) -> np.ndarray:
    values = np.array([written(word) for word in text.split()])
    if len(values) != count or not np.isfinite(values).all():
        raise ValueError(f"'{text[:40]}' is not {count} numbers")
    return values


def _solid(element: Element, robot: Path) -> Solid:
    origin = element.first("origin")
    shift, turn = np.zeros(3), np.eye(3)
    if origin is not None:
        shift = _numbers(origin.attributes.get("xyz", "0 0 0"), 3)
        turn = rpy_rotation(*_numbers(origin.attributes.get("rpy", "0 0 0"), 3))
    geometry = element.first("geometry")
    shape = next(iter(geometry.children), None) if geometry is not None else None
    if shape is None:
        raise FormatError("a collision without geometry")
    a = shape.attributes
    if shape.tag == "sphere":
        return Solid(None, shift, float(_numbers(a.get("radius", ""), 1)[0]))
    if shape.tag == "box":
        corners = _box(_numbers(a.get("size", ""), 3))
    elif shape.tag in ("cylinder", "capsule"):
        radius, length = (float(_numbers(a.get(k, ""), 1)[0]) for k in ("radius", "length"))
        corners = _cylinder(radius, length + (2 * radius if shape.tag == "capsule" else 0))
    elif shape.tag == "mesh":
        corners = _mesh(a.get("filename", ""), robot) * _numbers(a.get("scale", "1 1 1"), 3)
    else:
        raise FormatError(f"<{shape.tag}> is no shape that is known")
    return Solid(corners @ turn.T + shift, shift)


def _mesh(name: str, robot: Path) -> np.ndarray:
    file = next((p for p in mesh_paths(name, robot) if p.is_file()), None)
    if file is None:
        raise FormatError(f"mesh {name} is not there")
    return triangles(file)


def _box(size: np.ndarray) -> np.ndarray:
    """Twelve triangles of a box about the origin."""
    signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    corners = signs * size / 2
    quads = ((0, 1, 3, 2), (4, 5, 7, 6), (0, 1, 5, 4), (2, 3, 7, 6), (0, 2, 6, 4), (1, 3, 7, 5))
    return np.asarray(
        corners[[triple for a, b, c, d in quads for triple in ((a, b, c), (a, c, d))]]
    )


def _cylinder(radius: float, length: float) -> np.ndarray:
    """Triangles of a prism about the z axis that holds a cylinder."""
    angle = 2 * np.pi * np.arange(_ROUND) / _ROUND
    circle = radius / np.cos(np.pi / _ROUND) * np.column_stack([np.cos(angle), np.sin(angle)])
    low, high = (np.column_stack([circle, np.full(_ROUND, z)]) for z in (-length / 2, length / 2))
    faces = []
    for k in range(_ROUND):
        m = (k + 1) % _ROUND
        faces += [(low[k], low[m], high[m]), (low[k], high[m], high[k])]
        faces += [(low[0], low[k], low[m]), (high[0], high[k], high[m])]
    return np.array(faces)
