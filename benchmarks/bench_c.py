"""Exported C, compiled by gcc -O2, one sample after another, beside pinocchio's C++ on the same states."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import dynarm

from .contenders import PEER, agreeing, runs, states
from .measure import contest
from .peers import Peers
from .robots import robot

QUANTITY = "inverse_dynamics"

LOOP = """
void many(long count, const double *q, const double *qd, const double *x, double *out)
{{
    for (long i = 0; i < count; i++) {{
        {name}_inverse_dynamics(q + {n} * i, qd + {n} * i, x + {n} * i, out + {n} * i);
    }}
}}
"""


def run() -> dict[str, Any]:
    """Nanoseconds a sample of exported inverse dynamics for the Panda, and the ratio to pin.rneaInParallel(1)."""
    gcc = shutil.which("gcc")
    if gcc is None:
        return {"gcc": "not installed, nothing measured"}
    twin = robot("panda")
    n = twin.arm.n
    s = states(n, 4096)
    peers = Peers(twin, ["pinocchio"])
    calls, _ = agreeing(twin, QUANTITY, partial(peers.batch, QUANTITY), [s])
    with tempfile.TemporaryDirectory() as folder:
        made = dynarm.export_c(twin.model, Path(folder) / "c", quantities=(QUANTITY,))
        source = made.folder / f"{made.name}.c"
        source.write_text(source.read_text() + LOOP.format(name=made.name, n=n))
        library = made.folder / "many.so"
        subprocess.run(
            [gcc, "-O2", "-std=c99", "-shared", "-fPIC", str(source), "-o", str(library), "-lm"],
            check=True,
        )
        many = ctypes.CDLL(str(library)).many
        P = ctypes.POINTER(ctypes.c_double)
        out = np.empty_like(s.q)
        args = (ctypes.c_long(len(s.q)), *(a.ctypes.data_as(P) for a in (s.q, s.qd, s.x, out)))
        many(*args)
        difference = float(np.abs(out - twin.model.inverse_dynamics(s.q, s.qd, s.x)).max())
        timings = contest({"c": lambda: many(*args), **runs(calls)})
    mine = timings["c"].best
    found = {"exported C, gcc -O2 [ns a sample]": mine / len(s.q) * 1e9}
    if PEER[QUANTITY] in timings:
        found[f"times faster than {PEER[QUANTITY]}"] = timings[PEER[QUANTITY]].best / mine
    return {**found, "largest difference to dynarm in Python [N m]": difference}
