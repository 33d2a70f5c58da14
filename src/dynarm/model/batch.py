"""Large batches over several threads: the kernels release the GIL, so slices of a batch run side by side."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextvars import copy_context
from functools import partial

import numpy as np

from ..border.kinds import Outside
from ..border.words import shown
from ..errors import InputError
from ..graph.graph import Port
from ..machine.load.quick import THREADS

_SMALLEST = 5_000_000  # vector instructions times samples that a thread must have before waking it pays: some 0.2 ms
PIECES = 4, 16  # slices a thread, of a small batch and of a large one
LARGE = 4096  # samples of a slice from which on there may be more of them
LANES = 64  # samples that slices are a multiple of: whole blocks of whole lines of cache
threads = 1  # what a call uses that does not say `threads=`; set by set_threads
_pool: ThreadPoolExecutor | None = None
_pool_owner: int | None = None


def set_threads(count: int) -> None:
    """Use this many threads for large batches where a call does not say `threads=`; 1 at the start.

    Parameters
    ----------
    count : int
        Number of threads, at least 1.

    Examples
    --------
    >>> dynarm.set_threads(1)
    """
    global threads
    threads = check_threads(count)
    THREADS.value = threads


def check_threads(count: Outside) -> int:
    """The number itself, if it can be a number of threads."""
    if isinstance(count, bool) or not isinstance(count, (int, np.integer)) or count < 1:
        raise InputError(f"threads is {shown(count)}; give a whole number of at least 1")
    return int(count)


def _workers() -> ThreadPoolExecutor:
    """One pool a process, made anew after a fork."""
    global _pool, _pool_owner
    if _pool is None or _pool_owner != os.getpid():
        _pool = ThreadPoolExecutor(max_workers=os.cpu_count() or 1, thread_name_prefix="dynarm")
        _pool_owner = os.getpid()
    return _pool


def call(
    ufunc: np.ufunc,
    inputs: Sequence[Port],
    outputs: Sequence[Port],
    args: Sequence[Outside],
    out: Outside,
    count: int,
    weight: int,
) -> Outside:
    """ufunc(*args, out=out), cut along the leading batch axis into a slice a thread, if there is enough to do.

    weight: vector instructions that a block of samples takes.
    """
    if all(map(partial(_small, weight), inputs, args)):
        return ufunc(*args) if out is None else ufunc(*args, out=out)
    arrays = [np.asarray(a) for a in args]  # not as floats: what is none, the ufunc refuses
    shapes = [a.shape[: a.ndim - len(p.shape)] for a, p in zip(arrays, inputs, strict=True)]
    shape = np.broadcast_shapes(*shapes)
    count = min(count, math.prod(shape) * weight // _SMALLEST) if shape else 1
    if count <= 1 or not (out is None or _apart(out, shape + outputs[0].shape, arrays)):
        return ufunc(*arrays) if out is None else ufunc(*arrays, out=out)
    results = [np.empty(shape + p.shape) for p in outputs] if out is None else [out]
    cut = [len(own) == len(shape) and own[0] > 1 for own in shapes]  # others serve every slice

    def work(low: int, high: int) -> None:
        parts = (a[low:high] if c else a for a, c in zip(arrays, cut, strict=True))
        ufunc(*parts, out=tuple(r[low:high] for r in results))

    slices(shape[0], count, work)
    return results[0] if len(results) == 1 else tuple(results)


def _small(weight: int, port: Port, array: np.ndarray) -> bool:
    """Whether an input is an array with one batch axis at most, of too few samples for two threads."""
    plain = isinstance(array, np.ndarray) and array.ndim <= len(port.shape) + 1
    return plain and array.size * weight < 2 * _SMALLEST * port.size


def _apart(out: Outside, shape: tuple[int, ...], arrays: Sequence[np.ndarray]) -> bool:
    """Whether slices of out may be written one by one: it has the result's shape, and no memory of an input."""
    plain = isinstance(out, np.ndarray) and out.shape == shape
    return plain and not any(np.may_share_memory(out, a) for a in arrays)


def slices(length: int, count: int, work: Callable[[int, int], None]) -> None:
    """work(low, high) for slices of range(length) by `count` threads, the caller one of them, under its np.errstate.

    There are more slices than threads, and who is free takes the next one: cores of a shared machine are not equally
    fast, and waking a thread takes a while.
    """
    count = min(count, length)
    if count <= 1:
        work(0, length)
        return
    few, many = (-(-length // (pieces * count)) for pieces in PIECES)
    step = max(many, min(few, LARGE))
    step += -step % LANES if step > LANES else 0
    lows = iter(range(0, length, step))

    def run() -> None:
        for low in lows:  # one iterator for all: each slice is taken once
            work(low, min(low + step, length))

    jobs = [_workers().submit(copy_context().run, run) for _ in range(count - 1)]
    try:
        run()
    finally:
        wait(jobs)  # arrays of the caller are written to until then
    for job in jobs:
        job.result()
