"""Vectors in LLVM's words: the instructions that kernels are made of, for any number of lanes.

One lane is plain scalars, so that the same formulas make the scalar kernel and the vector kernels. No fast-math flag
is ever written: every operation is the IEEE one, and multiply-adds are fused where this text says `fma`.
"""

from __future__ import annotations

import struct

from ...graph.ops import OPERATIONS, Way
from .text import Text


def bits(value: float) -> str:
    """A double as LLVM reads it exactly: its bits in hexadecimal."""
    return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"


def integer(value: float) -> int:
    """The bits of a double as an integer."""
    (word,) = struct.unpack("<q", struct.pack("<d", value))
    return int(word)


class Lanes(Text):
    """Collects the body of one function over vectors of `width` doubles."""

    def __init__(self, width: int, fused: bool = True):
        super().__init__()
        self.width, self.fused = width, fused
        if width == 1:
            self.real, self.word, self.truth, self.suffix = "double", "i64", "i1", "f64"
        else:
            self.real, self.word, self.truth = (f"<{width} x {t}>" for t in ("double", "i64", "i1"))
            self.suffix = f"v{width}f64"

    def number(self, value: float) -> str:
        return bits(value) if self.width == 1 else f"splat (double {bits(value)})"

    def mask(self, value: int) -> str:
        return str(value) if self.width == 1 else f"splat (i64 {value})"

    def load(self, address: str, align: int = 0) -> str:
        return self.put(f"load {self.real}, ptr {address}, align {align or 8 * self.width}")

    def store(self, value: str, address: str, align: int = 0) -> None:
        self.line(f"store {self.real} {value}, ptr {address}, align {align or 8 * self.width}")

    def slot(self, base: str, index: int) -> str:
        """The address of a slot of the workspace."""
        return self.ahead(base, 8 * self.width * index)

    def add(self, x: str, y: str) -> str:
        return self.put(f"fadd {self.real} {x}, {y}")

    def sub(self, x: str, y: str) -> str:
        return self.put(f"fsub {self.real} {x}, {y}")

    def mul(self, x: str, y: str) -> str:
        return self.put(f"fmul {self.real} {x}, {y}")

    def div(self, x: str, y: str) -> str:
        return self.put(f"fdiv {self.real} {x}, {y}")

    def operation(self, op: str, *args: str) -> str:
        """An operation of a graph that is no call."""
        record, t = OPERATIONS[op], self.real
        if record.way is Way.INSTRUCTION:
            return self.put(f"{record.word} {t} {', '.join(args)}")
        if record.way is Way.INTRINSIC:
            return self._intrinsic(record.word, *args)
        made: str = getattr(self, record.word)(*args)
        return made

    def _intrinsic(self, name: str, *args: str) -> str:
        given = ", ".join(f"{self.real} {x}" for x in args)
        return self.put(f"call {self.real} @llvm.{name}.{self.suffix}({given})")

    def neg(self, x: str) -> str:
        return self.put(f"fneg {self.real} {x}")

    def fma(self, x: str, y: str, z: str) -> str:
        """x y + z: one rounding where the host has the instruction, two where it would be a library call."""
        if not self.fused:
            return self.add(self.mul(x, y), z)
        return self._intrinsic("fma", x, y, z)

    def copysign(self, x: str, y: str) -> str:
        return self._intrinsic("copysign", x, y)

    def as_word(self, x: str) -> str:
        return self.put(f"bitcast {self.real} {x} to {self.word}")

    def as_real(self, x: str) -> str:
        return self.put(f"bitcast {self.word} {x} to {self.real}")

    def bitwise(self, op: str, x: str, value: str) -> str:
        """An integer operation in every lane: and, or, xor, shl, add, sub."""
        return self.put(f"{op} {self.word} {x}, {value}")

    def compare(self, relation: str, x: str, value: str) -> str:
        """Comparisons look at the bits: a NaN raises no flag."""
        return self.put(f"icmp {relation} {self.word} {x}, {value}")

    def select(self, condition: str, x: str, y: str) -> str:
        t = self.real
        return self.put(f"select {self.truth} {condition}, {t} {x}, {t} {y}")

    def any(self, condition: str) -> str:
        """Whether the condition holds in any lane."""
        if self.width == 1:
            return condition
        packed = self.put(f"bitcast {self.truth} {condition} to i{self.width}")
        return self.put(f"icmp ne i{self.width} {packed}, 0")

    def magnitude_bits(self, x: str) -> str:
        """The bits of |x|, which order like |x| itself, NaN above infinity."""
        return self.bitwise("and", self.as_word(x), self.mask(0x7FFFFFFFFFFFFFFF))

    def sign(self, x: str) -> str:
        """-1, 0 or 1; a NaN stays."""
        size = self.magnitude_bits(x)
        # size - 1 as an unsigned number is at or above the bits of infinity for 0 and for every NaN
        odd = self.compare(
            "uge", self.bitwise("sub", size, self.mask(1)), self.mask(integer(float("inf")))
        )
        return self.select(odd, x, self.copysign(self.number(1.0), x))

    def declarations(self) -> list[str]:
        """What a module that uses these words must declare."""
        own = [(op.word, op.arity) for op in OPERATIONS.values() if op.way is Way.INTRINSIC]
        return [
            f"declare {self.real} @llvm.{name}.{self.suffix}({', '.join([self.real] * arity)})"
            for name, arity in (("fma", 3), *own, ("copysign", 2))
        ]
