"""dynarm validate: how well a robot's model predicts the torques of a log."""

from __future__ import annotations

from .console import busy, print_json, say, show_table
from .identify import show_verdict
from .options import (
    BASE,
    CHANNELS,
    CUTOFF,
    FLOATING,
    FREEZE,
    HTML,
    JSON,
    LIMIT,
    LOGS,
    MASSLESS,
    PACKAGES,
    ROBOT,
    SNAP,
    TIP,
    TOOLS,
    XACRO,
    check_logs,
    load_arm,
    writable_all,
)

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
    floating: bool = FLOATING,
    tools: list[str] = TOOLS,
    freeze: list[str] = FREEZE,
    snap: bool = SNAP,
    xacro: list[str] = XACRO,
    packages: list[str] = PACKAGES,
    allow_massless: bool = MASSLESS,
    html: str = HTML,
    as_json: bool = JSON,
) -> int:
    """Check a robot's model on logs.

    Predicts their torques by the robot's own numbers (such as an identified model.toml) and compares. Friction and
    motor inertia take part where the robot has them. Exit code 1 if the verdict is FAIL.
    """
    from ..identify.judgement.validation import judged, model_checks
    from ..identify.logs.log import Log
    from ..identify.regressor import force_names, force_units
    from ..identify.tables import told

    arm = load_arm(robot, base, tip, floating, tools, freeze, snap, xacro, packages, allow_massless)
    writable_all({"--html": (html, (".html",))})
    check_logs(logs, channels)
    with busy("predicting"):
        checks = model_checks(arm, [Log.read(path, channels) for path in logs], cutoff)
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
                "joints": force_names(arm),
                "validation": [
                    {"log": c.source, "rmse": c.rmse, "relative": c.relative, "mean": c.mean}
                    for c in checks
                ],
            }
        )
        return verdict.exit_code
    for check in checks:
        rows = [
            [name, f"{rmse:.4g} {unit}" if rmse == rmse else "-", told(relative)]
            for name, rmse, unit, relative in zip(
                force_names(arm), check.rmse, force_units(arm), check.relative, strict=True
            )
        ]
        show_table(f"{arm.name} on {check.source}", ["joint", "RMSE", "RMSE / deviation"], rows)
    show_verdict(verdict)
    if html:
        say(f"wrote {html}")
    return verdict.exit_code
