"""Estimates that run along with a robot, from exported C by gcc -O2: the payload and the push, one sample at a time.

The robot is the built-in UR10 (6 joints); states are drawn at random, each sample goes on from the one before.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import dynarm

from .contenders import states
from .measure import contest

ROBOT = "ur10"
SAMPLES = 2000
MICROSECONDS = 20.0  # asked at most, for a sample of the payload

LOOP = """
void payload(long count, double *state, const double *q, const double *qd, const double *x, const double *tau,
             const double *noise)
{{
    double next[{size}];
    for (long i = 0; i < count; i++) {{
        {name}_live_payload(state, q + {n} * i, qd + {n} * i, x + {n} * i, tau + {n} * i, noise, next);
        for (int k = 0; k < {size}; k++) state[k] = next[k];
    }}
}}
void push(long count, double *s, const double *q, const double *qd, const double *tau, const double *times)
{{
    double out[{n}], next[{n}];
    for (long i = 0; i < count; i++) {{
        {name}_momentum_observer(s, q + {n} * i, qd + {n} * i, tau + {n} * i, times, out, next);
        for (int k = 0; k < {n}; k++) s[k] = next[k];
    }}
}}
"""


def run() -> dict[str, Any]:
    """Microseconds a sample of both estimates, and how far C is from Python."""
    gcc = shutil.which("gcc")
    if gcc is None:
        return {"gcc": "not installed, nothing measured"}
    arm = dynarm.load(ROBOT)
    live = dynarm.LivePayload(dynarm.compile(arm, friction=True), noise=1.0)
    s = states(arm.n, SAMPLES)
    tau = dynarm.compile(arm.with_payload(3.0, (0, 0, 0.1))).inverse_dynamics(s.q, s.qd, s.x)
    with tempfile.TemporaryDirectory() as folder:
        made = live.export_c(Path(folder) / "c")
        library = _built(gcc, made.folder, made.name, arm.n, len(live.state))
        P = ctypes.POINTER(ctypes.c_double)

        def pointers(*arrays: np.ndarray) -> tuple[Any, ...]:
            return tuple(a.ctypes.data_as(P) for a in arrays)

        count, state, noise = ctypes.c_long(SAMPLES), live.state.copy(), np.ones(arm.n)
        moving = pointers(s.q, s.qd, s.x, tau, noise)
        library.payload(count, *pointers(state), *moving)
        expected = live.update(s.q, s.qd, s.x, tau).state
        difference = float(np.abs(state[:4] - expected[:4]).max())
        begun, times = np.zeros(arm.n), np.array([0.001, 0.02])
        ways = {
            "payload": lambda: library.payload(count, *pointers(state), *moving),
            "push": lambda: library.push(count, *pointers(begun, s.q, s.qd, tau, times)),
        }
        timings = contest(ways)
    micro = {name: timing.best / SAMPLES * 1e6 for name, timing in timings.items()}
    return {
        "robot": f"{ROBOT}, {arm.n} joints",
        "payload in C, gcc -O2 [microseconds a sample]": micro["payload"],
        "push in C, gcc -O2 [microseconds a sample]": micro["push"],
        "largest difference to dynarm in Python [kg, kg m]": difference,
    }


def _built(gcc: str, folder: Path, name: str, n: int, size: int) -> ctypes.CDLL:
    source = folder / f"{name}.c"
    source.write_text(source.read_text() + LOOP.format(name=name, n=n, size=size))
    library = folder / "live.so"
    subprocess.run(
        [gcc, "-O2", "-std=c99", "-shared", "-fPIC", str(source), "-o", str(library), "-lm"],
        check=True,
    )
    return ctypes.CDLL(str(library))
