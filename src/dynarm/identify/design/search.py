"""The search for a motion from several random starts, until one keeps all limits and none is better."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...border.progress import Report
from ..judgement.measures import Motions
from .descent import STAGES, Descent, Press, descent_of, shrunk, started_at
from .scaling import Unreachable, drawn_in

_RANDOM = 20  # motions that the result is compared with
_POOL = 120  # random motions of which the best are improved,
_FEW = 4  # so many of them for each that is improved to the end
_SIZES = (1.0, 0.8, 0.6)  # of random motions, in parts of what the limits allow
_FULL = 0.999  # part of the limits that may be used
_SPARE = 0.01  # of the robot's size: most room that is added between bodies
_STIFFER = 5.0  # times as stiff are springs in each try
_EARLY = 2  # stages that all starts are taken through; the better half of them goes on
_TRIES = 5  # with more room, where the series comes too near between the points looked at


class Excitation(Motions, ABC):
    """Motions, their limits, and what an optimiser sees of them: numbers and slopes (n, size)."""

    @abstractmethod
    def worth(self, x: np.ndarray, sharpness: float) -> tuple[float, np.ndarray]: ...

    @abstractmethod
    def torque_push(self, x: np.ndarray, part: float) -> tuple[float, np.ndarray]: ...


@dataclass(frozen=True, slots=True, eq=False)
class Best:
    """The coefficients of a motion, how it was come by, and the condition numbers of random ones."""

    x: np.ndarray
    status: str
    random: tuple[float, ...]


def best_motion(
    problem: Excitation,
    given: np.ndarray | None,
    starts: int,
    iterations: int,
    seed: int,
    report: Report,
) -> Best:
    """The best of several motions that keep every limit."""
    homes, pose = problem.anchors(given, seed)
    rng = np.random.default_rng(seed)
    n = len(problem.limits.low)
    chance = [problem.within(problem.series.random(rng, n)) for _ in range(_RANDOM)]
    begun = _begun(problem, descent_of(problem, given), homes, chance, rng)
    few, short, half = begun[: _FEW * starts], iterations // 5, (starts + 1) // 2
    late = len(STAGES) - _EARLY
    steps, taken = max(1, len(few) * short + (starts * _EARLY + half * late) * iterations), 0

    def step() -> None:
        nonlocal taken
        taken += 1
        report(min(taken / steps, 1.0))

    first = [b.taken(STAGES[:1], short, step) for b in few]
    first.sort(key=_Begun.value)
    taken = len(few) * short
    early = [b.taken(STAGES[:_EARLY], iterations, step) for b in first[:starts]]
    early.sort(key=lambda b: b.value(STAGES[_EARLY]))
    taken = len(few) * short + starts * _EARLY * iterations
    kept, refusal = [], None
    for k, b in enumerate(early[:half]):
        try:
            kept.append(_finished(problem, b, given, pose, iterations, step))
        except Unreachable as error:
            refusal = error
        taken = len(few) * short + (starts * _EARLY + (k + 1) * late) * iterations
    if refusal is not None and not kept:
        raise refusal
    x, status = min(kept, key=lambda pair: problem.score(pair[0]))
    return Best(x, status, tuple(problem.condition(x) for x in chance))


@dataclass(frozen=True, slots=True, eq=False)
class _Begun:
    """A motion to be improved, and a pose near its start that keeps every limit."""

    descent: Descent
    home: np.ndarray | None
    x: np.ndarray
    ended: bool = False

    def value(self, stage: Press = STAGES[0]) -> float:
        return self.descent.value(self.x, stage)[0]

    def taken(self, stages: Sequence[Press], iterations: int, step: Callable[[], None]) -> _Begun:
        """The motion taken through some stages, and whether the last of them came to its end."""
        x, ended = self.x, False
        for stage in stages:
            x, ended = self.descent.improved(x, stage, iterations, step)
        return replace(self, x=x, ended=ended)


def _begun(
    problem: Excitation,
    descent: Descent,
    homes: list[np.ndarray],
    chance: list[np.ndarray],
    rng: np.random.Generator,
) -> list[_Begun]:
    """Random motions to begin with, the best first, from each home in turn where there are some."""
    n, series = len(problem.limits.low), problem.series
    if not homes:
        drawn = [series.random(rng, n) for _ in range(_POOL - len(chance))]
        sized = [_SIZES[k % len(_SIZES)] * problem.within(x) for k, x in enumerate(drawn)]
        pool = [_Begun(descent, None, x) for x in (*chance, *map(problem.within, sized))]
        return sorted(pool, key=_Begun.value)
    ranked = []
    for h, home in enumerate(homes):
        pool = []
        for k in range(_POOL // len(homes)):
            known = h == 0 and k < len(chance)
            x = chance[k] if known else problem.within(series.random(rng, n))
            x = started_at(_SIZES[k % len(_SIZES)] * x, series, home)
            x = shrunk(x, home, problem.limits, problem.fine, _FULL)
            pool.append(_Begun(descent, home, x))
        ranked.append(sorted(pool, key=_Begun.value))
    return [b for rank in zip(*ranked, strict=True) for b in rank]


def _finished(
    problem: Excitation,
    begun: _Begun,
    home: np.ndarray | None,
    pose: np.ndarray | None,
    iterations: int,
    step: Callable[[], None],
) -> tuple[np.ndarray, str]:
    """A motion taken through the last stages, within every limit, and what is said of it."""
    done, descent = begun.taken(STAGES[_EARLY:], iterations, step), begun.descent
    word = "converged" if done.ended else f"stopped after {iterations} steps a stage"
    inside = _freed(problem, descent, done.x, home, iterations, step)
    rest = begun.home if begun.home is not None else pose
    if problem.excess(inside) <= 0 or rest is None:
        return inside, word
    small = drawn_in(inside, rest, problem.excess)
    if iterations:  # from within its limits it may grow up to them
        x, _ = descent.improved(small, STAGES[-1], iterations, step)
        grown = _freed(problem, descent, x, home, iterations, step)
        if problem.excess(grown) <= 0 and problem.score(grown) < problem.score(small):
            return grown, word
    return small, f"{word}; drawn in until every limit holds"


def _freed(
    problem: Excitation,
    descent: Descent,
    x: np.ndarray,
    home: np.ndarray | None,
    iterations: int,
    step: Callable[[], None],
) -> np.ndarray:
    """The motion within the limits of its joints, pushed out of all others by stiffer springs, where that helps."""
    last = STAGES[-1]
    for _ in range(_TRIES):
        inside = _inside(problem, x, home)
        if problem.excess(inside) <= 0:
            return inside
        last = _tighter(last, *problem.overs(inside), problem.arm.size)
        x, _ = descent.improved(x, last, iterations // 3, step)
    return _inside(problem, x, home)


def _tighter(stage: Press, torque: float, bodies: float, size: float) -> Press:
    """The stage with stiffer springs that push earlier, by what was beyond: part of torque limits, and metres."""
    return replace(
        stage,
        stiffness=_STIFFER * stage.stiffness,
        spare=min(stage.spare + 0.5 * max(bodies, 0.0), _SPARE * size),
        part=max(stage.part - max(torque, 0.0), 0.5),
    )


def _inside(problem: Excitation, x: np.ndarray, home: np.ndarray | None) -> np.ndarray:
    """The motion within the limits of position, velocity and acceleration."""
    if home is None:
        return problem.within(x)
    return shrunk(x, home, problem.limits, problem.checked, _FULL)
