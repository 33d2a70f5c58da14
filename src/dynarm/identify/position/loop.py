"""The closed loop in compiled code: a robot under a PD controller, its drives given as numbers at run time.

    (M(q) + armature) qdd + bias(q, qd) = kp (command - q) - kd qd - viscous qd - coulomb sign(qd) - offset

The sign is smoothed over a width (`dynamics.drive.smooth_sign`).

One step of RK4 (`simulation.integrators`) is one kernel; `simulated` marches it through a whole log without returning
to Python, for a batch of drives at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...algebra.ldl import factorise
from ...algebra.vectors import Scalar, add, mul, sub
from ...border.kinds import FloatArray, Maker
from ...dynamics.drive import smooth_sign
from ...graph.graph import Port
from ...machine.load.march import March
from ...model.model import compile as compile_arm
from ...robot.arm import Arm
from ...simulation.integrators import rk4_body
from ...simulation.plant import Plant
from ...simulation.system import Rates, vectors

WORDS = ("armature", "viscous", "coulomb", "offset")  # unknowns of a joint, in the order of a Drive
_CHUNK = 4096  # steps that are marched before states are put away
_STABLE = 2.4  # largest step times the fastest decay; RK4 is stable up to 2.78
_FINEST = 512  # steps between two samples at most


@dataclass(frozen=True, slots=True, eq=False)
class Loop:
    """A robot without its drives, the gains of its controller, and the widths of Coulomb friction (n,)."""

    plant: Plant
    kp: FloatArray
    kd: FloatArray
    widths: FloatArray

    @property
    def n(self) -> int:
        return len(self.kp)

    def step(self) -> March:
        """(x, command at start, middle and end, h, drives, gains) -> x after a step."""
        n, plant = self.n, self.plant
        inputs = [*vectors(2 * n, "x"), *vectors(n, "c0", "c1", "c2"), Port("h", ())]
        inputs += [*vectors(4 * n, "drives"), *vectors(3 * n, "gains")]

        def body() -> Maker:
            return rk4_body(_flow(plant, n))

        return plant.compiled("position_loop", inputs, vectors(2 * n, "x_next"), body)

    def fastest(self, q: FloatArray, drives: FloatArray) -> float:
        """The largest rate [1/s] at which velocities decay, or the loop swings, in some poses q (k, n)."""
        armature, viscous, coulomb, _ = np.abs(drives.reshape(4, -1))
        M = self.plant.model.mass_matrix(q) + np.diag(armature)
        damping = self.kd + viscous + coulomb / self.widths
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

    def rates(x: Scalar, c: Scalar, _: Scalar, drives: Scalar, gains: Scalar) -> list[Scalar]:
        q, qd = x[:n], x[n:]
        scene = plant.scene(chosen, {"q": q, "qd": qd}, ())
        M = [list(row) for row in scene.mass_matrix]
        for i in range(n):
            M[i][i] = add(M[i][i], drives[i])
        forces = []
        for i, bias in enumerate(scene.bias()):
            kp, kd, width = (gains[k * n + i] for k in range(3))
            viscous, coulomb, offset = (drives[k * n + i] for k in (1, 2, 3))
            force = sub(mul(kp, sub(c[i], q[i])), mul(add(kd, viscous), qd[i]))
            force = sub(force, mul(coulomb, smooth_sign(qd[i], width)))
            forces.append(sub(sub(force, offset), bias))
        return [*qd, *factorise(M, inwards=not scene.chain.serial).solve(forces)]

    return rates


def commanded(t: FloatArray, command: FloatArray, at: FloatArray) -> FloatArray:
    """(len(at), n): commands at other times, straight between samples; before the first, the first."""
    return np.column_stack([np.interp(at, t, column) for column in command.T])


def simulated(
    loop: Loop,
    t: FloatArray,
    command: FloatArray,
    start: tuple[FloatArray, FloatArray],
    drives: FloatArray,
    delay: float,
    substeps: int,
    wider: FloatArray | float = 0.0,
) -> FloatArray:
    """(len(t), N, n): positions at the samples for drives (N, 4 n), from q, qd (n,) at the first one.

    wider: logarithms (N,) of a factor of the widths.
    """
    n, many = loop.n, len(drives)
    kernel = loop.step()
    count = (len(t) - 1) * substeps
    h = float(t[-1] - t[0]) / count
    grid = t[0] + h * np.arange(2 * count + 1) / 2  # starts, middles and ends
    c = commanded(t, command, grid - delay)
    first, middle = np.ascontiguousarray(c[::2]), np.ascontiguousarray(c[1::2])
    factors = np.exp(np.broadcast_to(wider, many))[:, None]
    gains = np.empty((many, 3 * n))
    gains[:, : 2 * n] = np.concatenate([loop.kp, loop.kd])
    gains[:, 2 * n :] = 1 / (loop.widths * factors)
    x = np.empty((min(_CHUNK, count) + 1, many, 2 * n))
    x[0] = np.concatenate(start, axis=-1)
    out = np.empty((count + 1, many, n))
    out[0] = x[0, :, :n]
    step, fixed = np.array(h), np.ascontiguousarray(drives)
    row, wide = c.itemsize * n, x.strides[0]
    with np.errstate(all="ignore"):
        for low in range(0, count, _CHUNK):
            some = min(_CHUNK, count - low)
            operands = [x[0], first[low], middle[low], first[low + 1], step, fixed, gains, x[1]]
            kernel(operands, [wide, row, row, row, 0, 0, 0, wide], some, many)
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


def legs(arm: Arm) -> list[int]:
    """For every joint the number of the limb on the fixed base that it belongs to: limbs do not feel one another."""
    roots: list[int] = []
    for i, parent in enumerate(arm.parents):
        roots.append(i if parent < 0 else roots[parent])
    order: Sequence[int] = sorted(set(roots))
    return [order.index(root) for root in roots]
