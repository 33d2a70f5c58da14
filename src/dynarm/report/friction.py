"""Friction of a fit as pictures: curves above the logs' own torques, loops, loads, ripple; what was tried."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..dynamics.friction_curves import presliding_loop, ripple_curve, velocity_curve
from ..identify.bodies import wrench_forces
from . import figures
from .html import Markup, Section, figure, figures_grid, lines, note, section, table
from .outcome import rounded

if TYPE_CHECKING:
    from ..border.kinds import FloatArray
    from ..identify.result import Fit
    from ..robot.arm import Joint

POINTS = 700  # of the logs behind a curve
SLOWEST = 1e-6  # [rad/s or m/s] of a joint that moves
DRAWN = 16  # joints
_SPEEDS = 201
_USUAL, _MOST = 50, 95  # percentiles of the load that curves are drawn for
_LOADED = 0.02  # of a curve's size: a load that changes less gets no curve of its own
_WIDER = 2.0  # times the longest stroke, to which a loop goes
_TURNS = 3.0  # of the slowest ripple that are drawn

Cloud = tuple["FloatArray", "FloatArray", "FloatArray"]  # speeds, friction, load of samples


def friction_sections(fit: Fit) -> list[Section]:
    """The curves and what was chosen; nothing where no friction depends on the motion."""
    terms = fit.record.terms
    if set(terms.friction) <= {"offset"} and not terms.listed:
        return []
    joints = [terms.arm.joints[i] for i in terms.arm.coupling.masters]
    clouds = clouds_of(fit)
    drawn = [k for k in range(len(joints[:DRAWN])) if not _rests(clouds[k])]
    made = [_curve(fit, k, joints[k], clouds[k]) for k in drawn]
    made += [m for k, joint in enumerate(joints[:DRAWN]) for m in _memory(fit, k, joint)]
    many = f" Of {len(joints)} joints the first {DRAWN} are drawn." if len(joints) > DRAWN else ""
    still = [str(joints[k].name) for k in range(len(joints[:DRAWN])) if k not in drawn]
    if still:
        many += f" Without a curve, because the logs do not move them: {', '.join(still)}."
    return [
        section(
            "Friction curves",
            note(
                "Over the speeds of the logs; hysteresis slipped, ripple and coupling left out. Dots: torque of the "
                f"logs less the rigid body's as it was fitted.{many}"
            ),
            figures_grid(made),
            lines(fit.choice_.lines()),
            _tried(fit),
        )
    ]


def _rests(cloud: Cloud) -> bool:
    """Whether a joint never moves in the logs, so that nothing is known of its friction over speed."""
    return bool(len(cloud[0])) and float(np.abs(cloud[0]).max()) < SLOWEST


def clouds_of(fit: Fit) -> list[Cloud]:
    """Of each independent joint: speeds, torque less that of the rigid body, and load, of samples of all logs.

    A fit that was read from a file has no logs, and nothing behind its curves.
    """
    terms, record, parts = fit.record.terms, fit.record, []
    pieces = record.recording.short.pieces(record.preparation)  # those that choices looked at
    many = sum(map(len, pieces))
    for piece in pieces:
        some = piece.part(slice(None, None, max(1, many // POINTS)))
        rigid = terms.rigid_forces(fit.values_, some.q, some.qd, some.qdd)
        if some.wrench is not None:
            rigid = rigid + wrench_forces(terms.arm, some.q, some.wrench)
        parts.append([x[:, terms.first :] for x in (some.qd, some.tau - rigid, rigid)])
    if not parts:
        return [(np.empty(0), np.empty(0), np.empty(0))] * len(terms.joints)
    speed, rest, load = (np.concatenate(x) for x in zip(*parts, strict=True))
    known = np.isfinite(rest)
    return [
        (speed[known[:, k], k], rest[known[:, k], k], load[known[:, k], k])
        for k in range(len(terms.joints))
    ]


def _units(joint: Joint) -> tuple[str, str, str]:
    """What axes of position, velocity and force are called."""
    if joint.revolute:
        return "position [rad]", "velocity [rad/s]", "torque [N m]"
    return "position [m]", "velocity [m/s]", "force [N]"


def _curve(fit: Fit, k: int, joint: Joint, cloud: Cloud) -> Markup:
    """Friction over velocity, under the loads of the logs where it depends on them, above the logs' own torques."""
    speed, force = fit.friction_curve(k, _SPEEDS)
    _, axis, unit = _units(joint)
    drawn = figures.lines(speed, {"friction": force}, axis, unit, title=str(joint.name))
    for word, load, colour in _loads(fit, k, cloud):
        record = fit.record.terms.friction_of(k, fit.values_)
        assert record is not None
        more = velocity_curve(record, speed, load)
        name = f"under {word} load, {load:.3g} {unit.split('[')[1][:-1]}"
        drawn["data"].append(figures.line(speed, more, name, colour))
    if len(cloud[0]):
        dots = {
            "type": "scatter", "mode": "markers", "x": cloud[0], "y": cloud[1], "name": "logs",
            "marker": {"size": 3, "color": "--faint"}, "hoverinfo": "skip",
        }  # fmt: skip
        drawn["data"].append(dots)
    drawn["layout"] |= {"showlegend": len(drawn["data"]) > 1, "hovermode": "closest"}
    drawn["data"].reverse()  # what comes last lies on top
    return figure(drawn, height=280)


def _loads(fit: Fit, k: int, cloud: Cloud) -> list[tuple[str, float, str]]:
    """The loads under which friction is drawn once more: word, size, colour."""
    record = fit.record.terms.friction_of(k, fit.values_)
    if record is None or not (record.load_curve or record.load_presliding) or not len(cloud[2]):
        return []
    sizes = np.percentile(np.abs(cloud[2]), [_USUAL, _MOST])
    rows = zip(("the usual", "the largest"), sizes.tolist(), ("--c3", "--c4"), strict=True)
    share = sum(abs(c) for _, c in (*record.load_curve, *record.load_presliding))
    floor = _LOADED * max(float(np.abs(fit.friction_curve(k)[1]).max()), 1e-300)
    return [(word, size, colour) for word, size, colour in rows if share * size > floor]


def _memory(fit: Fit, k: int, joint: Joint) -> list[Markup]:
    """A loop of presliding and the ripple over position, where the joint has them."""
    record = fit.record.terms.friction_of(k, fit.values_)
    if record is None:
        return []
    place, _, unit = _units(joint)
    made = []
    if record.presliding:
        reach = _WIDER * max(d for d, _ in record.presliding)
        way, force = presliding_loop(record, reach)
        title = f"{joint.name}: to and fro from rest"
        loop = figures.lines(way, {"hysteresis": force}, place, unit, title=title)
        made.append(figure(loop, height=240))
    if record.ripple:
        slowest = min(order for order, *_ in record.ripple)
        way = np.linspace(0, _TURNS * 2 * np.pi / slowest, 601)
        title = f"{joint.name}: ripple over position"
        curve = {"ripple": ripple_curve(record, way)}
        made.append(figure(figures.lines(way, curve, place, unit, title=title), height=240))
    return made


def _tried(fit: Fit) -> Markup | None:
    """What was tried on friction, joint by joint."""
    rows = [
        [
            one.joint,
            one.family,
            rounded(100 * float(one.gain), 2),
            "yes" if one.taken else "no",
            one.reason,
        ]
        for one in fit.choice_.tried
    ]
    if not rows:
        return None
    heads = ("joint", "family", "held-out error lowered by [%]", "taken", "why")
    return table(heads, rows, "Families of friction that were tried", tall=len(rows) > 24)
