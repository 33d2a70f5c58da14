"""The states that a pruned model answers for: positions, speeds and accelerations between bounds, joint by joint.

A motion is one line through them; what it never does at once (all joints fast, all of them accelerating) another motion
may. Joint forces are linear in the accelerations and quadratic in the speeds, so that deviations are largest at the
corners: half of the sampled states have all speeds, half all accelerations at their bounds, and from the worst of them
the deviation is followed uphill, one coordinate at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ..border.words import brief
from ..graph.graph import Graph

FEW, MANY = 400, 4000  # states that omissions are chosen on, and fresh ones that they are judged on
WORST = 8  # of the fresh states that break the limit, joint by joint, those that join the first
# walks over all coordinates from the worst states, and values that each is tried at
CLIMBS, GRID = 3, 7
ROUNDS = 16
STRICTER = 0.93  # the limit of each round by that of the last

States = Sequence[np.ndarray]


@dataclass(frozen=True, eq=False)
class StateBox:
    """Bounds (n,) of positions [rad or m], of speeds and of accelerations, either sign."""

    low: np.ndarray
    high: np.ndarray
    speed: np.ndarray
    acceleration: np.ndarray

    __repr__ = brief

    def sampled(self, count: int, seed: int) -> list[np.ndarray]:
        """q, qd, qdd (count, n) inside."""
        rng, shape = np.random.default_rng(seed), (count, len(self.low))
        q = self.low + (self.high - self.low) * rng.uniform(size=shape)
        return [q, *(bound * _signed(rng, shape) for bound in (self.speed, self.acceleration))]

    def trials(self, state: np.ndarray) -> np.ndarray:
        """(many, 3, n): a state (3, n) with each of its coordinates at every value of a grid between its bounds."""
        low = np.stack([self.low, -self.speed, -self.acceleration])
        high = np.stack([self.high, self.speed, self.acceleration])
        steps = np.linspace(0, 1, GRID)
        moved = np.repeat(state[None], state.size * GRID, axis=0)
        places = np.unravel_index(np.repeat(np.arange(state.size), GRID), state.shape)
        rows = np.arange(len(moved))
        moved[(rows, *places)] = low[places] + (high - low)[places] * np.tile(steps, state.size)
        return moved

    def holds(self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> bool:
        """Whether all states lie inside."""
        inside = (self.low <= q) & (q <= self.high)
        return bool((inside & (abs(qd) <= self.speed) & (abs(qdd) <= self.acceleration)).all())


def _signed(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    """Numbers between -1 and 1; of half of the rows all at one of the two."""
    corners = rng.choice([-1.0, 1.0], shape)
    return np.where(rng.uniform(size=(shape[0], 1)) < 0.5, corners, rng.uniform(-1, 1, shape))


def box_of(states: States, reach: float) -> StateBox:
    """The box of a motion, `reach` times as wide as its extremes are apart."""
    q, qd, qdd = states
    middle, half = (q.max(axis=0) + q.min(axis=0)) / 2, (q.max(axis=0) - q.min(axis=0)) / 2
    bounds = (reach * np.abs(x).max(axis=0) for x in (qd, qdd))
    return StateBox(middle - reach * half, middle + reach * half, *bounds)


def deviations_of(graph: Graph, whole: Graph, states: States) -> np.ndarray:
    """(N, n): how far the outputs of two graphs are apart."""
    return np.asarray(np.abs(graph.evaluate(*states)[0] - whole.evaluate(*states)[0]))


Omit = Callable[[States, np.ndarray], tuple[Graph, int]]


def throughout(
    box: StateBox, states: States, whole: Graph, limit: np.ndarray, omit: Omit
) -> tuple[Graph, int]:
    """What `omit(states, limit)` makes of a graph, within the limit (n,) on states that had no part in it.

    Fresh states that break it join those that omissions are chosen on, and the limit of the choice becomes stricter,
    until none does; nothing is left out where that never comes.
    """
    chosen_on = [np.vstack(pair) for pair in zip(states, box.sampled(FEW, 0), strict=True)]
    inner = limit
    for k in range(ROUNDS):
        graph, gone = omit(chosen_on, inner)
        broken = _broken(box, graph, whole, limit, k + 1)
        if not len(broken[0]):
            return graph, gone
        chosen_on = [np.vstack(pair) for pair in zip(chosen_on, broken, strict=True)]
        inner = inner * STRICTER
    return whole, 0


def _broken(
    box: StateBox, graph: Graph, whole: Graph, limit: np.ndarray, seed: int
) -> list[np.ndarray]:
    """States that break the limit: the worst of many fresh ones, joint by joint, and those uphill from them."""

    def parts(states: States) -> np.ndarray:
        return np.asarray(deviations_of(graph, whole, states) / np.maximum(limit, 1e-300))

    fresh = box.sampled(MANY, seed)
    told = parts(fresh)
    worst = [np.argsort(column)[-WORST:] for column in told.T]
    met = [np.stack([x[k] for x in fresh]) for k in np.unique(worst)]
    for joint, ranks in enumerate(worst):
        state = np.stack([x[ranks[-1]] for x in fresh])
        for _ in range(CLIMBS * state.size):
            moved = box.trials(state)
            best = moved[int(np.argmax(parts([*moved.transpose(1, 0, 2)])[:, joint]))]
            if (best == state).all():
                break
            state = best
        met.append(state)
    gathered = [*np.stack(met).transpose(1, 0, 2)]
    over = (parts(gathered) > 1).any(axis=1)
    return [x[over] for x in gathered]
