"""The friction that a log supports, joint by joint: families of columns are tried, and kept where they surely help.

Help is measured on time that was not fitted, or on runs that were not where there are enough of them. All joints try a
family together, since they share unknowns and their drives are of one kind: where it lowers that error on the whole, by
more than its standard error and by more than a small part, every joint takes it that does not surely lose by it. The
family that gains most is taken first. Columns are damped, so one too many costs little; ripple and coupling are
matters of single joints.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ...border.kinds import FloatArray
from ...robot.arm import Friction
from ..estimators.prior import DAMPING
from ..estimators.problem import Pull
from ..regressor import Terms
from . import families
from .families import Scales
from .trial import WORTH, Folds, Gain, Wanted, errors, gain, relative

FAMILIES = ("curve", "presliding", "load_curve", "load_presliding", "ripple", "coupling")
_COUPLED = 0.15  # part of the error that coupling must gain on one of two joints
_ARM = 2 * WORTH  # that a family must gain on all joints together
_JOINT = 0.05  # and on one, where it does not help the others
_SHAPE = 2 * WORTH  # that a smoothed sign must gain on the sharp one
_ROUNDS = 4
SMOOTH = 0.1  # width of the sign that is tried beside several families, in usual speeds
TOGETHER = "with the others, damped"


@dataclass(frozen=True, slots=True)
class Tried:
    """One family on one joint: what it gained on time that was not fitted, and what became of it."""

    joint: str
    family: str
    gain: float  # part of the held-out error; NaN: not tried
    taken: bool
    reason: str


@dataclass(frozen=True, slots=True)
class State:
    """What is wanted of one joint: the sign's width in usual speeds (0: sharp) and the families taken."""

    width: float = 0.0
    taken: frozenset[str] = frozenset()

    def plus(self, key: str) -> State:
        return replace(self, taken=self.taken | {key})

    def minus(self, key: str) -> State:
        return replace(self, taken=self.taken - {key})


def key_of(family: str, other: int | None = None) -> str:
    """How a family is called in a State; coupling with each joint is one of its own."""
    return family if other is None else f"{family}:{other}"


@dataclass(eq=False)
class Search:
    """The columns that may be wanted, folded, and the states of all joints as they are now."""

    terms: Terms
    folds: Folds
    scales: Scales
    pull: Pull  # of the plain unknowns
    ridge: float
    spread: FloatArray  # (n,) deviation of each torque
    states: list[State]
    tried: list[Tried] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._places = _places(self.terms, self.scales)
        self.now = self.errors(self.states)

    # ---- trials

    def wanted(self, states: Sequence[State]) -> Wanted:
        """The unknowns of some states."""
        terms = self.terms
        kept, pulls, start = terms.plain.copy(), np.zeros(terms.size), np.zeros(terms.size)
        pulls[terms.plain] = self.ridge * self.pull.strength
        start[terms.plain] = self.pull.values
        for j, state in enumerate(states):
            for key in state.taken:
                own = self._places[j].get(key, [])
                kept[own] = True
                pulls[own] = DAMPING
            if state.width:
                sharp = terms.drive_index(j, "coulomb")
                smooth = self._places[j][shape_key(state.width)]
                kept[sharp], kept[smooth], pulls[smooth] = False, True, pulls[sharp]
        return Wanted(kept, pulls, start)

    def errors(self, states: Sequence[State]) -> FloatArray:
        """(folds, joints)."""
        return errors(self.folds, self.wanted(states))[:, self.terms.first :]

    def offered(self, joint: int, key: str) -> bool:
        """Whether there are columns of a family for a joint."""
        return bool(self._places[joint].get(key))

    @property
    def names(self) -> tuple[str, ...]:
        return self.terms.arm.joint_names

    def _gain(self, before: FloatArray, after: FloatArray) -> Gain:
        return gain(before, after, self.folds.rows[:, self.terms.first :])

    @property
    def relative(self) -> FloatArray:
        """(joints,): held-out errors over the torques' deviations as things are."""
        first = self.terms.first
        narrow = replace(self.folds, rows=self.folds.rows[:, first:])
        return relative(narrow, self.now, self.spread[first:])

    def without_armatures(self) -> tuple[float, float] | None:
        """By how much of the error it rises without armatures, and the doubt of that; None where none stands alone."""
        own = np.zeros(self.terms.size, bool)
        own[: self.terms.rigid_size] = self.terms.rigid.motor
        if not own.any():
            return None
        wanted = self.wanted(self.states)
        fewer = errors(self.folds, replace(wanted, kept=wanted.kept & ~own))
        step = self._gain(fewer[:, self.terms.first :], self.now)
        return step.pooled(np.flatnonzero(self.scales.moving).tolist())

    # ---- steps

    def choose_shapes(self, widths: Sequence[float]) -> None:
        """For each joint the sign's width, sharp unless a smoothed one is surely better."""
        may = [bool(m) and self.offered(j, "curve") for j, m in enumerate(self.scales.moving)]
        trials = [
            self.errors([replace(s, width=w) if may[j] else s for j, s in enumerate(self.states)])
            for w in widths
        ]
        gains = [self._gain(self.now, trial) for trial in trials]
        for j in np.flatnonzero(may).tolist():
            curve = np.array([g.mean[j] for g in gains])
            best = int(np.argmax(curve))
            if curve[best] > _SHAPE and gains[best].low[j] > 0:
                width = _peak(np.log(widths), curve, best)
                self.states[j] = replace(self.states[j], width=width)

    def grow(self, keys: Sequence[str]) -> None:
        """Take families of the whole arm, the one that gains most first, as long as any helps."""
        told: dict[str, list[Tried]] = {}
        for _ in range(_ROUNDS):
            steps = {key: self._step(key) for key in keys if self._open(key)}
            for key, step in steps.items():
                told[key] = self._refusals(key, step)
            helpful = {k: s for k, s in steps.items() if len(self._takers(k, s))}
            if not helpful:
                break
            best = max(helpful, key=lambda k: helpful[k].pooled(self._open(k))[0])
            self.tried += self._take(best, helpful[best])
            told.pop(best)
        self.tried += [one for rows in told.values() for one in rows]

    def accompany(self, key: str, others: Sequence[str]) -> None:
        """Take a family on the joints that have one of others, unless they surely lose by it."""
        joints = [j for j in self._open(key) if self.states[j].taken.intersection(others)]
        if not joints:
            return
        step = self._step(key, joints)
        self.tried = [t for t in self.tried if t.taken or t.family != key]
        for j in joints:
            good = bool(step.high[j] > 0)
            if good:
                self.states[j] = self.states[j].plus(key)
            reason = "beside the others, damped" if good else _why(step, j)
            self.tried.append(Tried(self.names[j], key, float(step.mean[j]), good, reason))
        self.now = self.errors(self.states)

    def together(self, bundles: Sequence[Sequence[str]]) -> None:
        """Take several families at once: where none was sure alone but all are, or beside others unless surely worse.

        Which of several families a short log owes its error to is chance: gains that differ from fold to fold by more
        than a family is worth. Damped, all of them predict better there than the few that happened to win. Joints that
        surely lose go without. Where the log is poor (a ridge holds the plain unknowns) they must be sure too. Each
        bundle is tried with every sign as it is, and with the usual smooth one.
        """
        begun = any(state.taken & set(bundles[-1]) for state in self.states)
        lenient = begun and not self.ridge
        trials = []
        for bundle in bundles[-1:] if begun else bundles:
            for width in (None, SMOOTH):
                states = self._bundled(bundle, width)
                step = self._gain(self.now, self.errors(states))
                trials.append((step.pooled(self._differing(states)), states, step))
        (middle, doubt), states, step = max(trials, key=lambda trial: trial[0][0])
        undecided = lenient and doubt > WORTH and middle > -doubt
        if not (undecided or middle > max(_ARM, doubt)):
            return
        own = zip(self.states, states, step.high > 0, strict=True)
        states = [new if may else old for old, new, may in own]
        for j, (old, new) in enumerate(zip(self.states, states, strict=True)):
            for key in sorted(new.taken - old.taken):
                row = Tried(self.names[j], key, float(step.mean[j]), True, TOGETHER)
                self.tried = [
                    t for t in self.tried if (t.joint, t.family) != (row.joint, row.family)
                ]
                self.tried.append(row)
        self.states, self.now = states, self.errors(states)

    def soften(self) -> None:
        """Make sharp signs smooth on joints that have curves or hysteresis, unless they surely lose by it.

        What is sharp there is told by these, which are damped; a free step beside them follows noise.
        """
        takers = {"curve", "presliding"}
        trial = [
            replace(s, width=SMOOTH) if s.taken & takers and not s.width else s for s in self.states
        ]
        joints = self._differing(trial)
        if not joints:
            return
        step = self._gain(self.now, self.errors(trial))
        for j in joints:
            if step.high[j] > 0:
                self.states[j] = trial[j]
        self.now = self.errors(self.states)

    def _bundled(self, bundle: Sequence[str], width: float | None) -> list[State]:
        """The states with a bundle on all joints that it is offered to."""
        states = []
        for j, state in enumerate(self.states):
            own = [key for key in bundle if self.offered(j, key)]
            wide = state.width if width is None or not own else width
            states.append(State(wide, state.taken.union(own)))
        return states

    def _differing(self, states: Sequence[State]) -> list[int]:
        pairs = enumerate(zip(self.states, states, strict=True))
        return [j for j, (old, new) in pairs if old != new]

    def alone(self, key: str, least: float = WORTH) -> None:
        """Take a family of single joints where it helps these."""
        joints = self._open(key)
        if not joints:
            return
        step = self._step(key)
        good = [j for j in joints if step.mean[j] > least and step.low[j] > 0]
        for j in joints:
            if j in good:
                self.states[j] = self.states[j].plus(key)
            reason = "lowers the held-out error" if j in good else _why(step, j, least)
            self.tried.append(Tried(self.names[j], key, float(step.mean[j]), j in good, reason))
        if good:
            self.now = self.errors(self.states)

    def couple(self) -> None:
        """Couple pairs of joints where it helps one of them much and the other too: gears act both ways."""
        count = len(self.states)
        pairs = [(i, j) for i in range(count) for j in range(i + 1, count)]
        keys = {(i, j): (key_of("coupling", j), key_of("coupling", i)) for i, j in pairs}
        for (i, j), (mine, yours) in keys.items():
            if not (self.offered(i, mine) and self.offered(j, yours)):
                continue
            trial = list(self.states)
            trial[i], trial[j] = trial[i].plus(mine), trial[j].plus(yours)
            step = self._gain(self.now, self.errors(trial))
            both = [i, j]
            much = any(step.mean[k] > _COUPLED and step.low[k] > 0 for k in both)
            good = bool(much and all(step.mean[k] > WORTH and step.low[k] > 0 for k in both))
            for k, key in ((i, mine), (j, yours)):
                reason = "lowers the held-out error" if good else _why(step, k, _COUPLED)
                said = self.said(key)
                self.tried.append(Tried(self.names[k], said, float(step.mean[k]), good, reason))
            if good:
                self.states, self.now = trial, self.errors(trial)

    def _open(self, key: str) -> list[int]:
        """Joints that may still take a family."""
        rows = enumerate(self.states)
        return [j for j, s in rows if key not in s.taken and self.offered(j, key)]

    def _step(self, key: str, joints: Sequence[int] | None = None) -> Gain:
        """What a family gains, taken by all joints that may."""
        some = self._open(key) if joints is None else joints
        trial = [s.plus(key) if j in some else s for j, s in enumerate(self.states)]
        return self._gain(self.now, self.errors(trial))

    def _takers(self, key: str, step: Gain) -> list[int]:
        """The joints that take a family: all that do not lose by it, or those that surely gain much."""
        joints = self._open(key)
        middle, doubt = step.pooled(joints)
        if middle > _ARM and middle > doubt:
            least = WORTH if key.startswith("load") else -np.inf  # a load must be felt to be told
            return [j for j in joints if step.high[j] > 0 and step.mean[j] > least]
        sure = 2 * step.low - step.high / 2 - step.low / 2  # two standard errors below the mean
        return [j for j in joints if step.mean[j] > _JOINT and sure[j] > 0]

    def _take(self, key: str, step: Gain) -> list[Tried]:
        takers, rows = self._takers(key, step), []
        for j in self._open(key):
            good = j in takers
            reason = "lowers the held-out error" if good else _why(step, j)
            rows.append(Tried(self.names[j], key, float(step.mean[j]), good, reason))
        for j in takers:
            self.states[j] = self.states[j].plus(key)
        self.now = self.errors(self.states)
        return rows

    def _refusals(self, key: str, step: Gain) -> list[Tried]:
        joints = self._open(key)
        return [
            Tried(self.names[j], key, float(step.mean[j]), False, _why(step, j)) for j in joints
        ]

    def said(self, key: str) -> str:
        """A family as tables name it."""
        family, _, other = key.partition(":")
        return f"{family} with {self.names[int(other)]}" if other else family


def _why(step: Gain, joint: int, least: float = _ARM) -> str:
    """Why a joint does not take a family."""
    part = 100 * float(step.mean[joint])
    if part < 0:
        return f"held-out error rises by {-part:.1f} %"
    if step.mean[joint] <= least:
        return f"gains {part:.1f} %, less than {100 * least:.0f} %"
    return f"gains {part:.1f} %, no more than chance may"


def _peak(x: FloatArray, y: FloatArray, best: int) -> float:
    """exp of where the parabola through the largest of y and its neighbours has its top."""
    if best in (0, len(y) - 1):
        return float(np.exp(x[best]))
    a, b, _ = np.polyfit(x[best - 1 : best + 2] - x[best], y[best - 1 : best + 2], 2)
    return float(np.exp(x[best] - b / (2 * a))) if a < 0 else float(np.exp(x[best]))


def shape_key(width: float) -> str:
    """How the column of a smoothed sign is called, by its width in usual speeds."""
    return f"shape:{width:.12g}"


def _places(terms: Terms, scales: Scales) -> list[dict[str, list[int]]]:
    """For each joint where the unknowns of every family stand; curves besides, each by its own width."""
    places: list[dict[str, list[int]]] = [{} for _ in terms.joints]
    for j in range(len(terms.joints)):
        own = [piece for i, piece in terms.listed_terms if i == j]
        for k, piece in zip(terms.listed_index(j).tolist(), own, strict=True):
            key = piece.family
            if key == "curve":
                width = terms.records[j].curve[piece.index][0] / float(scales.speed[j])
                places[j][shape_key(width)] = [k]
                if not any(np.isclose(width, w, rtol=1e-9) for w in families.WIDTHS):
                    continue
            elif key == "coupling":
                key = key_of(key, int(terms.records[j].coupling[piece.index].joint))
            elif key == "ripple" and terms.records[j].ripple[piece.index][0] == families.SPRING:
                key = "spring"
            places[j].setdefault(key, []).append(k)
    return places


def record_of(state: State, offered: Friction, speed: float) -> Friction:
    """The record of a joint's state: the lists of its families, without the width that the sign has itself."""
    taken = state.taken
    curve = tuple(
        entry
        for entry, width in zip(offered.curve, families.WIDTHS, strict=False)
        if "curve" in taken and not np.isclose(width, state.width, rtol=1e-9)
    )
    ripple = tuple(
        entry
        for entry in offered.ripple
        if ("spring" if entry[0] == families.SPRING else "ripple") in taken
    )
    coupling = tuple(c for c in offered.coupling if key_of("coupling", int(c.joint)) in taken)
    plain = Friction(shape="tanh", width=state.width * speed) if state.width else Friction()
    return replace(
        plain,
        curve=curve,
        presliding=offered.presliding if "presliding" in taken else (),
        load_curve=offered.load_curve if "load_curve" in taken else (),
        load_presliding=offered.load_presliding if "load_presliding" in taken else (),
        ripple=ripple,
        coupling=coupling,
    )
