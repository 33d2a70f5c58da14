"""The tool that plants faults plants faults: each changes one place and is still Python."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import mutation

SOURCE = '''"""Words 1 + 1 of a docstring stay."""
def f(x: int = 2, limit: "a < b" = 0.5) -> int:
    """As here: 1 < 2."""
    if x < limit and not x == 3:
        return -x + 4
    raise ValueError("never 1 + 1")
'''


def planted(tmp_path, monkeypatch):
    monkeypatch.setattr(mutation, "ROOT", tmp_path)
    (tmp_path / "a.py").write_text(SOURCE)
    return list(mutation.faults(tmp_path / "a.py"))


def test_every_fault_is_python_and_changes_one_place(tmp_path, monkeypatch):
    made = planted(tmp_path, monkeypatch)
    assert len({fault.text for fault in made}) == len(made)
    for fault in made:
        assert ast.dump(ast.parse(fault.text)) != ast.dump(ast.parse(SOURCE))
        start = SOURCE.index(fault.before)
        assert SOURCE[:start] == fault.text[:start]


def test_faults_are_of_each_kind_and_leave_words_alone(tmp_path, monkeypatch):
    made = {fault.after for fault in planted(tmp_path, monkeypatch)}
    assert {"(x <= limit)", "(x != 3)", "(-x - 4)", "(x)", "(5)", "(3)", "(0.75)", "(4)"} <= made
    assert any(" or " in after for after in made)
    assert not any("1" in after for after in made)
