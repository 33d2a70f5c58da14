"""What a user waits for: the first use of each quantity, and cost and first use of long chains."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path

import dynarm
from dynarm.robot.generic import generic_arm

from .batches import Figures, Settings, Step
from .contenders import INPUTS, PEER, agreeing, ours, runs, states
from .first_use import empty_cache, used
from .measure import contest
from .peers import Peers
from .robots import Robot

REPEATS = 3
JOINTS = (3, 5, 7, 10, 15, 20, 30, 45, 60)
SAMPLES = 4096  # of every length
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
    with empty_cache() as cache:
        for n in JOINTS:
            if n <= settings.largest:
                step(f"{n} joints")
                found[str(n)] = _chain(n, cache, settings.seconds / 2)
            if n == DERIVED <= settings.largest:
                found["derivatives"] = {str(n): _first(n, cache, DERIVATIVES)[DERIVATIVES]}
    return found


def _first(n: int, cache: Path, *quantities: str) -> dict[str, float]:
    """Seconds of the first use of quantities of a generic arm, in a new process."""
    path = cache / f"generic_{n}.toml"
    generic_arm(n).save(path)
    return used(cache, path, *quantities)


def _chain(n: int, cache: Path, seconds: float) -> Figures:
    first = _first(n, cache, *LENGTHENED)
    robot = Robot(generic_arm(n))
    peers = Peers(robot, ["pinocchio"])
    found: Figures = {}
    for quantity in LENGTHENED:
        s = states(n, SAMPLES)
        calls, differences = agreeing(robot, quantity, partial(peers.batch, quantity), [s])
        timings = contest({"dynarm": ours(robot, quantity, s), **runs(calls)}, seconds)
        count = dynarm.count(robot.arm, quantity)
        found[quantity] = {
            "mul": count.mul,
            "add": count.add,
            "first_use": first[quantity],
            "dynarm": timings["dynarm"].per(SAMPLES).as_dict(),
            "differences": differences,
        }
        if PEER[quantity] in timings:
            found[quantity]["peer"] = timings[PEER[quantity]].per(SAMPLES).as_dict()
    return found
