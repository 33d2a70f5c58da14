"""The figures of `python -m benchmarks` as Markdown: what the site puts into benchmarks.md.

A hook of mkdocs (mkdocs.yml); `python docs/benchmarks.py` prints the same. Numbers come from benchmarks/results/*.json
and from nowhere else: without these files the page names the command that makes them.
"""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results"
MARK = "<!-- figures of benchmarks/results -->"
NONE = (
    "There are no stored results in this copy. `python -m benchmarks` measures on your machine and writes them to "
    "`benchmarks/results/`; building the site again shows them here."
)
ABOUT = (
    "Left: how many times as fast as pinocchio each quantity is; right: nanoseconds against number of joints, "
    "both on one thread"
)
Figures = dict[str, Any]


def on_files(files: Any, config: Any, **_: Any) -> Any:
    """mkdocs calls this once: the pictures are drawn from the stored results."""
    from mkdocs.structure.files import File

    for address, text in pictures().items():
        files.append(File.generated(config, address, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """mkdocs calls this for every page."""
    return markdown.replace(MARK, figures()) if MARK in markdown else markdown


def figures(folder: Path = RESULTS) -> str:
    """Tables and a picture for every stored result."""
    return "\n\n".join(_robot(name, result) for name, result in _stored(folder).items()) or NONE


def pictures(folder: Path = RESULTS) -> dict[str, str]:
    """The SVG of every stored result by its place in the site."""
    draw = _part("picture").picture
    return {_address(name): draw(result) for name, result in _stored(folder).items()}


def _stored(folder: Path) -> dict[str, Figures]:
    """The results by name."""
    files = sorted(folder.glob("*.json"))
    return {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in files}


def _address(name: str) -> str:
    return f"pictures/benchmarks_{name}.svg"


def _part(name: str) -> Any:
    """A module of the package benchmarks, which must be found before this file of the same name."""
    sys.path.insert(0, str(ROOT))
    try:
        return importlib.import_module(f"benchmarks.{name}")
    finally:
        sys.path.pop(0)


def _robot(name: str, result: Figures) -> str:
    tables = _part("tables")
    machine = dict(result.get("machine", {}))
    cpu = machine.pop("cpu", "unknown processor")
    kind = [f"{key} {machine.pop(key)}" for key in ("family", "model") if key in machine]
    cpu += f" ({' '.join(kind)})" if kind else ""
    lanes = machine.pop("lanes", None)
    cpu += f", {lanes} lanes a vector" if lanes else ""
    days = sorted({stamp["date"] for stamp in result.get("measured", {}).values()})
    versions = ", ".join(f"{library} {version}" for library, version in machine.items())
    when = f", {' to '.join(dict.fromkeys((days[0], days[-1])))}" if days else ""
    head = f"## {result.get('robot', name)}, {cpu.split(',')[0]}"
    parts = [head, f"Measured on {cpu}{when}; {versions}."]
    parts += [_markdown(table) for table in tables.targets(result)]
    parts.append(f"![{ABOUT}]({_address(name)})")
    for section in (s for s in tables.MAKERS if s in result):
        parts += [_markdown(table) for table in tables.tables(section, result[section])]
    return "\n\n".join(parts)


def _markdown(table: Any) -> str:
    lines = [f"### {table.title}", "", f"| {' | '.join(table.heads)} |"]
    sides = [":---" if table.words(k) else "---:" for k in range(len(table.heads))]
    lines.append(f"|{'|'.join(sides)}|")
    lines += [f"| {' | '.join(row)} |" for row in table.rows]
    return "\n".join([*lines, *(f"\n{note}." for note in table.notes)])


if __name__ == "__main__":
    print(figures())
