"""A progress bar on the terminal for what takes long."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator

from .text import plain

PATIENCE = 2.0  # seconds before a bar appears that nobody asked for
PAUSE = 0.1  # seconds between two looks at the terminal

Report = Callable[[float], object]


def progress_of(
    wanted: bool | Report | None, what: str
) -> contextlib.AbstractContextManager[Report | None]:
    """What to report the finished part to: a function of the user's, a bar, or nothing.

    Bars appear where the error stream is a terminal. None: once the work takes longer than PATIENCE; True: from the
    start.
    """
    if callable(wanted):
        return contextlib.nullcontext(wanted)
    if wanted is False or not sys.stderr.isatty():
        return contextlib.nullcontext(None)
    return _bar(what, 0.0 if wanted else PATIENCE)


@contextlib.contextmanager
def _bar(what: str, patience: float) -> Iterator[Report]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    bar = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
        auto_refresh=False,
    )
    task = bar.add_task(plain(what), total=1.0)
    begun = last = time.monotonic()
    shown = False

    def report(part: float) -> None:
        nonlocal last, shown
        now = time.monotonic()
        if now - begun < patience or now - last < PAUSE:
            return
        if not shown:
            bar.start()
            shown = True
        last = now
        bar.update(task, completed=part)
        bar.refresh()

    try:
        yield report
    finally:
        if shown:
            bar.stop()
