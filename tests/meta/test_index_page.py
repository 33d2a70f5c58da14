"""What a package index shows of the project: pictures and links with whole addresses, or none."""

from __future__ import annotations

import importlib.util
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
HOME = "https://host.example/owner/dynarm"


@pytest.fixture(scope="module")
def build():
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def pictures(text):
    return re.findall(r'<img src="([^"]+)"', text)


def test_pictures_and_links_of_the_readme_exist():
    links = re.findall(r"\]\((?!https?:)([^)#]+)", README)
    assert pictures(README) and links
    for path in [*pictures(README), *links]:
        assert (ROOT / path).exists(), path


def test_a_release_shows_whole_addresses(build):
    page = build.readme(README, HOME)
    assert pictures(page) == [f"{HOME}/raw/main/{path}" for path in pictures(README)]
    assert not re.search(r"\]\((?!https://)", page)
    assert f"[CONTRIBUTING.md]({HOME}/blob/main/CONTRIBUTING.md)" in page


def test_without_an_address_none_is_invented(build):
    page = build.readme(README, "")
    assert not pictures(page) and not re.search(r"\]\([^)]", page)
    assert "*Multiplications and additions of the PUMA 560's mass matrix by formulation*" in page
    assert build.urls("") == {} and build.urls(HOME)["Homepage"] == HOME


def test_extras_in_messages_and_pages_are_declared():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    sources = [*(ROOT / "src").rglob("*.py"), *(ROOT / "docs").rglob("*.md"), ROOT / "README.md"]
    named = {
        name
        for path in sources
        for name in re.findall(r"dynarm\[([a-z,]+)\]", path.read_text(encoding="utf-8"))
    }
    assert {part for name in named for part in name.split(",")} <= set(extras)
