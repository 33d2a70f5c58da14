"""A motion to play: times, positions and torques, from a simulation's file or from a log."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from ..border.arguments import path_of
from ..border.kinds import Outside
from ..errors import FileMissing, FormatError, InputError
from ..robot.arm import Arm
from ..robot.frames.placed import coordinates

DAMAGED = (OSError, ValueError, EOFError, KeyError, BadZipFile, zlib.error, NotImplementedError)
MOST = 3000  # samples that are kept for playing


@dataclass(frozen=True, slots=True, eq=False)
class ShownRecording:
    """t (N,) [s], q (N, n) and, where it is known, tau (N, n)."""

    t: np.ndarray
    q: np.ndarray
    tau: np.ndarray | None
    source: str

    @property
    def duration(self) -> float:
        return float(self.t[-1] - self.t[0])

    def at(self, time: float) -> int:
        """The sample at a time since the start [s]."""
        return int(np.clip(np.searchsorted(self.t, self.t[0] + time), 0, len(self.t) - 1))


def thinned(whole: ShownRecording) -> ShownRecording:
    """At most so many samples."""
    step = -(-len(whole.t) // MOST)
    tau = None if whole.tau is None else whole.tau[::step]
    return ShownRecording(whole.t[::step], whole.q[::step], tau, whole.source)


def read(
    path: str | Path, arm: Arm, channels: Outside = None, topic: str | None = None
) -> ShownRecording:
    """The motion in a run's .npz or .parquet, else in a log."""
    file = path_of("--play", path, "a run's .npz or a log")
    if not file.is_file():
        raise FileMissing(f"there is no file {file}; check the path")
    motion = _stored_run(file) or _log(file, arm, channels, topic)
    joints = len(arm.joint_names)
    if motion.q.shape[1] == joints != arm.nq:  # joints alone: the base stands upright
        free = None if motion.tau is None else np.zeros((len(motion.tau), arm.nv - joints))
        tau = motion.tau if free is None else np.concatenate([free, motion.tau], axis=1)
        motion = ShownRecording(motion.t, coordinates(arm, motion.q), tau, motion.source)
    if motion.q.shape[1] != arm.nq:
        raise InputError(f"{file} has {motion.q.shape[1]} joints, robot '{arm.name}' has {joints}")
    return thinned(motion)


def _stored_run(file: Path) -> ShownRecording | None:
    """A file that `Run.save` wrote, or None if it is another."""
    if file.suffix.lower() != ".npz":
        return None
    try:
        with np.load(file, allow_pickle=False) as stored:
            if not {"t", "q", "tau", "about"} <= set(stored.files):
                return None
            q, tau = (stored[k].reshape(-1, *stored[k].shape[-2:])[0] for k in ("q", "tau"))
            return ShownRecording(stored["t"], q, tau, str(file))
    except DAMAGED as error:
        raise FormatError(f"{file} cannot be read: {error}; give a run's .npz or a log") from None


def _log(file: Path, arm: Arm, channels: Outside, topic: str | None) -> ShownRecording:
    from ..identify.logs.log import Log

    log = Log.read(file, channels, topic)
    if log.joint_names is not None and set(log.joint_names) == set(arm.joint_names):
        log = log.select(arm.joint_names)
    return ShownRecording(log.t, log.q, log.tau, str(file))
