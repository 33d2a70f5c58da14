"""What is compared: the same states, the calls of dynarm and of its peers, and whether all give the same."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .robots import Robot

INPUTS = {
    "inverse_dynamics": 3,
    "forward_dynamics": 3,
    "mass_matrix": 1,
    "bias": 2,
    "regressor": 3,
    "inverse_dynamics_derivatives": 3,
    "forward_dynamics_derivatives": 3,
}
PEER = {  # what a quantity is held against: the fastest way to it in pinocchio, one thread
    "inverse_dynamics": "pin.rneaInParallel(1)",
    "forward_dynamics": "pin.abaInParallel(1)",
    "mass_matrix": "pin.crba",
    "bias": "pin.nonLinearEffects",
    "regressor": "pin.computeJointTorqueRegressor",
    "inverse_dynamics_derivatives": "pin.computeRNEADerivatives",
    "forward_dynamics_derivatives": "pin.computeABADerivatives",
}
AGREEMENT = 1e-9  # relative; what differs by more is not compared
Arrays = tuple[np.ndarray, ...]


@dataclass(frozen=True, slots=True)
class States:
    """The same states for everybody, (samples, n)."""

    q: np.ndarray
    qd: np.ndarray
    x: np.ndarray  # accelerations or torques

    def arguments(self, quantity: str) -> Arrays:
        """What dynarm's function of a quantity takes."""
        return (self.q, self.qd, self.x)[: INPUTS[quantity]]

    def each(self, count: int) -> list[States]:
        """The first states one by one, as batches of one."""
        return [
            States(*(a[k : k + 1].copy() for a in (self.q, self.qd, self.x))) for k in range(count)
        ]


def states(n: int, samples: int, seed: int = 0) -> States:
    rng = np.random.default_rng(seed)
    return States(*(rng.uniform(-2, 2, (samples, n)) for _ in range(3)))


@dataclass(frozen=True, slots=True)
class Call:
    """A peer's computation."""

    run: Callable[[], Any]  # what is timed
    result: Callable[[Any], Any]  # what it found, from what it returned, as dynarm has it
    samples: int = 1  # states that one run computes


Calls = dict[str, Call]


def ours(robot: Robot, quantity: str, s: States) -> Callable[[], Any]:
    """dynarm on a whole batch, into arrays that exist already."""
    ufunc = robot.model.functions[quantity]
    args = s.arguments(quantity)
    out = ufunc(*args)
    return lambda: ufunc(*args, out=out)


def difference(robot: Robot, quantity: str, s: States, call: Call) -> float:
    """The largest difference of a peer's result to dynarm's, relative to the largest entry."""
    got = _arrays(robot.model.functions[quantity](*s.arguments(quantity)))
    theirs = _arrays(call.result(call.run()))
    if quantity == "regressor" and theirs[0].size != got[0].size:
        got = (got[0] @ robot.model.minimal.matrix,)  # theirs has ten columns a link
    worst = 0.0
    for a, b in zip(got, theirs, strict=True):
        b = b.reshape(a.shape)
        worst = max(worst, float(np.abs(a - b).max() / max(1.0, np.abs(b).max())))
    return worst


def _arrays(found: Any) -> Arrays:
    return tuple(np.asarray(x) for x in (found if isinstance(found, (tuple, list)) else (found,)))


def agreeing(
    robot: Robot, quantity: str, make: Callable[[States], Calls], some: Iterable[States]
) -> tuple[Calls, dict[str, float]]:
    """The calls on the first of some states that give what dynarm gives on all of them, and every difference."""
    first: Calls = {}
    worst: dict[str, float] = {}
    for s in some:
        calls = make(s)
        first = first or calls
        for name, call in calls.items():
            worst[name] = max(worst.get(name, 0.0), difference(robot, quantity, s, call))
    return {name: call for name, call in first.items() if worst[name] < AGREEMENT}, worst


def runs(calls: Mapping[str, Call]) -> dict[str, Callable[[], Any]]:
    """What is timed, by name."""
    return {name: call.run for name, call in calls.items()}
