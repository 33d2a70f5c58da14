"""A recording of a robot: time, positions, torques and whatever else was measured, in SI units."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ...border.arguments import items, path_of, real, shown
from ...border.files import named
from ...border.kinds import Kept, Outside
from ...border.memo import cached_property
from ...errors import DynarmError, InputError, KindError
from ...robot.arm import Arm
from ..judgement.quality import Quality, inspect
from .channels import check_same_names, read_channels, table_channels
from .declaration import load_declaration
from .frames import check_indexes, columns_in_order, numbers_of, seconds_of, table_of
from .recognition import recognise
from .summary import headline, html_summary, text_summary

_STATES = ("q", "qd", "qdd", "tau", "reference")


def _array(what: str, array: np.ndarray, width: int | None, rows: int | None) -> np.ndarray:
    """(N, width) finite floats, or an error that says what came and where."""
    array = np.array(array)
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2:
        raise InputError(f"{what} has shape {array.shape}; give (samples, joints)")
    if rows is not None and len(array) != rows:
        raise InputError(f"{what} has {len(array)} rows, t has {rows}")
    if width is not None and array.shape[1] != width:
        raise InputError(f"{what} has {array.shape[1]} columns; give {width}")
    if not array.shape[1]:
        raise InputError(f"{what} has no columns; give (samples, joints)")
    bad = ~np.isfinite(array)
    if bad.any():
        row, column = np.argwhere(bad)[0]
        raise InputError(
            f"{what}, row {row + 1}, column {column + 1} is {array[row, column]} ({bad.any(axis=1).sum()} such rows); "
            "remove them"
        )
    array.setflags(write=False)
    return array


def _names(given: Outside) -> tuple[str, ...] | None:
    if given is None:
        return None
    names = tuple(map(str, items("joint_names", given, "a list of names")))
    if len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"joint_names holds '{named(twice)}' twice; give each joint its own name")
    return names


@dataclass(frozen=True, eq=False)
class Log:
    """Samples of one motion. t (N,) [s]; q, tau, qd, qdd (N, n); wrench (N, 6) on the tool, in its axes.

    `reference` holds commanded positions where the controller recorded them. Time must increase; rows that repeat a
    time stamp are left out and noted. Times may be dates or durations of any unit. DataFrames are matched to the
    joints by the names of their columns where these are names of joints, else by place; `labels` keeps those of q
    where joint_names is not given.
    """

    t: Kept
    q: Kept
    tau: Kept
    qd: Kept = None
    qdd: Kept = None
    wrench: Kept = None
    joint_names: Sequence[str] | None = None
    reference: Kept = None
    source: str = "log"
    notes: tuple[str, ...] = field(default=())
    labels: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        names = _names(self.joint_names)
        given = {"t": seconds_of("t", self.t)}
        given |= {
            name: numbers_of(name, getattr(self, name))
            for name in (*_STATES, "wrench")
            if getattr(self, name) is not None
        }
        for name, needed in (("q", "positions"), ("tau", "torques")):
            if name not in given:
                raise InputError(f"{name} is None; a log needs {needed}")
        check_indexes(given)
        t = _array("t", given["t"].array, 1, None)[:, 0]
        if len(t) < 2:
            raise InputError(f"{named(self.source)} has {len(t)} samples; at least 2 are needed")
        order = names or given["q"].labels or ()
        values = {"q": _array("q", columns_in_order("q", given["q"], order), None, len(t))}
        n = values["q"].shape[1]
        for name in (k for k in _STATES[1:] if k in given):
            values[name] = _array(name, columns_in_order(name, given[name], order), n, len(t))
        if "wrench" in given:
            values["wrench"] = _array("wrench", given["wrench"].array, 6, len(t))
        if names is not None and len(names) != n:
            raise InputError(f"{len(names)} joint names for {n} columns of q")
        self._keep(t, values)
        object.__setattr__(self, "joint_names", names)
        if given["q"].labels is not None and names is None:
            object.__setattr__(self, "labels", given["q"].labels)

    def _keep(self, t: np.ndarray, values: dict[str, np.ndarray]) -> None:
        """The arrays without rows that repeat a time stamp; refused where time goes backwards."""
        with np.errstate(over="ignore"):
            step = np.diff(t)
        if (step < 0).any():
            row = int(np.argmax(step < 0)) + 2
            raise InputError(
                f"{named(self.source)}: time goes backwards in row {row} ({t[row - 2]:.6g} s, then "
                f"{t[row - 1]:.6g} s); cut the log there"
            )
        if (step == 0).any():
            keep = np.r_[True, step > 0]
            t, values = t[keep], {k: v[keep] for k, v in values.items()}
            note = f"{(~keep).sum()} rows repeat a time stamp and were left out"
            object.__setattr__(self, "notes", (*self.notes, note))
        for name, value in {"t": t, **values}.items():
            value.setflags(write=False)
            object.__setattr__(self, name, value)

    @staticmethod
    def read(path: str | os.PathLike[str], channels: Outside = None) -> Log:
        """The log in a file. channels: a TOML file or dict (see dynarm.identify.channels); default: the TOML beside
        the log, else the usual names."""
        file = path_of("path", path, "the name of a log's file")
        return _log(str(path), read_channels(file, channels))

    @staticmethod
    def from_frame(frame: Outside, arm: Arm | None = None, channels: Outside = None) -> Log:
        """The log in a DataFrame. channels as for `read`; default: the usual names, and those of the arm's joints.

        An index that is a clock, or has a name, counts as a column. With an arm the joints are put in its order.
        """
        table = table_of(frame)
        declaration = load_declaration(None, channels)
        if declaration is None:
            joints = () if arm is None else arm.joint_names
            declaration = recognise("frame", table, "channels={...}", joints)
        log = _log("frame", table_channels("frame", table, declaration))
        return log if arm is None else in_order(log, arm)

    def __len__(self) -> int:
        return len(self.t)

    def __repr__(self) -> str:
        return f"<dynarm.Log {headline(self)}>"

    def __str__(self) -> str:
        return text_summary(self)

    def _repr_html_(self) -> str:
        return html_summary(self)

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

    def rows(self, which: Outside) -> Log:
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
        return _reordered(self, order, names)


def _log(source: str, channels: dict[str, Outside]) -> Log:
    """The log of a file's or a frame's channels; errors say which file."""
    dropped = channels.pop("dropped", 0)
    notes = (f"{dropped} rows with missing numbers were left out",) if dropped else ()
    try:
        return Log(**channels, source=source, notes=notes)
    except DynarmError as error:
        text = str(error)
        raise type(error)(text if named(source) in text else f"{named(source)}: {text}") from None


def _reordered(log: Log, order: Sequence[int], names: Sequence[str]) -> Log:
    picked = {k: getattr(log, k)[:, order] for k in _STATES if getattr(log, k) is not None}
    return replace(log, joint_names=tuple(names), labels=None, **picked)


def in_order(log: Outside, arm: Arm) -> Log:
    """The log with its joints in the arm's order; refused where it cannot be one of this arm."""
    if not isinstance(log, Log):
        raise KindError(f"{shown(log)} is not a log; give dynarm.Log(...) or dynarm.Log.read(path)")
    if log.joint_names is not None:
        return log.select(arm.joint_names)
    if log.labels is not None and set(log.labels) & set(arm.joint_names):
        order = check_same_names(log.labels, arm.joint_names, log.source)
        return _reordered(log, order, arm.joint_names)
    if log.n != arm.n:
        raise InputError(
            f"{log.source} has {log.n} joints, robot '{arm.name}' has {arm.n}; name the joints of the log's columns, "
            "or declare the columns of the robot's joints only"
        )
    return log
