"""Functions of at most 50 lines, modules of at most 400: what is longer wants to be two.

Of a function count its lines from `def` to its end, signature and comments included, the docstring not.
"""

from __future__ import annotations

import ast
from pathlib import Path

import dynarm

ROOT = Path(dynarm.__file__).parent
TEXTS = {p.relative_to(ROOT).as_posix(): p.read_text("utf-8") for p in ROOT.rglob("*.py")}
LINES_OF_A_FUNCTION = 50
LINES_OF_A_MODULE = 400


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


def test_modules_are_short():
    lengths = {path: len(text.splitlines()) for path, text in TEXTS.items()}
    assert not {path: n for path, n in lengths.items() if n > LINES_OF_A_MODULE}
