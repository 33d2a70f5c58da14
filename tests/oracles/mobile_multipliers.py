"""A mobile manipulator by Lagrange's equations with multipliers on redundant coordinates.

Nothing here is taken from Kane's construction: the platform is a free body in space (six coordinates), every wheel has
its own steering and spinning angle, the base hangs on the platform by six coordinates of its own, and the kinetic
energy is a sum of tr(T' J T'^T)/2 over 4x4 pseudo-inertias. Rolling, contact, the steering mechanism and the bolts
between base and platform are constraint rows, and the multipliers are the forces they exert. Derivatives are CasADi's.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np


def _rotation(axis: str, angle) -> ca.SX:
    c, s = ca.cos(angle), ca.sin(angle)
    i, j = {"x": (1, 2), "y": (2, 0), "z": (0, 1)}[axis]
    T = ca.SX.eye(4)
    T[i, i] = T[j, j] = c
    T[i, j], T[j, i] = -s, s
    return T


def _translation(*r) -> ca.SX:
    T = ca.SX.eye(4)
    for k in range(3):
        T[k, 3] = r[k]
    return T


def _pseudo_inertia(mass: float, com, inertia) -> np.ndarray:
    """4x4 second moments about the frame's origin, from the inertia about the mass centre."""
    c, inertia = np.asarray(com, float), np.asarray(inertia, float)
    J = np.zeros((4, 4))
    J[:3, :3] = np.trace(inertia) / 2 * np.eye(3) - inertia + mass * np.outer(c, c)
    J[:3, 3] = J[3, :3] = mass * c
    J[3, 3] = mass
    return J


def _vee(W: ca.SX) -> ca.SX:
    return ca.vertcat(W[2, 1], W[0, 2], W[1, 0])


def steering_angle(wheel, steering, phi):
    """phi_j(phi): from the meeting point of the axles for 'ackermann', by an arctangent."""
    if wheel.kind == "steered":
        return wheel.ratio * phi + wheel.angle
    if wheel.kind == "ackermann":
        curvature = ca.tan(phi) / ((steering.x - steering.axle) + steering.y * ca.tan(phi))
        return ca.atan2(curvature * (wheel.x - steering.axle), 1 - curvature * wheel.y)
    return ca.SX(wheel.angle)


@dataclass
class Answer:
    """What the multiplier model says about one state."""

    M: np.ndarray
    F: np.ndarray
    B: np.ndarray
    zd: np.ndarray
    wrench: np.ndarray
    forces: np.ndarray
    slip: float  # largest sliding speed at a wheel


class MultiplierModel:
    """The redundant model of a robot with platform, wheels, base, arm and gravity."""

    def __init__(self, robot):
        self.robot = robot
        w, m = len(robot.wheels), robot.arm.n
        self.w, self.m = w, m
        names = {"pose": 6, "phi": 1, "steer": w, "spin": w, "bolt": 6, "arm": m}
        self.place, start = {}, 0
        for name, size in names.items():
            self.place[name] = slice(start, start + size)
            start += size
        self.size = start
        q, v = ca.SX.sym("q", start), ca.SX.sym("v", start)
        self.q, self.v = q, v
        self._bodies()
        self._build()

    def _part(self, x, name):
        return x[self.place[name]]

    def _bodies(self) -> None:
        """Frames and pseudo-inertias of all bodies; frames of wheels and tool for the constraints."""
        robot, q = self.robot, self.q
        pose, bolt = self._part(q, "pose"), self._part(q, "bolt")
        vehicle = (
            _translation(pose[0], pose[1], pose[2])
            @ _rotation("z", pose[5])
            @ _rotation("y", pose[4])
            @ _rotation("x", pose[3])
        )
        bodies = [
            (vehicle, _pseudo_inertia(robot.platform.mass, np.zeros(3), robot.platform.inertia))
        ]
        self.vehicle, self.centres, self.wheel_frames = vehicle, [], []
        for j, wheel in enumerate(robot.wheels):
            centre = vehicle @ _translation(wheel.x, wheel.y, wheel.radius - robot.platform.height)
            self.centres.append(centre)
            if wheel.kind == "caster":
                bodies.append((centre, _pseudo_inertia(wheel.mass, np.zeros(3), np.zeros((3, 3)))))
                self.wheel_frames.append(centre)
                continue
            frame = (
                centre
                @ _rotation("z", self._part(q, "steer")[j])
                @ _rotation("y", self._part(q, "spin")[j])
            )
            bodies.append(
                (
                    frame,
                    _pseudo_inertia(
                        wheel.mass, np.zeros(3), np.diag([wheel.turn, wheel.spin, wheel.turn])
                    ),
                )
            )
            self.wheel_frames.append(frame)
        com = np.array(robot.base.com)
        base = (
            vehicle
            @ _translation(*(com[k] + bolt[k] for k in range(3)))
            @ _rotation("z", bolt[5])
            @ _rotation("y", bolt[4])
            @ _rotation("x", bolt[3])
        )
        bodies.append((base, _pseudo_inertia(robot.base.mass, np.zeros(3), robot.base.inertia)))
        mount = np.array(robot.base.mount).reshape(4, 4)
        mount[:3, 3] -= com
        frame = base @ mount @ np.array(robot.arm.base).reshape(4, 4)
        for i, joint in enumerate(robot.arm.joints):
            x = self._part(q, "arm")[i]
            theta, d = (
                (joint.theta + x, joint.d)
                if joint.kind == "revolute"
                else (joint.theta, joint.d + x)
            )
            frame = (
                frame
                @ _translation(joint.a, 0, 0)
                @ _rotation("x", joint.alpha)
                @ _rotation("y", joint.beta)
                @ _translation(0, 0, d)
                @ _rotation("z", theta)
            )
            bodies.append((frame, _pseudo_inertia(joint.mass, joint.com, joint.inertia)))
        self.last, self.bodies = frame, bodies

    def _jacobians(self, T: ca.SX, point) -> tuple[ca.SX, ca.SX]:
        """World velocity of a point of a frame and its angular velocity, per unit of each coordinate's rate."""
        position = (T @ ca.vertcat(*point, 1))[:3]
        R = T[:3, :3]
        turns = [_vee(ca.reshape(ca.jacobian(R, self.q[k]), 3, 3) @ R.T) for k in range(self.size)]
        return ca.jacobian(position, self.q), ca.horzcat(*turns)

    def _build(self) -> None:
        robot, q, v = self.robot, self.q, self.v
        kinetic, potential = 0, 0
        for T, J in self.bodies:
            rate = ca.reshape(ca.jtimes(ca.vec(T), q, v), 4, 4)
            kinetic += ca.trace(rate @ J @ rate.T) / 2
            potential += robot.gravity * (T @ J[:, 3])[2]
        momentum = ca.gradient(kinetic, v)
        M = ca.jacobian(momentum, v)
        h = ca.jtimes(momentum, q, v) - ca.gradient(kinetic, q) + ca.gradient(potential, q)
        J = self._constraints()
        tool = np.array(robot.arm.tool).reshape(4, 4)
        linear, angular = self._jacobians(self.last, tool[:3, 3])
        R = self.last[:3, :3] @ tool[:3, :3]
        push = ca.vertcat(R.T @ linear, R.T @ angular).T  # load in the tool's axes
        forward = ca.horzcat(ca.cos(q[5]), ca.sin(q[5]), ca.SX.zeros(1, self.size - 2))
        drift = ca.jtimes(J @ v, q, v)
        self.function = ca.Function(
            "model",
            [q, v],
            [M, h, J, drift, push, forward, ca.jtimes(forward @ v, q, v), kinetic, potential],
        )

    def _constraints(self) -> ca.SX:
        """Rows: per wheel rolling, axle, vertical; the steering mechanism; the bolts."""
        robot, q = self.robot, self.q
        rows, self.count = [], []
        for j, wheel in enumerate(robot.wheels):
            if wheel.kind == "caster":
                linear, _ = self._jacobians(self.centres[j], (0, 0, 0))
                rows.append(linear[2, :])
                self.count.append(1)
                continue
            linear, angular = self._jacobians(self.wheel_frames[j], (0, 0, 0))
            down = ca.vertcat(0, 0, -wheel.radius)
            contact = linear + ca.horzcat(
                *(ca.cross(angular[:, k], down) for k in range(self.size))
            )
            heading = q[5] + self._part(q, "steer")[j]
            if wheel.kind in ("omni", "mecanum"):  # no sliding along the roller's axis
                along = heading + wheel.roller
                rows.append(ca.horzcat(ca.cos(along), ca.sin(along), 0) @ contact)
                rows.append(contact[2, :])
                self.count.append(2)
                continue
            rows.append(ca.horzcat(ca.cos(heading), ca.sin(heading), 0) @ contact)
            rows.append(ca.horzcat(-ca.sin(heading), ca.cos(heading), 0) @ contact)
            rows.append(contact[2, :])
            self.count.append(3)
        phi, steer = self._part(q, "phi")[0], self._part(q, "steer")
        self.angles = []
        for j, wheel in enumerate(robot.wheels):
            angle = steering_angle(wheel, robot.platform.steering, phi)
            self.angles.append(angle)
            rows.append(ca.jacobian(steer[j] - angle, q))
            if wheel.kind == "caster":
                spin = ca.SX.zeros(1, self.size)
                spin[self.place["spin"].start + j] = 1
                rows.append(spin)
        if not any(w.kind in ("steered", "ackermann") for w in robot.wheels):
            rows.append(ca.jacobian(phi, q))
        bolts = ca.SX.zeros(6, self.size)
        start = self.place["bolt"].start
        for k in range(6):
            bolts[k, start + k] = 1
        rows.append(bolts)
        self.at_angles = ca.Function("angles", [phi], [ca.vertcat(*self.angles)])
        return ca.vertcat(*rows)

    def _state(self, q) -> np.ndarray:
        """The redundant coordinates of a robot's q, wheels on the ground."""
        steered = len(q) == 4 + self.m
        full = np.zeros(self.size)
        full[:2], full[2], full[5] = q[:2], self.robot.platform.height, q[2]
        full[self.place["phi"]] = q[3] if steered else 0.0
        full[self.place["steer"]] = np.array(self.at_angles(q[3] if steered else 0.0)).ravel()
        full[self.place["spin"]] = 0.3
        full[self.place["arm"]] = q[len(q) - self.m :]
        return full

    def _selector(self, forward: np.ndarray, names) -> np.ndarray:
        """Rows that read z off the redundant rates."""
        rows = []
        sideways = np.zeros(self.size)
        sideways[:2] = -forward[1], forward[0]
        for name in names:
            row = np.zeros(self.size)
            if name == "v":
                row = forward
            elif name == "vy":
                row = sideways
            elif name == "thetad":
                row[5] = 1
            elif name == "phid":
                row[self.place["phi"].start] = 1
            rows.append(row)
        for i in range(self.m):
            row = np.zeros(self.size)
            row[self.place["arm"].start + i] = 1
            rows.append(row)
        return np.array(rows)

    def answer(self, q, z, tau, load=None, names=("v", "phid")) -> Answer:
        """M, F, B in the independent speeds, accelerations, wrench, ground forces; `names`: the platform's speeds."""
        q, z, tau = (np.asarray(x, float) for x in (q, z, tau))
        full = self._state(q)
        at_rest = [np.array(x) for x in self.function(full, np.zeros(self.size))]
        J, forward = at_rest[2], at_rest[5].ravel()
        basis = np.vstack([J, self._selector(forward, names)])
        n = len(z)
        T = np.linalg.lstsq(basis, np.vstack([np.zeros((len(J), n)), np.eye(n)]), rcond=1e-12)[0]
        rates = T @ z
        M, h, J, drift, push, _, forward_drift, _, _ = (
            np.array(x) for x in self.function(full, rates)
        )
        h, drift = h.ravel(), drift.ravel()
        bends = np.zeros(n)
        bends[0] = -float(forward_drift.item())
        if "vy" in names:  # of the component across, which turns with the platform
            bends[names.index("vy")] = rates[5] * float(forward @ rates)
        moving = np.linalg.lstsq(basis, np.concatenate([-drift, bends]), rcond=1e-12)[0]
        Q = self._inputs()
        force = Q @ tau + push @ (np.zeros(6) if load is None else np.asarray(load, float)) - h
        k = len(J)
        system = np.block([[M, -J.T], [J, np.zeros((k, k))]])
        solved = np.linalg.lstsq(system, np.concatenate([force, -drift]), rcond=1e-13)[0]
        acceleration = solved[: self.size]
        # what the constraints leave open is split with the smallest norm, apart from the badly scaled system above
        multipliers = np.linalg.lstsq(J.T, M @ acceleration - force, rcond=1e-11)[0]
        forces = np.zeros((self.w, 3))
        start = 0
        for j, count in enumerate(self.count):
            if count == 2:
                push, up = multipliers[start : start + 2]
                roller = self.robot.wheels[j].roller
                forces[j] = push * np.cos(roller), push * np.sin(roller), up
            else:
                forces[j, 3 - count :] = multipliers[start : start + count]
            start += count
        selected = basis[k:] @ acceleration
        selected[0] += float(forward_drift.item())
        if "vy" in names:
            selected[names.index("vy")] -= rates[5] * float(forward @ rates)
        return Answer(
            T.T @ M @ T,
            T.T @ (M @ moving + h),
            T.T @ Q,
            selected,
            -multipliers[-6:],
            forces,
            float(np.abs(J[: sum(self.count)] @ rates).max()),
        )

    def _inputs(self) -> np.ndarray:
        Q = np.zeros((self.size, 2 * self.w + self.m))
        for j in range(self.w):
            if self.robot.wheels[j].kind != "caster":
                Q[self.place["spin"].start + j, j] = 1
                Q[self.place["steer"].start + j, self.w + j] = 1
        for i in range(self.m):
            Q[self.place["arm"].start + i, 2 * self.w + i] = 1
        return Q

    def energies(self, q, z, names=("v", "phid")) -> tuple[float, float]:
        """Kinetic and potential energy."""
        full = self._state(np.asarray(q, float))
        at_rest = [np.array(x) for x in self.function(full, np.zeros(self.size))]
        basis = np.vstack([at_rest[2], self._selector(at_rest[5].ravel(), names)])
        goal = np.concatenate([np.zeros(len(at_rest[2])), np.asarray(z, float)])
        rates = np.linalg.lstsq(basis, goal, rcond=1e-12)[0]
        out = self.function(full, rates)
        return float(out[7]), float(out[8])
