"""dynarm identify with --kp and --kd: logs of commanded positions in place of torques."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ..errors import InputError
from .console import busy, print_json, say, show_table
from .files import new_folder
from .options import refuse_given

if TYPE_CHECKING:
    from ..border.kinds import Json
    from ..identify.logs.log import Log
    from ..identify.position.result import PositionFit, Rollout
    from ..robot.arm import Arm

KP = typer.Option(
    "",
    "--kp",
    help="Gains [N m/rad] of the PD controller, one or 'a,b,...': logs hold commands, no torques.",
)
KD = typer.Option("", "--kd", help="Its gains on velocity [N m s/rad].")
_UNHEARD = {  # options of identify that are for torques, and their usual values
    "--estimator": "wls",
    "--friction": "auto",
    "--shape": "auto",
    "--asymmetric": False,
    "--no-armature": True,
    "--prior": False,
    "--feasible": False,
    "--cutoff": None,
}
FILES = ("model.toml", "identified.xml", "identified.urdf")


def gains(word: str, given: str) -> list[float] | float:
    """The numbers of --kp or --kd."""
    try:
        values = [float(x) for x in given.split(",")]
    except ValueError:
        raise InputError(
            f"{word} is '{given}'; give a number, or one a joint as 'a,b,...'"
        ) from None
    return values[0] if len(values) == 1 else values


def refuse_unheard(gain: str, given: Sequence[object], limit: float) -> bool:
    """Whether positions are fitted; options that such a fit does not listen to are refused.

    gain: what --kp or --kd is. given: values of the options, that of --limit last.
    """
    usual = {**_UNHEARD, "--limit": limit}
    rows = zip(usual.items(), given, strict=True)
    if gain:
        refuse_given(
            "is for logs with torques; with --kp and --kd armature, viscous and Coulomb friction and offset are "
            "found by rollouts, leave it out",
            {option: value != as_usual for (option, as_usual), value in rows},
        )
    return bool(gain)


def identify_positions(
    arm: Arm, pd: tuple[str, str], logs: tuple[Sequence[Log], Sequence[Log]], out: str, force: bool, as_json: bool
) -> int:  # fmt: skip
    """Fit the drives, roll out what was held back, write the files; the exit code."""
    from ..identify.identifier import Identifier
    from ..identify.position.checks import gains_of
    from ..identify.position.fitting import fit_positions

    fitted, held = logs
    both = gains("--kp", pd[0] or "0"), gains("--kd", pd[1] or "0")
    Identifier(arm, pd=both)
    with busy("fitting"):
        fit = fit_positions(arm, gains_of(arm, both), fitted)
    with busy("simulating"):
        runs = [(fit.rollout(log), fit.described(log)) for log in held]
    with busy("writing"), new_folder(out, force) as folder:
        for name in FILES:
            fit.save(Path(folder) / name)
    if as_json:
        print_json(_as_data(fit, runs, out))
    else:
        _show(fit, runs, out)
    return 1 if fit.status_.startswith("doubtful") else 0


def _show(fit: PositionFit, runs: Sequence[tuple[Rollout, Rollout]], out: str) -> None:
    frame = fit.frame
    rows = [
        [r.joint, r.name, f"{r.value:.5g}", f"{r.std:.2g}", r.unit, r.status]
        for r in frame.itertuples()
    ]
    title = f"{fit.arm.name}: drives by positions, delay {1e3 * fit.delay_:.2f} +- {1e3 * fit.delay_std_:.1g} ms"
    show_table(title, ["joint", "unknown", "value", "std", "unit", "by the logs"], rows)
    for run, before in runs:
        say(f"{run.source}: rollout error {run.mean:.3g} mrad, {before.mean:.3g} as described")
    if not runs:
        say("not validated: give --hold-out or --validate")
    say(fit.status_)
    say(f"wrote {', '.join(FILES)} into {out}")


def _as_data(fit: PositionFit, runs: Sequence[tuple[Rollout, Rollout]], out: str) -> Json:
    return {
        "robot": fit.arm.name,
        "status": fit.status_,
        "delay": fit.delay_,
        "delay_std": fit.delay_std_,
        "parameters": [
            {"name": n, "value": v, "std": s, "determined": g}
            for n, v, s, g in zip(fit.names_, fit.values_, fit.std_, fit.grades_, strict=True)
        ],
        "bodies": [
            {
                "name": r.name,
                "value": r.value,
                "std": r.std,
                "determined": r.grade,
                "described": r.described,
            }
            for r in fit.bodies_
        ],
        "rollouts": [
            {"log": run.source, "mrad": run.mrad, "mean": run.mean, "described": before.mean}
            for run, before in runs
        ],
        "files": [f"{out}/{name}" for name in FILES],
    }
