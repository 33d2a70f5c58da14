"""Of the fuzzing: reads the files of some numbers, and tells of each by a line. Started by `readers`."""

from __future__ import annotations

import gc
import os
import sys
import tempfile
from pathlib import Path
from random import Random

from fuzz.guard import Watch, judged, limited
from fuzz.kinds import KINDS, sound


def main(name: str, seed: int, first: int, last: int) -> None:
    kind = KINDS[name]
    with tempfile.TemporaryDirectory() as folder:  # sound files are read
        for k, data in enumerate(sound(kind.seeds)):
            path = Path(folder) / f"sound{k}{kind.ending}"
            path.write_bytes(data)
            kind.use(path, Random(k))
    pipe = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    with tempfile.TemporaryDirectory() as folder:
        watch = Watch(Path(folder).resolve())
        for number in range(-1, -4, -1):  # whatever is imported only when it is needed
            judged(kind, seed, number, watch)
        gc.collect()
        limited()
        for number in range(first, last):
            pipe.write(f"{number} {judged(kind, seed, number, watch)}\n")
    pipe.flush()


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:5]))
