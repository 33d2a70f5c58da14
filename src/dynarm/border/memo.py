"""Properties that are computed when they are first asked for, and kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Generic, TypeVar, overload

if TYPE_CHECKING:
    from .kinds import Outside

T = TypeVar("T")


class cached_property(Generic[T]):  # noqa: N801  a decorator, named as the one it replaces
    """A property computed once and kept in the object's own dictionary, as `functools.cached_property` does it.

    No lock is held meanwhile, which that of Python 3.11 does: a child forked while another thread computes would wait
    for it for ever. Threads that ask at once may compute it twice; all of them are given the object that came first.
    """

    def __init__(self, compute: Callable[[Outside], T]):
        self.compute = compute
        self.name = compute.__name__
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, instance: None, owner: type | None = None) -> cached_property[T]: ...
    @overload
    def __get__(self, instance: object, owner: type | None = None) -> T: ...
    def __get__(self, instance: object, owner: type | None = None) -> cached_property[T] | T:
        if instance is None:
            return self
        kept: T = instance.__dict__.setdefault(self.name, self.compute(instance))
        return kept
