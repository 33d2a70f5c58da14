"""Steps of fixed length on the 7-joint Panda, dynarm beside MuJoCo: RK4, same robot, same step, one core.

What is timed is the whole call of dynarm.simulate, every state recorded, against mj_step with all its steps in one call
and nothing recorded; the processor's own time counts. MuJoCo's constraints and contacts are off. Trajectories are
compared before anything is timed.
`python -m benchmarks.bench_simulation` prints the figures.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

import dynarm

from .measure import contest
from .robots import Robot, robot

STEP = 1e-3
BATCH, STEPS = 1024, 64
ALONE = 1000
AGREEMENT = 1e-8  # in positions after ALONE steps; contenders that differ by more are not compared


def states(n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return rng.uniform(-1, 1, (BATCH, n)), rng.uniform(-1, 1, (BATCH, n))


def agree(model: dynarm.Model, twin: Robot, q: np.ndarray, qd: np.ndarray) -> float:
    """The largest difference in positions along one trajectory."""
    import mujoco

    run = dynarm.simulate(model, q, qd, ALONE * STEP, method="rk4", dt=STEP)
    data = mujoco.MjData(twin.mujoco)
    data.qpos[:], data.qvel[:] = q, qd
    worst = 0.0
    for k in range(1, ALONE + 1):
        mujoco.mj_step(twin.mujoco, data)
        worst = max(worst, float(np.abs(data.qpos - run.q[k]).max()))
    return worst


def run(seconds: float = 1.5) -> dict[str, Any]:
    """Figures by name."""
    import mujoco

    twin = robot("panda")
    twin.mujoco.opt.timestep = STEP
    model = dynarm.compile(twin.arm)
    q, qd = states(twin.arm.n)
    difference = agree(model, twin, q[0], qd[0])
    assert difference < AGREEMENT, f"the trajectories differ by {difference:.1e}"
    data = mujoco.MjData(twin.mujoco)

    def mujoco_steps() -> None:
        data.qpos[:], data.qvel[:] = q[0], qd[0]
        mujoco.mj_step(twin.mujoco, data, ALONE)

    def ours(method: str, many: bool, threads: int = 1) -> Any:
        start, steps = ((q, qd), STEPS) if many else ((q[0], qd[0]), ALONE)
        return lambda: dynarm.simulate(
            model, *start, steps * STEP, method=method, dt=STEP, threads=threads, progress=False
        )

    calls = {
        "mujoco": mujoco_steps,
        "rk4 in batches of 1024": ours("rk4", True),
        "rk4 alone": ours("rk4", False),
        "ab4 in batches of 1024": ours("ab4", True),
        "ab4 alone": ours("ab4", False),
    }
    sizes = {name: BATCH * STEPS if "batches" in name else ALONE for name in calls}
    times = contest(calls, seconds, run=1e-3, clock=time.thread_time)
    per = {name: t.best / sizes[name] for name, t in times.items()}
    figures: dict[str, Any] = {
        "largest difference in q": difference,
        "mj_step with RK4, us": per["mujoco"] * 1e6,
    }
    for name, used in per.items():
        if name != "mujoco":
            unit, scale = ("ns", 1e9) if "batches" in name else ("us", 1e6)
            figures[f"{name}, {unit} a step"] = used * scale
            figures[f"{name}: times MuJoCo's RK4 steps"] = per["mujoco"] / used
    threads = contest({str(k): ours("rk4", True, k) for k in (1, 2)}, seconds, run=1e-3)
    figures["rk4 in batches of 1024: gain of a second thread"] = (
        threads["1"].best / threads["2"].best
    )
    return figures


if __name__ == "__main__":
    for name, value in run().items():
        print(f"{name:50} {value:.4g}")
