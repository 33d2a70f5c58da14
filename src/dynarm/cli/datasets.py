"""Logs in folders, patterns and large files, which identify reads piece by piece, and which a cluster may fold."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import typer

from ..errors import InputError
from .options import refuse_given, with_group

if TYPE_CHECKING:
    from ..border.kinds import Foreign
    from ..identify.dataset.files import Dataset
    from ..identify.logs.log import Log
    from ..robot.arm import Arm

MEMORY = typer.Option(
    None, "--memory", metavar="SIZE", help="Of a folder or large files: what a fit may take [1GB]."
)
BY = typer.Option(
    None,
    "--by",
    metavar="KEY",
    help="Robots of a fleet: KEY=... in paths, a column, folder or file.",
)
APART = typer.Option(False, "--apart", help="Every file is a recording of its own.")
SKIP_BAD = typer.Option(False, "--skip-bad", help="Leave files out that cannot be used; say which.")


SCHEDULER = typer.Option(
    None,
    "--scheduler",
    metavar="ADDRESS",
    help="Of a Dask cluster that folds logs: tcp://host:port.",
)
WORKERS = typer.Option(
    None,
    "--workers",
    min=1,
    max=1024,
    help="Fold logs in so many processes of this machine (Dask).",
)


class Bulk(NamedTuple):
    """How much may be held of logs in many or large files, and what becomes of bad ones."""

    memory: str | None = MEMORY
    skip_bad: bool = SKIP_BAD
    scheduler: str | None = SCHEDULER
    workers: int | None = WORKERS
    by: str | None = BY
    apart: bool = APART

    @property
    def spread(self) -> dict[str, object]:
        """The options that name a cluster."""
        return {"--scheduler": self.scheduler, "--workers": self.workers}

    def dataset(
        self,
        logs: Sequence[str],
        how: tuple[str | None, str | None],
        refused: Mapping[str, object],
        hold_out: float,
    ) -> Dataset | None:
        """The logs as a dataset, where one is a folder, a pattern or large, or where options of datasets are given.

        how: the channels' file, the bags' topic. refused: options that datasets do not have. hold_out: the part that
        is kept back.
        """
        from ..identify.dataset.files import Dataset, are_dataset

        if all(self.spread.values()):
            raise InputError("--scheduler and --workers are both given; leave one of them out")
        flags = self.memory is not None, self.skip_bad, self.by, self.apart
        asked = any(flags) or any(self.spread.values())
        if not asked and not are_dataset([Path(log) for log in logs]):
            return None
        refuse_given("takes single logs, not a folder, a pattern or a large file", refused)
        most = self.memory or "1GB"
        data = Dataset(tuple(logs), how[0], most, self.skip_bad, how[1], hold_out=hold_out)
        return replace(data, apart=self.apart)

    @contextmanager
    def client(self) -> Iterator[Foreign]:
        """The client of the cluster that was asked for; None where none was."""
        from ..identify.dataset.cluster import local_workers, scheduler

        if self.scheduler is None and self.workers is None:
            yield None
            return
        reached = local_workers(self.workers) if self.workers else scheduler(self.scheduler or "")
        with reached as client:
            yield client


BULK = Bulk()
with_bulk = with_group("bulk", BULK)


def read_logs(
    arm: Arm,
    paths: Sequence[str],
    how: tuple[str | None, str | None],
    skip_bad: bool = False,
    apart: bool = False,
) -> list[Log]:
    """Logs to predict; of folders, patterns and large files what fits into memory. how: channels' file, bags' topic."""
    from ..identify.dataset.files import Dataset, is_dataset
    from ..identify.logs.log import Log

    read: list[Log] = []
    for path in paths:
        if is_dataset(Path(path)):
            data = Dataset(path, how[0], skip_bad=skip_bad, topic=how[1], apart=apart)
            read += data.excerpts(arm)
        else:
            read.append(Log.read(path, *how))
    return read


def shown_reading(
    logs: Sequence[Log] | Dataset, done: Callable[..., None]
) -> Sequence[Log] | Dataset:
    """The logs; a dataset shows how far the first look at its files is, then how much is being fitted."""
    from ..identify.dataset.files import Dataset
    from ..identify.dataset.streamed import READ

    if not isinstance(logs, Dataset):
        return logs

    def reading(files: int, in_all: int, rows: int) -> None:
        told = f"reading, {files} of {in_all}" if files < in_all else f"fitting {files}"
        done(READ * files / in_all, f"{told} files, {rows:,} rows")

    return replace(logs, progress=reading)
