"""TOML to be written: values and records as text that comes back bit by bit."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .kinds import Outside

_ESCAPED = {'"': '\\"', "\\": "\\\\"}


def toml_value(value: Outside, long: bool = False) -> str:
    """Text, truth, number, record or (nested) list of them; long lists take a line an entry."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _quoted(value)
    if is_dataclass(value):
        return "{ " + ", ".join(toml_lines(value)) + " }"
    if isinstance(value, (tuple, list)):
        parts = [toml_value(x) for x in value]
        if long and parts:
            return "[\n" + "".join(f"  {part},\n" for part in parts) + "]"
        return "[" + ", ".join(parts) + "]"
    return repr(float(value))


def toml_lines(record: Outside, long: bool = False) -> list[str]:
    """A line for each field of a record that is not None."""
    pairs = ((f.name, getattr(record, f.name)) for f in fields(record))
    return [f"{key} = {toml_value(value, long)}" for key, value in pairs if value is not None]


def _quoted(text: str) -> str:
    escaped = (_ESCAPED.get(c, c if c >= " " and c != "\x7f" else f"\\u{ord(c):04x}") for c in text)
    return '"' + "".join(escaped) + '"'
