"""The rigid body's columns of the linear model: one a minimal parameter, armatures merged where they must be."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from ..border.memo import cached_property
from ..dynamics.papers.minimal_parameters_lin1995 import layout
from ..model.model import Model
from ..model.model import compile as compile_arm
from ..parameters.minimal import MinimalParameters, minimal_parameters
from ..robot.arm import Arm


@dataclass(frozen=True)
class Rigid:
    """The minimal parameters of an arm, armatures included on request, and their regressor."""

    arm: Arm
    armature: bool

    def __reduce__(self) -> Any:
        return rigid_of, (self.arm, self.armature)  # its compiled regressor is made anew

    @cached_property
    def minimal(self) -> MinimalParameters:
        return minimal_parameters(self.arm, armature=self.armature)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.minimal.names)

    @property
    def matrix(self) -> np.ndarray:
        """(p, 10 n), or (p, 11 n) with armatures: values = matrix @ natural parameters."""
        return np.asarray(self.minimal.matrix)

    @cached_property
    def natural(self) -> np.ndarray:
        """(n, 10) or (n, 11): the arm's own parameters, armature last."""
        if not self.armature:
            return self.arm.parameters
        own = [[joint.armature] for joint in self.arm.joints]
        return np.hstack([self.arm.parameters, own])

    @cached_property
    def model(self) -> Model:
        """The model of the regressor; that depends on the kinematics only, so arms that share them share it."""
        return compile_arm(self.arm.with_parameters(np.zeros((self.arm.n, 10))))

    @cached_property
    def _kernel(self) -> Any:
        return self.model.functions["regressor"]

    @cached_property
    def mixture(self) -> np.ndarray:
        """From the compiled columns and the armatures' to those of the minimal parameters."""
        n = self.arm.n
        plain = np.asarray(minimal_parameters(self.arm).matrix)
        both = np.zeros((len(plain) + n, n, 11))
        both[: len(plain), :, :10] = plain.reshape(-1, n, 10)
        both[len(plain) + np.arange(n), np.arange(n), 10] = 1.0
        return both.reshape(len(both), -1) @ np.linalg.pinv(self.matrix)

    @cached_property
    def sources(self) -> tuple[np.ndarray, np.ndarray] | None:
        """For each minimal parameter its column of the compiled regressor, or -1, and the joint of its armature, or -1.

        None where parameters mix several of those.
        """
        plain = minimal_parameters(self.arm)
        if not self.armature:
            return np.arange(plain.count), np.full(plain.count, -1)
        place = {k: column for column, k in enumerate(plain.kept)}
        last = len(layout(plain.structure))
        kept = self.minimal.kept
        if any(k < last and k not in place for k in kept):
            return None
        columns = [place[k] if k < last else -1 for k in kept]
        return np.array(columns), np.array([-1 if k < last else k - last for k in kept])

    @cached_property
    def places(self) -> np.ndarray | None:
        """For each minimal parameter its place among the compiled columns and, after them, the armatures'."""
        if self.sources is None:
            return None
        columns, joints = self.sources
        return np.where(columns >= 0, columns, self.compiled_size + joints)

    @cached_property
    def compiled_size(self) -> int:
        """Number of columns of the compiled regressor."""
        return minimal_parameters(self.arm).count

    def compiled(
        self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray, out: np.ndarray | None = None
    ) -> np.ndarray:
        """(N, n, p) of the minimal parameters without armatures, into `out` if given."""
        return np.asarray(self._kernel(q, qd, qdd, out=out))

    def columns(self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
        """(N, n, p): joint forces per unit of each minimal parameter."""
        Y = self.compiled(q, qd, qdd)
        if not self.armature:
            return Y
        n, p = self.arm.n, Y.shape[2]
        wide = np.zeros((len(Y), n, p + n))
        wide[..., :p] = Y
        j = np.arange(n)
        wide[:, j, p + j] = qdd
        return np.asarray(wide @ self.mixture if self.places is None else wide[..., self.places])


@lru_cache(maxsize=64)
def rigid_of(arm: Arm, armature: bool) -> Rigid:
    """The rigid part of a model, kept for the next fit of the same arm."""
    return Rigid(arm, armature)
