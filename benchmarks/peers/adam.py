"""adam on JAX: batches, jitted, on one thread. Bases float there; the joints' rows and columns are what is compared."""

from __future__ import annotations

from typing import Any

from adam.jax import KinDynComputations

from ..contenders import Call, Calls, States
from ..robots import Robot
from .jax import prepared


class Peer:
    """adam's model of the robot."""

    def __init__(self, robot: Robot):
        self.jax = prepared()
        self.jnp = self.jax.numpy
        gravity = self.jnp.array([*robot.arm.gravity, 0.0, 0.0, 0.0])
        self.twin = KinDynComputations(robot.urdf, list(robot.arm.joint_names), gravity=gravity)

    def single(self, quantity: str, s: States) -> Calls:
        return {}

    def batch(self, quantity: str, s: States) -> Calls:
        names = {"inverse_dynamics": "M @ qdd + bias_force", "bias": "bias_force"}
        if quantity not in (*names, "mass_matrix"):
            return {}
        function = self.jax.jit(getattr(self, f"_{quantity}"))
        wait = self.jax.block_until_ready
        args = [self.jnp.asarray(a) for a in s.arguments(quantity)]
        name = f"adam {names.get(quantity, quantity)}"
        return {name: Call(lambda: wait(function(*args)), lambda found: found, len(s.q))}

    def _pose(self, q: Any) -> Any:
        return self.jnp.broadcast_to(self.jnp.eye(4), (len(q), 4, 4))

    def _mass_matrix(self, q: Any) -> Any:
        return self.twin.mass_matrix(self._pose(q), q)[..., 6:, 6:]

    def _bias(self, q: Any, qd: Any) -> Any:
        rest = self.jnp.zeros((len(q), 6))
        return self.twin.bias_force(self._pose(q), q, rest, qd)[..., 6:].reshape(q.shape)

    def _inverse_dynamics(self, q: Any, qd: Any, qdd: Any) -> Any:
        return (self._mass_matrix(q) @ qdd[..., None])[..., 0] + self._bias(q, qd)
