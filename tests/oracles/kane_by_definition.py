"""Kane's equations (7) of tanner2001 straight from their definition, derivatives by CasADi.

Every body's velocity is written as a function of the coordinates and the speeds u; accelerations are its derivative in
time, partial velocities its derivative in u. No recursion and no auxiliary function of the paper is used. As in the
paper, a wheel's velocity is its speed of rolling alone, and wheel o alone is kept from skidding; `sideways` gives the
wheels the inertia across their planes that this leaves out.
"""

from __future__ import annotations

import casadi as ca
import numpy as np

from .mobile_multipliers import _rotation, _translation, _vee, steering_angle


class KaneByDefinition:
    """M and F of (7) for a robot with platform, wheels, base, arm and gravity; `lead` is wheel o."""

    def __init__(self, robot, lead: int, sideways: bool = False):
        self.robot, self.sideways = robot, sideways
        m = robot.arm.n
        q, u, ud = ca.SX.sym("q", 4 + m), ca.SX.sym("u", 3 + m), ca.SX.sym("ud", 3 + m)
        self.q, self.u, self.ud = q, u, ud
        phi = q[3]
        angles = [steering_angle(w, robot.platform.steering, phi) for w in robot.wheels]
        o, wheel = angles[lead], robot.wheels[lead]
        Zo = wheel.y * ca.sin(o) + wheel.x * ca.cos(o)
        yaw = u[0] * ca.sin(o + q[2]) - u[1] * ca.cos(o + q[2])  # (4)
        self.qd = ca.vertcat(Zo * u[0], Zo * u[1], yaw, u[2:])
        force = self._bodies()
        for wheel, angle in zip(robot.wheels, angles, strict=True):
            force += self._wheel(wheel, angle)
        gravity = -ca.gradient(self._potential, q)
        force -= ca.jacobian(self.qd, u).T @ gravity
        self.function = ca.Function("kane", [q, u, ud], [force])

    def _rate(self, x: ca.SX) -> ca.SX:
        return ca.jtimes(x, self.q, self.qd) + ca.jtimes(x, self.u, self.ud)

    def _bodies(self) -> ca.SX:
        robot, q = self.robot, self.q
        vehicle = _translation(q[0], q[1], robot.platform.height) @ _rotation("z", q[2])
        base = vehicle @ _translation(*robot.base.com)
        bodies = [
            (vehicle, robot.platform.mass, np.zeros(3), robot.platform.inertia),
            (base, robot.base.mass, np.zeros(3), robot.base.inertia),
        ]
        frame = (
            vehicle
            @ np.array(robot.base.mount).reshape(4, 4)
            @ np.array(robot.arm.base).reshape(4, 4)
        )
        for i, joint in enumerate(robot.arm.joints):
            x = q[4 + i]
            theta, d = (
                (joint.theta + x, joint.d)
                if joint.kind == "revolute"
                else (joint.theta, joint.d + x)
            )
            frame = (
                frame
                @ _translation(joint.a, 0, 0)
                @ _rotation("x", joint.alpha)
                @ _translation(0, 0, d)
            )
            frame = frame @ _rotation("z", theta)
            bodies.append((frame, joint.mass, joint.com, joint.inertia))
        force, self._potential = 0, 0
        for T, mass, com, inertia in bodies:
            centre = (T @ ca.vertcat(*com, 1))[:3]
            R = T[:3, :3]
            v = ca.jtimes(centre, q, self.qd)
            w = _vee(ca.reshape(ca.jtimes(ca.vec(R), q, self.qd), 3, 3) @ R.T)
            momentum = R @ np.array(inertia) @ R.T @ w
            force += ca.jacobian(v, self.u).T @ (mass * self._rate(v))
            force += ca.jacobian(w, self.u).T @ self._rate(momentum)
            self._potential += mass * robot.gravity * centre[2]
        return force

    def _wheel(self, wheel, angle) -> ca.SX:
        q, qd = self.q, self.qd
        heading = q[2] + angle
        x = q[0] + wheel.x * ca.cos(q[2]) - wheel.y * ca.sin(q[2])
        y = q[1] + wheel.x * ca.sin(q[2]) + wheel.y * ca.cos(q[2])
        v = ca.jtimes(ca.vertcat(x, y), q, qd)
        speed = ca.cos(heading) * v[0] + ca.sin(heading) * v[1]
        turning = qd[2] + ca.jtimes(ca.SX(angle), q, qd)
        turned = ca.jacobian(turning, self.u).T @ (wheel.turn * self._rate(turning))
        if self.sideways:
            spin = wheel.spin / wheel.radius**2
            whole = ca.jacobian(v, self.u).T @ (wheel.mass * self._rate(v))
            return turned + whole + ca.jacobian(speed, self.u).T @ (spin * self._rate(speed))
        mass = wheel.mass + wheel.spin / wheel.radius**2
        return turned + ca.jacobian(speed, self.u).T @ (mass * self._rate(speed))

    def equations(self, q, u) -> tuple[np.ndarray, np.ndarray]:
        """M and F of (7)."""
        n = len(u)
        F = np.array(self.function(q, u, np.zeros(n))).ravel()
        columns = [np.array(self.function(q, u, row)).ravel() - F for row in np.eye(n)]
        return np.array(columns).T, F
