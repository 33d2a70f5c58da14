"""The process that expands xacro for another one: `python -m dynarm.robot.formats.xacro_child`.

The request is JSON: the file, the folders below which files may be read, packages by name, arguments. The package xacro
does the work, with these doors shut: expressions, `${...}` and `$(eval ...)`, are computed by `expressions.py` and not
by Python; files are opened here alone, and only below the folders; documents with a DOCTYPE are refused; the
environment is not read; packages are those of the request.
"""

from __future__ import annotations

import io
import json
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import xacro
from xacro import substitution_args

from ...border.apart import REFUSED, confine, served
from ...border.files import content, named
from ...border.kinds import Foreign, Outside
from ...errors import DynarmError, FormatError
from .elements import refuse_doctype
from .expressions import Rules, evaluated
from .packages import seems_near

MAX_FILE = 16 << 20  # bytes
MAX_FILES = 1000
_LETTERS = 400  # of a message
_NEEDED = ("safe_eval", "parse", "load_yaml", "process_doc", "init_stacks", "NameSpace", "root_dir")
_REFLECTIVE = ("type", "vars", "hash", "isinstance", "issubclass")  # of the namespace `python`


@dataclass(slots=True)
class _Files:
    """The only way to a file."""

    main: str
    folders: tuple[str, ...]
    packages: Mapping[str, str]
    opened: int = 0

    def content(self, path: str) -> bytes:
        place = os.path.realpath(path)
        if not any(Path(place).is_relative_to(folder) for folder in self.folders):
            raise FormatError(
                f"file '{named(path)}' is neither below the file's own folder nor in a package that was given; "
                "move it, or name its package: packages={'name': 'folder'}"
            )
        self.opened += 1
        if self.opened > MAX_FILES:
            raise FormatError(f"more than {MAX_FILES} files are included; a robot needs fewer")
        return content(Path(place), MAX_FILE)

    def package(self, name: str) -> str:
        if name not in self.packages:
            name = name[:80]
            near = seems_near(self.main, name)
            where = "" if near is None else f", which may be '{named(near)}'"
            raise FormatError(
                f"package '{name}' is not known; give its folder{where}: packages={{'{name}': 'folder'}}"
            )
        return self.packages[name]


def expanded(request: bytes) -> dict[str, Outside]:
    """The text of the file in the request with its macros expanded, or why it cannot be."""
    asked = json.loads(request)
    files = _Files(asked["file"], tuple(asked["folders"]), asked["packages"])
    if not all(hasattr(xacro, name) for name in _NEEDED):
        return {REFUSED: "the installed version of xacro is not known; install another one"}
    _shut(files, os.path.dirname(asked["file"]))
    try:
        xacro.init_stacks(asked["file"])
        document = xacro.parse(None, asked["file"])
        xacro.process_doc(document, mappings=dict(asked["arguments"]))
        return {"text": document.toprettyxml(indent="  ")}
    except MemoryError:
        raise
    except RecursionError:
        return {REFUSED: "its macros or properties never end; give them an end"}
    except Exception as error:  # whatever a library stumbles over in a stranger's file
        return {REFUSED: _told(error, asked["file"])}


def _told(error: BaseException, main: str) -> str:
    """What went wrong, on one line, and in which file."""
    inner = error
    while isinstance(inner, xacro.XacroException) and isinstance(inner.exc, BaseException):
        inner = inner.exc
    if isinstance(inner, MemoryError):
        raise inner
    ours = isinstance(inner, DynarmError)
    text = str(inner) if ours else f"{str(error) or type(error).__name__}; mend that place"
    place = xacro.filestack[-1] if xacro.filestack else None
    name = "" if place in (None, main) else named(os.path.basename(place))
    where = f"{name}: " if name and name not in text else ""
    return f"{where}{' '.join(text.split())}"[:_LETTERS]


# ---- the doors


def _shut(files: _Files, folder: str) -> None:
    """Let xacro compute, read and look up nothing but by way of us."""
    table = xacro._global_symbols
    for name in _REFLECTIVE:
        dict.pop(table["python"], name, None)
    rules = Rules(_callables(table), (xacro.NameSpace,))
    parsed = xacro.parse

    def safe_eval(text: Outside, names: Foreign, local: Foreign = None) -> Outside:
        return evaluated(str(text), names, rules)

    def parse(given: Outside, path: str | None = None) -> Foreign:
        if given is not None or path is None:
            raise FormatError("only files are expanded")
        try:
            text = files.content(os.path.join(folder, path))
        except OSError as error:  # where the file may be left out, xacro goes on
            xacro.filestack.pop()
            raise xacro.XacroException(str(error), exc=error) from None
        refuse_doctype(text, named(os.path.basename(path)))
        return parsed(io.BytesIO(text))

    xacro.safe_eval, xacro.parse, xacro.root_dir = safe_eval, parse, folder
    xacro.open = lambda path, *_: io.StringIO(files.content(path).decode("utf-8"))
    substitution_args._eval, substitution_args._eval_arg = _substitution, _argument
    substitution_args._eval_find = files.package
    substitution_args._eval_env = _no_environment
    substitution_args._eval_optenv = lambda name, default="": default


def _callables(table: Mapping[str, Outside]) -> frozenset[int]:
    """The identities of all functions in a table and the tables in it."""
    functions: set[int] = set()
    for value in dict(table).values():
        if isinstance(value, dict):
            functions |= _callables(value)
        elif callable(value):
            functions.add(id(value))
    return frozenset(functions)


def _no_environment(name: str) -> str:
    raise FormatError(
        f"$(env {name[:80]}) reads the environment, which is not done; make it an argument: $(arg {name[:80]})"
    )


def _argument(name: str, args: Mapping[str, Outside]) -> Outside:
    if name not in args:
        short = str(name)[:80]
        raise FormatError(
            f"argument '{short}' has no value; give one: xacro={{'{short}': 'value'}}"
        )
    return args[name]


def _substitution(text: str, context: Mapping[str, Outside]) -> str:
    """The value of $(eval ...): arguments by their names, or by arg('name'), and mathematics."""
    given = context.get("arg", {})

    def arg(name: str) -> Outside:
        return substitution_args.convert_value(str(_argument(name, given)), "auto")

    functions = {"arg": arg, "find": substitution_args._eval_find}
    functions |= {
        f.__name__: f for f in (len, str, float, int, bool, list, dict, min, max, round, abs)
    }
    functions |= {k: v for k, v in vars(math).items() if callable(v) and not k.startswith("_")}
    names = {**functions, "pi": math.pi, "e": math.e, "true": True, "false": False}
    names |= {name: arg(name) for name in given if name not in names}
    return str(evaluated(text, names, Rules(frozenset(map(id, functions.values())))))


if __name__ == "__main__":
    confine(files=True)
    served(expanded)
