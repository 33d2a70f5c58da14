"""Pages of the repository as text: headings, links, names of files, the glossary, the tutorial's recordings."""

from __future__ import annotations

import importlib.util
import itertools
import re
from pathlib import Path

import numpy as np
import pytest

import dynarm
from dynarm.identify.declared_terms import declared_columns
from dynarm.identify.logs.declaration import DriveTerms
from dynarm.identify.regressor import Terms
from dynarm.report.meaning import meaning

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(
    [*ROOT.glob("*.md"), *DOCS.rglob("*.md")], key=lambda p: p.relative_to(ROOT).as_posix()
)
NAMED = [p.relative_to(ROOT).as_posix() for p in PAGES]
BLOCK = re.compile(r"^ *```.*?^ *```$", re.M | re.S)
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)|(?:src|href)=\"([^\"]+)\"")
ELSEWHERE = ("http://", "https://", "mailto:")


def words(page: Path) -> str:
    """A page without its code blocks."""
    return BLOCK.sub("", page.read_text(encoding="utf-8"))


def anchors(page: Path) -> set[str]:
    """What the headings of a page are called in addresses, as Python-Markdown's table of contents does it."""
    from markdown.extensions.toc import slugify

    titles = re.findall(r"^#+ +(.*)$", words(page), re.M)
    plain = [re.sub(r"[`*]|\[([^\]]*)\]\([^)]*\)", r"\1", title) for title in titles]
    return {slugify(title, "-") for title in plain}


@pytest.mark.parametrize("page", PAGES, ids=NAMED)
def test_links_lead_somewhere(page):
    for link in (one or other for one, other in LINK.findall(words(page))):
        if link.startswith(ELSEWHERE):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{page.name}: {link}"
        assert not target.is_relative_to(ROOT / "site"), f"{page.name}: {link}"
        if anchor and target.suffix == ".md":
            assert anchor in anchors(target), (
                f"{page.name}: {link}; headings {sorted(anchors(target))}"
            )


@pytest.mark.parametrize("page", PAGES, ids=NAMED)
def test_headings_begin_with_one_title_and_skip_no_level(page):
    levels = [len(marks) for marks in re.findall(r"^(#+) +\S", words(page), re.M)]
    assert levels and levels[0] == 1 and levels.count(1) == 1
    steps = [b - a for a, b in itertools.pairwise(levels)]
    assert all(step <= 1 for step in steps)


@pytest.mark.parametrize("page", PAGES, ids=NAMED)
def test_pages_have_sections(page):
    """Guides and tutorials always; others where there is more than a screen of words."""
    prose = re.sub(r"^\|.*$", "", words(page), flags=re.M)
    always = page.parent.name in ("howto", "tutorials", "coming-from") and page.stem != "index"
    if always or len(prose.split()) > 500:
        assert len(re.findall(r"^## ", prose, re.M)) >= 2, page.name


def test_files_that_pages_name_are_there():
    """Paths of this repository in code; and no name of a file that only its makers have."""
    path = re.compile(r"`((?:src|docs|tests|benchmarks|examples|notebooks)/[\w./-]+\.\w+)`")
    for page in PAGES:
        for name in path.findall(words(page)):
            assert (ROOT / name).exists(), f"{page.name}: {name}"
        assert not re.search(r"\b(CONTRACT|ERRATA|PEERS|STYLE|DESIGN)(\.md)?\b", words(page)), (
            page.name
        )


def test_guides_and_tutorials_show_something():
    """A picture where one helps: on every tutorial, and on most guides."""
    shown = {p: "pictures/" in p.read_text(encoding="utf-8") for p in PAGES}
    assert all(shown[p] for p in PAGES if p.parent.name in ("tutorials",))
    assert all(shown[p] for p in PAGES if p.parent.name == "papers" and p.stem != "index")
    guides = [p for p in PAGES if p.parent.name == "howto"]
    assert sum(shown[p] for p in guides) >= 0.6 * len(guides)
    for page in PAGES:
        for alt in re.findall(r"!\[([^\]]*)\]", words(page)):
            assert len(alt.split()) >= 3, (
                f"{page.name}: say in words what the picture '{alt}' shows"
            )


# ---- the glossary


def shape(name: str) -> str:
    """A name without the numbers of its joints: U2_11-22 -> U#_11-22, kappa1_4 -> kappa1_#, curve3.1 -> curve#.#"""
    if "(" in name:  # joints by name
        return re.sub(r"\(.*\)", "(#)", name)
    if name.startswith("kappa"):
        return re.sub(r"_\d+$", "_#", name)
    return re.sub(r"(?<=[A-Za-z])\d+(?:\.\d+)?", lambda m: "#.#" if "." in m[0] else "#", name)


def explained() -> set[str]:
    text = (DOCS / "glossary.md").read_text(encoding="utf-8")
    cells = re.findall(r"^\| (`.*?) \|", text, re.M)
    natural = text[text.index("## Natural parameters") :]
    return {shape(name) for cell in [*cells, natural] for name in re.findall(r"`([^` ]+)`", cell)}


def sliding() -> dynarm.Arm:
    """Two translational joints, a turning one, another translational one: masses and kappa."""
    joints = dynarm.load("puma560").joints
    kinds = [("prismatic", 0), ("prismatic", 1), ("revolute", 2), ("prismatic", 3), ("revolute", 4)]
    from dataclasses import replace

    return dynarm.Arm([replace(joints[k], kind=kind) for kind, k in kinds])


@pytest.mark.parametrize("convention", ["lin1995", "linfang1999", "gautier1990"])
def test_glossary_explains_every_name_of_minimal_parameters(convention):
    told = explained()
    arms = [dynarm.load(robot) for robot in ("puma560", "stanford", "scara", "panda", "go2", "g1")]
    for arm in (*arms, sliding()):
        for armature in (False, True):
            minimal = dynarm.minimal_parameters(arm, convention, armature)
            missing = {
                name for name in minimal.names if shape(name) not in told or not meaning(name)
            }
            assert not missing, missing
    assert {shape(name) for name in minimal.natural} <= told | {"Ia#"}


def test_glossary_explains_every_name_of_friction():
    rich = dynarm.Friction(
        curve=((0.1, 1.0),), presliding=((0.01, 1.0),), load_curve=((0.1, 0.1),), load_presliding=((0.01, 0.1),),
        ripple=((2.0, 0.1, 0.1),), coupling=(dynarm.Coupled(1, 0.1, 0.1, 0.1),),
    )  # fmt: skip
    arm = dynarm.load("two_link")
    names: set[str] = set()
    for friction, two_sided in (
        ((rich, dynarm.Friction()), False),
        (("viscous", "coulomb", "offset"), True),
    ):
        search = dynarm.Identifier(arm, friction=friction, asymmetric=two_sided)
        terms = search.terms((0.1, 0.1))
        assert isinstance(terms, Terms)
        names |= set(terms.names)
    drives = DriveTerms(coupling=((1, 2),), springs=(2,))
    log = dynarm.Log([0, 1, 2], np.zeros((3, 2)), np.zeros((3, 2)), drives=drives)
    names |= {column.name for column in declared_columns(arm, [log])}
    missing = {name for name in names if shape(name) not in explained() or not meaning(name)}
    assert not missing, missing
    assert len(names) > 20


def test_a_name_that_is_not_in_the_glossary_is_noticed():
    assert shape("U2_11-22") in explained() and shape("Q2_11") not in explained()


# ---- what the tutorial ships


def script(name: str):
    spec = importlib.util.spec_from_file_location(f"docs_{name}", DOCS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_recordings_are_what_their_script_makes():
    """Otherwise: python docs/recordings.py. The last digit may differ between processors."""
    made = script("recordings")
    for name, (seed, seconds) in made.RUNS.items():
        stored = (made.FOLDER / f"{name}.csv").read_text(encoding="utf-8")
        assert len(stored) < 100_000
        fresh = made.recording(seed, seconds)
        assert stored.splitlines()[0] == fresh.splitlines()[0]
        rows = [
            np.loadtxt(text.splitlines(), delimiter=",", skiprows=1) for text in (stored, fresh)
        ]
        np.testing.assert_allclose(rows[0], rows[1], atol=0.0101)


def test_the_tutorial_tells_the_truth_about_its_recordings():
    made = script("recordings")
    page = (DOCS / "tutorials" / "recording.md").read_text(encoding="utf-8")
    told = re.sub(r"\s+", " ", page)
    assert f"{made.SHARES.min():.2f} to {made.SHARES.max():.2f} times" in told
    assert f"a tool of {made.TOOL[0]:g} kg" in told and "encoders have 17 bits" in told
    assert f"noise of {made.NOISE.min():g} to {made.NOISE.max():g} N m" in told
    assert f"one sample in {made.LOST}" in told
    assert ", ".join(f"{x:g}" for x in made.NOISE[:5]) in told
    truth = {f"viscous{j + 1}": made.VISCOUS[j] for j in range(6)}
    truth |= {f"coulomb{j + 1}": made.COULOMB[j] for j in range(6)}
    truth |= {f"Ia{j + 1}": made.ARMATURE[j] for j in range(6)}
    for name, value in re.findall(r'"(\w+\d)": ([\d.]+)', page):
        assert truth[name] == float(value), name
    channels = (made.FOLDER / "cell.toml").read_text(encoding="utf-8")
    assert channels in page
