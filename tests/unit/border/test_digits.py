"""Numbers as files and command lines write them."""

from __future__ import annotations

import math

import pytest

from dynarm.border.digits import words, written
from dynarm.cli.options import numbers
from dynarm.errors import DynarmError


@pytest.mark.parametrize(
    ("text", "value"),
    [("1", 1.0), ("-0.5", -0.5), ("+2.", 2.0), (".25", 0.25), ("1e-3", 1e-3), ("6.02E+23", 6.02e23),
     (" \t7\n", 7.0), ("1e999", math.inf), ("9" * 400, math.inf)],
)  # fmt: skip
def test_numbers(text, value):
    assert written(text) == value


@pytest.mark.parametrize(
    "text",
    ["", " ", ".", "e5", "1e", "1_000", "\uff11", "\u0663", "1\u00a0", "nan", "inf", "-infinity", "0x10", "1,5",
     "--1", "1.5.2", "1d0", "true", "9" * 401, "1 2", "\u22121"],
)  # fmt: skip
def test_what_is_no_number(text):
    with pytest.raises(ValueError):
        written(text)


def test_blanks_of_ascii_part_words():
    assert words(" 1\t2\n3 ") == ["1", "2", "3"]
    assert words("1\u00a02") == ["1\u00a02"]


@pytest.mark.parametrize("text", ["1_0,2", "\uff11,2", "nan,1", "0.1,\u0661deg"])
def test_the_command_line_takes_no_others(text):
    with pytest.raises(DynarmError, match=r"give numbers such as|give finite numbers"):
        numbers("--q", text, 2)
    assert numbers("--q", "0.5,90deg", 2, angles=[False, True]) == [0.5, pytest.approx(math.pi / 2)]
