"""What a motion is worth and which limits it keeps, in numbers: conditions, determinants, torques, tool positions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...border.memo import cached_property
from ...errors import InputError
from ...model.model import Model
from ...model.model import compile as compile_arm
from ...robot.arm import Arm, Tool
from ..design.clearance import Clearance
from ..design.limbs import Limbs, limbs_of
from ..design.limits import Limits, narrowed
from ..design.scaling import reachable_pose, resting_pose, roomy_poses
from ..design.trajectory import KeptLimits, Series
from ..regressor import Terms

MARGIN = 0.97  # part of each limit used at the points of the optimiser; between them the series may overshoot
_FULL = 0.999  # part of the limits that may be used on a fine grid
_POINTS = 8  # a harmonic and period
_CREEP = 0.1  # part of the top speed at which a pose must be left
_HOMES = 6  # poses that motions are tried from
_ROOMY = 0.9  # part of each range that they lie in where only few poses will do,
_ENDS = 0.995  # and that a given one must: at an end, a joint has no way to begin;
_WELL = 0.005  # part of a range that a home may well be inside
_MOST = 5000  # samples of a period that bodies are checked at, besides the fine grid


class Motions:
    """Motions of one series by their coefficients (n, size), and the limits that they must keep."""

    clearance: Clearance | None = None  # of floor and links, where they are to be kept apart

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
        last = int(series.period * rate)
        asked = np.unique(np.linspace(0, last, min(last + 1, _MOST)).astype(int)) / rate
        self.checked = tuple(
            np.vstack(both) for both in zip(self.fine, series.basis(asked), strict=True)
        )
        # friction jumps from one sample to the next, so that torques are looked at in all of them
        self.sampled = series.basis(np.arange(last + 1) / rate) if last >= _MOST else None
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
        q, qd, qdd = (np.ascontiguousarray(B @ x.T) for B in self.checked)
        over = float(self._excess(q, qd, qdd).max())
        if over > 0 or self.limits.torque is None or self.sampled is None:
            return over
        q, qd, qdd = (np.ascontiguousarray(B @ x.T) for B in self.sampled)
        return max(over, float((np.abs(self.torques(q, qd, qdd)) / self.limits.torque).max()) - 1)

    def overs(self, x: np.ndarray) -> tuple[float, float]:
        """How far torques [part of their limits], and tools and bodies [m], are beyond their limits."""
        q, qd, qdd = (np.ascontiguousarray(B @ x.T) for B in self.checked)
        torque, metres = -1.0, -1.0
        if self.limits.torque is not None:
            torque = float((np.abs(self.torques(q, qd, qdd)) / self.limits.torque).max()) - 1
        if self.limits.box is not None:
            tools, (low, high) = self._tools(q), self.limits.box
            metres = float(max((low - tools).max(), (tools - high).max()))
        if self.clearance is not None and not self.clearance.empty:
            metres = max(metres, -float(self.clearance.room(q).min()))
        return torque, metres

    def _excess(
        self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray, bodies: bool = True
    ) -> np.ndarray:
        """(N,): the same for each state."""
        over = [np.full(len(q), -1.0)]
        if self.limits.torque is not None:
            over.append((np.abs(self.torques(q, qd, qdd)) / self.limits.torque).max(axis=1) - 1)
        if self.limits.box is not None:
            tools, (low, high) = self._tools(q), self.limits.box
            over.append(np.maximum((low - tools).max(axis=(1, 2)), (tools - high).max(axis=(1, 2))))
        if bodies and self.clearance is not None and not self.clearance.empty:
            over.append(-self.clearance.room(q))
        return np.asarray(np.max(over, axis=0))

    def told(self, x: np.ndarray) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """What was looked at in a motion, with the least room that it leaves, and what was not."""
        look, box = self.clearance, self.limits.box
        checked = [] if box is None else ["box: tools between its corners"]
        none = () if box is not None else ("no box given",)
        if look is None:
            return tuple(checked), ("floor and the robot against itself: switched off", *none)
        if look.checked:
            room = float(look.room(np.ascontiguousarray(self.checked[0] @ x.T)).min())
            least = f"least distance of capsules {room + look.margin:.3f} m"
            checked += [*look.checked, least]
        return tuple(checked), (*look.unchecked, *none)

    def kept(self, x: np.ndarray) -> KeptLimits:
        """What the motion was held within, in numbers."""
        limits, look = self.limits, self.clearance
        looked = look is not None and not look.empty
        return KeptLimits(
            np.column_stack([limits.low, limits.high]),
            limits.velocity,
            limits.acceleration,
            limits.torque,
            None if limits.box is None else np.array(limits.box),
            look.floor if look is not None and len(look.ends) else None,
            np.asarray(self.series.basis(np.zeros(1))[0][0] @ x.T),
            look.paired if look is not None and looked else (),
            look.left if look is not None else (),
        )

    @cached_property
    def model(self) -> Model:
        """The arm as it is, armature and friction included."""
        return compile_arm(self.arm, friction=True)

    def torques(self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
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

    @cached_property
    def limbs(self) -> Limbs:
        """The frames of all joints."""
        return self.clearance.limbs if self.clearance is not None else limbs_of(self.arm)

    @cached_property
    def box_points(self) -> tuple[np.ndarray, np.ndarray]:
        """What must stay in a box: joints whose links carry it, and where it is in their frames (k, 3)."""
        tools = [tool for tool in self.arm.all_tools if tool.joint >= 0]
        if not self.arm.all_tools:
            return np.arange(self.arm.n), np.zeros((self.arm.n, 3))
        places = [tool.matrix[:3, 3] for tool in tools]
        return np.array([t.joint for t in tools], int), np.array(places).reshape(-1, 3)

    def anchors(
        self, given: np.ndarray | None, seed: int
    ) -> tuple[list[np.ndarray], np.ndarray | None]:
        """Poses that the motion may start at, none where any will do, and one that it can be drawn towards."""
        bodies = self.clearance is not None and not self.clearance.empty
        if given is not None:
            return [self._checked_home(given)], given
        if not bodies and self.limits.box is None and self.limits.torque is None:
            return [], None
        kept = bodies or self.limits.box is not None
        poses = roomy_poses(self.limits, self._creeping, seed, _HOMES) if kept else []
        if poses:
            return poses, poses[0]
        names = self.arm.joint_names
        if bodies:  # an error of torques or box alone comes first
            reachable_pose(self.limits, self._alone, self._hold, names, seed)
        pose = reachable_pose(self.limits, self._resting, self._hold, names, seed, bodies)
        if not kept:
            return [], pose
        if len(self._at_ends(pose)):
            inside, miss = resting_pose(narrowed(self.limits, _ROOMY), self._resting, seed)
            pose = inside if miss < 0 else pose
        return [pose], pose

    def _checked_home(self, home: np.ndarray) -> np.ndarray:
        """A home that keeps every limit, or an error that says which it breaks."""
        low, high = self.limits.low, self.limits.high
        out = np.flatnonzero((home < low) | (home > high))
        if len(out):
            j = int(out[0])
            raise InputError(
                f"home of joint '{self.arm.joint_names[j]}' is {home[j]:g}, its limits are {low[j]:g} to {high[j]:g}; "
                "give another home or other positions"
            )
        if len(ends := self._at_ends(home)):
            j = int(ends[0])
            raise InputError(
                f"home of joint '{self.arm.joint_names[j]}' is {home[j]:g}, at an end of its range {low[j]:g} to "
                f"{high[j]:g}, from where it could not begin to move; give a home {_WELL * (high[j] - low[j]):.2g} "
                "inside, or other positions"
            )
        miss = self.missed(home)
        if miss:
            raise InputError(f"at home {miss}; give another home, or other limits")
        return home

    def _at_ends(self, pose: np.ndarray) -> np.ndarray:
        """Joints that stand at an end of their ranges."""
        roomy = narrowed(self.limits, _ENDS)
        return np.flatnonzero((pose < roomy.low) | (pose > roomy.high))

    def missed(self, pose: np.ndarray) -> str:
        """What the arm breaks by resting in a pose; nothing where all is kept."""
        q = np.ascontiguousarray(pose[None])
        if self.limits.torque is not None:
            parts = np.abs(self._hold(q)[0]) / self.limits.torque
            j = int(parts.argmax())
            if parts[j] >= 1:
                return f"joint '{self.arm.joint_names[j]}' needs {parts[j]:.3g} times its torque limit to hold the arm"
        if self.limits.box is not None:
            tools, (low, high) = self._tools(q), self.limits.box
            over = float(max((low - tools).max(), (tools - high).max()))
            if over > 0:
                return f"the tool is {over:.3g} m out of the box"
        if self.clearance is not None and not self.clearance.empty:
            return self.clearance.touching(pose)
        return ""

    def _resting(self, poses: np.ndarray) -> np.ndarray:
        return self._excess(poses, np.zeros_like(poses), np.zeros_like(poses))

    def _creeping(self, poses: np.ndarray) -> np.ndarray:
        """The same for the worse of two motions that all joints begin, one way and the other: friction counts."""
        slow = np.broadcast_to(_CREEP * self.limits.velocity, poses.shape)
        nil = np.zeros_like(poses)
        if self.limits.torque is None:
            return self._resting(poses)
        ways = [self._excess(poses, way * slow, nil, bool(way > 0)) for way in (1, -1)]
        return np.asarray(np.max(ways, axis=0))

    def _alone(self, poses: np.ndarray) -> np.ndarray:
        """The same without floor and links."""
        return self._excess(poses, np.zeros_like(poses), np.zeros_like(poses), False)

    def _hold(self, poses: np.ndarray) -> np.ndarray:
        return self.torques(poses, np.zeros_like(poses), np.zeros_like(poses))
