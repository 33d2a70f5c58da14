"""One compiled function called many times in a row, its operands moving on: the loop over time of a simulation.

`march` (its signature is in `machine/abi.py`) calls the inner loop of a gufunc so many times and moves every operand by
its own number of bytes after each call. Where
the result of one call lies where the next one reads, a recursion x' = f(x) runs without returning to Python. NumPy
itself cannot do this: it copies operands that overlap.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import cache

import numpy as np

from ...border.kinds import Foreign
from ..abi import MARCH
from ..emit.llvm import assembled, linked
from ..host import Host, host
from .gufunc import inner_loop

_TEXT = """\
define void @march(ptr %loop, ptr %args, ptr %dims, ptr %steps, ptr %data, ptr %advance, i64 %operands, i64 %count) {
entry:
  %any = icmp sgt i64 %count, 0
  br i1 %any, label %turn, label %done
turn:
  %k = phi i64 [ 0, %entry ], [ %next, %moved ]
  call void %loop(ptr %args, ptr %dims, ptr %steps, ptr %data)
  br label %move
move:
  %i = phi i64 [ 0, %turn ], [ %j, %move ]
  %place = getelementptr i64, ptr %args, i64 %i
  %far = getelementptr i64, ptr %advance, i64 %i
  %at = load i64, ptr %place
  %by = load i64, ptr %far
  %then = add i64 %at, %by
  store i64 %then, ptr %place
  %j = add i64 %i, 1
  %more = icmp slt i64 %j, %operands
  br i1 %more, label %move, label %moved
moved:
  %next = add i64 %k, 1
  %again = icmp slt i64 %next, %count
  br i1 %again, label %turn, label %done
done:
  ret void
}
"""


@cache
def _march(target: Host) -> tuple[Foreign, Foreign]:
    """The compiled loop as a ctypes function that releases the GIL, and what keeps its code alive."""
    tracker = linked(assembled(_TEXT, MARCH, target), MARCH, (MARCH,), {})
    word, address = ctypes.c_int64, ctypes.c_void_p
    kind = ctypes.CFUNCTYPE(None, *[address] * 6, word, word)
    return kind(tracker[MARCH]), tracker


class March:
    """A gufunc to be called many times; operands are float64 arrays with at most one batch axis in front.

    `cores` holds the number of core axes of each operand, inputs first.
    """

    def __init__(self, ufunc: np.ufunc, cores: Sequence[int]):
        self.ufunc, self.cores = ufunc, tuple(cores)
        self.loop = inner_loop(ufunc)
        # threads that come first at the same time make one each, of which the cache keeps the first
        self._code = _march(host()) if self.loop else None
        self.run = None if self._code is None else self._code[0]

    def __call__(
        self,
        operands: Sequence[np.ndarray],
        advance: Sequence[int],
        count: int,
        samples: int | None = None,
    ) -> None:
        """Call it `count` times; operand k lies advance[k] bytes further after each call.

        samples: length of the batch axis, None where there is none. Every place an operand comes to must be inside
        its array.
        """
        if self.run is None or self.loop is None:
            self._by_numpy(operands, advance, count)
            return
        size = len(operands)
        outer: list[int] = []
        core: list[int] = []
        for a, axes in zip(operands, self.cores, strict=True):
            outer.append(a.strides[0] if a.ndim > axes else 0)
            core += a.strides[a.ndim - axes :]
        args = (ctypes.c_int64 * size)(*(a.ctypes.data for a in operands))
        dims = (ctypes.c_int64 * (1 + len(core)))(1 if samples is None else samples)
        steps = (ctypes.c_int64 * (size + len(core)))(*outer, *core)
        moves = (ctypes.c_int64 * size)(*advance)
        loop, data = self.loop
        self.run(loop, args, dims, steps, data, moves, size, count)

    def _by_numpy(self, operands: Sequence[np.ndarray], advance: Sequence[int], count: int) -> None:
        """The same by calls from Python, where NumPy's structure is not the one that its header declares."""
        for k in range(count):
            moved = [_moved(a, k * by) for a, by in zip(operands, advance, strict=True)]
            given, made = moved[: self.ufunc.nin], moved[self.ufunc.nin :]
            self.ufunc(*given, out=tuple(made))


def _moved(a: np.ndarray, by: int) -> np.ndarray:
    """The array that lies so many bytes further in the same memory."""
    if by == 0:
        return a
    place = ctypes.cast(a.ctypes.data + by, ctypes.POINTER(ctypes.c_double))
    low, high = np.lib.array_utils.byte_bounds(a)
    flat = np.ctypeslib.as_array(place, shape=((high - low) // 8,))
    return np.lib.stride_tricks.as_strided(flat, a.shape, a.strides)
