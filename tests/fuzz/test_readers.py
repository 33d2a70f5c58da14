"""Some hundred damaged files for every reader, and that the watch over them sees what it is there for."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from fuzz.kinds import KINDS
from fuzz.readers import environment, fuzzed


@pytest.mark.parametrize("name", KINDS)
def test_damaged_files_are_read_or_refused(name):
    files = KINDS[name].often
    tally = fuzzed(name, files, seed=1)
    assert not tally.faults
    assert tally.files == files and tally.refused > files / 4
    assert tally.read or files < 10


def test_the_same_seed_makes_the_same_files():
    kind = KINDS["urdf"]
    made = [kind.case(3, number)[0] for number in (5, 6, 5)]
    assert made[0] == made[2] != made[1]


SCRIPT = """
import json, os, sys, tempfile, warnings
from pathlib import Path
from dynarm import DynarmError, DynarmWarning
from fuzz import guard
from fuzz.kinds import Kind

def opens(path, rng): open("/etc/hostname").close()
def pickles(path, rng): __import__("pickle").loads(b"cos\\ngetpid\\n.")
def starts(path, rng): __import__("subprocess").run(["true"])
def leaves(path, rng): path.with_name("half").write_text("x")
def raises(path, rng): {}["x"]
def warns(path, rng): warnings.warn("overflow", RuntimeWarning)
def doubts(path, rng): warnings.warn("doubt", DynarmWarning)
def shouts(path, rng): raise DynarmError("x" * 5000)
def hangs(path, rng):
    while True: pass
def grows(path, rng): bytearray(2 << 30)
def refuses(path, rng): raise DynarmError("this file is refused")

guard.SECONDS = 0.3
with tempfile.TemporaryDirectory() as folder:
    watch = guard.Watch(Path(folder).resolve())
    guard.limited()
    told = {}
    for use in (opens, pickles, starts, leaves, raises, warns, doubts, shouts, hangs, grows, refuses):
        kind = Kind(".txt", lambda: [b"abc"], lambda data, rng: data, use)
        told[use.__name__] = guard.judged(kind, 0, 0, watch)
print(json.dumps(told))
"""


def test_the_watch_sees_everything_that_must_not_happen():
    ran = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        capture_output=True,
        text=True,
        env=environment(),
        check=True,
    )
    told = json.loads(ran.stdout)
    wanted = {
        "opens": "outside: opened /etc/hostname",
        "pickles": "outside: pickle.find_class",
        "starts": "outside: ",
        "leaves": "left behind: ['half']",
        "raises": "KeyError",
        "warns": "RuntimeWarning",
        "doubts": "read",
        "shouts": "message: ",
        "hangs": "TooLong",
        "grows": "MemoryError",
        "refuses": "refused",
    }
    assert set(told) == set(wanted)
    for name, words in wanted.items():
        assert told[name].startswith(words), (name, told[name])
