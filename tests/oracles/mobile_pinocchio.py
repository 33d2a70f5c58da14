"""A robot on wheels as pinocchio sees its URDF: a free body with joints, whose wheels turn as they roll.

The force that moves the free body as planned is what the ground gives; nothing here knows of Kane's equations.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pinocchio

from dynarm.robot.inertia import move_parameters


class FreeRobot:
    """The whole URDF on a free flyer; wheels: {joint: (place in the root link, radius)}."""

    def __init__(self, path: Path, wheels: dict[str, tuple[np.ndarray, float]]):
        self.model = pinocchio.buildModelFromUrdf(str(path), pinocchio.JointModelFreeFlyer())
        self.data = self.model.createData()
        self.wheels = wheels
        for name in wheels:
            self._round(self.model.getJointId(name))

    def _round(self, joint: int) -> None:
        """Make a wheel that turns about its z axis round; what it was besides stays where it is at angle zero."""
        model = self.model
        own = model.inertias[joint]
        whole = own.toDynamicParameters()
        xx, yy, zz = np.diag(own.inertia)
        even = pinocchio.Inertia(own.mass, np.zeros(3), np.diag([(xx + yy) / 2, (xx + yy) / 2, zz]))
        model.inertias[joint] = even
        T = model.jointPlacements[joint]
        rest = move_parameters(whole - even.toDynamicParameters(), T.rotation, T.translation)
        carrier = model.parents[joint]
        whole = model.inertias[carrier].toDynamicParameters() + rest
        model.inertias[carrier] = pinocchio.Inertia.FromDynamicParameters(whole)
        self.data = model.createData()

    def place(self, vector: np.ndarray, name: str, value: float, position: bool) -> None:
        joint = self.model.joints[self.model.getJointId(name)]
        if position and joint.nq == 2:  # a continuous joint's cosine and sine
            vector[joint.idx_q : joint.idx_q + 2] = np.cos(value), np.sin(value)
        else:
            vector[joint.idx_q if position else joint.idx_v] = value

    def planned(self, joints, twist, change, gravity=(0.0, 0.0, -9.81)):
        """Wrench on the root link (force, moment about its origin, its axes) and torques by joint.

        joints: {name: (position, speed, acceleration)}; twist, change: (vx, vy, thd) of the root link in its own axes
        and their derivatives.
        """
        model, data = self.model, self.data
        model.gravity.linear = np.array(gravity, float)
        q, v, a = pinocchio.neutral(model), np.zeros(model.nv), np.zeros(model.nv)
        vx, _, w = twist
        v[[0, 1, 5]] = twist
        a[[0, 1, 5]] = change  # derivatives of components: pinocchio's own convention
        for name, (position, speed, acceleration) in joints.items():
            self.place(q, name, position, True)
            self.place(v, name, speed, False)
            self.place(a, name, acceleration, False)
        for name, (at, radius) in self.wheels.items():
            self.place(v, name, (vx - w * at[1]) / radius, False)
            self.place(a, name, (change[0] - change[2] * at[1]) / radius, False)
        tau = pinocchio.rnea(model, data, q, v, a)
        names = {
            name: float(tau[model.joints[model.getJointId(name)].idx_v])
            for name in [*joints, *self.wheels]
        }
        return tau[:6].copy(), names
