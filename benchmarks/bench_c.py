"""Exported C, compiled by gcc -O2, one sample after another, beside pinocchio's C++ on the same states."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import dynarm

from .contenders import batch_peers, states
from .measure import contest
from .robots import robot

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
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        twin = robot("panda")
    model = dynarm.compile(twin.arm)
    n = twin.arm.n
    s = states(n, 4096)
    with tempfile.TemporaryDirectory() as folder:
        made = dynarm.export_c(model, Path(folder) / "c", quantities=("inverse_dynamics",))
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
        difference = float(np.abs(out - model.inverse_dynamics(s.q, s.qd, s.x)).max())
        timings = contest({"c": lambda: many(*args), **batch_peers(twin, "inverse_dynamics", s)})
    peer = timings["pin.rneaInParallel(1)"].best
    return {
        "exported C, gcc -O2 [ns a sample]": timings["c"].best / len(s.q) * 1e9,
        "times faster than pin.rneaInParallel(1)": peer / timings["c"].best,
        "largest difference [N m]": difference,
    }
