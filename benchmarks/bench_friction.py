"""Friction chosen on 50 drawn arms, each with plain, Maxwell-slip and load-dependent drives: is it the right one?

Arms of two to four joints (`simulated_arms`; more joints would only take longer), defaults of `dynarm.Identifier`,
whose description has wrong bodies. Of each fit: whether the family of the drives was chosen and no other, how far rigid
minimal parameters are from the truth in stated deviations, and how often 95 % intervals hold it.
`python -m benchmarks.bench_friction` prints the figures with one line an arm.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

import dynarm

from .simulated_arms import DRIVES, drawn, recorded

ARMS = 50
RIGHT = {  # what may be taken, of which something must be; curves stand beside any of them, damped
    "plain": frozenset[str](),
    "slip": frozenset({"presliding"}),
    "load": frozenset({"load_curve", "load_presliding"}),
}
LEVEL = 0.95

Step = Callable[[str], None]


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """One fit of an arm: what was taken, and the errors of its rigid minimal parameters in stated deviations."""

    seed: int
    drive: str
    taken: frozenset[str]
    apart: np.ndarray
    held: np.ndarray  # of the same parameters: whether the 95 % interval holds the truth
    seconds: float

    @property
    def right(self) -> bool:
        """The family of the drives and no other; for plain ones, none at all."""
        wanted = RIGHT[self.drive]
        others = self.taken - {"curve"} if wanted else self.taken
        return others <= wanted and bool(others) == bool(wanted)

    def __str__(self) -> str:
        told = ", ".join(sorted(self.taken)) or "plain"
        word = "right" if self.right else "WRONG"
        size = float(np.sqrt((self.apart**2).mean()))
        return f"arm {self.seed} {self.drive}: {told} ({word}), rigid {size:.2f} deviations"


def outcome(seed: int, drive: str) -> Outcome:
    """The fit of an arm by defaults."""
    one = drawn(seed)
    truth = dynarm.minimal_parameters(one.truth, armature=True).values
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dynarm.DynarmWarning)
        fit = dynarm.Identifier(one.described).fit(recorded(one, drive))
    seconds = time.process_time() - start
    p = len(truth)
    low, high = fit.intervals(LEVEL)[:p].T
    taken = frozenset(t.family.split(" ")[0] for t in fit.choice_.tried if t.taken)
    apart = (fit.values_[:p] - truth) / fit.std_[:p]
    return Outcome(seed, drive, taken, apart, (low <= truth) & (truth <= high), seconds)


def figures(outcomes: Sequence[Outcome]) -> dict[str, float]:
    """Shares and errors of fits of one kind of drive."""
    apart = np.concatenate([o.apart for o in outcomes])
    return {
        "arms": float(len(outcomes)),
        "right family [%]": 100 * float(np.mean([o.right for o in outcomes])),
        "rigid parameters": float(len(apart)),
        "error, mean [deviations]": float(apart.mean()),
        "error, rms [deviations]": float(np.sqrt((apart**2).mean())),
        "within 2 deviations [%]": 100 * float((np.abs(apart) <= 2).mean()),
        "95 % intervals that hold the truth [%]": 100
        * float(np.concatenate([o.held for o in outcomes]).mean()),
        "slowest fit [s of one core]": max(o.seconds for o in outcomes),
    }


def run(arms: int = ARMS, step: Step = lambda what: None) -> dict[str, dict[str, float]]:
    """The figures of all arms by kind of drive."""
    done: dict[str, list[Outcome]] = {drive: [] for drive in DRIVES}
    for seed in range(arms):
        for drive in DRIVES:
            done[drive].append(outcome(seed, drive))
            step(f"{seed + 1} of {arms}: {done[drive][-1]}")
    return {drive: figures(some) for drive, some in done.items()}


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else ARMS
    print(json.dumps(run(count, lambda what: print(what, flush=True)), indent=1))
