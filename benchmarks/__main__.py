"""python -m benchmarks [--robot panda] [--only batch single ...] [--seconds 0.5]

Measures dynarm and its peers in one process: same robot, same states, results checked equal first, contenders timed in
turns, best of many repeats. Prints ratios with operation counts beside them, writes benchmarks/results/<robot>.json and
draws benchmarks/results/<robot>.svg from it.
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
from .batches import Settings
from .console import running, show
from .peers import MODULES, installed
from .picture import picture
from .robots import robot
from .tables import tables, targets

HERE = Path(__file__).parent


def main() -> None:
    given = _parser().parse_args()
    out = Console(width=160 if not sys.stdout.isatty() else None, highlight=False)
    name = Path(given.robot).stem.replace(":", "_")
    path = given.json or HERE / "results" / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    stored = json.loads(path.read_text()) if path.exists() else {}
    found = stored if set(given.only) != set(sections.NAMES) else {}
    found |= {"robot": given.robot, "machine": machine()}
    twin, settings = robot(given.robot), Settings(given.seconds, given.largest)
    with running(out, len(given.only)) as bar:
        for section in given.only:
            found[section] = sections.SECTIONS[section](twin, settings, bar.steps(section))
            path.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
            bar.done()
            for table in tables(section, found[section]):
                show(table, out)
    for table in targets(found):
        show(table, out)
    drawing = path.with_suffix(".svg")
    drawing.write_text(picture(found), encoding="utf-8")
    out.print(f"figures: {path.name}, {drawing.name}")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description=(__doc__ or "").split("\n\n")[1]
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
    return parser


def machine() -> dict[str, str]:
    """What was measured on, and with what."""
    cpu = next(
        (line.split(":")[1].strip() for line in _cpuinfo() if line.startswith("model name")),
        platform.machine(),
    )
    peers = [MODULES[name][1] for name in installed()]
    libraries = dict.fromkeys(("numpy", "llvmlite", "casadi", "scipy", *peers))
    return {"cpu": cpu, "python": platform.python_version()} | {
        name: metadata.version(name) for name in libraries
    }


def _cpuinfo() -> list[str]:
    path = Path("/proc/cpuinfo")
    return path.read_text().splitlines() if path.exists() else []


if __name__ == "__main__":
    main()
