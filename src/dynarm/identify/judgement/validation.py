"""How a robot's own model, as a file describes it, predicts logs: no fit takes part."""

from __future__ import annotations

from collections.abc import Sequence

from ...model.model import compile as compile_arm
from ...robot.arm import Arm
from ..bodies import wrench_forces
from ..identifier import Identifier
from ..logs.log import Log
from ..preprocess import Preparation, Recording, states_at
from ..rows import force_names
from ..tuning import choose_preparation
from .verdict import Reason, Validation, Verdict, compared

_ADVICE = (
    "identify this robot from a log of its own (dynarm identify), or check the units of the log"
)


def model_checks(arm: Arm, logs: Sequence[Log], cutoff: float | None = None) -> list[Validation]:
    """The arm's torques along logs, friction and armature included, against those measured.

    cutoff: of the low-pass filter [Hz]; None: chosen for each log from its data
    """
    identifier = Identifier(arm)
    checks = []
    for log in identifier.prepare(logs):
        how = Preparation(cutoff=cutoff)
        how, _ = choose_preparation(Recording([log]), identifier.terms(), how)
        predicted = compile_arm(arm, friction=True).inverse_dynamics(*states_at(log, how))
        if log.wrench is not None:
            predicted = predicted + wrench_forces(arm, log.q, log.wrench)
        checks.append(compared(log, predicted, arm))
    return checks


def judged(arm: Arm, checks: Sequence[Validation], limit: float) -> Verdict:
    """PASS where the error of every joint stays below the limit."""
    reasons = tuple(
        Reason(
            f"joint {name}: error {error:.2f} of the torque's standard deviation on {check.source}",
            _ADVICE,
        )
        for check in checks
        for name, error, quiet in zip(force_names(arm), check.relative, check.silent, strict=True)
        if not quiet and not error <= limit
    )
    return Verdict(reasons)
