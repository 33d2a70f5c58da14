"""Expressions of robot files: what is computed, and that nothing else can be reached by them."""

from __future__ import annotations

import ast
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dynarm import DynarmError
from dynarm.robot.formats.expressions import LONGEST, Rules, evaluated


class Space(dict):
    """A table with entries by dots."""


FUNCTIONS = {"sin": math.sin, "len": len, "str": str, "max": max, "range": range, "sorted": sorted}
NAMES = {
    **FUNCTIONS,
    "x": 3,
    "name": "left_arm",
    "rows": [1, 2, 3],
    "table": {"mass": 2.5, "more": {"deep": [7]}},
    "math": Space(pi=math.pi, sin=math.sin),
    "hidden": open,
}
RULES = Rules(frozenset(map(id, FUNCTIONS.values())), (Space,))
SAME = (
    "1 + 2 * x ** 2 - 7 // 2 % 3 / 5",
    "-x + +x, not x, ~x, x << 2 | 1 & 7 ^ 3 >> 1",
    "1 < x <= 3 and x != 4 or x == 9",
    "'arm' in name and name not in ('a',) and x is not None",
    "1 if x > 5 else 'b'",
    "rows[-1] + rows[0:2][1] + table['mass'] + table['more']['deep'][0]",
    "[i * j for i in rows if i > 1 for j in (1, 2)]",
    "{k: len(k) for k in sorted(table)}, {i % 2 for i in rows}",
    "name.replace('left', 'right').upper().split('_')[0] + '%s %.2f' % (x, 0.5)",
    "max(rows, key=str) + sin(0.5) + sorted(rows, reverse=True)[0]",
    "[a + b for a, b in [(1, 2), (3, 4)]]",
    "table.get('none', 5), [k for k, v in table.items()]",
    "'a' 'b' * 3 or False",
    "x and 0 and 1/0, x or 1/0",
    "2 ** 5000 + (1 << 5000) + (-1) ** 10 ** 9, 2.0 ** -3 + 2 ** -3, 'ab' * 5000, 5000 * [1], 'a' * -9",
)
REFUSED = (
    "().__class__",
    "[c.__class__ for c in [1]]",
    "'{0.__class__}'.format(x)",
    "'{0}'.format_map(table)",
    "(i for i in rows).gi_frame",
    "sin.__self__",
    "str.mro()",
    "math.__init__",
    "__import__('os')",
    "open('/etc/passwd')",
    "hidden('/etc/passwd')",
    "[hidden][0]('/etc/passwd')",
    "lambda: 1",
    "9 ** 9 ** 9",
    "9 ** 9 ** 9 ** 9",
    "1 << 2 ** 40",
    "'ab' * 10 ** 12",
    "10 ** 12 * [0]",
    "(0,) * 10 ** 999",
    "(y := 5)",
    "f'{x}'",
    "rows.append(1)",
    "rows.sort()",
    "table.pop('mass')",
    "sin[0]",
    "len(**table)",
    "max(*rows)",
    "{**table}",
    "b'a'",
    "1j",
    "...",
    "await x",
    "name.encode()",
    "[1 for __x in rows]",
    "[1 for rows[0] in rows]",
    "x = 5",
    "import os",
    "nothing",
    "math.nothing",
    "1 +",
    "",
    "(" * 3000,
    "x" * (LONGEST + 1),
    "x\0",
)


@pytest.mark.parametrize("text", SAME)
def test_values_are_pythons(text):
    assert evaluated(f"  {text} ", NAMES, RULES) == eval(text, dict(NAMES))


def test_dots_lead_into_tables():
    assert (
        evaluated("math.sin(math.pi / 2) + table.mass + table.more.deep[0]", NAMES, RULES) == 10.5
    )


@pytest.mark.parametrize("text", REFUSED, ids=lambda text: text[:30])
def test_everything_else_is_refused(text):
    before = repr(NAMES["rows"]), repr(NAMES["table"])
    with pytest.raises(DynarmError):
        evaluated(text, NAMES, RULES)
    assert before == (repr(NAMES["rows"]), repr(NAMES["table"]))


def test_loops_leave_no_names_behind():
    with pytest.raises(DynarmError, match="name 'i' is not defined"):
        evaluated("[i for i in rows] + [i]", NAMES, RULES)


WORDS = (
    "x",
    "rows",
    "table",
    "sin",
    "len",
    "hidden",
    "name",
    "math",
    "(",
    ")",
    "[",
    "]",
    ".",
    "__class__",
    "mro",
)
WORDS += (
    "get",
    "for",
    "in",
    "if",
    "else",
    "lambda",
    ",",
    "=",
    "{",
    "}",
    ":",
    "*",
    "**",
    "'a'",
    "1",
    "+",
    "gi_frame",
)


@given(st.lists(st.sampled_from(WORDS), max_size=12))
def test_no_words_lead_to_what_was_not_handed_in(words):
    """Whatever comes out is made of plain values or of what the names hold, and hidden was never called."""
    text = " ".join(words)
    try:
        value = evaluated(text, NAMES, RULES)
    except (DynarmError, TypeError, ValueError, LookupError, ArithmeticError):
        return
    assert isinstance(
        value, (int, float, str, list, tuple, dict, set, bool, type(None), slice)
    ) or callable(value)
    tree = ast.parse(text.strip(), mode="eval")
    called = [n for n in ast.walk(tree) if isinstance(n, ast.Call)]
    assert not any(isinstance(n.func, ast.Name) and n.func.id == "hidden" for n in called)
