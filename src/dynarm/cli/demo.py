"""dynarm demo: what dynarm does, on the built-in Stanford arm."""

from __future__ import annotations

import time

import numpy as np

from ..counts import count
from ..model import Model, compile
from ..quantities import QUANTITIES
from ..robot.arm import Arm
from ..robot.chain import chain_of, pose
from ..robot.files import load
from .console import console, table

SHOWN = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "bias", "coriolis_matrix", "jacobian")
SAMPLES = 4096


def demo() -> None:
    """Show dynarm at work on the Stanford arm: the robot, its compiled dynamics, their cost and their speed."""
    out = console()
    arm = load("stanford")
    out.print(_robot(arm))
    out.print()
    model = compile(arm)
    q, qd, qdd = np.random.default_rng(0).uniform(-1, 1, (3, SAMPLES, arm.n))
    out.print(_costs(arm, model, (q, qd, qdd)))
    out.print()
    error = _independent(arm, model, q, qd, qdd)
    verdict = "agree" if error < 1e-12 else "DISAGREE"
    out.print(
        f"Check: compiled inverse dynamics and the paper's equations evaluated by NumPy {verdict} "
        f"on {SAMPLES} random states (largest relative difference {error:.1e})."
    )


def _robot(arm: Arm) -> object:
    rows = [
        [j.name, j.kind, f"{j.a:g}", f"{np.degrees(j.alpha):g}", f"{j.d:g}", f"{j.mass:g}"] for j in arm.joints
    ]
    return table(
        f"The {arm.name} arm: {arm.n} joints, modified Denavit-Hartenberg",
        ["joint", "kind", "a [m]", "alpha [deg]", "d [m]", "mass [kg]"],
        rows,
        right=2,
    )


def _costs(arm: Arm, model: Model, state: tuple[np.ndarray, ...]) -> object:
    rows = []
    for name in SHOWN:
        word = QUANTITIES[name]
        ufunc = model.functions[name]
        args = state[: len(word.state)]
        result = ufunc(*args)
        best = min(_seconds(ufunc, args, result) for _ in range(20))
        counted = count(arm, name)
        chosen = model.kernel(name).notes["formulation"]
        rows.append([name, ", ".join(chosen.values()), counted.mul, counted.add, f"{best / SAMPLES * 1e9:.0f}"])
    return table(
        f"Compiled for this robot: operations, and nanoseconds a sample in batches of {SAMPLES}",
        ["quantity", "cheapest formulation", "mul", "add", "ns"],
        rows,
        right=2,
    )


def _seconds(ufunc: np.ufunc, args: tuple[np.ndarray, ...], out: np.ndarray) -> float:
    start = time.perf_counter()
    ufunc(*args, out=out)
    return time.perf_counter() - start


def _independent(arm: Arm, model: Model, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> float:
    """The largest relative difference to Newton-Euler equations that were neither traced nor compiled."""
    from ..papers.newton_euler_lin1995 import inverse_dynamics

    chain = chain_of(arm)
    plain = np.stack(
        np.broadcast_arrays(*inverse_dynamics(chain, pose(chain, q.T), qd.T, qdd.T)), axis=-1
    )
    return float(np.abs(model.inverse_dynamics(q, qd, qdd) - plain).max() / np.abs(plain).max())
