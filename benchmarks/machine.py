"""What was measured on, and with what."""

from __future__ import annotations

import platform
import re
from importlib import metadata
from pathlib import Path
from typing import Any

import dynarm

from .batches import host_lanes
from .peers import MODULES, installed

Machine = dict[str, Any]


def machine() -> Machine:
    """This processor as code is made for it, and the versions of the libraries that were compared."""
    peers = [MODULES[name][1] for name in installed()]
    libraries = dict.fromkeys(("numpy", "llvmlite", "casadi", "scipy", *peers))
    return {
        "cpu": _cpu(),
        "lanes": host_lanes(),
        "python": platform.python_version(),
        "dynarm": dynarm.__version__,
    } | {name: metadata.version(name) for name in libraries}


def slug(host: Machine) -> str:
    """A machine's name in file names: its processor and the lanes of its vectors."""
    words = re.sub(r"\((r|tm)\)", "", str(host["cpu"]).lower())
    words = re.sub(r"[^a-z0-9]+", "-", words).strip("-")
    return f"{words}-{host['lanes']}-lanes"


def same(one: Machine, other: Machine) -> bool:
    """Whether figures of the two may stand in one table."""
    return all(one.get(key) == other.get(key) for key in ("cpu", "lanes"))


def _cpu() -> str:
    path = Path("/proc/cpuinfo")
    lines = path.read_text().splitlines() if path.exists() else []
    names = (line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())
