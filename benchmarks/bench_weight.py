"""What an installation weighs: megabytes of each package that `pip install dynarm` and its extras bring.

dynarm itself is told by what its wheel packs, room by room: its files, deflated, with the entries of the archive.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path
from typing import Any

import dynarm

EXTRAS = ("parquet", "view", "bags", "jax")


def run() -> dict[str, Any]:
    """Megabytes by package of the plain install, and of what each extra adds."""
    plain = _closure(_required(None))
    sizes = {name: _megabytes(name) for name in sorted(plain)}
    largest = dict(sorted(sizes.items(), key=lambda item: -item[1])[:10])
    figures: dict[str, Any] = {"plain install": sum(sizes.values()), "of it": largest}
    for extra in EXTRAS:
        more = _closure(_required(extra)) - plain
        figures[f"extra [{extra}]"] = sum(map(_megabytes, more))
    rooms = packed()
    return figures | {"dynarm's own wheel": sum(rooms.values()), "of its rooms": rooms}


def packed(root: Path = Path(dynarm.__file__).parent) -> dict[str, float]:
    """Megabytes that a folder's parts take in a wheel, largest first; without the wheel's own lists."""
    sizes: dict[str, float] = {}
    for path in sorted(p for p in root.rglob("*") if p.is_file() and p.suffix != ".pyc"):
        name = path.relative_to(root.parent).as_posix()
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            empty = buffer.tell()
            archive.writestr(name, path.read_bytes())
        end = 22  # bytes that an archive ends with, once
        room = name.split("/")[1] if name.count("/") > 1 else "modules"
        sizes[room] = sizes.get(room, 0.0) + (len(buffer.getvalue()) - empty - end) / 1e6
    return dict(sorted(sizes.items(), key=lambda item: -item[1]))


def _required(extra: str | None) -> set[str]:
    """Names of the distributions that dynarm itself asks for, plainly or by an extra."""
    lines = metadata.requires("dynarm") or []
    mark = f"extra == '{extra}'" if extra else "extra =="
    return {_name(line) for line in lines if (mark in line) == (extra is not None)}


def _closure(names: Iterable[str]) -> set[str]:
    """The distributions and all that they need; extras of theirs left out."""
    seen: set[str] = set()
    todo = list(names)
    while todo:
        name = todo.pop()
        if name in seen or not _installed(name):
            continue
        seen.add(name)
        todo += [_name(line) for line in metadata.requires(name) or [] if "extra ==" not in line]
    return seen


def _name(line: str) -> str:
    return re.split(r"[\s;<>=!~\[(]", line, maxsplit=1)[0].lower()


def _installed(name: str) -> bool:
    return any(True for _ in metadata.distributions(name=name))


def _megabytes(name: str) -> float:
    files = metadata.files(name) or []
    return sum(p.stat().st_size for f in files if (p := f.locate()) and _regular(p)) / 1e6


def _regular(path: Any) -> bool:
    return bool(path.is_file())
