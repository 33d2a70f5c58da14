"""Seconds until the first result of a quantity, in a process of its own, with an empty cache and with a full one.

`python -m benchmarks.first_use ROBOT.toml QUANTITY ...` prints them as JSON: what the other sections start. Imports are
over before the clock starts.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .contenders import INPUTS

ROOT = Path(__file__).parents[1]


def used(folder: str | Path, path: str | Path, *quantities: str) -> dict[str, float]:
    """Seconds of the first call of each quantity in one new process whose cache is in the folder."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "benchmarks.first_use", str(path), *quantities],
        cwd=ROOT,
        env=os.environ | {"DYNARM_CACHE_DIR": str(folder)},
        capture_output=True,
        text=True,
        check=True,
    )
    return dict(json.loads(done.stdout))


@contextmanager
def empty_cache() -> Iterator[Path]:
    """A new folder as the cache of this process and of those that it starts, removed at the end."""
    before = os.environ.get("DYNARM_CACHE_DIR")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["DYNARM_CACHE_DIR"] = folder
        try:
            yield Path(folder)
        finally:
            os.environ.pop("DYNARM_CACHE_DIR")
            if before is not None:
                os.environ["DYNARM_CACHE_DIR"] = before


def main(path: str, *quantities: str) -> dict[str, float]:
    """Seconds of the first call of each quantity, in this order, in this process."""
    import casadi  # noqa: F401
    import llvmlite.binding  # noqa: F401
    import numpy as np

    import dynarm
    import dynarm.model.model

    arm = dynarm.load(path)
    x = np.zeros((1, arm.n))
    np.sin(x)
    found = {}
    for quantity in quantities:
        start = time.perf_counter()
        getattr(dynarm.compile(arm), quantity)(*[x] * INPUTS[quantity])
        found[quantity] = time.perf_counter() - start
    return found


if __name__ == "__main__":
    print(json.dumps(main(*sys.argv[1:])))
