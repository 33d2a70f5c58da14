"""What a paper's function returns for a batch of states, as arrays, and how far two of them are apart."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np


def stacked(nested: Any, samples: int) -> np.ndarray:
    """Nested lists of batches or plain numbers -> (samples, ...)."""
    shape, level = [], nested
    while isinstance(level, (list, tuple)):
        shape.append(len(level))
        level = level[0]
    leaves = list(_leaves(nested))
    kind = complex if any(np.iscomplexobj(leaf) for leaf in leaves) else float  # complex steps
    found = np.empty((samples, len(leaves)), kind)
    for k, leaf in enumerate(leaves):
        found[:, k] = leaf
    return found.reshape(samples, *shape)


def _leaves(nested: Any) -> Iterator[Any]:
    if isinstance(nested, (list, tuple)):
        for item in nested:
            yield from _leaves(item)
    else:
        yield nested


def relative(found: Any, wanted: Any) -> float:
    """The largest difference, over the largest entry of what is wanted or 1."""
    return float(np.abs(found - wanted).max() / max(1.0, np.abs(wanted).max()))
