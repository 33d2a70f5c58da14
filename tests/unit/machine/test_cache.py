"""The cache: entries survive, damaged and foreign ones do not count, and no disk trouble stops the work."""

from __future__ import annotations

import dataclasses
import errno
import os
import stat
import subprocess
import sys
import warnings

import numpy as np
import pytest

from dynarm.errors import DynarmWarning, InputError, KindError
from dynarm.machine.load import cache
from dynarm.machine.load.cache import Entry, digest, directory, load, store

KEY = "0123456789abcdef"
ENTRY = Entry(
    {"formulation": "newton_euler", "mul": 12, "nested": {"a": [1, 2.5, None]}},
    bytes(range(256)) * 9,
)
posix = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="owners and modes are POSIX's")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A cache of its own, and a process that has neither warned nor remembered."""
    place = tmp_path / "cache"
    monkeypatch.setenv("DYNARM_CACHE_DIR", str(place))
    monkeypatch.setattr(cache, "_warned", False)
    monkeypatch.setattr(cache, "_written", None)
    monkeypatch.setattr(cache, "_memory", type(cache._memory)())
    return place


def the_file(folder):
    (found,) = folder.iterdir()
    return found


def test_what_is_stored_is_loaded(folder):
    assert load(KEY) is None
    store(KEY, ENTRY)
    assert load(KEY) == ENTRY
    assert not cache._memory  # it came from the disk


def test_storing_again_replaces(folder):
    store(KEY, ENTRY)
    store(KEY, Entry({}, b"other"))
    assert load(KEY) == Entry({}, b"other") and len(list(folder.iterdir())) == 1


@posix
def test_folder_and_file_are_the_user_s_alone(folder):
    store(KEY, ENTRY)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(the_file(folder).stat().st_mode) == 0o600


# ---- entries that are not what they were


def test_truncated_entries_do_not_count(folder):
    store(KEY, ENTRY)
    file, whole = the_file(folder), the_file(folder).read_bytes()
    for length in (0, 1, 15, 16, 48, 63, 64, 70, 120, len(whole) // 2, len(whole) - 1):
        file.write_bytes(whole[:length])
        assert load(KEY) is None
    file.write_bytes(whole + b"x")
    assert load(KEY) is None
    store(KEY, ENTRY)
    assert load(KEY) == ENTRY


def test_flipped_bits_do_not_count(folder):
    store(KEY, ENTRY)
    file, whole = the_file(folder), the_file(folder).read_bytes()
    for place in [*range(160), *range(160, len(whole), 37)]:
        spoilt = bytearray(whole)
        spoilt[place] ^= 1 << place % 8
        file.write_bytes(spoilt)
        assert load(KEY) is None, f"byte {place}"


def test_an_entry_under_another_name_does_not_count(folder):
    store(KEY, ENTRY)
    the_file(folder).rename(folder / the_file(folder).name.replace("0", "9"))
    assert load(KEY.replace("0", "9")) is None


def test_foreign_files_do_not_count(folder):
    store(KEY, ENTRY)
    import pickle

    for content in (b"", b"\x7fELF" + bytes(500), pickle.dumps(ENTRY), b"dynarm object 1\n" * 40):
        the_file(folder).write_bytes(content)
        assert load(KEY) is None


@posix
@pytest.mark.parametrize("kind", ["link", "broken link", "folder", "pipe", "writable by others"])
def test_entries_that_are_no_plain_files_do_not_count(folder, tmp_path, kind):
    store(KEY, ENTRY)
    file = the_file(folder)
    if kind == "writable by others":
        file.chmod(0o622)
    else:
        elsewhere = tmp_path / "elsewhere"
        file.rename(elsewhere)
        if kind == "link":
            file.symlink_to(elsewhere)
        elif kind == "broken link":
            file.symlink_to(tmp_path / "nowhere")
        elif kind == "folder":
            file.mkdir()
        else:
            os.mkfifo(file)
    assert load(KEY) is None
    if kind != "folder":
        store(KEY, ENTRY)  # takes the place of whatever stood there, and writes through no link
        assert load(KEY) == ENTRY and not the_file(folder).is_symlink()


@posix
def test_a_file_of_another_user_does_not_count(folder, monkeypatch):
    store(KEY, ENTRY)
    real = os.fstat
    me = os.geteuid()

    def strange(handle):
        found = real(handle)
        if stat.S_ISREG(found.st_mode):
            return os.stat_result((*found[:4], me + 1, *found[5:]))
        return found

    monkeypatch.setattr(os, "fstat", strange)
    assert load(KEY) is None


# ---- folders and disks that cannot be used


def only_in_memory(reason: str) -> None:
    with pytest.warns(DynarmWarning, match=reason) as seen:
        store(KEY, ENTRY)
        store("another", Entry({}, b"1"))
    assert len(seen) == 1  # once a process
    assert "DYNARM_CACHE_DIR" in str(seen[0].message)
    assert load(KEY) == ENTRY and load("another") == Entry({}, b"1")


@posix
def test_a_folder_open_to_others_is_not_used(folder):
    folder.mkdir(mode=0o700)
    folder.chmod(0o755)
    only_in_memory("open to other users")
    assert not list(folder.iterdir())


@posix
def test_a_folder_of_another_user_is_not_used(folder, monkeypatch):
    folder.mkdir(mode=0o700)
    me = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: me + 1)
    only_in_memory("belongs to user")


@posix
def test_a_link_to_a_folder_is_not_used(folder, tmp_path):
    (tmp_path / "real").mkdir(mode=0o700)
    folder.symlink_to(tmp_path / "real")
    only_in_memory("symbolic link")


def test_a_file_in_place_of_the_folder(folder):
    folder.write_text("in the way")
    only_in_memory("File exists|not a folder")


@pytest.mark.parametrize("number", [errno.EROFS, errno.ENOSPC, errno.EACCES, errno.EDQUOT])
def test_a_disk_that_cannot_be_written(folder, monkeypatch, number):
    folder.mkdir(mode=0o700)
    real = os.open

    def refusing(path, flags, *args, **named):
        if flags & os.O_CREAT:
            raise OSError(number, os.strerror(number))
        return real(path, flags, *args, **named)

    monkeypatch.setattr(os, "open", refusing)
    only_in_memory(os.strerror(number))


def test_a_disk_that_fills_up_while_writing_keeps_no_rest(folder, monkeypatch):
    folder.mkdir(mode=0o700)

    def full(*_, **__):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "rename" if hasattr(os, "geteuid") else "replace", full)
    only_in_memory("No space left")
    assert not list(folder.iterdir())


def test_a_home_that_is_nowhere(monkeypatch):
    monkeypatch.delenv("DYNARM_CACHE_DIR")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)

    def homeless():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(cache.Path, "home", homeless)
    only_in_memory("home directory")


def test_memory_is_bounded(folder, monkeypatch):
    folder.write_text("in the way")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DynarmWarning)
        for k in range(cache.REMEMBERED + 5):
            store(f"key{k}", Entry({}, b"."))
    assert len(cache._memory) == cache.REMEMBERED and load("key0") is None


# ---- where, and for how long


def test_where_entries_live(monkeypatch, tmp_path):
    monkeypatch.setattr(cache.sys, "platform", "linux")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert directory() == tmp_path / "cache"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    monkeypatch.delenv("DYNARM_CACHE_DIR")
    assert directory() == tmp_path / "xdg" / "dynarm"
    monkeypatch.setenv("XDG_CACHE_HOME", "not/absolute")
    assert directory() == tmp_path / ".cache" / "dynarm"
    monkeypatch.setattr(cache.sys, "platform", "darwin")
    assert directory() == tmp_path / "Library" / "Caches" / "dynarm"


def test_what_nobody_uses_is_swept_away(folder):
    store(KEY, ENTRY)
    old = the_file(folder)
    other = folder / "not ours.txt"
    other.write_text("kept")
    for file in (old, other):
        os.utime(file, (0, 0))
    cache._written = None
    store("fresh", ENTRY)
    assert sorted(f.name for f in folder.iterdir()) == ["fresh.object", "not ours.txt"]


def test_use_keeps_an_entry_young(folder):
    store(KEY, ENTRY)
    os.utime(the_file(folder), (0, 0))
    assert load(KEY) == ENTRY
    assert the_file(folder).stat().st_mtime > 1e9


# ---- two processes


WORKER = """
import sys
from dynarm.machine.load.cache import Entry, load, store
number = int(sys.argv[1])
for k in range(150):
    store("shared", Entry({"by": number, "turn": k}, bytes([number]) * (20_000 + 100 * k)))
    found = load("shared")
    assert found is not None, "an entry was half-written"
    assert found.code == bytes([found.meta["by"]]) * (20_000 + 100 * found.meta["turn"])
"""


def test_processes_at_once_see_whole_entries(folder):
    runs = [
        subprocess.Popen([sys.executable, "-c", WORKER, str(k)], stderr=subprocess.PIPE)
        for k in (1, 2)
    ]
    for run in runs:
        error = run.communicate(timeout=120)[1]
        assert run.returncode == 0, error.decode()[-1000:]
    assert [f.name for f in folder.iterdir()] == ["shared.object"]


# ---- keys


@dataclasses.dataclass(frozen=True)
class Record:
    a: float
    b: tuple[int, ...] = ()


PARTS = (
    (),
    (None,),
    (0,),
    (False,),
    (0.0,),
    (-0.0,),
    ("0",),
    (b"0",),
    ("a", "b"),
    ("ab",),
    ("a", ("b",)),
    (("a", "b"),),
    ({"a": 1},),
    ({"a": 1.0},),
    ((("a", 1),),),
    (Record(1.0),),
    (Record(1.0, (2,)),),
    (np.arange(4.0),),
    (np.arange(4.0).reshape(2, 2),),
    (np.arange(4),),
    (1.0,),
    (np.nextafter(1.0, 2),),
)


def test_different_recipes_have_different_keys():
    keys = [digest(*parts) for parts in PARTS]
    assert len(set(keys)) == len(PARTS)
    assert all(cache._file_name(key) for key in keys)


def test_equal_recipes_have_equal_keys_in_every_process():
    parts = "('x', 1.5, {'b': 2, 'a': (1, None)})"
    code = f"from dynarm.machine.load.cache import digest; print(digest(*{parts}))"
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert other.stdout.strip() == digest("x", 1.5, {"a": (1, None), "b": 2})


def test_keys_depend_on_sources(monkeypatch, tmp_path):
    before = cache._surroundings()
    assert cache._surroundings.__wrapped__() == before
    (tmp_path / "machine").mkdir()
    monkeypatch.setattr(cache, "__file__", str(tmp_path / "machine" / "cache.py"))
    assert cache._surroundings.__wrapped__() != before


def test_what_cannot_be_part_of_a_key_is_refused():
    with pytest.raises(KindError, match="cannot be part of a cache key"):
        digest(object())
    with pytest.raises(KindError, match="cannot be part of a cache key"):
        digest({"f": len})


@pytest.mark.parametrize("key", ["", "../../etc/passwd", "a/b", "a.b", "x" * 300, "a\0b", 7])
def test_keys_that_could_be_paths_are_refused(key):
    for call in (lambda: load(key), lambda: store(key, ENTRY)):
        with pytest.raises(InputError, match="cache key"):
            call()
