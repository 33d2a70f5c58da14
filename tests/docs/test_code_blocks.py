"""Every code block of README.md and of docs/ runs, in a clean folder, and prints what the page shows."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from code_blocks import Mismatch, blocks_of, commands_of, refresh, run_command, run_page, same

import dynarm

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
EXECUTED = ("python", "console", "output")


def with_code(page: Path) -> bool:
    blocks = blocks_of(page.read_text(encoding="utf-8"))
    return any(block.kind in EXECUTED and block.skipped is None for block in blocks)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty current folder; the number of threads is what it was, afterwards."""
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    dynarm.set_threads(1)


@pytest.mark.parametrize(
    "page", [p for p in PAGES if with_code(p)], ids=lambda p: p.relative_to(ROOT).as_posix()
)
def test_page_runs_and_prints_what_it_shows(page, folder):
    for block in blocks_of(page.read_text(encoding="utf-8")):
        if block.kind == "console" and block.skipped is None:
            for command, _ in commands_of(block):
                if command.split()[0] == "cc" and shutil.which("cc") is None:
                    pytest.skip("there is no C compiler")
    assert run_page(page, folder) > 0


def test_nearly_every_block_is_executed():
    """Blocks left out are few, and each says why."""
    blocks = [b for p in PAGES for b in blocks_of(p.read_text(encoding="utf-8"))]
    left_out = [b for b in blocks if b.kind in EXECUTED and b.skipped is not None]
    assert all(b.skipped for b in left_out)
    assert len(left_out) <= 0.08 * len([b for b in blocks if b.kind in EXECUTED])


def test_readme_has_the_two_commands():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for command in (
        "python3 -m venv .venv && .venv/bin/pip install . && .venv/bin/dynarm demo",
        "python3 -m venv .venv && .venv/bin/pip install '.[test]' && .venv/bin/pytest",
    ):
        assert command in text.replace("$ ", "").splitlines()


# ---- the runner itself


@pytest.mark.parametrize(
    ("shown", "printed", "agree"),
    [
        ("tau = 1.234", "tau = 1.235", True),
        ("tau = 1.234", "tau = 1.236", False),
        ("3 joints", "4 joints", False),
        ("1.2e-3 s", "1.3e-3  s\n", True),
        ("1.2e-3", "1.4e-3", False),
        ("took ... s\nend", "took 0.12 s\nend", True),
        ("first\n...\nlast", "first\na\nb\nlast", True),
        ("first\n...\nlast", "first\nlast", True),
        ("first\n...\nlast", "first\na\nb", False),
        ("[1.0, -0.5]", "[1.0, 0.5]", False),
        ("", "something", False),
        ("names k3_x (a*b)?", "names k3_x (a*b)?", True),
    ],
)
def test_outputs_are_compared_number_by_number(shown, printed, agree):
    assert same(shown, printed) is agree


def page_of(folder: Path, text: str) -> Path:
    page = folder / "page.md"
    page.write_text(text, encoding="utf-8")
    return page


def test_page_with_files_namespace_and_shell(folder):
    text = """
```toml title="x.toml"
a = 1
```
```python
import tomllib
a = tomllib.load(open("x.toml", "rb"))["a"]
```
```python
print(a + 1)
```
```output
2
```
```console
$ echo one \\
       two
one two
$ ls
page.md
x.toml
```
<!-- not executed: it would never end -->
```python
while True:
    pass
```
"""
    assert run_page(page_of(folder, text), folder) == 3


@pytest.mark.parametrize(
    "text",
    [
        "```python\nprint(1)\n```\n```output\n2\n```",
        "```python\nprint(1)\n```",
        "```python\nx = 1\n```\n```output\n1\n```",
        "```console\n$ echo a\nb\n```",
        "```console\n$ false\n```",
        "```console\necho a\n```",
        "```output\n1\n```",
        "```python\n1\n",
        "<!-- not executed: -->\n```python\n1/0\n```",
    ],
)
def test_a_page_that_is_wrong_fails(folder, text):
    with pytest.raises(AssertionError):
        run_page(page_of(folder, text), folder)


def test_a_reason_counts_for_the_next_block_only(folder):
    text = "<!-- not executed: so -->\n```python\n1/0\n```\n```python\n1/0\n```"
    with pytest.raises(ZeroDivisionError):
        run_page(page_of(folder, text), folder)


def test_commands_see_the_installed_program(folder):
    assert run_command("python -c 'import sys; print(sys.prefix)'", folder).strip()
    block = blocks_of("```console\n$ a\nb\nc\n$ d\n```")[0]
    assert commands_of(block) == [("a", "b\nc\n"), ("d", "")]
    with pytest.raises(Mismatch):
        run_command("exit 3", folder)


def test_a_page_can_be_refreshed(folder):
    text = "```python\nprint(1)\nprint(2)\n```\n```output\n```\nend\n```console\n$ echo a\nb\n$ echo c\n```\n"
    page = page_of(folder, text)
    assert refresh(page) == 2
    assert page.read_text() == text.replace("output\n", "output\n1\n2\n").replace("a\nb", "a\na")
    assert refresh(page) == 0
    run_page(page, folder)
