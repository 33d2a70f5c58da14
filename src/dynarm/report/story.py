"""The demo's report: robot, minimal parameters, costs, speed, identification, control, code, on one page."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

import numpy as np

from . import figures, identification, simulation
from .html import Section, facts, figure, lines, note, section, table, write
from .html import page as make_page
from .robot_sheet import cost_section, inertia_section, minimal_section, robot_section


def page(story: Any, path: str | os.PathLike[str]) -> None:
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
    write(make_page(f"dynarm demo: the {story.arm.name} arm", parts, about), path)


def _summary(story: Any) -> Section:
    best = story.costs["inverse_dynamics"][0]
    speed = next(row for row in story.speeds if row["quantity"] == "inverse_dynamics")
    numbers = {
        "minimal parameters": f"{story.minimal.count} of {len(story.minimal.natural)}",
        "inverse dynamics": f"{best['mul']} × + {best['add']} +",
        "a sample in a batch": f"{speed['batch [ns/sample]']:.0f} ns",
        "identification": story.verdict.word,
        "error on unseen log": f"{100 * story.checks[0].mean:.1f} %",
        "tracking error": f"{1e3 * story.tracking:.2f} mrad",
    }
    return section("In short", facts(numbers))


def _identified(story: Any) -> list[Section]:
    first, *rest = identification.sections(story.fit, story.checks, story.verdict)
    return [replace(first, title="Identified from a log", anchor="identified"), *rest]


def _speed(story: Any) -> Section:
    columns = (
        "quantity",
        "formulation",
        "mul",
        "add",
        "compile [ms]",
        "one call [us]",
        "batch [ns/sample]",
    )
    rows = [[row[c] for c in columns] for row in story.speeds]
    return section(
        "Compiled",
        table(columns, rows),
        note(
            f"One thread of this machine; largest relative difference to the paper's equations evaluated by NumPy: "
            f"{story.agreement:.1e}."
        ),
    )


def _truth(story: Any) -> Section:
    """Fitted values against those of the robot that the log came from."""
    fit, true = story.fit, story.true_values
    off = (fit.values_ - true) / fit.std_
    inside = int((np.abs(off) < 1.96).sum())
    data = [
        {
            "type": "bar",
            "x": [figures.label(n) for n in fit.names_],
            "y": off,
            "marker": {"color": ["--c1" if abs(x) < 1.96 else "--c2" for x in off]},
            "hovertemplate": "%{x}: %{y}<extra></extra>",
        }
    ]
    line = {
        "type": "line",
        "xref": "paper",
        "x0": 0,
        "x1": 1,
        "line": {"color": "--faint", "width": 1, "dash": "dot"},
    }
    layout = {
        "xaxis": {"automargin": True, "tickangle": -60, "tickfont": {"size": 10}},
        "yaxis": figures.axis("(fitted − true) / std"),
        "shapes": [{**line, "y0": y, "y1": y} for y in (-1.96, 1.96)],
        "margin": {"l": 60, "r": 12, "t": 12, "b": 80},
    }
    return section(
        "Against the truth",
        f"The log is simulated, so the truth is known: {inside} of {len(off)} values lie inside their 95 % intervals.",
        figure({"data": data, "layout": layout}, height=280),
    )


def _control(story: Any) -> Section:
    run = story.run
    return section(
        "Controlled by what was identified",
        "The robot with friction follows the second motion under computed torque from the identified model "
        f"alone; the largest error is {1e3 * story.tracking:.2f} mrad or mm.",
        *(part for s in simulation.sections(run)[1:2] for part in s.parts),
    )


def _code(story: Any) -> Section:
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
