"""python -m benchmarks [--robot panda] [--only batch single ...] [--seconds 0.5]

Measures dynarm and its peers in one process: same robot, same states, results checked equal first, contenders timed in
turns, best of many repeats. Prints ratios with operation counts beside them, writes
benchmarks/results/<robot>-<processor>.json and draws the picture of the same name from it. A figure belongs to a
machine: results of another one are kept apart, never merged, and the verdicts are those of this run alone.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from rich.console import Console

from . import sections
from .batches import Settings
from .console import running, show
from .machine import machine
from .picture import picture
from .results import begin, path_of, put, this_run
from .robots import robot
from .tables import tables, targets


def main() -> None:
    given = _parser().parse_args()
    out = Console(width=160 if not sys.stdout.isatty() else None, highlight=False)
    host = machine()
    path = given.json or path_of(given.robot, host)
    result = begin(path, given.robot, host, anew=set(given.only) == set(sections.NAMES))
    twin, settings = robot(given.robot), Settings(given.seconds, given.largest)
    with running(out, len(given.only)) as bar:
        for section in given.only:
            figures = sections.SECTIONS[section](twin, settings, bar.steps(section))
            result = put(path, result, section, figures)
            bar.done()
            for table in tables(section, figures):
                show(table, out)
    for table in targets(this_run(result, given.only)):
        show(table, out)
    drawing = path.with_suffix(".svg")
    drawing.write_text(picture(result), encoding="utf-8")
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


if __name__ == "__main__":
    main()
