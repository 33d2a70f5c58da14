"""MuJoCo, called from Python for one state; contacts and constraints are off."""

from __future__ import annotations

import mujoco

from ..contenders import Call, Calls, States
from ..robots import Robot


class Peer:
    """MuJoCo's model of the robot."""

    def __init__(self, robot: Robot):
        self.model = robot.mujoco

    def single(self, quantity: str, s: States) -> Calls:
        model, data = self.model, mujoco.MjData(self.model)
        data.qpos[:], data.qvel[:] = s.q[0], s.qd[0]
        if quantity == "inverse_dynamics":
            data.qacc[:] = s.x[0]
            run = lambda: mujoco.mj_inverse(model, data)
            return {"mujoco.mj_inverse": Call(run, lambda _: data.qfrc_inverse)}
        if quantity == "forward_dynamics":
            data.qfrc_applied[:] = s.x[0]
            run = lambda: mujoco.mj_forward(model, data)
            return {"mujoco.mj_forward": Call(run, lambda _: data.qacc)}
        return {}

    def batch(self, quantity: str, s: States) -> Calls:
        return {}
