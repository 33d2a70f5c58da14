"""Bodies that a robot is believed to have before anything is measured: those of its file, else uniform ones.

A link of which nothing is known is a uniform body around the straight lines from its joint to the joints and tools that
it carries, a little thicker than a line. Such links are lighter from joint to joint outwards, and their masses have one
scale in common: that at which their first moments are as large, in sum, as those that were fitted.
"""

from __future__ import annotations

import numpy as np

from ...robot.arm import Arm
from ...robot.frames.placed import coordinates, link_poses
from ...robot.inertia import pseudo_inertia
from ..regressor import Terms
from .prior import placeholders

_EDGE = 1e-5  # of a pseudo-inertia's eigenvalues, least over largest, of bodies that are believed
_THICK = (
    0.25  # standard deviation of a uniform body's mass about its line, in mean lengths of a link
)
_LIGHTER = 0.75  # mass of a link over that of the link before
_MERGED = 0.5  # armature over the sum with a link's inertia that alone is told
_MOTOR = 0.05  # armature of which nothing is known, in units of the uniform links' inertia


def believed(
    terms: Terms, own: np.ndarray, values: np.ndarray, std: np.ndarray, given: bool
) -> np.ndarray:
    """(natural,): bodies to be near to. own: (links, 10) of a description; given: it is a prior of the user's.

    Armatures that the robot's file does not give follow from those fitted, or are a small part of the links' inertia.
    """
    arm, rigid = terms.arm, terms.rigid
    spectra = np.array([np.linalg.eigvalsh(pseudo_inertia(ten)) for ten in own])
    real = (spectra[:, 0] > _EDGE * spectra[:, -1]) & (spectra[:, 0] > 0)
    if not given and placeholders(arm):
        real[:] = False
    table = np.where(real[:, None], own, 0.0)
    if not real.all():
        shapes = np.where(real[:, None], 0.0, uniform_bodies(arm))
        table = table + shapes * _scale(terms, table, shapes, values, std)
    return rigid.joined(table, _motors(terms, table, values, std))


def _motors(terms: Terms, table: np.ndarray, values: np.ndarray, std: np.ndarray) -> np.ndarray:
    """(n,): armatures of the robot's file; else those fitted, half of what they are merged with, or those of others."""
    motors = np.array([joint.armature for joint in terms.arm.joints])
    places = {part: (k, "+" in name) for k, name in enumerate(terms.names[: terms.rigid_size])
              for part in name.split("+") if part.startswith("Ia")}  # fmt: skip
    for i in np.flatnonzero(motors <= 0).tolist():
        k, merged = places.get(f"Ia{i + 1}", (-1, False))
        if k >= 0 and values[k] > std[k]:
            motors[i] = float(values[k]) * (_MERGED if merged else 1.0)
    if (motors > 0).any():
        usual = float(np.median(motors[motors > 0]))
    else:
        usual = _MOTOR * float(np.median(np.trace(_second(table), axis1=1, axis2=2)))
    return np.where(motors > 0, motors, max(usual, 1e-9))


def _second(table: np.ndarray) -> np.ndarray:
    """(links, 3, 3): second moments of mass about the links' frames."""
    return np.array([pseudo_inertia(ten)[:3, :3] for ten in table])


def uniform_bodies(arm: Arm) -> np.ndarray:
    """(links, 10) of uniform bodies, the first of 1 kg."""
    frames = link_poses(arm, coordinates(arm, np.zeros(len(arm.joint_names))))
    base = len(arm.link_names) - arm.n
    depth = np.zeros(arm.n, int)
    ends: list[list[np.ndarray]] = [[] for _ in range(arm.n)]
    for i, parent in enumerate(arm.parents):
        if parent >= 0:
            depth[i] = depth[parent] + 1
            inside = np.linalg.inv(frames[parent]) @ frames[i]
            ends[parent].append(inside[:3, 3])
    for tool in arm.all_tools:
        if tool.joint >= 0:
            ends[tool.joint].append(np.asarray(tool.matrix)[:3, 3])
    length = arm.size / max(arm.n, 1)
    rows = [_body(_LIGHTER ** int(depth[i]), ends[i], _THICK * length) for i in range(arm.n)]
    return np.array([_body(1.0, [], _THICK * length) for _ in range(base)] + rows)


def _body(mass: float, ends: list[np.ndarray], thick: float) -> np.ndarray:
    """The ten parameters of a body around lines from the origin to some points."""
    points = ends or [np.zeros(3)]
    centre = np.mean(points, axis=0) / 2
    second = np.mean([np.outer(p, p) for p in points], axis=0) / 3 + thick**2 * np.eye(3)
    J = mass * (np.trace(second) * np.eye(3) - second)
    first = mass * centre
    return np.array([mass, *first, J[0, 0], J[0, 1], J[1, 1], J[0, 2], J[1, 2], J[2, 2]])


def _scale(
    terms: Terms, known: np.ndarray, shapes: np.ndarray, values: np.ndarray, std: np.ndarray
) -> float:
    """The mass of the first uniform body [kg]: at which first moments are as large, in sum, as those fitted."""
    rigid, p = terms.rigid, terms.rigid_size
    rest = values[:p] - rigid.matrix @ rigid.joined(known, 0.0)
    unit = rigid.matrix @ rigid.joined(shapes, 0.0)
    moments = np.array([name.startswith("k") for name in rigid.names])
    for rows in (moments & (std[:p] < np.abs(rest)), moments, np.ones(p, bool)):
        size = float(np.abs(unit[rows]).sum())
        if size > 0 and np.abs(rest[rows]).sum() > 0:
            return float(np.abs(rest[rows]).sum() / size)
    return 1.0
