"""The process that reads files of strangers goes on with the next one: kept, confined anew, replaced where it ended."""

import os
import signal
import threading

import numpy as np
import pandas as pd
import pytest

from dynarm.border import apart as border
from dynarm.errors import FormatError
from dynarm.identify.logs.formats import apart
from dynarm.identify.logs.formats.apart import parquet_groups, parquet_parts, read_parquet

ROWS = 400_000


@pytest.fixture(autouse=True)
def nobody_waits():
    border.end_kept()
    yield
    border.end_kept()


@pytest.fixture
def path(tmp_path):
    frame = pd.DataFrame({"t": np.arange(ROWS) / 100, "q1": 1.0, "tau1": 2.0})
    frame.to_parquet(tmp_path / "a.parquet", row_group_size=50_000)
    return tmp_path / "a.parquet"


def waiting():
    return [child.pid for _, child in border._waiting]


def test_one_process_reads_many_files(path):
    read_parquet(path)
    (first,) = waiting()
    for _ in range(3):
        assert len(read_parquet(path)["t"]) == ROWS
        assert parquet_groups(path) == [50_000] * 8
        assert sum(len(table["t"]) for table in parquet_parts(path, 30_000)) == ROWS
        assert waiting() == [first]


def test_one_that_ended_meanwhile_is_replaced(path):
    read_parquet(path)
    (first,) = waiting()
    os.kill(first, signal.SIGKILL)
    assert len(read_parquet(path)["t"]) == ROWS
    assert waiting() != [first] and len(waiting()) == 1


def test_one_that_dies_over_a_file_is_replaced_and_the_file_named(path):
    tables = parquet_parts(path, 30_000)
    next(tables)
    assert not waiting()
    pid = int(os.popen(f"pgrep -P {os.getpid()} -f formats.child").read().split()[0])
    os.kill(pid, signal.SIGKILL)
    with pytest.raises(FormatError, match=r"a\.parquet: damaged, its reader broke off \(code -9\)"):
        list(tables)
    assert not waiting()
    assert len(read_parquet(path)["t"]) == ROWS


def test_one_that_takes_too_long_is_ended_and_the_file_named(path, monkeypatch):
    read_parquet(path)
    (first,) = waiting()
    monkeypatch.setattr(apart, "_PATIENCE", 0.2)
    monkeypatch.setattr(apart, "_PACE", 1e12)
    monkeypatch.setattr(apart, "_ask", lambda *_: None)
    with pytest.raises(FormatError, match=r"a\.parquet: takes too long to read"):
        read_parquet(path)
    assert not waiting()
    with pytest.raises(ProcessLookupError):
        os.kill(first, 0)


def test_a_reading_that_is_left_is_ended(path):
    tables = parquet_parts(path, 30_000)
    next(tables)
    tables.close()
    assert not waiting()
    assert len(read_parquet(path)["t"]) == ROWS


def test_a_refused_file_ends_its_process(path):
    other = path.with_name("b.parquet")
    other.write_bytes(path.read_bytes()[:5000])
    read_parquet(path)
    with pytest.raises(FormatError, match=r"b\.parquet: damaged"):
        read_parquet(other)
    assert not waiting()


def test_memory_is_confined_for_each_file(path):
    resource = pytest.importorskip("resource", reason="limits are of POSIX")
    read_parquet(path)
    (pid,) = waiting()
    with border.lent(apart._MODULE, "a.parquet") as one:  # it has come to wait for a line
        one.done = True
    free = resource.prlimit(pid, resource.RLIMIT_AS)
    assert free[0] == free[1]
    limits = []
    for _ in range(2):
        tables = parquet_parts(path, 30_000)
        next(tables)
        limits.append(resource.prlimit(pid, resource.RLIMIT_AS)[0])
        assert sum(map(len, tables))
    assert all(0 < limit < 4 << 30 for limit in limits)
    assert abs(limits[1] - limits[0]) < 200 << 20


def test_threads_have_a_process_each(path):
    told = []

    def read():
        told.append(len(read_parquet(path)["t"]))

    threads = [threading.Thread(target=read) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert told == [ROWS] * 3
    assert 1 <= len(waiting()) <= 3 and len(set(waiting())) == len(waiting())


def test_no_more_than_a_few_wait(path, monkeypatch):
    monkeypatch.setattr(border, "_KEPT", 1)
    one, other = parquet_parts(path, 200_000), parquet_parts(path, 200_000)
    assert len(next(one)) == len(next(other)) == 3
    assert [len(table["t"]) for table in (*one, *other)] == [ROWS - 200_000] * 2
    assert len(waiting()) == 1


def test_a_fork_has_processes_of_its_own(path):
    read_parquet(path)
    (first,) = waiting()
    fork = os.fork()
    if not fork:
        fine = not waiting() and len(read_parquet(path)["t"]) == ROWS and waiting() != [first]
        border.end_kept()
        os._exit(0 if fine else 1)
    assert os.waitpid(fork, 0)[1] == 0
    assert len(read_parquet(path)["t"]) == ROWS
    assert waiting() == [first]
