"""The parts of a benchmark run by name: each measures, and returns its figures."""

from __future__ import annotations

import importlib
from collections.abc import Callable

from .batches import Figures, Settings, Step, batch, single, sizes
from .robots import Robot
from .waiting import compiling, length

Section = Callable[[Robot, Settings, Step], Figures]


def extra(module: str) -> Section:
    """A section that a bench_*.py file brings: its run() returns figures; it has a robot of its own."""

    def section(robot: Robot, settings: Settings, step: Step) -> Figures:
        found: Figures = importlib.import_module(f".{module}", __package__).run()
        return found

    return section


SECTIONS: dict[str, Section] = {
    "batch": batch,
    "single": single,
    "sizes": sizes,
    "compiling": compiling,
    "length": length,
    "c": extra("bench_c"),
    "simulation": extra("bench_simulation"),
    "identify": extra("bench_identify"),
    "mobile": extra("bench_mobile"),
    "trees": extra("bench_trees"),
    "weight": extra("bench_weight"),
}
NAMES = list(SECTIONS)
