"""`Any` only under a name that says what is meant: an alias, in one of two files."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import dynarm

ROOT = Path(dynarm.__file__).parent
HOMES = {
    # what comes from outside or from other libraries, and what goes out
    "border/kinds.py": {"Outside", "Foreign", "Maker", "Json", "Cell", "Kept"},
    "algebra/vectors.py": {"Scalar", "Nested"},  # floats, batches and symbols alike
}


def lines(tree: ast.AST) -> set[int]:
    """Where a file says Any: by its name, as an attribute of typing, or in an annotation that is a text."""
    said = set()
    for node in ast.walk(tree):
        name = getattr(node, "id", None) or getattr(node, "attr", None)
        text = node.value if isinstance(node, ast.Constant) else None
        imported = [a.name for a in node.names] if isinstance(node, ast.ImportFrom) else []
        if "Any" in (name, text, *imported):
            said.add(node.lineno)
    return said


@pytest.mark.parametrize("path", sorted(p.relative_to(ROOT).as_posix() for p in ROOT.rglob("*.py")))
def test_any_has_names_and_these_have_homes(path):
    said = lines(ast.parse((ROOT / path).read_text("utf-8")))
    assert not said or path in HOMES, sorted(said)


@pytest.mark.parametrize("path", sorted(HOMES))
def test_homes_hold_the_names_and_nothing_else_is_any(path):
    tree = ast.parse((ROOT / path).read_text("utf-8"))
    named = {n.target.id: n for n in tree.body if isinstance(n, ast.AnnAssign) and lines(n)}
    assert named.keys() == HOMES[path]
    elsewhere = lines(tree) - {line for node in named.values() for line in lines(node)}
    rest = [n for n in tree.body if elsewhere & lines(n)]
    # the import, and the protocol of what NumPy makes arrays of, whose signature is NumPy's
    assert {getattr(n, "name", "import") for n in rest} <= {"import", "HasArray"}
