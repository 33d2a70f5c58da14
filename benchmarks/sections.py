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


def friction_choice(robot: Robot, settings: Settings, step: Step) -> Figures:
    """Drawn arms in place of the robot, one after the other."""
    from .bench_friction import run

    return dict(run(step=step))


def fleet(robot: Robot, settings: Settings, step: Step) -> Figures:
    """Drawn fleets in place of the robot, one after the other."""
    from .bench_fleet import run

    return dict(run(step=step))


SECTIONS: dict[str, Section] = {
    "batch": batch,
    "single": single,
    "sizes": sizes,
    "compiling": compiling,
    "length": length,
    "c": extra("bench_c"),
    "wasm": extra("bench_wasm"),
    "simulation": extra("bench_simulation"),
    "identify": extra("bench_identify"),
    "friction_choice": friction_choice,
    "positions": extra("bench_positions"),
    "scale": extra("bench_scale"),
    "fleet": fleet,
    "mobile": extra("bench_mobile"),
    "trees": extra("bench_trees"),
    "weight": extra("bench_weight"),
    "live": extra("bench_live"),
    "excitation": extra("bench_excitation"),
}
NAMES = list(SECTIONS)
