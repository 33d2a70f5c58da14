"""Values as messages and `repr` show them: short, on one line, whatever they are.

Here a value becomes a text; `border.text` makes a text that somebody else wrote harmless.
"""

from __future__ import annotations

import reprlib
from dataclasses import MISSING, fields, is_dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .kinds import Outside

_LONG = 100  # letters of a value that a message shows
_RECORD = 160  # letters of what a record holds
_PART = 60  # letters of one of its values


class _Brief(reprlib.Repr):
    """Long collections cut before they are written: the text of a million numbers takes a while."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlevel = 4
        self.maxlist = self.maxtuple = self.maxset = self.maxfrozenset = self.maxdict = 20
        self.maxarray = self.maxdeque = 20
        self.maxstring = self.maxother = self.maxlong = 2 * _LONG

    def repr_str(self, x: str, level: int) -> str:
        return repr(x[: self.maxstring])

    def repr_instance(self, x: Outside, level: int) -> str:
        shape = getattr(x, "shape", None)
        if isinstance(shape, tuple) and hasattr(x, "columns"):
            return f"{type(x).__name__} of shape {shape}"
        try:
            return repr(x)
        except Exception:  # of a class that is not ours
            return f"<{type(x).__name__}>"


def shown(value: Outside) -> str:
    """The value as a message shows it: what Python would print, on one line, not too long."""
    text = " ".join(_Brief().repr(value).split())
    return text if len(text) <= _LONG else text[: _LONG - 3] + "..."


def brief(record: Outside, *left_out: str) -> str:
    """A record on one line: what differs from its defaults, arrays by their shapes, other records by their names."""
    parts = []
    for f in fields(record):
        value = getattr(record, f.name)
        usual = f.default is not MISSING and type(value) is type(f.default) and value == f.default
        if f.repr and not usual and f.name not in left_out and not f.name.startswith("_"):
            parts.append(f"{f.name}={_part(value)}")
    text = ", ".join(parts)
    text = text if len(text) <= _RECORD else text[: _RECORD - 3] + "..."
    return f"{type(record).__name__}({text})"


def _part(value: Outside) -> str:
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple) and shape:
        return f"<{type(value).__name__} {shape}>"
    if isinstance(value, (tuple, list, dict)) and len(shown(value)) > _PART:
        return f"<{len(value)} entries>"
    if is_dataclass(value) and len(shown(value)) > _PART:
        return f"<{type(value).__name__}>"
    text = shown(value)
    return text if len(text) <= _PART else text[: _PART - 3] + "..."


def titled(kind: str, name: str, rest: str) -> str:
    """<kind 'name'rest>, with a name of any length and any letters."""
    return f"<dynarm.{kind} {shown(name[:_PART])}{rest}>"
