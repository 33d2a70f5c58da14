"""Every equation that a paper's file lists is used under its number, and every number used is listed."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import dynarm

PAPERS = sorted((Path(dynarm.__file__).parent / "dynamics" / "papers").glob("*.py"))
FILES = [p for p in PAPERS if p.stem != "__init__"]
NUMBER = r"\(([A-Z]?\d{1,3}(?:\.\d{1,2})?[a-z]?)\)"
RANGE = r"\(([A-Z]?)(\d+)\)-\(\1(\d+)\)"


def tags(text: str) -> set[str]:
    """Equation numbers in a text; (16)-(23) stands for all between."""
    found = set(re.findall(NUMBER, text))
    for letter, low, high in re.findall(RANGE, text):
        found |= {f"{letter}{k}" for k in range(int(low), int(high) + 1)}
    return found


def listed(doc: str) -> set[str]:
    """Numbers of the equation list: the indented block of the docstring."""
    block = "\n".join(line for line in doc.splitlines() if line.startswith("    ("))
    return {m for line in block.splitlines() for m in re.findall(r"(?:^|\s{2,})" + NUMBER, line)}


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_equation_numbers(path):
    source = path.read_text()
    doc = ast.get_docstring(ast.parse(source), clean=False) or ""
    wanted = listed(doc)
    comments = "\n".join(re.findall(r"#.*$", source, flags=re.M))
    used = tags(comments)
    body = source.split('"""', 2)[2]
    inner = tags("\n".join(re.findall(r'"""(.*?)"""', body, flags=re.S)))
    assert wanted, (
        f"{path.name} lists no equations (lines that begin with four spaces and a number)"
    )
    assert wanted <= used | inner, f"listed but not used: {sorted(wanted - used - inner)}"
    assert used <= tags(doc), f"used but not listed: {sorted(used - tags(doc))}"
    assert re.search(r"\[(turney1980|lin1991|lin1995|linfang1999|tanner2001)\]", doc), (
        "cite the paper by its key"
    )
