"""Every notebook's cells run from top to bottom, without a kernel, and print what is stored with them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from code_blocks import refresh, run_cells, same, shown_by

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_notebook_runs_and_prints_what_is_stored(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    notebook = json.loads(path.read_text(encoding="utf-8"))
    for k, (cell, printed) in enumerate(run_cells(notebook, path.name)):
        assert same(shown_by(cell), printed), f"{path.name}, code cell {k + 1} prints\n{printed}"


def test_there_are_two_notebooks_in_a_form_that_jupyter_opens():
    assert len(NOTEBOOKS) == 2
    for path in NOTEBOOKS:
        notebook = json.loads(path.read_text(encoding="utf-8"))
        assert notebook["nbformat"] == 4
        assert len({c["id"] for c in notebook["cells"]}) == len(notebook["cells"])
        assert path.stat().st_size < 100_000


def test_a_notebook_can_be_refreshed(tmp_path):
    cell = {"cell_type": "code", "source": ["x = 2\n", "print(x)"], "outputs": []}
    path = tmp_path / "two.ipynb"
    path.write_text(json.dumps({"cells": [cell, {"cell_type": "markdown", "source": ["text"]}]}))
    assert refresh(path) == 1
    assert shown_by(json.loads(path.read_text())["cells"][0]) == "2\n"
    assert refresh(path) == 0
