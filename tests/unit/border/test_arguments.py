"""Numbers from outside are checked in one place: what passes, what is refused, and in which words."""

from __future__ import annotations

import ast
import math
from pathlib import Path

import numpy as np
import pytest

import dynarm
from dynarm.border.arguments import above_zero, check_finite, number, numbers, positive, real, reals
from dynarm.errors import InputError, KindError

SOURCE = Path(dynarm.__file__).parent


def test_texts_among_objects_are_no_numbers():
    """NumPy would make 1.5 of the text "1.5" without a word."""
    given = np.array(["1.5", 2.0], object)
    for check in (reals, numbers):
        with pytest.raises(KindError, match=r"^x is array\(\['1.5', 2.0\].*; give numbers"):
            check("x", given)
    assert reals("x", np.array([1.5, 2], object)).tolist() == [1.5, 2.0]


def test_true_is_a_number_only_where_arrays_of_any_kind_are_taken():
    assert reals("x", [True, False]).tolist() == [1.0, 0.0]
    for given in ([True, False], np.array([True, 2.0], object)):
        with pytest.raises(KindError, match=r"^x is .*; give numbers"):
            numbers("x", given)


def test_numbers_of_any_shape_and_of_one_shape():
    given = np.arange(6.0).reshape(2, 3)
    kept = numbers("x", given)
    assert np.array_equal(kept, given)
    assert not np.shares_memory(kept, given)
    with pytest.raises(InputError, match=r"^x has shape \(2, 3\); give shape \(3,\)$"):
        numbers("x", given, (3,))
    with pytest.raises(InputError, match=r"^x is \[1000.*, too large for float64; give numbers$"):
        numbers("x", [10**400])


@pytest.mark.parametrize("wrong", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite(wrong):
    array = np.array([[0.0, wrong]])
    with pytest.raises(InputError, match=r"^x holds NaN or infinity; give finite numbers$"):
        check_finite("x", array)
    with pytest.raises(InputError, match=r"^x holds NaN or infinity; give finite numbers$"):
        numbers("x", array)
    with pytest.raises(InputError, match=rf"^x is {wrong}; give a finite number$"):
        number("x", wrong)
    assert check_finite("x", array[:, :1]).tolist() == [[0.0]]


def test_above_zero():
    assert positive(math.inf) and not above_zero(math.inf)
    assert positive(1e-300) and above_zero(1e-300)
    assert not any(check(x) for check in (positive, above_zero) for x in (0.0, -1.0, math.nan))
    with pytest.raises(InputError, match=r"^rate is inf; give samples a second$"):
        real("rate", math.inf, "samples a second", above_zero)


def _refusals(path: Path) -> list[int]:
    """Lines of `raise InputError(... "holds NaN or infinity" ...)` in a file."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    raises = [node for node in ast.walk(tree) if isinstance(node, ast.Raise)]
    return [
        node.lineno for node in raises if "holds NaN or infinity; give finite" in ast.unparse(node)
    ]


def test_the_refusal_of_what_is_not_finite_is_written_once():
    places = {
        path.relative_to(SOURCE).as_posix() for path in SOURCE.rglob("*.py") if _refusals(path)
    }
    assert places == {"border/arguments.py"}
