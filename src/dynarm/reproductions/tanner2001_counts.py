"""Operation counts of a mobile manipulator: the paper's polynomials beside graphs traced for generic machines.

The machines have no zero and no repeated number; their arms have principal axes parallel to the link frames, as the
paper assumes. Three wheels: one steered, two fixed. Four wheels: all steered, axles meeting in one point.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..algebra.vectors import Scalar, add, cos, mul, sin, sub, total
from ..dynamics.papers.kane_platform_tanner2001 import Sums, add_carried, add_wheels
from ..dynamics.papers.kane_tanner2001 import Machine, PartialVelocities
from ..dynamics.table import formulation
from ..errors import InputError
from ..graph.graph import Count, Port
from ..graph.trace import trace_function
from ..mobile.constraints import columns
from ..mobile.formulas import Flat, Formulas
from ..mobile.kernels import graph_of
from ..mobile.platform import Base, Platform, Steering, Wheel
from ..mobile.robot import MobileManipulator
from ..robot.arm import Arm, Joint, move_parameters, pack_parameters
from ..robot.frames.chain import chain_of, pose
from ..robot.frames.generic import generic_arm

# section 5.3: m = 1, w = 4; six bodies
PAPER_EXAMPLE = {"kane": (679, 494), "newton_euler": (678, 597)}
_GOLDEN = (math.sqrt(5) - 1) / 2


def paper_counts(m: int, w: int) -> tuple[float, float]:
    """Multiplications and additions of section 5.2 for m links and w wheels."""
    return 37.5 * m * m + 441.5 * m + 88 + 28 * w, 31.5 * m * m + 392.5 * m + 26 + 11 * w


def newton_euler_line(bodies: int) -> tuple[int, int]:
    """The Newton-Euler polynomial that section 5.3 borrows: 117 n - 24 and 103 n - 21, for n bodies."""
    return 117 * bodies - 24, 103 * bodies - 21


@dataclass(frozen=True, slots=True)
class CountRow:
    """Counts for m links and w wheels; each but `paper` and `borrowed` is traced."""

    m: int
    w: int
    paper: tuple[float, float]  # the polynomials of section 5.2
    borrowed: tuple[int, int]  # section 5.3's Newton-Euler line at m + w + 1 bodies
    equations_7: Count  # M, F, B of (7)
    equations_8: Count  # M, F, B of (8)
    reduced_8: Count  # the same through (7) and S
    everything: (
        Count  # M, F, B, accelerations, wrench and wheel forces, which may pull as in the paper
    )
    kane: Count  # generalised forces for given accelerations: (6a)-(6d)
    newton_euler: Count  # the same by Newton-Euler on a chain with a planar base
    lagrange: Count  # the same by Lagrange


def row(m: int, w: int) -> CountRow:
    """The counts of a generic machine with m links on w wheels (3 or 4)."""
    robot = generic_machine(m, w)
    f = robot.formulas
    inverse = {name: _inverse_count(robot, name) for name in ("newton_euler", "lagrange")}
    return CountRow(
        m,
        w,
        paper_counts(m, w),
        newton_euler_line(m + w + 1),
        graph_of(f, "kane_equations").count(),
        graph_of(f, "equations").count(),
        graph_of(f, "reduced").count(),
        graph_of(replace(f, pulls=True), "control").count(),
        _kane_count(f),
        inverse["newton_euler"],
        inverse["lagrange"],
    )


def generic_machine(m: int, w: int) -> MobileManipulator:
    """A machine on which nothing vanishes or repeats."""
    if w not in (3, 4) or m < 1:
        raise InputError(
            f"m = {m}, w = {w}; generic machines have at least one link and 3 or 4 wheels"
        )
    spread = [math.modf(0.5 + k * _GOLDEN)[0] for k in range(1, 60)]
    x = iter(spread)
    table = np.array([next(x) for _ in range(9)]).reshape(3, 3) - 0.45
    inertia, small = table @ table.T * 6 + np.eye(3), table.T @ table * 0.3 + 0.1 * np.eye(3)
    if w == 3:
        wheels = [
            Wheel(0.4 + 0.1 * next(x), 0.1 * next(x), 0.1 + 0.1 * next(x), 2 + next(x), "steered")
        ]
        wheels += [Wheel(-0.31, y, 0.1 + 0.1 * next(x), 2 + next(x)) for y in (0.3, -0.33)]
        steering = None
    else:
        places = ((0.4, 0.3), (-0.4, 0.25), (-0.35, -0.3), (0.45, -0.35))
        wheels = [
            Wheel(px + 0.05 * next(x), py, 0.1 + 0.1 * next(x), 2 + next(x), "ackermann")
            for px, py in places
        ]
        steering = Steering(0.52, 0.06, -0.09)
    base = Base(5.0, (0.11, 0.07, 0.21), small, np.eye(4))
    joints = list(generic_arm(m, principal=True).joints)
    first = joints[0]
    joints[0] = Joint(
        a=0.13,
        alpha=0.7,
        d=0.35,
        theta=0.2,
        mass=first.mass,
        com=first.com,
        inertia=first.inertia,
        name=first.name,
    )
    platform = Platform(60.0, inertia, 0.31, steering)
    return MobileManipulator(platform, tuple(wheels), base, Arm(joints), name=f"generic_{m}_{w}")


# ---- given accelerations, the generalised forces: Kane, Newton-Euler, Lagrange


def _kane_count(f: Formulas) -> Count:
    inputs = (Port("q", (f.coordinates,)), Port("z", (f.n,)), Port("zd", (f.n,)))
    return trace_function(inputs, (Port("needed", (f.n,)),), lambda *x: kane_inverse(f, *x)).count()


def kane_inverse(f: Formulas, q: Flat, z: Flat, zd: Flat) -> list[Scalar]:
    """Generalised forces by (6a)-(6d): T* and F* with the accelerations inside, on the partial velocities."""
    machine, at, _ = f.state(q, z)
    out = platform_inverse(f, at, machine, zd)
    rows = at.rows(at.links[-1])
    joined = [zd[r] for r in rows]
    for link, motion in zip(machine.links, at.links, strict=True):
        alpha, a = motion.G, motion.D
        for A, B, acc in zip(motion.A, motion.B, joined, strict=False):
            alpha, a = alpha + A * acc, a + B * acc
        torque = link.I @ alpha + motion.w.cross(link.I @ motion.w)
        force = a * link.m
        for r, A, B in zip(rows, motion.A, motion.B, strict=False):
            out[r] = total(out[r], A.dot(torque), B.dot(force))
    return out


def platform_inverse(
    f: Formulas, at: PartialVelocities, machine: Machine, zd: Flat, carried: bool = True
) -> list[Scalar]:
    """Generalised forces of the wheels and, unless they are counted elsewhere, of platform and base."""
    sums = Sums.zero(f.n)
    add_wheels(sums, at.carriage, machine.wheels, at.rolling, at.steering)
    if carried:
        add_carried(sums, at.carriage, machine.carried)
    return [
        add(total(*(mul(a, b) for a, b in zip(line, zd, strict=True))), bias)
        for line, bias in zip(sums.M, sums.F, strict=True)
    ]


def planar_chain(robot: MobileManipulator) -> Arm:
    """The same machine without wheels as an arm on two slides and a pivot: x, y, theta, then its joints."""
    mount = robot.base.mount_pose @ robot.arm.base_pose
    if np.abs(mount - np.eye(4)).max() > 0:
        raise InputError(
            "the planar chain is made for arms mounted at {v} itself; their first joint holds the offset"
        )
    p = pack_parameters(robot.platform.mass, (0, 0, 0), robot.platform.inertia)
    b = pack_parameters(robot.base.mass, (0, 0, 0), robot.base.inertia)
    whole = p + move_parameters(b, np.eye(3), np.array(robot.base.com))
    joints = [
        Joint(kind="prismatic", name="x"),
        Joint(kind="prismatic", alpha=math.pi / 2, theta=math.pi / 2, name="y"),
        Joint(alpha=math.pi / 2, parameters=tuple(whole.tolist()), name="theta"),
        *robot.arm.joints,
    ]
    base = np.array([[0, 0, 1, 0], [0, -1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1]], float)
    return Arm(joints, gravity=(0, 0, -robot.gravity), base=base, name=robot.name)


def chain_inverse(robot: MobileManipulator, name: str, q: Flat, z: Flat, zd: Flat) -> list[Scalar]:
    """Generalised forces by a formulation for arms on the planar chain, wheels added, projected on the speeds."""
    f = robot.formulas
    machine, at, _ = f.state(q, z)
    steered, m = f.guidance.steered, f.m
    theta, phi = q[2], (q[3] if steered else 0)
    cols, _ = columns(f.guidance, robot.platform.steering, phi)
    c, s = cos(theta), sin(theta)
    w = at.carriage.w
    qd = f.rates(q, at, z)
    J = [(sub(mul(c, k.x), mul(s, k.y)), add(mul(s, k.x), mul(c, k.y)), k.z) for k in cols]
    v, change = at.carriage.v, at.carriage.change
    ax, ay = sub(change.x, mul(w, v.y)), add(change.y, mul(w, v.x))
    qdd: list[Scalar] = [sub(mul(c, ax), mul(s, ay)), add(mul(s, ax), mul(c, ay)), at.carriage.wd]
    for column, acc in zip(J, zd, strict=False):
        qdd = [add(a, mul(b, acc)) for a, b in zip(qdd, column, strict=True)]
    chain = chain_of(planar_chain(robot))
    arm_q = [q[0], q[1], theta, *q[len(q) - m :]]
    rates = [*qd[:3], *z[f.n - m :]]
    accelerations = [*qdd, *zd[f.n - m :]]
    method = formulation("inverse_dynamics", name, chain).function
    assert method is not None
    forces = method(chain, pose(chain, arm_q), rates, accelerations)
    out = platform_inverse(f, at, machine, zd, carried=False)
    for r, column in enumerate(J):
        out[r] = total(out[r], *(mul(a, b) for a, b in zip(column, forces[:3], strict=True)))
    for i in range(m):
        out[f.n - m + i] = add(out[f.n - m + i], forces[3 + i])
    return out


def _inverse_count(robot: MobileManipulator, name: str) -> Count:
    f = robot.formulas
    inputs = (Port("q", (f.coordinates,)), Port("z", (f.n,)), Port("zd", (f.n,)))
    return trace_function(
        inputs, (Port("needed", (f.n,)),), lambda *x: chain_inverse(robot, name, *x)
    ).count()


def table(links: Sequence[int] = range(1, 7), wheels: Sequence[int] = (3, 4)) -> list[CountRow]:
    """The rows of the comparison."""
    return [row(m, w) for w in wheels for m in links]
