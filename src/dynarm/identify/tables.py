"""Results as text and tables: one line, a short table, HTML for notebooks, DataFrames."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..border.arguments import shown
from ..border.kinds import Foreign, Outside
from ..errors import InputError, KindError
from ..parameters.minimal import minimal_parameters
from ..robot.arm import Arm
from .judgement.identifiability import DAMPED
from .judgement.verdict import mean_error
from .logs.noted import noted

if TYPE_CHECKING:
    from ..dynamics.drive import ListedTerm
    from .regressor import Terms
    from .result import Fit

_ROWS = 16  # unknowns that a short table shows
_WORDS = 160  # letters of a status that it shows
_RIGID = {"U": "kg m^2", "k": "kg m", "m": "kg"}
COLUMNS = ("name", "value", "std", "unit", "status")


def units(terms: Terms) -> tuple[str, ...]:
    """The unit of every unknown; empty for a user's own columns, whose units only the user knows."""
    revolute = [joint.revolute for joint in terms.arm.joints]
    told = [_rigid_unit(name, revolute) for name in terms.rigid.names]
    for turning in (revolute[i] for i in terms.joints):
        told += [term.units[0 if turning else 1] for _, term, _ in terms.drives]
    listed = (_listed_unit(piece, revolute[terms.joints[j]]) for j, piece in terms.listed_terms)
    return (*told, *listed, *("" for _ in terms.columns))


def _listed_unit(piece: ListedTerm, turning: bool) -> str:
    """The unit of an entry of friction's lists: a force, but for loads, which have none, and coupled motion."""
    if piece.loaded:
        return ""
    force = "N m" if turning else "N"
    more = (
        {"inertia": " s^2/rad", "viscous": " s/rad"}
        if turning
        else {"inertia": " s^2/m", "viscous": " s/m"}
    )
    return force + more.get(piece.part, "")


def _rigid_unit(name: str, revolute: Sequence[bool]) -> str:
    first = name.split("+")[0]
    if first.startswith("Ia"):
        return "kg m^2" if revolute[int(first[2:]) - 1] else "kg"
    return _RIGID[first[0]]


# ---- DataFrames


def frame(fit: Fit) -> Foreign:
    """A DataFrame of all unknowns: name, value, std, unit, status (determined, small, hardly, not, fixed)."""
    import pandas as pd

    grades = fit.identifiability_.grades
    rows = (fit.names_, fit.values_, fit.std_, units(fit.record.terms), grades)
    return pd.DataFrame(dict(zip(COLUMNS, rows, strict=True)))


def compare(fit: Fit, arm: Outside) -> Foreign:
    """A DataFrame of the minimal parameters: identified, std, the other arm's, difference, and that in stds."""
    import pandas as pd

    if not isinstance(arm, Arm):
        raise KindError(f"arm is {shown(arm)}; give a dynarm.Arm, for example dynarm.load(...)")
    rigid = fit.record.terms.rigid
    other = minimal_parameters(arm, armature=rigid.armature)
    same = other.names == rigid.names and np.shape(other.matrix) == rigid.matrix.shape
    if not same or not np.allclose(other.matrix, rigid.matrix, rtol=1e-6, atol=1e-9):
        raise InputError(
            f"robot '{arm.name}' has other joints, frames or gravity than '{rigid.arm.name}', so its minimal "
            "parameters mean something else; give an arm of the same kinematics"
        )
    p = len(rigid.names)
    values, std = fit.values_[:p], fit.std_[:p]
    gap = values - other.values
    with np.errstate(divide="ignore", invalid="ignore"):
        sure = np.where(np.isfinite(std), gap / std, 0.0)
    return pd.DataFrame(
        {
            "name": rigid.names,
            "identified": values,
            "std": std,
            "other": other.values,
            "difference": gap,
            "in_std": sure,
            "unit": units(fit.record.terms)[:p],
        }
    )


# ---- a fit as text


def line(fit: Fit) -> str:
    """A fit in one line."""
    word = fit.status_.split(":")[0].split(";")[0]
    return (
        f"<dynarm.Fit of '{fit.record.terms.arm.name}': {len(fit.names_)} unknowns, {fit.record.identifier.estimator}, "
        f"mean error {mean_error(fit.relative_, fit.silent_):.3g} of the torque's deviation, {word}>"
    )


def _unknowns(fit: Fit) -> list[tuple[str, ...]]:
    told = units(fit.record.terms)
    rows = zip(fit.names_, fit.values_, fit.std_, told, fit.identifiability_.grades, strict=True)
    return [(name, f"{v:.6g}", f"{s:.3g}", unit, grade) for name, v, s, unit, grade in rows]


def _errors(fit: Fit) -> list[tuple[str, ...]]:
    names = fit.record.terms.row_names
    return [(str(name), told(error)) for name, error in zip(names, fit.relative_, strict=True)]


def told(error: float) -> str:
    """An error over deviation as tables show it; a dash where there is nothing to explain."""
    return "-" if np.isnan(error) else f"{error:.3f}"


def short(fit: Fit) -> str:
    """A fit as a short table; fit.summary() tells all."""
    rows = _unknowns(fit)
    lines = [line(fit), "", *_aligned([COLUMNS, *rows[:_ROWS]])]
    if len(rows) > _ROWS:
        lines.append(f"... and {len(rows) - _ROWS} more: fit.summary(), fit.frame")
    lines += ["", *_aligned([("joint", "error/std"), *_errors(fit)]), "", _cut(fit.status_)]
    return "\n".join(lines)


def fit_html(fit: Fit) -> str:
    """A fit as HTML, everything in it escaped."""
    return "".join(
        [
            html_table(line(fit).strip("<>"), COLUMNS, _unknowns(fit)),
            html_table("", ("joint", "error/std"), _errors(fit)),
            f"<p>{html.escape(fit.status_)}</p>",
        ]
    )


def summary(fit: Fit) -> str:
    """A table for people: unknowns with their certainty, errors by joint, what the log determines."""
    record, check = fit.record, fit.identifiability_
    lines = [
        f"{record.terms.arm.name}: {len(fit.names_)} unknowns, estimator {record.identifier.estimator}, "
        f"{record.preparation.told}",
        "",
        f"{'unknown':<16}{'value':>14}{'std':>12}{'rel. std':>10}  determined",
    ]
    rows = zip(fit.names_, fit.values_, fit.std_, fit.relative_std_, check.grades, strict=True)
    for name, value, std, relative, grade in rows:
        if grade == DAMPED:  # told by friction_ and choice_
            continue
        percent = f"{relative:.1f} %" if np.isfinite(relative) else "-"
        word = {"determined": "yes", "not": "no"}.get(grade, grade)
        lines.append(f"{name:<16}{value:>14.6g}{std:>12.3g}{percent:>10}  {word}")
    lines += ["", f"{'joint':<20}{'error/std':>10}{'RMS':>12}{'delay [ms]':>12}{'white':>8}"]
    left = fit.residuals_
    names = record.terms.row_names
    for j, name in enumerate(names):
        lines.append(
            f"{name:<20}{told(fit.relative_[j]):>10}{left.rms[j]:>12.4g}{1e3 * fit.delays_[j]:>12.1f}"
            f"{100 * left.white[j]:>7.0f}%"
        )
    for name, condition in zip(names, fit.joint_conditions_, strict=False):
        lines.append(f"cond(A_i) of {name}: {condition:.3g}")
    for step in fit.known_steps:
        if step.blame != step.joint:
            part = f"{100 * step.shares[step.blame]:.0f} % of the doubt about joint {step.name}"
            lines.append(f"{part} comes from joint {names[step.blame]}")
    lines += noted((log.source, (*log.notes, *log.quality.notes)) for log in record.logs)
    more = [fit.runs_.told] if fit.runs_ else []
    more += [*fit.choice_.lines(), *fit.friction_advice_, fit.status_]
    return "\n".join([*lines, "", check.summary(), *more])


# ---- any table


def plain_table(title: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Lines of text in columns."""
    return "\n".join([title, "", *_aligned([heads, *rows])])


def html_table(title: str, heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """An HTML table, everything in it escaped."""
    caption = f"<caption>{html.escape(title)}</caption>" if title else ""
    head = "".join(f"<th>{html.escape(word)}</th>" for word in heads)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    wide = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    return [
        "  ".join(cell.ljust(w) for cell, w in zip(row, wide, strict=True)).rstrip() for row in rows
    ]


def _cut(text: str) -> str:
    return text if len(text) <= _WORDS else text[: _WORDS - 3] + "..."
