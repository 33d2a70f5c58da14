"""The three motions of section 6 of tanner2001 (Figs 3, 4, 5), with what had to be assumed and what came of it.

The paper prints neither initial conditions nor durations; those here are ours. Input torques are zero.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..border.arguments import positive, real
from ..border.kinds import Json
from ..errors import UnknownName
from ..mobile.constraints import columns, roller
from ..mobile.files import load
from ..mobile.outline import outline
from ..mobile.robot import MobileManipulator
from ..mobile.run import MobileRun

ASSUMPTIONS = (
    "w0 is steered, w1 and w2 are fixed along x: a tricycle, whose two rear no-skid rows coincide",
    "the motion is that of (8): every wheel rolls; (7) alone would let the rear wheels skid",
    "wheels are disks of 2 kg each, not part of the platform's 40 kg",
    "Table I: joint 1 at the origin of {v}, r_y of link 1 (illegible) zero, r^{c1 2} from the mass centre of link 1",
    "joint axes are vertical; only I_z of every body matters",
    "{v} lies at axle height 0.15 m (not in Table I): needed for vertical forces and tip-over only",
    "forks without mass; drive and steering torques react on the platform, so that thetad + phid is constant when free",
    "axle forces of the rear wheels are known as a sum; they are split equally",
    "gravity 9.81 m/s^2; tip-over axes w0-w1, w1-w2, w2-w0, counter-clockwise",
)


@dataclass(frozen=True, slots=True)
class Case:
    """One figure of the paper: a start and what the paper says happens."""

    number: int
    title: str
    q0: tuple[float, ...]
    z0: tuple[float, ...]
    duration: float
    start: str  # our initial conditions in words
    claims: tuple[str, ...]  # what the paper says


_STRAIGHT, _STEERED = (0.0,) * 6, (0.0, 0.0, 0.0, 0.3, 0.0, 0.0)
_TOLD = (  # figure, title; q0, z0; the same in words; what the paper says
    (
        (3, "Motion in straight line with aligned links"),
        (_STRAIGHT, (1.0, 0.0, 0.0, 0.0)),
        "forward at 1 m/s, steering straight, both links along the platform's axis and at rest on it",
        "no centripetal force; positive measure, no risk of tip-over; straight line; constant energy",
    ),
    (
        (4, "Circular motion of the first link"),
        (_STRAIGHT, (0.0, 0.0, 3.0, 0.0)),
        "platform at rest, steering straight, first link turning at 3 rad/s, second link in line with it and passive",
        "oscillating platform; varying speed of the first link; risk near q1 = 90 and 270 degrees; constant energy",
    ),
    (
        (5, "Circular motion of the platform with unactuated arm"),
        (_STEERED, (1.0, 0.0, 0.0, 0.0)),
        "forward at 1 m/s, steering 0.3 rad to the left and free of torque, both links in line and at rest",
        "varying speed of the platform; links turned by centrifugal force; "
        "risk with the first link over the right side; constant energy",
    ),
)
CASES = {
    figure[0]: Case(*figure, *first, 10.0, start, tuple(claims.split("; ")))
    for figure, first, start, claims in _TOLD
}


@dataclass(frozen=True, slots=True)
class Finding:
    """A statement of the paper, checked on the run."""

    claim: str
    holds: bool
    text: str


@dataclass(frozen=True, slots=True, eq=False)
class CaseRun:
    """A case run through: everything that a report of it needs."""

    case: Case
    robot: MobileManipulator
    run: MobileRun
    findings: tuple[Finding, ...]
    assumptions: tuple[str, ...]
    centripetal: np.ndarray  # (N,) [N]: horizontal ground force across the platform's path
    # (N,): largest friction coefficient needed at a wheel, infinite where one has lifted
    needed: np.ndarray
    snapshots: dict[str, np.ndarray]  # t, platform (K, corners, 2), arm (K, points, 2) in the plane

    @property
    def ok(self) -> bool:
        """Whether every statement holds."""
        return all(finding.holds for finding in self.findings)


def run(case: int | str, every: float = 0.25) -> CaseRun:
    """Case 3, 4 or 5 of the paper. every: time between snapshots [s]."""
    chosen = _case(case)
    every = real("every", every, "seconds between snapshots, more than 0", positive)
    robot = load("tanner2001")
    motion = robot.simulate(chosen.q0, chosen.z0, chosen.duration, dt=0.005)
    across = _across(robot, motion)
    checks: dict[int, Callable[..., list[Finding]]] = {3: _straight, 4: _turning_link, 5: _circle}
    findings = (*checks[chosen.number](motion, across), _energy(motion))
    return CaseRun(
        chosen,
        robot,
        motion,
        findings,
        ASSUMPTIONS,
        across,
        motion.friction_needed.max(-1),
        _snapshots(robot, motion, every),
    )


def _case(case: int | str) -> Case:
    try:
        return CASES[int(case)]
    except (KeyError, ValueError, TypeError, OverflowError):
        raise UnknownName("case", case, [str(k) for k in CASES]) from None


def _across(robot: MobileManipulator, motion: MobileRun) -> np.ndarray:
    """Sum of the ground forces along omega x v, the paper's centripetal force; across the platform where it is zero."""
    phi, v = motion.q[:, 3], motion.z[:, 0]
    x, y = np.zeros_like(phi), np.zeros_like(phi)
    for wheel, force in zip(robot.wheels, np.moveaxis(motion.wheel_forces, 1, 0), strict=True):
        at = roller(wheel, robot.platform.steering, phi)
        x, y = (
            x + at.c * force[:, 0] - at.s * force[:, 1],
            y + at.s * force[:, 0] + at.c * force[:, 1],
        )
    twist = columns(robot.guidance, robot.platform.steering, phi)[0][0]
    nx, ny = -twist.z * twist.y * v * v, twist.z * v * v
    size = np.hypot(nx, ny)
    straight = size < 1e-12
    return np.where(straight, y, (x * nx + y * ny) / np.where(straight, 1.0, size))


def _energy(motion: MobileRun) -> Finding:
    drift = float(np.ptp(motion.energy) / motion.energy[0])
    return Finding(
        "constant energy", drift < 1e-10, f"relative drift {drift:.2g} over {motion.t[-1]:g} s"
    )


def _straight(motion: MobileRun, across: np.ndarray) -> list[Finding]:
    side, off = float(np.abs(across).max()), float(np.abs(motion.q[:, 1]).max())
    low = float(motion.measure.min())
    return [
        Finding("no centripetal force", side < 1e-9, f"largest force across the path {side:.2g} N"),
        Finding(
            "positive measure, no risk of tip-over", low > 0, f"smallest measure {low:.4g} N rad"
        ),
        Finding("straight line", off < 1e-12, f"largest distance from the line {off:.2g} m"),
    ]


def _spans(motion: MobileRun) -> list[tuple[float, float]]:
    """First joint angle [degrees] at both ends of every interval with a negative measure."""
    q1 = np.degrees(motion.q[:, 4])
    ends = [
        (float(np.interp(a, motion.t, q1)), float(np.interp(b, motion.t, q1)))
        for a, b in motion.intervals
    ]
    return ends


def _turning_link(motion: MobileRun, across: np.ndarray) -> list[Finding]:
    v, w = motion.z[:, 0], motion.z[:, 2]
    turns = int((np.diff(np.sign(v)) != 0).sum())
    spans = _spans(motion)
    passed = np.arange(90.0, float(np.degrees(motion.q[:, 4]).max()), 180.0)
    risky = [any(low <= target <= high for low, high in spans) for target in passed]
    listed = ", ".join(f"{low:.0f}-{high:.0f}" for low, high in spans[:4])
    return [
        Finding(
            "oscillating platform",
            turns > 2 and float(np.ptp(motion.q[:, 0])) > 0.01,
            f"v changes sign {turns} times, travel {np.ptp(motion.q[:, 0]):.3g} m",
        ),
        Finding(
            "varying speed of the first link",
            float(np.ptp(w)) > 0.01,
            f"between {w.min():.4g} and {w.max():.4g} rad/s",
        ),
        Finding(
            "risk near q1 = 90 and 270 degrees",
            len(risky) > 1 and all(risky),
            f"measure negative for q1 in {listed} ... degrees",
        ),
    ]


def _circle(motion: MobileRun, across: np.ndarray) -> list[Finding]:
    v = motion.z[:, 0]
    spans = _spans(motion)
    right = [np.sin(np.radians(x)) < 0 for span in spans for x in span]
    listed = ", ".join(f"{low:.0f} to {high:.0f}" for low, high in spans)
    return [
        Finding(
            "varying speed of the platform",
            float(np.ptp(v)) > 0.01,
            f"between {v.min():.4g} and {v.max():.4g} m/s",
        ),
        Finding(
            "links turned by centrifugal force",
            float(np.ptp(motion.q[:, 4])) > 0.1,
            f"q1 between {np.degrees(motion.q[:, 4].min()):.0f} and {np.degrees(motion.q[:, 4].max()):.0f} degrees",
        ),
        Finding(
            "risk with the first link over the right side",
            bool(spans) and all(right),
            f"measure negative for q1 from {listed} degrees; the right side is -180 to 0",
        ),
    ]


def _snapshots(robot: MobileManipulator, motion: MobileRun, every: float) -> dict[str, np.ndarray]:
    """Support polygon and arm in the plane at constant time steps."""
    picks = np.unique(
        np.searchsorted(motion.t, np.arange(0.0, motion.t[-1] + 1e-9, every)).clip(
            max=len(motion.t) - 1
        )
    )
    drawn = [outline(robot, motion.q[k]) for k in picks]
    return {
        "t": motion.t[picks],
        "platform": np.array([at.polygon for at in drawn]),
        # joints and tool; joint 1 stands at the mount
        "arm": np.array([at.arm[1:] for at in drawn]),
    }


def report(case: int | str) -> Json:
    """The case as plain data: title, start, assumptions, findings, intervals, series."""
    shown = run(case)
    series = shown.run
    return {
        "title": f"Fig. {shown.case.number}: {shown.case.title}",
        "start": shown.case.start,
        "assumptions": list(shown.assumptions),
        "findings": [(f.claim, f.holds, f.text) for f in shown.findings],
        "intervals": [list(span) for span in series.intervals],
        "events": [(e.t, e.kind, e.wheel, "lost" if e.lost else "found") for e in series.events],
        "t": series.t,
        "path": series.q[:, :3],
        "q": series.q,
        "z": series.z,
        "energy": series.energy,
        "centripetal": shown.centripetal,
        "wheel_forces": series.wheel_forces,
        "friction_needed": series.friction_needed,
        "measure": series.measure,
        "angles": series.tipover.angles,
        "snapshots": shown.snapshots,
    }
