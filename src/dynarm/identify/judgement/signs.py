"""Values that no drive has: motor inertias below zero, friction that pushes, beyond what their doubt explains."""

from __future__ import annotations

import re

import numpy as np

from ...dynamics.drive import Instant
from ..regressor import Terms

SURE = 4.0  # standard deviations by which a value must have the wrong sign
_SPEEDS = (0.25, 0.5, 1.0)  # parts of a joint's top speed at which friction with lists is looked at
_VELOCITY = ("curve", "presliding")  # families whose force velocity alone tells
_ARMATURE = re.compile(r"Ia\d+")


def impossible_signs(
    terms: Terms, values: np.ndarray, covariance: np.ndarray, tops: np.ndarray
) -> tuple[str, ...]:
    """Sentences about values of the wrong sign, by four standard deviations or more. tops: (joints,) speeds.

    Single coefficients where a joint's friction has no lists; where it has, the force that all of them give together.
    """
    spread = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    told = []
    for k, name in enumerate(terms.names[: terms.rigid_size]):
        if _ARMATURE.fullmatch(name):
            told += _below("the motor inertia", name, values[k], spread[k])
    for j, joint in enumerate(terms.arm.joint_names):
        listed = terms.listed_index(j)
        if len(listed):
            told += _pushing(terms, values, covariance, j, float(tops[j]))
            continue
        for word, term, _ in terms.drives:
            if term.dissipative:
                k = terms.drive_index(j, word)
                told += _below(
                    f"{word} friction of joint {joint},", terms.names[k], values[k], spread[k]
                )
    return tuple(told)


def _below(what: str, name: str, value: float, spread: float) -> list[str]:
    if not value < -SURE * spread or value == 0:
        return []
    sure = "" if spread <= 0 else f", {-value / spread:.0f} standard deviations below 0"
    return [f"{what} {name} is {value:.3g}{sure}: no drive has that"]


def _pushing(
    terms: Terms, values: np.ndarray, covariance: np.ndarray, joint: int, top: float
) -> list[str]:
    """A sentence where friction as a whole drives a joint on, at one of a few speeds."""
    speeds = top * np.array([*_SPEEDS, *(-x for x in _SPEEDS)])
    columns = np.zeros((len(speeds), terms.size))
    wide = np.zeros((len(speeds), terms.n))
    wide[:, terms.first + joint] = speeds
    parts = zip(terms.drives, terms.drive_names, terms.drive_columns(wide), strict=True)
    for (_, term, _), word, column in parts:
        if term.dissipative:
            columns[:, terms.drive_index(joint, word)] = column[:, joint]
    own = [piece for i, piece in terms.listed_terms if i == joint]
    for k, piece in zip(terms.listed_index(joint), own, strict=True):
        if piece.family in _VELOCITY:
            columns[:, k] = piece.force(Instant(speeds))
    braking = np.sign(speeds) * (columns @ values)
    spread = np.sqrt(np.maximum(np.einsum("kp,pr,kr->k", columns, covariance, columns), 0.0))
    sure = braking < -SURE * spread
    if not sure.any():
        return []
    k = int(np.argmin(np.where(sure, braking, np.inf)))
    name = terms.arm.joint_names[joint]
    return [
        f"friction of joint {name} pushes it on, by {-braking[k]:.3g} at a speed of {speeds[k]:.3g}, more than "
        f"{SURE:g} standard deviations: no drive has that"
    ]
