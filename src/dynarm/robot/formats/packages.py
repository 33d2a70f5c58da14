"""Folders of packages: those that the user names, and the ROS package that a file lies in.

That is the nearest folder above it with a package.xml, by the name written there.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from ...border.files import content, named
from ...border.kinds import Outside
from ...border.words import shown
from ...errors import DynarmError, FileError, InputError, KindError
from .elements import parse

ABOVE = 8  # folders that are looked at
_FILE = "package.xml"
_MOST = 1 << 20  # bytes


def own_package(path: str) -> dict[str, str]:
    """The package's folder by its name; empty where the file lies in none, or the package does not say its name."""
    for folder in list(Path(path).parents)[:ABOVE]:
        if os.path.isfile(folder / _FILE) and folder.parent != folder:
            name = _name(folder / _FILE)
            return {name: str(folder)} if name else {}
    return {}


def _name(path: Path) -> str | None:
    try:
        text = content(path, _MOST)
        element = parse(text, named(path)).first("name")
    except DynarmError:  # what it says is no condition for reading the file that was asked for
        return None
    if element is None:
        return None
    name = text[element.start : element.stop].partition(b">")[2].decode("utf-8", "replace").strip()
    return name if name.isprintable() and name else None


def seems_near(path: str, name: str) -> str | None:
    """A folder of that name above a file or beside one above it: where its package may be, to be named by the user."""
    if os.path.basename(name) != name or name in ("", ".", ".."):
        return None
    for folder in list(Path(path).parents)[:ABOVE]:
        for place in (folder, folder / name):
            if place.name == name and place.is_dir():
                return str(place)
    return None


def package_folders(packages: Outside) -> dict[str, str]:
    """{name: folder} as a user gave it, every folder there and none of them the whole disk."""
    if packages is None:
        return {}
    if not isinstance(packages, Mapping):
        raise KindError(f"packages is {shown(packages)}; give {{'name': 'folder', ...}}")
    folders = {}
    for name, folder in packages.items():
        if not isinstance(name, str) or not isinstance(folder, (str, os.PathLike)):
            raise KindError(f"packages has {shown(folder)} for {shown(name)}; give folders by name")
        place = os.path.realpath(folder)
        if not os.path.isdir(place):
            raise FileError(f"package '{name}' is in '{named(folder)}', which is no folder")
        if os.path.dirname(place) == place:
            raise InputError(
                f"package '{name}' is in '{named(folder)}', the whole disk; name its folder"
            )
        folders[name] = place
    return folders
