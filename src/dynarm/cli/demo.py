"""dynarm demo: the whole story on the built-in Stanford arm, from its description to a report and code to run."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from . import story as steps
from .console import busy, print_json, say, show_table
from .files import check_folder, new_folder
from .options import FORCE, JSON
from .story import NOISE, RATE, SAMPLES

if TYPE_CHECKING:
    from ..border.kinds import Json
    from ..report.story import Story

EXAMPLES = ("dynarm demo",)
FOLDER = "dynarm-demo"


def demo(
    out: str = typer.Option(
        None,
        "--out",
        "-o",
        metavar="FOLDER",
        help="A new folder for the results; default: dynarm-demo.",
        show_default=False,
    ),
    force: bool = FORCE,
    as_json: bool = JSON,
) -> int:
    """See dynarm at work, in under a minute.

    On the built-in Stanford arm: minimal parameters, operation counts, compiled code and its speed, identification from
    a noisy simulated log, validation, control by the identified model, C code, and one report with pictures.
    """
    from ..report.story import Story, page
    from ..robot.files import load

    begun = time.perf_counter()
    folder = check_folder(_free(), False) if out is None else check_folder(out, force)
    tell: Callable[..., None] = (lambda *_, **__: None) if as_json else say
    story = Story(load("stanford"))
    with new_folder(folder, force) as draft:
        for name, tell_of in _STEPS.items():
            step = getattr(steps, name)
            with busy(str(step.__doc__)):
                step(story, draft)
            if not as_json:
                tell_of(story)
        with busy("writing the report"):
            page(story, draft / "report.html")
    seconds = time.perf_counter() - begun
    if as_json:
        print_json(_as_data(story, folder, seconds))
    tell(
        f"Everything is in {folder}{'/' if folder.name else ''}: log.csv, other.csv, model.toml, "
        "identified.urdf, c, report.html"
    )
    tell(
        f"Done in {seconds:.0f} s. Open this page in a browser: {folder / 'report.html'}",
        style="bold",
    )
    return story.verdict.exit_code


def _free() -> Path:
    """A folder of the demo's own that is not there yet."""
    folder, k = Path(FOLDER), 1
    while folder.exists():
        k += 1
        folder = Path(f"{FOLDER}-{k}")
    return folder


# ---- what is told after each step


def _tell_robot(story: Story) -> None:
    from .info import CHAIN, _joint_row

    arm, minimal = story.arm, story.minimal
    say("1. The robot", "bold cyan")
    rows = [_joint_row(j)[:-1] for j in arm.joints]
    show_table(
        f"The {arm.name} arm: {arm.n} joints, modified Denavit-Hartenberg",
        CHAIN[:-1],
        rows,
        right=2,
    )
    say("2. Its minimal parameters", "bold cyan")
    say(
        f"Of {len(minimal.natural)} inertia parameters only {minimal.count} combinations matter to the torques. "
        "Found in closed form, by name; the first few:"
    )
    shown = list(zip(minimal.names, minimal.values, minimal.long_forms, strict=True))[:6]
    show_table(
        "", ["name", "value", "= combination"], [[n, f"{v:.5g}", f] for n, v, f in shown], wrap=2
    )


def _tell_costs(story: Story) -> None:
    from .info import choices

    say("3. What each formulation costs", "bold cyan")
    rows = choices(story.arm, story.costs)
    columns = [c for c in rows[0] if c != "total"]
    show_table(
        "The cheapest for this robot is compiled",
        columns,
        [[r[c] for c in columns] for r in rows],
        right=2,
    )


def _tell_speed(story: Story) -> None:
    say("4. Compiled", "bold cyan")
    columns = ["quantity", "mul", "add", "compile [ms]", "one call [us]", "batch [ns/sample]"]
    show_table(
        f"One thread, batches of {SAMPLES}",
        columns,
        [[r[c] for c in columns] for r in story.speeds],
    )
    word = "agree" if story.agreement < 1e-12 else "DISAGREE"
    say(
        f"Check: compiled code and the paper's equations evaluated by NumPy {word} on {SAMPLES} random states "
        f"(largest relative difference {story.agreement:.1e})."
    )
    say()


def _tell_logs(story: Story) -> None:
    say("5. Identified from a log", "bold cyan")
    log = story.logs[0]
    say(
        f"Two simulated logs of {log.duration:g} s at {RATE:g} Hz: friction added, positions in encoder steps of "
        f"17 bits, torques with {100 * NOISE:g} % noise. One is fitted, the other predicted."
    )


def _tell_fit(story: Story) -> None:
    import numpy as np

    from .judgement import show_scale, show_verdict

    fit, verdict = story.fit, story.verdict
    check = fit.identifiability_
    say(
        f"{len(fit.names_)} unknowns (minimal parameters, motor inertias, friction): "
        f"{sum(g == 'determined' for g in check.grades)} determined, condition number {fit.condition_:.3g}."
    )
    inside = np.abs(fit.values_ - story.true_values) < 1.96 * fit.std_
    say(f"The truth, known here, lies inside {inside.sum()} of {len(inside)} 95 % intervals.")
    say()
    show_scale(fit, story.checks)
    show_verdict(verdict)
    say()


def _tell_control(story: Story) -> None:
    run = story.run
    say("6. Controlled by what was identified", "bold cyan")
    say(
        f"The robot with friction, driven along the second motion by computed torque from the identified model alone: "
        f"largest tracking error {1e3 * story.tracking:.2f} mrad or mm in {run.t[-1]:g} s ({run.method}, {run.status})."
    )
    say()


def _tell_export(story: Story) -> None:
    say("7. C for a controller", "bold cyan")
    say(f"c: {', '.join(story.functions)}; C99 with a self-test, no allocation.")
    say()


_STEPS: dict[str, Callable[[Story], None]] = {
    "describe": _tell_robot,
    "count": _tell_costs,
    "speed": _tell_speed,
    "record": _tell_logs,
    "identify": _tell_fit,
    "control": _tell_control,
    "export": _tell_export,
}


def _as_data(story: Story, folder: Path, seconds: float) -> Json:
    from .info import choices

    fit, minimal, verdict = story.fit, story.minimal, story.verdict
    return {
        "robot": story.arm.name,
        "minimal_parameters": dict(zip(minimal.names, minimal.values.tolist(), strict=True)),
        "chosen": choices(story.arm, story.costs),
        "compiled": story.speeds,
        "agreement": story.agreement,
        "verdict": verdict.word,
        "reasons": verdict.reasons,
        "relative": fit.relative_,
        "validation": [{"log": c.source, "relative": c.relative} for c in story.checks],
        "tracking_error": story.tracking,
        "functions": story.functions,
        "folder": str(folder),
        "report": str(folder / "report.html"),
        "seconds": round(seconds, 1),
    }
