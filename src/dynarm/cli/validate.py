"""dynarm validate: how well a robot's model predicts the torques of a log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .console import print_json, progress, say, show_table
from .datasets import read_logs
from .judgement import errors_of, show_verdict
from .options import (
    CHANNELS,
    CUTOFF,
    HTML,
    JSON,
    LIMIT,
    LOGS,
    PORTION,
    ROBOT,
    TOPIC,
    Portion,
    check_logs,
    load_arm,
    with_portion,
    writable_all,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..border.kinds import Json
    from ..identify.judgement.verdict import Validation, Verdict
    from ..robot.arm import Arm

EXAMPLES = (
    "dynarm excite two_link --duration 10 --log log.csv",
    "dynarm validate two_link log.csv",
)


@with_portion
def validate(
    robot: str = ROBOT,
    logs: list[str] = LOGS,
    channels: str = CHANNELS,
    topic: str = TOPIC,
    cutoff: float = CUTOFF,
    limit: float = LIMIT,
    portion: Portion = PORTION,
    html: str = HTML,
    as_json: bool = JSON,
) -> int:
    """Check a robot's model on logs.

    Predicts their torques by the robot's own numbers (such as an identified model.toml) and compares. Friction and
    motor inertia take part where the robot has them. Exit code 1 if the verdict is FAIL.
    """
    from ..identify.judgement.validation import judged, model_checks

    arm = load_arm(robot, portion)
    writable_all({"--html": (html, (".html",))})
    check_logs(logs, channels)
    checks: list[Validation] = []
    with progress("predicting") as done:
        for k, path in enumerate(logs):
            checks += model_checks(arm, read_logs(arm, [path], (channels, topic)), cutoff)
            done((k + 1) / len(logs))
    verdict = judged(arm, checks, limit)
    if html:
        from ..report.identification import validation_page

        validation_page(arm, checks, verdict, html)
    if as_json:
        print_json(_as_data(arm, checks, verdict))
        return verdict.exit_code
    _show(arm, checks)
    show_verdict(verdict)
    if html:
        say(f"wrote {html}")
    return verdict.exit_code


def _as_data(arm: Arm, checks: Sequence[Validation], verdict: Verdict) -> Json:
    from ..identify.rows import force_names

    return {
        "robot": arm.name,
        "verdict": verdict.word,
        "reasons": verdict.reasons,
        "advice": verdict.advice,
        "joints": force_names(arm),
        "validation": [errors_of(check) for check in checks],
    }


def _show(arm: Arm, checks: Sequence[Validation]) -> None:
    """Errors of every joint on every log."""
    from ..identify.rows import force_names, force_units
    from ..identify.tables import told

    for check in checks:
        rows = [
            [name, f"{rmse:.4g} {unit}" if rmse == rmse else "-", told(relative)]
            for name, rmse, unit, relative in zip(
                force_names(arm), check.rmse, force_units(arm), check.relative, strict=True
            )
        ]
        show_table(f"{arm.name} on {check.source}", ["joint", "RMSE", "RMSE / deviation"], rows)
