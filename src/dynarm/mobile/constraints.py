"""What the wheels allow: steering angles, rows of no skidding, their rank and the independent speeds.

A wheel that rolls keeps its sideways speed at zero, one row (1) in (vx, vy, thd) a wheel. The rows of all wheels must
leave the same freedom at every steering angle: rank 2 leaves the forward speed v (the axles meet in one point, perhaps
at infinity), rank 1 leaves v and thd (one axle, as in differential drive). Wheels with rollers have no row; where all
wheels that roll have them, v, vy and thd are free.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..algebra.vectors import Scalar, Vec3, add, cos, mul, sin, sqrt, sub
from ..dynamics.papers.kane_platform_tanner2001 import Roller
from ..errors import ModelError
from ..robot.frames.chain import tidy
from .platform import Platform, Steering, Wheel

SINGULAR = 1e6  # sideways or turning speed per forward speed beyond which the steering angle is called singular
# steering angles at which the wheels are compared; 0 among them
_SAMPLES = np.linspace(-1.3, 1.3, 27)
_RANK = 1e-9


@dataclass(frozen=True, slots=True)
class Guidance:
    """How the wheels guide the platform: two rows (or one) that say it all, and the independent speeds."""

    rows: tuple[Wheel, ...]  # wheels, perhaps thought ones, whose axles fix the motion
    steered: bool  # whether the steering angle phi is a coordinate
    size: float  # a length [m] that makes turning comparable with moving

    @property
    def speeds(self) -> tuple[str, ...]:
        """Names of the platform's independent speeds."""
        moving = (("v", "vy", "thetad"), ("v", "thetad"), ("v",))[len(self.rows)]
        return (*moving, "phid") if self.steered else moving

    @property
    def moving(self) -> int:
        """Number of independent speeds of the platform without steering."""
        return 3 - len(self.rows)


def turned(
    wheel: Wheel, steering: Steering | None, phi: Scalar
) -> tuple[Scalar, Scalar, Scalar, Scalar]:
    """cos and sin of phi_j(phi), its derivative and its second derivative."""
    if wheel.kind == "steered":
        angle = add(mul(wheel.ratio, phi), wheel.angle)
        return cos(angle), sin(angle), _plain(wheel.ratio), 0
    if steering is not None and follows(wheel, steering):
        return _ackermann(wheel, steering, phi)
    angle = wheel.angle if wheel.guides else 0.0
    return tidy(math.cos(angle)), tidy(math.sin(angle)), 0, 0


def _ackermann(wheel: Wheel, g: Steering, phi: Scalar) -> tuple[Scalar, Scalar, Scalar, Scalar]:
    """The wheel rolls along (A, B), across the line to the point where the axles meet.

    A B' - B A' is constant, so that phi_j' = K / (A^2 + B^2).
    """
    c, s = cos(phi), sin(phi)
    reach, offset, arm = abs(g.x - g.axle), _plain(g.y - wheel.y), wheel.x - g.axle
    side = math.copysign(1.0, g.x - g.axle)  # points the wheel forward at phi = 0
    A = add(mul(reach, c), mul(mul(side, offset), s))
    B = mul(side * arm, s)
    dA, dB = sub(mul(mul(side, offset), c), mul(reach, s)), mul(side * arm, c)
    inverse = 1 / add(mul(A, A), mul(B, B))
    root = sqrt(inverse)
    d = mul((g.x - g.axle) * arm, inverse)
    dd = mul(mul(-2.0, d), mul(add(mul(A, dA), mul(B, dB)), inverse))
    return mul(A, root), mul(B, root), d, dd


def _plain(x: float) -> Scalar:
    """Ones and zeros as the numbers that fold away."""
    return tidy(float(x))


def roller(wheel: Wheel, steering: Steering | None, phi: Scalar) -> Roller:
    """The wheel as Kane's equations see it at a steering angle."""
    c, s, d, dd = turned(wheel, steering, phi)
    return Roller(
        _plain(wheel.x),
        _plain(wheel.y),
        wheel.radius,
        wheel.mass,
        wheel.spin,
        wheel.turn,
        c,
        s,
        d,
        dd,
        None if wheel.slant is None else _plain(wheel.slant),
    )


def rollers(wheel: Wheel, steering: Steering | None, phi: Scalar) -> list[Roller]:
    """The wheel as Kane's equations see it: one roller, or two at right angles of a wheel that turns into any way.

    Such a wheel runs with the speed of its centre, whatever its direction: |u|^2 = ux^2 + uy^2, and its spin's moment
    z x u is the sum of those of its two parts.
    """
    if wheel.kind != "swerve":
        return [roller(wheel, steering, phi)]
    along = roller(wheel, None, 0)
    return [along, replace(along, turn=0, c=0, s=1)]


def columns(
    guidance: Guidance, steering: Steering | None, phi: Scalar
) -> tuple[list[Vec3], list[Vec3]]:
    """(vx, vy, thd) per independent speed of the platform, and the derivatives in phi. Both start with vx = v."""
    rows = [roller(wheel, steering, phi) for wheel in guidance.rows]
    if not rows:
        return [Vec3(1, 0, 0), Vec3(0, 1, 0), Vec3(0, 0, 1)], [Vec3(0, 0, 0)] * 3
    n = [row.skid for row in rows]
    dn = [row.roll * mul(-1, row.d) for row in rows]
    if len(rows) == 1:
        inverse = 1 / n[0].y
        side, turn = mul(-n[0].x, inverse), mul(-n[0].z, inverse)
        slopes = [
            mul(-add(dn[0].x, mul(side, dn[0].y)), inverse),
            mul(-add(dn[0].z, mul(turn, dn[0].y)), inverse),
        ]
        return [Vec3(1, side, 0), Vec3(0, turn, 1)], [Vec3(0, slopes[0], 0), Vec3(0, slopes[1], 0)]
    C = n[0].cross(n[1])
    dC = dn[0].cross(n[1]) + n[0].cross(dn[1])
    inverse = 1 / C.x
    side, turn = mul(C.y, inverse), mul(C.z, inverse)
    dside = mul(sub(dC.y, mul(side, dC.x)), inverse)
    dturn = mul(sub(dC.z, mul(turn, dC.x)), inverse)
    return [Vec3(1, side, turn)], [Vec3(0, dside, dturn)]


def mobility(guidance: Guidance, platform: Platform, wheels: Sequence[Wheel]) -> str:
    """What the wheels let the platform do, in a sentence."""
    if not guidance.rows:
        if any(wheel.kind == "swerve" for wheel in wheels):
            return (
                "goes ahead, across and turns: its wheels steer themselves into the way they move"
            )
        return "goes ahead, across and turns: the wheels that roll have rollers"
    if any(wheel.kind == "skid" for wheel in wheels):
        return (
            f"goes ahead and turns by skidding about x = {guidance.rows[0].x:.3g} m: its wheels slide across against "
            "Coulomb friction"
        )
    if guidance.moving == 2:
        return "goes ahead and turns on the spot: the axles of the wheels lie in one line"
    if not guidance.steered:
        return (
            "goes ahead only: the axles of the fixed wheels are parallel and cannot all roll in a bend; it would turn "
            "by skidding, which is no rolling: make wheels 'skid', casters, steered, 'omni' or 'mecanum'"
        )
    turns = [float(columns(guidance, platform.steering, float(phi))[0][0].z) for phi in (0.2, -0.3)]
    if max(map(abs, turns)) * guidance.size < _RANK:
        return (
            "goes ahead and crabwise: all wheels are turned by the same phi, so that it moves along them without "
            "turning; use kind='ackermann' with a steering geometry for bends, or kind='swerve' for wheels that are "
            "steered each on its own"
        )
    return "goes ahead and along bends by the steering angle phi"


def forwardness(guidance: Guidance, steering: Steering | None, phi: Scalar) -> Scalar:
    """What v is divided by: it changes sign where the steering angle is singular."""
    n = [roller(wheel, steering, phi).skid for wheel in guidance.rows]
    return n[0].y if len(n) == 1 else n[0].cross(n[1]).x


def guidance_of(platform: Platform, wheels: Sequence[Wheel]) -> Guidance:
    """The guidance that the wheels give, or an error that says why they do not go together."""
    guides = [wheel for wheel in wheels if wheel.constrains]
    _one_kind(wheels, guides)
    if not any(wheel.guides for wheel in wheels):
        raise ModelError(
            "every wheel is a caster, so nothing keeps the platform from sliding; fix or steer one"
        )
    steering = platform.steering
    sliding = [wheel for wheel in wheels if wheel.kind == "skid"]
    if sliding and steering is None:
        middle = sum(wheel.x for wheel in sliding) / len(sliding)
        x = middle if platform.pivot is None else platform.pivot
        if len({wheel.x for wheel in sliding}) == 1 and x != middle:
            raise ModelError(
                f"the 'skid' wheels stand in one line at x = {middle:g} and turn about it, not about the pivot {x:g}; "
                "leave the pivot out, or make them 'fixed'"
            )
        return Guidance((Wheel(x, 0.0, 1.0, name="'pivot of the platform'"),), False, 1.0)
    if platform.pivot is not None and not sliding:
        raise ModelError(
            "the platform has a pivot but no 'skid' wheels that slide about it; leave it out"
        )
    if not guides and steering is None:
        return Guidance((), False, 1.0)
    if steering is None and any(w.kind == "ackermann" for w in guides):
        raise ModelError(
            "a wheel is 'ackermann' but the platform has no steering; give Platform(steering=Steering(...))"
        )
    steered = any(follows(w, steering) for w in guides)
    if steering is not None and not steered:
        raise ModelError(
            "the platform has a steering geometry but no wheel follows phi; leave it out or steer a wheel"
        )
    size = max(math.hypot(w.x - v.x, w.y - v.y) for w in wheels for v in wheels)
    samples = _SAMPLES if steered else np.zeros(1)
    if steering is not None:
        guides += _thought(steering)
    ranks = [_rank(_rows(guides, steering, float(phi), size)) for phi in samples]
    _compatible(ranks, samples, wheels, guides, steering, size)
    chosen = _basis(steering, guides, ranks[0], samples, size)
    guidance = Guidance(chosen, steered, size)
    _forward(guidance, steering)
    return guidance


def _one_kind(wheels: Sequence[Wheel], guides: Sequence[Wheel]) -> None:
    """Refuse wheels that slide across beside wheels that do not, and two ways of steering."""
    sliding = [wheel for wheel in wheels if wheel.kind == "skid"]
    if sliding and guides:
        names = ", ".join(_labels(wheels, guides))
        raise ModelError(
            f"some wheels are 'skid' and slide across, {names} cannot: how the platform turns is then no question of "
            "friction; make all of them 'skid', or none"
        )
    swerve = [wheel for wheel in wheels if wheel.kind == "swerve"]
    turned_ones = [wheel for wheel in guides if wheel.kind in ("steered", "ackermann")]
    if swerve and turned_ones:
        names = ", ".join(_labels(wheels, turned_ones))
        raise ModelError(
            f"some wheels are 'swerve' and {names} turned by phi; let all of them steer themselves, or none"
        )


def follows(wheel: Wheel, steering: Steering | None) -> bool:
    """Whether phi turns the wheel."""
    return wheel.kind == "steered" or (
        wheel.kind == "ackermann" and steering is not None and wheel.x != steering.axle
    )


def _rows(
    guides: Sequence[Wheel], steering: Steering | None, phi: float, size: float
) -> np.ndarray:
    """(k, 3): one row of (1) a wheel, turning measured at the platform's size."""
    table = [tuple(roller(w, steering, phi).skid) for w in guides]
    return np.array(table, dtype=float) / [1.0, 1.0, size]


def _rank(rows: np.ndarray) -> int:
    values = np.linalg.svd(rows, compute_uv=False)
    return int((values > _RANK * values[0]).sum())


def _compatible(
    ranks: Sequence[int],
    samples: np.ndarray,
    wheels: Sequence[Wheel],
    guides: Sequence[Wheel],
    steering: Steering | None,
    size: float,
) -> None:
    """Refuse wheels that block each other, or whose freedom changes with the steering angle."""
    blocked = [float(phi) for phi, rank in zip(samples, ranks, strict=True) if rank == 3]
    if blocked:
        worst = blocked[-1]
        names = ", ".join(_labels(wheels, _odd_ones(guides, steering, worst, size)))
        if len(blocked) == len(ranks):
            where = "at no steering angle" if len(ranks) > 1 else "nowhere"
        else:
            free = [float(phi) for phi, rank in zip(samples, ranks, strict=True) if rank < 3]
            where = "only at phi = " + ", ".join(f"{phi:.3g}" for phi in free[:3])
        raise ModelError(
            f"the axles of the wheels meet in one point {where}: they cannot all roll without skidding "
            f"(look at wheel {names}); use kind='ackermann' with a steering geometry, or casters"
        )
    if len(set(ranks)) > 1:
        phi = float(samples[int(np.argmin(ranks))])
        raise ModelError(
            f"at phi = {phi:.3g} the wheels leave the platform more freedom than at other steering angles; "
            "the number of independent speeds must not change: move or fix one of the wheels"
        )


def _odd_ones(
    guides: Sequence[Wheel], steering: Steering | None, phi: float, size: float
) -> list[Wheel]:
    """The wheels whose removal alone would let the others roll; all of them if there is none."""
    independent = []
    for k, wheel in enumerate(guides):
        others = [w for j, w in enumerate(guides) if j != k]
        if _rank(_rows(others, steering, phi, size)) < 3:
            independent.append(wheel)
    return independent or list(guides)


def _labels(wheels: Sequence[Wheel], some: Sequence[Wheel]) -> list[str]:
    return [w.name or f"w{list(wheels).index(w)}" for w in some]


def _thought(g: Steering) -> list[Wheel]:
    """The steering geometry as two wheels: the reference wheel and one on the line of axles."""
    reference = Wheel(g.x, g.y, 1.0, kind="steered", name="'reference of the steering'")
    return [reference, Wheel(g.axle, 0.0, 1.0, name="'line of axles'")]


def _basis(
    g: Steering | None, guides: Sequence[Wheel], rank: int, samples: np.ndarray, size: float
) -> tuple[Wheel, ...]:
    """One or two wheels whose rows span all rows, as far from parallel as possible at every steering angle."""
    if rank == 1:
        return (guides[0],)
    if g is not None:
        return tuple(_thought(g))
    best, chosen = -1.0, (guides[0], guides[-1])
    for k, first in enumerate(guides):
        for second in guides[k + 1 :]:
            apart = min(
                float(np.linalg.norm(np.cross(*_rows([first, second], g, float(phi), size))))
                for phi in samples
            )
            if apart > best * (1 + 1e-9):
                best, chosen = apart, (first, second)
    return chosen


def _forward(guidance: Guidance, steering: Steering | None) -> None:
    """Refuse wheels that do not let the platform move along x at phi = 0, for then v is no speed of it."""
    with np.errstate(all="ignore"):
        speeds = [
            np.array([float(x) for x in column]) for column in _columns_at_zero(guidance, steering)
        ]
    if not all(np.isfinite(column).all() and np.abs(column).max() < SINGULAR for column in speeds):
        raise ModelError(
            "at phi = 0 the wheels do not let the platform move along its x axis, and v is its forward speed; "
            "turn the wheels (angle) or the platform's frame"
        )


def _columns_at_zero(guidance: Guidance, steering: Steering | None) -> list[Vec3]:
    zero = np.float64(0.0)  # NumPy's division by zero gives infinity, which the caller looks for
    table = [roller(wheel, steering, zero) for wheel in guidance.rows]
    n = [Vec3(*(np.float64(x) for x in row.skid)) for row in table]
    if len(n) == 1:
        return [Vec3(1, -n[0].x / n[0].y, 0), Vec3(0, -n[0].z / n[0].y, 1)]
    C = n[0].cross(n[1])
    return [Vec3(1, C.y / C.x, C.z / C.x)]
