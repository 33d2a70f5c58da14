"""Names in the source: one name is one class, and a variable says what it holds."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

import dynarm

ROOT = Path(dynarm.__file__).parent
TREES = {
    p.relative_to(ROOT).as_posix(): ast.parse(p.read_text("utf-8")) for p in ROOT.rglob("*.py")
}
SILENT = {"found"}  # names that say nothing of what they hold


def test_one_name_is_one_class():
    homes = defaultdict(list)
    for path, tree in TREES.items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef):
                homes[node.name].append(path)
    assert len(homes) > 200
    assert not {name: paths for name, paths in homes.items() if len(paths) > 1}


def test_variables_say_what_they_hold():
    for path, tree in TREES.items():
        stored = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}
        assert not stored & SILENT, path
