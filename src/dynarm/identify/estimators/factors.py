"""Triangular factors of the stacked regressor, block by block and joint by joint: all that a linear fit needs.

Rows are folded in as they are computed, [R; X y] -> R', so the stacked regressor is never stored and memory does not
grow with the length of the log. A block is a stretch of time (for cross-validation and the bootstrap); a joint's rows
hold only the unknowns that it feels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from ..band import factor_for
from ..bodies import wrench_forces
from ..decimation import decimated, kept_rows, margin
from ..flow import Flow, Stretches, rows_of
from ..friction.columns import Along
from ..preprocess import Preparation, Stretch
from ..regressor import Terms

CHUNK = 2048  # samples whose regressor is held at a time
BLOCKS = 24  # stretches of time that are kept apart
MOST = 192  # of them, where stretches are not held themselves
_WAITING = 8  # triangles' worth of rows that are folded into one at a time
_WORK = 64  # columns' worth of LAPACK's workspace

Weigh = Callable[[int, np.ndarray, np.ndarray, np.ndarray], np.ndarray]
Tick = Callable[[int], None]  # samples that were done


@dataclass(frozen=True, slots=True, eq=False)
class Factors:
    """R[block][joint] of [X y] over the joint's own unknowns, and the number of rows that went into it."""

    support: tuple[np.ndarray, ...]
    size: int
    R: list[list[np.ndarray]]
    rows: np.ndarray  # (blocks, n)
    runs: tuple[int, ...] = ()  # which recording each block is of, -1: several; nothing: not known

    @property
    def n(self) -> int:
        return len(self.support)

    @property
    def present(self) -> np.ndarray:
        """(size,) which unknowns take part; the others are taken as 0."""
        here = np.zeros(self.size, bool)
        for support in self.support:
            here[support] = True
        return here

    @property
    def blocks(self) -> int:
        return len(self.R)

    def joint(self, j: int, blocks: Iterable[int] | None = None) -> np.ndarray:
        """R of one joint over some blocks (all), (k + 1, k + 1) at most."""
        chosen = range(self.blocks) if blocks is None else blocks
        return joined([self.R[b][j] for b in chosen])

    def merged(self, blocks: Sequence[int] | None = None) -> Factors:
        """The factors of some blocks (all) as one block."""
        chosen = range(self.blocks) if blocks is None else blocks
        joints = [self.joint(j, chosen) for j in range(self.n)]
        return Factors(self.support, self.size, [joints], self.rows[list(chosen)].sum(axis=0)[None])

    def choose(self, columns: Sequence[int]) -> Factors:
        """The factors of a model with some of the unknowns only, renumbered in the given order."""
        place = {c: k for k, c in enumerate(columns)}
        inside = [np.array([k for k, c in enumerate(s) if c in place], int) for s in self.support]
        support = tuple(
            np.array([place[s[k]] for k in keep], int)
            for s, keep in zip(self.support, inside, strict=True)
        )
        R = [
            [
                triangle(part[:, np.r_[keep, part.shape[1] - 1]])
                for part, keep in zip(block, inside, strict=True)
            ]
            for block in self.R
        ]
        return Factors(support, len(columns), R, self.rows, self.runs)

    def stacked(self, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """X and y of all joints over all unknowns, each joint's rows times its weight; equivalent to the data."""
        X, y = [], []
        for j in range(self.n):
            R = self.joint(j)
            wide = np.zeros((len(R), self.size))
            wide[:, self.support[j]] = R[:, :-1] * weights[j]
            X.append(wide)
            y.append(R[:, -1] * weights[j])
        return np.vstack(X), np.concatenate(y)

    def squares(self, values: np.ndarray) -> np.ndarray:
        """(blocks, n): sums of squared residuals of the given values."""
        sums = np.zeros((self.blocks, self.n))
        for b, joints in enumerate(self.R):
            for j, R in enumerate(joints):
                residual = R[:, -1] - R[:, :-1] @ values[self.support[j]]
                sums[b, j] = residual @ residual
        return sums

    def widened(self, support: tuple[np.ndarray, ...]) -> Factors:
        """The factors over more unknowns of each joint, which were zero in these rows."""
        R = [
            [
                placed(part, own, s)
                for part, own, s in zip(block, self.support, support, strict=True)
            ]
            for block in self.R
        ]
        return Factors(support, self.size, R, self.rows, self.runs)


def placed(part: np.ndarray, own: np.ndarray, support: np.ndarray) -> np.ndarray:
    """Rows [.. X y] over a joint's own unknowns as rows over more of them: each group of columns, then y."""
    if len(own) == len(support):
        return part
    groups = (part.shape[1] - 1) // max(len(own), 1)
    wide = np.zeros((len(part), groups * len(support) + 1))
    place = np.searchsorted(support, own)
    for g in range(groups):
        wide[:, g * len(support) + place] = part[:, g * len(own) : (g + 1) * len(own)]
    wide[:, -1] = part[:, -1]
    return wide


def joined(parts: Sequence[np.ndarray]) -> np.ndarray:
    """The triangle of several, at least one, on top of each other."""
    full = [part for part in parts if len(part)]
    if len(full) <= 1:
        return full[0] if full else parts[0]
    return triangle(np.vstack(full))


def triangle(X: np.ndarray) -> np.ndarray:
    """R of the QR factorisation; X itself where it has no more rows than columns. X may be overwritten."""
    from scipy.linalg.lapack import dgeqrf

    if len(X) <= X.shape[1]:
        return np.array(X)
    factored, _, _, _ = dgeqrf(X, lwork=_WORK * X.shape[1], overwrite_a=True)
    return np.triu(factored[: X.shape[1]])


# ---- streaming


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """The rows of one chunk: for each joint its columns and torque [X y] (m, k + 1), and the samples' times."""

    block: int
    samples: int  # of the log that the chunk stands for
    Xy: list[np.ndarray]  # rows that take no part may stand there as zeros
    count: list[int]  # rows that do take part
    t: list[np.ndarray]
    run: int = 0  # which recording it is of


def block_edges(pieces: Stretches, blocks: int = BLOCKS) -> list[np.ndarray]:
    """For each piece the row numbers between which its blocks lie; longer pieces get more blocks."""
    total = rows_of(pieces)
    return [edges_in(piece, total, blocks) for piece in pieces]


def edges_in(piece: Stretch, total: int, blocks: int) -> np.ndarray:
    """The row numbers between which a piece's blocks lie; total: samples of all pieces."""
    count = max(1, round(blocks * len(piece) / total))
    return np.linspace(0, len(piece), count + 1).astype(int)


def stream(
    terms: Terms, pieces: Stretches, how: Preparation, blocks: int = BLOCKS
) -> Iterator[Rows]:
    """The rows of all pieces, chunk by chunk, filtered and decimated; rows that take no part are left out."""
    block, total = 0, rows_of(pieces)
    scratch: dict[str, np.ndarray] = {}
    for piece in pieces:
        edges = edges_in(piece, total, blocks)
        factor = factor_for(how, piece.rate)
        side = margin(factor, how.decimator)
        wanted = kept_rows(len(piece), factor)
        size = max(CHUNK, 4 * side)
        for low, high in pairwise(edges.tolist()):
            for start in range(low, high, size):
                ends = np.searchsorted(wanted, (start, min(start + size, high)))
                rows = wanted[ends[0] : ends[1]]
                if len(rows):
                    yield _rows(terms, piece, rows, side, factor, how.decimator, block, scratch)
            block += 1


def _rows(
    terms: Terms,
    piece: Stretch,
    rows: np.ndarray,
    side: int,
    factor: int,
    decimator: str,
    block: int,
    scratch: dict[str, np.ndarray],
) -> Rows:
    low, high = max(rows[0] - side, 0), min(rows[-1] + side + 1, len(piece))
    part = piece.part(slice(low, high))
    tau = part.tau
    if part.wrench is not None:
        tau = tau - wrench_forces(terms.arm, part.q, part.wrench)
    Xy, t, count = [], [], []
    along = Along(part.deflections, part.load)
    for j, both in enumerate(terms.joint_rows(part.q, part.qd, part.qdd, scratch, along)):
        both[-1] = tau[:, j]
        kept = piece.keep[rows, j]
        taken = rows[kept]
        count.append(len(taken))
        if factor == 1:
            both[:, ~kept] = 0.0
            Xy.append(both.T)
        else:
            thinned = decimated(both.T, factor, decimator, int(rows[0] - low), len(rows))
            Xy.append(thinned if kept.all() else thinned[kept])
        t.append(piece.t[taken])
    return Rows(block, factor * len(rows), Xy, count, t, piece.run)


def fold(
    terms: Terms,
    pieces: Stretches,
    how: Preparation,
    weigh: Weigh | None = None,
    blocks: int = BLOCKS,
    tick: Tick | None = None,
) -> Factors:
    """The factors of all rows. weigh(joint, its unknowns, X, y) gives each row a weight (robust fits).

    Of pieces that nobody holds, neighbouring blocks are put together where there would be too many to hold.
    """
    if isinstance(pieces, Flow) and pieces.away is not None:
        return pieces.away.fold(terms, how, weigh, blocks, tick)
    rows = stream(terms, pieces, how, blocks)
    if isinstance(pieces, Flow):
        folding = _Folding(terms, 0, None if pieces.apart else MOST)
        rows = _apart(rows, pieces.rows, blocks) if pieces.apart else rows
    else:
        folding = _Folding(terms, sum(len(e) - 1 for e in block_edges(pieces, blocks)), None)
    for chunk in rows:
        for j, Xy in enumerate(chunk.Xy):
            if not chunk.count[j]:
                continue
            if weigh is not None:
                Xy = Xy * weigh(j, terms.support[j], Xy[:, :-1], Xy[:, -1])[:, None]
            folding.add(chunk, j, triangle(Xy))
        if tick is not None:
            tick(chunk.samples)
    return folding.factors()


def _apart(chunks: Iterator[Rows], total: int, blocks: int) -> Iterator[Rows]:
    """The chunks in blocks that are parts of one run, and of one of so many parts of all samples."""
    known: dict[tuple[int, int], int] = {}
    done = 0
    for chunk in chunks:
        block = known.setdefault((chunk.run, blocks * done // total), len(known))
        done += chunk.samples
        yield replace(chunk, block=block)


class _Folding:
    """Triangles that wait to be put together, block by block and joint by joint."""

    def __init__(self, terms: Terms, blocks: int, most: int | None):
        self.terms, self.most, self.group = terms, most, 1
        self.waiting: list[list[list[np.ndarray]]] = []
        self.rows: list[np.ndarray] = []
        self.runs: list[int | None] = []
        self._reach(blocks)

    def _reach(self, blocks: int) -> None:
        while len(self.waiting) < blocks:
            self.waiting.append([[] for _ in range(self.terms.n)])
            self.rows.append(np.zeros(self.terms.n, int))
            self.runs.append(None)

    def add(self, chunk: Rows, joint: int, R: np.ndarray) -> None:
        """One more triangle, of a joint's rows in a chunk."""
        block = chunk.block
        while self.most is not None and block // self.group >= self.most:
            self._halve()
        block //= self.group
        self._reach(block + 1)
        triangles = self.waiting[block][joint]
        triangles.append(R)
        self.rows[block][joint] += chunk.count[joint]
        self.runs[block] = run_of([self.runs[block], chunk.run])
        if sum(map(len, triangles)) >= _WAITING * R.shape[1]:
            triangles[:] = [triangle(np.vstack(triangles))]

    def _halve(self) -> None:
        """Every two neighbouring blocks become one."""
        pairs = [self.waiting[k : k + 2] for k in range(0, len(self.waiting), 2)]
        self.waiting = [
            [[joined(parts)] if (parts := [R for block in pair for R in block[j]]) else []
             for j in range(self.terms.n)]
            for pair in pairs
        ]  # fmt: skip
        self.rows = [np.sum(self.rows[k : k + 2], axis=0) for k in range(0, len(self.rows), 2)]
        self.runs = [run_of(self.runs[k : k + 2]) for k in range(0, len(self.runs), 2)]
        self.group *= 2

    def factors(self) -> Factors:
        """All triangles of a block and joint as one."""
        support = self.terms.support
        R = [
            [
                joined([*parts, np.zeros((0, len(s) + 1))])
                for parts, s in zip(block, support, strict=True)
            ]
            for block in self.waiting
        ]
        runs = tuple(-1 if run is None else run for run in self.runs)
        return Factors(support, self.terms.size, R, np.array(self.rows), runs)


def run_of(runs: Sequence[int | None]) -> int | None:
    """The recording that blocks belong to: the one that all of them do, -1 if they do not; None: no rows yet."""
    of = {run for run in runs if run is not None}
    return None if not of else of.pop() if len(of) == 1 else -1


@dataclass(frozen=True, slots=True, eq=False)
class RowSource:
    """Where rows come from: prepared motion, and the columns that are computed along it."""

    terms: Terms
    pieces: Stretches
    how: Preparation


def folded(
    sources: Sequence[RowSource], support: tuple[np.ndarray, ...], weigh: Weigh | None = None
) -> Factors:
    """The factors of several sources, block after block, over the unknowns of `support`."""
    parts = [fold(s.terms, s.pieces, s.how, weigh).widened(support) for s in sources]
    R = [block for part in parts for block in part.R]
    runs = parts[0].runs if len(parts) == 1 else ()
    return Factors(support, parts[0].size, R, np.vstack([part.rows for part in parts]), runs)
