"""Every example runs, prints something, is short, and writes only where it is."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "examples"
EXAMPLES = sorted(FOLDER.glob("*.py"))
LONGEST = 60  # lines


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_example_runs(path, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    before = set(FOLDER.rglob("*"))
    runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out.strip()
    assert {p for p in FOLDER.rglob("*") if "__pycache__" not in p.parts} <= before


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_example_is_short_and_says_what_it_is(path):
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) < LONGEST
    assert text.startswith('"""') and text.split('"""')[1].strip().endswith(".")


def test_examples_are_numbered_without_gaps():
    numbers = [int(re.match(r"(\d\d)_[a-z_]+$", path.stem)[1]) for path in EXAMPLES]
    assert numbers == list(range(1, len(EXAMPLES) + 1))
