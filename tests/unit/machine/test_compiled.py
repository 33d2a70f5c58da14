"""From recipe to kernel: compiled once whoever asks, cached on disk, and never at the mercy of that disk."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
import weakref
from pathlib import Path

import numpy as np
import pytest

import dynarm
from dynarm.graph.graph import Port
from dynarm.graph.trace import trace_function
from dynarm.machine.load import compiled

PROGRAM = """
import sys, warnings, numpy as np, dynarm
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    model = dynarm.compile(dynarm.load("two_link"))
    tau = model.inverse_dynamics(*np.ones((3, 2)))
    M = model.mass_matrix(np.ones(2))
print(tau.tolist(), M.tolist(), [w.category.__name__ for w in caught])
"""


def run(folder, **options) -> subprocess.Popen:
    env = {**os.environ, "DYNARM_CACHE_DIR": str(folder)}
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM], env=env, text=True, stdout=subprocess.PIPE, **options
    )


def answer(process: subprocess.Popen) -> str:
    text, _ = process.communicate(timeout=120)
    assert process.returncode == 0
    return text


def entries(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.object"))


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """A cache folder that two processes filled at once, and what both said."""
    folder = tmp_path_factory.mktemp("cache") / "dynarm"
    first, second = run(folder), run(folder)
    said = answer(first)
    assert said == answer(second) and said.endswith("[]\n")
    assert len(entries(folder)) >= 2
    return folder, said


DAMAGE = {
    "truncated": lambda data: data[: len(data) // 2],
    "empty": lambda data: b"",
    "one bit": lambda data: data[:-100] + bytes([data[-100] ^ 4]) + data[-99:],
    "foreign": lambda data: b"\x7fELF" + b"\0" * 1000,
}


def test_damaged_entries_are_made_again(stored):
    folder, said = stored
    whole = {path: path.read_bytes() for path in entries(folder)}
    for damage in DAMAGE.values():
        for path, data in whole.items():
            path.write_bytes(damage(data))
        assert answer(run(folder)) == said
        assert {path: path.read_bytes() for path in entries(folder)}.keys() == whole.keys()
        for path in whole:
            assert len(path.read_bytes()) > 1000, "written anew"


def test_entries_of_other_functions_are_not_taken(stored):
    folder, said = stored
    contents = [path.read_bytes() for path in entries(folder)]
    for path, data in zip(entries(folder), contents[1:] + contents[:1], strict=True):
        path.write_bytes(data)
    assert answer(run(folder)) == said


def test_without_a_usable_folder_one_warning_and_the_same_results(stored, tmp_path):
    _, said = stored
    place = tmp_path / "a file"
    place.write_text("")
    assert answer(run(place)) == said.replace("[]\n", "['DynarmWarning']\n")


# ---- within a process

PORTS = (Port("x", (2,)),), (Port("y", (1,)),)


def recipe(tag):
    """Name, ports and build of a small function that no other test compiles; builds are counted."""
    built = []

    def build():
        built.append(tag)
        return trace_function(*PORTS, lambda x: [x[0] * x[1] + tag]), {"tag": tag}

    return built, lambda: compiled.kernel(("test_compiled", tag), "f", *PORTS, build)


def together(jobs):
    """Run jobs in as many threads, all starting at once; what they returned."""
    gate, found = threading.Barrier(len(jobs)), [None] * len(jobs)

    def work(k, job):
        gate.wait()
        found[k] = job()

    threads = [threading.Thread(target=work, args=pair) for pair in enumerate(jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    return found


def test_eight_threads_that_want_the_same_share_one_kernel():
    built, make = recipe(101.0)
    kernels = together([make] * 8)
    assert built == [101.0] and len({id(k) for k in kernels}) == 1
    assert kernels[0].ufunc([2.0, 3.0]) == 107.0
    assert kernels[0].notes["tag"] == 101.0


def test_threads_that_want_different_kernels_get_theirs():
    pairs = [recipe(float(200 + k)) for k in range(8)]
    kernels = together([make for _, make in pairs])
    assert [k.ufunc([1.0, 1.0])[0] for k in kernels] == [201.0 + k for k in range(8)]
    assert [built for built, _ in pairs] == [[200.0 + k] for k in range(8)]


def test_threads_compile_all_of_a_model():
    arm = dynarm.load("two_link")
    x = np.full((3, 2), 0.3)
    model = dynarm.compile(arm)
    jobs = [
        lambda: model.inverse_dynamics(*x),
        lambda: model.forward_dynamics(*x),
        lambda: model.mass_matrix(x[0]),
        lambda: model.regressor(*x),
    ]
    found = together(jobs * 2)
    for job, one, two in zip(jobs, found[:4], found[4:], strict=True):
        assert np.array_equal(one, two) and np.array_equal(job(), one)


def test_what_fails_to_build_stands_in_nobody_s_way():
    def refuse():
        raise dynarm.DynarmError("no")

    for _ in range(2):
        with pytest.raises(dynarm.DynarmError):
            compiled.kernel(("test_compiled", "never"), "f", *PORTS, refuse)
    built, make = recipe(301.0)
    assert make().ufunc([1.0, 1.0]) == 302.0 and built


def test_kernels_that_no_model_holds_are_forgotten(monkeypatch):
    monkeypatch.setattr(compiled, "REMEMBERED", 3)
    monkeypatch.setattr(compiled, "_latest", type(compiled._latest)())
    makes = [recipe(float(400 + k))[1] for k in range(5)]
    kernels = [make() for make in makes]
    assert len(compiled._latest) == 3
    assert makes[4]() is kernels[4]
    assert makes[0]() is kernels[0], "who holds it shares it"
    first = weakref.ref(kernels[1])
    del kernels[1]
    makes[2](), makes[3](), makes[4]()
    gc.collect()
    assert first() is None
    assert makes[1]().ufunc([1.0, 1.0]) == 402.0  # from disk


def test_what_fails_leaves_nothing_behind():
    def refuse():
        raise dynarm.DynarmError("no")

    before = dict(compiled._turns)
    for k in range(3):
        with pytest.raises(dynarm.DynarmError):
            compiled.kernel(("test_compiled", "nothing", k), "f", *PORTS, refuse)
    assert compiled._turns == before
