"""The code blocks of Markdown pages, executed as a reader would, in a folder of their own.

What a block is, by the words after its three backticks:

    python                  executed; all python blocks of a page share one namespace, in the order of the page
    output                  what the python block just before it prints; a block that prints must show it
    console                 lines that begin with "$ " are run by the shell, what follows each is its output
    any title="name"        the block is the content of that file, written where the blocks after it run

Text is compared after folding white space. "..." stands for anything. Numbers with a decimal point may differ by one
unit of the last digit shown, whole numbers not at all. A block after the comment `<!-- not executed: reason -->` is
left out; the reason must be given.

`python tests/docs/code_blocks.py PAGE ...` writes what pages (and notebooks) print into them, where they show something
else.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FENCE = re.compile(r"^(?P<indent> *)(?P<ticks>`{3,})(?P<kind>[\w+-]*)(?P<rest>[^`\n]*)$")
SKIP = re.compile(r"^\s*<!-- not executed:(?P<reason>.*)-->\s*$")
TITLE = re.compile(r'title="([^"]+)"')
NUMBER = re.compile(r"\d+(?:\.\d*)?(?:[eE][-+]?\d+)?")


@dataclass(frozen=True)
class Block:
    """One fenced block: where its text begins (line, from 1), its kind, and what is said about it."""

    line: int
    kind: str
    text: str
    title: str | None = None
    skipped: str | None = None


class Mismatch(AssertionError):
    """A page that does not show what happens."""


def blocks_of(text: str) -> list[Block]:
    """Every fenced block of a page, in order."""
    lines = text.splitlines()
    found: list[Block] = []
    at, reason = 0, None
    while at < len(lines):
        opening = FENCE.match(lines[at])
        if opening is None:
            if skip := SKIP.match(lines[at]):
                reason = skip["reason"].strip()
            elif lines[at].strip():
                reason = None
            at += 1
            continue
        closing = opening["indent"] + opening["ticks"]
        end = next((k for k in range(at + 1, len(lines)) if lines[k].rstrip() == closing), None)
        if end is None:
            raise Mismatch(f"line {at + 1}: the block has no end")
        inside = [line.removeprefix(opening["indent"]) for line in lines[at + 1 : end]]
        title = TITLE.search(opening["rest"])
        found.append(Block(at + 2, opening["kind"], "\n".join(inside), title and title[1], reason))
        at, reason = end + 1, None
    return found


def same(shown: str, printed: str) -> bool:
    """Whether a shown output stands for a printed one."""
    pattern, numbers, at = "", [], 0
    for token in re.finditer(rf"\.\.\.|{NUMBER.pattern}|\s+", shown.strip()):
        pattern += re.escape(shown.strip()[at : token.start()])
        at = token.end()
        if token[0] == "...":
            pattern += r"[\s\S]*?"
        elif token[0].isspace():
            pattern += r"\s+"
        else:
            pattern += f"({NUMBER.pattern})"
            numbers.append(token[0])
    pattern += re.escape(shown.strip()[at:])
    pattern = pattern.replace(r"\s+[\s\S]*?\s+", r"\s[\s\S]*?").replace(r"\s+[\s\S]*?", r"[\s\S]*?")
    match = re.fullmatch(pattern, printed.strip())
    return match is not None and all(
        _near(a, b) for a, b in zip(numbers, match.groups(), strict=True)
    )


def _near(shown: str, printed: str) -> bool:
    """Whether two numbers agree within one unit of the last digit shown."""
    if "." not in shown and "e" not in shown.lower():
        return shown == printed
    digits, _, power = shown.lower().partition("e")
    decimals = len(digits.partition(".")[2])
    unit = 10.0 ** (int(power or 0) - decimals)
    return abs(float(shown) - float(printed)) <= unit * (1 + 1e-6)


def commands_of(block: Block) -> list[tuple[str, str]]:
    """Commands of a console block with the output shown for each."""
    found: list[tuple[str, str]] = []
    joined = block.text.replace("\\\n", " ")
    for line in joined.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], ""))
        elif found:
            found[-1] = (found[-1][0], f"{found[-1][1]}{line}\n")
        elif line.strip():
            raise Mismatch(f"line {block.line}: a console block begins with '$ command'")
    return found


def run_command(command: str, folder: Path) -> str:
    """What a command prints in a folder, errors among it; a command that fails is a mismatch."""
    paths = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    env = os.environ | {"PATH": paths, "COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"}
    done = subprocess.run(
        command,
        shell=True,
        cwd=folder,
        env=env,
        text=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=120,
    )
    if done.returncode:
        raise Mismatch(f"`{command}` ends with {done.returncode}:\n{done.stdout}")
    return done.stdout


Edit = tuple[int, int, list[str]]  # first line, line after the last (from 0), what belongs there


def run_page(page: Path, folder: Path, edits: list[Edit] | None = None) -> int:
    """Execute a page's blocks in a folder, which must be the current one; the number of blocks executed.

    What differs from the page is a Mismatch, or, where `edits` is given, put into that list.
    """
    text = page.read_text(encoding="utf-8")
    for linked in re.findall(r"\]\((recordings/[^)#]+)\)", text):  # what a reader downloads first
        shutil.copy(page.parent / linked, folder)
    blocks = blocks_of(text)
    names: dict[str, Any] = {"__name__": "__page__"}
    executed = 0
    for k, block in enumerate(blocks):
        if block.skipped is not None:
            assert block.skipped, f"{page.name}:{block.line}: say why the block is not executed"
            continue
        after = blocks[k + 1] if k + 1 < len(blocks) else None
        shown = after.text if after is not None and after.kind == "output" else ""
        if block.title is not None:
            (folder / block.title).write_text(block.text + "\n", encoding="utf-8")
        elif block.kind == "python":
            printed = _printed(page, block, names)
            if edits is not None and after is not None and after.kind == "output":
                _note(edits, after, shown, printed)
            else:
                _compare(page, block, shown, printed)
            executed += 1
        elif block.kind == "console":
            _run_console(page, block, folder, edits)
            executed += 1
        elif block.kind == "output" and (k == 0 or blocks[k - 1].kind != "python"):
            raise Mismatch(f"{page.name}:{block.line}: no python block stands before this output")
    return executed


def _run_console(page: Path, block: Block, folder: Path, edits: list[Edit] | None) -> None:
    text, differs = "", False
    for command, wanted in commands_of(block):
        printed = run_command(command, folder)
        if wanted.strip() and edits is None:
            _compare(page, block, wanted, printed)
        differs |= bool(wanted.strip()) and not same(wanted, printed)
        text += f"$ {command}\n" + (
            printed if not same(wanted, printed) and wanted.strip() else wanted
        )
    if edits is not None and differs:
        edits.append(
            (block.line - 1, block.line - 1 + block.text.count("\n") + 1, text.splitlines())
        )


def _note(edits: list[Edit], block: Block, shown: str, printed: str) -> None:
    if not same(shown, printed):
        length = block.text.count("\n") + 1 if block.text else 0
        edits.append((block.line - 1, block.line - 1 + length, printed.rstrip().splitlines()))


def _printed(page: Path, block: Block, names: dict[str, Any]) -> str:
    """What a python block prints; its lines keep the page's numbers, for tracebacks."""
    code = compile("\n" * (block.line - 1) + block.text, str(page), "exec")
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(code, names)
    return out.getvalue()


def _compare(page: Path, block: Block, shown: str, printed: str) -> None:
    if not same(shown, printed):
        raise Mismatch(
            f"{page.name}:{block.line} shows\n{shown}\nbut prints\n{printed or '(nothing)'}"
        )


# ---- notebooks


def shown_by(cell: dict[str, Any]) -> str:
    """The text that a cell of a notebook printed when it was saved."""
    return "".join("".join(o["text"]) for o in cell["outputs"] if o["output_type"] == "stream")


def run_cells(notebook: dict[str, Any], name: str) -> Iterator[tuple[dict[str, Any], str]]:
    """Every code cell, executed in order in one namespace, and what it printed."""
    names: dict[str, Any] = {"__name__": "__main__"}
    for k, cell in enumerate(c for c in notebook["cells"] if c["cell_type"] == "code"):
        code = compile("".join(cell["source"]), f"{name}, code cell {k + 1}", "exec")
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(code, names)
        yield cell, out.getvalue()


# ---- writing what is printed


@contextlib.contextmanager
def empty_folder() -> Iterator[Path]:
    """A new current folder, gone afterwards."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            yield Path(folder)
        finally:
            os.chdir(before)


def refresh(page: Path) -> int:
    """Write what a page or notebook prints into it; the number of blocks or cells that changed."""
    if page.suffix == ".ipynb":
        return _refresh_notebook(page)
    edits: list[Edit] = []
    with empty_folder() as folder:
        run_page(page, folder, edits)
    lines = page.read_text(encoding="utf-8").splitlines()
    for first, end, text in reversed(edits):
        lines[first:end] = text
    if edits:
        page.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return len(edits)


def _refresh_notebook(path: Path) -> int:
    notebook = json.loads(path.read_text(encoding="utf-8"))
    changed = 0
    with empty_folder():
        for cell, printed in run_cells(notebook, path.name):
            if not same(shown_by(cell), printed):
                text = printed.splitlines(keepends=True)
                cell["outputs"] = [{"name": "stdout", "output_type": "stream", "text": text}]
                changed += 1
    if changed:
        text = json.dumps(notebook, indent=1, ensure_ascii=False)
        path.write_text(text + "\n", encoding="utf-8")
    return changed


if __name__ == "__main__":
    for name in sys.argv[1:]:
        print(f"{name}: {refresh(Path(name).resolve())} changed")
