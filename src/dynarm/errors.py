"""Every exception and warning that dynarm raises.

Each error is a `DynarmError` and also the built-in exception that one would expect, so that
`except ValueError` written by someone who has never heard of dynarm still works.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable

_LONG = 100  # letters of a name that a message shows


def one_line(text: str) -> str:
    """The text with all that is no letter on a screen written out: ends of lines, terminal escapes, turned writing."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


class DynarmError(Exception):
    """Root of everything that dynarm refuses. Its text is one line, whatever names from files it holds."""

    def __str__(self) -> str:
        return one_line(super().__str__())


class InputError(DynarmError, ValueError):
    """An argument has a wrong shape, a wrong value or a wrong unit."""


class KindError(DynarmError, TypeError):
    """An argument has a wrong type."""


class UnknownName(DynarmError, KeyError):
    """A name (robot, quantity, formulation, joint, link) that does not exist."""

    def __init__(self, what: str, name: object, known: Iterable[str]):
        text = name if isinstance(name, str) else repr(name)
        text = text if len(text) <= _LONG else text[: _LONG - 3] + "..."
        self.what, self.name, self.known = what, text, tuple(sorted(known))
        near = difflib.get_close_matches(text, self.known, n=3, cutoff=0.5)
        hint = f"did you mean {' or '.join(near)}?" if near else f"one of: {', '.join(self.known)}"
        super().__init__(f"unknown {what} '{text}'; {hint}")

    def __str__(self) -> str:
        return one_line(str(self.args[0]))  # KeyError would put the message in quotes

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.what, self.name, self.known)  # it comes back from workers


class UnknownAttribute(DynarmError, AttributeError):
    """A name that a model, an arm or the module does not have; one of another library is told as ours."""


class FileError(DynarmError, OSError):
    """A file that is missing, cannot be read or cannot be written."""


class FileMissing(FileError, FileNotFoundError):
    """A file that does not exist."""


class FormatError(DynarmError, ValueError):
    """A file whose content is broken or describes something that dynarm does not support."""


class RoomError(MemoryError, DynarmError):  # in this order `__new__` is that of memory errors
    """Memory or address space that is too short for what LLVM is about to do."""


class ModelError(DynarmError, ValueError):
    """A robot whose numbers no dynamics can be computed from."""


class DynarmWarning(UserWarning):
    """Something doubtful that does not stop the work; one line as well."""

    def __str__(self) -> str:
        return one_line(super().__str__())
