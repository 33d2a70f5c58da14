"""The bare gufuncs of a model, by quantity."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from .quantities import QUANTITIES

if TYPE_CHECKING:
    from .model import Model


class Functions(Mapping[str, np.ufunc]):
    """The bare NumPy gufuncs of a model by quantity; compiled when first asked for.

    `name` takes the state alone, `name:wrench` (inverse and forward dynamics) the tool wrench as well.
    """

    def __init__(self, model: Model):
        self._model = model

    def __getitem__(self, key: str) -> np.ufunc:
        return self._model.kernel(key).ufunc

    def __iter__(self) -> Iterator[str]:
        for quantity in QUANTITIES.values():
            yield quantity.name
            if quantity.takes_wrench:
                yield f"{quantity.name}:wrench"

    def __contains__(self, key: object) -> bool:
        return key in set(self)

    def __len__(self) -> int:
        return sum(1 for _ in self)
