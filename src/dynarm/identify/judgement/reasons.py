"""Whether a fit may be relied on: the reasons against it, which its status and its verdict share.

A verdict that fails on the fitted logs never stands under a status that begins with 'ok': both read `own_reasons`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from .verdict import Validation, Verdict

if TYPE_CHECKING:
    from ..result import Fit

POOR = 0.5  # a joint whose error exceeds this part of its torque's deviation is not explained
OVERFIT = 3.0  # held-out error over fitted error beyond which a fit does not carry over
SMALL = 0.1  # fitted errors below this are not compared with


def rests_on_prior(fit: Fit) -> bool:
    """Whether what the log does not determine comes from a prior that the user gave, and that took part."""
    return fit.record.identifier.prior is not None and fit.ridge_ > 0


def own_reasons(fit: Fit, limit: float = POOR) -> list[str]:
    """What speaks against a fit on the logs that it was made from."""
    joints, check, silent = fit.record.terms.row_names, fit.identifiability_, fit.silent_
    told = [
        f"joint {j}: the torque is not explained, error {error:.2f} of its standard deviation on the fitted log"
        for j, error, quiet in zip(joints, fit.relative_, silent, strict=True)
        if not quiet and not error <= limit
    ]
    told += fit.record.doubts
    if check.undetermined and not rests_on_prior(fit):
        told.append(_undetermined(fit))
    told += [
        f"joint {j}: error {error:.2f} once the values are made physically consistent"
        for j, error, own in zip(joints, fit.consistent_, fit.relative_, strict=True)
        if own <= limit and not error <= limit
    ]
    return told


def _undetermined(fit: Fit) -> str:
    names = fit.identifiability_.undetermined
    told = f"{len(names)} unknowns are not determined by the log: {', '.join(names)}"
    return told + (" (they rest on the prior)" if rests_on_prior(fit) else "")


def status(fit: Fit, unknown: int) -> str:
    """What to know about a fit of so many unknowns, in sentences; begins with 'ok' where nothing is wrong."""
    check = fit.identifiability_
    told = []
    if check.rank < unknown:
        told.append(f"rank {check.rank} of {unknown}: some unknowns cannot be told apart")
    if check.undetermined and rests_on_prior(fit):
        told.append(_undetermined(fit))
    told += [
        f"the motion does not excite joint {name} persistently"
        for name, condition in zip(fit.record.terms.row_names, fit.joint_conditions_, strict=False)
        if condition == float("inf")
    ]
    told += own_reasons(fit)
    head = "ok" if not told else "doubtful: " + "; ".join(told)
    if fit.ridge_ > 0:
        head += f"; regularised (ridge {fit.ridge_:.2g})"
    return "; ".join([head, *fit.record.notes, fit.feasible_.status])


def verdict(fit: Fit, checks: Sequence[Validation], limit: float) -> Verdict:
    """PASS where every joint is explained, on fitted and held-out logs, by unknowns that the log determines."""
    reasons = own_reasons(fit, limit)
    joints = fit.record.terms.row_names
    for check in checks:
        rows = zip(joints, check.relative, fit.relative_, check.silent, strict=True)
        for j, error, own, quiet in rows:
            if quiet:
                continue
            if not error <= limit:
                reasons.append(f"joint {j}: error {error:.2f} on {check.source}")
            elif error > OVERFIT * max(np.nan_to_num(own), SMALL):
                reasons.append(
                    f"joint {j}: error {error:.2f} on {check.source} against {own:.2f} on the fitted log"
                )
    return Verdict(not reasons, tuple(reasons))
