"""Numbers that are counted: every multiplication and addition belongs to the line of the listing that asks for it.

A listing is a paper's algorithm written out in the order of its figure or table. At each line it says what the paper
books for it (`Ledger.at`); what the line's equation needs is then counted as it is computed. Products and sums of
constants are free, as are 0, 1, -1 and negation, and all that the paper has on hand (inside `on_hand`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from ...algebra.vectors import Mat3, Scalar, Sym3, Turn, Vec3, add, mul, sub
from ...robot.frames.chain import Chain, Step, pose

MULTIPLICATION, ADDITION = 0, 1


@dataclass(frozen=True, slots=True)
class ListedLine:
    """One line of a listing for one arm: what the paper books for it, and what its equation needs in all."""

    term: str
    times: int
    booked: tuple[int, int]  # multiplications, additions
    needed: tuple[int, int]


@dataclass(slots=True)
class Ledger:
    """Operations by line; `doubling`: what the paper books 2x as."""

    doubling: int = MULTIPLICATION
    lines: dict[str, list[int]] = field(default_factory=dict)  # times, booked M A, needed M A
    term: str | None = None

    def at(self, term: str, mul: int = 0, add: int = 0) -> None:
        """What follows belongs to this line, for which the paper books so much."""
        line = self.lines.setdefault(term, [0] * 5)
        line[0] += 1
        line[1] += mul
        line[2] += add
        self.term = term

    def done(self, operation: int) -> None:
        """One operation of the line."""
        if self.term is not None:
            self.lines[self.term][3 + operation] += 1

    @contextmanager
    def on_hand(self) -> Iterator[None]:
        """Inside, nothing is counted."""
        before, self.term = self.term, None
        try:
            yield
        finally:
            self.term = before

    def numbers(self, values: Sequence[float]) -> list[Operand]:
        """The values, counted from here on."""
        return [Operand(float(x), self) for x in values]

    def twice(self, x: Scalar) -> Scalar:
        """2 x, as the paper books it."""
        if isinstance(x, Operand) and self.doubling == ADDITION:
            return x + x
        return mul(2, x)

    def steps(self, arm: Chain, q: Sequence[float]) -> list[Rotation]:
        """The steps of an arm; sines, cosines, rotation matrices and displacements are on hand."""
        with self.on_hand():
            return [Rotation.of(step) for step in pose(arm, self.numbers(q))]

    def report(self) -> tuple[ListedLine, ...]:
        """The lines in the order of the listing."""
        return tuple(
            ListedLine(term, x[0], (x[1], x[2]), (x[3], x[4])) for term, x in self.lines.items()
        )


class Operand:
    """A number whose operations are counted."""

    __array_ufunc__ = None
    __slots__ = ("tally", "value")

    def __init__(self, value: float, tally: Ledger):
        self.value, self.tally = value, tally

    def _made(self, value: float, operation: int) -> Operand:
        self.tally.done(operation)
        return Operand(value, self.tally)

    def __add__(self, o: Scalar) -> Operand:
        return self._made(self.value + number(o), ADDITION)

    __radd__ = __add__

    def __sub__(self, o: Scalar) -> Operand:
        return self._made(self.value - number(o), ADDITION)

    def __rsub__(self, o: Scalar) -> Operand:
        return self._made(number(o) - self.value, ADDITION)

    def __mul__(self, o: Scalar) -> Operand:
        return self._made(self.value * number(o), MULTIPLICATION)

    __rmul__ = __mul__

    def __neg__(self) -> Operand:
        return Operand(-self.value, self.tally)

    def cos(self) -> Operand:
        return Operand(math.cos(self.value), self.tally)

    def sin(self) -> Operand:
        return Operand(math.sin(self.value), self.tally)


def number(x: Scalar) -> float:
    """The value of a counted number or of a plain one."""
    return x.value if isinstance(x, Operand) else float(x)


@dataclass(frozen=True, slots=True, eq=False)
class Plane(Turn):
    """A plane rotation of tensors as R J R' is written, one entry of each symmetric pair (18 mul 9 add)."""

    def fall_sym(self, J: Sym3) -> Sym3:
        K = [list(row) for row in Mat3(*(self.fall(x) for x in J.full().rows)).T.rows]  # R J
        i, j, k = {"z": (0, 1, 2), "x": (1, 2, 0), "y": (2, 0, 1)}[self.axis]
        c, s = self.c, self.s
        entries = {
            (i, i): sub(mul(c, K[i][i]), mul(s, K[i][j])),
            (i, j): add(mul(s, K[i][i]), mul(c, K[i][j])),
            (j, j): add(mul(s, K[j][i]), mul(c, K[j][j])),
            (i, k): K[i][k],
            (j, k): K[j][k],
            (k, k): K[k][k],
        }
        order = ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))
        return Sym3(*(entries[x if x in entries else x[::-1]] for x in order))


@dataclass(frozen=True, slots=True, eq=False)
class Rotation:
    """A step of a listing: vectors by two plane rotations (8 mul 4 add), tensors by R J R', R on hand."""

    step: Step
    R: Mat3  # from frame i to frame i-1

    @classmethod
    def of(cls, step: Step) -> Rotation:
        """The step with plane rotations as the papers count them."""
        turns = tuple(Plane(t.axis, t.c, t.s) for t in step.turns)
        return cls(Step(turns, step.a, step.d, step.s), step.R)

    @property
    def a(self) -> Scalar:
        return self.step.a

    @property
    def d(self) -> Scalar:
        return self.step.d

    @property
    def s(self) -> Vec3:
        """From origin i-1 to origin i, in frame i-1."""
        return self.step.s

    @property
    def inner_axis(self) -> Vec3:
        """The axis of joint i-1 in frame i: on hand."""
        return self.R.r3

    def fall(self, v: Vec3) -> Vec3:
        return self.step.fall(v)

    def rise(self, v: Vec3) -> Vec3:
        return self.step.rise(v)

    def fall_sym(self, J: Sym3) -> Sym3:
        return self.step.fall_sym(J)
