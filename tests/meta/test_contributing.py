"""The table of CONTRIBUTING.md: twelve changes, at most three files each, and every file that it names is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import dynarm

SOURCE = Path(dynarm.__file__).parent
TESTS = Path(__file__).parents[1]
PAGE = (TESTS.parent / "CONTRIBUTING.md").read_text(encoding="utf-8")
CHANGES = [
    "friction term",
    "estimator",
    "log format",
    "quantity",
    "operation of the graph",
    "tuning of a host",
    "kind of wheel",
    "plot",
    "formulation",
    "robot format",
    "target of code",
    "command",
]
FILE = re.compile(r"`([\w<>/]+\.(?:py|md|toml))`")


def rows() -> dict[str, list[str]]:
    """The other cells of each row of the table, by the first."""
    table = PAGE[PAGE.index("| a new ... |") :].split("\n\n")[0].splitlines()[2:]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in table]
    return {first: rest for first, *rest in cells}


def test_twelve_changes_are_told():
    assert list(rows()) == CHANGES


@pytest.mark.parametrize("change", CHANGES)
def test_files_of_a_change_are_there_and_few(change):
    rooms, files, shown = rows()[change]
    for room in re.findall(r"`(.+?)/`", rooms):
        assert (SOURCE / room).is_dir(), room
    # a way that is told instead of another one ("or") is no further file
    alternatives = len(re.findall(r"` or `", files))
    named = FILE.findall(files)
    assert 1 <= len(named) - alternatives <= 3
    for name in named:
        place = SOURCE / name
        assert place.parent.is_dir() if "<" in name else place.is_file(), name
    tests = FILE.findall(shown)
    assert tests
    for name in tests:
        assert (TESTS / name).is_file(), name


def test_other_files_that_the_page_names_are_there():
    after = PAGE[PAGE.index("What comes from outside, whichever") :]
    names = FILE.findall(after)
    room = {True: Path(__file__).parents[2], False: SOURCE}
    missing = [name for name in names if not (room[name.startswith("tests/")] / name).is_file()]
    assert len(names) >= 5 and not missing
