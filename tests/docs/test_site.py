"""The site builds strictly, needs nothing from elsewhere, and its reference holds every public name."""

from __future__ import annotations

import html
import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import dynarm
from oracles.benchmark_result import benchmark_result

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "-d", str(folder)],
        cwd=ROOT,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_pages_load_nothing_from_elsewhere(site):
    pages = list(site.rglob("*.html"))
    assert len(pages) > 40
    loads = re.compile(
        r"<(?:script|link|img|iframe|source)\b[^>]*(?:src|href)=\"?(?:https?:)?//[^>]*>"
    )
    for page in pages:
        found = [
            tag for tag in loads.findall(page.read_text(encoding="utf-8")) if "canonical" not in tag
        ]
        assert not found, f"{page.name} loads {found}"
    for sheet in site.rglob("*.css"):
        text = sheet.read_text(encoding="utf-8")
        assert not re.search(r"(?:@import|url\()\s*[\"']?(?:https?:)?//", text), sheet.name


def test_reference_is_made_from_docstrings(site):
    page = (site / "reference" / "models.html").read_text(encoding="utf-8")
    assert "Mass matrix (..., n, n): kinetic energy" in page


def test_every_page_is_in_the_navigation(site):
    menu = (site / "index.html").read_text(encoding="utf-8")
    for page in DOCS.rglob("*.md"):
        address = page.relative_to(DOCS).with_suffix(".html").as_posix()
        assert f'href="{address}"' in menu, f"{address} is not in mkdocs.yml"


def test_every_public_name_is_in_the_reference():
    text = "\n".join(p.read_text(encoding="utf-8") for p in (DOCS / "reference").glob("*.md"))
    for name in dynarm.__all__:
        assert re.search(rf"heading: dynarm\.{name}$", text, re.MULTILINE), name
    for heading, path in re.findall(r"::: ([\w.]+)\n    options:\n      heading: ([\w.]+)", text):
        module, _, name = heading.rpartition(".")
        # the record of a mobile robot's run is public as mobile.Run
        assert path.split(".")[-1] in (name, name.removeprefix("Mobile"))
        assert hasattr(importlib.import_module(module), name)


def text_of(tag: str) -> str:
    return html.unescape(re.sub(r"<[^>]+>", "", tag))


def test_signatures_fit_a_page_of_1000_pixels(site):
    """Some 80 letters have room in a line of code there; longer signatures stand below each other."""
    seen = 0
    for page in (site / "reference").glob("*.html"):
        blocks = re.findall(
            r'class="[^"]*doc-signature[^"]*"[^>]*>.*?<pre[^>]*>(.*?)</pre>',
            page.read_text(encoding="utf-8"),
            re.DOTALL,
        )
        lines = [line for block in blocks for line in text_of(block).splitlines()]
        seen += len(blocks)
        assert not [line for line in lines if len(line) > 80], page.name
    assert seen > 200


def test_reference_tells_types_returns_and_examples(site):
    """As a reader of the built page finds them, not only in the docstring."""
    page = (site / "reference" / "models.html").read_text(encoding="utf-8")
    start = page.index('id="dynarm.model.model.Model.inverse_dynamics"')
    part = text_of(page[start : page.index('id="dynarm.model.model.Model.forward_dynamics"')])
    words = re.sub(r"\s+", " ", part)
    for told in (
        "Parameters:",
        "qdd",
        "array_like",
        "Returns:",
        "Joint forces (..., n)",
        "Examples:",
        ">>> model.",
    ):
        assert told in words, told


def test_navigation_is_grouped_and_decisions_stand_apart():
    import yaml

    text = re.sub(r"!!python\S*", "", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    menu = {name: part for entry in yaml.safe_load(text)["nav"] for name, part in entry.items()}
    assert list(menu) == ["Start", "Guides", "Reference", "Papers", "Inside"]
    pages = {name: re.findall(r"[\w/-]+\.md", str(part)) for name, part in menu.items()}
    assert all(len(group) > 4 for group in pages.values())
    homes = {page: name for name, group in pages.items() for page in group}
    assert {homes[p] for p in homes if p.startswith("decisions/")} == {"Inside"}
    assert {homes[p] for p in homes if p.startswith("howto/")} == {"Guides"}


# ---- pictures


def script(name):
    """A script of docs/ as a module."""
    spec = importlib.util.spec_from_file_location(f"docs_{name}", DOCS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_pictures_are_small_and_used():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    text += "".join(p.read_text(encoding="utf-8") for p in DOCS.rglob("*.md"))
    pictures = list((DOCS / "pictures").iterdir())
    assert len(pictures) >= 3
    for picture in pictures:
        assert picture.stat().st_size < 200_000, picture.name
        assert f"pictures/{picture.name}" in text, f"{picture.name} is shown nowhere"


def test_picture_of_counts_shows_what_is_counted():
    """Otherwise: python docs/pictures.py counts."""
    assert (DOCS / "pictures" / "counts.svg").read_text(encoding="utf-8") == script(
        "pictures"
    ).counts()


def test_picture_of_hysteresis_shows_what_friction_is():
    """Otherwise: python docs/pictures.py hysteresis."""
    stored = (DOCS / "pictures" / "hysteresis.svg").read_text(encoding="utf-8")
    assert stored == script("pictures").hysteresis()


# ---- the page of benchmarks


def test_benchmarks_without_results_names_the_command(tmp_path):
    page = script("benchmarks")
    made = page.figures(tmp_path)
    assert "python -m benchmarks" in made and not re.search(r"\d+ ns", made)
    assert not page.pictures(tmp_path)


def test_benchmarks_quote_the_stored_figures(tmp_path):
    (tmp_path / "panda.json").write_text(json.dumps(benchmark_result()))
    made = script("benchmarks").figures(tmp_path)
    for quoted in (
        "some processor, 8 lanes a vector, 2026-11-16; numpy 2.0",
        "| mass matrix, batch of 4096 | at least 40 x pin.crba | 40.0 | met |",
        "![Left: how many times",
        "(pictures/benchmarks_panda.svg)",
        "| mass_matrix | 11 | 12 | 25.0 | 60% | 80% | 40.0 × pin.crba |",
        "| mass_matrix | `pin.crba` | 1000 | 40.0 |",
        "| mass_matrix | 900 | 800 | `pin.crba` | 1000 | 1.11 | 1.25 |",
        "| mass_matrix | 30.0 (33.0 ×) |",
        "| mass_matrix | 0.250 | 0.5 | 0.013 | 0.05 |",
        "| 30 | bias | 21 | 22 | 1.50 | 300 | 10.0 | 0.50 | |",
        "| exported C, gcc -O2 [ns a sample] | 88.25 |",
    ):
        assert quoted.replace("| |", "|  |") in made, quoted


def test_site_holds_the_pictures_of_benchmarks(tmp_path):
    (tmp_path / "panda.json").write_text(json.dumps(benchmark_result()))
    ((address, text),) = script("benchmarks").pictures(tmp_path).items()
    assert address == "pictures/benchmarks_panda.svg" and text.startswith("<svg")


def test_properties_computed_once_are_shown_as_properties(site):
    page = (site / "reference" / "models.html").read_text(encoding="utf-8")
    (name,) = re.findall(r'<h\d id="dynarm\.[\w.]*Model\.minimal"(.*?)</h\d>', page, re.DOTALL)
    assert "cached" in name and "property" in name
