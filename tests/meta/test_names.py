"""Names in the source: one name is one class, a variable says what it holds; comments stand at what they tell of."""

from __future__ import annotations

import ast
import re
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


def test_no_comment_hangs_behind_a_bracket():
    """Where a formatter folds a line, its comment is left behind the closing bracket; it belongs above the line."""
    may = r"fmt: skip|noqa|type: ignore|(\([\w.]+\)(, )?)+$"  # the last: tags of equations
    hanging = re.compile(rf"^ *[])}}]+:?,? +# (?!{may})", re.MULTILINE)
    assert hanging.search("x = (\n    1\n)  # one")
    for path in TREES:
        assert not hanging.search((ROOT / path).read_text("utf-8")), path


def test_files_of_tests_have_names_of_their_own():
    """pytest imports them by their names alone: of two that are the same, it refuses to collect one."""
    names = [path.name for path in Path(__file__).parents[1].rglob("test_*.py")]
    assert len(names) > 300
    assert len(set(names)) == len(names)
