"""What a user waits for: the first use of each quantity, and cost and first use of long chains."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path

import dynarm
from dynarm.robot.frames.generic import generic_arm

from .batches import Figures, Settings, Step
from .contenders import INPUTS, PEER, agreeing, ours, runs, states
from .first_use import empty_cache, used
from .measure import contest
from .peers import Peers
from .robots import Robot

REPEATS = 3
JOINTS = (3, 5, 7, 10, 15, 20, 30, 45, 60)
SAMPLES = 4096  # of every length
REFERENCE = 15  # joints, whose cost the others are compared with
LENGTHENED = ("inverse_dynamics", "bias", "mass_matrix", "forward_dynamics")
DERIVATIVES, DERIVED = "inverse_dynamics_derivatives", 20  # joints


def compiling(robot: Robot, settings: Settings, step: Step) -> Figures:
    """Seconds until the first result in a fresh process: with an empty cache, and from the cache; the best of three."""
    found: Figures = {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "robot.toml"
        robot.arm.save(path)
        for quantity in INPUTS:
            step(quantity)
            caches = [Path(folder) / f"{quantity}{k}" for k in range(REPEATS)]
            cold = [used(cache, path, quantity)[quantity] for cache in caches]
            warm = [used(caches[0], path, quantity)[quantity] for _ in range(REPEATS)]
            found[quantity] = {"cold": min(cold), "warm": min(warm), "colds": cold, "warms": warm}
    return found


def length(robot: Robot, settings: Settings, step: Step) -> Figures:
    """Cost and first use against the number of joints, on the papers' generic arms, with a cache that was empty."""
    found: Figures = {"samples": SAMPLES}
    lengths = [n for n in JOINTS if n <= settings.largest]
    with empty_cache() as cache:
        for n in lengths:
            step(f"{n} joints")
            found[str(n)] = _chain(n, cache, settings.seconds / 2)
            if n == DERIVED:
                found["derivatives"] = {str(n): _first(n, cache, DERIVATIVES)[DERIVATIVES]}
        for quantity in LENGTHENED:
            step(quantity)
            for n in lengths:
                found[str(n)][quantity] |= _beside(n, quantity, settings.seconds)
    return found


def _beside(n: int, quantity: str, seconds: float) -> Figures:
    """Seconds a sample, and the cost of a joint over that in an arm of 15 joints, timed in turns."""
    calls = {
        str(k): ours(Robot(generic_arm(k)), quantity, states(k, SAMPLES)) for k in {n, REFERENCE}
    }
    timings = contest(calls, seconds)
    mine, other = timings[str(n)], timings[str(REFERENCE)]
    return {
        "dynarm": mine.per(SAMPLES).as_dict(),
        "joint": (mine.best / n) / (other.best / REFERENCE),
    }


def _first(n: int, cache: Path, *quantities: str) -> dict[str, float]:
    """Seconds of the first use of quantities of a generic arm, in a new process."""
    path = cache / f"generic_{n}.toml"
    generic_arm(n).save(path)
    return used(cache, path, *quantities)


def _chain(n: int, cache: Path, seconds: float) -> Figures:
    """First use of each quantity, its operations, and how it compares with pinocchio."""
    first = _first(n, cache, *LENGTHENED)
    robot = Robot(generic_arm(n))
    peers = Peers(robot, ["pinocchio"])
    s = states(n, SAMPLES)
    found: Figures = {}
    for quantity in LENGTHENED:
        calls, differences = agreeing(robot, quantity, partial(peers.batch, quantity), [s])
        count = dynarm.count(robot.arm, quantity)
        found[quantity] = {
            "mul": count.mul,
            "add": count.add,
            "first_use": first[quantity],
            "differences": differences,
        }
        peer = runs(calls).get(PEER[quantity])
        if peer:
            timings = contest({"dynarm": ours(robot, quantity, s), "peer": peer}, seconds)
            found[quantity]["peer"] = timings["peer"].per(SAMPLES).as_dict()
            found[quantity]["ratio"] = timings["peer"].best / timings["dynarm"].best
    return found
