"""dynarm's own way to JAX: model.jax(quantity), jitted, on one thread of the processor."""

from __future__ import annotations

import os
from typing import Any

from ..contenders import Call, Calls, States
from ..robots import Robot

ONE_THREAD = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
MOST = 4000  # operations; XLA compiles more of them for minutes


def prepared() -> Any:
    """The module jax in double precision on one thread, which must be said before it starts."""
    os.environ.setdefault("XLA_FLAGS", ONE_THREAD)
    import jax

    jax.config.update("jax_enable_x64", True)
    return jax


class Peer:
    """The jitted functions of a model."""

    def __init__(self, robot: Robot):
        self.robot = robot
        self.jax = prepared()

    def single(self, quantity: str, s: States) -> Calls:
        return {}

    def batch(self, quantity: str, s: States) -> Calls:
        model = self.robot.model
        if len(model.graph(quantity).nodes) > MOST:
            return {}
        wait, function = self.jax.block_until_ready, self.jax.jit(model.jax(quantity))
        args = [self.jax.numpy.asarray(a) for a in s.arguments(quantity)]
        return {"model.jax": Call(lambda: wait(function(*args)), lambda found: found, len(s.q))}
