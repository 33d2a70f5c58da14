"""Xacro: the URDF that a file of macros expands to.

The package xacro expands it, in a process of its own with limits of time and memory (`xacro_child.py`). Files are
included, and YAML files read, only below the file's own folder, its own ROS package, and the folders of packages that
the user names.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

from ...border.apart import asked
from ...border.extras import extra
from ...border.kinds import Outside
from ...border.words import shown
from ...errors import FormatError, KindError
from .packages import own_package, package_folders

MAX_TEXT = 16 * 2**20  # bytes of what a file expands to
_CHILD = "dynarm.robot.formats.xacro_child"
_PATIENCE = 30.0  # seconds


def expanded(
    path: Path,
    source: str,
    arguments: Mapping[str, Outside] | None = None,
    packages: Mapping[str, str | os.PathLike[str]] | None = None,
) -> bytes:
    """The URDF of a xacro file. arguments: of its <xacro:arg>; packages: folders by the names that $(find) knows."""
    if find_spec("xacro") is None:
        raise FormatError(f"{source}: xacro is expanded by the package xacro; {extra('xacro')}")
    main = os.path.realpath(path)
    folders = own_package(main) | package_folders(packages)
    request = {
        "file": main,
        "folders": [os.path.dirname(main), *folders.values()],
        "packages": folders,
        "arguments": _arguments(arguments),
    }
    answer = asked(_CHILD, json.dumps(request).encode(), source, _PATIENCE)
    text = str(answer["text"]).encode()
    if len(text) > MAX_TEXT:
        raise FormatError(f"{source} expands to {len(text)} bytes; at most {MAX_TEXT} are read")
    return text


def _arguments(arguments: Outside) -> dict[str, str]:
    """Values as xacro takes them: texts."""
    if arguments is None:
        return {}
    if not isinstance(arguments, Mapping):
        raise KindError(f"xacro is {shown(arguments)}; give {{'argument': value, ...}}")
    texts = {}
    for name, value in arguments.items():
        if not isinstance(name, str) or not isinstance(value, (str, bool, int, float)):
            raise KindError(
                f"xacro has {shown(value)} for {shown(name)}; give texts, numbers or truths by name"
            )
        texts[name] = str(value).lower() if isinstance(value, bool) else str(value)
    return texts
