"""dynarm demo: the whole story on the built-in Stanford arm, from its description to a report and code to run."""

from __future__ import annotations

import time
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from .console import busy, print_json, say, show_table
from .files import check_folder, new_folder, write_log
from .options import JSON

if TYPE_CHECKING:
    import numpy as np

    from ..identify.log import Log
    from ..identify.result import Fit, Validation, Verdict
    from ..minimal import MinimalParameters
    from ..model import Model
    from ..robot.arm import Arm
    from ..simulation.run import Run

EXAMPLES = ("dynarm demo",)
FOLDER = "dynarm-demo"
SHOWN = (
    "inverse_dynamics",
    "forward_dynamics",
    "mass_matrix",
    "bias",
    "coriolis_matrix",
    "jacobian",
)
COUNTED = ("inverse_dynamics", "bias", "mass_matrix", "coriolis_tensor", "forward_dynamics")
SAMPLES = 4096
RATE = 250.0  # samples a second of the logs
NOISE = 0.03  # of the torques, part of their standard deviation
VISCOUS = (3.0, 3.0, 15.0, 0.5, 0.5, 0.3)  # friction of the robot that the logs come from
COULOMB = (4.0, 4.0, 20.0, 0.6, 0.6, 0.4)
GAINS = (100.0, 20.0)


@dataclass(slots=True)
class Story:
    """What the demo found out, step by step."""

    arm: Arm
    minimal: MinimalParameters | None = None
    costs: dict[str, list[dict[str, Any]]] | None = None
    speeds: list[dict[str, Any]] | None = None
    agreement: float = 0.0
    logs: tuple[Log, ...] = ()
    true_values: np.ndarray | None = None
    fit: Fit | None = None
    checks: tuple[Validation, ...] = ()
    verdict: Verdict | None = None
    run: Run | None = None
    tracking: float = 0.0
    functions: tuple[str, ...] = ()


def demo(
    out: str = typer.Option(
        "",
        "--out",
        "-o",
        metavar="FOLDER",
        help="A new folder for the results; default: dynarm-demo.",
        show_default=False,
    ),
    force: bool = typer.Option(False, "--force", help="Write into a folder that is not empty."),
    as_json: bool = JSON,
) -> int:
    """See dynarm at work, in under a minute.

    On the built-in Stanford arm: minimal parameters, operation counts, compiled code and its speed, identification from
    a noisy simulated log, validation, control by the identified model, C code, and one report with pictures.
    """
    from ..robot.files import load

    begun = time.perf_counter()
    folder = check_folder(out, force) if out else check_folder(_free(), False)
    tell: Callable[..., None] = (lambda *_, **__: None) if as_json else say
    story = Story(load("stanford"))
    with new_folder(folder, force) as draft:
        for step in (_describe, _count, _speed, _record, _identify, _control, _export):
            with busy(str(step.__doc__)):
                step(story, draft)
            if not as_json:
                _TOLD[step](story)
        with busy("writing the report"):
            _report(story, draft / "report.html")
    seconds = time.perf_counter() - begun
    assert story.verdict is not None
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


# ---- the steps; each docstring is what a waiting person reads


def _describe(story: Story, folder: Path) -> None:
    """finding the minimal parameters"""
    from ..minimal import minimal_parameters

    story.minimal = minimal_parameters(story.arm)
    _ = story.minimal.long_forms


def _tell_robot(story: Story) -> None:
    from .info import CHAIN, _joint_row

    arm, minimal = story.arm, story.minimal
    assert minimal is not None
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


def _count(story: Story, folder: Path) -> None:
    """counting operations of every formulation"""
    from .count import costs

    story.costs = {quantity: costs(story.arm, quantity) for quantity in COUNTED}


def _tell_costs(story: Story) -> None:
    from .info import choices

    assert story.costs is not None
    say("3. What each formulation costs", "bold cyan")
    rows = choices(story.arm, story.costs)
    columns = [c for c in rows[0] if c != "total"]
    show_table(
        "The cheapest for this robot is compiled",
        columns,
        [[r[c] for c in columns] for r in rows],
        right=2,
    )


def _speed(story: Story, folder: Path) -> None:
    """compiling and measuring"""
    import numpy as np

    from ..model import compile as compile_arm
    from .compile import measured

    model = compile_arm(story.arm)
    story.speeds = [measured(model, name) for name in SHOWN]
    state = np.random.default_rng(0).uniform(-1, 1, (3, SAMPLES, story.arm.n))
    story.agreement = _independent(story.arm, model, *state)


def _independent(arm: Arm, model: Model, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> float:
    """The largest relative difference to Newton-Euler equations that were neither traced nor compiled."""
    import numpy as np

    from ..papers.newton_euler_lin1995 import inverse_dynamics
    from ..robot.chain import chain_of, pose

    chain = chain_of(arm)
    forces = inverse_dynamics(chain, pose(chain, list(q.T)), list(qd.T), list(qdd.T))
    plain = np.stack(np.broadcast_arrays(*forces), axis=-1)
    return float(np.abs(model.inverse_dynamics(q, qd, qdd) - plain).max() / np.abs(plain).max())


def _tell_speed(story: Story) -> None:
    assert story.speeds is not None
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


def _motion(name: str) -> Callable[[np.ndarray], tuple[np.ndarray, ...]]:
    """q, qd, qdd (N, n) of a stored motion as a function of times (N,)."""
    import numpy as np

    from ..identify.trajectory import Series

    file = resources.files(__package__) / "demo_motions.toml"
    stored = tomllib.loads(file.read_text(encoding="utf-8"))
    series = Series(stored["period"], stored[name]["harmonics"])
    coefficients = np.array(stored[name]["coefficients"])
    return lambda t: tuple(B @ coefficients.T for B in series.basis(t))


def _true_arm(arm: Arm) -> Arm:
    """The robot that the logs come from: the Stanford arm with friction, which nobody has told dynarm about."""
    from ..robot.arm import Friction

    joints = (
        replace(joint, friction=Friction(viscous=v, coulomb=c, shape="tanh"))
        for joint, v, c in zip(arm.joints, VISCOUS, COULOMB, strict=True)
    )
    return replace(arm, joints=tuple(joints))


def _record(story: Story, folder: Path) -> None:
    """recording two noisy logs"""
    import numpy as np

    from ..identify.log import Log
    from .rehearsal import simulated_log

    t = np.arange(int(10 * RATE) + 1) / RATE
    for k, (motion, name) in enumerate((("fit", "log.csv"), ("check", "other.csv"))):
        q, qd, qdd = _motion(motion)(t)
        log = simulated_log(_true_arm(story.arm), t, q, qd, qdd, noise=NOISE, seed=k)
        write_log(log, folder / name)
    story.logs = tuple(
        replace(Log.read(folder / name), source=name) for name in ("log.csv", "other.csv")
    )


def _tell_logs(story: Story) -> None:
    say("5. Identified from a log", "bold cyan")
    log = story.logs[0]
    say(
        f"Two simulated logs of {log.duration:g} s at {RATE:g} Hz: friction added, positions in encoder steps of "
        f"17 bits, torques with {100 * NOISE:g} % noise. One is fitted, the other predicted."
    )


def _identify(story: Story, folder: Path) -> None:
    """identifying"""
    from ..identify.identifier import Identifier

    identifier = Identifier(story.arm, shape="tanh", width=0.02)
    story.fit = fit = identifier.fit(story.logs[0])
    story.checks = (fit.validate(story.logs[1]),)
    story.verdict = fit.verdict(story.logs[1:])
    story.true_values = _true_values(fit, _true_arm(story.arm))
    fit.arm_.save(folder / "model.toml")
    fit.arm_.save(folder / "identified.urdf")


def _true_values(fit: Fit, arm: Arm) -> np.ndarray:
    """(p,): what the unknowns of a fit are for a known arm."""
    import numpy as np

    terms = fit.record.terms
    values = np.zeros(terms.size)
    rigid = replace(terms.rigid, arm=arm)
    values[: terms.rigid_size] = terms.rigid.matrix @ rigid.natural.ravel()
    for j, joint in enumerate(arm.joints):
        for word in terms.drive_names:
            values[terms.drive_index(j, word)] = getattr(joint.friction, word)
    return values


def _tell_fit(story: Story) -> None:
    import numpy as np

    from .identify import show_errors, show_verdict

    fit, verdict = story.fit, story.verdict
    assert fit is not None and verdict is not None and story.true_values is not None
    check = fit.identifiability_
    say(
        f"{len(fit.names_)} unknowns (minimal parameters, motor inertias, friction): "
        f"{sum(g == 'determined' for g in check.grades)} determined, condition number {fit.condition_:.3g}."
    )
    inside = np.abs(fit.values_ - story.true_values) < 1.96 * fit.std_
    say(f"The truth, known here, lies inside {inside.sum()} of {len(inside)} 95 % intervals.")
    say()
    show_errors(fit, story.checks)
    show_verdict(verdict)
    say()


def _control(story: Story, folder: Path) -> None:
    """simulating the robot under control"""
    import numpy as np

    from ..model import compile as compile_arm
    from ..simulation import ComputedTorque, simulate

    assert story.fit is not None
    believed = compile_arm(story.fit.arm_, friction=True)
    robot = compile_arm(_true_arm(story.arm), friction=True)
    motion = _motion("check")

    def reference(t: float) -> tuple[np.ndarray, ...]:
        return tuple(x[0] for x in motion(np.array([t])))

    q0, qd0, _ = reference(0.0)
    controller = ComputedTorque(believed, reference, *GAINS)
    story.run = simulate(robot, q0, qd0, 5.0, torque=controller, method="rk4", dt=0.002)
    story.tracking = float(np.abs(story.run.q - motion(story.run.t)[0]).max())


def _tell_control(story: Story) -> None:
    run = story.run
    assert run is not None
    say("6. Controlled by what was identified", "bold cyan")
    say(
        f"The robot with friction, driven along the second motion by computed torque from the identified model alone: "
        f"largest tracking error {1e3 * story.tracking:.2f} mrad or mm in {run.t[-1]:g} s ({run.method}, {run.status})."
    )
    say()


def _export(story: Story, folder: Path) -> None:
    """writing C"""
    from ..export import export_c
    from ..model import compile as compile_arm

    assert story.fit is not None
    wanted = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "gravity")
    model = compile_arm(story.fit.arm_, friction=True)
    story.functions = export_c(model, folder / "c", quantities=wanted).functions


def _tell_export(story: Story) -> None:
    say("7. C for a controller", "bold cyan")
    say(f"c: {', '.join(story.functions)}; C99 with a self-test, no allocation.")
    say()


_TOLD: dict[Callable[..., None], Callable[[Story], None]] = {
    _describe: _tell_robot,
    _count: _tell_costs,
    _speed: _tell_speed,
    _record: _tell_logs,
    _identify: _tell_fit,
    _control: _tell_control,
    _export: _tell_export,
}


# ---- the report


def _report(story: Story, path: Path) -> None:
    from ..report.story import page

    page(story, path)


def _as_data(story: Story, folder: Path, seconds: float) -> dict[str, Any]:
    from .info import choices

    fit, run, minimal, verdict = story.fit, story.run, story.minimal, story.verdict
    assert fit is not None and run is not None and minimal is not None and verdict is not None
    assert story.costs is not None
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
