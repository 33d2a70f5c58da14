"""How far friction in another run may be from what was fitted: oil warms up, offsets of drives wander.

Three changes a joint: its viscous part, its dry part (all else that brakes), both as a part of what was fitted, and its
offset. Their deviations are those between the runs of the fit, drawn to a usual size that holds where there was one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..prediction import States, forces_along

if TYPE_CHECKING:
    from ...border.kinds import FloatArray
    from ..result import Fit

_KINDS = ("viscous", "dry", "offset")
_USUAL = np.array([0.1, 0.1, 0.05])  # deviation of each between runs; the offset's in dry friction
_RUNS = 4.0  # runs that the usual deviations count for


@dataclass(frozen=True, slots=True, eq=False)
class Changes:
    """Which unknowns make up each part of each joint's friction: (3, joints, p)."""

    fit: Fit
    parts: np.ndarray

    def columns(
        self, states: States, deflected: FloatArray | None, held: FloatArray | None
    ) -> np.ndarray:
        """(N, joints, 3): the forces of the parts as they were fitted; an offset counts as 1."""
        terms, values = self.fit.record.terms, self.fit.values_

        def force(kept: np.ndarray) -> np.ndarray:
            return forces_along(terms, np.where(kept, values, 0.0), states, deflected, held)

        whole = force(np.ones(terms.size, bool))
        some = [whole - force(~part.any(axis=0)) for part in self.parts[:2]]
        forces = np.stack([*some, np.ones_like(whole)], axis=-1)
        return np.asarray(forces[:, terms.first :])

    def deviations(self, dry: np.ndarray) -> np.ndarray:
        """(joints, 3); 0 where the fit has no such friction. dry: (joints,) usual size of the dry part."""
        usual = np.tile(_USUAL, (len(dry), 1))
        usual[:, 2] *= dry
        size = np.stack([np.abs(self.parts[0] @ self.fit.values_), dry, np.ones(len(dry))], axis=-1)
        squares, count = self._between()
        square = (_RUNS * usual**2 + squares / np.maximum(size, 1e-150) ** 2) / (_RUNS + count)
        there = self.parts.any(axis=2).T & (size > 0)
        return np.where(there, np.sqrt(square), 0.0)

    def _between(self) -> tuple[np.ndarray, float]:
        """(joints, 3) squares of what runs differ by beyond their noise, and how many runs that is of."""
        runs, empty = self.fit.runs_, np.zeros(self.parts.shape[1::-1])
        if not runs:
            return empty, 0.0
        plain = self.parts & runs.counted
        known = np.isfinite(runs.std[:, None, None, :]) | ~plain
        value = np.where(known, runs.values[:, None, None, :], 0.0)
        apart = (plain * (value - value.mean(axis=0))).sum(axis=-1)
        noise = (plain * np.where(known, runs.std[:, None, None, :], 0.0) ** 2).sum(axis=-1)
        beyond = np.maximum((apart**2).sum(axis=0) - noise.sum(axis=0), 0.0)
        return np.asarray(beyond.T), float(len(runs.values) - 1)


def changes_of(fit: Fit) -> Changes:
    """The parts of the friction of a fit."""
    terms = fit.record.terms
    parts = np.zeros((len(_KINDS), len(terms.joints), terms.size), bool)
    for j in range(len(terms.joints)):
        for name, term, _ in terms.drives:
            kind = _KINDS.index(term.name) if term.name in _KINDS else 1
            parts[kind, j, terms.drive_index(j, name)] = True
        own = [piece for i, piece in terms.listed_terms if i == j]
        for k, piece in zip(terms.listed_index(j).tolist(), own, strict=True):
            parts[1, j, k] = piece.dissipative
    return Changes(fit, parts)
