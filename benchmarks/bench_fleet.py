"""Fleets of 50 drawn robots, two of them defective, twenty times: are these named, is anybody else, do intervals hold?

Robots (`simulated_fleets`) differ by 5 % in their masses and 20 % in their friction; a defective one rubs as a dry
joint does, another carries half a link too much. `python -m benchmarks --only fleet`.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable

import numpy as np

import dynarm

from . import simulated_fleets as fleets

ROBOTS, REPETITIONS, RATE = 50, 20, 0.05
WORN, HEAVY = "r7", "r30"


def repetition(seed: int) -> tuple[int, int, float]:
    """Defective robots that were named, sound ones that were, and how often 95 % intervals held the truth."""
    base, rng = dynarm.load("two_link"), np.random.default_rng(seed)
    arms = {f"r{k}": fleets.sound_robot(rng, base) for k in range(ROBOTS)}
    arms[WORN] = fleets.with_worn_joint(arms[WORN])
    arms[HEAVY] = fleets.with_heavy_link(arms[HEAVY])
    data = {name: [fleets.recording(rng, arm)] for name, arm in arms.items()}
    plain = ("viscous", "coulomb", "offset")
    fleet = dynarm.fit_fleet(base, data, rate=RATE, friction=plain)
    named = set(fleet.outlier_names_)
    true = np.array([fleets.unknowns(arm) for arm in arms.values()])
    low, high = np.moveaxis(fleet.intervals(), -1, 0)
    held = float(((low < true) & (true < high)).mean())
    return len(named & {WORN, HEAVY}), len(named - {WORN, HEAVY}), held


def run(step: Callable[[str], None] | None = None) -> dict[str, float]:
    """The figures of all repetitions."""
    start, done = time.process_time(), []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dynarm.DynarmWarning)
        for seed in range(REPETITIONS):
            done.append(repetition(seed))
            if step is not None:
                step(f"fleet {seed + 1} of {REPETITIONS}")
    right, wrong, held = np.array(done, float).T
    return {
        "fleets": float(REPETITIONS),
        "robots": float(ROBOTS),
        "defective robots that were named [%]": 100 * float(right.mean()) / 2,
        "fleets with a sound robot named": float((wrong > 0).sum()),
        "such fleets that the stated rate allows for": RATE * REPETITIONS,
        "95 % intervals that hold the truth, mean [%]": 100 * float(held.mean()),
        "95 % intervals that hold the truth, least [%]": 100 * float(held.min()),
        "a fleet [s of one core]": (time.process_time() - start) / REPETITIONS,
    }
