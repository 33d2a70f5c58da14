"""Where the commands print: colours and tables on a terminal, plain text in a pipe, JSON for machines.

Names come from other people's files: all that is printed passes `plain` here, and nothing is read as markup.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TextIO

from ..border.text import plain, plain_json, shortened

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

_GAP = 2
_NARROWEST = 24  # a column that may wrap gets at least this many characters

_own: TextIO | None = None


@contextlib.contextmanager
def own_output() -> Iterator[None]:
    """Standard output belongs to the command: what libraries print meanwhile goes to standard error.

    Solvers write banners, some from C, past Python's own stream; a reader of --json must not meet them.
    """
    global _own
    before = sys.stdout
    before.flush()
    stream, kept = before, None
    if _number(before) == 1 and _number(sys.stderr) == 2:
        kept = os.dup(1)
        stream = os.fdopen(
            os.dup(1),
            "w",
            encoding=before.encoding or "utf-8",
            errors="backslashreplace",
            buffering=1,
        )
        os.dup2(2, 1)
    _own, sys.stdout = stream, sys.stderr
    try:
        yield
    finally:
        _own, sys.stdout = None, before
        if kept is not None:
            _flush_libraries()
            os.dup2(kept, 1)
            os.close(kept)
            with contextlib.suppress(OSError):  # nobody reads any more
                stream.close()


def _number(stream: TextIO) -> int:
    try:
        return int(stream.fileno())
    except (OSError, ValueError, AttributeError):
        return -1


def _flush_libraries() -> None:
    """Write out what C libraries still hold back."""
    import ctypes

    with contextlib.suppress(Exception):  # no such function: nothing held back that we could reach
        ctypes.CDLL(None).fflush(None)


def output() -> TextIO:
    """The stream that results go to."""
    return _own or sys.stdout


def on_terminal() -> bool:
    """Whether a person sees the results as they come."""
    return output().isatty()


def console(stream: TextIO | None = None) -> Console:
    """A terminal's console on the stream of results, or on another one."""
    from rich.console import Console

    return Console(file=stream or output(), highlight=False, emoji=False, markup=False)


def width() -> int:
    """Columns of the terminal; of other outputs more than any line needs."""
    return console().width if on_terminal() else 10_000


def say(text: str = "", style: str = "") -> None:
    """A line of results; on a terminal coloured and folded at words."""
    line = plain(text)
    if on_terminal():
        console().print(line, style=style or None)
    else:
        output().write(f"{line}\n")


def complain(text: str, style: str = "bold red") -> None:
    """One line on standard error."""
    line = f"dynarm: {shortened(plain(' '.join(str(text).split())))}"
    if sys.stderr.isatty():
        console(sys.stderr).print(line, style=style, soft_wrap=True)
    else:
        sys.stderr.write(f"{line}\n")


def print_json(value: object) -> None:
    """One JSON document on standard output; what is not finite becomes null."""
    stream = output()
    text = json.dumps(_data(value), indent=2, ensure_ascii=False, allow_nan=False)
    stream.write(plain_json(text) + "\n")
    stream.flush()


def _data(value: object) -> object:
    """What JSON knows: lists, dicts, text, finite numbers."""
    if isinstance(value, Mapping):
        return {str(k): _data(v) for k, v in value.items()}
    if isinstance(value, (str, bool, int, type(None))):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if hasattr(value, "tolist"):
        return _data(value.tolist())
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_data(v) for v in value]
    return str(value)


# ---- tables


def show_table(
    title: str,
    columns: Sequence[str],
    rows: Sequence[Sequence[object]],
    right: int = 1,
    wrap: int | None = None,
    styles: Mapping[int, str] | None = None,
) -> None:
    """A table whose columns from number `right` on stand right; column `wrap` may be folded.

    Where it does not fit the terminal, each row becomes a few lines: its first cell, then the others by name.
    """
    if title:
        say(title, "bold")
    columns = [plain(name) for name in columns]
    cells = [[plain(str(x)) for x in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(columns, *cells, strict=True)]
    if not on_terminal():
        for row in (columns, *cells):
            sides = ("<" if k < right or k == wrap else ">" for k in range(len(row)))
            line = (" " * _GAP).join(
                f"{x:{side}{w}}" for x, side, w in zip(row, sides, widths, strict=True)
            )
            say(line.rstrip())
        say()
        return
    out = console()
    fixed = sum(w for k, w in enumerate(widths) if k != wrap) + _GAP * (len(widths) - 1)
    least = 0 if wrap is None else min(_NARROWEST, widths[wrap])
    if fixed + least <= out.width:
        out.print(_table(columns, cells, right, wrap, styles or {}))
    else:
        _records(out, columns, cells, styles or {})
    out.print()


def _table(
    columns: Sequence[str],
    cells: Sequence[Sequence[str]],
    right: int,
    wrap: int | None,
    styles: Mapping[int, str],
) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="bold dim")
    for k, name in enumerate(columns):
        left = k < right or k == wrap
        table.add_column(
            Text(name), justify="left" if left else "right", no_wrap=k != wrap, overflow="fold"
        )
    for k, row in enumerate(cells):
        table.add_row(*(Text(x) for x in row), style=styles.get(k))
    return table


def _records(
    out: Console, columns: Sequence[str], cells: Sequence[Sequence[str]], styles: Mapping[int, str]
) -> None:
    for k, row in enumerate(cells):
        out.print(row[0], style=styles.get(k, "bold"))
        pairs = [f"{name} {x}" for name, x in zip(columns[1:], row[1:], strict=True) if x]
        line = " "
        for pair in pairs:
            if len(line) + len(pair) + 2 > out.width and line.strip():
                out.print(line)
                line = " "
            line += f" {pair}"
        if line.strip():
            out.print(line)


# ---- work that takes its time


@contextlib.contextmanager
def progress(what: str) -> Iterator[Callable[..., None]]:
    """A bar on standard error with the time left, for people only.

    Call what is yielded with the part that is done, 0 to 1, and where it changes, with what is being done.
    """
    if not sys.stderr.isatty():
        yield lambda part, doing=what: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    left = TextColumn("left"), TimeRemainingColumn()
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), *left)
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=1.0)

        def update(part: float, doing: str | None = None) -> None:
            bar.update(task, completed=min(max(part, 0.0), 1.0), description=doing)

        yield update


def part_of(
    done: Callable[..., None], k: int, count: int, weights: Sequence[float] = ()
) -> Callable[[float], None]:
    """What tells the progress of piece k of so many to the progress of the whole. weights: how long each takes."""
    shares = list(weights) or [1.0] * count
    before, whole = sum(shares[:k]), sum(shares)

    def tell(part: float) -> None:
        done((before + shares[k] * part) / whole)

    return tell


@contextlib.contextmanager
def busy(what: str) -> Iterator[None]:
    """A turning sign on standard error while work of unknown length goes on."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(what):
        yield
