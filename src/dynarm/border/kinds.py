"""What public functions take and give, for type checkers and editors: arrays of any origin, and arrays of float64."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt


class HasArray(Protocol):
    """NumPy's own arrays and numbers, DataFrames, Series, tensors: whatever NumPy can make an array of."""

    def __array__(self, *args: Any, **options: Any) -> Any: ...


# What a caller or a file gave, whatever that is: nothing is known of it before it has been checked
Outside: TypeAlias = Any
Foreign: TypeAlias = Any  # an object of a library that tells no types
# a function of scalars that is traced, or one of other arguments each time
Maker: TypeAlias = Callable[..., Any]
Json: TypeAlias = dict[str, Any]  # what is written as JSON: numbers, texts, lists and such by name
Cell: TypeAlias = Any  # of a table: a number, a text, an array that is told by its spread
Kept: TypeAlias = Any  # numbers of a record: given in any form, kept as floats in tuples or arrays
# How an object is made again, for `pickle`: a function and its arguments
Pickled: TypeAlias = tuple[Callable[..., object], tuple[object, ...]]
FloatArray: TypeAlias = npt.NDArray[np.float64]
# Written out, not recursive: a text is a sequence of texts, which a recursive alias would let pass
Numbers: TypeAlias = (
    float
    | HasArray
    | Sequence[float | HasArray]
    | Sequence[Sequence[float | HasArray]]
    | Sequence[Sequence[Sequence[float | HasArray]]]
)
Given: TypeAlias = Numbers | None  # an argument that may be left out
Out: TypeAlias = FloatArray | None  # where a result is written to, if it is given
