"""Ten million rows of a 7-joint arm in Parquet, default settings: time and memory of a fit that reads in pieces.

The peer folds the same rows with pin.computeJointTorqueRegressor and SciPy's QR, as `bench_identify` does, on a part of
the file that is stated; its seconds are scaled to all rows. It folds every row, dynarm those that its decimation keeps.
Seconds of a core and memory are those of the process and of its reader together, memory looked at every 0.1 s.

    python -m benchmarks --only scale             10 million rows, beside the peer
    python -m benchmarks.bench_scale 100 FOLDER   so many million rows, kept in a folder (which may hold them already);
                                                  100 million are put beside the other results
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

RATE = 1000.0
PART = 10_000_000  # rows of a file
PIECE = 250_000  # rows that are made at a time
PEER = 50_000  # rows that the peer folds
_ONE = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def written(folder: Path, rows: int) -> None:
    """Write a noisy recording, files of ten million rows, unless they are there."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    import dynarm

    from .robots import robot

    arm = robot("panda").arm
    model, rng = dynarm.compile(arm), np.random.default_rng(0)
    w = 2 * np.pi * rng.uniform(0.05, 0.9, (6, arm.n))
    a, phase = rng.uniform(0.05, 0.35, (6, arm.n)), rng.uniform(0, 2 * np.pi, (6, arm.n))
    for number, start in enumerate(range(0, rows, PART)):
        path = folder / f"part{number:03d}.parquet"
        if path.exists():
            continue
        writer = None
        for low in range(start, min(start + PART, rows), PIECE):
            t = np.arange(low, min(low + PIECE, start + PART, rows)) / RATE
            q, qd, qdd = np.zeros((3, len(t), arm.n))
            for k in range(6):
                angle = np.outer(t, w[k]) + phase[k]
                q += a[k] * np.sin(angle)
                qd += a[k] * w[k] * np.cos(angle)
                qdd -= a[k] * w[k] ** 2 * np.sin(angle)
            tau = model.inverse_dynamics(q, qd, qdd) + 0.5 * qd + 0.3 * np.sign(qd) + 0.1
            tau += rng.normal(0, 0.1, tau.shape)
            q += rng.normal(0, 1e-5, q.shape)
            columns = {f"q{j + 1}": q[:, j] for j in range(arm.n)}
            columns |= {f"tau{j + 1}": tau[:, j] for j in range(arm.n)}
            table = pa.table({"t": t, **columns})
            writer = writer or pq.ParquetWriter(path, table.schema)
            writer.write_table(table, row_group_size=PIECE // 2)
        assert writer is not None
        writer.close()


class Resident:
    """The largest memory of this process and its children together [MB], looked at until it is asked for."""

    def __init__(self) -> None:
        self._most, self._over = 0.0, threading.Event()
        threading.Thread(target=self._watch, daemon=True).start()

    def _watch(self) -> None:
        while not self._over.wait(0.1):
            own = os.getpid()
            children = [
                number
                for task in Path(f"/proc/{own}/task").iterdir()
                for number in _text(task / "children").split()
            ]
            pages = [_text(Path(f"/proc/{n}/statm")).split() for n in (own, *children)]
            size = sum(int(one[1]) for one in pages if one) * os.sysconf("SC_PAGE_SIZE") / 2**20
            self._most = max(self._most, size)

    def peak(self) -> float:
        """What was seen; nothing is looked at any more."""
        self._over.set()
        return self._most


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii")
    except OSError:  # a child that has ended
        return ""


def ours(folder: Path) -> dict[str, float]:
    """Seconds and memory of the fit of all files of a folder, by default settings."""
    import resource

    import dynarm

    from .robots import robot

    arm = robot("panda").arm
    seen = 0

    def count(files: int, in_all: int, rows: int) -> None:
        nonlocal seen
        seen = rows

    resident = Resident()
    start = time.perf_counter()
    data = dynarm.Dataset(folder, progress=count)
    fit = dynarm.Identifier(arm).fit(data)
    seconds = time.perf_counter() - start
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return {
        "rows": float(seen),
        "fit, on the clock [s]": seconds,
        "fit [s of one core]": sum(one.ru_utime + one.ru_stime for one in used),
        "peak memory [MB]": used[0].ru_maxrss / 1024,
        "peak memory, the reader's counted in [MB]": resident.peak(),
        "unknowns": float(len(fit.names_)),
        "others at work (load over a minute)": os.getloadavg()[0],
    }


def by_hand(folder: Path, rows: int) -> dict[str, float]:
    """The peer on the first rows of the file, and what all rows would take it."""
    import pyarrow.parquet as pq

    from .bench_identify import folded_by_hand

    file = sorted(folder.iterdir())[0]
    table = next(pq.ParquetFile(file).iter_batches(PEER))
    q = np.column_stack([table[f"q{j + 1}"] for j in range(7)])
    tau = np.column_stack([table[f"tau{j + 1}"] for j in range(7)])
    figures = folded_by_hand(q, None, tau)
    return {
        "rows": float(PEER),
        "fit [s of one core]": figures["fit [s of one core]"],
        "fit of all rows, scaled [s of one core]": figures["fit [s of one core]"] * rows / PEER,
    }


def measured(folder: Path, rows: int) -> dict[str, Any]:
    """The figures of a dataset in a folder, each contender in a process of its own."""
    written(folder, rows)
    return {
        "dynarm": _apart("ours", folder, rows),
        "pinocchio + SciPy": _apart("peer", folder, rows),
    }


def _apart(who: str, folder: Path, rows: int) -> Any:
    line = [sys.executable, "-m", "benchmarks.bench_scale", who, str(folder), str(rows)]
    done = subprocess.run(
        line, env={**os.environ, **_ONE}, check=True, capture_output=True, text=True
    )
    return json.loads(done.stdout.splitlines()[-1])


def run() -> dict[str, Any]:
    """Figures for the table of all benchmarks."""
    with tempfile.TemporaryDirectory() as name:
        return measured(Path(name), PART)


def main(what: str, folder: str, rows: str = "0") -> None:
    """Print figures as JSON."""
    if what == "ours":
        print(json.dumps(ours(Path(folder))))
    elif what == "peer":
        print(json.dumps(by_hand(Path(folder), int(rows))))
    else:
        figures = measured(Path(folder), int(float(what) * 1e6))
        print(json.dumps(figures, indent=2))
        _put(f"scale_{what}_million", figures)


def _put(section: str, figures: dict[str, Any]) -> None:
    """Keep what nobody measures every day."""
    from .machine import machine
    from .results import BY_HAND, begin, path_of, put

    if section in BY_HAND:
        path, host = path_of("panda", machine()), machine()
        put(path, begin(path, "panda", host, anew=False), section, figures)


if __name__ == "__main__":
    main(*sys.argv[1:])
