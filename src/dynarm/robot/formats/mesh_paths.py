"""Meshes of a URDF that is written into another folder: names relative to the old one would lead nowhere."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from .edits import Edits
from .elements import Element

_FILES = ("mesh", "texture")
_SCHEME = "file://"


def follow_meshes(edits: Edits, old: Path, new: Path) -> list[str]:
    """Name files by their way from the new folder, where they are there and named from the old one; what was done."""
    here, there = (Path(os.path.realpath(folder)) for folder in (old, new))
    if here == there:
        return []
    count = 0
    for element in _elements(edits.root):
        name = element.attributes.get("filename", "")
        plain = name.removeprefix(_SCHEME)
        if not plain or "://" in plain or "\0" in plain or os.path.isabs(plain):
            continue
        if (here / plain).is_file():
            way = Path(os.path.relpath(here / plain, there)).as_posix()
            edits.put(element, {"filename": f"{_SCHEME if plain != name else ''}{way}"})
            count += 1
    if not count:
        return []
    return [f"{count} name{'s' * (count > 1)} of meshes and textures lead from the new folder"]


def _elements(root: Element) -> Iterator[Element]:
    stack = [root]
    while stack:
        element = stack.pop()
        if element.tag in _FILES:
            yield element
        stack += element.children
