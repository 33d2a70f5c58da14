"""LLVM's words for one vector width: types, constants and the instructions that kernels are made of, as text.

A width of 1 is plain scalars, so that the same formulas make the scalar kernel and the vector kernels. No fast-math
flag is ever written: every operation is the IEEE one, and multiply-adds are fused where this text says `fma`.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field


def bits(value: float) -> str:
    """A double as LLVM reads it exactly: its bits in hexadecimal."""
    return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"


def integer(value: float) -> int:
    """The bits of a double as an integer."""
    return struct.unpack("<q", struct.pack("<d", value))[0]


@dataclass(slots=True)
class Lanes:
    """Collects the text of one function body over vectors of `width` doubles."""

    width: int
    fused: bool = True
    text: list[str] = field(default_factory=list)
    count: int = 0

    @property
    def real(self) -> str:
        return "double" if self.width == 1 else f"<{self.width} x double>"

    @property
    def whole(self) -> str:
        return "i64" if self.width == 1 else f"<{self.width} x i64>"

    @property
    def truth(self) -> str:
        return "i1" if self.width == 1 else f"<{self.width} x i1>"

    @property
    def suffix(self) -> str:
        return "f64" if self.width == 1 else f"v{self.width}f64"

    def number(self, value: float) -> str:
        if self.width == 1:
            return bits(value)
        return "<" + ", ".join([f"double {bits(value)}"] * self.width) + ">"

    def mask(self, value: int) -> str:
        if self.width == 1:
            return str(value)
        return "<" + ", ".join([f"i64 {value}"] * self.width) + ">"

    def put(self, expression: str) -> str:
        """The name of a new value."""
        self.count += 1
        name = f"%v{self.count}"
        self.text.append(f"{name} = {expression}")
        return name

    def line(self, text: str) -> None:
        self.text.append(text)

    def load(self, address: str) -> str:
        return self.put(f"load {self.real}, ptr {address}, align {8 * self.width}")

    def store(self, value: str, address: str) -> None:
        self.line(f"store {self.real} {value}, ptr {address}, align {8 * self.width}")

    def slot(self, base: str, index: int) -> str:
        """The address of a slot of the workspace."""
        if index == 0:
            return base
        return self.put(f"getelementptr i8, ptr {base}, i64 {8 * self.width * index}")

    def add(self, x: str, y: str) -> str:
        return self.put(f"fadd {self.real} {x}, {y}")

    def sub(self, x: str, y: str) -> str:
        return self.put(f"fsub {self.real} {x}, {y}")

    def mul(self, x: str, y: str) -> str:
        return self.put(f"fmul {self.real} {x}, {y}")

    def div(self, x: str, y: str) -> str:
        return self.put(f"fdiv {self.real} {x}, {y}")

    def neg(self, x: str) -> str:
        return self.put(f"fneg {self.real} {x}")

    def fma(self, x: str, y: str, z: str) -> str:
        """x y + z: one rounding where the host has the instruction, two where it would be a library call."""
        if not self.fused:
            return self.add(self.mul(x, y), z)
        t = self.real
        return self.put(f"call {t} @llvm.fma.{self.suffix}({t} {x}, {t} {y}, {t} {z})")

    def horner(self, z: str, *coefficients: float) -> str:
        """The polynomial in z, highest coefficient first."""
        value = self.number(coefficients[0])
        for c in coefficients[1:]:
            value = self.fma(value, z, self.number(c))
        return value

    def sqrt(self, x: str) -> str:
        return self.put(f"call {self.real} @llvm.sqrt.{self.suffix}({self.real} {x})")

    def abs(self, x: str) -> str:
        return self.put(f"call {self.real} @llvm.fabs.{self.suffix}({self.real} {x})")

    def copysign(self, x: str, y: str) -> str:
        t = self.real
        return self.put(f"call {t} @llvm.copysign.{self.suffix}({t} {x}, {t} {y})")

    def as_whole(self, x: str) -> str:
        return self.put(f"bitcast {self.real} {x} to {self.whole}")

    def as_real(self, x: str) -> str:
        return self.put(f"bitcast {self.whole} {x} to {self.real}")

    def bitwise(self, op: str, x: str, value: str) -> str:
        """An integer operation: and, or, xor, shl, add, sub."""
        return self.put(f"{op} {self.whole} {x}, {value}")

    def compare(self, relation: str, x: str, value: str) -> str:
        """Comparisons look at the bits: a NaN raises no flag."""
        return self.put(f"icmp {relation} {self.whole} {x}, {value}")

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
        return self.bitwise("and", self.as_whole(x), self.mask(0x7FFFFFFFFFFFFFFF))

    def sign(self, x: str) -> str:
        """-1, 0 or 1; a NaN stays."""
        size = self.magnitude_bits(x)
        # size - 1 as an unsigned number is above the bits of infinity for 0 and for every NaN
        odd = self.compare(
            "uge", self.bitwise("sub", size, self.mask(1)), self.mask(integer(float("inf")))
        )
        return self.select(odd, x, self.copysign(self.number(1.0), x))

    def declarations(self) -> list[str]:
        t, s = self.real, self.suffix
        return [
            f"declare {t} @llvm.fma.{s}({t}, {t}, {t})",
            f"declare {t} @llvm.sqrt.{s}({t})",
            f"declare {t} @llvm.fabs.{s}({t})",
            f"declare {t} @llvm.copysign.{s}({t}, {t})",
        ]
