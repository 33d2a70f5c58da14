"""The demo's report: robot, minimal parameters, costs, speed, identification, control, code, on one page."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from ..border.kinds import Json
from . import figures, identification, simulation
from .html import Section, facts, figure, lines, note, section, table, write_page
from .robot_sheet import cost_section, inertia_section, minimal_section, robot_section

if TYPE_CHECKING:
    from ..identify.judgement.verdict import Validation, Verdict
    from ..identify.logs.log import Log
    from ..identify.result import Fit
    from ..parameters.minimal import MinimalParameters
    from ..robot.arm import Arm
    from ..simulation.run import Run


@dataclass(slots=True)
class Story:
    """What the demo tells: the robot it begins with, then what each step finds out, set when that step is done."""

    arm: Arm
    minimal: MinimalParameters = field(init=False)
    costs: dict[str, list[Json]] = field(init=False)
    speeds: list[Json] = field(init=False)
    agreement: float = field(init=False)  # with the paper's equations, relative
    logs: tuple[Log, ...] = field(init=False)
    true_values: np.ndarray = field(init=False)
    fit: Fit = field(init=False)
    checks: Sequence[Validation] = field(init=False)
    verdict: Verdict = field(init=False)
    run: Run = field(init=False)
    tracking: float = field(init=False)  # largest error [rad or m]
    functions: tuple[str, ...] = field(init=False)


def page(story: Story, path: str | os.PathLike[str]) -> None:
    """Write the report of a demo that has run through."""
    parts = [
        _summary(story),
        robot_section(story.arm),
        minimal_section(story.minimal),
        cost_section(story.costs),
        _speed(story),
        inertia_section(story.arm),
        *_identified(story),
        _truth(story),
        _control(story),
        _code(story),
    ]
    about = "From a robot description and a noisy log to a validated, compiled model"
    write_page(path, f"dynarm demo: the {story.arm.name} arm", parts, about)


def _summary(story: Story) -> Section:
    best = story.costs["inverse_dynamics"][0]
    speed = next(row for row in story.speeds if row["quantity"] == "inverse_dynamics")
    numbers = {
        "minimal parameters": f"{story.minimal.count} of {len(story.minimal.natural)}",
        "operations for torques": str(best["mul"] + best["add"]),
        "a sample in a batch": f"{speed['batch [ns/sample]']:.0f} ns",
        "identification": story.verdict.word,
        "error on unseen log": f"{100 * story.checks[0].mean:.1f} %",
        "tracking error": f"{1e3 * story.tracking:.2f} mrad",
    }
    return section("In short", facts(numbers))


def _identified(story: Story) -> list[Section]:
    first, *rest = identification.sections(story.fit, story.checks, story.verdict)
    return [replace(first, title="Identified from a log", anchor="identified"), *rest]


def _speed(story: Story) -> Section:
    columns = [column for column in story.speeds[0] if column != "joints"]
    rows = [[row[c] for c in columns] for row in story.speeds]
    return section(
        "Compiled",
        table(columns, rows),
        note(
            f"One thread of this machine; largest relative difference to the paper's equations evaluated by NumPy: "
            f"{story.agreement:.1e}."
        ),
    )


def _truth(story: Story) -> Section:
    """Fitted values against those of the robot that the log came from."""
    fit, true = story.fit, story.true_values
    off = (fit.values_ - true) / fit.std_
    inside = int((np.abs(off) < 1.96).sum())
    bars = figures.upright_bars(
        fit.names_,
        off.tolist(),
        ["--c1" if abs(x) < 1.96 else "--c2" for x in off],
        "(fitted − true) / std",
        "%{x}: %{y}",
        [(-1.96, "--faint"), (1.96, "--faint")],
    )
    return section(
        "Against the truth",
        f"The log is simulated, so the truth is known: {inside} of {len(off)} values lie inside their 95 % intervals.",
        figure(bars, height=280),
    )


def _control(story: Story) -> Section:
    run = story.run
    return section(
        "Controlled by what was identified",
        "The robot with friction follows the second motion under computed torque from the identified model "
        f"alone; the largest error is {1e3 * story.tracking:.2f} mrad or mm.",
        *(part for s in simulation.sections(run)[1:2] for part in s.parts),
    )


def _code(story: Story) -> Section:
    return section(
        "What was written",
        lines(
            [
                "log.csv, other.csv: the simulated recordings",
                "model.toml: the identified robot, friction included; load it with dynarm.load",
                "identified.urdf: the same for other programs",
                f"c: {', '.join(story.functions)} as C99, with a self-test",
            ]
        ),
    )
