"""What a motion is worth and which limits it keeps, in numbers: conditions, determinants, torques, tool positions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...border.memo import cached_property
from ...model.model import Model
from ...model.model import compile as compile_arm
from ...robot.arm import Arm, Tool
from ..design.limits import Limits
from ..design.scaling import reachable_pose
from ..design.trajectory import Series
from ..regressor import Terms

MARGIN = 0.97  # part of each limit used at the points of the optimiser; between them the series may overshoot
_FULL = 0.999  # part of the limits that may be used on a fine grid
_POINTS = 8  # a harmonic and period
_MOST = 5000  # samples of a period that limits are checked at, besides the fine grid


class Motions:
    """Motions of one series by their coefficients (n, size), and the limits that they must keep."""

    def __init__(
        self,
        arm: Arm,
        terms: Terms,
        series: Series,
        limits: Limits,
        criterion: str,
        rate: float,
    ):
        self.arm, self.terms, self.series, self.limits = arm, terms, series, limits
        self.criterion = criterion
        points = _POINTS * series.harmonics
        self.bases = series.basis(np.arange(points) * series.period / points)
        self.fine = series.basis(
            np.linspace(0, series.period, 40 * series.harmonics, endpoint=False)
        )
        asked = np.arange(min(int(series.period * rate) + 1, _MOST)) / rate
        self.checked = tuple(
            np.vstack(both) for both in zip(self.fine, series.basis(asked), strict=True)
        )
        self.scale = np.ones(terms.size)
        rng = np.random.default_rng(1)
        columns = np.concatenate(
            [self._columns(self.within(series.random(rng, arm.nv))) for _ in range(4)]
        )
        # one joint's rows may not drown another's
        self.rows = np.sqrt((columns**2).mean(axis=(0, 2)))
        self.rows[self.rows == 0] = 1.0
        self.scale = np.sqrt(((columns / self.rows[:, None]) ** 2).mean(axis=(0, 1)))
        self.scale[self.scale == 0] = 1.0

    # ---- numbers

    def _columns(self, x: np.ndarray) -> np.ndarray:
        q, qd, qdd = (np.ascontiguousarray(B @ x.T) for B in self.fine)
        return self.terms.evaluate(q, qd, qdd)

    def _scaled(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(self._columns(x) / self.rows[:, None] / self.scale)

    def within(self, x: np.ndarray) -> np.ndarray:
        """The coefficients shrunk and shifted until the limits on position, velocity and acceleration hold."""
        x = np.array(x, float)
        limits = self.limits
        for j in range(len(x)):
            middle, x[j, 0] = x[j, 0], 0.0
            q, qd, qdd = (B @ x[j] for B in self.fine)
            room = limits.high[j] - limits.low[j]
            ratio = max(
                np.ptp(q) / (MARGIN * room),
                np.abs(qd).max() / limits.velocity[j],
                np.abs(qdd).max() / limits.acceleration[j],
            )
            if ratio > _FULL:
                x[j] *= _FULL / ratio
                q = q * (_FULL / ratio)
            spare = (1 - MARGIN) / 2 * room
            x[j, 0] = np.clip(
                middle, limits.low[j] + spare - q.min(), limits.high[j] - spare - q.max()
            )
        return x

    def condition(self, x: np.ndarray) -> float:
        """Condition number of the regressor on a fine grid, columns of length one."""
        W = self._columns(x) / self.rows[:, None]
        W = W.reshape(-1, W.shape[2])[:, self.terms.independent]
        size = np.linalg.norm(W, axis=0)
        if (size == 0).any():
            return float("inf")
        s = np.linalg.svd(W / size, compute_uv=False)
        return float(s[0] / s[-1]) if s[-1] > 0 else float("inf")

    def joint_conditions(self, x: np.ndarray) -> tuple[float, ...]:
        """cond(A_i) of every joint."""
        columns = self._columns(x)
        conditions = []
        for j, own in enumerate(self.owned()):
            A = columns[:, j, own]
            size = np.linalg.norm(A, axis=0)
            if not len(own) or (size == 0).any():
                conditions.append(1.0 if not len(own) else float("inf"))
                continue
            s = np.linalg.svd(A / size, compute_uv=False)
            conditions.append(float(s[0] / s[-1]) if s[-1] > 0 else float("inf"))
        return tuple(conditions)

    def owned(self) -> list[np.ndarray]:
        """The unknowns that each joint is the outermost to feel."""
        known = set(range(self.terms.size)) - set(self.terms.independent.tolist())
        unknowns: list[np.ndarray] = [np.zeros(0, int)] * self.terms.n
        for j in range(self.terms.n - 1, -1, -1):
            mine = [int(k) for k in self.terms.support[j] if int(k) not in known]
            unknowns[j] = np.array(mine, int)
            known |= set(mine)
        return unknowns

    def score(self, x: np.ndarray) -> float:
        """The criterion as a number to be made small."""
        if self.criterion == "recursive":
            return max(self.joint_conditions(x))
        if self.criterion == "condition":
            return self.condition(x)
        W = self._scaled(x)[:, :, self.terms.independent]
        sign, value = np.linalg.slogdet(np.einsum("kjp,kjq->pq", W, W))
        return -value if sign > 0 else np.inf

    def excess(self, x: np.ndarray) -> float:
        """How far torques [part of their limits] or the tool [m] are beyond their limits; below 0: inside.

        On a fine grid, and at the samples that will be returned.
        """
        return float(self._excess(*(np.ascontiguousarray(B @ x.T) for B in self.checked)).max())

    def _excess(self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
        """(N,): the same for each state."""
        over = [np.full(len(q), -1.0)]
        if self.limits.torque is not None:
            over.append((np.abs(self._torques(q, qd, qdd)) / self.limits.torque).max(axis=1) - 1)
        if self.limits.box is not None:
            tools, (low, high) = self._tools(q), self.limits.box
            over.append(np.maximum((low - tools).max(axis=(1, 2)), (tools - high).max(axis=(1, 2))))
        return np.asarray(np.max(over, axis=0))

    @cached_property
    def model(self) -> Model:
        """The arm as it is, armature and friction included."""
        return compile_arm(self.arm, friction=True)

    def _torques(self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
        """(N, n): joint forces of the arm's own parameters, armature and friction included."""
        return self.model.inverse_dynamics(q, qd, qdd)

    @cached_property
    def pointed(self) -> Model:
        """The model of what must stay in a box: the tools, or of a tree without any the frames of all links."""
        arm = self.arm
        if arm.all_tools:
            return self.model
        frames = [Tool(str(joint.name), i) for i, joint in enumerate(arm.joints)]
        return compile_arm(replace(arm, tools=frames))

    def _tools(self, q: np.ndarray) -> np.ndarray:
        """(N, tools, 3): where the tools are in the base link."""
        poses = self.pointed.forward_kinematics(q)
        return np.asarray(poses[..., :3, 3].reshape(len(q), -1, 3))

    def pose(self, seed: int) -> np.ndarray | None:
        """A pose in which the arm can rest within torques and box; None where it has neither to keep."""
        if self.limits.torque is None and self.limits.box is None:
            return None

        def resting(poses: np.ndarray) -> np.ndarray:
            return self._excess(poses, np.zeros_like(poses), np.zeros_like(poses))

        def hold(poses: np.ndarray) -> np.ndarray:
            return self._torques(poses, np.zeros_like(poses), np.zeros_like(poses))

        return reachable_pose(self.limits, resting, hold, self.arm.joint_names, seed)
