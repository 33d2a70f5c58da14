"""What workers of a cluster do with a dataset: look at files, find where stretches begin, fold a partition.

Plain functions of plain arguments, without Dask. Workers need the same dynarm; every task says so, because workers
may come at any time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path

from ...border.kinds import Kept
from ...errors import DynarmError, InputError, ModelError
from ...robot.arm import Arm
from ..estimators.factors import Weigh, edges_in, fold
from ..estimators.merging import Folded
from ..flow import Flow
from ..preprocess import Preparation, Stretch, smooth_segment
from ..regressor import Terms
from .files import Dataset
from .partitions import Glance, Partition, glances, segments_of
from .survey import Span, Survey, look_at

Change = Callable[[Stretch], Stretch]


def dynarm_here() -> str:
    """The version of dynarm that a worker has; nothing where it has none."""
    try:
        import dynarm
    except ImportError:
        return ""
    return str(dynarm.__version__)


def check_version(worker: str, version: str, wanted: str) -> None:
    if version != wanted:
        have = f"dynarm {version}" if version else "no dynarm"
        raise InputError(
            f"{worker} has {have}, this process dynarm {wanted}; install the same on all workers"
        )


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
    check_version("a worker", dynarm_here(), version)
    return look_at(path, dataset, arm)


def glance_task(work: Work, partition: Partition) -> list[Glance]:
    """Where stretches begin in the chunks of a part of a long recording."""
    with _naming(partition.told):
        return glances(work.seen, work.rows, partition)


def fold_task(work: Work, partition: Partition, folding: Folding) -> Folded:
    """One partition, folded."""
    check_version("a worker", dynarm_here(), work.version)
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


def apart_task(version: str, told: str, what: Callable[..., Kept], *given: Kept) -> Kept:
    """Whatever can be done apart from all else, such as the fit of one robot; told: how an error calls it."""
    check_version("a worker", dynarm_here(), version)
    with _naming(told):
        return what(*given)
