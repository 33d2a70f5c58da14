"""Contributions of a wheeled platform to Kane's equations: partial velocities, wheels, bodies carried along.

[tanner2001]  H. G. Tanner, K. J. Kyriakopoulos, Mobile manipulator modeling with Kane's approach, Robotica 19 (2001)
              675-690, sections 3.1-3.3 and appendix.
Frames     {v} stands at the platform's mass centre, z up, x forward; theta is its yaw. {w_j} stands at wheel j's centre
           l_j = (x, y) in {v}, turned by phi_j(phi) about z; x rolls, y is the axle. u4 = phid. s, c are the sine and
           cosine of phi_j; Z_2j = phi_j', and phi_j'' is its derivative.
Differs    Any set of speeds may move the platform: `inertial_speeds` are the paper's u1, u2; `rolling_speeds` are the
           independent ones of (8), whose columns the wheels' axles give. Derivatives are those of components in {v},
           as in the appendix. Inertia tensors are whole, in the axes of {v}, in place of principal axes and
           direction cosines. A wheel with rollers may move across; its rim runs with V_j plus the tangent of the
           rollers' angle times the speed across, and the ground pushes along the roller's axis. Gravity enters as an
           upward acceleration. Errata: docs/papers/tanner2001.md.

    (1)   -s vx + c vy + Z_7j thd = 0,  Z_7j = l_y s + l_x c     no skidding
    (2)   V_j = c (vx - l_y thd) + s (vy + l_x thd)              speed of rolling; per speed Z_3j, Z_4j
    (4)   thd = Z_3 = Z_1 u1 + Z_2 u2,  Z_1 = sin(phi_o + theta),  Z_2 = -cos(phi_o + theta)
    (5)   wheel: V_j / r about y, Z_3 + Z_2j u4 about z
    (Zo)  Z_o = l_y sin phi_o + l_x cos phi_o,  Z_8o = l_y cos phi_o - l_x sin phi_o
    (K1)  Z_{k+1} = (Z_1 u2 - Z_2 u1)(phi_o' u4 + Z_3)           derivative of Z_3 without accelerations
    (K2)  Z_{(k+2)j}: derivative of V_j without accelerations
    (K3)  Z_{(k+3)j} = Z_{k+1} + phi_j'' u4^2
    (Y)   Y_1, Y_2, and the derivative of the components Z_o Y_1, Z_o Y_2 of the platform's velocity
    (E0)  Z_{e+1}, Z_{e+2}: acceleration of the origin of {v} without accelerations of the speeds, here in {v}
    (L)   Z_{l+3}..Z_{l+6}: partial velocities of a point of the platform
    (E)   Z_{e+3}, Z_{e+4}: its acceleration likewise
    (Tw)  T*, F* of a wheel: a = V_j' with mass 3/2 m (disk), Z_3' + Z_2j' with m r^2 / 4
    (Tv)  T*, F* of platform and base
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...algebra.vectors import Scalar, Sym3, Vec3, Z, add, cos, mul, sin, sub, total


@dataclass(frozen=True, slots=True, eq=False)
class Roller:
    """A wheel that rolls without skidding, at some steering angle."""

    x: Scalar
    y: Scalar
    radius: Scalar
    mass: Scalar
    spin: Scalar  # inertia about the axle, m r^2 / 2 for a disk
    turn: Scalar  # inertia about a diameter, m r^2 / 4 for a disk
    c: Scalar  # of phi_j
    s: Scalar
    d: Scalar = 0  # d phi_j / d phi
    dd: Scalar = 0  # second derivative
    # of a wheel with rollers: tangent of the angle from its rolling direction to the axis of the roller below
    slant: Scalar | None = None

    @property
    def skid(self) -> Vec3:
        """Sideways speed per (vx, vy, thd), the row of (1)."""
        return Vec3(-self.s, self.c, add(mul(self.y, self.s), mul(self.x, self.c)))  # (1)

    @property
    def roll(self) -> Vec3:
        """Speed of rolling per (vx, vy, thd); its last entry is -Z_1j."""
        row = Vec3(self.c, self.s, sub(mul(self.x, self.s), mul(self.y, self.c)))  # (2)
        return row if self.slant is None else row + self.skid * self.slant


@dataclass(frozen=True, slots=True, eq=False)
class Carried:
    """A rigid body fixed to the platform: mass, centre of mass in {v}, central inertia in the axes of {v}."""

    mass: Scalar
    at: Vec3
    inertia: Sym3


@dataclass(frozen=True, slots=True, eq=False)
class Carriage:
    """Motion of {v}: one partial velocity a speed, and derivatives without accelerations of the speeds."""

    linear: tuple[Vec3, ...]  # partial velocities of the origin, axes of {v}
    angular: tuple[Scalar, ...]  # partial angular velocities about z
    v: Vec3
    w: Scalar  # Z_3
    change: Vec3  # derivative of the components of v
    wd: Scalar  # Z_{k+1}
    acceleration: (
        Vec3  # of the origin, without accelerations of the speeds; gravity as an upward one
    )
    u4: Scalar  # steering speed, 0 where nothing is steered
    pull: Vec3  # gravity as an acceleration against it, axes of {v}

    def twists(self) -> list[Vec3]:
        """(vx, vy, thd) per unit of each speed."""
        return [Vec3(v.x, v.y, w) for v, w in zip(self.linear, self.angular, strict=True)]


def inertial_speeds(
    lead: Roller, theta: Scalar, u: Sequence[Scalar], u4: Scalar, up: Scalar
) -> Carriage:
    """The carriage in the paper's u1, u2 = xd/Z_o, yd/Z_o, which keep the lead wheel o alone from skidding."""
    ct, st = cos(theta), sin(theta)
    Z1 = add(mul(lead.s, ct), mul(lead.c, st))  # (4)
    Z2 = sub(mul(lead.s, st), mul(lead.c, ct))  # (4)
    Zo, Z8o = lead.skid.z, -lead.roll.z  # (Zo)
    w = add(mul(Z1, u[0]), mul(Z2, u[1]))  # (4)
    rate = mul(lead.d, u4)
    wd = mul(sub(mul(Z1, u[1]), mul(Z2, u[0])), add(rate, w))  # (K1)
    Y1, Y2 = add(mul(ct, u[0]), mul(st, u[1])), sub(mul(ct, u[1]), mul(st, u[0]))  # (Y)
    stretch, swing = mul(Z8o, rate), mul(Zo, w)
    change = Vec3(
        add(mul(stretch, Y1), mul(swing, Y2)), sub(mul(stretch, Y2), mul(swing, Y1)), 0
    )  # (Y)
    acceleration = Vec3(mul(stretch, Y1), mul(stretch, Y2), up)  # (E0)
    Zc, Zs = mul(Zo, ct), mul(Zo, st)
    linear = (Vec3(Zc, -Zs, 0), Vec3(Zs, Zc, 0))
    v = Vec3(mul(Zo, Y1), mul(Zo, Y2), 0)
    return Carriage(linear, (Z1, Z2), v, w, change, wd, acceleration, u4, Z * up)


def rolling_speeds(
    columns: Sequence[Vec3],
    slopes: Sequence[Vec3],
    speeds: Sequence[Scalar],
    u4: Scalar,
    pull: Vec3,
) -> Carriage:
    """The carriage in independent speeds: columns hold (vx, vy, thd) per speed, slopes their derivatives in phi."""
    twist, change = Vec3(0, 0, 0), Vec3(0, 0, 0)
    for column, slope, z in zip(columns, slopes, speeds, strict=True):
        twist, change = twist + column * z, change + slope * mul(z, u4)
    linear = tuple(Vec3(c.x, c.y, 0) for c in columns)
    v, vd = Vec3(twist.x, twist.y, 0), Vec3(change.x, change.y, 0)
    acceleration = vd + Z.cross(v) * twist.z + pull
    turns = tuple(c.z for c in columns)
    return Carriage(linear, turns, v, twist.z, vd, change.z, acceleration, u4, pull)


@dataclass(frozen=True, slots=True, eq=False)
class Rolling:
    """What a wheel does: partial speeds of rolling, V_j and its derivative, turning rate and its derivative."""

    V: tuple[Scalar, ...]
    speed: Scalar
    change: Scalar  # Z_{(k+2)j}
    turning: Scalar  # Z_3 + Z_2j u4
    bend: Scalar  # Z_{(k+3)j}


def rolling(carriage: Carriage, wheel: Roller, skids: bool = False) -> Rolling:
    """The motion of a wheel. skids: its sideways velocity need not vanish, as in (7) for all but wheel o."""
    row = wheel.roll
    V = tuple(row.dot(t) for t in carriage.twists())  # (2)
    v, w, change, wd = carriage.v, carriage.w, carriage.change, carriage.wd
    speed = total(mul(row.x, v.x), mul(row.y, v.y), mul(row.z, w))
    derivative = total(mul(row.x, change.x), mul(row.y, change.y), mul(row.z, wd))  # (K2)
    u4 = carriage.u4
    if skids:
        side = total(mul(wheel.skid.x, v.x), mul(wheel.skid.y, v.y), mul(wheel.skid.z, w))
        derivative = add(derivative, mul(side, mul(wheel.d, u4)))  # (K2)
    turning = add(w, mul(wheel.d, u4))  # (5)
    bend = add(wd, mul(wheel.dd, mul(u4, u4)))  # (K3)
    return Rolling(V, speed, derivative, turning, bend)


@dataclass(slots=True, eq=False)
class Sums:
    """Generalised inertia: rows of M and the bias F, added up body by body. Speeds: platform, steering, joints."""

    M: list[list[Scalar]]
    F: list[Scalar]

    @classmethod
    def zero(cls, n: int) -> Sums:
        return cls([[0] * n for _ in range(n)], [0] * n)

    def put(self, r: int, s: int, value: Scalar) -> None:
        """Add to M[r][s] and its mirror image."""
        self.M[r][s] = self.M[s][r] = add(self.M[r][s], value)

    def bias(self, r: int, value: Scalar) -> None:
        self.F[r] = add(self.F[r], value)


def add_wheels(
    sums: Sums,
    carriage: Carriage,
    wheels: Sequence[Roller],
    motions: Sequence[Rolling],
    steering: int | None,
) -> None:
    """T* + F* of the wheels (Tw): mass and spin along the rolling direction, diametral inertia about z."""
    n = len(carriage.angular)
    W = carriage.angular
    for wheel, motion in zip(wheels, motions, strict=True):
        mass = add(wheel.mass, wheel.spin / (wheel.radius * wheel.radius))  # (Tw)
        heavy = [mul(mass, V) for V in motion.V]
        slope = mul(wheel.mass, wheel.roll.dot(Vec3(carriage.pull.x, carriage.pull.y, 0)))
        for r in range(n):
            for s in range(r + 1):
                sums.put(r, s, mul(heavy[r], motion.V[s]))
            sums.bias(r, mul(heavy[r], motion.change))
            sums.bias(r, mul(motion.V[r], slope))  # on a slope
        if steering is not None:
            lever = mul(wheel.turn, wheel.d)
            sums.put(steering, steering, mul(lever, wheel.d))
            for r in range(n):
                sums.put(steering, r, mul(lever, W[r]))
            sums.bias(steering, mul(lever, motion.bend))
    turn = total(*(wheel.turn for wheel in wheels))
    bends = total(
        *(mul(wheel.turn, motion.bend) for wheel, motion in zip(wheels, motions, strict=True))
    )
    for r in range(n):
        for s in range(r + 1):
            sums.put(r, s, mul(turn, mul(W[r], W[s])))
        sums.bias(r, mul(W[r], bends))


def add_carried(sums: Sums, carriage: Carriage, bodies: Sequence[Carried]) -> None:
    """T* + F* of platform, base and casters (Tv): in the plane only their masses and Izz contribute."""
    n = len(carriage.angular)
    for body in bodies:
        V = [
            v + Z.cross(body.at) * w for v, w in zip(carriage.linear, carriage.angular, strict=True)
        ]  # (L)
        a = point_acceleration(carriage, body.at)
        heavy = [Vec3(mul(v.x, body.mass), mul(v.y, body.mass), 0) for v in V]
        for r in range(n):
            for s in range(r + 1):
                sums.put(r, s, heavy[r].dot(V[s]))
            sums.bias(r, heavy[r].dot(a))  # (Tv)
    Izz = total(*(body.inertia.zz for body in bodies))
    for r in range(n):
        heavy_turn = mul(Izz, carriage.angular[r])
        for s in range(r + 1):
            sums.put(r, s, mul(heavy_turn, carriage.angular[s]))
        sums.bias(r, mul(heavy_turn, carriage.wd))  # (Tv)


def point_acceleration(carriage: Carriage, at: Vec3) -> Vec3:
    """Acceleration, without accelerations of the speeds, of a point of the platform; gravity as an upward one."""
    level = Vec3(at.x, at.y, 0)
    w = carriage.w
    return carriage.acceleration + Z.cross(level) * carriage.wd - level * mul(w, w)  # (E)


def inertia_torque(inertia: Sym3, w: Scalar, wd: Scalar) -> Vec3:
    """I wd + w x I w of a body that turns about z, axes of {v}."""
    moment = inertia.third
    return moment * wd + Z.cross(moment) * mul(w, w)  # (Tv)
