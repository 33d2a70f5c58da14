"""Sections 3 and the appendix of tanner2001 copied term by term, with the printed slips on request.

`printed` holds the names of errata (docs/papers/tanner2001.md) that are to be used as printed. The paper's letters are
kept; every link's axes are principal ones with z on its joint. Used to show that each printed form fails where the
corrected one holds; dynarm's own code is written otherwise.
"""

from __future__ import annotations

import numpy as np


def cross(a, b):
    return np.array(
        [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    )


def L(r):
    """L_r A = A x r, column by column."""
    return -np.array([[0, -r[2], r[1]], [r[2], 0, -r[0]], [-r[1], r[0], 0]])


class Appendix:
    """The paper's formulas for a robot whose links have diagonal inertia and rotational joints."""

    def __init__(self, robot, lead: int, printed: frozenset[str] = frozenset()):
        self.robot, self.lead, self.printed = robot, lead, printed
        self.frame = np.array(robot.base.mount).reshape(4, 4) @ robot.arm.frame0
        self.r0 = np.array(robot.base.com)
        self.r01 = self.frame[:3, 3] - self.r0
        self.vehicle = self._principal(robot.platform.inertia)
        self.base = self._principal(robot.base.inertia)

    @staticmethod
    def _principal(inertia):
        """Principal moments and the matrix R with v_cpi = R v_v."""
        moments, axes = np.linalg.eigh(np.array(inertia))
        return moments, axes.T

    def _as(self, erratum: str, printed, corrected):
        return printed if erratum in self.printed else corrected

    def _rotations(self, q):
        """Rotation from frame i-1 to i (from {v} to 1), its derivative in q_i, displacement of joint i in frame i-1."""
        found = []
        for i, (joint, angle) in enumerate(zip(self.robot.arm.joints, q, strict=True)):
            T = self.frame if i == 0 else joint.displacement(0.0)
            c, s = np.cos(angle), np.sin(angle)
            turn = np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]])
            bend = np.array([[-s, c, 0], [-c, -s, 0], [0, 0, 0]])
            found.append((turn @ T[:3, :3].T, bend @ T[:3, :3].T, T[:3, 3]))
        return found

    def wheel_terms(self, wheels, theta, u, u4):
        """Z of the platform and of each wheel; wheels: (x, y, radius, mass, phi_j, phi_j', phi_j'')."""
        lx, ly, _, _, phi_o, d_o, _ = wheels[self.lead]
        Zo = ly * np.sin(phi_o) + lx * np.cos(phi_o)
        Z8o = ly * np.cos(phi_o) - lx * np.sin(phi_o)
        Z1 = np.sin(phi_o + theta)
        Z2 = self._as("Z2", 1, -1) * np.cos(phi_o + theta)
        Z3 = Z1 * u[0] + Z2 * u[1]
        Zk1 = (Z1 * u[1] - Z2 * u[0]) * self._as("Zk1", (d_o + Z3) * u4, d_o * u4 + Z3)
        rows = []
        for x, y, radius, mass, phi, d, dd in wheels:
            c, s = np.cos(phi + theta), np.sin(phi + theta)
            Z1j = y * np.cos(phi) - x * np.sin(phi)
            Z7j = y * np.sin(phi) + x * np.cos(phi)
            Z3j, Z4j = Zo * c - Z1j * Z1, Zo * s - Z1j * Z2
            along = Z8o * (u[0] * c + u[1] * s) * d_o
            Zk2 = self._as(
                "Zk2",
                (along - Z7j * d * Z3) * u4 - Z1j * Zk1,
                (along + Z7j * d * Z3) * u4
                - Z1j * Zk1
                + Zo * (u[1] * c - u[0] * s) * (d * u4 + Z3),
            )
            Zk2 = Zk2 + self._as("Zk2tail", dd * u4**2, 0)
            Zk3 = Zk1 + self._as("Zk2tail", 0, dd * u4**2)
            rows.append((Z3j, Z4j, d, Zk2, Zk3, mass, radius))
        return Zo, Z8o, Z1, Z2, Z3, Zk1, d_o, rows

    def forces(self, q, u, ud, wheels):
        """Left sides of (6a)-(6d) without inputs, and the wrench of (6e)-(6g), for accelerations ud."""
        m = self.robot.arm.n
        theta, u4, ud4 = q[2], u[2], ud[2]
        Zo, Z8o, Z1, Z2, Z3, Zk1, d_o, rows = self.wheel_terms(wheels, theta, u, u4)
        R = np.zeros(3 + m)
        for Z3j, Z4j, Z2j, Zk2, Zk3, mass, radius in rows:
            ay = Z3j * ud[0] + Z4j * ud[1] + Zk2
            az = Z1 * ud[0] + self._as("az", Z2j, Z2) * ud[1] + Z2j * ud4 + Zk3
            disk = mass * radius**2 / 4
            R[0] -= ay * Z3j * mass / 2 + az * Z1 * disk + mass * ay * Z3j
            R[1] -= ay * Z4j * mass / 2 + az * Z2 * disk + mass * ay * Z4j
            R[2] -= az * Z2j * disk
        az = Z1 * ud[0] + Z2 * ud[1] + Zk1
        self._platform(R, az, Zo, Z8o, Z1, Z2, Z3, d_o, u, u4, ud)
        base = self._base(R, az, theta, Zo, Z8o, Z1, Z2, Z3, Zk1, d_o, u, u4, ud)
        wrench = self._links(R, q, u, ud, Zo, Z8o, Z1, Z2, Z3, Zk1, d_o, *base)
        return R, wrench

    def _platform(self, R, az, Zo, Z8o, Z1, Z2, Z3, d_o, u, u4, ud):
        (Ix, Iy, Iz), cpi = self.vehicle
        px, py, pz = cpi[:, 2]
        Tx = az * px * Ix - Z3**2 * self._as("Txv_g", pz, py) * pz * (Iy - Iz)
        Ty = az * py * Iy - Z3**2 * pz * px * (Iz - Ix)
        Tz = az * pz * self._as("Tzv_I", Iy, Iz) - Z3**2 * px * py * self._as(
            "Tzv_g", Iz - Ix, Ix - Iy
        )
        moment = Tx * px + Ty * py + Tz * pz
        spurious = self._as("Zx12", Z3 * Zo, 0.0)
        Ze1 = Z8o * d_o * u4 * u[0] - spurious * u[1]
        Ze2 = Z8o * d_o * u4 * u[1] + spurious * u[0]
        mass = self.robot.platform.mass
        R[0] -= moment * Z1 + mass * (Zo * ud[0] + Ze1) * Zo
        R[1] -= moment * Z2 + mass * (Zo * ud[1] + Ze2) * Zo

    def _base(self, R, az, theta, Zo, Z8o, Z1, Z2, Z3, Zk1, d_o, u, u4, ud):
        (Ix, Iy, Iz), cpi = self.base
        px, py, pz = cpi[:, 2]
        Tx = az * px * Ix - Z3**2 * py * pz * (Iy - Iz)
        Ty = az * py * Iy - Z3**2 * pz * px * (Iz - Ix)
        Tz = az * pz * Iz - Z3**2 * px * py * self._as("Tz0_g", Iz - Iy, Ix - Iy)
        T = np.array([Tx, Ty, Tz])
        c, s = np.cos(theta), np.sin(theta)
        x, y, _ = self.r0
        Zl3, Zl4 = Zo * c - y * Z1, Zo * s - y * Z2
        Zl5, Zl6 = x * Z1 - Zo * s, x * Z2 + Zo * c
        Zl7, Zl8 = Zl3 * u[0] + Zl4 * u[1], Zl5 * u[0] + Zl6 * u[1]
        Y1, Y2 = c * u[0] + s * u[1], c * u[1] - s * u[0]
        Ze3 = Z8o * Y1 * d_o * u4 - y * Zk1 + Z3 * (Zo * Y2 - Zl8)
        Ze4 = Z8o * Y2 * d_o * u4 + x * Zk1 - Z3 * (Zo * Y1 - Zl7)
        Fx = Zl3 * ud[0] + Zl4 * ud[1] + Ze3
        Fy = Zl5 * ud[0] + Zl6 * ud[1] + Ze4
        mass = self.robot.base.mass
        R[0] -= (T @ cpi[:, 2]) * Z1 + mass * (Fx * Zl3 + Fy * Zl5)
        R[1] -= (Tx * px + Ty * self._as("T20", pz, py) + Tz * pz) * Z2 + mass * (
            Fx * Zl4 + Fy * Zl6
        )
        torque = -cpi.T @ T
        force = -mass * np.array([self._as("Fm8", Fy, Fx), Fy, self.robot.gravity])
        return (Zl3, Zl4, Zl5, Zl6, Y1, Y2), force, torque

    def _first(self, dR, R1, X, u, Zo, Z8o, Z1, Z2, Z3, Zk1, d_o, Y1, Y2, r):
        """Link 1: A (Z4..Z9), B (Z_{l+9}..), Gamma (Z_{k+4}..), Y (Y3..Y5)."""
        X1, X2, X3, X4 = X
        pxx, pxy, pxz = R1[0]
        pyx, pyy, pyz = R1[1]
        pzx, pzy, pzz = R1[2]
        Z4, Z5, Z6, Z7, Z8, Z9 = pxz * Z1, pxz * Z2, pyz * Z1, pyz * Z2, pzz * Z1, pzz * Z2
        rx, ry, rz = r
        first = self._as("Zl1213", rz, rx)
        B = np.array(
            [
                [
                    pxx * X1 + pxy * X2 + rz * Z6 - ry * Z8,
                    pxx * X3 + pxy * X4 + rz * Z7 - ry * Z9,
                    self._as("Zl11", rz, -ry),
                ],
                [
                    pyx * X1 + pyy * X2 + first * Z8 - rz * Z4,
                    pyx * X3 + pyy * X4 + first * Z9 - rz * Z5,
                    self._as("Zl14", rz, rx),
                ],
                [
                    pzx * X1 + pzy * X2 + ry * Z4 - rx * Z6,
                    pzx * X3 + pzy * X4 + ry * Z5 - self._as("Zl16", rz, rx) * Z7,
                    0.0,
                ],
            ]
        )
        A = np.array([[Z4, Z5], [Z6, Z7], [Z8, Z9]])
        u4, u5 = u[2], u[3]
        G = dR[:, 2] * Z3 * u5 + R1[:, 2] * Zk1
        fx, fy = Z8o * d_o * u4 * Y1 + Zo * Z3 * Y2, Z8o * d_o * u4 * Y2 - Zo * Z3 * Y1
        x, y = (self.r0 + self.r01)[:2]
        Y = np.empty(3)
        for k in range(3):
            turned = (
                (dR[k, 0] * X1 + dR[k, 1] * X2) * u[0] + (dR[k, 0] * X3 + dR[k, 1] * X4) * u[1]
            ) * u5
            shift, ahead = R1[k, 0], fx
            if k == 1:
                shift = self._as("Y4b", R1[1, 1], R1[1, 0])
                ahead = Z8o * d_o * u4 * Y1 + Zo * Z3 * self._as("Y4a", Z2, Y2)
            if k == 2:
                shift = self._as("Y5", R1[2, 2], R1[2, 0])
            Y[k] = turned + R1[k, 0] * ahead + R1[k, 1] * fy + (x * R1[k, 1] - y * shift) * Zk1
        Y[0] += rz * G[1] - ry * G[2]
        Y[1] += self._as("Y4c", rz * G[2] - ry * G[0], rx * G[2] - rz * G[0])
        Y[2] += ry * G[0] - rx * G[1]
        return A, B, G, Y

    def _links(self, R, q, u, ud, Zo, Z8o, Z1, Z2, Z3, Zk1, d_o, carried, force, torque):
        Zl3, Zl4, Zl5, Zl6, Y1, Y2 = carried
        x, y, z = self.r01
        X = (Zl3 - y * Z1, Zl5 + x * Z1, Zl4 - y * Z2, Zl6 + x * Z2)
        steps = self._rotations(q[4:])
        joints = self.robot.arm.joints
        g = np.array([0.0, 0.0, -self.robot.gravity])
        rotation, e = np.eye(3), np.array([0.0, 0.0, 1.0])
        speeds = np.concatenate([u[:2], u[3:]])
        rates = np.concatenate([ud[:2], ud[3:]])
        A = B = G = Y = M = N = before_G = before_Y = None
        places = [0, 1]
        for i, (turn, bend, s) in enumerate(steps):
            joint = joints[i]
            c = np.array(joint.com)
            places.append(3 + i)
            k = i + 3
            if i == 0:
                A, B, G, Y = self._first(bend, turn, X, u, Zo, Z8o, Z1, Z2, Z3, Zk1, d_o, Y1, Y2, c)
                M = turn
                first = np.column_stack(
                    [np.array([0, -z, y]), self._as("Zn2a", [z, 0, x], [z, 0, -x]), [-y, x, 0]]
                )
                if "Zn2b" in self.printed:
                    first[:, 2] = [-y, z, 0]
                N = turn @ first + L(c) @ M
            else:
                r = s - np.array(joints[i - 1].com)
                whole = np.column_stack([A, e])
                Xi = L(r) @ whole + B
                Ap = whole @ speeds[: k - 1]
                Anew = turn @ whole
                Apnew = np.column_stack([Anew, e]) @ speeds[:k]
                G = self._as("Gam", bend @ Apnew, speeds[k - 1] * bend @ Ap) + turn @ before_G
                Y = (
                    bend @ (Xi @ speeds[: k - 1]) * speeds[k - 1]
                    + turn @ (L(r) @ before_G + before_Y)
                    + L(c) @ G
                )
                B = np.column_stack(
                    [turn @ Xi + L(c) @ Anew, self._as("Bi", np.zeros(3), L(c) @ e)]
                )
                N = turn @ (N + L(r) @ M) + L(c) @ (turn @ M)
                M, A = turn @ M, Anew
            before_G, before_Y = G, Y
            rotation = turn @ rotation
            whole = np.column_stack([A, e])
            w, v = whole @ speeds[:k], B @ speeds[:k]
            D = Y + cross(w, v)
            if i == 0 and "Zx7" in self.printed:
                D = D.copy()
                D[2] = Y[2] + v[1] * w[1] - v[0] * w[1]
            I = np.diag(np.array(joint.inertia))
            alpha = whole @ rates[:k] + G
            T = I * alpha + cross(w, I * w)
            F = joint.mass * (B @ rates[:k] + D - rotation @ g)
            R[places] -= whole.T @ T + B.T @ F
            torque = torque - M.T @ T - N.T @ F
            force = force - rotation.T @ F
        return np.concatenate([force, torque])

    def equations(self, q, u, wheels):
        """M and F of (7)."""
        n = len(u)
        F = -self.forces(q, u, np.zeros(n), wheels)[0]
        columns = [-self.forces(q, u, row, wheels)[0] - F for row in np.eye(n)]
        return np.array(columns).T, F
