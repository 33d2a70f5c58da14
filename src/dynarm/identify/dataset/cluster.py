"""The door to Dask: reaching a cluster, whose workers have this dynarm, and waiting for what they do.

Dask is the engine: it spreads the tasks, brings in workers that come later, and does those of lost workers again.
It would wait for ever where no worker comes, or all are full; here a fit gives up then, and takes its tasks back.
"""

from __future__ import annotations

import builtins
import logging
import signal
import threading
import time
import types
import warnings
import weakref
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib.util import find_spec

from ... import __version__
from ...border.arguments import shown
from ...border.extras import extra
from ...border.kinds import Foreign, Kept, Outside
from ...errors import DynarmWarning, InputError, KindError, ModelError
from .tasks import apart_task, check_version, dynarm_here

_ANSWER = 10.0  # seconds until a scheduler has answered
_WORKERS = 120.0  # seconds without a worker until a fit gives up, unless Dask's own setting says so
_SETTING = "distributed.scheduler.no-workers-timeout"
_NOTICE = 5.0  # seconds until it is said that a worker is waited for
_LOOK = 1.0  # seconds between two looks at whether there are workers
_AHEAD = 2  # parts for each thread of the workers that are handed over before they are needed
_TRIES = 4  # that a part is handed over, where workers are lost with it
# of a scheduler that we start: any free port, to which only this machine speaks, and no page on it
SILENT: dict[str, Kept] = {"dashboard": False, "dashboard_address": "127.0.0.1:0"}
_LARGE = "Sending large graph"  # how Dask's remark begins that a dataset's list of files is long


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
    dask = _distributed()
    from distributed.comm.addressing import get_address_host_port

    try:
        get_address_host_port(address)  # else a client would fail to begin, and be waited for
        client = dask.Client(address, timeout=_ANSWER, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise InputError(
            f"no Dask scheduler answers at {shown(address)} ({reason}); start one with `dask scheduler`, and give its "
            "address as tcp://host:8786"
        ) from None
    from distributed.utils import silence_logging_cmgr

    with silence_logging_cmgr(logging.CRITICAL), client:
        yield client


@contextmanager
def local_workers(count: int) -> Iterator[Foreign]:
    """A client of so many worker processes on this machine, which end with it."""
    how = {"threads_per_worker": 1, "scheduler_kwargs": SILENT, "silence_logs": logging.CRITICAL}
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
    probe = _by_value(dynarm_here)
    _await_worker(client)
    for worker, version in client.run(probe, on_error="return").items():
        if isinstance(version, OSError):
            continue  # it went meanwhile, as workers of adaptive clusters do
        if isinstance(version, Exception):
            raise InputError(f"worker {worker} cannot import dynarm ({version}); install it again")
        check_version(f"worker {worker}", version, __version__)
    check_version("the scheduler", client.run_on_scheduler(probe), __version__)  # it unpacks tasks
    return Cluster(client)


def _by_value(what: Callable[..., Kept]) -> Callable[..., Kept]:
    """A function that is sent as it stands, to where there is no dynarm too."""
    sent = types.FunctionType(what.__code__, {"__builtins__": builtins}, what.__name__)
    sent.__module__ = "__main__"
    return sent


def _await_worker(client: Foreign) -> None:
    """Wait for a first worker; an adaptive cluster starts one when there is something to do."""
    if client.nthreads():
        return
    address, patience = client.scheduler.address, _patience()
    task = client.submit(_by_value(dynarm_here), pure=False)
    try:
        with suppress(TimeoutError):
            task.result(timeout=min(_NOTICE, patience))
            return
        if patience > _NOTICE:
            text = f"no worker has joined the scheduler at {address}; one is waited for, {patience:g} s at most"
            warnings.warn(text, DynarmWarning, stacklevel=5)
        task.result(timeout=max(patience - _NOTICE, 0.0))
    except (TimeoutError, _no_worker()):
        task.cancel()
        raise InputError(
            f"no worker has joined the scheduler at {address} after {patience:g} s; start one with "
            f"`dask worker {address}`"
        ) from None


def _patience() -> float:
    """Seconds without a worker until a fit gives up."""
    import dask
    from dask.utils import parse_timedelta

    told = dask.config.get(_SETTING, None)
    return _WORKERS if told is None else float(parse_timedelta(told))


def _no_worker() -> type[Exception]:
    """What tasks fail with where a scheduler itself gives up waiting for workers; Dask has it since 2024.9."""
    from distributed import scheduler as part

    kind: type[Exception] = getattr(part, "NoWorkerError", part.KilledWorker)
    return kind


# ---- doing tasks


def _same(value: Kept) -> Kept:
    """What tasks share is the result of a task, so that Dask makes it again where it was lost."""
    return value


def _at_work(dask_scheduler: Foreign) -> tuple[int, int]:
    """How many workers there are, and how many of them take tasks or do one."""
    there = list(dask_scheduler.workers.values())
    busy = [one for one in there if one.status.name == "running" or one.executing]
    return len(there), len(busy)


def _wanted(record: logging.LogRecord) -> bool:
    """Whether a remark of asyncio is no one about what Dask waited for when the terminal interrupted."""
    kind = record.exc_info[0] if record.exc_info else None
    return kind is None or kind.__name__ != "AllExit"


class _Lost(ModelError):
    """Tasks that nobody does any more, though the scheduler is there."""


class Cluster:
    """A client, and how results of its tasks are waited for."""

    def __init__(self, client: Foreign):
        self.client = client
        self.patience = _patience()
        self._made: weakref.WeakSet[Foreign] = weakref.WeakSet()
        self._told: dict[str, str] = {}  # what a task looks at, by the task's key

    @property
    def threads(self) -> int:
        """Tasks that workers do at a time."""
        count: int = sum(self.client.nthreads().values())
        return max(1, count)

    def task(self, what: Callable[..., object], *given: Kept, told: str = "") -> Foreign:
        """One task, which is done anew whatever was done before; told: how messages call what it looks at."""
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=_LARGE)
            made = self.client.submit(what, *given, pure=False)
        self._made.add(made)
        if told:
            self._told[made.key] = told
        return made

    def shared(self, value: Kept) -> Foreign:
        """A value that many tasks take."""
        return self.task(_same, value)

    def results(self, tasks: Sequence[Foreign]) -> list[Kept]:
        """What the tasks returned, in order; the error of the first that failed."""
        with self._attended():
            return list(self.client.gather(list(tasks)))

    def finished(self, tasks: Sequence[Foreign]) -> Iterator[Kept]:
        """What the tasks returned, as they end."""
        with self._attended():
            for task in _distributed().as_completed(list(tasks), loop=self.client.loop):
                yield task.result()

    def each(
        self,
        what: Callable[..., Kept],
        shared: Kept,
        given: Sequence[tuple[str, Kept]],
        held: bool = False,
    ) -> Iterator[Kept]:
        """What a function returns for what all share and each of some (name, value), in order.

        held: whether values are large, so that only a few are handed over at a time.
        """
        common = self.shared(shared)

        def begun(name: str, value: Kept) -> Foreign:
            there = self._handed_over(value) if held else value
            return self.task(apart_task, __version__, name, what, common, name, there, told=name)

        coming = deque(given)
        ahead: deque[tuple[Foreign, str, Kept]] = deque()
        while coming or ahead:
            while coming and (not held or len(ahead) < _AHEAD * self.threads):
                one = coming.popleft()
                ahead.append((begun(*one), *one))
            yield self._outcome(*ahead.popleft(), begun)

    def _outcome(
        self, task: Foreign, name: str, value: Kept, begun: Callable[[str, Kept], Foreign]
    ) -> Kept:
        """What a task returned; begun anew where a worker was lost with what it was handed."""
        for _ in range(_TRIES - 1):
            with suppress(_Lost):
                return self.results([task])[0]
            task = begun(name, value)
        return self.results([task])[0]

    def _handed_over(self, value: Kept) -> Foreign:
        """A large value, sent to a worker from which tasks fetch it; not with a task, which the scheduler keeps."""
        for _ in range(_TRIES):
            _await_worker(self.client)
            with suppress(TimeoutError, OSError):  # a worker went meanwhile
                (there,) = self.client.scatter([value], hash=False)
                return there
        raise self._deserted(0)

    # ---- waiting

    @contextmanager
    def _attended(self) -> Iterator[None]:
        """While tasks are waited for: given up where no worker does them; troubles of workers, told as ours."""
        logging.getLogger("asyncio").addFilter(_wanted)  # once, however often
        over, gone = threading.Event(), list[ModelError]()
        watch = threading.Thread(target=self._watch, args=(over, gone), daemon=True)
        watch.start()
        try:
            with self._translated(gone):
                yield
        except _Lost:
            raise
        except BaseException:
            self._cancel()
            raise
        finally:
            over.set()
            watch.join()

    def _watch(self, over: threading.Event, gone: list[ModelError]) -> None:
        """Cancel all tasks once no worker has taken or done any for as long as patience lasts."""
        probe, since = _by_value(_at_work), time.monotonic()
        while not over.wait(min(_LOOK, self.patience)):
            try:
                there, busy = self.client.run_on_scheduler(probe)
            except Exception:
                continue  # a scheduler that is lost is told by the tasks themselves
            if busy:
                since = time.monotonic()
            elif time.monotonic() - since > self.patience:
                gone.append(self._deserted(there))
                self._cancel()
                return

    def _deserted(self, there: int) -> ModelError:
        address, wait = self.client.scheduler.address, f"for {self.patience:g} s"
        if there:
            return ModelError(
                f"the workers of the scheduler at {address} have been paused {wait}, as they are while their memory is "
                "full; give each more of it (`dask worker --memory-limit`, fewer workers or threads on a machine)"
            )
        return ModelError(
            f"no worker has been left at the scheduler at {address} {wait}; start some with `dask worker {address}`, "
            f"and look at the logs of those that ended (Dask's setting {_SETTING} says how long to wait)"
        )

    def _cancel(self) -> None:
        """Take all tasks back that were made here."""
        with suppress(Exception):  # a lost scheduler has none left
            if self.client.status == "running":
                self.client.cancel(list(self._made), force=True)

    @contextmanager
    def _translated(self, gone: Sequence[ModelError]) -> Iterator[None]:
        """Troubles of workers, told as ours; gone: what was found out about all of them."""
        dask = _distributed()
        try:
            yield
        except dask.KilledWorker as error:
            raise self._killed(error) from None
        except _no_worker():
            raise self._deserted(0) from None
        except dask.CancelledError as error:
            reason = str(error).splitlines()[0] if str(error) else type(error).__name__
            if gone:
                raise gone[0] from None
            if self.client.status == "running":
                raise _Lost(
                    f"tasks were cancelled at the scheduler ({reason}); fit again"
                ) from None
            raise ModelError(
                f"the scheduler was lost ({reason}); start it again, and look at its log"
            ) from None
        except ImportError as error:
            raise InputError(
                f"a worker has no dynarm, or not all that it needs ({error})"
            ) from None

    def _killed(self, error: Foreign) -> ModelError:
        limit, died = error.last_worker.memory_limit, error.allowed_failures + 1
        have = f"; the last had {limit / 1e6:.0f} MB" if limit else ""
        many = (
            f"{died} workers died of it, one after the other" if died > 1 else "a worker died of it"
        )
        return ModelError(
            f"{self._told.get(error.task, 'one task')}: {many}, as they do when their memory is too small{have}; give "
            "each more (`dask worker --memory-limit`, fewer workers or threads on a machine), and look at their logs"
        )
