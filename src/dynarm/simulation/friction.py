"""Sharp Coulomb friction: each joint slides one way, slides the other way, or sticks; the motion in between is smooth.

A sliding joint feels its Coulomb friction as a constant. When its velocity reaches zero it sticks if friction can hold
it: its acceleration is then zero, and the friction is whatever that takes. When that is more than the joint's Coulomb
friction, it slides off in the direction of the excess.

Which joints at rest stick and which slide off is decided for all of them together: M qdd + friction = f with
0 < qdd_i where friction is +c_i, qdd_i < 0 where it is -c_i, and |friction| <= c_i where qdd_i = 0. With M positive
definite this has exactly one solution; pivoting on the least index finds it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from ..algebra.vectors import Nested, Scalar
from ..border.kinds import Maker
from ..dynamics.drive import jumping, without
from ..errors import InputError
from ..graph.graph import Port
from ..model.model import Model
from ..plan.scene import minus
from .plant import Plant, powers
from .system import vectors

# part of the Coulomb friction by which a load must exceed it before the joint slides off
EXCESS = 1e-10
PIVOTS = 50  # a joint, before the search for the modes is given up


@dataclass(slots=True)
class Sliding:
    """Which joints slide which way: mode +1, -1, or 0 for a joint that sticks."""

    plant: Plant  # with everything but the sharp Coulomb friction
    sharp: np.ndarray  # speeds of joints with sharp Coulomb friction
    limits: np.ndarray  # (nv, 2): Coulomb friction for positive and for negative velocity
    slack: float  # velocity below which a joint that has just been let go counts as still at rest
    terms: np.ufunc = field(repr=False)
    mode: np.ndarray = field(init=False)
    armed: np.ndarray = field(init=False)  # sliding joints that have left zero velocity behind

    def __post_init__(self) -> None:
        self.mode = np.zeros(len(self.sharp))
        self.armed = np.zeros(len(self.sharp), bool)

    @classmethod
    def of(cls, plant: Plant, slack: float) -> Sliding | None:
        """The friction of a plant's joints, or None where none of it is sharp."""
        limits = coulomb_limits(plant.model)
        sharp = limits.max(axis=1) > 0
        if not sharp.any():
            return None
        smooth = _without_coulomb(plant)
        return cls(smooth, sharp, limits, slack, _terms(smooth))

    @property
    def stuck(self) -> np.ndarray:
        return np.asarray(self.sharp & (self.mode == 0))

    # ---- right-hand side

    def rates(self, x: np.ndarray, *drives: np.ndarray) -> np.ndarray:
        """The rate of the state [q, qd, work, loss, impulse of what sticks] with the modes as they are.

        The impulse is there for the integrator: nothing else of a joint that sticks tells it how fast the load changes.
        """
        layout = self.plant.layout
        qd = x[layout.qd]
        M, f, moving, power = self.terms(x[layout.q], qd, *drives, *self.plant.extras)
        qdd, held, coulomb = self._solve(M, f, self.mode)
        power[1] += coulomb @ qd
        return np.concatenate([moving, qdd, power, [held @ self.stuck]])

    def _solve(
        self, M: np.ndarray, f: np.ndarray, mode: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Accelerations, for stuck joints the force that friction holds, and the Coulomb friction of sliding ones."""
        slides = self.sharp & (mode != 0)
        coulomb = np.where(slides, np.where(mode > 0, self.limits[:, 0], -self.limits[:, 1]), 0.0)
        moving = ~self.sharp | slides
        free = f - coulomb
        qdd = np.zeros(len(f))
        if moving.all():
            qdd = np.linalg.solve(M, free)
        elif moving.any():
            qdd[moving] = np.linalg.solve(M[np.ix_(moving, moving)], free[moving])
        return qdd, free - M @ qdd, coulomb

    # ---- switching

    def gaps(self, q: np.ndarray, qd: np.ndarray, *drives: np.ndarray) -> np.ndarray:
        """For each joint how far it is from leaving its mode; negative beyond."""
        gaps = np.where(self.sharp, self.mode * qd + np.where(self.armed, 0.0, self.slack), 1.0)
        stuck = self.stuck
        if stuck.any():
            M, f, *_ = self.terms(q, qd, *drives, *self.plant.extras)
            _, held, _ = self._solve(M, f, self.mode)
            limit = np.where(held > 0, self.limits[:, 0], self.limits[:, 1])
            gaps = np.where(stuck, limit * (1 + EXCESS) + 1e-300 - np.abs(held), gaps)
        return gaps

    def arm(self, qd: np.ndarray) -> None:
        """Note which joints have left zero velocity behind."""
        self.armed |= self.sharp & (self.mode * qd > self.slack)

    def settle(
        self, q: np.ndarray, qd: np.ndarray, resting: np.ndarray, *drives: np.ndarray
    ) -> None:
        """Choose the modes of the joints at rest, so that each of them does what its friction allows."""
        M, f, *_ = self.terms(q, qd, *drives, *self.plant.extras)
        resting = resting & self.sharp
        mode = np.where(self.sharp, np.sign(qd), 0.0)
        mode[resting] = 0.0
        for _ in range(PIVOTS * len(mode)):
            qdd, held, _ = self._solve(M, f, mode)
            over = np.where(
                mode == 0,
                (held > self.limits[:, 0]) | (held < -self.limits[:, 1]),
                mode * qdd < 0,
            )
            wrong = np.flatnonzero(resting & over)
            if not len(wrong):
                break
            i = wrong[0]
            mode[i] = np.sign(held[i]) if mode[i] == 0 else 0.0
        self.mode = mode
        self.armed = self.sharp & (np.abs(qd) > self.slack)

    def changes(self, before: np.ndarray) -> list[str]:
        """What the joints do that have another mode than before, in words."""
        names = self.plant.model.arm.speed_names
        words = []
        for i in np.flatnonzero(self.sharp & (self.mode != before)):
            done = "sticks" if not self.mode[i] else "slides" if not before[i] else "reverses"
            words.append(f"{names[i]} {done}")
        return words


def coulomb_limits(model: Model) -> np.ndarray:
    """(nv, 2): sharp Coulomb friction [N m or N] for positive and for negative velocity.

    A joint that follows another brakes that one, by its multiplier; where that is negative it moves the other way.
    """
    arm = model.arm
    limits = np.zeros((arm.nv, 2))
    coupling, first = arm.coupling, arm.nv - len(arm.coupling.masters)
    for i, both in enumerate(_joint_limits(model)):
        factor = coupling.multipliers[i]
        limits[first + coupling.of[i]] += abs(factor) * (both if factor > 0 else both[::-1])
    return limits


def _joint_limits(model: Model) -> list[np.ndarray]:
    """The same of each joint, those that follow others included."""
    rows = []
    for joint in model.arm.joints:
        f = joint.friction
        both = np.zeros(2)
        if model.friction and f is not None:
            both = sum((np.array(term.coefficients(f)) for term in jumping(f)), both)
        if min(both) < 0:
            raise InputError(
                f"joint '{joint.name}' has negative Coulomb friction {min(both):g}, which would drive it; "
                "give a positive one"
            )
        rows.append(both)
    return rows


def _without_coulomb(plant: Plant) -> Plant:
    """The plant whose joints have lost their sharp Coulomb friction."""
    model = plant.model
    joints = [
        replace(j, friction=without(j.friction, jumping(j.friction)))
        if both.any() and j.friction is not None
        else j
        for j, both in zip(model.arm.joints, _joint_limits(model), strict=True)
    ]
    gravity = "input" if model.gravity_input else None
    parameters = "inputs" if model.parameters_input else None
    smooth = Model(replace(model.arm, joints=joints), model.wishes, True, gravity, parameters)
    return replace(plant, model=smooth)


def _terms(plant: Plant) -> np.ufunc:
    """(q, qd, tau, [wrench], ...) -> (M, f, rates of q, powers) with M qdd = f."""
    layout = plant.layout
    n, k = layout.speeds, layout.coordinates
    inputs = [*vectors(k, "q"), *vectors(n, "qd"), *layout.input_ports]
    outputs = [Port("M", (n, n)), Port("f", (n,)), Port("moving", (k,)), Port("power", (2,))]

    def body() -> Maker:
        chosen = plant.chosen("mass_matrix", "inverse_dynamics")

        def compute(q: Scalar, qd: Scalar, tau: Scalar, *rest: Scalar) -> Nested:
            wrench, extras = (rest[0], rest[1:]) if plant.wrench else (None, rest)
            given = {"q": plant.placed(q), "qd": qd, "tau": tau, "wrench": wrench}
            scene = plant.scene(chosen, given, extras)
            f = minus(tau, scene.forces(scene.still))
            return scene.mass_matrix, f, plant.moving(q, scene), powers(scene, tau)

        return compute

    return plant.compiled("sliding_terms", inputs, outputs, body).ufunc
