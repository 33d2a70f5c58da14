"""Every page of docs/papers says by which public names its paper runs; the names are there."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import pytest

import dynarm

PAGES = sorted(
    p for p in (Path(__file__).parents[2] / "docs" / "papers").glob("*.md") if p.stem != "index"
)


def names(page: Path) -> list[str]:
    """What stands in code in the second column of the table under "What runs here"."""
    text = page.read_text(encoding="utf-8")
    (table,) = re.findall(r"^## What runs here\n\n((?:\|.*\n)+)", text, re.M)
    rows = [line.split("|") for line in table.splitlines()[2:]]
    assert rows and all(len(row) == 4 for row in rows)
    return [name for row in rows for name in re.findall("`([^`]+)`", row[2])]


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_what_runs_here_is_public(page):
    for name in names(page):
        if ": " in name:
            quantity, way = name.split(": ")
            assert way in dynarm.formulations(quantity), name
            continue
        head, *parts = name.split(".")
        assert head == "dynarm", name
        thing = dynarm
        for part in parts:
            assert not part.startswith("_")
            thing = getattr(thing, part)


def test_every_page_that_says_so_has_its_table_and_no_formulation_of_a_paper_is_missing():
    told = {page.stem: set(names(page)) for page in PAGES}
    from dynarm.dynamics.table import TABLE

    for row in TABLE:
        if row.paper in told:
            listed = any(name.endswith(f": {row.name}") for name in told[row.paper])
            assert listed, f"{row.paper}: {row.quantity} by {row.name}"


ROOT = Path(__file__).parents[2]
FOLDERS = [ROOT, ROOT / "src" / "dynarm", ROOT / "tests", ROOT / "tests" / "papers"]
ROOMS = ("algebra", "dynamics", "parameters", "plan", "reproductions")


def code_of(page: Path) -> set[str]:
    """What stands in code in the page's own words, outside of blocks."""
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.S)
    return set(re.findall(r"`([^`\n]+)`", text))


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_files_tests_and_modules_that_a_page_names_are_there(page):
    tests = "\n".join(p.read_text(encoding="utf-8") for p in (ROOT / "tests").rglob("test_*.py"))
    for name in code_of(page):
        if re.fullmatch(r"[\w/]+/\w+\.(py|toml|md)", name):
            assert any((folder / name).exists() for folder in FOLDERS), name
        elif re.fullmatch(r"test_\w+(\.\.\.)?", name):
            assert f"def {name.rstrip('.')}" in tests, name
        elif re.fullmatch(r"(robot\.frames|" + "|".join(ROOMS) + r")(\.\w+)+", name):
            thing, parts = dynarm, name.split(".")
            for k, part in enumerate(parts):
                try:
                    thing = getattr(thing, part)
                except AttributeError:
                    thing = import_module(".".join(["dynarm", *parts[: k + 1]]))
