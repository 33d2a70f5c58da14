"""Motions known in closed form, and the arms that make them."""

from __future__ import annotations

import math

import mpmath
import numpy as np
from scipy.optimize import brentq

import dynarm


def end_error(run, reference):
    """The largest difference in positions and velocities at the end."""
    return max(
        np.abs(run.q[-1] - reference.q[-1]).max(), np.abs(run.qd[-1] - reference.qd[-1]).max()
    )


# ---- a body on a horizontal rail


def rail(friction=None, mass=2.0, **more):
    """A prismatic joint along a horizontal axis: the motion of a point."""
    joint = dynarm.Joint(
        kind="prismatic", alpha=math.pi / 2, mass=mass, friction=friction, name="slider", **more
    )
    return dynarm.Arm([joint], gravity=(0, 0, -9.81), name="rail")


def stopping(mass, speed, coulomb, viscous=0.0):
    """Time and place at which a body with friction comes to rest: m v' = -c - b v."""
    if viscous == 0:
        return mass * speed / coulomb, mass * speed**2 / (2 * coulomb)
    ratio, rate = coulomb / viscous, viscous / mass
    time = math.log1p(speed / ratio) / rate
    return time, (speed - ratio * rate * time) / rate


class StickSlip:
    """A body at rest under F sin(w t) with Coulomb friction c < F, phase by phase: m v' = F sin(w t) -+ c."""

    def __init__(self, mass, force, rate, coulomb, until):
        self.m, self.F, self.w, self.c = mass, force, rate, coulomb
        self.phases = []  # (start, end, direction, place at the start)
        t, x = 0.0, 0.0
        while t < until:
            begin, way = self._breaks_loose(t)
            end = self._comes_to_rest(begin, way)
            self.phases.append((begin, end, way, x))
            x += self._moved(begin, end, way)
            t = end

    def _breaks_loose(self, t):
        """The first time from t on at which |F sin(w t)| exceeds c, and the direction."""
        angle = math.asin(self.c / self.F)
        for half in range(int(self.w * t / math.pi), int(self.w * t / math.pi) + 3):
            begin, end = (half * math.pi + angle) / self.w, ((half + 1) * math.pi - angle) / self.w
            if end > t:
                return max(begin, t), 1 if half % 2 == 0 else -1
        raise AssertionError

    def speed(self, begin, t, way):
        swing = self.F / (self.m * self.w) * (math.cos(self.w * begin) - math.cos(self.w * t))
        return swing - way * self.c / self.m * (t - begin)

    def _comes_to_rest(self, begin, way):
        low = begin + 1e-3 / self.w
        times = np.linspace(low, begin + 2 * math.pi / self.w, 400)
        signs = np.array([way * self.speed(begin, t, way) for t in times])
        k = int(np.argmax(signs < 0))
        assert k > 0
        return brentq(lambda t: self.speed(begin, t, way), times[k - 1], times[k], xtol=1e-15)

    def _moved(self, begin, t, way):
        a, s = self.F / (self.m * self.w), t - begin
        swing = a * math.cos(self.w * begin) * s
        swing -= a / self.w * (math.sin(self.w * t) - math.sin(self.w * begin))
        return swing - way * self.c / self.m * s**2 / 2

    def place(self, t):
        x = 0.0
        for begin, end, way, start in self.phases:
            if t < begin:
                break
            x = start + self._moved(begin, min(t, end), way)
        return x


# ---- pendulums


def pendulum(mass=1.5, length=0.7, inertia=0.05, armature=0.0, friction=None):
    """One revolute joint about a horizontal axis, hanging down at q = 0."""
    I = np.diag([0.0, inertia, inertia])
    joint = dynarm.Joint(
        alpha=math.pi / 2, theta=-math.pi / 2, mass=mass, com=(length, 0, 0), inertia=I,
        armature=armature, friction=friction, name="pivot",
    )  # fmt: skip
    return dynarm.Arm([joint], gravity=(0, 0, -9.81), name="pendulum")


def pendulum_rate(mass=1.5, length=0.7, inertia=0.05, armature=0.0):
    """Its frequency [rad/s] for small swings."""
    return math.sqrt(mass * 9.81 * length / (inertia + mass * length**2 + armature))


def pendulum_period(swing, rate):
    """The period for swings of any size: 4 K(sin(swing/2)) / rate."""
    with mpmath.workdps(30):
        k = mpmath.sin(mpmath.mpf(swing) / 2)
        return float(4 * mpmath.ellipk(k**2) / rate)


def pendulum_angle(t, swing, rate):
    """The angle at a time after release at rest: sin(q/2) = k cd(rate t, k)."""
    with mpmath.workdps(30):
        k = mpmath.sin(mpmath.mpf(swing) / 2)
        return float(2 * mpmath.asin(k * mpmath.ellipfun("cd", rate * mpmath.mpf(t), m=k**2)))


def pendulum_speed(q, swing, rate):
    """The size of its velocity at an angle, by energy."""
    return rate * math.sqrt(max(0.0, 2 * (math.cos(q) - math.cos(swing))))


def two_link_rates(t, y, tau=(0.0, 0.0)):
    """[qd, qdd] of the built-in two_link by the textbook's formulas: bars of 1.0 and 0.8 m, 4 and 3 kg."""
    m1, m2, l1, c1, c2 = 4.0, 3.0, 1.0, 0.5, 0.4
    I1, I2 = m1 * (1.0**2 + 0.1**2) / 12, m2 * (0.8**2 + 0.1**2) / 12
    q1, q2, v1, v2 = y
    a = I1 + I2 + m1 * c1**2 + m2 * (l1**2 + c2**2)
    b, d = m2 * l1 * c2, I2 + m2 * c2**2
    M = np.array([[a + 2 * b * math.cos(q2), d + b * math.cos(q2)], [d + b * math.cos(q2), d]])
    s = b * math.sin(q2)
    coriolis = np.array([-s * v2 * (2 * v1 + v2), s * v1**2])
    g1, g2 = (m1 * c1 + m2 * l1) * 9.81 * math.cos(q1), m2 * c2 * 9.81 * math.cos(q1 + q2)
    qdd = np.linalg.solve(M, np.asarray(tau) - coriolis - [g1 + g2, g2])
    return np.array([v1, v2, *qdd])
