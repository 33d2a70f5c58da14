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
# numbers of x86: processors of several generations call themselves the same
KIND = ("family", "model")


def machine() -> Machine:
    """This processor as code is made for it, and the versions of the libraries that were compared."""
    peers = [MODULES[name][1] for name in installed()]
    libraries = dict.fromkeys(("numpy", "llvmlite", "casadi", "scipy", *peers))
    return {
        **processor(_cpuinfo()),
        "lanes": host_lanes(),
        "python": platform.python_version(),
        "dynarm": dynarm.__version__,
    } | {name: metadata.version(name) for name in libraries}


def slug(host: Machine) -> str:
    """A machine's name in file names: its processor and the lanes of its vectors."""
    words = re.sub(r"\((r|tm)\)", "", str(host["cpu"]).lower())
    words = re.sub(r"[^a-z0-9]+", "-", words).strip("-")
    return "-".join(
        [words, *(str(host[key]) for key in KIND if key in host), f"{host['lanes']}-lanes"]
    )


def same(one: Machine, other: Machine) -> bool:
    """Whether figures of the two may stand in one table."""
    return all(one.get(key) == other.get(key) for key in ("cpu", *KIND, "lanes"))


def processor(cpuinfo: str) -> Machine:
    """What the first processor of Linux' list calls itself, and its kind, where the list says it."""
    pairs = (line.partition(":")[::2] for line in cpuinfo.split("\n\n")[0].splitlines())
    said = {key.strip(): value.strip() for key, value in pairs}
    kind = {"family": said.get("cpu family", ""), "model": said.get("model", "")}
    name = said.get("model name") or platform.machine()
    return {"cpu": name} | {key: int(number) for key, number in kind.items() if number.isdigit()}


def _cpuinfo() -> str:
    path = Path("/proc/cpuinfo")
    return path.read_text() if path.exists() else ""
