"""A recording of a robot: time, positions, torques and whatever else was measured, in SI units."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..arguments import items, path_of, real, reals, shown
from ..errors import DynarmError, InputError, KindError
from ..memo import cached_property
from ..robot.arm import Arm
from .channels import check_same_names, read_channels
from .quality import Quality, inspect

_STATES = ("q", "qd", "qdd", "tau", "reference")


def _array(what: str, value: Any, width: int | None, rows: int | None) -> np.ndarray:
    """(N, width) finite floats, or an error that says what came and where."""
    array = np.array(reals(what, value, "an array of numbers"))
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2:
        raise InputError(f"{what} has shape {array.shape}; give (samples, joints)")
    if rows is not None and len(array) != rows:
        raise InputError(f"{what} has {len(array)} rows, t has {rows}")
    if width is not None and array.shape[1] != width:
        raise InputError(f"{what} has {array.shape[1]} columns; give {width}")
    bad = ~np.isfinite(array)
    if bad.any():
        row, column = np.argwhere(bad)[0]
        raise InputError(
            f"{what}, row {row + 1}, column {column + 1} is {array[row, column]} ({bad.any(axis=1).sum()} such rows); "
            "remove them"
        )
    array.setflags(write=False)
    return array


@dataclass(frozen=True, eq=False)
class Log:
    """Samples of one motion. t (N,) [s]; q, tau, qd, qdd (N, n); wrench (N, 6) on the tool, in its axes.

    `reference` holds commanded positions where the controller recorded them. Time must increase; rows that repeat a
    time stamp are left out and noted.
    """

    t: Any
    q: Any
    tau: Any
    qd: Any = None
    qdd: Any = None
    wrench: Any = None
    joint_names: Sequence[str] | None = None
    reference: Any = None
    source: str = "log"
    notes: tuple[str, ...] = field(default=())

    def __post_init__(self) -> None:
        put = object.__setattr__
        t = _array("t", self.t, 1, None)[:, 0]
        if len(t) < 2:
            raise InputError(f"{self.source} has {len(t)} samples; at least 2 are needed")
        q = _array("q", self.q, None, len(t))
        values = {"q": q}
        for name in ("tau", "qd", "qdd", "reference"):
            if getattr(self, name) is not None:
                values[name] = _array(name, getattr(self, name), q.shape[1], len(t))
        if self.wrench is not None:
            values["wrench"] = _array("wrench", self.wrench, 6, len(t))
        if "tau" not in values:
            raise InputError("tau is None; a log needs torques")
        step = np.diff(t)
        if (step < 0).any():
            row = int(np.argmax(step < 0)) + 2
            raise InputError(
                f"{self.source}: time goes backwards in row {row} ({t[row - 2]:.6g} s, then {t[row - 1]:.6g} s); "
                "cut the log there"
            )
        notes = self.notes
        if (step == 0).any():
            keep = np.r_[True, step > 0]
            t, values = t[keep], {k: v[keep] for k, v in values.items()}
            notes = (*notes, f"{(~keep).sum()} rows repeat a time stamp and were left out")
        for name, value in values.items():
            put(self, name, value)
        t.setflags(write=False)
        put(self, "t", t)
        put(self, "notes", notes)
        if self.joint_names is not None:
            names = tuple(map(str, items("joint_names", self.joint_names, "a list of names")))
            if len(names) != q.shape[1]:
                raise InputError(f"{len(names)} joint names for {q.shape[1]} columns of q")
            put(self, "joint_names", names)

    @staticmethod
    def read(path: str | os.PathLike[str], channels: Any = None) -> Log:
        """The log in a file. channels: a TOML file or dict (see dynarm.identify.channels); default: the TOML beside
        the log, else the usual names."""
        file = path_of("path", path, "the name of a log's file")
        found = read_channels(file, channels)
        dropped = found.pop("dropped", 0)
        notes = (f"{dropped} rows with missing numbers were left out",) if dropped else ()
        try:
            return Log(**found, source=str(path), notes=notes)
        except DynarmError as error:
            text = str(error)
            raise type(error)(text if str(path) in text else f"{path}: {text}") from None

    def __len__(self) -> int:
        return len(self.t)

    def __repr__(self) -> str:
        return f"<dynarm.Log {self.source}: {self.n} joints, {len(self)} samples, {self.duration:.3g} s>"

    @property
    def n(self) -> int:
        """Number of joints."""
        return int(self.q.shape[1])

    @property
    def duration(self) -> float:
        """Time from the first to the last sample [s]."""
        return float(self.t[-1] - self.t[0])

    @cached_property
    def quality(self) -> Quality:
        """What is doubtful about the recording: gaps, resets, rests, quantisation, saturation, units."""
        return inspect(self.t, self.q, self.tau, self.qd)

    def rows(self, which: Any) -> Log:
        """The log of some of its samples (a mask or a slice)."""
        present = [n for n in ("t", *_STATES, "wrench") if getattr(self, n) is not None]
        try:
            picked = {name: getattr(self, name)[which] for name in present}
        except (IndexError, TypeError, ValueError):
            raise InputError(
                f"which is {shown(which)}; give a slice, or one True or False for each of {len(self)} samples"
            ) from None
        return replace(self, **picked)

    def cut(self, start: float = 0.0, stop: float = np.inf) -> Log:
        """The samples from start to stop [s], counted from the first sample; stop itself is left out."""
        start, stop = (real(w, x, "seconds") for w, x in (("start", start), ("stop", stop)))
        since = self.t - self.t[0]
        keep = (since >= start) & (since < stop)
        if keep.sum() < 2:
            raise InputError(
                f"{self.source}: {keep.sum()} samples between {start} s and {stop} s; it lasts {self.duration:.6g} s"
            )
        return self.rows(keep)

    def select(self, names: Sequence[str]) -> Log:
        """The log with its joints in the given order, chosen by name."""
        if self.joint_names is None:
            raise InputError(f"{self.source} does not name its joints; give joint_names")
        names = items("names", names, "a list of joint names")
        order = check_same_names(self.joint_names, names, self.source)
        if order == list(range(self.n)):
            return self
        picked = {k: getattr(self, k)[:, order] for k in _STATES if getattr(self, k) is not None}
        return replace(self, joint_names=tuple(names), **picked)


def in_order(log: Any, arm: Arm) -> Log:
    """The log with its joints in the arm's order; refused where it cannot be one of this arm."""
    if not isinstance(log, Log):
        raise KindError(f"{shown(log)} is not a log; give dynarm.Log(...) or dynarm.Log.read(path)")
    if log.joint_names is not None:
        return log.select(arm.joint_names)
    if log.n != arm.n:
        raise InputError(
            f"{log.source} has {log.n} joints, robot '{arm.name}' has {arm.n}; name the joints of the log's columns, "
            "or declare the columns of the robot's joints only"
        )
    return log
