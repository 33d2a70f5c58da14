"""The closed loop in compiled code: a robot under a PD controller, its drives given as numbers at run time.

    (M(q) + armature) qdd + bias(q, qd) = clip(kp (command - q) - kd qd, -most, most) - viscous qd - hold - offset

What Coulomb friction holds is said in `holding`: its sign is smoothed over a width, its lead is one of all joints.

One step of RK4 (`simulation.integrators`) is one kernel; `simulated` marches it through a whole log without returning
to Python, for a batch of drives at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...algebra.ldl import factorise
from ...algebra.vectors import Scalar, add, clip, mul, sub
from ...border.kinds import FloatArray, Maker
from ...graph.graph import Port
from ...machine.load.march import March
from ...model.model import compile as compile_arm
from ...robot.arm import Arm
from ...simulation.integrators import rk4_body
from ...simulation.plant import Plant
from ...simulation.system import Rates, vectors
from .holding import BLUNT, Holding

WORDS = ("armature", "viscous", "coulomb", "offset")  # unknowns of a joint, in the order of a Drive
ANY = 1e6  # [N m or N] more than any controller gives
_CHUNK = 4096  # steps that are marched before states are put away
_STABLE = 1.6  # largest step times the fastest decay; RK4 is stable up to 2.78, and poor there
_LOOKS = 8  # moments of a step at which its command is looked at
_FINEST = 512  # steps between two samples at most


@dataclass(frozen=True, slots=True, eq=False)
class Loop:
    """A robot without its drives; gains and largest torques of its controller, widths and lead of Coulomb friction."""

    plant: Plant
    kp: FloatArray
    kd: FloatArray
    widths: FloatArray
    most: FloatArray | float = ANY
    lead: float = 0.0

    @property
    def n(self) -> int:
        return len(self.kp)

    def step(self) -> March:
        """(x, command at start, middle and end, h, drives, gains, [values]) -> x after a step.

        Values are those of the minimal parameters of the bodies, where the model takes them as inputs.
        """
        n, plant = self.n, self.plant
        inputs = [*vectors(2 * n, "x"), *vectors(n, "c0", "c1", "c2"), Port("h", ())]
        inputs += [*vectors(4 * n, "drives"), *vectors(4 * n + 1, "gains")]

        def body() -> Maker:
            return rk4_body(_flow(plant, n))

        return plant.compiled("position_loop", inputs, vectors(2 * n, "x_next"), body)

    def gains(self, wider: FloatArray, later: FloatArray) -> FloatArray:
        """(N, 4 n + 1): what the kernel is given beside drives: kp, kd, steepness of a sign, largest torques, lead."""
        widths = self.widths * np.exp(wider)
        own = np.broadcast_to(np.concatenate([self.kp, self.kd]), (len(wider), 2 * self.n))
        most = np.broadcast_to(self.most, (len(wider), self.n))
        return np.column_stack([own, 1 / widths, most, self.lead + later])

    def torques(self, command: FloatArray, q: FloatArray, qd: FloatArray) -> FloatArray:
        """(N, n): what the controller gives."""
        return np.asarray(np.clip(self.kp * (command - q) - self.kd * qd, -self.most, self.most))

    def rigid_torques(self, q: FloatArray, qd: FloatArray, qdd: FloatArray) -> FloatArray:
        """(N, n): what the bodies need for a motion."""
        return self.plant.model.inverse_dynamics(q, qd, qdd, **self.plant.keywords)

    def fastest(self, q: FloatArray, drives: FloatArray) -> float:
        """The largest rate [1/s] at which velocities decay, or the loop swings, in some poses q (k, n)."""
        armature, viscous, coulomb, _ = np.abs(drives.reshape(4, -1))
        steep = coulomb / (BLUNT * self.widths)
        M = self.plant.mass_matrix(q) + np.diag(armature + self.lead * steep)
        damping = self.kd + viscous + BLUNT * steep
        decay = np.linalg.eigvals(np.linalg.solve(M, np.diag(damping))).real.max()
        swing = np.linalg.eigvals(np.linalg.solve(M, np.diag(self.kp))).real.max()
        return float(max(decay, np.sqrt(max(swing, 0.0))))

    def substeps(self, t: FloatArray, q: FloatArray, drives: FloatArray) -> int:
        """Steps between two samples that RK4 needs to be stable and accurate."""
        usual = float(t[-1] - t[0]) / (len(t) - 1)
        some = q[:: max(1, len(q) // 20)]
        return int(np.clip(np.ceil(usual * self.fastest(some, drives) / _STABLE), 1, _FINEST))


def _flow(plant: Plant, n: int) -> Rates:
    """[qd, qdd] over scalars."""
    chosen = plant.chosen("mass_matrix", "bias")

    def rates(
        x: Scalar, c: Scalar, _: Scalar, drives: Scalar, gains: Scalar, *values: Scalar
    ) -> list[Scalar]:
        q, qd = x[:n], x[n:]
        scene = plant.scene(chosen, {"q": q, "qd": qd}, values)
        M = [list(row) for row in scene.mass_matrix]
        for i in range(n):
            M[i][i] = add(M[i][i], drives[i])
        forces = []
        for i, bias in enumerate(scene.bias()):
            kp, kd, most = gains[i], gains[n + i], gains[3 * n + i]
            viscous, offset = drives[n + i], drives[3 * n + i]
            force = clip(sub(mul(kp, sub(c[i], q[i])), mul(kd, qd[i])), most)
            force = sub(force, mul(viscous, qd[i]))
            forces.append(sub(sub(force, offset), bias))
        factors = factorise(M, inwards=not scene.chain.serial)
        held = Holding(drives[2 * n : 3 * n], gains[2 * n : 3 * n], gains[4 * n])
        return [*qd, *held.accelerations(factors, factors.solve(forces), qd)]

    return rates


def commanded(t: FloatArray, command: FloatArray, at: FloatArray) -> FloatArray:
    """(len(at), n): commands at other times, straight between samples; before the first, the first."""
    return np.column_stack([np.interp(at, t, column) for column in command.T])


def straight(
    t: FloatArray, command: FloatArray, starts: FloatArray, h: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """(len(starts), n): commands at start, middle and end of steps h, by the straight line nearest to them inside.

    Commands bend at the samples, which a step that looks at three moments only would weigh by where they lie in it.
    """
    places = (np.arange(_LOOKS) + 0.5) / _LOOKS - 0.5
    seen = commanded(t, command, (starts[:, None] + h * (places + 0.5)).ravel())
    seen = seen.reshape(len(starts), _LOOKS, -1)
    middle = np.ascontiguousarray(seen.mean(axis=1))
    half = np.einsum("k,ikj->ij", places / (2 * places @ places), seen)
    return middle - half, middle, middle + half


def simulated(
    loop: Loop,
    t: FloatArray,
    command: FloatArray,
    start: tuple[FloatArray, FloatArray],
    drives: FloatArray,
    delay: float,
    substeps: int,
    wider: FloatArray | float = 0.0,
    later: FloatArray | float = 0.0,
    values: FloatArray | None = None,
) -> FloatArray:
    """(len(t), N, n): positions at the samples for drives (N, 4 n), from q, qd (n,) at the first one.

    wider: logarithms (N, n) of factors of the widths. later: what is added (N,) to the lead. values: (N, p) of the
    bodies, where these are inputs; None: those of the loop.
    """
    n, many = loop.n, len(drives)
    kernel = loop.step()
    count = (len(t) - 1) * substeps
    h = float(t[-1] - t[0]) / count
    first, middle, end = straight(t, command, t[0] - delay + h * np.arange(count), h)
    gains = loop.gains(np.broadcast_to(wider, (many, n)), np.broadcast_to(later, many))
    x = np.empty((min(_CHUNK, count) + 1, many, 2 * n))
    x[0] = np.concatenate(start, axis=-1)
    out = np.empty((count + 1, many, n))
    out[0] = x[0, :, :n]
    step, fixed = np.array(h), np.ascontiguousarray(drives)
    bodies = [
        np.ascontiguousarray(x) for x in ([values] if values is not None else loop.plant.extras)
    ]
    row, wide = first.itemsize * n, x.strides[0]
    with np.errstate(all="ignore"):
        for low in range(0, count, _CHUNK):
            some = min(_CHUNK, count - low)
            given = [x[0], first[low], middle[low], end[low], step, fixed, gains, *bodies]
            still = [0] * (3 + len(bodies))
            kernel([*given, x[1]], [wide, row, row, row, *still, wide], some, many)
            out[low + 1 : low + some + 1] = x[1 : some + 1, :, :n]
            x[0] = x[some]
    return _at_samples(t, h, out, substeps)


def _at_samples(t: FloatArray, h: float, out: FloatArray, substeps: int) -> FloatArray:
    """The positions at the recorded times, of those on the even grid."""
    even = out[::substeps]
    place = (t - t[0]) / (h * substeps)
    if np.abs(place - np.arange(len(t))).max() < 1e-6:
        return even
    fine = (t - t[0]) / h
    k = np.clip(fine.astype(int), 0, len(out) - 2)
    part = (fine - k)[:, None, None]
    return np.asarray((1 - part) * out[k] + part * out[k + 1])


def bare(arm: Arm) -> Plant:
    """The robot's rigid bodies as a system; armature and friction are numbers that come with each rollout."""
    return Plant(compile_arm(arm))


def limits(arm: Arm) -> FloatArray:
    """(n,): the largest torques by the description, `ANY` where it tells none."""
    return np.array([joint.effort_limit or ANY for joint in arm.joints])


def legs(arm: Arm) -> list[int]:
    """For every joint the number of the limb on the fixed base that it belongs to: limbs do not feel one another."""
    roots: list[int] = []
    for i, parent in enumerate(arm.parents):
        roots.append(i if parent < 0 else roots[parent])
    order: Sequence[int] = sorted(set(roots))
    return [order.index(root) for root in roots]
