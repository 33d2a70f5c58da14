"""The `dynarm` program: its sub-commands, and what becomes of errors."""

from __future__ import annotations

import functools
import importlib
import os
import sys
import traceback
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING

import typer

from .. import __version__
from ..border.text import plain
from ..errors import DynarmError, DynarmWarning
from .console import complain, own_output
from .wording import options_of, spoken

if TYPE_CHECKING:
    from ..border.kinds import Foreign, Maker, Outside

COMMANDS = (
    "demo",
    "robots",
    "info",
    "count",
    "compile",
    "export",
    "excite",
    "identify",
    "validate",
    "simulate",
    "mobile",
    "view",
)
ABOUT = (
    "From a robot description and a log file to the smallest, fastest dynamic model of that robot. "
    "Robots are built-in names (panda, ur5e, puma560 ...; dynarm robots lists them) "
    "or paths to .urdf, .xacro, .xml (MJCF) and .toml files."
)
INTERRUPTED = 130  # what shells expect after Ctrl-C
_NARROW = 60  # columns below which boxes around the help only cost room


def build(rich: bool = False) -> typer.Typer:
    """The program; with `rich`, help in colours and boxes."""
    app = typer.Typer(
        name="dynarm",
        add_completion=True,
        pretty_exceptions_enable=False,
        rich_markup_mode="rich" if rich else None,
        invoke_without_command=True,
        context_settings={"help_option_names": ["-h", "--help"]},
        epilog=_examples(("dynarm demo", "dynarm info puma560"), rich),
    )
    app.callback(help=ABOUT)(_main)
    for name in COMMANDS:
        module = importlib.import_module(f".{name}", __package__)
        function = getattr(module, name)
        app.command(name, epilog=_examples(module.EXAMPLES, rich))(_guarded(function))
    return app


def _examples(lines: Sequence[str], rich: bool) -> str:
    """Commands that work as printed, one a line."""
    if rich:
        return "\n\n".join(["[bold]Examples[/]", *(f"  $ [cyan]{line}[/]" for line in lines)])
    return "\b\n" + "\n".join(["Examples:", *(f"  $ {line}" for line in lines)])


def _main(
    context: typer.Context,
    version: bool = typer.Option(False, "--version", help="Print the version."),
    debug: bool = typer.Option(
        False, "--debug", help="Show the traceback of an error; works anywhere."
    ),
) -> None:
    if version:
        typer.echo(f"dynarm {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
        raise typer.Exit


def _guarded(function: Maker) -> Maker:
    """The command with standard output to itself; refusals name its options; Ctrl-C becomes one line."""

    @functools.wraps(function)
    def command(*args: Outside, **options: Outside) -> None:
        _spoken_here.update(options_of(function))
        try:
            with own_output():
                code = function(*args, **options)
        except KeyboardInterrupt:
            complain("interrupted; nothing was left half-written")
            raise typer.Exit(INTERRUPTED) from None
        except BrokenPipeError:  # the reader has seen enough
            raise typer.Exit(0) from None
        except DynarmError as error:
            raise DynarmError(spoken(str(error), options_of(function))) from error
        except EOFError as error:  # the framework would take it for the end of a person's typing
            raise Unexpected(error) from error
        if code:
            raise typer.Exit(code)

    return command


_spoken_here: dict[str, str] = {}  # the options of the command that runs, for its warnings


class Unexpected(Exception):
    """An error that is nobody's refusal, kept from being taken for something else on its way."""


def run(arguments: Sequence[str] | None = None) -> int:
    """The exit code: 0, 1 when a verdict is FAIL, 2 after one line that says what is wrong and what to do."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in given
    given = [word for word in given if word != "--debug"]
    _spoken_here.clear()
    for stream in (sys.stdout, sys.stderr):  # a terminal that lacks a letter shows its number
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", DynarmWarning)
        warnings.showwarning = _show_warning
        try:
            return _invoke(given)
        except Exception as error:
            if debug:
                for line in traceback.format_exc().splitlines():
                    sys.stderr.write(f"{plain(line)}\n")
            return _failed(error)


def _invoke(given: Sequence[str]) -> int:
    rich = sys.stdout.isatty() and _columns() >= _NARROW
    code = build(rich)(args=list(given), prog_name="dynarm", standalone_mode=False)
    return code if isinstance(code, int) else 0


def _columns() -> int:
    try:
        return os.get_terminal_size().columns
    except OSError:
        return 80


def _failed(error: Exception) -> int:
    """Tell what went wrong in one line; the exit code."""
    if isinstance(error, Unexpected):
        return _failed(error.args[0])
    if isinstance(error, DynarmError):
        complain(str(error))
    elif hasattr(error, "format_message"):  # the arguments do not fit: typer's own refusal
        complain(_usage(error.format_message(), getattr(error, "ctx", None)))
    elif type(error).__name__ == "Abort":
        complain("interrupted; nothing was left half-written")
        return INTERRUPTED
    elif isinstance(error, MemoryError):
        complain("out of memory; give less data at a time")
    elif isinstance(error, OSError):
        where = "" if error.filename is None else f" ({error.filename})"
        complain(f"{error.strerror or error}{where}; check the path and the rights to it")
    else:
        complain(
            f"unexpected {type(error).__name__}: {error}; this is a mistake in dynarm, --debug shows where"
        )
    return 2


def _usage(message: str, context: Foreign) -> str:
    """What does not fit about the arguments, and where to look or what to write instead."""
    path = context.command_path if context is not None else "dynarm"
    name = path.split()[-1]
    if message.startswith("Missing argument") and name in COMMANDS:
        module = importlib.import_module(f".{name}", __package__)
        return f"{message.rstrip('.')}; for example: {module.EXAMPLES[-1]}"
    end = "" if message.endswith("?") else ";"
    return f"{message.rstrip('.')}{end} see {path} --help"


def _show_warning(
    message: Warning | str, category: type[Warning], *_: object, **__: object
) -> None:
    if issubclass(category, DynarmWarning):
        complain(f"warning: {spoken(str(message), _spoken_here)}", style="yellow")
