"""The figures of `python -m benchmarks` as Markdown: what the site puts into benchmarks.md.

A hook of mkdocs (mkdocs.yml); `python docs/benchmarks.py` prints the same. Numbers come from benchmarks/results/*.json
and from nowhere else: without these files the page names the command that makes them.
"""

from __future__ import annotations

import html
import json
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parents[1] / "benchmarks" / "results"
MARK = "<!-- figures of benchmarks/results -->"
NONE = (
    "There are no stored results in this copy. `python -m benchmarks` measures on your machine and writes them to "
    "`benchmarks/results/`; building the site again shows them here."
)
Figures = dict[str, Any]


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """mkdocs calls this for every page."""
    return markdown.replace(MARK, figures()) if MARK in markdown else markdown


def figures(folder: Path = RESULTS) -> str:
    """Tables and a picture for every stored result."""
    found = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))]
    return "\n\n".join(_robot(result) for result in found) or NONE


def _robot(result: Figures) -> str:
    machine = dict(result.get("machine", {}))
    cpu = machine.pop("cpu", "unknown processor")
    versions = ", ".join(f"{name} {version}" for name, version in machine.items())
    parts = [f"## {result.get('robot', 'robot')}", f"Measured on {cpu}; {versions}."]
    makers = {
        "batch": _batch,
        "single": _single,
        "sizes": _sizes,
        "compiling": _compiling,
        "length": _length,
    }
    for name, section in result.items():
        if name in ("robot", "machine") or not isinstance(section, dict):
            continue
        parts.append(makers.get(name, lambda given, name=name: _plain(name, given))(section))
    return "\n\n".join(parts)


def _table(title: str, heads: list[str], rows: list[list[str]]) -> str:
    lines = [f"### {title}", "", f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])


def _ratios(ratios: Figures) -> str:
    return ", ".join(f"`{name}` {ratio:.1f}" for name, ratio in ratios.items())


def _batch(section: Figures) -> str:
    rows = [
        [q, str(r["mul"]), str(r["add"]), f"{r['dynarm']['best'] * 1e9:.1f}", _ratios(r["ratios"])]
        for q, r in section.items()
    ]
    heads = ["quantity", "mul", "add", "ns a sample", "times as fast as"]
    return _table("Batches of 4096 samples, one thread", heads, rows) + "\n\n" + bars(section)


def _single(section: Figures) -> str:
    rows = []
    for q, r in section.items():
        best = {name: t["best"] * 1e9 for name, t in r["timings"].items()}
        faster = ", ".join(f"`{name}` {a:.2f}, {b:.2f}" for name, (a, b) in r["ratios"].items())
        rows.append([q, f"{best['method']:.0f}", f"{best['gufunc']:.0f}", faster])
    heads = ["quantity", "method [ns]", "bare gufunc [ns]", "times as fast as (method, gufunc)"]
    return _table("One call from Python on one state", heads, rows)


def _sizes(section: Figures) -> str:
    rows = [[n, f"{r['1']['best'] * 1e9:.1f}", f"{r['gain']:.2f}"] for n, r in section.items()]
    heads = ["samples", "ns a sample, one thread", "two threads, times as fast"]
    return _table("Inverse dynamics by batch size", heads, rows)


def _compiling(section: Figures) -> str:
    rows = [[q, f"{r['cold']:.3f}", f"{r['warm']:.3f}"] for q, r in section.items()]
    heads = ["quantity", "cold [s]", "from the cache [s]"]
    return _table("First use in a fresh process, imports apart", heads, rows)


def _length(section: Figures) -> str:
    rows = [
        [
            n,
            q,
            f"{r['first_use']:.2f}",
            f"{r['dynarm']['best'] * 1e9:.0f}",
            f"{r['dynarm']['best'] / int(n) * 1e9:.1f}",
        ]
        for n, quantities in section.items()
        if n.isdigit()
        for q, r in quantities.items()
    ]
    heads = ["joints", "quantity", "first use [s]", "ns a sample", "ns a sample and joint"]
    return _table("Generic arms of many joints, batches", heads, rows)


def _plain(name: str, section: Figures) -> str:
    rows = [[key, f"{v:.4g}" if isinstance(v, float) else str(v)] for key, v in section.items()]
    return _table(name.capitalize(), ["figure", "value"], rows)


def bars(section: Figures) -> str:
    """An SVG: nanoseconds a sample of dynarm and its peers, on a logarithmic scale."""
    from math import log10

    rows = [
        (q, name, t["best"] * 1e9)
        for q, r in section.items()
        for name, t in {"dynarm": r["dynarm"], **r["peers"]}.items()
    ]
    if not rows:
        return ""
    low, high = 1.0, max(value for *_, value in rows) * 1.3
    left, width, step = 250, 420, 17
    text, y, before = [], 6, ""
    for quantity, name, value in rows:
        if quantity != before:
            y += 8
            text.append(f'<text x="0" y="{y + 11}" class="head">{html.escape(quantity)}</text>')
            y, before = y + step, quantity
        size = max(1.0, width * log10(max(value, low) / low) / log10(high / low))
        kind = "ours" if name == "dynarm" else "theirs"
        text += [
            f'<text x="{left - 6}" y="{y + 11}" text-anchor="end">{html.escape(name)}</text>',
            f'<rect x="{left}" y="{y + 1}" width="{size:.1f}" height="{step - 5}" class="{kind}"/>',
            f'<text x="{left + size + 5:.1f}" y="{y + 11}">{_short(value)} ns</text>',
        ]
        y += step
    label = "Nanoseconds a sample in batches of 4096, logarithmic scale; shorter is faster"
    body = "\n".join(text)
    box = f"0 0 {left + width + 80} {y + 6}"
    return (
        f'<div><svg class="bars" viewBox="{box}" role="img" aria-label="{label}">\n{body}\n</svg></div>'
        f"\n\n*{label}.*"
    )


def _short(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


if __name__ == "__main__":
    print(figures())
