"""fit_fleet(arm, data, by="robot"): every robot by itself, by choices made once for all, then all together.

Choices (states, families of friction, delay) are made for some robots, and what most of them have is held, so that an
unknown means the same for every robot. Logs of one robot are in memory at a time, or parts of them where they
do not fit into it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from ...border.arguments import among, flag, real, shown
from ...border.kinds import FloatArray, Outside
from ...border.threads import single_threaded
from ...errors import DynarmError, DynarmWarning, InputError
from ...robot.arm import Arm
from ..auto import Decided
from ..dataset.cluster import cluster_of
from ..dataset.files import dataset_of
from ..estimators.factors import Factors
from ..fitting import check_length
from ..identifier import Identifier
from ..logs.log import Log
from ..prediction import friction_curve
from ..preprocess import Recording, middle
from ..regressor import Terms
from ..result import Fit
from ..solving import decided, fit_as
from ..tables import units
from .drift import PERIODS, Drift, drifts, drive_unknowns, period_of, period_values
from .groups import Groups, Source, grouped
from .outliers import LEAST, Outlier, outliers
from .pooling import pooled
from .recordings import Recordings
from .result import Fleet, RobotFit

_SAMPLE = 5  # robots whose choices are asked for
_ROWS = 10  # rows for each unknown that a robot has, at least
_AUTO = "auto"
_ERROR = "error of "
_WORSE = 2.0  # times the usual error
_Made = tuple["tuple[RobotFit, dict[str, Periods]] | None", list[str]]  # and what was left out
Periods = list[tuple[float, FloatArray, FloatArray]]  # time, values, std


@single_threaded
def fit_fleet(
    arm: Arm,
    data: Outside,
    by: str = "robot",
    drift: str | None = _AUTO,
    rate: float = 0.05,
    skip_bad: bool = False,
    progress: Callable[[int, int], None] | None = None,
    client: Outside = None,
    **options: Outside,
) -> Fleet:
    """Fits of many robots of one kind, pooled.

    Parameters
    ----------
    arm : Arm
        A description that suits every robot.
    data : path-like, Dataset, DataFrame or dict
        A folder or pattern of logs, a dynarm.Dataset, a DataFrame, or a dict {robot: its
        logs}.
    by : str, default "robot"
        What says whose log it is: key=value in the files' paths, a column, "folder" or
        "file".
    drift : str, default "auto"
        "day" or "hour": friction and offsets by that time; "auto": by day where recordings
        of some robot lie on enough days, else by hour; None: not looked for. Clocks must
        count from 1970, or paths say day=...
    rate : float, default 0.05
        The chance that any robot of a sound fleet is named as an outlier, and that any
        drift is.
    skip_bad : bool, default False
        Files and robots that cannot be used are left out and named.
    progress : callable, optional
        Called with (robots done, robots in all).
    client : distributed.Client, optional
        A Dask cluster whose workers fit the robots; they must find files under the same names.
    **options : object
        Options of dynarm.Identifier, the same for every robot.

    Returns
    -------
    Fleet
        The fits, what they share, outliers and trends.

    Examples
    --------
    >>> arm = dynarm.load("two_link")
    >>> t = np.linspace(0, 10, 1001)
    >>> q = np.column_stack([np.sin(2 * t), np.sin(3 * t)])
    >>> qd = np.column_stack([2 * np.cos(2 * t), 3 * np.cos(3 * t)])
    >>> rng = np.random.default_rng(0)
    >>> logs = {}
    >>> for name, extra in [("a", 0.0), ("b", 0.1), ("c", 0.2), ("d", 0.15)]:
    ...     plant = dynarm.compile(arm.with_payload(extra))
    ...     tau = plant.inverse_dynamics(q, qd, -q * [4, 9]) + rng.normal(0, 0.1, q.shape)
    ...     logs[name] = dynarm.Log(t, q, tau, qd=qd)
    >>> fleet = dynarm.fit_fleet(arm, logs, friction=("viscous",), armature=False)
    >>> list(fleet.robots)
    ['a', 'b', 'c', 'd']
    """
    chance = real("rate", rate, "a chance above 0 and below 1", lambda x: 0 < x < 1)
    flag("skip_bad", skip_bad)
    if drift is not None and not among(drift, (_AUTO, *PERIODS)):
        raise InputError(f"drift is {shown(drift)}; choose 'auto', 'day', 'hour' or None")
    identifier, dataset = Identifier(arm, **options), dataset_of(data)
    if dataset is not None and dataset.hold_out:
        raise InputError(
            f"hold_out is {dataset.hold_out:g}; nothing of a fleet is kept back: leave it out, or use Identifier.fit"
        )
    robots = grouped(data, by, arm)
    if len(robots) < 2:
        raise InputError(
            f"only one robot, {next(iter(robots))}; a fleet has two or more: check by={by!r}, or use Identifier.fit"
        )
    reader = Recordings.by(identifier, dataset, skip_bad)
    identifier, chosen = _decided(identifier, robots, reader)
    whole: dict[str, RobotFit] = {}
    apart: dict[str, dict[str, Periods]] = {}
    given = list((robots if client is None else _absolute(robots)).items())
    shared = (identifier, chosen, reader)
    if client is None:
        fits: Iterator[_Made] = (_robot(shared, *one) for one in given)
    else:
        held = any(isinstance(one, Log) for _, sources in given for one in sources)
        fits = cluster_of(client).each(_robot, shared, given, held)
    for done, ((robot, _), (made, bad)) in enumerate(zip(given, fits, strict=True), 1):
        reader.bad.extend(bad)
        if made is not None:
            whole[robot], apart[robot] = made
        if progress is not None:
            progress(done, len(robots))
    if len(whole) < 2:
        raise InputError(f"{len(whole)} of {len(robots)} robots can be used: {reader.bad[0]}")
    return _fleet(
        arm, chosen.terms, whole, _trends(chosen.terms, apart, drift, chance), chance, reader
    )


def _decided(
    identifier: Identifier, robots: Groups, reader: Recordings
) -> tuple[Identifier, Decided]:
    """What is fitted, declared terms too: as most of some robots would have it, each by a recording of its own.

    Not from their recordings together: what differs between robots would count as error of every choice.
    """
    names = list(robots)
    places = np.linspace(0, len(names) - 1, min(_SAMPLE, len(names))).round().astype(int)
    votes: list[Decided] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DynarmWarning)
        for k in places.tolist():
            sources = robots[names[k]]
            each = (reader.sample(names[k], one) for one in sources[len(sources) // 2 :])
            log = next((one for one in each if one is not None), None)
            if log is None:
                continue
            identifier = identifier.with_declared([log])  # the same for all, once
            try:
                votes.append(decided(identifier, Recording([middle(log)])))
            except DynarmError as error:
                reader.refuse(names[k], error)
    bad = list(reader.bad)
    reader.bad.clear()  # said again when all are read
    if not votes:
        raise InputError(f"no log of the fleet can be used; {bad[0] if bad else 'none was given'}")
    return identifier, _elected(votes)


def _elected(votes: Sequence[Decided]) -> Decided:
    """The decision with the median cut-off among those that agree with most others on states and friction."""
    kinds = [(vote.how.smoothing, vote.how.slow, vote.terms.names) for vote in votes]
    most = max(kinds, key=kinds.count)
    alike = [vote for vote, kind in zip(votes, kinds, strict=True) if kind == most]
    return sorted(alike, key=lambda vote: vote.how.cutoff or 0.0)[len(alike) // 2]


def _absolute(robots: Groups) -> Groups:
    """The same with files by names that hold wherever a worker stands."""
    return {
        robot: [one if isinstance(one, Log) else one.absolute() for one in sources]
        for robot, sources in robots.items()
    }


def _robot(
    shared: tuple[Identifier, Decided, Recordings], robot: str, sources: Sequence[Source]
) -> _Made:
    """The fit of one robot with its friction by day and hour, if it can be had, and what was left out."""
    identifier, chosen, every = shared
    reader = Recordings(identifier, every.memory, every.skip_bad)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DynarmWarning)  # about each of hundreds of logs
        own = reader.of(robot, sources)
        if own is None:
            return None, reader.bad
        try:
            _check_rows(chosen, own.recording)
            fit = fit_as(identifier, chosen, own.recording, own.logs)
        except DynarmError as error:
            reader.refuse(robot, error)
            return None, reader.bad
    factors = fit.record.data("fleet")
    light = RobotFit(
        robot,
        fit.values_,
        fit.std_,
        fit.covariance_,
        fit.relative_,
        fit.residuals_.rms,
        fit.speeds_,
        own.rows,
        factors.merged(),
    )
    by_time = {period: _periods(fit, factors, own.dates(), period) for period in PERIODS}
    return (light, by_time), reader.bad


def _check_rows(chosen: Decided, recording: Recording) -> None:
    """Refuse a robot that has too few rows to be compared with others."""
    pieces = recording.checked(chosen.how)
    check_length(chosen.terms, pieces, chosen.how)
    rows, unknowns = sum(int(piece.keep.sum()) for piece in pieces), chosen.terms.size
    if rows < _ROWS * unknowns:
        raise InputError(
            f"{rows} rows in motion for {unknowns} unknowns, too few to compare it with others; record longer"
        )


def _periods(fit: Fit, factors: Factors, dates: Sequence[float | None], period: str) -> Periods:
    """Friction and offsets of each period of a robot, in order of time."""
    record, length = fit.record, PERIODS[period]
    when: dict[int, list[int]] = {}
    for block, owner in enumerate(factors.runs):
        date = dates[owner] if owner >= 0 else None
        if date is not None:
            when.setdefault(int(period_of(np.array([date]), length)[0]), []).append(block)
    told: Periods = []
    for _, own in sorted(when.items()):
        inside = {factors.runs[b] for b in own}
        time = float(np.mean([d for k in inside if (d := dates[k]) is not None]))
        values = period_values(
            record.terms, factors.merged(own), fit.values_, fit.residuals_.inflation
        )
        told.append((time, *values))
    return told


def _trends(
    terms: Terms, apart: dict[str, dict[str, Periods]], drift: str | None, rate: float
) -> list[Drift]:
    if drift is None:
        return []
    places = drive_unknowns(terms)
    names, told = [terms.names[k] for k in places], [units(terms)[k] for k in places]
    for period in ("day", "hour") if drift == _AUTO else (drift,):
        robots = {robot: periods[period] for robot, periods in apart.items()}
        trends = drifts(robots, names, told, period, rate)
        if trends:
            return trends
    return []


def _fleet(
    arm: Arm,
    terms: Terms,
    robots: dict[str, RobotFit],
    trends: list[Drift],
    rate: float,
    reader: Recordings,
) -> Fleet:
    """All together: who stands out first, then what the others share."""
    fits = list(robots.values())
    x, s = np.array([fit.values for fit in fits]), np.array([fit.std for fit in fits])
    named = _standing_out(terms, fits, x, s, rate)
    away = np.array([fit.name in {one.robot for one in named} for fit in fits])
    members = np.isfinite(s) & ~away[:, None]
    notes = []
    if len(fits) < LEAST:
        notes.append(f"{len(fits)} robots are too few to tell which stands out; {LEAST} are needed")
    if not trends:
        notes.append(
            "no drift was looked for: clocks do not count from 1970 and paths do not say day=..., or too few periods"
        )
    return Fleet(
        arm,
        terms.names,
        units(terms),
        robots,
        pooled(x, s, members),
        tuple(named),
        tuple(trends),
        rate,
        tuple(reader.bad),
        tuple(notes),
    )


def _standing_out(
    terms: Terms, fits: Sequence[RobotFit], x: FloatArray, s: FloatArray, rate: float
) -> list[Outlier]:
    """Robots that stand out by a plain unknown, by friction at a usual speed, or by how badly a fit explains them."""
    plain = np.flatnonzero(terms.plain)
    what = [terms.names[k] for k in plain]
    speeds = np.median([fit.speeds for fit in fits], axis=0)
    maps = [_friction_map(terms, speeds, j) for j in range(len(terms.joints))]
    rubbing = np.array([[float(row @ fit.values) for row in maps] for fit in fits])
    rubbing_std = np.array([[_spread(row, fit) for row in maps] for fit in fits])
    joints = [terms.arm.joint_names[j] for j in range(len(maps))]
    with np.errstate(divide="ignore", invalid="ignore"):
        errors = np.log(np.array([fit.rms for fit in fits]))
    values = np.hstack([x[:, plain], rubbing, errors])
    std = np.hstack([s[:, plain], rubbing_std, np.zeros_like(errors)])
    what += [f"friction of {joint} at {v:.2g}" for joint, v in zip(joints, speeds, strict=True)]
    what += [f"{_ERROR}{name}" for name in terms.row_names]
    upper = np.arange(len(what)) >= len(what) - errors.shape[1]
    named = outliers([fit.name for fit in fits], what, values, std, rate, upper)
    return [one for one in named if not one.what.startswith(_ERROR) or _bad(one, fits, terms)]


def _bad(one: Outlier, fits: Sequence[RobotFit], terms: Terms) -> bool:
    """Whether an error is a multiple of the others': motions that are harder to follow make some difference, too."""
    j = terms.row_names.index(one.what.removeprefix(_ERROR))
    every = {fit.name: float(fit.rms[j]) for fit in fits}
    return every[one.robot] > _WORSE * float(np.median(list(every.values())))


def _spread(row: FloatArray, fit: RobotFit) -> float:
    used = row != 0
    if not np.isfinite(fit.std[used]).all():
        return np.inf
    return float(np.sqrt(max(float(row @ fit.covariance @ row), 0.0)))


def _friction_map(terms: Terms, speeds: FloatArray, joint: int) -> FloatArray:
    """(p,) what each unknown adds to a joint's friction at half its largest speed, hysteresis slipped."""
    words = len(terms.drive_names)
    own = [terms.rigid_size + joint * words + k for k in range(words)]
    row = np.zeros(terms.size)
    for k in (*own, *terms.listed_index(joint).tolist()):
        unit = np.zeros(terms.size)
        unit[k] = 1.0
        row[k] = friction_curve(terms, unit, speeds, joint, 5)[1][3]
    return row
