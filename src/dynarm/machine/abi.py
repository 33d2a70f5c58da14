"""The binary interface between a kernel's code, what all kernels share, NumPy and Python."""

from __future__ import annotations


def called(op: str, count: int, width: int) -> str:
    """The function for a call with so many arguments: void (ptr x1, ptr x2 ..., ptr results), slots of that width."""
    return f"dynarm_{op}{count}x{width}"


def of_c(function: str) -> str:
    """Our name for a function of the C library."""
    return f"dynarm_{function}"
