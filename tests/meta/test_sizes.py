"""Functions of at most 50 lines, modules of at most 400: what is longer wants to be two.

Of a function count its lines from `def` to its end, signature and comments included, the docstring not. Of a module
all lines count but the sections of docstrings that the reference is made of: parameters, returns, examples.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

import dynarm

ROOT = Path(dynarm.__file__).parent
TEXTS = {p.relative_to(ROOT).as_posix(): p.read_text("utf-8") for p in ROOT.rglob("*.py")}
LINES_OF_A_FUNCTION = 50
LINES_OF_A_MODULE = 400
SECTIONS = re.compile(r"^ *(Parameters|Attributes|Returns|Examples)\n *-{6,}\n", re.M)


def length(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    told = function.body[0]
    said = isinstance(told, ast.Expr) and isinstance(told.value, ast.Constant)
    docstring = told.end_lineno - told.lineno + 1 if said else 0
    return function.end_lineno - function.lineno + 1 - docstring


def test_functions_are_short():
    functions = [
        (path, node.name, length(node))
        for path, text in TEXTS.items()
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    assert len(functions) > 2000
    assert not [row for row in functions if row[2] > LINES_OF_A_FUNCTION]


def lines_of_sections(text: str) -> int:
    """Lines that a module's docstrings would be shorter without their sections, which stand last."""
    nodes = [n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.ClassDef | ast.FunctionDef)]
    saved = 0
    for told in (ast.get_docstring(node, clean=False) or "" for node in nodes):
        if first := SECTIONS.search(told):
            kept = told[: first.start()].strip()
            saved += told.count("\n") - kept.count("\n") - ("\n" in kept)
    return saved


def test_modules_are_short():
    lengths = {
        path: len(text.splitlines()) - lines_of_sections(text) for path, text in TEXTS.items()
    }
    assert not {path: n for path, n in lengths.items() if n > LINES_OF_A_MODULE}


def test_only_sections_of_docstrings_do_not_count():
    sections = "\n\n    Parameters\n    ----------\n    q : float\n        Angle.\n    "
    for words, saved in (("Told.", 6), ("Told.\n\n    More.", 5)):
        assert lines_of_sections(f'def f(q):\n    """{words}{sections}"""\n') == saved
        assert lines_of_sections(f'def f(q):\n    x = """{words}{sections}"""\n') == 0
