"""dynarm identify: from logs to a robot's parameters, with proof, a report and code to run."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ..border.arguments import shown
from ..errors import DynarmWarning, InputError
from .console import busy, print_json, progress, say, show_table
from .datasets import BULK, Bulk, read_logs, shown_reading, with_bulk
from .files import check_folder, new_folder
from .fleets import identify_fleet
from .judgement import errors_of, show_errors, show_scale, show_verdict
from .options import (
    CHANNELS,
    FORCE,
    JSON,
    LIMIT,
    PORTION,
    TOPIC,
    Portion,
    check_logs,
    load_arm,
    refuse_given,
    with_portion,
)
from .payloads import MAYBE_LOGS, MAYBE_ROBOT, PAYLOAD, LoadedLogs, given, identify_carried
from .positions import KD, KP, identify_positions, refuse_unheard
from .unknowns import UNKNOWNS, Unknowns, with_unknowns
from .wording import spoken

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..border.kinds import Json
    from ..identify.dataset.files import Dataset
    from ..identify.identifier import Identifier
    from ..identify.judgement.verdict import Validation, Verdict
    from ..identify.logs.log import Log
    from ..identify.result import Fit
    from ..robot.arm import Arm

EXAMPLES = (
    "dynarm excite two_link --duration 10 --log log.csv",
    "dynarm identify two_link log.csv --hold-out 0.3",
)
HELD_OUT = typer.Option(
    [],
    "--validate",
    "-v",
    metavar="LOG",
    help="A log or a folder of logs to predict; may be repeated.",
)
MJCF = (".xml", ".mjcf")


HOLD_OUT = typer.Option(
    0.0, "--hold-out", min=0.0, max=0.9, help="Part of each log, its end, kept for validation."
)
COLUMNS = typer.Option(
    None, "--columns", metavar="FILE", hidden=True, help="Refused: code is not run."
)
OUT = typer.Option("identified", "--out", "-o", metavar="FOLDER", help="Where the results go.")


@with_portion
@with_bulk
@with_unknowns
def identify(
    robot: str = MAYBE_ROBOT,
    logs: list[str] = MAYBE_LOGS,
    validate: list[str] = HELD_OUT,
    hold_out: float = HOLD_OUT,
    channels: str = CHANNELS,
    topic: str = TOPIC,
    columns: str = COLUMNS,
    unknowns: Unknowns = UNKNOWNS,
    bulk: Bulk = BULK,
    limit: float = LIMIT,
    kp: str = KP,
    kd: str = KD,
    payload: list[str] = PAYLOAD,
    out: str = OUT,
    force: bool = FORCE,
    portion: Portion = PORTION,
    as_json: bool = JSON,
) -> int:
    """Find a robot's parameters from logs.

    Minimal parameters, motor inertias and friction. Says what the logs determine and what they do not, predicts held-
    out logs, and writes model.toml, identified.urdf (of an MJCF model identified.xml), fit.toml, report.html and c/.
    Exit code 1 if the verdict is FAIL. With --kp and --kd logs hold commanded positions in place of torques: motor
    inertias, friction and the commands' delay. With --payload, what the arm carries in those logs, by --base fit.toml
    (then no link, and ROBOT may be left out) or by logs without it. With --by, one fit a robot of a fleet.
    """
    _check_given(columns, out, force, (logs := given(robot, logs, payload), channels, validate))
    if payload:
        loaded = LoadedLogs(robot, portion, logs, payload, (channels, topic))
        return identify_carried(loaded, out, force, as_json)
    arm = load_arm(robot, portion)
    single = {"--kp": kp or None, "--kd": kd or None}
    data = bulk.dataset(logs, how := (channels, topic), single, hold_out)
    if data and bulk.by:
        kept = {"--validate": validate or None, "--hold-out": hold_out or None}
        refuse_given("is for one robot, not with --by", kept)
        options = unknowns.options(arm)
        return identify_fleet(arm, (data, bulk.by), options, (out, force), as_json, bulk)
    if refuse_unheard(kp or kd, (*unknowns, limit), LIMIT.default):
        gains, read = (kp or "0", kd), _read(logs, read_logs(arm, validate, how), how, hold_out)
        return identify_positions(arm, gains, read, out, force, as_json)
    identifier = unknowns.identifier(arm)
    with busy("reading"):
        others = read_logs(arm, validate, how, bulk.skip_bad, bulk.apart)
        fitted, held = _read([] if data else logs, others, how, hold_out)
    judged = _judged(identifier, data or fitted, held, bulk)
    return _told(judged, limit, RobotFile(robot, portion), (out, force), as_json)


def _told(
    judged: tuple[Fit, list[Validation]],
    limit: float,
    source: RobotFile,
    target: tuple[str, bool],
    as_json: bool,
) -> int:
    """Write the outcome into a folder, or force it there, and print it; the exit code."""
    fit, checks = judged
    verdict = fit.verdict(checks, limit)
    with busy("writing"), new_folder(*target) as folder:
        notes = _write(fit, checks, verdict, folder, source)
    written = Delivery(target[0], source.back, notes)
    if as_json:
        print_json(_as_data(fit, checks, verdict, written) | {"notes": written.notes})
        return verdict.exit_code
    _show(fit, checks, verdict, written)
    return verdict.exit_code


def _judged(
    identifier: Identifier, fitted: Sequence[Log] | Dataset, held: Sequence[Log], bulk: Bulk
) -> tuple[Fit, list[Validation]]:
    """The fit to the first logs, and its predictions of the others."""
    with bulk.client() as client, progress("fitting") as done:
        fitted = shown_reading(fitted, done)
        showing = replace(identifier, progress=lambda some, whole: done(some / whole))
        fit = showing.fit(fitted, client=client)
    with busy("predicting"):
        return fit, [fit.validate(log) for log in (*held, *fit.held_)]


def _check_given(
    columns: str | None, out: str, force: bool, logs: tuple[list[str], str | None, list[str]]
) -> None:
    """Refuse columns of a user's own, which are functions, a folder that cannot be written, and names of no log."""
    if columns is not None:
        raise InputError(
            f"--columns is {shown(columns)}: columns of your own are code, and dynarm runs none from files; declare "
            "coupling and springs in the channels file (--channels), or write others in Python as dynarm.Column"
        )
    check_folder(out, force)
    check_logs(*logs)


def _read(
    logs: Sequence[str], others: list[Log], how: tuple[str | None, str | None], hold_out: float
) -> tuple[list[Log], list[Log]]:
    """The logs to fit and those to predict, others and ends. how: the channels' file, the bags' topic."""
    from ..identify.dataset.parts import continued
    from ..identify.logs.log import Log
    from ..identify.logs.splitting import hold_out as parted

    fitted, held = continued([Log.read(path, *how) for path in logs]), others
    if hold_out:
        parts = [parted(log, hold_out) for log in fitted]
        fitted = [first for first, _ in parts]
        held += [last for _, last in parts]
    return fitted, held


@dataclass(frozen=True, slots=True)
class RobotFile:
    """The robot's file, and how it was loaded."""

    robot: str
    portion: Portion

    @property
    def ending(self) -> str:
        return Path(self.robot).suffix.lower()

    @property
    def back(self) -> str:
        """The name of the file that the identified robot is written to, of the kind that it came from."""
        return "identified.xml" if self.ending in MJCF else "identified.urdf"

    def written_back(self, arm: Arm, folder: Path) -> tuple[str, ...]:
        """Write the arm as a URDF or MJCF, where it came from one by changing that; what a reader should know."""
        target = folder / self.back
        if self.ending not in (".urdf", ".xacro", *MJCF):
            arm.save(target)
            return ()
        macros = self.ending == ".xacro"
        xacro = self.portion.xacro_arguments if macros else None
        packages = self.portion.package_folders or None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DynarmWarning)  # the notes say the same
            if self.ending in MJCF:
                return arm.update_mjcf(self.robot, target, packages=packages)
            return arm.update_urdf(self.robot, target, xacro=xacro, packages=packages)


@dataclass(frozen=True, slots=True)
class Delivery:
    """The folder that an outcome was written to, its file for the identified robot, and what to know about that."""

    folder: str
    back: str
    notes: tuple[str, ...]

    @property
    def files(self) -> tuple[str, ...]:
        return "model.toml", self.back, "fit.toml", "report.html", "c"


def _write(
    fit: Fit, checks: Sequence[Validation], verdict: Verdict, folder: Path, source: RobotFile
) -> tuple[str, ...]:
    from ..identify.declared_terms import left_behind
    from ..model.export import export_c
    from ..model.model import compile as compile_arm
    from ..report.identification import page

    fit.arm_.save(folder / "model.toml")
    fit.save(folder / "fit.toml")
    notes = source.written_back(fit.arm_, folder)
    terms = fit.record.terms
    own = ", ".join(left_behind(terms.arm, terms.columns))
    if own:
        notes = (*notes, f"without {own}, as model.toml and c/ are; fit.model_ in Python has them")
    page(fit, checks, verdict, folder / "report.html")
    wanted = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "bias", "gravity")
    export_c(compile_arm(fit.arm_, friction=True), folder / "c", quantities=wanted)
    return notes


def _show(fit: Fit, checks: Sequence[Validation], verdict: Verdict, written: Delivery) -> None:
    """The verdict and what to do, errors by joint, what the logs determine; every value last."""
    from ..identify.logs.noted import noted

    how = f"{fit.record.identifier.estimator}, {fit.record.preparation.told}"
    say(f"{fit.record.terms.arm.name}: {len(fit.names_)} unknowns by {how}", "bold")
    show_verdict(verdict)
    say(f"wrote {', '.join(written.files)} into {written.folder}")
    for note in written.notes:
        say(f"{written.back}: {note}")
    say()
    show_scale(fit, checks)
    show_errors(fit)
    if fit.runs_:
        say(fit.runs_.told)
    for line in fit.identifiability_.summary().splitlines():
        say(line)
    for told in noted((log.source, (*log.notes, *log.quality.notes)) for log in fit.record.logs):
        say(told)
    for told in fit.choice_.lines():
        say(told)
    for told in fit.friction_advice_:
        say(spoken(told, {"shape": "--shape"}))
    say(verdict.qualified(fit.status_))
    say()
    _show_values(fit)


def _show_values(fit: Fit) -> None:
    """Every unknown with its unit and certainty."""
    from ..identify.judgement.identifiability import DAMPED
    from ..identify.tables import units

    rows = [
        [name, f"{value:.6g}", f"{std:.2g}", unit, _percent(percent), grade]
        for name, value, std, unit, percent, grade in zip(
            fit.names_,
            fit.values_,
            fit.std_,
            units(fit.record.terms),
            fit.relative_std_,
            fit.identifiability_.grades,
            strict=True,
        )
        if grade != DAMPED
    ]
    columns = ["unknown", "value", "std", "unit", "rel. std [%]", "by the logs"]
    show_table("Values", columns, rows)


def _percent(share: float) -> str:
    return f"{share:.1f}" if share < 1e4 else "-"


def _as_data(fit: Fit, checks: Sequence[Validation], verdict: Verdict, written: Delivery) -> Json:
    check = fit.identifiability_
    return {
        "robot": fit.record.terms.arm.name,
        "verdict": verdict.word,
        "reasons": verdict.reasons,
        "status": verdict.qualified(fit.status_),
        "estimator": fit.record.identifier.estimator,
        "cutoff": fit.cutoff_,
        "velocity": fit.record.preparation.velocity,
        "rank": fit.rank_,
        "condition": fit.condition_,
        "ridge": fit.ridge_,
        "joints": fit.record.terms.row_names,
        "parameters": [
            {"name": name, "value": value, "std": std, "determined": grade}
            for name, value, std, grade in zip(
                fit.names_, fit.values_, fit.std_, check.grades, strict=True
            )
        ],
        "friction": {
            "refused": fit.choice_.refused,
            "tried": [
                {k: getattr(one, k) for k in ("joint", "family", "gain", "taken", "reason")}
                for one in fit.choice_.tried
            ],
        },
        "relative": fit.relative_,
        "relative_consistent": fit.consistent_,
        "fitted": {k: getattr(fit.fitted_, k) for k in ("rmse", "relative", "band")},
        "runs": fit.runs_.told,
        "validation": [errors_of(check) for check in checks],
        "advice": [*verdict.advice, *check.advice, *fit.friction_advice_],
        "files": [f"{written.folder}/{name}" for name in written.files],
    }
