"""What taking numbers as exact changes: the largest difference of torques on random states.

A Newton-Euler recursion over the links as a file describes them, in their own frames and on batches of states: small,
slow, and apart from the formulations, because a robot is loaded before any of them is chosen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...border.kinds import FloatArray
from ..frames.lines import JointLine
from ..inertia import tensor

STATES = 64
SPEED, RISE = 1.0, 1.0  # of random speeds [rad/s or m/s] and accelerations [rad/s^2 or m/s^2]
SLIDE = 0.5  # [m] positions of slides


@dataclass(frozen=True, slots=True, eq=False)
class Described:
    """A robot in the frames of its file: its joints, what each hangs on, the base link's ten parameters."""

    segments: Sequence[JointLine]
    parents: Sequence[int]
    base: FloatArray
    follows: Mapping[int, tuple[int, float, float]]  # joint: master, multiplier, offset
    free: bool  # whether the base moves freely


@dataclass(frozen=True, slots=True, eq=False)
class _Motion:
    """Angular velocity, angular acceleration, acceleration of the frame's origin, all (S, 3) in the frame."""

    w: FloatArray
    wd: FloatArray
    a: FloatArray


def largest_change(one: Described, other: Described, gravity: FloatArray) -> tuple[float, float]:
    """The largest difference of any torque between two descriptions of a robot, and the largest torque."""
    rng = np.random.default_rng(0)
    n = len(one.segments)
    q = rng.uniform(-1, 1, (n, STATES))
    q *= [[SLIDE if s.kind == "prismatic" else np.pi] for s in one.segments]
    qd, qdd = SPEED * rng.uniform(-1, 1, (n, STATES)), RISE * rng.uniform(-1, 1, (n, STATES))
    still = np.zeros((STATES, 3))
    base = _Motion(still, still, still - gravity)
    if one.free:
        w, wd, a = rng.uniform(-1, 1, (3, STATES, 3))
        down = rng.normal(size=(STATES, 3))
        down *= np.linalg.norm(gravity) / np.linalg.norm(down, axis=1, keepdims=True)
        base = _Motion(SPEED * w, RISE * wd, RISE * a - down)
    states = [_followed(one, q, 1.0), _followed(one, qd, 0.0), _followed(one, qdd, 0.0)]
    a, b = (_torques(robot, base, *states) for robot in (one, other))
    return float(np.abs(a - b).max()), float(np.abs(a).max())


def _followed(robot: Described, x: FloatArray, shift: float) -> FloatArray:
    """Positions (with shift) or their rates, joints that follow others put where those ask for."""
    moved = x.copy()
    for i, (master, factor, offset) in robot.follows.items():
        moved[i] = factor * x[master] + shift * offset
    return moved


def _torques(
    robot: Described, base: _Motion, q: FloatArray, qd: FloatArray, qdd: FloatArray
) -> FloatArray:
    """(n, S), those of joints that follow others added to their masters'; of a free base six more rows."""
    n = len(robot.segments)
    motions: list[_Motion] = []
    turns, loads = [], []
    for i, s in enumerate(robot.segments):
        before = motions[robot.parents[i]] if robot.parents[i] >= 0 else base
        R, p = _pose(s, q[i])
        turns.append((R, p))
        motions.append(_carried(s, R, p, before, qd[i], qdd[i]))
        loads.append(_load(s.parameters, motions[-1]))
    loads.append(_load(robot.base, base))
    tau = np.zeros((n, q.shape[1]))
    for i in range(n - 1, -1, -1):
        (f, t), s, (R, p), parent = loads[i], robot.segments[i], turns[i], robot.parents[i]
        tau[i] = (f if s.kind == "prismatic" else t) @ s.axis
        f, t = _turned(R, f), _turned(R, t)
        loads[parent] = loads[parent][0] + f, loads[parent][1] + t + np.cross(p, f)
    for i, (master, factor, _) in robot.follows.items():
        tau[master] += factor * tau[i]
        tau[i] = 0.0
    return np.concatenate([tau, *(x.T for x in loads[n])]) if robot.free else tau


def _pose(s: JointLine, q: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Rotation (S, 3, 3) and place (S, 3) of the link's frame in its parent's."""
    R, u = s.placement[:3, :3], s.axis
    if s.kind == "prismatic":
        return np.broadcast_to(R, (len(q), 3, 3)), s.placement[:3, 3] + q[:, None] * (R @ u)
    K = np.array([[0, -u[2], u[1]], [u[2], 0, -u[0]], [-u[1], u[0], 0]])
    turn = np.eye(3) + np.sin(q)[:, None, None] * K + (1 - np.cos(q))[:, None, None] * (K @ K)
    return R @ turn, np.broadcast_to(s.placement[:3, 3], (len(q), 3))


def _carried(
    s: JointLine, R: FloatArray, p: FloatArray, before: _Motion, qd: FloatArray, qdd: FloatArray
) -> _Motion:
    back = R.transpose(0, 2, 1)
    w, wd = _turned(back, before.w), _turned(back, before.wd)
    arc = np.cross(before.wd, p) + np.cross(before.w, np.cross(before.w, p))
    a = _turned(back, before.a + arc)
    v, r = qd[:, None] * s.axis, qdd[:, None] * s.axis
    if s.kind == "prismatic":
        return _Motion(w, wd, a + r + 2 * np.cross(w, v))
    return _Motion(w + v, wd + r + np.cross(w, v), a)


def _load(ten: FloatArray, motion: _Motion) -> tuple[FloatArray, FloatArray]:
    """Force and moment about the origin that move a body."""
    m, h, J = ten[0], ten[1:4], tensor(ten)
    w, wd, a = motion.w, motion.wd, motion.a
    f = m * a + np.cross(wd, h) + np.cross(w, np.cross(w, h))
    return f, wd @ J + np.cross(w, w @ J) + np.cross(h, a)


def _turned(R: FloatArray, v: FloatArray) -> FloatArray:
    turned: FloatArray = np.einsum("sij,sj->si", R, v)
    return turned
