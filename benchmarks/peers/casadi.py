"""A plain casadi.Function of the same formulas, run by CasADi's virtual machine.

One call on CasADi's own matrices, one on buffers bound beforehand (no conversions at all), and `.map` over a batch.
"""

from __future__ import annotations

from typing import Any

import casadi
import numpy as np

from ..contenders import INPUTS, Call, Calls, States
from ..robots import Robot


class Peer:
    """The functions of a model."""

    def __init__(self, robot: Robot):
        self.robot = robot
        self.functions: dict[str, Any] = {}

    def _function(self, quantity: str) -> Any:
        if quantity not in self.functions:
            self.functions[quantity] = self.robot.model.casadi(quantity)
        return self.functions[quantity]

    def single(self, quantity: str, s: States) -> Calls:
        function = self._function(quantity)
        args = [a[0].copy() for a in s.arguments(quantity)]
        plain = Call(_bound(function, [casadi.DM(a) for a in args]), lambda found: _rows(found, 1))
        return {"casadi.Function": plain, "casadi.Function.buffer": _buffered(function, args)}

    def batch(self, quantity: str, s: States) -> Calls:
        samples = len(s.q)
        many = self._function(quantity).map(samples)
        run = _bound(many, [casadi.DM(a.T) for a in s.arguments(quantity)])
        call = Call(run, lambda found: _rows(found, samples), samples)
        return {"casadi.Function.map": call}


def _bound(function: Any, args: list[Any]) -> Any:
    """A call without a list of arguments to unpack, which would be timed with it."""
    if len(args) == INPUTS["mass_matrix"]:
        (q,) = args
        return lambda: function(q)
    if len(args) == INPUTS["bias"]:
        q, v = args
        return lambda: function(q, v)
    q, v, x = args
    return lambda: function(q, v, x)


def _buffered(function: Any, args: list[np.ndarray]) -> Call:
    """A call whose arguments and results stay where they are."""
    buffer, run = function.buffer()
    results = [np.zeros(function.size_out(k)) for k in range(function.n_out())]
    for k, a in enumerate(args):
        buffer.set_arg(k, a.data)
    for k, a in enumerate(results):
        buffer.set_res(k, a.data)

    def result(_: Any, kept: Any = (buffer, args)) -> list[np.ndarray]:
        return results

    return Call(run, result)


def _rows(found: Any, samples: int) -> list[np.ndarray]:
    """Entries by samples: CasADi has a sample's matrix as a column, entries by rows."""
    parts = found if isinstance(found, tuple) else (found,)
    return [np.array(part).reshape(-1, samples).T for part in parts]
