"""Speed by quantity: batches of 4096, one call from Python, and batches of other sizes on one thread and two."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

import dynarm

from . import emitted
from .contenders import INPUTS, PEER, Calls, States, agreeing, ours, runs, states
from .measure import Timing, contest
from .memory import beyond
from .peak import SLOTS, Peak, loop
from .peers import Peers
from .robots import Robot

BATCH = 4096
SIZES = (1, 64, 4096, 262144)
THREADS = (1, 2)
LARGEST = 1e9  # bytes of a result
Figures = dict[str, Any]
Step = Callable[[str], None]  # told what is measured next


@dataclass(frozen=True, slots=True)
class Settings:
    """What a run is told."""

    seconds: float = 0.5  # for each contender
    largest: int = 60  # joints of the longest chain


# ---- a batch of 4096


def batch(robot: Robot, settings: Settings, step: Step) -> Figures:
    """Seconds a sample on batches of 4096, one thread, and how many times faster than the peers."""
    peers = Peers(robot)
    rows: dict[str, Figures] = {}
    for quantity in INPUTS:
        step(quantity)
        rows[quantity] = _quantity(robot, peers, quantity, settings.seconds)
    return {**rows, **({"refused": peers.refused} if peers.refused else {})}


def _quantity(robot: Robot, peers: Peers, quantity: str, seconds: float) -> Figures:
    s = states(robot.arm.n, BATCH)
    calls, differences = agreeing(robot, quantity, partial(peers.batch, quantity), [s])
    singles, more = agreeing(robot, quantity, partial(peers.single, quantity), s.each(5))
    mine, peak, theirs = _timed(ours(robot, quantity, s), singles | calls, PEER[quantity], seconds)
    arithmetic = robot.model.kernel(quantity).notes["instructions"]
    all_ = emitted.instructions(robot.model.graph(quantity))
    block = mine.best * peak.lanes
    count = dynarm.count(robot.arm, quantity)
    return {
        "mul": count.mul,
        "add": count.add,
        "instructions": {"arithmetic": arithmetic, "all": all_},
        "slots": peak.slots,
        "filled": peak.filled(arithmetic, block),
        "filled_by_all": peak.filled(all_, block) if all_ else None,
        "differences": more | differences,
        "peer": PEER[quantity],
        "dynarm": mine.as_dict(),
        "peers": {name: t.as_dict() for name, t in theirs.items()},
        "ratios": {name: t.best / mine.best for name, t in theirs.items()},
    }


def _timed(
    call: Callable[[], Any], calls: Calls, first: str, seconds: float
) -> tuple[Timing, Peak, dict[str, Timing]]:
    """Seconds a sample of dynarm, multiply-adds that the core could do meanwhile, and seconds a sample of the peers.

    The first peer and the multiply-adds are timed in turns with dynarm, slow peers apart.
    """
    near = {name: c for name, c in calls.items() if name == first}
    far = {name: c for name, c in calls.items() if name != first}
    lanes = host_lanes()
    contenders = {"dynarm": call, "multiply-adds": loop(lanes), **runs(near)}
    timings = contest(contenders, seconds, run=5e-3)  # long enough to forget the others' arrays
    mine = timings.pop("dynarm").per(BATCH)
    peak = Peak(lanes, SLOTS / timings.pop("multiply-adds").best)
    timings |= contest(runs(far), seconds / 3) if far else {}
    return mine, peak, {name: t.per(calls[name].samples) for name, t in timings.items()}


def host_lanes() -> int:
    """Lanes of the vectors that code is made for here."""
    from dynarm.machine.emit.llvm import host

    return host().width


# ---- one call


def single(robot: Robot, settings: Settings, step: Step) -> Figures:
    """Seconds of one call on 1-D arrays from Python: the method and the bare gufunc."""
    peers = Peers(robot)
    return {
        quantity: _single(robot, peers, quantity, settings.seconds, step) for quantity in INPUTS
    }


def _single(robot: Robot, peers: Peers, quantity: str, seconds: float, step: Step) -> Figures:
    step(quantity)
    s = states(robot.arm.n, 8)
    calls, differences = agreeing(robot, quantity, partial(peers.single, quantity), s.each(5))
    ufunc = robot.model.functions[quantity]  # compiled: from now on the method is a builtin
    method = getattr(robot.model, quantity)
    args = [a[0].copy() for a in s.arguments(quantity)]
    contenders = {"method": _plain(method, args), "gufunc": _plain(ufunc, args), **runs(calls)}
    timings = contest(contenders, seconds)
    return {
        "differences": differences,
        "timings": {name: t.as_dict() for name, t in timings.items()},
        "ratios": {
            name: [timings[name].best / timings[way].best for way in ("method", "gufunc")]
            for name in calls
        },
    }


def _plain(function: Callable[..., Any], args: list[Any]) -> Callable[[], Any]:
    """A call without a list of arguments to unpack, which would be timed with it."""
    if len(args) == 1:
        (q,) = args
        return lambda: function(q)
    if len(args) == 2:
        q, qd = args
        return lambda: function(q, qd)
    q, qd, x = args
    return lambda: function(q, qd, x)


# ---- batches of all sizes


def sizes(robot: Robot, settings: Settings, step: Step) -> Figures:
    """Seconds a sample by batch size: methods called plainly and with threads=2, beside pinocchio."""
    peers = Peers(robot, ["pinocchio"])
    found: Figures = {"limit": _limit(settings.seconds)}
    for quantity in INPUTS:
        step(quantity)
        rows = {n: _size(robot, peers, quantity, n, settings.seconds / 2) for n in SIZES}
        found[quantity] = {str(n): row for n, row in rows.items() if row}
    return found


def _size(robot: Robot, peers: Peers, quantity: str, samples: int, seconds: float) -> Figures:
    outputs = robot.model.ports(quantity)[1]
    if samples * sum(port.size for port in outputs) * 8 > LARGEST:
        return {}
    s = states(robot.arm.n, samples)
    near, _ = agreeing(robot, quantity, partial(peers.batch, quantity), [s])
    far, _ = agreeing(robot, quantity, partial(peers.single, quantity), s.each(1))
    peer = (near or far).get(PEER[quantity])
    calls = _methods(robot, quantity, s, len(outputs) == 1)
    timings = contest(calls, 8 * seconds, run=5e-3)
    found: Figures = {k: timings[k].per(samples).as_dict() for k in calls}
    found["gain"] = timings["1"].best / timings["2"].best
    if len(outputs) == 1:
        found["memory"] = beyond(calls["1"])
    if peer:
        timings = contest({"mine": calls["1"], "peer": peer.run}, seconds, run=5e-3)
        found["peer"] = timings["peer"].per(peer.samples).as_dict()
        found["ratio"] = found["peer"]["best"] / timings["mine"].per(samples).best
    return found


def _limit(seconds: float) -> float:
    """How many times as many multiply-adds two threads do as one, with nothing else to do."""
    run = loop(host_lanes())

    def some() -> None:
        for _ in range(40):
            run()

    with ThreadPoolExecutor(1) as pool:

        def two() -> None:
            other = pool.submit(some)
            some()
            other.result()

        timings = contest({"one": some, "two": two}, 2 * seconds)
    return 2 * timings["one"].best / timings["two"].best


def _methods(
    robot: Robot, quantity: str, s: States, one_output: bool
) -> dict[str, Callable[[], Any]]:
    """The method by number of threads; into an array that exists already, where it takes one."""
    method, args = getattr(robot.model, quantity), s.arguments(quantity)
    out = {"out": method(*args)} if one_output else {}
    return {
        str(k): partial(method, *args, **out, **({} if k == 1 else {"threads": k})) for k in THREADS
    }
