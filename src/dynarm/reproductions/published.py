"""The operation counts that the papers print, polynomials in the number of joints: dynamics/papers/printed.toml."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from importlib import resources


@dataclass(frozen=True, slots=True)
class Printed:
    """One row of a paper's table of costs, its row sums corrected. mul, add: highest power of n first."""

    paper: str
    table: str
    page: int
    quantity: str
    formulation: str
    type: int  # 1: all joints rotational, 2: joint 3 translational
    principal: bool  # principal axes of every link parallel to its frame
    mul: tuple[Fraction, ...]
    add: tuple[Fraction, ...]
    from_n: int  # the smallest number of joints for which the polynomials are meant
    quoted: bool = False  # of other authors, for comparison only
    increment_over: str | None = None  # what is added to this formulation of the mass matrix

    def at(self, n: int) -> tuple[int, int]:
        """Multiplications and additions for n joints."""
        return _value(self.mul, n), _value(self.add, n)


def _value(coefficients: tuple[Fraction, ...], n: int) -> int:
    value = Fraction(0)
    for c in coefficients:
        value = value * n + c
    return int(value)


@cache
def printed() -> tuple[Printed, ...]:
    """Every row, paper by paper."""
    file = resources.files("dynarm.dynamics.papers") / "printed.toml"
    rows = tomllib.loads(file.read_text(encoding="utf-8"))["polynomial"]
    return tuple(
        Printed(
            **{
                **row,
                "mul": tuple(Fraction(c) for c in row["mul"]),
                "add": tuple(Fraction(c) for c in row["add"]),
            }
        )
        for row in rows
    )


def published(
    quantity: str, formulation: str, type: int, n: int, principal: bool = False
) -> tuple[int, int] | None:
    """Multiplications and additions that the formulation's own paper prints, or None where it prints none."""
    for row in printed():
        same = (row.quantity, row.formulation, row.type, row.principal)
        if same == (quantity, formulation, type, principal) and not row.increment_over:
            return row.at(n) if n >= row.from_n else None
    return None


def quoted(quantity: str, type: int, n: int, principal: bool = False) -> list[Printed]:
    """Rows of other authors that the papers compare with."""
    return [
        row
        for row in printed()
        if row.quoted
        and (row.quantity, row.type, row.principal) == (quantity, type, principal)
        and n >= row.from_n
    ]
