"""From prepared logs and a plain fit to the friction that the logs support, with a table of what was tried."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...border.kinds import FloatArray, Foreign, Json, Outside
from ...robot.arm import Friction
from ..bodies import wrench_forces
from ..estimators.factors import BLOCKS, block_edges
from ..estimators.prior import DAMPING
from ..estimators.problem import Pull
from ..preprocess import Preparation, Stretch
from ..regressor import Terms
from ..rests import resting
from . import families
from .choice import FAMILIES, Search, State, Tried, record_of
from .families import Scales
from .ripple import ripple_orders
from .trial import FEWEST, FOLDS, Folds, Wanted, errors, folds_of, solution

_SAMPLES = 6000  # of all logs, that trials look at
_EXACT = 1e-6  # held-out error of a log that has nothing left to explain
# part of a joint's error that a spring must gain, as coupling must: nobody said that it is there
SPRING_WORTH = 0.15
_ENOUGH = 4  # rows of a joint for each of its columns
_LIKE = 0.25  # of the usual length, from which a run makes a fold of its own
_MOST = 0.5  # of all samples that a run may hold where runs are folds

TRIED = ("joint", "family", "gain", "taken", "reason")
GIVEN = "given by the user"

Tick = Callable[[float], None]


@dataclass(frozen=True, slots=True, eq=False)
class Basis:
    """What is known before friction is chosen: a plain fit, its prior, and how its logs are prepared."""

    terms: Terms  # with sharp Coulomb friction
    runs: Sequence[Sequence[Stretch]]  # log by log
    how: Preparation
    values: FloatArray
    pull: Pull
    ridge: float
    resolution: FloatArray  # (joints,)


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """The friction of every joint as records whose coefficients are still unknown, and how it came about."""

    records: tuple[Friction, ...]
    tried: tuple[Tried, ...] = ()
    before: FloatArray | None = None  # (joints,) held-out errors of plain friction
    after: FloatArray | None = None  # and of that which was chosen
    refused: str = ""  # why nothing was tried
    armatures: str = ""  # what they are worth

    @property
    def listed(self) -> bool:
        """Whether any record holds lists."""
        return any(not r.plain or r.curve for r in self.records)

    @property
    def shapes(self) -> tuple[str, ...]:
        return tuple(r.shape for r in self.records)

    @property
    def frame(self) -> Foreign:
        """A DataFrame: joint, family, gain (part of the held-out error), taken, reason."""
        import pandas as pd

        rows = [[getattr(one, head) for head in TRIED] for one in self.tried]
        return pd.DataFrame(rows, columns=list(TRIED))

    def as_table(self) -> Json:
        """What a fit's file keeps of it."""
        said = {"refused": self.refused, "armatures": self.armatures}
        return {**said, **{k: [getattr(t, k) for t in self.tried] for k in TRIED}}

    @classmethod
    def of_table(cls, table: Mapping[str, Outside], records: tuple[Friction, ...]) -> Choice:
        """That of a fit's file; older files do not say."""
        rows = zip(*(table.get(name, ()) for name in TRIED), strict=True)
        tried = tuple(Tried(str(j), str(f), float(g), bool(t), str(r)) for j, f, g, t, r in rows)
        said = str(table.get("armatures", ""))
        return cls(records, tried, refused=str(table.get("refused", GIVEN)), armatures=said)

    def lines(self) -> list[str]:
        """What was taken, family by family, and what was not."""
        if self.refused:
            return [f"friction: plain ({self.refused})"]
        taken: dict[str, list[str]] = {}
        for one in self.tried:
            if one.taken:
                gained = "" if np.isnan(one.gain) else f" {100 * one.gain:.0f} %"
                taken.setdefault(one.family, []).append(f"{one.joint}{gained}")
        told = [f"friction, {family}: {', '.join(names)}" for family, names in taken.items()]
        held = {family.split(" ")[0] for family in taken}
        others = dict.fromkeys(
            word for t in self.tried if (word := t.family.split(" ")[0]) not in held
        )
        if others:
            told.append(f"friction, tried without use: {', '.join(others)}")
        told = told or ["friction: plain (nothing else was offered)"]
        return [self.armatures, *told] if self.armatures else told

    def __str__(self) -> str:
        rows = [
            (t.joint, t.family, "-" if np.isnan(t.gain) else f"{100 * t.gain:.1f} %",
             "yes" if t.taken else "no", t.reason)
            for t in self.tried
        ]  # fmt: skip
        heads = ("joint", "family", "gain", "taken", "why")
        wide = [max(len(row[k]) for row in (heads, *rows)) for k in range(len(heads))]
        body = [
            "  ".join(cell.ljust(w) for cell, w in zip(row, wide, strict=True)).rstrip()
            for row in (heads, *rows)
        ]
        return "\n".join(self.lines() + (["", *body] if rows else []))

    @property
    def widths(self) -> tuple[float, ...]:
        return tuple(r.width for r in self.records)


def choose_friction(basis: Basis, tick: Tick = lambda part: None) -> Choice:
    """The families that lower the error on time that was not fitted."""
    joints = len(basis.terms.joints)
    plain = Choice((Friction(),) * joints)
    scales = scales_of(basis)
    groups = fold_groups(basis.runs)
    if len(groups) < FEWEST:
        return replace(plain, refused=f"too short: {len(groups)} folds of {FEWEST}")
    states = _shaped(basis, scales, groups)
    free = basis.terms.arm.coupling.free and basis.terms.first == 0
    first = _first_offers(scales, free, states)
    search = _search(basis, scales, groups, first, states)
    before = search.relative
    if _too_few(search.folds):
        return replace(plain, refused="too few samples for the columns of a trial", before=before)
    if np.nanmax(before, initial=0.0) < _EXACT:
        return replace(plain, refused="nothing is left to explain", before=before, after=before)
    tick(0.3)
    search.couple()
    search.grow(FAMILIES[:4])
    search.accompany("curve", FAMILIES[1:4])
    search.together((FAMILIES[:2], FAMILIES[:4]))
    search.soften()
    tick(0.6)
    offers = _second_offers(basis, scales, search, first)
    later = _search(basis, scales, groups, offers, search.states)
    later.tried = search.tried
    later.alone("ripple")
    later.alone("spring", SPRING_WORTH)
    search = later
    tick(1.0)
    records = tuple(
        record_of(s, own, float(v))
        for s, own, v in zip(search.states, offers, scales.speed, strict=True)
    )
    tried = (*search.tried, *_refused(basis, scales))
    return Choice(records, tried, before, search.relative, armatures=_worth_of_armatures(search))


def _worth_of_armatures(search: Search) -> str:
    """What armatures are worth, in a sentence; seconds of held-out time are no proof against them, so they stay."""
    told = search.without_armatures()
    if told is None:
        return ""
    part = 100 * np.expm1(told[0])
    if told[0] > told[1]:
        return (
            f"armatures: held-out error is {part:.{0 if part >= 10 else 1}f} % higher without them"
        )
    return (
        f"armatures: held-out error changes by {part:+.1f} % without them, no more than chance may; where torques are "
        "measured behind the gears, leave them out (armature=False, --no-armature)"
    )


# ---- what is tried


def scales_of(basis: Basis) -> Scales:
    """How the joints move."""
    motions = [basis.terms.motion(p.q, p.qd, p.qdd) for run in basis.runs for p in run]
    q, qd, _ = (np.concatenate(x) for x in zip(*motions, strict=True))
    return families.scales_of(q, qd, basis.resolution, resting(q))


def _shaped(basis: Basis, scales: Scales, groups: Sequence[Sequence[int]]) -> list[State]:
    """The states of plain friction with the sign's width that suits each joint."""
    offers = [
        families.curve(scales, j, (*families.SHAPES, *families.WIDTHS)) if moves else Friction()
        for j, moves in enumerate(scales.moving)
    ]
    search = _search(basis, scales, groups, offers, [State()] * scales.joints)
    search.choose_shapes(families.SHAPES)
    return search.states


def _first_offers(scales: Scales, free: bool, states: Sequence[State]) -> list[Friction]:
    """Curves, elements, both with the load, and coupling, of every joint that moves."""
    return [
        _first_offer(scales, j, free, state.width) if scales.moving[j] else Friction()
        for j, state in enumerate(states)
    ]


def _first_offer(scales: Scales, j: int, free: bool, width: float) -> Friction:
    near = families.neighbours(scales, j) if free else []
    own = [width] if width and width not in families.WIDTHS else []
    return Friction(
        coupling=tuple(families.coupled(scales, j, i) for i in near),
        curve=families.curve(scales, j, (*families.WIDTHS, *own)).curve,
        presliding=families.presliding(scales, j).presliding,
        load_curve=families.load(scales, j).load_curve,
        load_presliding=families.load_presliding(scales, j).load_presliding,
    )


def _second_offers(
    basis: Basis, scales: Scales, search: Search, first: Sequence[Friction]
) -> list[Friction]:
    """The same with ripple of the orders that the residual shows."""
    offers = list(first)
    pieces = [p for run in basis.runs for p in run]
    q = np.concatenate([basis.terms.motion(p.q, p.qd, p.qdd)[0] for p in pieces])
    left = np.concatenate(_residuals(basis, search))[:, basis.terms.first :]
    keep = np.concatenate([p.keep for p in pieces])[:, basis.terms.first :]
    steps = scales.speed * max(1 / p.rate for p in pieces)
    for j in np.flatnonzero(scales.moving).tolist():
        orders = ripple_orders(q[keep[:, j], j], left[keep[:, j], j], float(steps[j]))
        turning = basis.terms.arm.joints[basis.terms.joints[j]].revolute
        spring = [families.SPRING] if turning else []
        offers[j] = replace(first[j], ripple=families.ripple([*spring, *orders]).ripple)
    return offers


def _refused(basis: Basis, scales: Scales) -> list[Tried]:
    """Elements that the sensor cannot show, joints that never move."""
    told = []
    for j, name in enumerate(basis.terms.arm.joint_names):
        if not scales.moving[j]:
            told.append(Tried(name, "all", np.nan, False, "the joint does not move"))
            continue
        fine = scales.too_fine(j)
        if fine:
            strokes = ", ".join(f"{d:.2g}" for d in fine)
            reason = f"finer than the encoder, whose step is {scales.resolution[j]:.2g}"
            told.append(Tried(name, f"presliding of strokes {strokes}", np.nan, False, reason))
    return told


def delayed_errors(basis: Basis, choice: Choice, delay: float) -> FloatArray:
    """(folds, n): logarithms of held-out errors, torques later than the motion by a delay [s]."""
    terms = replace(basis.terms, shape=choice.shapes, widths=choice.widths, listed=choice.records)
    runs = [[_later(p, delay) for p in run] for run in basis.runs]
    pieces = [p for run in runs for p in run]
    thin = _thinned(with_memory(terms, pieces, basis.values))
    folds = folds_of(terms, thin, replace(basis.how, decimate=1), fold_groups(runs))
    pulls = np.full(terms.size, DAMPING)
    pulls[terms.plain] = basis.ridge * basis.pull.strength
    start = np.zeros(terms.size)
    start[terms.plain] = basis.pull.values
    left = errors(folds, Wanted(np.ones(terms.size, bool), pulls, start))
    return np.log(np.maximum(left, 1e-300))


def _later(piece: Stretch, delay: float) -> Stretch:
    """The stretch with the states of a little earlier, without its ends, which would be unknown."""
    then = piece.t - delay
    q, qd, qdd = (
        np.column_stack([np.interp(then, piece.t, x) for x in states.T])
        for states in (piece.q, piece.qd, piece.qdd)
    )
    return replace(piece, q=q, qd=qd, qdd=qdd)


# ---- folding


def fold_groups(runs: Sequence[Sequence[Stretch]]) -> list[list[int]]:
    """Blocks of a fold each: runs, where there are enough of like length, else stretches of time."""
    pieces = [piece for run in runs for piece in run]
    owners = [k for k, run in enumerate(runs) for _ in run]
    counts = [len(e) - 1 for e in block_edges(pieces, BLOCKS)]
    of_run = np.repeat(owners, counts)
    of_time = np.arange(len(of_run)) * FOLDS // max(len(of_run), 1)
    fold = folds_of_runs([sum(map(len, run)) for run in runs])
    number = of_time if fold is None else fold[of_run]
    return [np.flatnonzero(number == k).tolist() for k in np.unique(number)]


def folds_of_runs(samples: Sequence[int]) -> np.ndarray | None:
    """(runs,) the fold of each; None where fewer than enough are of like length, or one holds most of all samples.

    Short runs join the long one before them: left out alone, they tell nothing, and fitted alone still less.
    """
    size = np.asarray(samples, float)
    long = size >= _LIKE * size.mean() if len(size) else np.zeros(0, bool)
    if long.sum() < FEWEST or size.max() > _MOST * size.sum():
        return None
    place = np.maximum(np.cumsum(long) - 1, 0)
    return np.asarray(place * min(FOLDS, int(long.sum())) // int(long.sum()))


def master_terms(terms: Terms, offers: Sequence[Friction]) -> Terms:
    """The plain terms with every list that is offered."""
    return replace(terms, listed=tuple(offers))


def with_memory(
    terms: Terms, pieces: Sequence[Stretch], values: FloatArray | None
) -> list[Stretch]:
    """The pieces with deflections of the terms' elements, and with the load by values of a fit's rigid part."""
    out = []
    for p in pieces:
        load = None if values is None else terms.rigid_forces(values, p.q, p.qd, p.qdd)
        if load is not None and p.wrench is not None:
            load = load + wrench_forces(terms.arm, p.q, p.wrench)
        out.append(replace(p, deflections=terms.deflections(p.q, p.qd, p.qdd), load=load))
    return out


def _thinned(pieces: Sequence[Stretch]) -> list[Stretch]:
    step = max(1, sum(map(len, pieces)) // _SAMPLES)
    return [p.part(slice(None, None, step)) for p in pieces]


def _search(
    basis: Basis,
    scales: Scales,
    groups: Sequence[Sequence[int]],
    offers: Sequence[Friction],
    states: Sequence[State],
) -> Search:
    terms = master_terms(basis.terms, offers)
    pieces = [p for run in basis.runs for p in run]
    thin = _thinned(with_memory(terms, pieces, basis.values))
    folds = folds_of(terms, thin, replace(basis.how, decimate=1), groups)
    spread = np.concatenate([p.tau for p in pieces]).std(axis=0)
    return Search(terms, folds, scales, basis.pull, basis.ridge, spread, list(states))


def _too_few(folds: Folds) -> bool:
    """Whether rows are too few for all the columns of a trial."""
    rows = folds.rows.sum(axis=0)
    return any(0 < r < _ENOUGH * len(s) for r, s in zip(rows, folds.support, strict=True))


def _residuals(basis: Basis, search: Search) -> list[FloatArray]:
    """(N, n) of every piece: what the chosen families leave of the torques."""
    values = solution(search.folds, search.wanted(search.states))
    pieces = [p for run in basis.runs for p in run]
    full = with_memory(search.terms, pieces, None)
    return [p.tau - search.terms.forces(values, p.q, p.qd, p.qdd, p.deflections) for p in full]
