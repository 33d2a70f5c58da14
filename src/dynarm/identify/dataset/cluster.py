"""Datasets on a Dask cluster: each partition is folded where it is read, and only triangles and an excerpt travel.

Dask is the engine: it spreads the tasks, brings in workers that come later, and does those of lost workers again.
Tasks are functions of dynarm, so workers need the same dynarm; which one they have is asked first, and by every task,
because workers may come later.
"""

from __future__ import annotations

import builtins
import logging
import signal
import threading
import types
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import reduce
from importlib.util import find_spec
from pathlib import Path

from ... import __version__
from ...border.arguments import shown
from ...border.extras import extra
from ...border.kinds import Foreign, Kept, Outside
from ...errors import DynarmError, InputError, KindError, ModelError
from ...robot.arm import Arm
from ..estimators.factors import BLOCKS, Factors, Tick, Weigh, edges_in, fold
from ..estimators.merging import Folded, Partial, grouped, places, together, whole
from ..flow import Flow
from ..preprocess import Preparation, Stretch, smooth_segment
from ..regressor import Terms
from ..segments import SEGMENT
from .cutting import Usual
from .files import Dataset
from .partitions import (
    MOST,
    Glance,
    Partition,
    chunks_of,
    glances,
    long_partitions,
    segments_of,
    short_partition,
)
from .survey import FileRun, Span, Survey, look_at

_PATIENCE = 10.0  # seconds until a scheduler has answered
_WORKERS = 120.0  # seconds until a first worker has come
_ARITY = 8  # factors that are put together by one task
_SHARES = 4  # partitions for each thread of the workers, at least

Change = Callable[[Stretch], Stretch]


# ---- reaching a cluster


def _distributed() -> Foreign:
    """The package, which tells no types."""
    if find_spec("distributed") is None or find_spec("dask") is None:
        raise ModelError(f"clusters need the packages dask and distributed; {extra('dask')}")
    import distributed

    return distributed


@contextmanager
def scheduler(address: str) -> Iterator[Foreign]:
    """A client of the scheduler at an address such as tcp://host:8786."""
    try:
        client = _distributed().Client(address, timeout=_PATIENCE, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise InputError(
            f"no Dask scheduler answers at {shown(address)} ({reason}); start one with `dask scheduler`, and give its "
            "address as tcp://host:8786"
        ) from None
    with client:
        yield client


@contextmanager
def local_workers(count: int) -> Iterator[Foreign]:
    """A client of so many worker processes on this machine, which end with it."""
    how = {"threads_per_worker": 1, "dashboard_address": None, "silence_logs": logging.CRITICAL}
    with _uninterrupted():
        made = _distributed().LocalCluster(n_workers=count, **how)
    with made as cluster, _distributed().Client(cluster, set_as_default=False) as client:
        yield client


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Processes that are started meanwhile never see an interruption of the terminal: this one ends them."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def cluster_of(client: Outside) -> Cluster:
    """The cluster of a client, whose workers have this dynarm."""
    if not isinstance(client, _distributed().Client):
        raise KindError(f"client is {shown(client)}; give a distributed.Client")
    if client.asynchronous:
        raise KindError("client is asynchronous; give one made with asynchronous=False")
    if client.status != "running":
        raise InputError(f"client is {client.status}; connect it to its scheduler again")
    probe = types.FunctionType(_dynarm_here.__code__, {"__builtins__": builtins}, "dynarm_here")
    probe.__module__ = "__main__"  # so that it is sent as it stands, to workers without dynarm too
    _await_worker(client, probe)
    for worker, version in client.run(probe).items():
        _check_version(f"worker {worker}", version, __version__)
    _check_version("the scheduler", client.run_on_scheduler(probe), __version__)  # it unpacks tasks
    return Cluster(client)


def _await_worker(client: Foreign, probe: Callable[[], str]) -> None:
    """Wait for a first worker; an adaptive cluster starts one when there is something to do."""
    if client.nthreads():
        return
    try:
        client.submit(probe, pure=False).result(timeout=_WORKERS)
    except TimeoutError:
        raise InputError(
            f"no worker has joined the scheduler at {client.scheduler.address} after {_WORKERS:g} s; start one with "
            f"`dask worker {client.scheduler.address}`"
        ) from None


def _dynarm_here() -> str:
    """The version of dynarm that a worker has; nothing where it has none."""
    try:
        import dynarm
    except ImportError:
        return ""
    return str(dynarm.__version__)


def _check_version(worker: str, version: str, wanted: str) -> None:
    if version != wanted:
        have = f"dynarm {version}" if version else "no dynarm"
        raise InputError(
            f"{worker} has {have}, this process dynarm {wanted}; install the same on all workers"
        )


# ---- tasks: what workers do


@dataclass(frozen=True, slots=True, eq=False)
class Work:
    """What all tasks of a dataset need."""

    seen: Survey
    rows: str | None
    version: str


@dataclass(frozen=True, slots=True, eq=False)
class Folding:
    """What a pass over the data does with each stretch."""

    terms: Terms
    how: Preparation
    prepared: Preparation
    changes: tuple[Change, ...]
    weigh: Weigh | None
    blocks: int
    total: int


def _same(value: Kept) -> Kept:
    """What tasks share is the result of a task, so that Dask makes it again where it was lost."""
    return value


@contextmanager
def _naming(told: str) -> Iterator[None]:
    """Errors say which part of the data they came from."""
    try:
        yield
    except DynarmError as error:
        text = str(error)
        raise type(error)(text if told in text else f"{text} (in {told})") from None
    except Exception as error:
        raise ModelError(f"{told}: {type(error).__name__}: {error}") from error


def look_task(dataset: Dataset, arm: Arm, path: Path, version: str) -> Span | DynarmError:
    """A first look at one file."""
    _check_version("a worker", _dynarm_here(), version)
    return look_at(path, dataset, arm)


def glance_task(work: Work, partition: Partition, low: int, high: int) -> list[Glance]:
    """Where stretches begin in some chunks of a long recording."""
    with _naming(partition.chunks[low].told):
        return glances(work.seen, work.rows, partition, low, high)


def fold_task(work: Work, partition: Partition, folding: Folding) -> Folded:
    """One partition, folded."""
    _check_version("a worker", _dynarm_here(), work.version)
    blocks = samples = 0

    def made() -> Iterator[Stretch]:
        nonlocal blocks, samples
        for segment in segments_of(work.seen, work.rows, partition):
            piece = replace(smooth_segment(segment, folding.prepared), run=partition.index)
            piece = reduce(lambda one, change: change(one), folding.changes, piece)
            blocks += len(edges_in(piece, folding.total, folding.blocks)) - 1
            samples += len(piece)
            yield piece

    with _naming(partition.told):
        flow = Flow(made, folding.total)
        factors = fold(folding.terms, flow, folding.how, folding.weigh, folding.blocks)
        return Folded(factors, blocks, samples, tuple(flow.seen()))


def _extent(part: Folded) -> tuple[int, int, int]:
    return (*part.extent, part.samples)


def _excerpt(part: Folded) -> tuple[Stretch, ...]:
    return part.excerpt


def _together(*partials: Partial) -> Partial:
    return together(partials)


def apart_task(version: str, told: str, what: Callable[..., Kept], *given: Kept) -> Kept:
    """Whatever can be done apart from all else, such as the fit of one robot; told: how an error calls it."""
    _check_version("a worker", _dynarm_here(), version)
    with _naming(told):
        return what(*given)


# ---- a dataset on a cluster


class Cluster:
    """A client, and how results of its tasks are waited for."""

    def __init__(self, client: Foreign):
        self.client = client

    def task(self, what: Callable[..., object], *given: Kept) -> Foreign:
        """One task, which is done anew whatever was done before."""
        return self.client.submit(what, *given, pure=False)

    def results(self, tasks: Sequence[Foreign]) -> list[Kept]:
        """What the tasks returned, in order; the error of the first that failed."""
        with _told():
            return list(self.client.gather(list(tasks)))

    def finished(self, tasks: Sequence[Foreign]) -> Iterator[Kept]:
        """What the tasks returned, as they end."""
        with _told():
            for task in _distributed().as_completed(list(tasks), loop=self.client.loop):
                yield task.result()

    def each(
        self, what: Callable[..., Kept], shared: Kept, given: Sequence[tuple[str, Kept]]
    ) -> Iterator[Kept]:
        """What a function returns for what all share and each of some (name, value), in order."""
        common = self.task(_same, shared)
        tasks = [
            self.task(apart_task, __version__, name, what, common, name, value)
            for name, value in given
        ]
        for task in tasks:
            yield self.results([task])[0]

    def looked(
        self, dataset: Dataset, arm: Arm, files: Sequence[Path]
    ) -> Iterator[Span | DynarmError]:
        """A first look at all files, in order."""
        shared = self.task(_same, replace(dataset, progress=None)), self.task(_same, arm)
        whole_names = [path.absolute() for path in files]
        tasks = [self.task(look_task, *shared, path, __version__) for path in whole_names]
        for task in tasks:
            yield self.results([task])[0]

    def spread_out(
        self, seen: Survey, rows: str | None, runs: Sequence[tuple[FileRun, Usual | None]]
    ) -> Callable[[Preparation], ClusterFlow]:
        """What makes the stretches of all recordings, by their preparation.

        usual: of recordings that are too long to be read whole.
        """
        work = Work(replace(seen, dataset=replace(seen.dataset, progress=None)), rows, __version__)
        shared = self.task(_same, work)
        every = [(run, usual, self._glances(shared, run, usual)) for run, usual in runs]
        threads = max(1, sum(self.client.nthreads().values()))
        size = min(MOST, max(1, seen.rows // (_SHARES * threads * SEGMENT)))
        parts: list[Partition] = []
        for k, (run, usual, tasks) in enumerate(every):
            if usual is None:
                parts.append(replace(short_partition(run), index=k))
                continue
            told = [glance for some in self.results(tasks) for glance in some]
            long = long_partitions(_long(run, usual), told, size)
            parts += [replace(part, index=k) for part in long]
        return lambda how: ClusterFlow(self, work, parts, how, seen.rows)

    def _glances(self, work: Foreign, run: FileRun, usual: Usual | None) -> list[Foreign]:
        """Tasks that look where the stretches of a long recording begin."""
        if usual is None:
            return []
        long = _long(run, usual)
        count = len(long.chunks)
        lows = range(0, count, MOST)
        return [self.task(glance_task, work, long, k, min(k + MOST, count)) for k in lows]


def _long(run: FileRun, usual: Usual) -> Partition:
    """A long recording, before it is cut."""
    return Partition(run, run.name, usual, chunks_of(run))


@contextmanager
def _told() -> Iterator[None]:
    """Troubles of workers, told as ours."""
    try:
        yield
    except _distributed().KilledWorker as error:
        raise ModelError(
            f"workers died again and again at one task ({str(error).splitlines()[0]}); give them more memory, and look "
            "at their logs"
        ) from None
    except _distributed().CancelledError as error:
        raise ModelError(
            f"the scheduler was lost ({str(error).splitlines()[0]}); start it again, and look at its log"
        ) from None
    except ImportError as error:
        raise InputError(f"a worker has no dynarm, or not all that it needs ({error})") from None


@dataclass(eq=False)
class ClusterFlow:
    """The stretches of a dataset's partitions, which workers make and fold."""

    cluster: Cluster
    work: Work
    partitions: Sequence[Partition]
    prepared: Preparation
    total: int
    changes: tuple[Change, ...] = ()
    _seen: list[Stretch] | None = field(default=None, repr=False)

    def mapped(self, change: Change) -> ClusterFlow:
        """The same stretches, each changed."""
        return replace(self, changes=(*self.changes, change), _seen=None)

    def excerpts(self) -> list[Stretch] | None:
        """An excerpt of all stretches, kept from the first fold."""
        return self._seen

    def fold(
        self,
        terms: Terms,
        how: Preparation,
        weigh: Weigh | None = None,
        blocks: int = BLOCKS,
        tick: Tick | None = None,
    ) -> Factors:
        """The factors of all partitions, put together in a tree."""
        task, results = self.cluster.task, self.cluster.results
        folding = Folding(terms, how, self.prepared, self.changes, weigh, blocks, self.total)
        work, pass_ = task(_same, self.work), task(_same, folding)
        parts = [task(fold_task, work, one, pass_) for one in self.partitions]
        extents = [task(_extent, part) for part in parts]
        for _, _, samples in self.cluster.finished(extents):
            if tick is not None:
                tick(samples)
        firsts, group, count = places([(own, filled) for own, filled, _ in results(extents)])
        if self._seen is None:
            some = results([task(_excerpt, part) for part in parts])
            self._seen = [piece for one in some for piece in one]
        level = [
            task(grouped, part, first, group) for part, first in zip(parts, firsts, strict=True)
        ]
        while len(level) > 1:
            level = [task(_together, *level[k : k + _ARITY]) for k in range(0, len(level), _ARITY)]
        return whole(results(level)[0], count, terms.support, terms.size)
