"""The operation counts that the papers print, polynomials in the number of joints: dynamics/papers/printed.toml."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from importlib import resources

from ..border.kinds import Json
from ..robot.arm import Arm
from ..robot.frames.generic import along_standard_frames, generic_arm


@dataclass(frozen=True, slots=True)
class Printed:
    """One row of a paper's table of costs, exactly as on the page. mul, add: highest power of n first."""

    paper: str
    table: str
    page: int
    line: int  # of the paper's text
    quantity: str
    formulation: str
    type: int  # 1: all joints rotational, 2: joint 3 translational
    principal: bool  # principal axes of every link parallel to its frame
    mul: tuple[Fraction, ...]
    add: tuple[Fraction, ...]
    from_n: int  # the smallest number of joints for which the polynomials are meant
    quoted: bool = False  # of other authors, for comparison only
    increment_over: str | None = None  # what is added to this formulation of the mass matrix
    on_hand: str = ""  # what the paper does not count
    # what the printed rows should have come to, and why they do not; None where they do
    mul_corrected: tuple[Fraction, ...] | None = None
    add_corrected: tuple[Fraction, ...] | None = None
    why: str = ""

    def at(self, n: int) -> tuple[int, int]:
        """Multiplications and additions for n joints, as printed."""
        return _value(self.mul, n), _value(self.add, n)

    def corrected_at(self, n: int) -> tuple[int, int] | None:
        """The same with misprinted sums corrected; None where the printed ones are right."""
        if self.mul_corrected is None or self.add_corrected is None:
            return None
        return _value(self.mul_corrected, n), _value(self.add_corrected, n)


def _value(coefficients: tuple[Fraction, ...], n: int) -> int:
    value = Fraction(0)
    for c in coefficients:
        value = value * n + c
    return int(value)


POLYNOMIALS = ("mul", "add", "mul_corrected", "add_corrected")
# gravity as the papers count it, where it is not along the first axis
TILTED = (0.0, 3.1, -9.3)
GENERAL = (1.3, 3.1, -9.2)


@cache
def printed() -> tuple[Printed, ...]:
    """Every row, paper by paper."""
    file = resources.files("dynarm.dynamics.papers") / "printed.toml"
    rows = tomllib.loads(file.read_text(encoding="utf-8"))["polynomial"]
    return tuple(Printed(**{**row, **_fractions(row)}) for row in rows)


def _fractions(row: Json) -> dict[str, tuple[Fraction, ...]]:
    return {k: tuple(Fraction(c) for c in row[k]) for k in POLYNOMIALS if k in row}


def published(
    quantity: str, formulation: str, type: int, n: int, principal: bool = False
) -> Printed | None:
    """The row that the formulation's own paper prints for n joints, or None where it prints none."""
    for row in printed():
        same = (row.quantity, row.formulation, row.type, row.principal)
        if same == (quantity, formulation, type, principal) and not row.increment_over:
            return row if n >= row.from_n else None
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


def counted_on(paper: str, n: int, type: int, principal: bool) -> Arm:
    """The generic arm that a paper's numbers are meant for: its own frames of principal axes, its own gravity.

    turney1980 has principal axes along standard frames and gravity along joint 1; lin1991 rotates a general gravity
    from link to link; of lin1995 joint 1 feels gravity (Table II books its first moments).
    """
    gravity = {"lin1991": GENERAL, "lin1995": TILTED}.get(paper)
    made = generic_arm(n, type, principal=principal, **({"gravity": gravity} if gravity else {}))
    return along_standard_frames(made) if principal and paper == "turney1980" else made
