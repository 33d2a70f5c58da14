"""A compiled model with a user's own columns: what the fit predicts, the model predicts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..model import Model
from .regressor import Column


class ExtendedModel:
    """A Model whose inverse and forward dynamics include further forces, coefficient times column.

    Everything else is the rigid model's own (`.rigid`). Columns may depend on accelerations linearly (coupled gears).
    """

    def __init__(self, rigid: Model, columns: Sequence[Column], coefficients: Any):
        self.rigid = rigid
        self.arm = rigid.arm
        self.columns = tuple(columns)
        self.coefficients = np.asarray(coefficients, float)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.rigid, name)

    def extra(self, q: Any, qd: Any, qdd: Any) -> np.ndarray:
        """(..., n): the forces of the columns."""
        states = np.broadcast_arrays(*(np.asarray(x, float) for x in (q, qd, qdd)))
        found = np.zeros(states[0].shape)
        for coefficient, column in zip(self.coefficients, self.columns, strict=True):
            found += coefficient * column.evaluate(*states)
        return found

    def inverse_dynamics(
        self, q: Any, qd: Any, qdd: Any, wrench: Any = None, **options: Any
    ) -> np.ndarray:
        """Joint forces (..., n) for accelerations qdd, the columns' forces included."""
        return self.rigid.inverse_dynamics(q, qd, qdd, wrench, **options) + self.extra(q, qd, qdd)

    def _added_inertia(self, q: np.ndarray, qd: np.ndarray, still: np.ndarray) -> np.ndarray:
        """(..., n, n): how the columns' forces grow with each acceleration."""
        n = self.arm.n
        columns = [
            self.extra(q, qd, np.broadcast_to(np.eye(n)[k], q.shape)) - still for k in range(n)
        ]
        return np.stack(columns, axis=-1)

    def mass_matrix(self, q: Any, **options: Any) -> np.ndarray:
        """Mass matrix (..., n, n), the columns' part included; symmetric if they are."""
        q = np.asarray(q, float)
        rest = np.zeros_like(q)
        added = self._added_inertia(q, rest, self.extra(q, rest, rest))
        return self.rigid.mass_matrix(q, **options) + added

    def forward_dynamics(
        self, q: Any, qd: Any, tau: Any, wrench: Any = None, **options: Any
    ) -> np.ndarray:
        """Accelerations (..., n) under joint forces tau, the columns' forces included."""
        q, qd, tau = np.broadcast_arrays(*(np.asarray(x, float) for x in (q, qd, tau)))
        rest = np.zeros_like(q)
        still = self.extra(q, qd, rest)
        bias = self.rigid.inverse_dynamics(q, qd, rest, wrench, **options) + still
        M = self.rigid.mass_matrix(q) + self._added_inertia(q, qd, still)
        return np.linalg.solve(M, (tau - bias)[..., None])[..., 0]


def with_columns(model: Model, columns: Sequence[Column], coefficients: Any) -> ExtendedModel:
    """The model with a user's columns added to its forces."""
    return ExtendedModel(model, columns, coefficients)
