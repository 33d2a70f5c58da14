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
    """Root of everything that dynarm refuses. Its text is one line, whatever names from files it holds.

    Examples
    --------
    >>> try:
    ...     dynarm.load("pumma")
    ... except dynarm.DynarmError as error:
    ...     print(error)
    unknown robot 'pumma'; did you mean puma560?
    """

    def __str__(self) -> str:
        return one_line(super().__str__())


class InputError(DynarmError, ValueError):
    """An argument has a wrong shape, a wrong value or a wrong unit.

    Examples
    --------
    >>> try:
    ...     dynarm.compile(dynarm.load("two_link")).gravity([0.0, 0.0, 0.0])
    ... except ValueError as error:  # an InputError is a ValueError as well
    ...     print(error)
    q has 3 entries, robot 'two_link' has 2 joints; order them as arm.joint_names
    """


class KindError(DynarmError, TypeError):
    """An argument has a wrong type.

    Examples
    --------
    >>> try:
    ...     dynarm.Arm("joints")
    ... except TypeError as error:  # a KindError is a TypeError as well
    ...     print(type(error).__name__)
    KindError
    """


class UnknownName(DynarmError, KeyError):
    """A name (robot, quantity, formulation, joint, link) that does not exist.

    Parameters
    ----------
    what : str
        What kind of name it is.
    name : object
        The name that came.
    known : Iterable[str]
        The names that there are.

    Examples
    --------
    >>> try:
    ...     dynarm.formulations("mass")
    ... except dynarm.DynarmError as error:
    ...     print(type(error).__name__)
    UnknownName
    """

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
    """A name that a model, an arm or the module does not have; one of another library is told as ours.

    Examples
    --------
    >>> try:
    ...     dynarm.compile(dynarm.load("two_link")).rnea
    ... except AttributeError as error:
    ...     print("inverse_dynamics" in str(error))
    True
    """


class FileError(DynarmError, OSError):
    """A file that is missing, cannot be read or cannot be written.

    Examples
    --------
    >>> from dynarm.errors import FileError
    >>> issubclass(FileError, OSError)
    True
    """


class FileMissing(FileError, FileNotFoundError):
    """A file that does not exist.

    Examples
    --------
    >>> try:
    ...     dynarm.load("nowhere.urdf")
    ... except FileNotFoundError as error:
    ...     print(type(error).__name__)
    FileMissing
    """


class FormatError(DynarmError, ValueError):
    """A file whose content is broken or describes something that dynarm does not support.

    Examples
    --------
    >>> from dynarm.errors import FormatError
    >>> issubclass(FormatError, ValueError)
    True
    """


class RoomError(MemoryError, DynarmError):  # in this order `__new__` is that of memory errors
    """Memory or address space that is too short for what LLVM is about to do.

    Examples
    --------
    >>> from dynarm.errors import RoomError
    >>> issubclass(RoomError, MemoryError)
    True
    """


class ModelError(DynarmError, ValueError):
    """A robot whose numbers no dynamics can be computed from.

    Examples
    --------
    >>> try:
    ...     dynarm.Arm([])
    ... except dynarm.DynarmError as error:
    ...     print(type(error).__name__)
    ModelError
    """


class DynarmWarning(UserWarning):
    """Something doubtful that does not stop the work; one line as well.

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", dynarm.DynarmWarning)  # doubts become errors
    ...     arm = dynarm.load("puma560")
    """

    def __str__(self) -> str:
        return one_line(super().__str__())
