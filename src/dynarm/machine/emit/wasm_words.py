"""The instructions of WebAssembly that kernels are written in: for one sample (f64) and for two side by side (f64x2).

Codes are those of the WebAssembly core specification 2.0, sections 5.4 and 5.5. Instructions take their operands from
a stack: the words of an expression are those of its operands, one after the other, and then its own.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import dataclass

I32, F64, V128 = b"\x7f", b"\x7c", b"\x7b"
END, LOOP, IF, ELSE = b"\x0b", b"\x03\x40", b"\x04\x40", b"\x05"
BRANCH_IF, CALL = b"\x0d", b"\x10"
ADD_I32, SUB_I32, AND_I32 = b"\x6a", b"\x6b", b"\x71"
# of f64, of f64x2; comparisons leave an i32, or a mask
ARITHMETIC = {
    "f64.abs": (0x99, 0xEC),
    "f64.neg": (0x9A, 0xED),
    "f64.nearest": (0x9E, 0x94),
    "f64.sqrt": (0x9F, 0xEF),
    "f64.add": (0xA0, 0xF0),
    "f64.sub": (0xA1, 0xF1),
    "f64.mul": (0xA2, 0xF2),
    "f64.div": (0xA3, 0xF3),
    "f64.min": (0xA4, 0xF4),
    "f64.max": (0xA5, 0xF5),
    "f64.eq": (0x61, 0x47),
    "f64.ne": (0x62, 0x48),
    "f64.lt": (0x63, 0x49),
    "f64.gt": (0x64, 0x4A),
    "f64.le": (0x65, 0x4B),
    "f64.ge": (0x66, 0x4C),
}
# on the bits of a number, as i64 and as v128
BITS = {"and": (0x83, 0x4E), "xor": (0x85, 0x51), "shl": (0x86, 0xCB), "add": (0x7C, 0xCE)}


def unsigned(n: int) -> bytes:
    """A number of any size, seven bits a byte (LEB128)."""
    out = bytearray()
    while True:
        n, low = n >> 7, n & 127
        out.append(low | (128 if n else 0))
        if not n:
            return bytes(out)


def signed(n: int) -> bytes:
    """The same for numbers that may be negative."""
    out = bytearray()
    while True:
        n, low = n >> 7, n & 127
        last = (n == 0 and not low & 64) or (n == -1 and bool(low & 64))
        out.append(low | (0 if last else 128))
        if last:
            return bytes(out)


def listed(parts: Iterable[bytes]) -> bytes:
    """A vector of the format: how many, then each."""
    parts = list(parts)
    return unsigned(len(parts)) + b"".join(parts)


def section(number: int, content: bytes) -> bytes:
    return bytes([number]) + unsigned(len(content)) + content


def text(name: str) -> bytes:
    data = name.encode()
    return unsigned(len(data)) + data


def get(local: int) -> bytes:
    return b"\x20" + unsigned(local)


def put(local: int) -> bytes:
    return b"\x21" + unsigned(local)


def integer(n: int) -> bytes:
    return b"\x41" + signed(n)


def call(function: int) -> bytes:
    return CALL + unsigned(function)


@dataclass(frozen=True, slots=True)
class Width:
    """The words for kernels of one width: a number is one double, or two of neighbouring samples."""

    simd: bool

    @property
    def kind(self) -> bytes:
        """The type of a number."""
        return V128 if self.simd else F64

    @property
    def lanes(self) -> int:
        return 2 if self.simd else 1

    def number(self, value: float) -> bytes:
        one = b"\x44" + struct.pack("<d", value)
        return one + self._vector(0x14) if self.simd else one

    def word(self, name: str) -> bytes:
        """An instruction of arithmetic or a comparison, by its name for one sample."""
        scalar, vector = ARITHMETIC[name]
        return self._vector(vector) if self.simd else bytes([scalar])

    def bits(self, name: str, value: bytes, operand: int) -> bytes:
        """An operation with a constant on the bits of a number."""
        scalar, vector = BITS[name]
        if not self.simd:
            return self._as_float(
                self._as_word(value) + b"\x42" + signed(operand) + bytes([scalar])
            )
        constant = integer(operand) if name == "shl" else b"\x42" + signed(operand) + b"\xfd\x12"
        return value + constant + self._vector(vector)

    def flipped(self, value: bytes, signs: bytes) -> bytes:
        """A number with its sign changed where the bits of another say so."""
        if self.simd:
            return value + signs + self._vector(BITS["xor"][1])
        return self._as_float(self._as_word(value) + self._as_word(signs) + bytes([BITS["xor"][0]]))

    def chosen(self, yes: bytes, no: bytes, odd: bytes) -> bytes:
        """One of two numbers: the first where the bits of `odd`, 0 or 1, are 1."""
        if self.simd:
            ones = b"\x42" + signed(1) + b"\xfd\x12"
            return yes + no + odd + ones + self._vector(0xD6) + self._vector(0x52)
        return yes + no + self._as_word(odd) + b"\xa7" + b"\x1b"

    def everywhere(self, condition: bytes) -> bytes:
        """i32: whether a comparison holds, in both lanes where there are two."""
        return condition + self._vector(0xC3) if self.simd else condition

    def lane(self, value: bytes, k: int) -> bytes:
        """The double of one lane."""
        return value + self._vector(0x21) + bytes([k]) if self.simd else value

    def joined(self, values: list[bytes]) -> bytes:
        """A number of the doubles of its lanes."""
        if not self.simd:
            return values[0]
        return values[0] + self._vector(0x14) + values[1] + self._vector(0x22) + b"\x01"

    def load(self, places: list[bytes], offset: int) -> bytes:
        """The doubles at an offset from the address of each lane's sample."""
        at = unsigned(3) + unsigned(offset)
        if not self.simd:
            return places[0] + b"\x2b" + at
        first = places[0] + self._vector(0x5D) + at  # load64_zero
        # load64_lane takes the address below the vector
        return places[1] + first + self._vector(0x57) + at + b"\x01"

    def store(self, places: list[bytes], offset: int, value: bytes) -> bytes:
        """A number into the samples of its lanes; the value must be cheap to write twice: a local."""
        at = unsigned(3) + unsigned(offset)
        if not self.simd:
            return places[0] + value + b"\x39" + at
        return b"".join(
            place + value + self._vector(0x5B) + at + bytes([k]) for k, place in enumerate(places)
        )

    def _vector(self, code: int) -> bytes:
        return b"\xfd" + unsigned(code)

    def _as_word(self, value: bytes) -> bytes:
        return value + b"\xbd"

    def _as_float(self, value: bytes) -> bytes:
        return value + b"\xbf"
