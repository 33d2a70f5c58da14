"""A fit as the text of a TOML file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..border.kinds import Json, Outside
from ..robot.arm import Arm
from ..robot.formats.toml_file import write_toml
from .result import Fit

if TYPE_CHECKING:
    from .regressor import Terms

FORMAT = 1
OPTIONS = ("friction", "shape", "armature", "estimator", "asymmetric", "regularise", "feasible")
LATER = ("rows",)  # options that older files do not have
PREPARATION = (
    "cutoff", "order", "padding", "velocity", "decimate", "decimator", "slow", "trim",
    "smoothing", "delay",
)  # fmt: skip


def text_of(fit: Fit) -> str:
    record = fit.record
    parts = [_table(name, content) for name, content in _tables(fit).items()]
    parts.append(_arm_table("arm", record.terms.arm))
    if record.terms.listed:
        parts.append(_arm_table("drives", _with_drives(record.terms)))
    if record.identifier.prior is not None:
        parts.append(_arm_table("prior", record.identifier.prior))
    return "\n".join(parts)


def _tables(fit: Fit) -> dict[str, Json]:
    """What is kept of a fit, by table."""
    record = fit.record
    options = {name: getattr(record.identifier, name) for name in (*OPTIONS, *LATER)}
    columns = [column.name for column in record.terms.columns]
    return {
        "": {"kind": "fit", "format": FORMAT},
        "fit": {
            "names": fit.names_,
            "values": fit.values_,
            "std": fit.std_,
            "fitted": fit.solution.values,
            "consistent": fit.consistent_,
            "speeds": fit.speeds_,
            "ridge": fit.ridge_,
            "band": fit.band_,
            "joint_conditions": fit.joint_conditions_,
            "status": fit.status_,
            "doubts": (*record.doubts, *record.strangers),
            "impossible": fit.impossible_,
            "notes": record.notes,
            "covariance": fit.covariance_,
        },
        "options": {
            **options,
            "friction": list(record.terms.friction),
            "shape": list(record.terms.joint_shapes),
            "armature": record.terms.armature,
            "columns": columns,
            "widths": record.terms.widths,
        },
        "preparation": {name: getattr(record.preparation, name) for name in PREPARATION},
        **_judgement(fit),
        "choice": fit.choice_.as_table(),
    }


def _judgement(fit: Fit) -> dict[str, Json]:
    """What is known about the values, by table."""
    check, near, left = fit.identifiability_, fit.feasible_, fit.residuals_
    own = fit.fitted_
    return {
        "errors": {"rmse": own.rmse, "relative": own.relative, "band": own.band},
        "identifiability": {
            "rank": check.rank,
            "condition": check.condition,
            "doubts": check.doubts,
            "grades": check.grades,
            "free": [doubt for doubt, _ in check.directions],
            "directions": [content for _, content in check.directions],
            "advice": check.advice,
            "leaning": check.leaning,
        },
        "feasible": {
            "parameters": near.parameters,
            "armatures": near.armatures,
            "values": near.values,
            "distance": near.distance,
            "exact": near.exact,
            "status": near.status,
        },
        "residuals": {
            "inflation": left.inflation,
            "rms": left.rms,
            "spread": left.spread,
            "correlation": left.correlation,
            "white": left.white,
        },
    }


def _with_drives(terms: Terms) -> Arm:
    """The arm with the lists of friction whose entries are unknowns."""
    joints = list(terms.arm.joints)
    for i, own in zip(terms.joints, terms.records, strict=True):
        joints[i] = replace(joints[i], friction=own)
    return replace(terms.arm, joints=tuple(joints))


def _table(name: str, content: Mapping[str, Outside]) -> str:
    head = [f"[{name}]"] if name else []
    given = [f"{key} = {_value(value)}" for key, value in content.items() if value is not None]
    return "\n".join([*head, *given, ""])


def _arm_table(name: str, arm: Arm) -> str:
    """The arm's own TOML, its tables moved under a name."""
    lines = write_toml(arm).splitlines()
    tables = ("joints", "floating", "tools", "origin")
    moved = {f"[{word}]": f"[{name}.{word}]" for word in tables}
    moved |= {f"[[{word}]]": f"[[{name}.{word}]]" for word in tables}
    return "\n".join([f"[{name}]", *(moved.get(row, row) for row in lines), ""])


def _value(value: Outside) -> str:
    """A TOML value: word, flag, whole number, number with all its digits, or list of them."""
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    if isinstance(value, (float, np.floating)):
        return repr(float(value))
    rows = value.tolist() if isinstance(value, np.ndarray) else list(value)
    nested = any(isinstance(row, (list, tuple)) for row in rows)
    parts = [_value(row) for row in rows]
    return "[\n  " + ",\n  ".join(parts) + ",\n]" if nested else "[" + ", ".join(parts) + "]"


def _quoted(text: str) -> str:
    plain = {'"': '\\"', "\\": "\\\\"}
    safe = (plain.get(c, c if c >= " " and c != "\x7f" else f"\\u{ord(c):04x}") for c in text)
    return '"' + "".join(safe) + '"'
