"""The search for a motion from several random starts, until one keeps all limits and none is better."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ...border.progress import Report
from ..judgement.measures import Motions
from .descent import STAGES, Descent, Press, descent_of, shrunk, started_at
from .scaling import drawn_in

_RANDOM = 20  # motions that the result is compared with
_POOL = 60  # random motions of which the best are improved,
_FEW = 3  # so many of them for each that is improved to the end
_SIZES = (1.0, 0.8, 0.6)  # of random motions, in parts of what the limits allow
_FULL = 0.999  # part of the limits that may be used
_SPARE = 0.03  # of the robot's size: most room that is added between bodies
_TRIES = 4  # with more room, where the series comes too near between the points looked at


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
    home, pose = problem.anchors(given, seed)
    rng = np.random.default_rng(seed)
    n = len(problem.limits.low)
    chance = [problem.within(problem.series.random(rng, n)) for _ in range(_RANDOM)]
    descent = descent_of(problem, home)
    pool = _pool(problem, home, chance, rng)
    ranked = sorted(pool, key=lambda x: descent.value(x, STAGES[0])[0])
    few, short = ranked[: _FEW * starts], iterations // 5
    steps, taken = max(1, len(few) * short + starts * len(STAGES) * iterations), 0

    def step() -> None:
        nonlocal taken
        taken += 1
        report(min(taken / steps, 1.0))

    first = [descent.improved(x, STAGES[0], short, step)[0] for x in few]
    first.sort(key=lambda x: descent.value(x, STAGES[0])[0])
    kept = []
    for k, x in enumerate(first[:starts]):
        kept.append(_finished(descent, problem, x, home, pose, iterations, step))
        taken = len(few) * short + (k + 1) * len(STAGES) * iterations
    x, status = min(kept, key=lambda pair: problem.score(pair[0]))
    return Best(x, status, tuple(problem.condition(x) for x in chance))


def _pool(
    problem: Excitation, home: np.ndarray | None, chance: list[np.ndarray], rng: np.random.Generator
) -> list[np.ndarray]:
    """Random motions to begin with, about the home where there is one."""
    n, series = len(problem.limits.low), problem.series
    if home is None:
        return chance
    pool = []
    for k in range(_POOL):
        x = chance[k] if k < len(chance) else problem.within(series.random(rng, n))
        x = started_at(_SIZES[k % len(_SIZES)] * x, series, home)
        pool.append(shrunk(x, home, problem.limits, problem.fine, _FULL))
    return pool


def _finished(
    descent: Descent,
    problem: Excitation,
    x: np.ndarray,
    home: np.ndarray | None,
    pose: np.ndarray | None,
    iterations: int,
    step: Callable[[], None],
) -> tuple[np.ndarray, str]:
    """A motion taken through all stages, within every limit, and what is said of it."""
    ended = False
    for stage in STAGES:
        x, ended = descent.improved(x, stage, iterations, step)
    word = "converged" if ended else f"stopped after {iterations} steps a stage"
    last = STAGES[-1]
    for _ in range(_TRIES):
        inside = _inside(problem, x, home)
        if problem.excess(inside) <= 0:
            return inside, word
        last = _tighter(last, *problem.overs(inside), problem.arm.size)
        x, _ = descent.improved(x, last, iterations // 3, step)
    inside = _inside(problem, x, home)
    rest = home if home is not None else pose
    if problem.excess(inside) <= 0 or rest is None:
        return inside, word
    return drawn_in(inside, rest, problem.excess), f"{word}; drawn in until every limit holds"


def _tighter(stage: Press, torque: float, bodies: float, size: float) -> Press:
    """The stage with stiffer springs that push earlier, by what was beyond: part of torque limits, and metres."""
    return replace(
        stage,
        stiffness=3 * stage.stiffness,
        spare=min(stage.spare + 1.5 * max(bodies, 0.0), _SPARE * size),
        part=max(stage.part - 1.5 * max(torque, 0.0), 0.5),
    )


def _inside(problem: Excitation, x: np.ndarray, home: np.ndarray | None) -> np.ndarray:
    """The motion within the limits of position, velocity and acceleration."""
    if home is None:
        return problem.within(x)
    return shrunk(x, home, problem.limits, problem.checked, _FULL)
