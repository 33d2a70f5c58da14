"""Factors of parts that were folded apart from one another, put together: a tree of triangles, the same as one fold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..preprocess import Stretch
from .factors import MOST, Factors, joined, run_of


@dataclass(frozen=True, slots=True, eq=False)
class Folded:
    """One part: its factors, how many blocks it has (those without rows too), its samples and an excerpt of it."""

    factors: Factors
    blocks: int
    samples: int
    excerpt: tuple[Stretch, ...]

    @property
    def extent(self) -> tuple[int, int]:
        """Blocks in all, and those up to the last that has rows."""
        filled = [b for b, rows in enumerate(self.factors.rows) if rows.any()]
        return self.blocks, filled[-1] + 1 if filled else 0


# triangles and rows of joints, and which recording they are of, by block
Partial = dict[int, tuple[list[np.ndarray], np.ndarray, int | None]]


def places(extents: Sequence[tuple[int, int]]) -> tuple[list[int], int, int]:
    """Where each part's blocks begin, how many neighbours become one so that all can be held, how many are left."""
    firsts = np.r_[0, np.cumsum([blocks for blocks, _ in extents])][:-1].tolist()
    count = max(
        first + filled for first, (_, filled) in zip(firsts, extents, strict=True) if filled
    )
    group = 1
    while (count - 1) // group >= MOST:
        group *= 2
    return firsts, group, (count - 1) // group + 1


def grouped(part: Folded, first: int, group: int) -> Partial:
    """The part's triangles by the blocks that are kept."""
    kept: dict[int, list[int]] = {}
    for b in range(part.factors.blocks):
        if part.factors.rows[b].any():
            kept.setdefault((first + b) // group, []).append(b)
    merged = {block: part.factors.merged(own) for block, own in kept.items()}
    runs = {block: run_of([part.factors.runs[b] for b in own]) for block, own in kept.items()}
    return {block: (one.R[0], one.rows[0], runs[block]) for block, one in merged.items()}


def together(partials: Sequence[Partial]) -> Partial:
    """Several parts as one."""
    out: Partial = {}
    for block in sorted({block for one in partials for block in one}):
        same = [one[block] for one in partials if block in one]
        joints = [joined(parts) for parts in zip(*(R for R, _, _ in same), strict=True)]
        rows = np.sum([rows for _, rows, _ in same], axis=0)
        out[block] = joints, rows, run_of([run for _, _, run in same])
    return out


def whole(partial: Partial, blocks: int, support: tuple[np.ndarray, ...], size: int) -> Factors:
    """The factors of all parts."""
    none = [np.zeros((0, len(s) + 1)) for s in support], np.zeros(len(support), int), None
    every = [partial.get(block, none) for block in range(blocks)]
    runs = tuple(-1 if run is None else run for _, _, run in every)
    return Factors(
        support, size, [R for R, _, _ in every], np.array([r for _, r, _ in every]), runs
    )
