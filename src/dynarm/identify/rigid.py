"""The rigid body's columns of the linear model: one a minimal parameter, armatures merged where they must be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ..border.kinds import Pickled
from ..border.memo import cached_property
from ..model.model import Model
from ..model.model import compile as compile_arm
from ..parameters.minimal import MinimalParameters, minimal_parameters
from ..robot.arm import Arm


@dataclass(frozen=True)
class Rigid:
    """The minimal parameters of an arm, armatures included on request, and their regressor."""

    arm: Arm
    armature: bool

    def __reduce__(self) -> Pickled:
        return rigid_of, (self.arm, self.armature)  # its compiled regressor is made anew

    @cached_property
    def minimal(self) -> MinimalParameters:
        return minimal_parameters(self.arm, armature=self.armature)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.minimal.names)

    @cached_property
    def plain(self) -> MinimalParameters:
        """The minimal parameters without armatures: the columns of the compiled regressor."""
        return minimal_parameters(self.arm) if self.armature else self.minimal

    @property
    def matrix(self) -> np.ndarray:
        """(p, natural): values = matrix @ natural parameters, 10 a link, with armatures 11 a joint (`joined`)."""
        return np.asarray(self.minimal.matrix)

    # ---- natural parameters: those of a free base first, then link by link, each with its armature if there are any

    @property
    def wide(self) -> int:
        """Natural parameters of a joint and its link."""
        return 11 if self.armature else 10

    @cached_property
    def starts(self) -> np.ndarray:
        """(links,): where the ten of each link begin."""
        base = len(self.arm.link_names) - self.arm.n
        joints = 10 * base + self.wide * np.arange(self.arm.n)
        return np.concatenate([np.zeros(base, int), joints])

    @property
    def size(self) -> int:
        """Number of natural parameters."""
        return int(self.starts[-1]) + (self.wide if self.arm.n else 10)

    @property
    def motors(self) -> np.ndarray:
        """Where the armature of each joint stands; none without armatures."""
        return (
            self.starts[len(self.starts) - self.arm.n :] + 10 if self.armature else np.zeros(0, int)
        )

    def joined(
        self, table: np.ndarray, armatures: np.ndarray | Sequence[float] | float
    ) -> np.ndarray:
        """(natural,) of links (links, 10) and armatures (n,), which take part where they are unknown."""
        row = np.empty(self.size)
        row[self.starts[:, None] + np.arange(10)] = table
        if self.armature:
            row[self.motors] = armatures
        return row

    def parted(self, natural: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Links (links, 10) and armatures (n,), 0 where they are not unknown, of natural parameters in a row."""
        table = natural[self.starts[:, None] + np.arange(10)]
        return table, natural[self.motors] if self.armature else np.zeros(self.arm.n)

    @cached_property
    def natural(self) -> np.ndarray:
        """(natural,): the arm's own."""
        return self.joined(self.arm.parameters, [joint.armature for joint in self.arm.joints])

    # ---- columns

    @cached_property
    def model(self) -> Model:
        """The model of the regressor; that depends on the kinematics only, so arms that share them share it."""
        return compile_arm(self.arm.with_parameters(np.zeros_like(self.arm.parameters)))

    @cached_property
    def _kernel(self) -> np.ufunc:
        return self.model.functions["regressor"]

    @cached_property
    def geared(self) -> np.ndarray:
        """(nv, n): the force on each speed's row per unit of armature and of that speed's acceleration.

        A joint that follows another turns its motor k times as fast and is felt k times: k^2 on its master's row.
        """
        arm = self.arm
        factors = np.zeros((arm.nv, arm.n))
        rows = arm.nv - len(arm.coupling.masters) + np.array(arm.coupling.of, int)
        factors[rows, np.arange(arm.n)] = np.square(arm.coupling.multipliers)
        return factors

    @cached_property
    def mixture(self) -> np.ndarray:
        """From the compiled columns and the armatures' to those of the minimal parameters."""
        plain, n = np.asarray(self.plain.matrix), self.arm.n
        both = np.zeros((len(plain) + n, self.size))
        places = self.starts[:, None] + np.arange(10)
        both[: len(plain), places.ravel()] = plain
        both[len(plain) + np.arange(n), self.motors] = 1.0
        return both @ np.linalg.pinv(self.matrix)

    @cached_property
    def sources(self) -> tuple[np.ndarray, np.ndarray] | None:
        """For each minimal parameter its column of the compiled regressor, or -1, and the joint of its armature, or -1.

        None where parameters mix several of those.
        """
        plain = self.plain
        if not self.armature:
            return np.arange(plain.count), np.full(plain.count, -1)
        place = {k: column for column, k in enumerate(plain.kept)}
        last = len(plain.tree.layout())
        kept = self.minimal.kept
        if any(k < last and k not in place for k in kept):
            return None
        columns = [place[k] if k < last else -1 for k in kept]
        return np.array(columns), np.array([-1 if k < last else k - last for k in kept])

    @property
    def motor(self) -> np.ndarray:
        """(p,) which minimal parameters are armatures that are merged with nothing else."""
        joints = np.full(self.minimal.count, -1) if self.sources is None else self.sources[1]
        return np.asarray(joints >= 0)

    @cached_property
    def places(self) -> np.ndarray | None:
        """For each minimal parameter its place among the compiled columns and, after them, the armatures'."""
        if self.sources is None:
            return None
        columns, joints = self.sources
        return np.where(columns >= 0, columns, self.compiled_size + joints)

    @property
    def compiled_size(self) -> int:
        """Number of columns of the compiled regressor."""
        return self.plain.count

    def compiled(
        self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray, out: np.ndarray | None = None
    ) -> np.ndarray:
        """(N, nv, p) of the minimal parameters without armatures, into `out` if given."""
        return np.asarray(self._kernel(q, qd, qdd, out=out))

    def columns(self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
        """(N, nv, p): forces per unit of each minimal parameter."""
        Y = self.compiled(q, qd, qdd)
        if not self.armature:
            return Y
        p = Y.shape[2]
        wide = np.empty((len(Y), self.arm.nv, p + self.arm.n))
        wide[..., :p] = Y
        wide[..., p:] = qdd[:, :, None] * self.geared
        return np.asarray(wide @ self.mixture if self.places is None else wide[..., self.places])


@lru_cache(maxsize=64)
def rigid_of(arm: Arm, armature: bool) -> Rigid:
    """The rigid part of a model, kept for the next fit of the same arm."""
    return Rigid(arm, armature)
