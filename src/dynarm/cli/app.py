"""The `dynarm` program: its sub-commands, and what becomes of errors."""

from __future__ import annotations

import sys
import traceback
import warnings

import typer

from ..errors import DynarmError
from . import count, demo, info
from .console import error_console

app = typer.Typer(
    name="dynarm",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    help="From a robot description and a log file to the smallest, fastest dynamic model of that robot.",
)
app.command("demo", epilog="Example: [bold]dynarm demo[/]")(demo.demo)
app.command("info", epilog="Example: [bold]dynarm info puma560[/]")(info.info)
app.command("count", epilog="Example: [bold]dynarm count stanford[/]")(count.count)


def run() -> None:
    """Run the program; one line and exit 2 for what dynarm refuses, --debug for the traceback."""
    debug = "--debug" in sys.argv
    if debug:
        sys.argv.remove("--debug")
    with warnings.catch_warnings():
        warnings.showwarning = _show_warning
        try:
            app()
        except DynarmError as error:
            if debug:
                traceback.print_exc()
            error_console().print(f"dynarm: {error}", markup=False, style="bold red", soft_wrap=True)
            sys.exit(2)
        except KeyboardInterrupt:
            error_console().print("dynarm: interrupted", style="bold red")
            sys.exit(130)


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    error_console().print(f"dynarm: warning: {message}", markup=False, style="yellow", soft_wrap=True)
