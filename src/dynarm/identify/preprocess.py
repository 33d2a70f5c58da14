"""From recorded samples to states that a regressor can be computed from: even time, smooth positions, accelerations.

Each stretch of a log without long gaps or resets is treated by itself. Positions (and velocities, where the recorded
ones are used) are resampled on recorded time if that is uneven, low-pass filtered forwards and backwards, so that
nothing is delayed, and differentiated by central differences. Torques stay as they were measured: a filter that
is applied to them must be applied to the regressor as well, and that is what decimation does.

Quaternions of a free base are filtered by components and brought to length one again; its velocities are taken in its
own axes, and its accelerations are the rates of those components. Joints that rest have no speed, whatever the noise.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from ..border.arguments import among, positive, real, reals, shown, whole
from ..border.kinds import Kept, Outside
from ..errors import InputError
from .logs.base import TURN, base_speeds, with_turns
from .logs.log import Log
from .rests import RESTS, fast_rows, motionless, moving_share, spans
from .segments import LONG, SIDE, TimeSegment, sample_start, segments, stretches
from .spline import spline_of

VELOCITIES = ("auto", "recorded", "differentiate")
SMOOTHINGS = ("auto", "filter", "spline")
_NEIGHBOURS = 4000  # samples beyond a segment's ends that are smoothed with it, at least
_FELT = 8.0  # periods of the cut-off over which a filter forgets its ends
LATEST = 1.0  # [s] a longer delay is no delay of a drive
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Preparation:
    """How a log is made ready.

    Parameters
    ----------
    cutoff : float, optional
        [Hz] of the low-pass filter on positions; None: chosen from the data; infinity: no
        filter.
    order : int, default 4
        Of that Butterworth filter, which is run forwards and backwards.
    padding : int, optional
        Samples by which each end is extended (odd) before filtering; None: long enough for
        the cut-off.
    velocity : str, default "auto"
        "recorded", "differentiate", or "auto": whichever explains the torques better.
    decimate : int, optional
        Keep one sample in so many, after filtering regressor and torque together; None:
        chosen from the cut-off; 1: none.
    decimator : str, default "fir"
        "fir" (linear phase) or "chebyshev" (order 8, 0.05 dB, forwards and backwards).
    slow : float | tuple[float, ...] | str, optional
        [rad/s or m/s] rows of a joint slower than this are left out, because friction at
        rest may be anything: a number, one for each joint, or None: a fiftieth of the usual speed;
        0: keep all; "rests": those of joints that hardly travel for half a second.
    trim : int, optional
        Samples left out at the start of each stretch; None: what the filter's ends may
        spoil, at both ends.
    smoothing : str, default "auto"
        "filter", or "spline": penalised splines of the positions, their smoothness by
        likelihood, joint by joint; velocities are then derived, no cut-off is chosen, and
        of slow rows only rests are left out; "auto": where friction is chosen from the data
        so is this, and a delay with it, else the filter.
    delay : float, default 0.0
        [s] by which torques lag the motion; None: found from the data, kept if it gains
        more than 1 %.

    Examples
    --------
    >>> plain = dynarm.Preparation(cutoff=10.0, velocity="differentiate")
    >>> search = dynarm.Identifier(dynarm.load("two_link"), preparation=plain)
    >>> search.preparation.cutoff
    10.0
    """

    cutoff: float | None = None
    order: int = 4
    padding: int | None = None
    velocity: str = "auto"
    decimate: int | None = None
    decimator: str = "fir"
    slow: float | tuple[float, ...] | str | None = None
    trim: int | None = None
    smoothing: str = "auto"
    delay: float | None = 0.0

    def __post_init__(self) -> None:
        self._check_smoothing()
        if self.cutoff is not None:
            cutoff = real("cutoff", self.cutoff, "a frequency in Hz", positive)
            if not isinstance(self.cutoff, Hashable):
                object.__setattr__(self, "cutoff", cutoff)
        if not among(self.velocity, VELOCITIES):
            raise InputError(
                f"velocity is {shown(self.velocity)}; choose 'auto', 'recorded' or 'differentiate'"
            )
        if not among(self.decimator, ("fir", "chebyshev")):
            raise InputError(f"decimator is {shown(self.decimator)}; choose 'fir' or 'chebyshev'")
        for name, least in (("order", 1), ("padding", 0), ("decimate", 1), ("trim", 0)):
            value = getattr(self, name)
            if value is not None or name == "order":
                object.__setattr__(self, name, whole(name, value, least))
        if self.slow is not None and not among(self.slow, (RESTS,)):
            slow = reals("slow", self.slow, "speeds")
            if slow.ndim > 1 or not (slow >= 0).all():
                raise InputError(
                    f"slow is {shown(self.slow)}; give speeds, one a joint or one for all"
                )
            if not isinstance(self.slow, Hashable):  # what was made for a preparation is kept by it
                object.__setattr__(self, "slow", tuple(slow.tolist()) if slow.ndim else float(slow))

    def _check_smoothing(self) -> None:
        """Refuse what a spline or a delay cannot be."""
        if not among(self.smoothing, SMOOTHINGS):
            raise InputError(
                f"smoothing is {shown(self.smoothing)}; choose 'auto', 'filter' or 'spline'"
            )
        if self.delay is not None:
            late = real("delay", self.delay, "seconds, or None", lambda x: abs(x) <= LATEST)
            object.__setattr__(self, "delay", late)
        if self.smoothing != "spline":
            return
        if self.velocity == "recorded":
            raise InputError(
                "velocity is 'recorded', smoothing is 'spline', which derives velocities from positions; choose one "
                "of the two"
            )
        if self.cutoff is not None and self.cutoff != np.inf:
            raise InputError(
                f"cutoff is {shown(self.cutoff)}, smoothing is 'spline', which needs none; leave one of them out"
            )

    @property
    def told(self) -> str:
        """What was done to positions, in a few words."""
        if self.smoothing == "spline":
            return "states by splines"
        return f"cut-off {self.cutoff:g} Hz, velocity {self.velocity}"

    @property
    def described(self) -> bool:
        """Whether it says more than smoothing and delay: then nothing about it is to be chosen."""
        return self != Preparation(smoothing=self.smoothing, delay=self.delay)


@dataclass(frozen=True, slots=True, eq=False)
class Stretch:
    """One evenly sampled piece of motion: smooth states, torques as measured."""

    t: np.ndarray
    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray
    tau: np.ndarray
    wrench: np.ndarray | None
    keep: np.ndarray  # (N, nv) rows that take part in a fit
    rate: float
    deflections: np.ndarray | None = (
        None  # (N, elements) of friction with memory, where terms have it
    )
    load: np.ndarray | None = None  # (N, nv) rigid forces, for friction that grows with them
    run: int = 0  # which of the recordings it is of

    def __len__(self) -> int:
        return len(self.t)

    def part(self, which: slice) -> Stretch:
        """Some of the samples."""

        def some(x: np.ndarray | None) -> np.ndarray | None:
            return None if x is None else x[which]

        return Stretch(
            self.t[which],
            self.q[which],
            self.qd[which],
            self.qdd[which],
            self.tau[which],
            some(self.wrench),
            self.keep[which],
            self.rate,
            some(self.deflections),
            some(self.load),
            self.run,
        )


def low_pass(
    x: np.ndarray, rate: float, cutoff: float, order: int, padding: int | None
) -> np.ndarray:
    """x (N, ...) filtered forwards and backwards by a Butterworth filter; no delay."""
    import scipy.signal as signal

    if cutoff >= 0.49 * rate:
        return x
    sos = signal.butter(order, cutoff, fs=rate, output="sos")
    wanted = padding if padding is not None else int(np.ceil(3 * rate / cutoff))
    return np.asarray(signal.sosfiltfilt(sos, x, axis=0, padlen=min(wanted, len(x) - 2)))


def differentiate(x: np.ndarray, rate: float) -> np.ndarray:
    """Central differences (one-sided at the ends)."""
    return np.asarray(np.gradient(x, 1 / rate, axis=0))


def _even(log: Log) -> tuple[Log, float]:
    """The log on an even grid, and its rate."""
    step = log.duration / (len(log) - 1)
    off = np.abs(log.t - log.t[0] - step * np.arange(len(log))).max()
    if off < 1e-3 * step:
        return log, 1 / step
    step = log.quality.step
    grid = np.arange(log.t[0], log.t[-1], step)

    def onto(x: np.ndarray | None) -> np.ndarray | None:
        if x is None:
            return None
        return np.column_stack([np.interp(grid, log.t, column) for column in x.T])

    names = ("q", "qd", "qdd", "tau", "wrench", "reference", "q_command")
    values: dict[str, Outside] = {name: onto(getattr(log, name)) for name in names}
    if log.floating:
        values["q"] = with_turns(values["q"], values["q"][:, TURN])
    return Log(grid, joint_names=log.joint_names, source=log.source, **values), 1 / step


def smooth(log: Log, how: Preparation) -> Stretch:
    """The states of one stretch; how.cutoff is a number and how.velocity is decided."""
    even, rate = _even(log)
    assert how.cutoff is not None and how.delay is not None
    if how.smoothing == "spline":
        q, qd, qdd = _splined(log, even.t - how.delay)
    else:
        q, qd, qdd = _later(even, _filtered(even, rate, how), how.delay)
    still = motionless(even.q, 7 if even.floating else 0)
    if still.any():
        qd, qdd = (np.where(still, 0.0, x) for x in (qd, qdd))
    only_rests = how.slow == RESTS or (how.smoothing == "spline" and how.slow is None)
    keep = fast_rows(RESTS if only_rests else how.slow, q, qd, rate)
    often = keep.mean(axis=0) < 0.2  # a joint that hardly moves tells nothing but at rest
    keep[:, often] = True
    keep[:, : keep.shape[1] - even.n] = True  # a base has no friction
    tau = even.tau
    if not even.measured.all():
        tau = np.where(even.measured, tau, 0.0)
        keep[:, ~even.measured] = False
    stretch = Stretch(even.t, q, qd, qdd, tau, even.wrench, keep, rate)
    if how.trim is not None:
        return stretch.part(slice(how.trim, None))
    ends = min(int(rate / how.cutoff), len(q) // 10)  # what the filter's ends may spoil
    if ends:
        keep[:ends] = keep[-ends:] = False
    return stretch


def smooth_segment(segment: TimeSegment, how: Preparation) -> Stretch:
    """The states of one segment, smoothed together with as many neighbours as the filter feels."""
    if segment.whole:
        return smooth(segment.log, how)
    assert how.cutoff is not None
    felt = _FELT * len(segment.log) / (segment.log.duration * how.cutoff)
    near = segment.narrowed(int(min(SIDE, max(_NEIGHBOURS, felt))))
    trim = how.trim if near.low == 0 or how.trim is None else 0
    stretch = smooth(near.log, replace(how, trim=trim))
    t, last = near.log.t, near.high == len(near.log)
    start = 0 if near.low == 0 else int(np.searchsorted(stretch.t, t[near.low]))
    stop = len(stretch) if last else int(np.searchsorted(stretch.t, t[near.high]))
    return stretch.part(slice(start, stop))


def smooth_all(log: Log, how: Preparation) -> list[Stretch]:
    """The states of a log's stretches, segment by segment."""
    return [smooth_segment(s, how) for piece in stretches(log) for s in segments(piece)]


States = tuple[np.ndarray, np.ndarray, np.ndarray]


def _filtered(even: Log, rate: float, how: Preparation) -> States:
    """Low-passed q, qd, qdd of an even log."""
    assert how.cutoff is not None
    args = (rate, how.cutoff, how.order, how.padding)
    q = smooth_positions(even.q, even.floating, *args)
    recorded = how.velocity == "recorded" and even.qd is not None
    qd = low_pass(even.qd, *args) if recorded else speeds_of(q, even.floating, rate)
    qdd = low_pass(even.qdd, *args) if even.qdd is not None else differentiate(qd, rate)
    return q, qd, qdd


def _splined(log: Log, t: np.ndarray) -> States:
    """q, qd, qdd of a stretch's splines at times."""
    if log.floating:
        raise InputError(
            f"{log.source}: smoothing is 'spline', which knows no free base; choose 'filter'"
        )
    return spline_of(log.t, log.q).states(t)


def _later(even: Log, states: States, delay: float) -> States:
    """The states of an earlier time, by a delay; beyond the ends those of the ends."""
    if delay == 0:
        return states
    then = even.t - delay
    q, qd, qdd = (
        np.column_stack([np.interp(then, even.t, column) for column in x.T]) for x in states
    )
    return with_turns(q, q[:, TURN]) if even.floating else q, qd, qdd


def smooth_positions(q: np.ndarray, floating: bool, *args: Outside) -> np.ndarray:
    """Low-passed positions; quaternions of a free base have length one again."""
    smoothed = low_pass(q, *args)
    return with_turns(smoothed, smoothed[:, TURN]) if floating else smoothed


def speeds_of(q: np.ndarray, floating: bool, rate: float) -> np.ndarray:
    """(N, nv): the rates of smooth positions, those of a free base in its own axes."""
    rates = differentiate(q, rate)
    if not floating:
        return rates
    return np.hstack([base_speeds(q[:, :7], rates[:, :7]), rates[:, 7:]])


def middle(log: Log) -> Log:
    """The log, or as much from its middle as a choice needs; from elsewhere where the robot mostly rests there."""
    if len(log) <= LONG:
        return log
    span = spans(log.q)

    def moving(start: int) -> float:
        window = slice(start, start + LONG)
        return moving_share(log.t[window], log.q[window], span)

    start = sample_start(len(log), LONG, moving)
    return log.rows(slice(start, start + LONG))


class Recording:
    """The logs of a fit, and what was made of them for one preparation or more: each thing once.

    The one memory of a fit: what is smoothed or folded in a trial, and needed again by the fit, by its delays or by its
    advice on friction, is kept here until `keep` names the preparation that was chosen. A copy by pickle begins empty.
    """

    def __init__(self, logs: Sequence[Log], samples: Sequence[Log] | None = None):
        """samples: as much as choices look at; None: the middles of all logs."""
        self.logs = tuple(logs)
        self.held: tuple[Log, ...] = ()  # that were kept back, to be predicted
        self._made: dict[tuple[Preparation, Hashable], Kept] = {}
        some = tuple(map(middle, self.logs) if samples is None else samples)
        same = len(some) == len(self.logs) and all(map(operator.is_, self.logs, some))
        self.short: Recording = self if same else Recording(some, some)

    def __reduce__(self) -> tuple[type[Recording], tuple[tuple[Log, ...], ...], dict[str, Kept]]:
        return Recording, (self.logs, self.short.logs), {"held": self.held}

    def once(self, how: Preparation, name: Hashable, make: Callable[[], T]) -> T:
        """What `make` gives, which is called where nothing of that name was made for the preparation yet."""
        key = (how, name)
        if key not in self._made:
            self._made[key] = make()
        kept: T = self._made[key]
        return kept

    def pieces(self, how: Preparation) -> list[Stretch]:
        """The smooth stretches of all logs."""
        return [piece for k in range(len(self.logs)) for piece in self._smooth(k, how)]

    def checked(self, how: Preparation) -> list[Stretch]:
        """Stretches that show whether there are enough rows: all, or a sample of those that nobody holds."""
        return self.pieces(how)

    @property
    def run_names(self) -> list[str]:
        """What the recordings are called."""
        return [log.source for log in self.logs]

    def runs(self, how: Preparation) -> list[list[Stretch]]:
        """The same, log by log."""
        return [self._smooth(k, how) for k in range(len(self.logs))]

    def _smooth(self, k: int, how: Preparation) -> list[Stretch]:
        """Those of one log, kept where its short form is kept if it is no longer than that."""
        log = self.logs[k]
        short = self.short.logs
        holder = self.short if k < len(short) and short[k] is log else self
        return holder.once(how, k, lambda: [replace(s, run=k) for s in smooth_all(log, how)])

    def keep(self, how: Preparation) -> None:
        """Forget what was made for other preparations, and what is longer than choices need."""
        for key in [key for key in self.short._made if key[0] != how]:
            del self.short._made[key]
        if self.short is not self:
            self._made.clear()


def states_at(log: Log, how: Preparation) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Smooth q, qd, qdd (N, n) at the log's own samples."""
    shapes = log.q.shape, log.tau.shape, log.tau.shape
    q, qd, qdd = states = [np.empty(shape) for shape in shapes]
    covered = np.zeros(len(log), bool)
    whole = replace(how, trim=None)
    for piece in stretches(log):
        rows = np.searchsorted(log.t, piece.t)
        state = smooth(piece, whole)
        for out, x in zip(states, (state.q, state.qd, state.qdd), strict=True):
            for j in range(x.shape[1]):
                out[rows, j] = np.interp(piece.t, state.t, x[:, j])
        covered[rows] = True
    if not covered.all():  # pieces too short to filter: nearest sample of a filtered one
        near = np.flatnonzero(covered)
        if not len(near):
            raise InputError(
                f"{log.source}: no stretch of 8 samples without a gap; nothing to predict"
            )
        lost = np.flatnonzero(~covered)
        pick = near[np.clip(np.searchsorted(near, lost), 0, len(near) - 1)]
        for out in states:
            out[lost] = out[pick]
    return with_turns(q, q[:, TURN]) if log.floating else q, qd, qdd
