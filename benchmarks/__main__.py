"""python -m benchmarks [--robot panda] [--only batch single ...] [--seconds 0.5]

Measures dynarm and its peers in one process: same robot, same states, results checked equal first, contenders timed in
turns, best of many repeats. Prints ratios with operation counts beside them and writes benchmarks/results/<robot>.json.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
from importlib import metadata
from pathlib import Path

from rich.console import Console

from . import sections
from .robots import robot

HERE = Path(__file__).parent


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description=__doc__.split("\n\n")[1]
    )
    parser.add_argument(
        "--robot", default="panda", help="panda, ur10, a built-in name, a path or generic:12"
    )
    parser.add_argument("--only", nargs="+", choices=sections.NAMES, default=sections.NAMES)
    parser.add_argument("--seconds", type=float, default=0.5, help="time for each contender")
    parser.add_argument(
        "--json", type=Path, help="where the figures go (default: benchmarks/results)"
    )
    parser.add_argument(
        "--largest", type=int, default=60, help="longest chain of the section 'length'"
    )
    given = parser.parse_args()
    out = Console(width=120 if not sys.stdout.isatty() else None, highlight=False)
    twin = robot(given.robot)
    path = given.json or HERE / "results" / f"{Path(given.robot).stem.replace(':', '_')}.json"
    found = (
        json.loads(path.read_text())
        if path.exists() and set(given.only) != set(sections.NAMES)
        else {}
    )
    found |= {"robot": given.robot, "machine": machine()}
    for name in given.only:
        found[name] = sections.run(name, twin, given, out)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(found, indent=1) + "\n")
    out.print(f"figures: {path.name}")


def machine() -> dict[str, str]:
    """What was measured on, and with what."""
    cpu = next(
        (line.split(":")[1].strip() for line in _cpuinfo() if line.startswith("model name")),
        platform.machine(),
    )
    libraries = ("numpy", "llvmlite", "casadi", "pin", "mujoco", "scipy")
    return {"cpu": cpu, "python": platform.python_version()} | {
        name: metadata.version(name) for name in libraries
    }


def _cpuinfo() -> list[str]:
    path = Path("/proc/cpuinfo")
    return path.read_text().splitlines() if path.exists() else []


if __name__ == "__main__":
    main()
