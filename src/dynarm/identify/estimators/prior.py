"""What is believed of the unknowns before a log is seen: CAD values with their doubt, and what torques allow.

On no joint can an unknown be worth more than the joint's torque, shared among all unknowns there (estimators.worths).
The links' own numbers, where they are real, are believed to half their size, centres of mass and inertias besides to a
tenth of the link's mass times its length (squared). Armatures that a file does not give are not believed at all.
"""

from __future__ import annotations

import numpy as np

from ...robot.arm import Arm
from ..regressor import Terms
from ..rigid import rigid_of
from .factors import Factors
from .least_squares import worths
from .problem import Pull, Solution

DAMPING = float(np.sqrt(3e-3))  # of listed friction, whatever the ridge, in scaled unknowns
_OWN = 0.5  # standard deviation of a link's parameter, in units of its value
_SPREAD = 0.1  # and in units of the link's mass times length (squared)


def placeholders(arm: Arm) -> bool:
    """Whether all links have the same mass and inertia: numbers that stand for nothing."""
    bodies = (*arm.joints, *((arm.floating,) if arm.floating else ()))
    links = np.array([[j.mass, *np.ravel(j.inertia)] for j in bodies])
    return bool(np.abs(links - links[0]).max() <= 1e-9 * np.abs(links).max())


def pull_of(terms: Terms, factors: Factors, plain: Solution, prior: Arm | None) -> Pull:
    """The values approached and how strongly, in scaled unknowns: 1 / standard deviation.

    prior None: the arm's own values, or zero where its links are placeholders.
    """
    listed = ~terms.plain
    kept = (
        factors.merged().choose(np.flatnonzero(terms.plain).tolist()) if listed.any() else factors
    )
    values, strength = np.zeros(terms.size), np.zeros(terms.size)
    strength[terms.plain] = 1 / worths(kept, plain.weights)
    damping = np.where(listed, DAMPING, 0.0) if listed.any() else None
    arm = terms.arm if prior is None else prior
    if prior is None and placeholders(arm):
        return Pull(values, strength, damping)
    natural, doubt = _natural(arm, terms.armature)
    matrix, p = terms.rigid.matrix, terms.rigid_size
    values[:p] = matrix @ natural
    with np.errstate(invalid="ignore"):
        wide = np.where(matrix != 0, (matrix * np.where(matrix != 0, doubt, 0.0)) ** 2, 0.0)
    spread = np.sqrt(wide.sum(axis=1)) * plain.scales[:p]
    known = np.isfinite(spread) & (spread > 0)
    strength[:p][known] = np.maximum(strength[:p][known], 1 / spread[known])
    return Pull(values, strength, damping)


def _natural(arm: Arm, armature: bool) -> tuple[np.ndarray, np.ndarray]:
    """Natural parameters, link by link, and their standard deviations (infinite: not believed)."""
    length = arm.size / max(arm.n - 1, 1)
    table = arm.parameters
    mass = np.abs(table[:, :1])
    spare = _SPREAD * mass * np.array([0.0, *[length] * 3, *[length**2] * 6])
    doubt = _OWN * np.abs(table) + spare
    own = np.array([joint.armature for joint in arm.joints])
    believed = np.where(own > 0, _OWN * own, np.inf)
    joined = rigid_of(arm, armature).joined
    return joined(table, own), joined(doubt, believed)
