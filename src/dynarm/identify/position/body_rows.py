"""The rigid bodies of a fit of positions as rows of a table: minimal parameters, how certain, and by what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .bodies import Bodies
from .solving import DriveSolution

_SAME = 0.1  # of all differences from the description that one factor leaves: then it is all that is told
_MUCH = 0.05  # by how much such a factor differs from 1
TOLD, HALF = 0.3, 0.7  # deviation over that of what is believed without the log
_UNITS = {"m": "kg", "k": "kg m", "U": "kg m^2"}


@dataclass(frozen=True, slots=True)
class BodyRow:
    """A minimal parameter: of which joint, its value, deviation and unit, whether the log tells it, as described."""

    name: str
    joint: str
    value: float
    std: float
    unit: str
    grade: str  # 'determined', 'hardly' or 'held'
    described: float


def body_rows(bodies: Bodies | None, answer: DriveSolution) -> list[BodyRow]:
    """All minimal parameters; none where bodies are those of the description."""
    if bodies is None or answer.natural is None or answer.of_bodies is None:
        return []
    values, described = bodies.matrix @ answer.natural, bodies.matrix @ bodies.described
    std = np.sqrt(np.diag(answer.of_bodies))
    believed = np.sqrt(np.diag(bodies.believed(answer.natural)))
    names, own = bodies.arm.joint_names, bodies.owners()
    return [
        BodyRow(
            name,
            names[own[k]],
            float(values[k]),
            float(std[k]),
            _UNITS[name[0]],
            _grade(float(std[k]), float(believed[k])),
            float(described[k]),
        )
        for k, name in enumerate(bodies.rigid.names)
    ]


def _grade(std: float, believed: float) -> str:
    if std < TOLD * believed:
        return "determined"
    return "hardly" if std < HALF * believed else "held"


def common_factor(bodies: Bodies, answer: DriveSolution) -> float | None:
    """By what all described bodies are multiplied, if that is all that the log says; None where it says more.

    Gains by as much smaller would say the same.
    """
    if answer.natural is None or answer.of_bodies is None:
        return None
    values, described = bodies.matrix @ answer.natural, bodies.matrix @ bodies.described
    std = np.sqrt(np.diag(answer.of_bodies))
    told = std < TOLD * np.sqrt(np.diag(bodies.believed(answer.natural)))
    y, x = (values / std)[told], (described / std)[told]
    factor = float(x @ y) / max(float(x @ x), 1e-300)
    alike = np.linalg.norm(y - factor * x) < _SAME * np.linalg.norm(y - x)
    return factor if alike and abs(factor - 1) > _MUCH else None


def body_table(rows: Sequence[BodyRow]) -> list[tuple[str, ...]]:
    """The rows in words: name, value, deviation, unit, grade."""
    return [(r.name, f"{r.value:.5g}", f"{r.std:.2g}", r.unit, r.grade) for r in rows]
