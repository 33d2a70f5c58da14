"""Drives and delay by least squares on reconstructed torques: where rollouts begin.

The states by splines, tau = kp (command(t - delay) - q) - kd qd, less the rigid body's torque, joint by joint on
[qdd, qd, smooth sign of qd, 1], the delay being that with the least error.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...border.kinds import FloatArray, Maker
from ...dynamics.drive import smooth_sign
from .loop import Loop, commanded
from .tracks import Track, units

LATEST = 0.06  # [s] the longest delay that is looked for
_ALIKE = 0.9  # correlation of rigid torques with the controller's that tells its gains
_LIGHTEST = 0.01  # of the armature that alone would take all torque: rollouts begin with no less, lest they are stiff
_GRID = 0.001  # [s] between delays that are tried first


def begun(loop: Loop, tracks: Sequence[Track]) -> tuple[FloatArray, float, FloatArray]:
    """Drives and delay by least squares on torques, and the size (n,) of the torques that the controller gave."""
    n = loop.n
    q, qd, qdd = (np.vstack([track.states[k] for track in tracks]) for k in range(3))
    rigid = loop.rigid_torques(q, qd, qdd)
    columns = np.stack([qdd, qd, smooth_sign(qd, 1 / loop.widths), np.ones_like(qd)], axis=-1)
    scale = np.maximum(np.sqrt((columns**2).mean(axis=0)), 1e-12)
    bases = [np.linalg.svd(columns[:, j] / scale[j], full_matrices=False) for j in range(n)]

    def torques(delay: float) -> FloatArray:
        given = [commanded(k.t, k.command, k.t - delay) for k in tracks]
        return loop.torques(np.vstack(given), q, qd)

    def error(delay: float) -> float:
        y = torques(delay) - rigid
        left = [
            float(np.sum((y[:, j] - U @ (U.T @ y[:, j])) ** 2)) for j, (U, _, _) in enumerate(bases)
        ]
        return float(np.log(np.maximum(left, 1e-12)).sum())

    delay = _least(error)
    y = torques(delay) - rigid
    drives = np.zeros((4, n))
    for j, (U, s, V) in enumerate(bases):
        inverse = np.where(s > 1e-6 * s[0], 1 / np.maximum(s, 1e-300), 0.0)
        drives[:, j] = V.T @ (inverse * (U.T @ y[:, j])) / scale[j]
    drives[:3] = np.maximum(drives[:3], 0.0)
    size = np.sqrt((torques(delay) ** 2).mean(axis=0))
    drives[0] = np.maximum(drives[0], _LIGHTEST * units(tracks, size)[:n])
    return drives.ravel(), delay, size


def _least(error: Maker) -> float:
    """The delay of the least error: the best of a grid, then the lowest point of a parabola."""
    delays = np.arange(0.0, LATEST + _GRID / 2, _GRID)
    errors = np.array([error(delay) for delay in delays])
    k = int(np.argmin(errors))
    if not 0 < k < len(delays) - 1:
        return float(delays[k])
    low, mid, high = errors[k - 1 : k + 2]
    return float(delays[k] + _GRID / 2 * (low - high) / max(low - 2 * mid + high, 1e-12))


def gain_ratio(loop: Loop, tracks: Sequence[Track], delay: float) -> float:
    """By what all gains would have to be multiplied for rigid bodies to need such torques; 1 where no joint tells it.

    Joint by joint rigid torques are regressed on the controller's, both less what drives explain: gravity and coupling
    remain, which armature and friction cannot mimic.
    """
    q, qd, qdd = (np.vstack([track.states[k] for track in tracks]) for k in range(3))
    rigid = loop.rigid_torques(q, qd, qdd)
    c = np.vstack([commanded(k.t, k.command, k.t - delay) for k in tracks])
    torque, ratios = loop.kp * (c - q) - loop.kd * qd, []
    signs = smooth_sign(qd, 1 / loop.widths)
    for j in range(loop.n):
        drives = [qdd[:, j], qd[:, j], signs[:, j], np.ones(len(q))]
        base, _ = np.linalg.qr(np.column_stack(drives))
        y, x = (z[:, j] - base @ (base.T @ z[:, j]) for z in (rigid, torque))
        alike = float(y @ x) / max(float(np.linalg.norm(y) * np.linalg.norm(x)), 1e-12)
        if alike > _ALIKE:
            ratios.append(float(np.linalg.norm(y) / np.linalg.norm(x)))
    return float(np.median(ratios)) if ratios else 1.0
