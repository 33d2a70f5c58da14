"""Whether a fit may be relied on: the reasons against it, which its status and its verdict share.

A verdict that fails on the fitted logs never stands under a status that begins with 'ok': both read `own_reasons`.
Errors on fitted and on held-out logs are compared on one scale: whole logs as measured, in the torques' units and over
their deviations, and the same in the fit's band.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..rows import force_units
from .verdict import Reason, Validation, Verdict

if TYPE_CHECKING:
    from ..result import Fit

POOR = 0.5  # a joint whose error exceeds this part of its torque's deviation is not explained
OVERFIT = 3.0  # held-out error over fitted error beyond which a fit does not carry over
NEAR = 2.0  # the same, beyond which that is doubtful
SMALL = 0.1  # fitted errors below this are not compared with
_COLUMNS = "check sign, unit and order of this joint's columns, and dynarm's notes on the log; then its friction"
_OTHER = "make sure that it is the same robot, payload and mounting; else fit more varied motion, this log too"
_EXCITE = "record a motion that tells them (dynarm excite), or hold on to the robot file's values: prior=arm (--prior)"
_POSSIBLE = "make the values physically consistent: feasible=True (--feasible); or record faster motion of this joint"
_SEPARATE = "fit each log alone and compare"


def rests_on_prior(fit: Fit) -> bool:
    """Whether what the log does not determine comes from a prior that the user gave, and that took part."""
    return fit.record.identifier.prior is not None and fit.ridge_ > 0


def own_reasons(fit: Fit, limit: float = POOR) -> list[Reason]:
    """What speaks against a fit on the logs that it was made from."""
    joints, check, silent = fit.record.terms.row_names, fit.identifiability_, fit.silent_
    told = [
        Reason(
            f"joint {j}: the torque is not explained, error {error:.2f} of its standard deviation on the fitted log",
            _COLUMNS,
        )
        for j, error, quiet in zip(joints, fit.relative_, silent, strict=True)
        if not quiet and not error <= limit
    ]
    told += [Reason(text) for text in fit.record.doubts]
    told += [Reason(text, _SEPARATE) for text in fit.record.strangers]
    told += [Reason(text, _POSSIBLE, False) for text in fit.impossible_]
    if check.undetermined and not rests_on_prior(fit):
        told.append(Reason(_undetermined(fit), _EXCITE))
    told += [
        Reason(
            f"joint {j}: error {error:.2f} once the values are made physically consistent", _COLUMNS
        )
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
    told += [reason.text for reason in own_reasons(fit)]
    head = "ok" if not told else "doubtful: " + "; ".join(told)
    if fit.ridge_ > 0:
        head += f"; regularised (ridge {fit.ridge_:.2g})"
    if check.leaning:
        head += f"; {check.fixed_said}"
    return "; ".join([head, *fit.record.notes, fit.feasible_.status])


def verdict(fit: Fit, checks: Sequence[Validation], limit: float) -> Verdict:
    """PASS where held-out logs are predicted about as well as the fitted ones, and nothing speaks against the fit.

    FAIL where a torque is not explained, or three times worse than on the fitted logs, or where the values cannot be;
    DOUBTFUL where it is predicted twice as badly; NOT VALIDATED where there is no held-out log.
    """
    findings = own_reasons(fit, limit)
    for check in checks:
        findings += held_reasons(fit, check, limit)
    return Verdict(tuple(findings), bool(checks))


def held_reasons(fit: Fit, check: Validation, limit: float) -> list[Reason]:
    """What the prediction of a log that was not fitted says against a fit."""
    told, own = [], fit.fitted_
    units = force_units(fit.record.terms.arm)
    for j, name in enumerate(fit.record.terms.row_names):
        error, rmse = float(check.relative[j]), float(check.rmse[j])
        if check.silent[j]:
            continue
        size = f"error {error:.2f} of the torque's standard deviation ({rmse:.3g} {units[j]})"
        if not error <= limit:
            told.append(Reason(f"joint {name}: {size} on {check.source}", _OTHER))
            continue
        spread = rmse / error if error > 0 else 1.0
        before = float(np.nan_to_num(own.rmse[j])) / spread if spread > 0 else 0.0
        band, band_before = (float(np.nan_to_num(x[j])) for x in (check.band, own.band))
        times, slow = (x / max(y, SMALL) for x, y in ((error, before), (band, band_before)))
        if max(times, slow) > NEAR:
            raw = times >= slow
            where = size if raw else f"error in the fit's band {band:.2f} of the torque's deviation"
            other = f"{own.rmse[j]:.3g} {units[j]}" if raw else f"{band_before:.2f}"
            text = f"joint {name}: {where} on {check.source} against {other} on the fitted logs"
            told.append(Reason(text, _OTHER, max(times, slow) > OVERFIT))
    return told
