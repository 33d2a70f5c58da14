"""Every notebook's cells run from top to bottom, without a kernel, and print what is stored with them."""

from __future__ import annotations

import contextlib
import io
import json
from pathlib import Path
from typing import Any

import pytest
from code_blocks import same

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))


def cells(path: Path) -> list[dict[str, Any]]:
    return json.loads(path.read_text(encoding="utf-8"))["cells"]


def stored(cell: dict[str, Any]) -> str:
    """The text that the cell printed when it was saved."""
    return "".join("".join(o["text"]) for o in cell["outputs"] if o["output_type"] == "stream")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_notebook_runs_and_prints_what_is_stored(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "__main__"}
    for k, cell in enumerate(c for c in cells(path) if c["cell_type"] == "code"):
        source = "".join(cell["source"])
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(source, f"{path.name}, code cell {k + 1}", "exec"), names)
        shown = stored(cell)
        assert same(shown, out.getvalue()), f"{path.name}, code cell {k + 1}:\n{out.getvalue()}"


def test_there_are_two_notebooks_in_a_form_that_jupyter_opens():
    assert len(NOTEBOOKS) == 2
    for path in NOTEBOOKS:
        notebook = json.loads(path.read_text(encoding="utf-8"))
        assert notebook["nbformat"] == 4
        assert len({c["id"] for c in notebook["cells"]}) == len(notebook["cells"])
        assert path.stat().st_size < 100_000
