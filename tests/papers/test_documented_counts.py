"""The measured tables in docs/papers are what is counted now.

Run as a program, this file writes them into the pages: PYTHONPATH=tests python tests/papers/test_documented_counts.py
"""

from __future__ import annotations

import pytest

from oracles.measured import lin1991, lin1995, linfang1999, turney1980
from oracles.paper_counts import Page

PAGES = [
    Page(module.__name__.rpartition(".")[2], module.BLOCKS)
    for module in (turney1980, lin1991, lin1995, linfang1999)
]
CASES = [(page, name) for page in PAGES for name in page.blocks]


@pytest.mark.parametrize(("page", "name"), CASES, ids=[f"{p.paper}-{name}" for p, name in CASES])
def test_documented_tables_are_the_measured_ones(page, name):
    """If this fails, run this file as a program, and see whether the text around the table still holds."""
    assert page.stated(name) == [page.blocks[name]()]


if __name__ == "__main__":
    for page in PAGES:
        page.write()
