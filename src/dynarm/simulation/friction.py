"""Sharp Coulomb friction: each joint slides one way, slides the other way, or sticks; the motion in between is smooth.

A sliding joint feels its Coulomb friction as a constant. When its velocity reaches zero it sticks if friction can hold
it: its acceleration is then zero, and the friction is whatever that takes. When that is more than the joint's Coulomb
friction, it slides off in the direction of the excess.

Which joints at rest stick and which slide off is decided for all of them together: M qdd + friction = f with
0 < qdd_i where friction is +c_i, qdd_i < 0 where it is -c_i, and |friction| <= c_i where qdd_i = 0. With M positive
definite this has exactly one solution; pivoting on the least index finds it. Friction that grows with the load is
solved for joint by joint, as `dynamics/drive_train.py` says.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from ..algebra.vectors import Nested, Scalar
from ..border.kinds import Maker
from ..dynamics.drive import jumping, without
from ..dynamics.drive_train import check_factors, loaded
from ..errors import InputError
from ..graph.graph import Port
from ..model.model import Model
from ..plan.scene import Scene, minus, plus
from .plant import Plant, dot, pushed
from .system import vectors

# part of the Coulomb friction by which a load must exceed it before the joint slides off
EXCESS = 1e-10
PIVOTS = 50  # a joint, before the search for the modes is given up


Kernel = Callable[..., tuple[np.ndarray, ...]]


class Balance(NamedTuple):
    """M qdd + h = r and r + g |r| + K qdd + Coulomb friction = y."""

    M: np.ndarray
    y: np.ndarray  # joint forces without smooth friction that no load changes
    h: np.ndarray  # rigid-body forces at rest of accelerations
    g: np.ndarray  # friction per unit of load


@dataclass(slots=True)
class Sliding:
    """Which joints slide which way: mode +1, -1, or 0 for a joint that sticks."""

    plant: Plant  # with everything but the sharp Coulomb friction
    sharp: np.ndarray  # speeds of joints with sharp Coulomb friction
    limits: np.ndarray  # (nv, 2): Coulomb friction for positive and for negative velocity
    slack: float  # velocity below which a joint that has just been let go counts as still at rest
    kernel: Kernel = field(repr=False)
    coupled: np.ndarray | None = None  # (nv, nv): forces per unit of coupled joints' acceleration
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
        return cls(smooth, sharp, limits, slack, _terms(smooth), _coupled(smooth))

    @property
    def stuck(self) -> np.ndarray:
        return np.asarray(self.sharp & (self.mode == 0))

    # ---- right-hand side

    def rates(self, x: np.ndarray, *drives: np.ndarray) -> np.ndarray:
        """The rate of the state [q, qd, memory, work, loss, impulse of what sticks] with the modes as they are.

        The impulse is there for the integrator: nothing else of a joint that sticks tells it how fast the load changes.
        """
        layout = self.plant.layout
        qd = x[layout.qd]
        terms, moving, power = self._at(x, *drives)
        qdd, held, coulomb = self._solve(terms, self.mode)
        power[1] += coulomb @ qd + self._more_loss(terms, qd, qdd)
        still = np.zeros(layout.memory)
        return np.concatenate([moving, qdd, still, power, [held @ self.stuck]])

    def _at(self, x: np.ndarray, *drives: np.ndarray) -> tuple[Balance, np.ndarray, np.ndarray]:
        """The equations of motion in a state, the rates of its coordinates, powers of inputs and of smooth friction."""
        layout = self.plant.layout
        past = [x[layout.past]] if layout.memory else []
        *terms, moving, power = self.kernel(
            x[layout.q], x[layout.qd], *past, *drives, *self.plant.extras
        )
        return Balance(*terms), moving, power

    def _solve(self, at: Balance, mode: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Accelerations, for stuck joints the force that friction holds, and the Coulomb friction of sliding ones."""
        slides = self.sharp & (mode != 0)
        coulomb = np.where(slides, np.where(mode > 0, self.limits[:, 0], -self.limits[:, 1]), 0.0)
        moving = ~self.sharp | slides
        free = at.y - coulomb
        signs = np.sign(free)
        for _ in range(2 + len(free)):  # until the signs of the loads are right
            qdd = self._accelerated(at, free, 1 + at.g * signs, moving)
            rigid = at.M @ qdd + at.h
            before, signs = signs, np.where(moving & (at.g != 0), np.sign(rigid), signs)
            if np.array_equal(before, signs):
                break
        held = free - rigid - loaded(rigid, at.g)
        return qdd, held if self.coupled is None else held - self.coupled @ qdd, coulomb

    def _accelerated(
        self, at: Balance, free: np.ndarray, grown: np.ndarray, moving: np.ndarray
    ) -> np.ndarray:
        """Accelerations of the joints that move, with g |r| taken as g times the sign times r."""
        A, b, qdd = grown[:, None] * at.M, free - grown * at.h, np.zeros(len(free))
        if self.coupled is not None:
            A = A + self.coupled
        if moving.all():
            return np.linalg.solve(A, b)
        if moving.any():
            qdd[moving] = np.linalg.solve(A[np.ix_(moving, moving)], b[moving])
        return qdd

    def _more_loss(self, at: Balance, qd: np.ndarray, qdd: np.ndarray) -> float:
        """Power that friction takes by load and by coupled inertia [W]."""
        power = float(loaded(at.M @ qdd + at.h, at.g) @ qd)
        return power if self.coupled is None else power + float(self.coupled @ qdd @ qd)

    # ---- switching

    def gaps(self, x: np.ndarray, *drives: np.ndarray) -> np.ndarray:
        """For each joint how far it is from leaving its mode; negative beyond."""
        qd = x[self.plant.layout.qd]
        gaps = np.where(self.sharp, self.mode * qd + np.where(self.armed, 0.0, self.slack), 1.0)
        stuck = self.stuck
        if stuck.any():
            _, held, _ = self._solve(self._at(x, *drives)[0], self.mode)
            limit = np.where(held > 0, self.limits[:, 0], self.limits[:, 1])
            gaps = np.where(stuck, limit * (1 + EXCESS) + 1e-300 - np.abs(held), gaps)
        return gaps

    def arm(self, qd: np.ndarray) -> None:
        """Note which joints have left zero velocity behind."""
        self.armed |= self.sharp & (self.mode * qd > self.slack)

    def settle(self, x: np.ndarray, resting: np.ndarray, *drives: np.ndarray) -> None:
        """Choose the modes of the joints at rest, so that each of them does what its friction allows."""
        qd, at = x[self.plant.layout.qd], self._at(x, *drives)[0]
        resting = resting & self.sharp
        mode = np.where(self.sharp, np.sign(qd), 0.0)
        mode[resting] = 0.0
        for _ in range(PIVOTS * len(mode)):
            qdd, held, _ = self._solve(at, mode)
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


def _coupled(plant: Plant) -> np.ndarray | None:
    """Forces per unit of coupled joints' acceleration, as numbers."""
    K = Scene(plant.model.arm, plant.options, {}).coupled_inertia
    return None if K is None else np.array(K, float)


def _terms(plant: Plant) -> Kernel:
    """(q, qd, [memory,] tau, [wrench], ...) -> (M, y, h, g, rates of q, powers), as `Balance` has them."""
    layout = plant.layout
    n, k = layout.speeds, layout.coordinates
    inputs = [*vectors(k, "q"), *vectors(n, "qd")]
    inputs += [*vectors(layout.memory, *["friction_state"] * bool(layout.memory))]
    inputs += layout.input_ports
    outputs = [Port("M", (n, n)), *vectors(n, "y", "h", "g"), Port("moving", (k,))]

    def body() -> Maker:
        chosen = plant.chosen("mass_matrix", "inverse_dynamics")

        def compute(q: Scalar, qd: Scalar, *rest: Scalar) -> Nested:
            past, rest = (rest[0], rest[1:]) if layout.memory else (None, rest)
            tau, rest = rest[0], rest[1:]
            wrench, extras = (rest[0], rest[1:]) if plant.wrench else (None, rest)
            given = {"q": plant.placed(q), "qd": qd, "tau": tau, "wrench": wrench}
            scene = plant.scene(chosen, given | {"friction_state": past}, extras)
            return (*_equations(scene, tau), plant.moving(q, scene), _powers(scene, tau))

        return compute

    powers = Port("power", (2,))
    return plant.compiled("sliding_equations", inputs, [*outputs, powers], body).ufunc


def _equations(scene: Scene, tau: Sequence[Scalar]) -> tuple[Scalar, ...]:
    """M, y, h and g over scalars."""
    g = scene.still
    if scene.loaded:
        check_factors(scene.arm.joints)
        g = scene.load_factors()
    y = minus(tau, scene.free_friction())
    return scene.mass_matrix, y, scene.inverse_dynamics(scene.qd, scene.still), g


def _powers(scene: Scene, tau: Sequence[Scalar]) -> list[Scalar]:
    """Powers of the inputs, and of friction that load and other joints' accelerations do not change."""
    acting = plus(tau, pushed(scene)) if scene.options.wrench else tau
    return [dot(acting, scene.qd), dot(scene.free_friction(), scene.qd)]
