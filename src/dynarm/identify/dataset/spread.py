"""Datasets on a Dask cluster: each partition is folded where it is read, and only triangles and an excerpt travel."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from ... import __version__
from ...border.files import named
from ...border.kinds import Foreign
from ...errors import DynarmError
from ...robot.arm import Arm
from ..estimators.factors import BLOCKS, Factors, Tick, Weigh
from ..estimators.merging import Folded, Partial, grouped, places, together, whole
from ..preprocess import Preparation, Stretch
from ..regressor import Terms
from ..segments import SEGMENT
from .cluster import Cluster
from .cutting import Usual
from .files import Dataset
from .partitions import MOST, Partition, chunks_of, long_partitions, part_of, short_partition
from .survey import FileRun, Span, Survey
from .tasks import Change, Folding, Work, fold_task, glance_task, look_task

_ARITY = 8  # factors that are put together by one task
_SHARES = 4  # partitions for each thread of the workers, at least


def looked(
    cluster: Cluster, dataset: Dataset, arm: Arm, files: Sequence[Path]
) -> Iterator[Span | DynarmError]:
    """A first look at all files, in order."""
    shared = cluster.shared(replace(dataset, progress=None)), cluster.shared(arm)
    whole_names = [path.absolute() for path in files]
    tasks = [
        cluster.task(look_task, *shared, path, __version__, told=named(path))
        for path in whole_names
    ]
    for task in tasks:
        yield cluster.results([task])[0]


def spread_out(
    cluster: Cluster,
    seen: Survey,
    rows: str | None,
    runs: Sequence[tuple[FileRun, Usual | None]],
) -> Callable[[Preparation], ClusterFlow]:
    """What makes the stretches of all recordings, by their preparation.

    usual: of recordings that are too long to be read whole.
    """
    work = Work(replace(seen, dataset=replace(seen.dataset, progress=None)), rows, __version__)
    shared = cluster.shared(work)
    every = [(run, usual, _glances(cluster, shared, run, usual)) for run, usual in runs]
    size = min(MOST, max(1, seen.rows // (_SHARES * cluster.threads * SEGMENT)))
    parts: list[Partition] = []
    for k, (run, usual, tasks) in enumerate(every):
        if usual is None:
            parts.append(replace(short_partition(run), index=k))
            continue
        told = [glance for some in cluster.results(tasks) for glance in some]
        long = long_partitions(_long(run, usual), told, size)
        parts += [replace(part, index=k) for part in long]
    return lambda how: ClusterFlow(cluster, work, parts, how, seen.rows)


def _glances(cluster: Cluster, work: Foreign, run: FileRun, usual: Usual | None) -> list[Foreign]:
    """Tasks that look where the stretches of a long recording begin."""
    if usual is None:
        return []
    long = _long(run, usual)
    count = len(long.chunks)
    some = [part_of(long, k, min(k + MOST, count)) for k in range(0, count, MOST)]
    return [cluster.task(glance_task, work, part, told=part.told) for part in some]


def _long(run: FileRun, usual: Usual) -> Partition:
    """A long recording, before it is cut."""
    return Partition(run, run.name, usual, chunks_of(run))


def _extent(part: Folded) -> tuple[int, int, int]:
    return (*part.extent, part.samples)


def _excerpt(part: Folded) -> tuple[Stretch, ...]:
    return part.excerpt


def _together(*partials: Partial) -> Partial:
    return together(partials)


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
        task, results, shared = self.cluster.task, self.cluster.results, self.cluster.shared
        folding = Folding(terms, how, self.prepared, self.changes, weigh, blocks, self.total)
        work, pass_ = shared(self.work), shared(folding)
        parts = [task(fold_task, work, one, pass_, told=one.told) for one in self.partitions]
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
