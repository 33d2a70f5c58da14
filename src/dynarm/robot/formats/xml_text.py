"""Names and numbers as XML says them, for the formats that are written as such."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from ...errors import InputError

_ESCAPES = {
    "&": "&amp;",
    "<": "&lt;",
    ">": "&gt;",
    '"': "&quot;",
    "\n": "&#10;",
    "\r": "&#13;",
    "\t": "&#9;",
}


def spaced(values: Iterable[float]) -> str:
    """Numbers with spaces between them, each with all its digits."""
    return " ".join(repr(float(x)) for x in values)


def quoted(text: str) -> str:
    """The text as the value of an attribute."""
    return '"' + "".join(_ESCAPES.get(c, c) for c in printable(text)) + '"'


def printable(text: str) -> str:
    """The text, if XML can hold it."""
    if any((ord(c) < 32 and c not in "\n\r\t") or ord(c) in (0xFFFE, 0xFFFF) for c in text):
        raise InputError(f"the name {text!r} holds characters that XML cannot; rename it")
    return text


def fresh(name: str, taken: Collection[str]) -> str:
    """The name, with underscores added until nobody has it."""
    while name in taken:
        name += "_"
    return name
