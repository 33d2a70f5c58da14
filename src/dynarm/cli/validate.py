"""dynarm validate: how well a robot's model predicts the torques of a log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .console import busy, print_json, say, show_table
from .identify import show_verdict
from .options import (
    BASE,
    CHANNELS,
    CUTOFF,
    HTML,
    JSON,
    LIMIT,
    LOGS,
    ROBOT,
    TIP,
    check_logs,
    load_arm,
    writable_all,
)

if TYPE_CHECKING:
    from ..identify.judgement.verdict import Validation, Verdict
    from ..identify.logs.log import Log
    from ..robot.arm import Arm

EXAMPLES = (
    "dynarm excite two_link --duration 10 --log log.csv",
    "dynarm validate two_link log.csv",
)


def validate(
    robot: str = ROBOT,
    logs: list[str] = LOGS,
    channels: str = CHANNELS,
    cutoff: float = CUTOFF,
    limit: float = LIMIT,
    base: str = BASE,
    tip: str = TIP,
    html: str = HTML,
    as_json: bool = JSON,
) -> int:
    """Check a robot's model on logs.

    Predicts their torques by the robot's own numbers (such as an identified model.toml) and compares. Friction and
    motor inertia take part where the robot has them. Exit code 1 if the verdict is FAIL.
    """
    from ..identify.logs.log import Log

    arm = load_arm(robot, base, tip)
    writable_all({"--html": (html, (".html",))})
    check_logs(logs, channels)
    with busy("predicting"):
        checks = [prediction(arm, Log.read(path, channels), cutoff) for path in logs]
    verdict = judged(arm, checks, limit)
    if html:
        from ..report.identification import validation_page

        validation_page(arm, checks, verdict, html)
    if as_json:
        print_json(
            {
                "robot": arm.name,
                "verdict": verdict.word,
                "reasons": verdict.reasons,
                "joints": arm.joint_names,
                "validation": [
                    {"log": c.source, "rmse": c.rmse, "relative": c.relative, "mean": c.mean}
                    for c in checks
                ],
            }
        )
        return verdict.exit_code
    for check in checks:
        units = ["N m" if j.revolute else "N" for j in arm.joints]
        rows = [
            [name, f"{rmse:.4g} {unit}", f"{relative:.3f}"]
            for name, rmse, unit, relative in zip(
                arm.joint_names, check.rmse, units, check.relative, strict=True
            )
        ]
        show_table(f"{arm.name} on {check.source}", ["joint", "RMSE", "RMSE / deviation"], rows)
    show_verdict(verdict)
    if html:
        say(f"wrote {html}")
    return verdict.exit_code


def prediction(arm: Arm, log: Log, cutoff: float | None) -> Validation:
    """The arm's torques along a log against those measured."""
    import numpy as np

    from ..identify.bodies import wrench_forces
    from ..identify.identifier import Identifier
    from ..identify.judgement.verdict import Validation
    from ..identify.preprocess import Preparation, states_at
    from ..identify.tuning import choose_preparation
    from ..model.model import compile as compile_arm

    identifier = Identifier(arm)
    (log,) = identifier.prepare(log)
    how, _ = choose_preparation([log], identifier.terms(), Preparation(cutoff=cutoff))
    predicted = compile_arm(arm, friction=True).inverse_dynamics(*states_at(log, how))
    if log.wrench is not None:
        predicted = predicted + wrench_forces(arm, log.q, log.wrench)
    rmse = np.sqrt(((log.tau - predicted) ** 2).mean(axis=0))
    spread = log.tau.std(axis=0)
    relative = rmse / np.where(spread > 0, spread, 1.0)
    return Validation(rmse, relative, log.t, log.tau, predicted, log.source)


def judged(arm: Arm, checks: list[Validation], limit: float) -> Verdict:
    """PASS where the error of every joint stays below the limit."""
    from ..identify.judgement.verdict import Verdict

    reasons = tuple(
        f"joint {name}: error {error:.2f} of the torque's standard deviation on {check.source}"
        for check in checks
        for name, error in zip(arm.joint_names, check.relative, strict=True)
        if not error <= limit
    )
    return Verdict(not reasons, reasons)
