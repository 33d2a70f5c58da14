"""Read damaged files by the thousand and tell what goes wrong.

    python -m tests.fuzz.readers --format urdf --files 20000
    python -m tests.fuzz.readers --format urdf --case 1234 --keep case.urdf

Every file must be read, or refused by a DynarmError of one line: no other exception, no warning of another library,
no hang, no gigabyte, nothing opened beside the file, nothing left behind. A child does it; where the child dies the
file is told, and another child goes on behind it. The same seed makes the same files.
"""

from __future__ import annotations

import argparse
import os
import queue
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
PATIENCE = 300.0  # seconds without a word from the child
STEP = 1000  # files between lines of progress


@dataclass
class Tally:
    """What became of the files of one kind."""

    read: int = 0
    refused: int = 0
    faults: dict[str, list[int]] = field(default_factory=dict)  # what, and the numbers of the files

    @property
    def files(self) -> int:
        return self.read + self.refused + sum(map(len, self.faults.values()))

    def add(self, number: int, verdict: str) -> None:
        if verdict == "read":
            self.read += 1
        elif verdict == "refused":
            self.refused += 1
        else:
            self.faults.setdefault(re.sub(r"0x[0-9a-f]+|\d{5,}", "#", verdict)[:160], []).append(
                number
            )

    def __str__(self) -> str:
        bad = sum(map(len, self.faults.values()))
        return f"{self.files} files: {self.read} read, {self.refused} refused, {bad} faults"


def environment() -> dict[str, str]:
    """Of the child: one thread, our tests importable, a cache of its own."""
    seen = os.pathsep.join([str(TESTS), str(TESTS.parent), *(p for p in sys.path if p)])
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    return {**os.environ, **threads, "PYTHONPATH": seen, "PYTHONDONTWRITEBYTECODE": "1"}


def lines(command: list[str]) -> Iterator[str]:
    """What a child says, until it ends; after too long a silence it is ended."""
    child = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment()
    )
    said: queue.Queue[str] = queue.Queue()

    def listen() -> None:
        assert child.stdout is not None
        for line in child.stdout:
            said.put(line)
        said.put("")

    threading.Thread(target=listen, daemon=True).start()
    try:
        while line := said.get(timeout=PATIENCE):
            yield line
    except queue.Empty:
        yield "hang"
    finally:
        child.kill()
        child.wait()


def fuzzed(
    name: str,
    files: int,
    seed: int = 0,
    first: int = 0,
    progress: Callable[[str], None] = lambda _: None,
) -> Tally:
    """Read that many damaged files of a kind."""
    tally, number, last, began = Tally(), first, first + files, time.monotonic()
    while number < last:
        start = number
        command = [sys.executable, "-m", "fuzz.worker", name, str(seed), str(number), str(last)]
        for line in lines(command):
            if line == "hang":
                break
            told, _, verdict = line.partition(" ")
            number = int(told) + 1
            tally.add(int(told), verdict.strip())
            if tally.files % STEP == 0:
                progress(f"{name}: {tally}, {time.monotonic() - began:.0f} s")
        if number < last:
            if number == start and not tally.files:
                raise RuntimeError(f"the reader of {name} does not start: {' '.join(command)}")
            tally.add(number, "the process died or hung")
            number += 1
    return tally


def reproduce(name: str, seed: int, number: int, keep: str | None) -> None:
    """One file, without a guard, so that the traceback is seen."""
    sys.path[:0] = [str(TESTS), str(TESTS.parent)]
    from fuzz.kinds import KINDS

    kind = KINDS[name]
    data, rng = kind.case(seed, number)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(keep) if keep else Path(folder) / f"case{kind.ending}"
        path.write_bytes(data)
        kind.use(path, rng)
    sys.stdout.write(f"read, {len(data)} bytes\n")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument(
        "--format", required=True, help="urdf, toml, csv ...: a row of tests/fuzz/kinds.py"
    )
    parser.add_argument("--files", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="number of the first file")
    parser.add_argument(
        "--case", type=int, help="read the file of this number alone, and show the traceback"
    )
    parser.add_argument("--keep", help="where to leave the file of --case")
    given = parser.parse_args()
    if given.case is not None:
        reproduce(given.format, given.seed, given.case, given.keep)
        return 0

    def say(text: str) -> None:
        sys.stdout.write(f"{text}\n")
        sys.stdout.flush()

    tally = fuzzed(given.format, given.files, given.seed, given.first, say)
    say(f"{given.format}: {tally}")
    for what, numbers in Counter({k: len(v) for k, v in tally.faults.items()}).most_common():
        say(f"  {numbers} x {what}  (--case {tally.faults[what][0]})")
    return 1 if tally.faults else 0


if __name__ == "__main__":
    sys.exit(main())
