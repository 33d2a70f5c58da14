"""Timing on a noisy machine: many short runs, interleaved between the contenders, best and quartiles kept."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds for one call: the best, and the quartiles of all runs."""

    best: float
    lower: float
    median: float
    upper: float
    runs: int

    def per(self, samples: int) -> Timing:
        """The same per sample."""
        return Timing(
            *(x / samples for x in (self.best, self.lower, self.median, self.upper)), self.runs
        )

    def as_dict(self) -> dict[str, float]:
        return asdict(self)


def _calls(
    function: Callable[[], object], target: float, clock: Callable[[], float] = time.perf_counter
) -> int:
    """How many calls make one run long enough to be timed."""
    function()
    start = clock()
    function()
    once = max(clock() - start, 1e-7)
    return max(1, int(target / once))


def contest(
    contenders: Mapping[str, Callable[[], object]],
    seconds: float = 0.5,
    run: float = 2e-3,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, Timing]:
    """The timing of each contender, measured in turns so that all see the same weather.

    clock: time.thread_time counts only what this thread used of its core, for runs longer than a slice of it.
    """
    calls = {name: _calls(function, run, clock) for name, function in contenders.items()}
    found: dict[str, list[float]] = {name: [] for name in contenders}
    gc.collect()
    gc.disable()
    try:
        end = time.perf_counter() + seconds * len(contenders)
        while time.perf_counter() < end or len(next(iter(found.values()))) < 5:
            for name, function in contenders.items():
                count = calls[name]
                start = clock()
                for _ in range(count):
                    function()
                found[name].append((clock() - start) / count)
    finally:
        gc.enable()
    return {
        name: Timing(min(ts), *(float(x) for x in np.percentile(ts, (25, 50, 75))), len(ts))
        for name, ts in found.items()
    }
