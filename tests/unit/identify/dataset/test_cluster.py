"""Datasets on a real Dask cluster of two processes: the numbers of one process, whatever becomes of the workers."""

import gc
import logging
import os
import signal
import socket
import subprocess
import sys
import threading
import warnings
from contextlib import suppress
from itertools import pairwise

import dask
import numpy as np
import pytest
from benchmarks import simulated_fleets as fleets
from distributed import Client, LocalCluster

import dynarm
from dynarm.cli.app import run
from dynarm.errors import DynarmError, DynarmWarning, InputError, KindError
from dynarm.identify.dataset import cluster as door
from dynarm.identify.dataset.cutting import limits
from dynarm.identify.dataset.files import Dataset
from dynarm.identify.dataset.partitions import (
    Partition,
    chunks_of,
    glances,
    long_partitions,
    part_of,
    segments_of,
)
from dynarm.identify.dataset.strewn import together as strewn_together
from dynarm.identify.dataset.survey import survey
from dynarm.identify.estimators.merging import Folded, grouped, places, together, whole
from dynarm.identify.result import Fit
from oracles.simulated_log import multi_sine

EQUAL = 1e-10
ROWS = 130_000  # more than two segments: cut at the same rows wherever they are folded
SMALL = "320MB"


@pytest.fixture(scope="module")
def client():
    """Two worker processes on this machine, started once."""
    with (
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            scheduler_kwargs=door.SILENT,
            host="127.0.0.1",
        ) as cluster,
        Client(cluster, set_as_default=False) as one,
    ):
        yield one


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A noisy recording with a gap, resets, a turn and a spike, in two Parquet files that go on from one another."""
    import pandas as pd

    arm = dynarm.load("two_link")
    t, q, qd, qdd = multi_sine(2, duration=ROWS / 500.0, rate=500.0)
    t, q, qd, qdd = (x[:ROWS] for x in (t, q, qd, qdd))
    rng = np.random.default_rng(5)
    tau = dynarm.compile(arm).inverse_dynamics(q, qd, qdd) + 0.2 * np.tanh(qd / 0.05)
    tau = tau + rng.normal(size=tau.shape) / 50
    q = q + 1e-5 * rng.normal(size=q.shape)
    t = t + np.where(np.arange(len(t)) > 100_000, 0.5, 0.0)
    q[110_000:110_040, 1] += 2.0
    q[120_003:, 1] += 2 * np.pi
    tau[59_995, 0] = 1e4
    place = tmp_path_factory.mktemp("logs")
    columns = {"t": t}
    for j in range(2):
        columns |= {f"q{j + 1}": q[:, j], f"tau{j + 1}": tau[:, j]}
    frame = pd.DataFrame(columns)
    frame[:70_000].to_parquet(place / "a.parquet", row_group_size=11_000)
    frame[70_000:].to_parquet(place / "b.parquet", row_group_size=11_000)
    return place


BLOCKED = """
import sys
class Refusing:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "dynarm":
            raise ModuleNotFoundError("No module named 'dynarm'", name="dynarm")
sys.meta_path.insert(0, Refusing())
"""
NODE = """
import sys
from distributed.cli.dask_{what} import main
sys.argv = ["dask", *sys.argv[1:], "--no-dashboard"]
main()
"""


def node(what: str, blocked: bool, *words) -> subprocess.Popen:
    """A scheduler or a worker as `dask scheduler` and `dask worker` start them."""
    code = (BLOCKED if blocked else "") + NODE.format(what=what)
    more = ["--host", "127.0.0.1", "--port", "0"] if what == "scheduler" else ["--no-nanny"]
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, words), *more],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def fitted(what, client=None, **options) -> Fit:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DynarmWarning)
        return dynarm.Identifier(dynarm.load("two_link"), **options).fit(what, client=client)


@pytest.fixture(scope="module")
def alone(folder) -> Fit:
    return fitted(Dataset(folder, memory=SMALL))


def same(one: Fit, other: Fit) -> None:
    assert one.names_ == other.names_
    assert one.record.preparation == other.record.preparation
    for name in ("values_", "std_"):
        mine, its = getattr(one, name), getattr(other, name)
        np.testing.assert_allclose(mine, its, rtol=EQUAL, atol=EQUAL * np.abs(its).max())
    mine, its = one.record.data("R"), other.record.data("R")
    np.testing.assert_array_equal(mine.rows, its.rows)
    for a, b in zip(mine.merged().R[0], its.merged().R[0], strict=True):
        scale = np.abs(b.T @ b).max()
        np.testing.assert_allclose(a.T @ a, b.T @ b, rtol=0, atol=EQUAL * scale)


def test_a_cluster_gives_the_numbers_of_one_process(client, folder, alone):
    same(fitted(Dataset(folder, memory=SMALL), client), alone)
    assert client.run(lambda: "dynarm.identify.estimators.factors" in sys.modules)  # they folded
    assert all(client.run(lambda: "dynarm.identify.estimators.factors" in sys.modules).values())


@pytest.mark.parametrize("share", [0.2, 0.6])  # the border lies in the second file, or in the first
def test_a_cluster_folds_what_is_not_kept_back(client, folder, share):
    options = {"cutoff": 8.0, "friction": ("viscous", "coulomb")}
    data = Dataset(folder, memory=SMALL, hold_out=share)
    spread = fitted(data, client, **options)
    same(spread, fitted(data, **options))
    assert spread.held_[0].t[0] > 260 * (1 - share)


@pytest.mark.parametrize("estimator", ["wls", "irls"])  # the second weighs rows again and again
def test_many_small_files_are_folded_by_workers(client, tmp_path, folder, estimator):
    import pandas as pd

    frame = pd.read_parquet(folder / "a.parquet")[:30_000]
    for k in range(6):
        part = frame[5000 * k : 5000 * (k + 1)]
        part.assign(t=part["t"] - part["t"].iloc[0]).to_csv(tmp_path / f"{k}.csv", index=False)
    options = {"estimator": estimator, "cutoff": 8.0}
    same(fitted(tmp_path, client, **options), fitted(tmp_path, **options))


def test_a_lost_worker_changes_nothing(client, folder, alone):
    killed = []

    def kill_one(done: int, whole: int) -> None:
        if done > 0.75 * whole and not killed:  # partitions are being folded
            pids = client.run(os.getpid)
            killed.append(next(iter(pids.values())))
            os.kill(killed[0], signal.SIGKILL)

    fit = fitted(Dataset(folder, memory=SMALL), client, progress=kill_one)
    assert killed
    same(fit, alone)
    client.wait_for_workers(2, timeout=60)
    assert killed[0] not in client.run(os.getpid).values()


def test_workers_of_an_adaptive_cluster_may_come_and_go(folder, alone):
    """None at first; the first that comes is sent away while it folds."""
    gone = []
    with (
        LocalCluster(
            n_workers=0, threads_per_worker=1, scheduler_kwargs=door.SILENT, host="127.0.0.1"
        ) as cluster,
        Client(cluster, set_as_default=False) as one,
    ):
        cluster.adapt(minimum=0, maximum=2, interval="100ms", wait_count=1, target_duration="1s")
        assert not one.nthreads()

        def send_one_away(done: int, whole: int) -> None:
            there = list(one.nthreads())  # may be none for a moment
            if done > 0.75 * whole and not gone and there:
                gone.append(there[0])
                one.retire_workers(gone)

        fit = fitted(Dataset(folder, memory=SMALL), one, progress=send_one_away)
        assert gone and gone[0] not in one.nthreads()
    same(fit, alone)


@pytest.mark.parametrize("lost", ["worker", "scheduler", "paused"])
def test_a_fit_without_workers_ends_and_leaves_nothing(folder, tmp_path, monkeypatch, capsys, lost):
    monkeypatch.setattr(door, "_WORKERS", 2.0)
    place, folds = tmp_path / "scheduler.json", door.Cluster.finished
    started = {"scheduler": node("scheduler", False, "--scheduler-file", place)}
    started["worker"] = node("worker", False, "--scheduler-file", place, "--memory-limit", "0")

    def pause(dask_worker) -> None:
        dask_worker.status = type(dask_worker.status).paused

    def lose(self, tasks):
        if lost == "paused":
            self.client.run(pause)
        else:
            started[lost].kill()
            started[lost].wait()
        return folds(self, tasks)

    monkeypatch.setattr(door.Cluster, "finished", lose)
    said = {
        "worker": "no worker has been left at the scheduler at tcp://",
        "scheduler": "the scheduler was lost",
        "paused": "have been paused for 2 s",
    }
    line = ["identify", "two_link", str(folder), "--out", str(tmp_path / "out"), "--json"]
    try:
        with Client(scheduler_file=str(place), timeout=60, set_as_default=False) as one:
            one.wait_for_workers(1, timeout=60)
            assert run([*line, "--scheduler", one.scheduler.address]) == 2
            told = capsys.readouterr()
            assert said[lost] in told.err and "Traceback" not in told.err and not told.out
            assert not (tmp_path / "out").exists()
            if lost != "scheduler":
                assert not one.run_on_scheduler(lambda dask_scheduler: dict(dask_scheduler.tasks))
    finally:
        for process in started.values():
            process.kill()
            process.wait()


def test_workers_whose_memory_is_too_small_are_told_with_what_they_worked_on():
    def hungry(shared, name, value):
        held = [bytearray(20_000_000) for _ in range(40)]
        threading.Event().wait(60)  # the nanny ends it before
        return held

    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        LocalCluster(
            n_workers=1,
            threads_per_worker=1,
            memory_limit="400MB",
            scheduler_kwargs=door.SILENT,
            host="127.0.0.1",
            silence_logs=logging.CRITICAL,
        ) as cluster,
        Client(cluster, set_as_default=False) as one,
        pytest.raises(DynarmError, match=r"arm-3: a worker died of it.*the last had 400 MB"),
    ):
        list(door.cluster_of(one).each(hungry, None, [("arm-3", 1)]))


def test_an_interruption_leaves_no_remark_of_asyncio(client, caplog):
    """Dask's wait ends by an exception that nobody takes; Python tells of it when the wait is collected."""

    def wait(shared, name, value):
        threading.Event().wait(3)

    def interrupt():
        threading.Event().wait(1.5)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt).start()
    with pytest.raises(KeyboardInterrupt):
        list(door.cluster_of(client).each(wait, None, [("arm-1", 1)]))
    threading.Event().wait(1)
    gc.collect()
    threading.Event().wait(1)
    assert not [one for one in caplog.records if one.name == "asyncio"]


def test_partitions_tell_of_their_own_files_only(folder):
    seen = survey(Dataset(folder, memory=SMALL), dynarm.load("two_link"))
    (run,) = seen.runs
    usual = limits(strewn_together([span.strewn for span in run.files]), np.ones(2), seen.arm)
    whole = Partition(run, run.name, usual, chunks_of(run))
    looks = glances(seen, None, whole)
    again = [glances(seen, None, part_of(whole, k, k + 1)) for k in range(len(whole.chunks))]
    assert [one.length for (one,) in again] == [one.length for one in looks]
    for part in long_partitions(whole, looks, 1):
        reached = {chunk for segment in part.segments for chunk, _, _ in segment.reaches}
        assert reached == set(range(len(part.chunks)))
        assert {chunk.file for chunk in part.chunks} == set(range(len(part.run.files)))


def segments_apart(folder):
    """The segments of a folder's recording, made partition by partition."""
    seen = survey(Dataset(folder, memory=SMALL), dynarm.load("two_link"))
    (run,) = seen.runs
    usual = limits(strewn_together([span.strewn for span in run.files]), np.ones(2), seen.arm)
    whole = Partition(run, run.name, usual, chunks_of(run))
    looks = [
        look
        for k in range(len(whole.chunks))
        for look in glances(seen, None, part_of(whole, k, k + 1))
    ]
    parts = list(long_partitions(whole, looks, 1))
    return [segment for part in parts for segment in segments_of(seen, None, part)]


def goes_on(q, first, at):
    """Whether a joint moves on there as it has from row `first`: so an encoder of one turn begins anew only there."""
    return (q[at + 1] - q[at]) * (q[at] - q[first]) > 0


def test_encoders_of_one_turn_go_on_within_every_partition(folder, tmp_path):
    """Joint 1 jumps by a turn just where chunks of a file meet, joint 2 where files do."""
    import pandas as pd

    frame = pd.concat([pd.read_parquet(folder / name) for name in ("a.parquet", "b.parquet")])
    q1, q2 = frame["q1"].to_numpy(), frame["q2"].to_numpy()
    first = next(k for k in range(0, 5000, 50) if goes_on(q1, k, k + 59_999))
    last = next(k for k in range(96_000, 99_000) if goes_on(q2, first, k))
    whole, turned = tmp_path / "whole", tmp_path / "turned"
    for place in (whole, turned):
        place.mkdir()
        if place is turned:
            for joint, at in (("q1", first + 59_999), ("q2", last)):
                q = frame[joint].to_numpy()
                begun = q[at : at + 2].mean()
                frame[joint] = begun + (q - begun) % (2 * np.pi)
                assert abs(np.diff(frame[joint].to_numpy()[at : at + 2])[0]) > 6
        for name, rows in (("a", slice(first, last + 1)), ("b", slice(last + 1, None))):
            frame[rows].to_parquet(place / f"{name}.parquet", row_group_size=11_000)
    wrapped, usual = segments_apart(turned), segments_apart(whole)
    assert len(wrapped) == len(usual) > 2
    for one, other in zip(wrapped, usual, strict=True):
        np.testing.assert_array_equal(one.log.t, other.log.t)
        turns = (one.log.q - other.log.q) / (2 * np.pi)
        np.testing.assert_allclose(turns, np.round(turns[:1]) + 0 * turns, atol=1e-9)


def test_errors_in_a_partition_name_file_and_row_group(client, folder, tmp_path, monkeypatch):
    (tmp_path / "a.parquet").write_bytes((folder / "a.parquet").read_bytes())
    broken = bytearray((folder / "b.parquet").read_bytes())
    half, more = len(broken) // 2, len(broken) // 4
    broken[half : half + more] = b"\xff" * more
    (tmp_path / "b.parquet").write_bytes(bytes(broken))
    with pytest.raises(DynarmError, match=r"b\.parquet: row group \d+ is damaged"):
        fitted(Dataset(tmp_path, memory=SMALL), client)
    (tmp_path / "b.parquet").write_bytes((folder / "b.parquet").read_bytes())

    def unweighable(j, support, X, y):
        raise ZeroDivisionError("no weight")

    monkeypatch.setattr(
        "dynarm.identify.estimators.methods.irls._counted_less", lambda *_: unweighable
    )
    with pytest.raises(
        DynarmError, match=r"[ab]\.parquet, row groups 0 to \d+.*ZeroDivisionError: no weight"
    ):
        fitted(Dataset(tmp_path, memory=SMALL), client, estimator="irls", cutoff=8.0)


def test_workers_must_have_the_same_dynarm(client, folder, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(door, "__version__", "9.9")
        with pytest.raises(
            InputError, match=r"worker tcp.* has dynarm .*, this process dynarm 9\.9"
        ):
            fitted(folder, client)
    worker = next(iter(client.scheduler_info()["workers"]))

    def hide() -> None:
        for name in [n for n in sys.modules if n.split(".")[0] == "dynarm"]:
            sys.modules["hidden " + name] = sys.modules.pop(name)
        sys.modules["dynarm"] = None

    def show() -> None:
        del sys.modules["dynarm"]
        for name in [n for n in sys.modules if n.startswith("hidden ")]:
            sys.modules[name.removeprefix("hidden ")] = sys.modules.pop(name)

    hide.__module__ = show.__module__ = "__main__"
    client.run(hide, workers=[worker])
    try:
        with pytest.raises(InputError, match=r"worker tcp.* has no dynarm"):
            fitted(folder, client)
    finally:
        client.run(show, workers=[worker])


@pytest.mark.parametrize("blocked", ["scheduler", "worker", None])
def test_a_cluster_without_dynarm_or_workers_is_told_so(folder, tmp_path, monkeypatch, blocked):
    """Real processes that cannot import dynarm: started with a finder that refuses it."""
    monkeypatch.setattr(door, "_NOTICE", 0.1)
    place = tmp_path / "scheduler.json"
    started = [node("scheduler", blocked == "scheduler", "--scheduler-file", place)]
    if blocked is not None:
        started.append(node("worker", blocked == "worker", "--scheduler-file", place))
    said = {
        "scheduler": r"the scheduler has no dynarm, this process dynarm",
        "worker": r"worker tcp.* has no dynarm, this process dynarm",
        None: r"no worker has joined the scheduler at tcp.* after 1 s",
    }
    try:
        with Client(scheduler_file=str(place), timeout=60, set_as_default=False) as one:
            if blocked is not None:
                one.wait_for_workers(1, timeout=60)
            with (
                dask.config.set({door._SETTING: "1s"}),
                warnings.catch_warnings(record=True) as notes,
                pytest.raises(InputError, match=said[blocked]),
            ):
                warnings.simplefilter("always")
                dynarm.Identifier(dynarm.load("two_link")).fit(folder, client=one)
            waited = [str(note.message) for note in notes if "one is waited for, 1 s" in str(note)]
            assert len(waited) == (blocked is None)
    finally:
        for process in started:
            process.kill()
            process.wait()


def test_what_is_no_client_is_refused(folder):
    with pytest.raises(KindError, match=r"client is .*give a distributed\.Client"):
        fitted(folder, "tcp://127.0.0.1:1")
    with pytest.raises(InputError, match="client is given, which folds datasets"):
        fitted(dynarm.Log([0, 1], [[0, 0], [1, 1]], [[0, 0], [1, 1]]), object())


def test_the_command_line_reaches_a_scheduler(client, folder, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(door, "_ANSWER", 1.0)
    line = ["identify", "two_link", str(folder), "--out", str(tmp_path / "out"), "--json"]
    assert run([*line, "--scheduler", "tcp://127.0.0.1:1"]) == 2
    assert "no Dask scheduler answers at 'tcp://127.0.0.1:1'" in capsys.readouterr().err
    with monkeypatch.context() as patch:
        begun = []
        patch.setattr("distributed.Client", lambda *_, **__: begun.append(1))
        for address in ("nowhere", "", "tcp://127.0.0.1", "foo://127.0.0.1:8786"):
            assert run([*line, "--scheduler", address]) == 2
            assert f"no Dask scheduler answers at '{address}'" in capsys.readouterr().err
        assert not begun  # it would be waited for at the end
    assert run([*line, "--scheduler", "tcp://127.0.0.1:1", "--workers", "2"]) == 2
    assert not (tmp_path / "out").exists()
    assert run([*line, "--scheduler", client.scheduler.address]) in (0, 1)
    assert (tmp_path / "out" / "report.html").exists()


def test_workers_of_this_machine_give_the_robot_of_one_process(folder, tmp_path):
    line = ["identify", "two_link", str(folder), "--memory", SMALL, "--cutoff", "10", "--json"]
    for name, more in (("one", []), ("two", ["--workers", "2"])):
        assert run([*line, "--out", str(tmp_path / name), *more]) in (0, 1)
    one, two = (dynarm.load_fit(tmp_path / name / "fit.toml") for name in ("one", "two"))
    size = np.abs(one.values_).max()
    np.testing.assert_allclose(two.values_, one.values_, rtol=0, atol=EQUAL * size)
    np.testing.assert_allclose(two.std_, one.std_, rtol=1e-6)


def test_workers_of_this_machine_ask_for_no_port_of_others(recwarn):
    """Dask's own is held by whoever runs a cluster already; nobody is told of it."""
    with socket.socket() as held:
        with suppress(OSError):  # somebody else holds it
            held.bind(("", 8787))
            held.listen()
        with door.local_workers(1) as one:
            assert one.nthreads()
    assert not [str(note.message) for note in recwarn if "8787" in str(note.message)]


def test_blocks_are_those_of_one_fold(alone):
    factors = alone.record.data("R")
    cuts = [0, 1, 5, factors.blocks]
    parts = []
    for low, high in pairwise(cuts):
        own = type(factors)(
            factors.support,
            factors.size,
            factors.R[low:high],
            factors.rows[low:high],
            factors.runs[low:high],
        )
        parts.append(Folded(own, high - low, 0, ()))
    firsts, group, count = places([part.extent for part in parts])
    assert (firsts, group, count) == (cuts[:-1], 1, factors.blocks)
    for group in (1, 4):
        partials = [grouped(part, k, group) for part, k in zip(parts, firsts, strict=True)]
        tree = together([together(partials[:2]), partials[2]])
        out = whole(tree, -(-factors.blocks // group), factors.support, factors.size)
        for b in range(out.blocks):
            own = factors.merged(range(group * b, min(group * (b + 1), factors.blocks)))
            np.testing.assert_array_equal(out.rows[b], own.rows[0])
            of = {factors.runs[k] for k in range(group * b, min(group * (b + 1), factors.blocks))}
            assert out.runs[b] == (of.pop() if len(of) == 1 else -1)
            for mine, its in zip(out.R[b], own.R[0], strict=True):
                size = np.abs(its.T @ its).max()
                np.testing.assert_allclose(mine.T @ mine, its.T @ its, rtol=0, atol=1e-12 * size)
    assert places([(300, 300), (100, 90)]) == ([0, 300], 4, 98)


def test_logs_in_memory_travel_once_and_again_where_a_worker_is_lost(client):
    rng, base = np.random.default_rng(8), dynarm.load("two_link")
    logs = {f"arm-{k}": [fleets.recording(rng, base, 5.0)] for k in range(6)}
    how = {"friction": ("viscous", "coulomb", "offset"), "armature": False}
    killed = []

    def kill_one(done: int, whole: int) -> None:
        if not killed:
            killed.append(next(iter(client.run(os.getpid).values())))
            os.kill(killed[0], signal.SIGKILL)

    one = dynarm.fit_fleet(base, logs, **how)
    with (
        dask.config.set({"admin.large-graph-warning-threshold": "1kB"}),
        warnings.catch_warnings(record=True) as said,
    ):
        warnings.simplefilter("always")
        two = dynarm.fit_fleet(base, logs, **how, client=client, progress=kill_one)
    assert killed and not [str(note.message) for note in said]
    np.testing.assert_allclose(two.values_, one.values_, rtol=EQUAL)
    client.wait_for_workers(2, timeout=60)


def test_robots_of_a_fleet_are_fitted_by_workers(client, tmp_path):
    import pandas as pd

    rng, base = np.random.default_rng(8), dynarm.load("two_link")
    for k in range(5):
        log = fleets.recording(rng, fleets.sound_robot(rng, base), 5.0)
        columns = {"t": log.t} | {f"q{j + 1}": log.q[:, j] for j in range(2)}
        columns |= {f"tau{j + 1}": log.tau[:, j] for j in range(2)}
        pd.DataFrame(columns).to_csv(tmp_path / f"arm-{k}.csv", index=False)
    (tmp_path / "arm-9.csv").write_text("t,q1\n0,zero\n")
    how = {"by": "file", "friction": ("viscous", "coulomb", "offset"), "skip_bad": True}
    one = dynarm.fit_fleet(base, tmp_path, **how)
    steps = []
    told = {"progress": lambda *step: steps.append(step), "client": client}
    two = dynarm.fit_fleet(base, tmp_path, **how, **told)
    assert list(two.robots) == list(one.robots) and steps[-1] == (6, 6)
    np.testing.assert_allclose(two.values_, one.values_, rtol=EQUAL)
    np.testing.assert_allclose(two.pool.values, one.pool.values, rtol=EQUAL)
    assert two.left_out == one.left_out and "arm-9" in two.left_out[0]
    with pytest.raises(DynarmError, match=r"robot arm-9: .*cannot tell which columns"):
        dynarm.fit_fleet(base, tmp_path, **{**how, "skip_bad": False}, client=client)
