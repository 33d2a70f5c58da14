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
from .base import BASE_FORCES, BASE_POSE, BASE_SPEEDS, upright
from .channels import check_same_names, read_channels, table_channels
from .declaration import DriveTerms, load_declaration
from .frames import Values, check_indexes, columns_in_order, numbers_of, seconds_of, table_of
from .noted import left_out
from .recognition import recognise
from .summary import headline, html_summary, text_summary
from .turns import unbroken

_STATES = ("q", "qd", "qdd", "tau", "reference", "q_command")


def _array(
    what: str, array: np.ndarray, width: int | None, rows: int | None, gaps: bool = False
) -> np.ndarray:
    """(N, width) finite floats, or an error that says what came and where; gaps: columns may be NaN throughout."""
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
    if gaps:
        bad &= ~np.isnan(array).all(axis=0)
    if bad.any():
        row, column = np.argwhere(bad)[0]
        raise InputError(
            f"{what}, row {row + 1}, column {column + 1} is {array[row, column]} ({bad.any(axis=1).sum()} such rows); "
            "remove them"
        )
    array.setflags(write=False)
    return array


def _wrench(array: np.ndarray, rows: int) -> np.ndarray:
    """(N, 6 k) of wrenches (N, 6) or (N, k, 6)."""
    array = np.asarray(array)
    if array.ndim == 3 and array.shape[-1] == 6:
        array = array.reshape(len(array), -1)
    whole = array.ndim == 2 and array.shape[1] and array.shape[1] % 6 == 0
    return _array("wrench", array, None if whole else 6, rows)


def _unmeasured(q: Values) -> tuple[int, int]:
    """The shape of torques that nobody measured."""
    wide = 1 if q.array.ndim == 1 else q.array.shape[-1]
    return len(q.array), wide - (set(BASE_POSE) <= set(q.labels or ()))


def _joints_among(labels: tuple[str, ...]) -> tuple[str, ...]:
    """The labels that are not of a base's pose, where all of that is there."""
    poses = set(BASE_POSE) <= set(labels)
    return tuple(name for name in labels if not (poses and name in BASE_POSE))


def _ordered(what: str, values: Values, first: Sequence[str], order: Sequence[str]) -> np.ndarray:
    """The columns with those of the base first, where they are called so; then the joints'."""
    labels = set(values.labels or ())
    return columns_in_order(what, values, (*first, *order) if labels & set(first) else order)


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
    """Samples of one motion: times, positions, torques, and what else was recorded.

    With a free base q is (N, nq) and the others (N, nv), in the arm's order (`coordinate_names`, `speed_names`): the
    base's pose, velocity and wrench come before the joints'. DataFrames are matched to the joints by the names of their
    columns where these are names of joints, else by place.

    Parameters
    ----------
    t : array_like (N,)
        Times [s]; they must increase. Dates and durations of any unit will do; rows that
        repeat a time stamp are left out and noted.
    q : array_like (N, n)
        Positions [rad or m].
    tau : array_like (N, n), optional
        Torques [N m or N], or currents where the gains of the drives are to be found;
        columns that are NaN throughout were not measured.
    qd : array_like (N, n), optional
        Velocities, where they were recorded.
    qdd : array_like (N, n), optional
        Accelerations, where they were recorded.
    wrench : array_like (N, 6), optional
        Force and torque on the tool, in its axes; (N, k, 6) for k tools.
    joint_names : sequence of str, optional
        Names of the joints, not of a free base.
    reference : array_like (N, n), optional
        Another name of `q_command`; where only one is given both hold it.
    source : str, default "log"
        What the log is called in messages.
    notes : tuple[str, ...], optional
        What is to be known about the log; readers fill it in.
    labels : tuple[str, ...], optional
        Names of the columns of q, where joint_names is not given.
    base_wrench : array_like (N, 6), optional
        Force and moment on a free base in its axes, put before the torques of the joints;
        `tau` may then be left out.
    q_command : array_like (N, n), optional
        Positions that were commanded, where the controller recorded them; `tau` may then be
        left out (`dynarm.Identifier(arm, pd=(kp, kd))`).
    drives : DriveTerms, optional
        Coupling and springs that the log's channels declare.
    since : datetime64, optional
        The moment (UTC) that t counts from, where the file's clock tells it.

    Examples
    --------
    >>> t = np.linspace(0, 5, 501)
    >>> q = np.column_stack([np.sin(t), np.cos(2 * t)])
    >>> log = dynarm.Log(t, q, tau=np.zeros_like(q), joint_names=["shoulder", "elbow"])
    >>> log.duration
    5.0
    """

    t: Kept
    q: Kept
    tau: Kept = None
    qd: Kept = None
    qdd: Kept = None
    wrench: Kept = None
    joint_names: Sequence[str] | None = None
    reference: Kept = None
    source: str = "log"
    notes: tuple[str, ...] = field(default=())
    labels: tuple[str, ...] | None = None
    base_wrench: Kept = None  # becomes the first six columns of tau
    q_command: Kept = None
    drives: DriveTerms | None = None  # coupling and springs that the channels declare
    since: np.datetime64 | None = (
        None  # the moment (UTC) that t counts from, where the file's clock tells it
    )

    def __post_init__(self) -> None:
        names = _names(self.joint_names)
        given = {"t": seconds_of("t", self.t)}
        given |= {
            name: numbers_of(name, getattr(self, name))
            for name in (*_STATES, "wrench", "base_wrench")
            if getattr(self, name) is not None
        }
        if "q" not in given:
            raise InputError("q is None; a log needs positions")
        commanded = given.get("q_command", given.get("reference"))
        if "tau" not in given and "base_wrench" not in given:
            if commanded is None:
                raise InputError("tau is None; a log needs torques, or q_command")
            given["tau"] = Values(np.full(_unmeasured(given["q"]), np.nan))
        check_indexes(given)
        t = _array("t", given["t"].array, 1, None)[:, 0]
        if len(t) < 2:
            raise InputError(f"{named(self.source)} has {len(t)} samples; at least 2 are needed")
        values = self._states(given, names, len(t))
        if "wrench" in given:
            values["wrench"] = _wrench(given["wrench"].array, len(t))
        free = values["q"].shape[1] != values["tau"].shape[1]
        joints = values["q"].shape[1] - (7 if free else 0)
        if names is not None and len(names) != joints:
            raise InputError(f"{len(names)} joint names for {joints} columns of q")
        if free:
            values["q"] = upright(values["q"], named(self.source))
        for name, other in (("reference", "q_command"), ("q_command", "reference")):
            if name not in values and other in values:
                values[name] = values[other]
        self._keep(t, values)
        object.__setattr__(self, "joint_names", names)
        object.__setattr__(self, "base_wrench", None)
        labels = given["q"].labels
        if labels is not None and names is None:
            among = _joints_among(labels)
            object.__setattr__(self, "labels", among[len(among) - joints :])

    def _states(
        self, given: dict[str, Values], names: tuple[str, ...] | None, rows: int
    ) -> dict[str, np.ndarray]:
        """The arrays of the states, columns in order, as wide as the robot that their widths tell."""
        labels = given["q"].labels
        poses = set(BASE_POSE) <= set(labels or ())
        order = names or _joints_among(labels or ())
        given_q = columns_in_order("q", given["q"], (*BASE_POSE, *order) if poses else order)
        values = {"q": _array("q", given_q, None, rows)}
        nq = values["q"].shape[1]
        wide = given["tau"].array if "tau" in given else np.empty((rows, nq - 7))
        wide = wide if wide.ndim > 1 else wide.reshape(-1, 1)
        narrow = wide.shape[-1] in (nq - 1, nq - 7) if nq > 7 else wide.shape[-1] == nq - 1 == 6
        free = poses or "base_wrench" in given or narrow
        if free and nq < 7:
            raise InputError(f"q has {nq} columns; a free base alone has 7: {', '.join(BASE_POSE)}")
        for name in (k for k in _STATES[1:] if k in given and k != "tau"):
            posed = name in ("reference", "q_command")
            n = nq if posed or not free else nq - 1
            first = BASE_SPEEDS if free and not posed else BASE_POSE if free else ()
            ordered = _ordered(name, given[name], first, order)
            values[name] = _array(name, ordered, n, rows)
        values["tau"] = (
            self._torques(given, order, nq, rows)
            if free
            else _array("tau", columns_in_order("tau", given["tau"], order), nq, rows, gaps=True)
        )
        if np.isnan(values["tau"]).all() and not {"reference", "q_command"} & set(given):
            raise InputError("tau is NaN throughout; a log needs torques, or q_command")
        return values

    def _torques(
        self, given: dict[str, Values], order: Sequence[str], nq: int, rows: int
    ) -> np.ndarray:
        """(N, nv) of a free base and its joints, NaN where nothing was measured."""
        tau = np.full((rows, nq - 1), np.nan)
        if "tau" in given:
            own = _ordered("tau", given["tau"], BASE_FORCES, order)
            own = own[:, None] if own.ndim == 1 else own
            alone = own.shape[-1] == nq - 7 and nq > 7
            width = nq - 7 if alone else nq - 1
            tau[:, -width:] = _array("tau", own, width, rows, gaps=True)
        if "base_wrench" in given:
            if not np.isnan(tau[:, :6]).all():
                raise InputError("tau has columns of the base, and base_wrench is given; give one")
            tau[:, :6] = _array("base_wrench", given["base_wrench"].array, 6, rows)
        tau.setflags(write=False)
        return tau

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
    def read(
        path: str | os.PathLike[str], channels: Outside = None, topic: str | None = None
    ) -> Log:
        """The log in a file.

        Parameters
        ----------
        path : path-like
            CSV, Parquet, npz, MAT, or a ROS 2 bag.
        channels : path-like or dict, optional
            Which columns mean what, as a TOML file or a dict; default: the TOML file beside the
            log, else the usual names.
        topic : str, optional
            The topic of a bag that has several with joint states; default: /joint_states.

        Returns
        -------
        Log
            The log.

        Examples
        --------
        >>> np.savetxt("log.csv", np.column_stack([t, q, 0 * q]), delimiter=",", comments="",
        ...            header="time,q1,q2,tau1,tau2")
        >>> dynarm.Log.read("log.csv").n
        2
        """
        file = path_of("path", path, "the name of a log's file")
        if topic is not None and (not isinstance(topic, str) or not topic.strip() or "\0" in topic):
            raise KindError(f"topic is {shown(topic)}; give the name of a bag's topic")
        return _log(str(path), read_channels(file, channels, topic))

    @staticmethod
    def from_frame(frame: Outside, arm: Arm | None = None, channels: Outside = None) -> Log:
        """The log in a DataFrame. channels as for `read`; default: the usual names, and those of the arm's joints.

        Parameters
        ----------
        frame : DataFrame
            The table; an index that is a clock, or has a name, counts as a column.
        arm : Arm, optional
            The robot in whose order the joints are put.
        channels : path-like or dict, optional
            As for `read`; default: the usual names, and those of the arm's joints.

        Returns
        -------
        Log
            The log.

        Examples
        --------
        >>> import pandas
        >>> frame = pandas.DataFrame({"time": t, "q1": q[:, 0], "tau1": 0 * t})
        >>> dynarm.Log.from_frame(frame).n
        1
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
        return int(self.q.shape[1]) - (7 if self.floating else 0)

    @property
    def floating(self) -> bool:
        """Whether a base moves freely: q then begins with its pose, and has one column more than tau."""
        return bool(self.q.shape[1] != self.tau.shape[1])

    @property
    def measured(self) -> np.ndarray:
        """(nv,) which forces were measured; the columns of the others are NaN in tau."""
        return np.asarray(~np.isnan(self.tau[0]))

    def split(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """A state's columns of the base, of which a fixed one has none, and those of the joints.

        Parameters
        ----------
        name : str
            "q", "qd", "qdd" or "tau".

        Returns
        -------
        ndarray
            Columns of the base.
        ndarray
            Columns of the joints.

        Examples
        --------
        >>> base, joints = log.split("q")
        >>> base.shape, joints.shape
        ((501, 0), (501, 2))
        """
        state = getattr(self, name)
        first = state.shape[1] - self.n
        return state[:, :first], state[:, first:]

    @property
    def duration(self) -> float:
        """Time from the first to the last sample [s]."""
        return float(self.t[-1] - self.t[0])

    @cached_property
    def quality(self) -> Quality:
        """What is doubtful about the recording: gaps, resets, rests, quantisation, saturation, units."""
        return inspect(self.t, self.q, self.tau, self.qd, 7 if self.floating else 0)

    def rows(self, which: Outside) -> Log:
        """The log of some of its samples (a mask or a slice).

        Parameters
        ----------
        which : mask or slice
            The samples to keep.

        Returns
        -------
        Log
            The shorter log.

        Examples
        --------
        >>> len(log.rows(slice(0, 100)).t)
        100
        """
        present = [n for n in ("t", *_STATES, "wrench") if getattr(self, n) is not None]
        try:
            picked = {name: getattr(self, name)[which] for name in present}
        except (IndexError, TypeError, ValueError):
            raise InputError(
                f"which is {shown(which)}; give a slice, or one True or False for each of {len(self)} samples"
            ) from None
        return replace(self, **picked)

    def cut(self, start: float = 0.0, stop: float = np.inf) -> Log:
        """The samples from start to stop [s], counted from the first sample; stop itself is left out.

        Parameters
        ----------
        start : float, default 0.0
            First time that is kept [s].
        stop : float, default inf
            Time from which on nothing is kept [s].

        Returns
        -------
        Log
            The shorter log.

        Examples
        --------
        >>> round(log.cut(1.0, 2.0).duration, 2)
        0.99
        """
        start, stop = (real(w, x, "seconds") for w, x in (("start", start), ("stop", stop)))
        since = self.t - self.t[0]
        keep = (since >= start) & (since < stop)
        if keep.sum() < 2:
            raise InputError(
                f"{self.source}: {keep.sum()} samples between {start} s and {stop} s; it lasts {self.duration:.6g} s"
            )
        return self.rows(keep)

    def select(self, names: Sequence[str]) -> Log:
        """The log with its joints in the given order, chosen by name.

        Parameters
        ----------
        names : sequence of str
            Names of joints.

        Returns
        -------
        Log
            The log of these joints.

        Examples
        --------
        >>> log.select(["elbow", "shoulder"]).joint_names
        ('elbow', 'shoulder')
        """
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
    notes = left_out(dropped)
    try:
        return Log(**channels, source=source, notes=notes)
    except DynarmError as error:
        text = str(error)
        raise type(error)(text if named(source) in text else f"{named(source)}: {text}") from None


def _reordered(log: Log, order: Sequence[int], names: Sequence[str]) -> Log:
    picked: dict[str, Kept] = {
        k: np.hstack([base, joints[:, order]])
        for k in _STATES
        if getattr(log, k) is not None
        for base, joints in [log.split(k)]
    }
    return replace(log, joint_names=tuple(names), labels=None, **picked)


def in_order(log: Outside, arm: Arm) -> Log:
    """The log with its joints in the arm's order; refused where it cannot be one of this arm."""
    if not isinstance(log, Log):
        raise KindError(f"{shown(log)} is not a log; give dynarm.Log(...) or dynarm.Log.read(path)")
    _check_base(log, arm)
    if log.joint_names is not None:
        return unbroken(log.select(arm.joint_names), arm)
    if log.labels is not None and set(log.labels) & set(arm.joint_names):
        order = check_same_names(log.labels, arm.joint_names, log.source)
        return unbroken(_reordered(log, order, arm.joint_names), arm)
    joints = len(arm.joint_names)
    if log.n != joints:
        raise InputError(
            f"{log.source} has {log.n} joints, robot '{arm.name}' has {joints}; name the joints of the log's columns, "
            "or declare the columns of the robot's joints only"
        )
    return unbroken(log, arm)


def _check_base(log: Log, arm: Arm) -> None:
    """Refuse a log of another kind of base, or of other tools."""
    if arm.floating and not log.floating:
        raise InputError(
            f"{log.source} holds no pose of the base, robot '{arm.name}' is on a free one; give {', '.join(BASE_POSE)} "
            "before the positions of the joints, or load the robot with floating=False"
        )
    if log.floating and not arm.floating:
        raise InputError(
            f"{log.source} holds the pose of a base, robot '{arm.name}' stands on a fixed one; load the robot with "
            "floating=True, or leave the base's columns out"
        )
    wide = 6 * max(len(arm.all_tools), 1)
    if log.wrench is not None and (log.wrench.shape[1] != wide or not arm.all_tools):
        raise InputError(
            f"{log.source} has a wrench of {log.wrench.shape[1]} columns, robot '{arm.name}' has "
            f"{len(arm.all_tools)} tools; give (samples, tools, 6)"
        )
