"""Linear algebra by one thread: matrices here are small, and more threads only wait for each other.

On a busy machine they wait ten times longer than one takes alone, and the last digits depend on how many there are.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def single_threaded(function: Callable[P, T]) -> Callable[P, T]:
    """The function, during which linear algebra has one thread; afterwards as many as before."""

    @wraps(function)
    def alone(*args: P.args, **kwargs: P.kwargs) -> T:
        import scipy.linalg  # noqa: F401  (brings a library of its own, which could not be held before it is loaded)
        from threadpoolctl import threadpool_limits

        with threadpool_limits(1, user_api="blas"):
            return function(*args, **kwargs)

    return alone
