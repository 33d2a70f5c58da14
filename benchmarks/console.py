"""Tables and progress in a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table as Grid
from rich.text import Text

from .batches import Step
from .tables import Table


def show(table: Table, out: Console) -> None:
    """Print a table and its notes."""
    out.print(Text(table.title, style="bold"))
    grid = Grid(box=None, pad_edge=False, header_style="dim")
    for k, head in enumerate(table.heads):
        words = table.words(k)
        grid.add_column(Text(head), justify="left" if words else "right", no_wrap=not words)
    for row in table.rows:
        grid.add_row(*(Text(cell.replace("`", "")) for cell in row))
    out.print(grid)
    for note in table.notes:
        out.print(Text(note.replace("`", ""), style="italic"))
    out.print()


class Running:
    """Where a run is: sections done, and what is measured now.

    The bar is drawn between measurements only; a thread that redraws it would run beside them.
    """

    def __init__(self, bar: Progress, sections: int):
        self._bar = bar
        self._task = bar.add_task("", total=sections)

    def steps(self, section: str) -> Step:
        """What a section tells about its steps."""

        def step(what: str) -> None:
            self._bar.update(self._task, description=f"{section}: {what}")
            self._bar.refresh()

        return step

    def done(self) -> None:
        self._bar.advance(self._task)
        self._bar.refresh()


@contextmanager
def running(out: Console, sections: int) -> Iterator[Running]:
    """A bar below what is printed, gone at the end."""
    columns = (
        TimeElapsedColumn(),
        BarColumn(20),
        TextColumn("{task.completed}/{task.total} {task.description}"),
    )
    with Progress(*columns, console=out, auto_refresh=False, transient=True) as bar:
        yield Running(bar, sections)
