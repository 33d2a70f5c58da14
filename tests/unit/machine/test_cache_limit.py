"""The cache on disk stays small: by age, by size with the longest unused out first, with several processes at once."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import numpy as np
import pytest

import dynarm
from dynarm.errors import InputError
from dynarm.machine.load import cache, folder
from dynarm.machine.load.cache import Entry, limit, load, store

DAY = 86400
posix = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="owners and modes are POSIX's")


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    """A cache of its own, and a process that has neither swept nor remembered."""
    monkeypatch.setenv("DYNARM_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("DYNARM_CACHE_LIMIT", raising=False)
    monkeypatch.setattr(cache, "_written", None)
    monkeypatch.setattr(cache, "_memory", type(cache._memory)())
    return tmp_path / "cache"


def names(place) -> set[str]:
    return {f.name.removesuffix(".object") for f in place.iterdir()}


def total(place) -> int:
    return sum(f.stat().st_size for f in place.iterdir())


def aged(file, seconds: float) -> None:
    """Let a file have been used last so many seconds ago."""
    then = time.time() - seconds
    os.utime(file, (then, then))


def swept(place) -> set[str]:
    """What is left after another process wrote its first entry, that entry aside."""
    cache._written = None
    store("last", Entry({}, b"."))
    return names(place) - {"last"}


# ---- age


@pytest.mark.parametrize(("days", "stays"), [(1, True), (89, True), (91, False), (400, False)])
def test_entries_unused_for_ninety_days_are_removed(place, days, stays):
    store("old", Entry({}, b"x"))
    aged(place / "old.object", days * DAY)
    assert swept(place) == ({"old"} if stays else set())


def test_use_is_noted_by_the_hour(place):
    store("one", Entry({}, b"x"))
    file = place / "one.object"
    for seconds, noted in ((1800, False), (2 * 3600, True), (89 * DAY, True), (-2 * 3600, True)):
        aged(file, seconds)
        before = file.stat().st_mtime
        assert load("one") is not None
        assert (file.stat().st_mtime != before) == noted
        assert not noted or abs(file.stat().st_mtime - time.time()) < 60


def test_files_that_a_killed_process_left_are_removed_after_an_hour(place):
    store("one", Entry({}, b"x"))
    fresh, stale = place / ".a.object.1.2.3", place / ".b.object.1.2.3"
    for file, seconds in ((fresh, 60), (stale, 2 * 3600)):
        file.write_bytes(b"half")
        aged(file, seconds)
    assert swept(place) == {"one", ".a.object.1.2.3"}


# ---- size


def test_the_longest_unused_go_first(place, monkeypatch):
    for k in range(8):
        store(f"key{k}", Entry({}, bytes(10_000)))
        aged(place / f"key{k}.object", (20 - k) * DAY)
    assert load("key1") is not None  # which makes it the youngest
    monkeypatch.setenv("DYNARM_CACHE_LIMIT", "60 kB")
    assert swept(place) == {"key1", "key4", "key5", "key6", "key7"}
    assert load("key2") is None and load("key7") is not None


def test_one_process_never_exceeds_the_limit(place, monkeypatch):
    monkeypatch.setenv("DYNARM_CACHE_LIMIT", "200kB")
    most = 0
    for k in range(120):
        store(f"key{k}", Entry({}, bytes(1000 + 137 * (k % 50))))
        assert load(f"key{k}") is not None, "what was just made is there"
        most = max(most, total(place))
    assert 150_000 < most <= 200_000 and not cache._memory


def test_folders_are_looked_through_now_and_then_only(place, monkeypatch):
    sweeps = []
    real = folder.Folder.sweep
    monkeypatch.setattr(folder.Folder, "sweep", lambda *a: (sweeps.append(a), real(*a))[1])
    for k in range(100):
        store(f"key{k}", Entry({}, bytes(1000)))
    assert len(sweeps) == 1


def test_an_entry_that_fills_the_cache_stays_and_a_larger_one_is_not_written(place, monkeypatch):
    store("small", Entry({}, bytes(100)))
    monkeypatch.setenv("DYNARM_CACHE_LIMIT", "10kB")
    store("larger", Entry({}, bytes(20_000)))
    assert names(place) == {"small"} and load("larger") is not None
    aged(place / "small.object", DAY)
    store("large", Entry({}, bytes(9_700)))
    assert names(place) == {"large"}


def test_a_limit_of_nothing_writes_nothing(place, monkeypatch):
    monkeypatch.setenv("DYNARM_CACHE_LIMIT", "0")
    store("one", Entry({}, b"x"))
    assert not place.exists() and load("one") == Entry({}, b"x")


def test_files_of_others_are_left_alone(place, monkeypatch):
    store("one", Entry({}, bytes(5000)))
    (place / "notes.txt").write_bytes(bytes(100_000))
    monkeypatch.setenv("DYNARM_CACHE_LIMIT", "10kB")
    assert swept(place) == {"one", "notes.txt"}


def test_what_another_process_removed_first_does_not_stop_the_sweep(place, monkeypatch):
    for k in range(4):
        store(f"key{k}", Entry({}, bytes(10_000)))
        aged(place / f"key{k}.object", 100 * DAY - k)
    real = os.unlink

    def faster(path, **named):
        real(path, **named)
        raise FileNotFoundError(path)

    monkeypatch.setattr(os, "unlink", faster)
    assert swept(place) == set()


@pytest.mark.parametrize(
    ("given", "size"),
    [
        ("", 10**9),
        ("  ", 10**9),
        ("0", 0),
        ("12345", 12345),
        ("500MB", 500 * 10**6),
        ("2 GiB", 2 << 30),
        ("1.5g", 1_500_000_000),
        ("64k", 64_000),
        ("1TB", 10**12),
    ],
)
def test_limits_are_sizes(monkeypatch, given, size):
    monkeypatch.setenv("DYNARM_CACHE_LIMIT", given)
    assert limit() == size


@pytest.mark.parametrize("given", ["much", "-1", "1 GB or so", "1,5GB", "nan", "٣GB", "9" * 400])
def test_what_is_no_size_is_refused_before_compiling(monkeypatch, given):
    monkeypatch.setenv("DYNARM_CACHE_LIMIT", given)
    link = dynarm.Joint(a=0.123456, mass=1.0, com=(0.1, 0, 0), inertia=np.eye(3))
    model = dynarm.compile(dynarm.Arm([link]))
    monkeypatch.setattr(type(model), "_planned", lambda *_: pytest.fail("it was traced"))
    with pytest.raises(InputError, match=r"DYNARM_CACHE_LIMIT is .*give a size such as") as seen:
        model.kernel("gravity")
    assert "\n" not in str(seen.value) and len(str(seen.value)) < 200


WORKER = """
import sys
from dynarm.machine.load.cache import Entry, load, store
number, lost = int(sys.argv[1]), 0
for k in range(200):
    key = f"key{(7 * k + number) % 60}"
    store(key, Entry({"of": key}, key.encode() * 800))
    for asked in (key, f"key{k % 60}"):
        seen = load(asked)
        lost += seen is None
        assert seen is None or (seen.meta["of"] == asked and seen.code == asked.encode() * 800)
print(lost)
"""


def test_processes_at_once_stay_within_the_limit(place):
    env = {**os.environ, "DYNARM_CACHE_LIMIT": "100kB"}
    runs = [
        subprocess.Popen(
            [sys.executable, "-W", "error", "-c", WORKER, str(k)],
            env=env,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for k in range(3)
    ]
    for run in runs:
        text, error = run.communicate(timeout=120)
        assert run.returncode == 0, error[-1000:]
        assert int(text) > 0, "there was no need to remove anything"
    assert 50_000 < total(place) <= 100_000 * (1 + 2 / 8)


# ---- whom to believe


@posix
@pytest.mark.parametrize("mode", [0o620, 0o602, 0o660, 0o606])
def test_entries_that_any_other_user_can_write_to_do_not_count(place, mode):
    store("one", Entry({}, b"x"))
    (place / "one.object").chmod(mode)
    assert load("one") is None
    (place / "one.object").chmod(0o644)
    assert load("one") is not None


@posix
@pytest.mark.parametrize("mode", [0o710, 0o720, 0o740, 0o701, 0o702, 0o704])
def test_folders_that_others_may_enter_are_not_used(place, mode):
    store("one", Entry({}, b"x"))
    place.chmod(mode)
    cache._warned = False
    with pytest.warns(dynarm.DynarmWarning, match="open to other users"):
        assert load("one") is None
