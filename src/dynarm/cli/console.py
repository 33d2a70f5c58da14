"""Where the commands print: colours and tables on a terminal, plain text in a pipe."""

from __future__ import annotations

import json
import sys
from typing import Any

import typer
from rich.console import Console
from rich.table import Table

ROBOT = typer.Argument(help="A built-in robot's name, or a path to a .urdf or .toml file.")
BASE = typer.Option(None, "--base", help="Link where the chain begins (default: the root).")
TIP = typer.Option(None, "--tip", help="Link where the chain ends (default: the only movable end).")
JSON = typer.Option(False, "--json", help="Print JSON for machines.")


def console() -> Console:
    """The console of standard output."""
    return Console(file=sys.stdout, highlight=False)


def error_console() -> Console:
    """The console of standard error."""
    return Console(file=sys.stderr, highlight=False)


def print_json(value: Any) -> None:
    """One JSON document on standard output."""
    print(json.dumps(value, indent=2, ensure_ascii=False))


def table(title: str, columns: list[str], rows: list[list[Any]], right: int = 1) -> Table:
    """A table whose columns from number `right` on are right-aligned."""
    found = Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False)
    for k, name in enumerate(columns):
        found.add_column(name, justify="right" if k >= right else "left", no_wrap=k < right)
    for row in rows:
        found.add_row(*(str(x) for x in row))
    return found
