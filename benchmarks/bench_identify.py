"""One million samples of a 7-joint arm, none decimated: time and memory of a fit, and the same fit built by hand.

Beside it, 20 s at 1 kHz by defaults, friction and preparation chosen from the data.
The peer evaluates pin.computeJointTorqueRegressor sample by sample, keeps the base columns, adds friction, armature and
offset columns and folds blocks of rows with SciPy's QR: same data, same unknowns, same weights, one thread.
`python -m benchmarks.bench_identify` prints the figures; the fit runs in a process of its own, whose peak is measured.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from typing import Any

import numpy as np

SAMPLES = 1_000_000
RATE = 1000.0
_DEFAULT = 20_000  # samples of a fit by defaults
_ONE = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def motion(n: int, samples: int) -> tuple[np.ndarray, ...]:
    """t and a multi-sine motion q, qd, qdd (samples, n)."""
    rng = np.random.default_rng(0)
    t = np.arange(samples) / RATE
    w = 2 * np.pi * rng.uniform(0.05, 0.9, (6, n))
    a, phase = rng.uniform(0.05, 0.35, (6, n)), rng.uniform(0, 2 * np.pi, (6, n))
    q, qd, qdd = (np.zeros((samples, n)) for _ in range(3))
    for k in range(6):
        angle = np.outer(t, w[k]) + phase[k]
        q += a[k] * np.sin(angle)
        qd += a[k] * w[k] * np.cos(angle)
        qdd -= a[k] * w[k] ** 2 * np.sin(angle)
    return t, q, qd, qdd


def recorded(samples: int) -> tuple[Any, Any]:
    """The arm, and a log of it with noisy torques and positions."""
    import dynarm

    from .robots import robot

    arm = robot("panda").arm
    t, q, qd, qdd = motion(arm.n, samples)
    rng = np.random.default_rng(1)
    tau = dynarm.compile(arm).inverse_dynamics(q, qd, qdd)
    tau += 0.5 * qd + 0.3 * np.sign(qd) + 0.1 + rng.normal(0, 0.1, tau.shape)
    q += rng.normal(0, 1e-5, q.shape)
    return arm, dynarm.Log(t, q, tau, qd)


def ours(samples: int = SAMPLES) -> dict[str, float]:
    """Seconds of the fit, of its regressor alone, and the process's peak memory."""
    import resource

    import dynarm
    from dynarm.identify.regressor import Terms

    arm, log = recorded(samples)
    how = dynarm.Preparation(decimate=1, velocity="recorded")
    identifier = dynarm.Identifier(arm, cutoff=20.0, preparation=how)
    identifier.fit(log.cut(0, 5))  # compiles and imports
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start, worked = time.perf_counter(), time.process_time()
    fit = identifier.fit(log)
    seconds, worked = time.perf_counter() - start, time.process_time() - worked
    rigid = Terms(arm).rigid
    out = np.empty((512, arm.n, rigid.compiled_size))
    start = time.process_time()
    for low in range(0, samples, 512):
        rows = slice(low, low + 512)
        rigid.compiled(*(x[rows] for x in (log.q, log.qd, log.qd)), out=out[: len(log.t[rows])])
    return {
        "fit, on the clock [s]": seconds,
        "fit [s of one core]": worked,
        "regressor [s of one core]": time.process_time() - start,
        "peak memory [MB]": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "memory before the fit [MB]": before / 1024,
        "unknowns": float(len(fit.names_)),
    }


def _rich(arm: Any, log: Any) -> tuple[Any, Any]:
    """The log with friction that grows with the load, and with that of an element: the longest of all choices."""
    from dataclasses import replace

    x, held = np.zeros(arm.n), np.empty(log.q.shape)
    for k, travel in enumerate(np.diff(log.q, axis=0, prepend=log.q[:1])):
        x = np.clip(x + travel, -0.01, 0.01)
        held[k] = x / 0.01
    rich = 0.1 * np.abs(log.tau) * np.sign(log.qd) + 0.1 * log.tau.std(axis=0) * held
    return arm, replace(log, tau=log.tau + rich)


def defaults(_: int = 0) -> dict[str, float]:
    """Seconds of a fit of 20 s at 1 kHz by defaults, friction chosen; compiled, imported and told of by progress."""
    import dynarm

    arm, log = _rich(*recorded(_DEFAULT))
    told: list[int] = []
    identifier = dynarm.Identifier(arm, progress=lambda done, whole: told.append(done))
    identifier.fit(log.cut(0, 5))  # compiles and imports
    told.clear()
    start, worked = time.perf_counter(), time.process_time()
    fit = identifier.fit(log)
    return {
        "fit, on the clock [s]": time.perf_counter() - start,
        "fit [s of one core]": time.process_time() - worked,
        "unknowns": float(len(fit.names_)),
        "steps told by progress": float(len(told)),
    }


def by_hand(samples: int) -> dict[str, float]:
    """Seconds of the same fit from pinocchio's regressor and SciPy's QR, and of that regressor alone."""
    _, log = recorded(samples)
    return folded_by_hand(log.q, log.qd, log.tau)


def folded_by_hand(
    recorded_q: np.ndarray, recorded_qd: np.ndarray | None, recorded_tau: np.ndarray
) -> dict[str, float]:
    """The same of recorded arrays; without velocities these are differences of the filtered positions."""
    import pinocchio as pin
    import scipy.linalg as linalg
    import scipy.signal as signal

    from .robots import robot

    samples = len(recorded_q)
    model = robot("panda").pinocchio
    data, n = model.createData(), model.nv
    start = time.process_time()
    sos = signal.butter(4, 20.0, fs=RATE, output="sos")
    q = signal.sosfiltfilt(sos, recorded_q, axis=0)
    qd = np.gradient(q, 1 / RATE, axis=0)
    if recorded_qd is not None:
        qd = signal.sosfiltfilt(sos, recorded_qd, axis=0)
    qdd = np.gradient(qd, 1 / RATE, axis=0)
    keep = _base_columns(pin, model, data)
    eye = np.eye(n)
    evaluating = 0.0
    R: list[Any] = [None] * n
    for low in range(0, samples, 4096):
        rows = slice(low, low + 4096)
        began = time.process_time()
        Y = np.stack(
            [
                pin.computeJointTorqueRegressor(model, data, *x).copy()
                for x in zip(q[rows], qd[rows], qdd[rows])
            ]
        )
        evaluating += time.process_time() - began
        v, a = qd[rows], qdd[rows]
        extra = [eye * x[:, None] for x in (a, v, np.sign(v))] + [np.repeat(eye[None], len(v), 0)]
        W = np.concatenate([Y, *extra], axis=2)[:, :, keep]
        for j in range(n):  # joint by joint, so that weights can follow
            block = np.column_stack([W[:, j], recorded_tau[rows, j]])
            stacked = block if R[j] is None else np.vstack([R[j], block])
            R[j] = linalg.qr(stacked, mode="r", check_finite=False, overwrite_a=True)[0][
                : block.shape[1]
            ]
    sigma = np.ones(n)
    for _ in range(5):
        A = np.vstack([R[j] / sigma[j] for j in range(n)])
        values = linalg.lstsq(A[:, :-1], A[:, -1])[0]
        sigma = np.array([np.linalg.norm(R[j][:, -1] - R[j][:, :-1] @ values) for j in range(n)])
        sigma /= np.sqrt(samples)
    return {
        "fit [s of one core]": time.process_time() - start,
        "regressor [s of one core]": evaluating,
    }


def _base_columns(pin: Any, model: Any, data: Any) -> np.ndarray:
    """Independent columns of pinocchio's regressor with armatures, and those of friction and offset."""
    from scipy.linalg import qr

    rng = np.random.default_rng(0)
    n = model.nv
    rows = []
    for _ in range(200):
        q, v, a = (rng.uniform(-s, s, n) for s in (3, 3, 8))
        rows.append(np.hstack([pin.computeJointTorqueRegressor(model, data, q, v, a), np.diag(a)]))
    W = np.vstack(rows)
    R, pivots = qr(W, mode="r", pivoting=True)
    size = np.abs(np.diag(R))
    independent = np.sort(pivots[: int((size > 1e-8 * size[0]).sum())])
    return np.r_[independent, 11 * n + np.arange(3 * n)]


def _ratio(found: dict[str, Any], key: str) -> float:
    return float(found["by_hand"][key] / found["ours"][key])


def run(samples: int = SAMPLES) -> dict[str, Any]:
    """The figures of both fits, each in a process of its own with one thread."""
    found = {}
    for name in ("ours", "by_hand", "defaults"):
        code = f"import json; from benchmarks.bench_identify import {name}; print(json.dumps({name}({samples})))"
        done = subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, **_ONE},
        )
        found[name] = json.loads(done.stdout.strip().splitlines()[-1])
    return {
        "samples": samples,
        **found,
        "fit, times as fast": _ratio(found, "fit [s of one core]"),
        "regressor, times as fast": _ratio(found, "regressor [s of one core]"),
    }


if __name__ == "__main__":
    print(json.dumps(run(int(sys.argv[1]) if len(sys.argv) > 1 else SAMPLES), indent=1))
