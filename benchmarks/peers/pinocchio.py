"""Pinocchio: its functions called from Python for one state, and its loops over a batch on one thread, in C++."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin

from ..contenders import Call, Calls, States
from ..robots import Robot

BATCH = {
    "inverse_dynamics": ("pin.rneaInParallel(1)", pin.rneaInParallel),
    "forward_dynamics": ("pin.abaInParallel(1)", pin.abaInParallel),
}
SINGLE = {  # name, function, arguments of q, v, x
    "inverse_dynamics": ("pin.rnea", pin.rnea, 3),
    "forward_dynamics": ("pin.aba", pin.aba, 3),
    "mass_matrix": ("pin.crba", pin.crba, 1),
    "bias": ("pin.nonLinearEffects", pin.nonLinearEffects, 2),
    "regressor": ("pin.computeJointTorqueRegressor", pin.computeJointTorqueRegressor, 3),
    "inverse_dynamics_derivatives": (
        "pin.computeRNEADerivatives",
        pin.computeRNEADerivatives,
        3,
    ),
    "forward_dynamics_derivatives": ("pin.computeABADerivatives", pin.computeABADerivatives, 3),
}


class Peer:
    """Pinocchio's model of the robot."""

    def __init__(self, robot: Robot):
        self.model = robot.pinocchio
        self.data = self.model.createData()
        self.pool = pin.ModelPool(self.model, 1)

    def single(self, quantity: str, s: States) -> Calls:
        name, function, count = SINGLE[quantity]
        args = [a[0].copy() for a in (s.q, s.qd, s.x)[:count]]
        run = _bound(function, self.model, self.data, args)
        return {name: Call(run, _whole if quantity != "bias" else np.array)}

    def batch(self, quantity: str, s: States) -> Calls:
        if quantity not in BATCH:
            return {}
        name, function = BATCH[quantity]
        args = [np.asfortranarray(a.T) for a in (s.q, s.qd, s.x)]
        out = np.asfortranarray(np.empty_like(args[0]))
        pool = self.pool
        q, v, x = args
        return {name: Call(lambda: function(1, pool, q, v, x, out), lambda _: out.T, len(s.q))}


def _bound(function: Any, model: Any, data: Any, args: list[np.ndarray]) -> Any:
    """A call without a list of arguments to unpack, which would be timed with it."""
    if len(args) == 1:
        (q,) = args
        return lambda: function(model, data, q)
    if len(args) == 2:
        q, v = args
        return lambda: function(model, data, q, v)
    q, v, x = args
    return lambda: function(model, data, q, v, x)


def _whole(found: Any) -> Any:
    """Copies of what pinocchio returned; of symmetric matrices it may fill the upper half only."""
    arrays = [np.array(x) for x in (found if isinstance(found, tuple) else (found,))]
    last = arrays[-1]
    if last.ndim == 2 and last.shape[0] == last.shape[1]:
        arrays[-1] = np.triu(last) + np.triu(last, 1).T
    return arrays
