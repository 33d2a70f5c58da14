"""What the commands print about a judgement: errors of every joint, the verdict, reasons and what to do."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from .console import say, show_table
from .wording import spoken

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..border.kinds import Json
    from ..identify.judgement.verdict import Validation, Verdict
    from ..identify.result import Fit

_SPOKEN = {"feasible": "--feasible"}


def show_errors(fit: Fit) -> None:
    """Fitted error of every joint, of the values and of consistent ones, filtered as the rows were: their own scale."""
    from ..identify.rows import force_names
    from ..identify.tables import told

    names = force_names(fit.record.terms.arm)
    rows = [
        [name, told(own), told(safe)]
        for name, own, safe in zip(names, fit.relative_, fit.consistent_, strict=True)
    ]
    title = "Rows of the fit, filtered: RMS error over the torque's standard deviation"
    show_table(title, ["joint", "fitted", "consistent"], rows)


def show_scale(fit: Fit, checks: Sequence[Validation]) -> None:
    """Errors on fitted and held-out logs on one scale, where there are held-out logs."""
    from ..identify.judgement.fitted import one_scale
    from ..identify.rows import force_names, force_units

    if not checks:
        return
    arm = fit.record.terms.arm
    names = ["fitted", *(_short(c.source) for c in checks)]
    columns = ["joint", "unit", *(h for n in names for h in (f"RMS {n}", f"% {n}", "% band"))]
    rows = [
        [name, unit, *map(_dash, one_scale(fit.fitted_, checks, j))]
        for j, (name, unit) in enumerate(zip(force_names(arm), force_units(arm), strict=True))
    ]
    show_table("Whole logs as measured: RMS error, and % of the torque's deviation", columns, rows)


def _dash(x: float) -> str:
    return "-" if x != x else f"{x:.3g}"


def errors_of(check: Validation) -> Json:
    """What a prediction missed by, as data."""
    return {
        "log": check.source,
        "rmse": check.rmse,
        "relative": check.relative,
        "mean": check.mean,
        "band": check.band,
    }


def _short(source: str) -> str:
    return Path(source).name


def show_verdict(verdict: Verdict) -> None:
    """The verdict, why, and what to do about it."""
    colours = {"PASS": "bold green", "FAIL": "bold red"}
    say(verdict.word, colours.get(verdict.word, "bold yellow"))
    for reason in verdict.reasons:
        say(f"  {reason}")
    for advice in verdict.advice:
        say(f"  to do: {spoken(advice, _SPOKEN)}")
