"""The skeleton that every report shares: a self-contained HTML page of sections, tables and figures.

Text is escaped wherever it enters: names of robots, joints and columns come from other people's files. Fragments that
are HTML already are `Markup`. The page asks for nothing outside itself, and its own policy would forbid it.
"""

from __future__ import annotations

import base64
import datetime
import hashlib
import json
import math
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path

import numpy as np
from jinja2 import Environment, Template
from markupsafe import Markup

from .. import __version__
from ..border.arguments import path_of
from ..border.kinds import Json, Outside
from ..border.written import drafted
from ..errors import InputError
from ..machine.emit.wasm_files import runtime

__all__ = [
    "Cell",
    "Markup",
    "Section",
    "drawing",
    "facts",
    "figure",
    "figures_grid",
    "label",
    "lines",
    "note",
    "page",
    "section",
    "table",
    "text",
    "verdict",
    "write",
    "write_page",
]

COMPUTES = 'class="live"'  # stands in pages that carry a robot which computes
NONE = "–"  # in place of a number that there is none of
FINEST, LARGEST = -5, 7  # powers of ten between which numbers are written out
SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
DIGITS = 5  # significant digits of numbers in figures


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and the fragments below it."""

    title: str
    parts: tuple[Markup, ...]
    anchor: str


def section(title: str, *parts: Markup | str | None) -> Section:
    """A section of a page; plain strings become paragraphs, None is left out."""
    made = (part if isinstance(part, Markup) else text(part) for part in parts if part is not None)
    anchor = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-") or "section"
    return Section(title, tuple(made), anchor)


# ---- fragments


def text(words: str) -> Markup:
    """A paragraph."""
    return Markup("<p>{}</p>").format(words)


def note(words: str) -> Markup:
    """A paragraph in small, faint letters."""
    return Markup('<p class="note">{}</p>').format(words)


def lines(items: Sequence[str]) -> Markup:
    """A list, one item a line."""
    return Markup("<ul>{}</ul>").format(
        Markup("").join(Markup("<li>{}</li>").format(i) for i in items)
    )


def facts(pairs: Mapping[str, object]) -> Markup:
    """A few numbers in boxes, each with its name."""
    cells = (Markup("<div><dt>{}</dt><dd>{}</dd></div>").format(k, v) for k, v in pairs.items())
    return Markup('<dl class="facts">{}</dl>').format(Markup("").join(cells))


def verdict(
    passed: bool,
    reasons: Sequence[str],
    good: str = "PASS",
    bad: str = "FAIL",
    unsure: bool = False,
) -> Markup:
    """A word in a coloured box, with the reasons. unsure: neither passed nor failed, and `bad` says what."""
    kind, word = ("pass", good) if passed else ("doubt" if unsure else "fail", bad)
    told = lines(reasons) if reasons else Markup("")
    return Markup('<div class="verdict {}"><strong>{}</strong>{}</div>').format(kind, word, told)


@dataclass(frozen=True, slots=True)
class Cell:
    """A table's cell whose sorting value or class differs from what it shows."""

    shown: str
    value: Outside = None
    kind: str = ""
    title: str = ""  # told when it is pointed at


def number(value: Outside, digits: int = 5) -> str:
    """A number as people read it, without an e; a dash for what is none."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return NONE
    if isinstance(value, (int, np.integer)):
        return str(value)
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if value == 0:
        return "0"
    rounded = float(f"{value:.{digits}g}")
    power = math.floor(math.log10(abs(rounded)))
    if FINEST <= power < LARGEST:
        places = digits - 1 - power  # of whole numbers all digits are written
        text = f"{rounded:.{places}f}" if places > 0 else f"{value:.0f}"
        text = text.rstrip("0").rstrip(".") if "." in text else text
    else:
        shown = str(abs(power)).translate(SUPERSCRIPTS)
        text = f"{rounded / 10.0**power:.{digits}g}·10{'⁻' if power < 0 else ''}{shown}"
    return text.replace("-", "−")


def table(
    columns: Sequence[str],
    rows: Sequence[Sequence[object]],
    caption: str = "",
    wide: Sequence[str] = (),
    best: int | None = None,
    tall: bool = False,
) -> Markup:
    """A table that sorts by a click on a heading. Numbers stand right; `wide` columns wrap; row `best` is bold."""
    numeric = [
        any(_is_number(row[k]) for row in rows)
        and all(_is_number(row[k]) or row[k] in ("", None, NONE) for row in rows)
        for k in range(len(columns))
    ]
    head = Markup("").join(
        Markup('<th scope="col"{}><button type="button">{}</button></th>').format(
            Markup(' class="number"') if is_number else "", name
        )
        for name, is_number in zip(columns, numeric, strict=True)
    )
    body = []
    for k, row in enumerate(rows):
        cells = (
            _cell(value, is_number, name in wide)
            for value, is_number, name in zip(row, numeric, columns, strict=True)
        )
        mark = Markup(' class="best"') if k == best else ""
        body.append(Markup("<tr{}>{}</tr>").format(mark, Markup("").join(cells)))
    label = Markup("<caption><span>{}</span></caption>").format(caption) if caption else ""
    return Markup(
        '<div class="scroll{}"><table class="sortable">{}<thead><tr>{}</tr></thead><tbody>{}</tbody></table></div>'
    ).format(" tall" if tall else "", label, head, Markup("\n").join(body))


def _is_number(value: Outside) -> bool:
    if isinstance(value, Cell):
        return "number" in value.kind
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def _cell(value: Outside, is_number: bool, wide: bool) -> Markup:
    shown, sort, kinds = value, None, []
    if isinstance(value, Cell):
        shown, sort = value.shown, value.value
        kinds.append(value.kind)
    elif is_number:
        empty = value in ("", None, NONE)
        shown, sort = (value or "", None) if empty else (number(value), value)
    elif isinstance(value, (float, np.floating)):
        shown, sort = number(value), value
    kinds += ["number"] * (is_number and "number" not in kinds) + ["wide"] * wide
    names = " ".join(k for k in kinds if k)
    attributes = Markup(' class="{}"').format(names) if names else Markup("")
    if sort is not None:
        attributes += Markup(' data-value="{}"').format(f"{sort:.9g}" if _is_number(sort) else sort)
    if isinstance(value, Cell) and value.title:
        attributes += Markup(' title="{}"').format(value.title)
        # for those who do not point with a mouse: reached by tab and touch, told at the foot of the screen
        term = '<span class="term" tabindex="0" data-means="{}">{}</span>'
        shown = Markup(term).format(value.title, shown)
    return Markup("<td{}>{}</td>").format(attributes, shown)


# ---- figures


def figure(fig: Json, caption: str = "", height: int = 320) -> Markup:
    """A figure, given as {"data", "layout"} and, for an animation, "frames" and "interval" [ms].

    The words are plotly's, those of them that `plot.js` draws. Colours may be the page's own: "--c1" ... "--c8",
    "--measured", "--predicted", "--ink", "--line", "--good", "--bad". "narrow" holds changes of the layout for narrow
    screens, "key" says what colours within one trace mean. Where a line was thinned for drawing, the caption says so.
    """
    full = dict(fig)
    full["layout"] = {"height": height, **fig["layout"]}
    player = ""
    if "frames" in fig:
        player = Markup(
            '<div class="player"><button type="button">Play</button>'
            '<input type="range" min="0" value="0" aria-label="time"><output></output></div>'
        )
    words = " ".join(filter(None, (caption, _thinning(fig["data"]))))
    told = Markup("<figcaption>{}</figcaption>").format(words) if words else ""
    return Markup(
        '<figure class="drawn"><div class="plot" style="min-height:{}px"></div>{}{}'
        '<script type="application/json">{}</script></figure>'
    ).format(height, player, told, Markup(data_json(full)))


def _thinning(traces: Sequence[Json]) -> str:
    """How many samples a thinned line stands for, in words."""
    most = max((int(t.get("meta", {}).get("samples", 0)) for t in traces), default=0)
    if not most:
        return ""
    return f"Of {most:,} samples the lowest and highest of each short stretch."


def figures_grid(figures: Sequence[Markup]) -> Markup:
    """Figures side by side where there is room."""
    return Markup('<div class="grid">{}</div>').format(Markup("").join(figures))


def drawing(svg: Markup, caption: str = "") -> Markup:
    """An inline SVG as a figure."""
    told = Markup("<figcaption>{}</figcaption>").format(caption) if caption else ""
    return Markup("<figure>{}{}</figure>").format(svg, told)


def data_json(value: object) -> str:
    """JSON that no HTML parser can mistake for anything else."""
    raw = json.dumps(_plain(value), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return raw.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _plain(value: Outside) -> object:
    """Lists, dicts and rounded numbers; null for what is not finite."""
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    if isinstance(value, (bool, str, type(None))):
        return value
    if isinstance(value, (int, np.integer)):
        return int(value)
    rounded = float(f"{float(value):.{DIGITS}g}")
    if not math.isfinite(rounded):
        return None
    return int(rounded) if rounded == int(rounded) and abs(rounded) < 1e9 else rounded


# ---- pages


def page(title: str, sections: Sequence[Section], subtitle: str = "") -> str:
    """The whole page as text."""
    shown = Markup("").join(part for s in sections for part in s.parts)
    scripts = [_own(name) for name in _needed(shown)]
    if COMPUTES in shown:
        scripts = [Markup(runtime()), *scripts]
    allowed = [f"'sha256-{_digest(script)}'" for script in scripts]
    if COMPUTES in shown:
        allowed.append("'wasm-unsafe-eval'")
    return _template().render(
        title=title,
        subtitle=subtitle,
        sections=_distinct(sections),
        version=__version__,
        date=datetime.date.today().isoformat(),
        allowed=Markup(" ".join(allowed)),
        css=_own("page.css"),
        scripts=scripts,
    )


def _needed(shown: Markup) -> list[str]:
    """The scripts that a page brings: those that draw only where something is drawn."""
    computes = COMPUTES in shown
    draws = computes or 'class="drawn"' in shown
    live = ["live.js", "live_page.js"] * computes
    return ["hands.js", "plot.js"] * draws + live + ["page.js"]


def _digest(script: Markup) -> str:
    """What a browser compares before it runs a script."""
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def _distinct(sections: Sequence[Section]) -> list[Section]:
    """The sections with anchors that differ."""
    apart: list[Section] = []
    for s in sections:
        same = sum(
            other.anchor.rstrip("-0123456789") == s.anchor.rstrip("-0123456789") for other in apart
        )
        apart.append(Section(s.title, s.parts, f"{s.anchor}-{same + 1}") if same else s)
    return apart


def write_page(
    path: str | os.PathLike[str], title: str, sections: Sequence[Section], subtitle: str = ""
) -> Path:
    """Make the page and put it under the name; the path."""
    return write(page(title, sections, subtitle), path)


def write(html: str, path: str | os.PathLike[str]) -> Path:
    """Put the page under the name in one step; the path."""
    target = path_of("path", path, "the name of a .html file")
    if target.suffix.lower() not in (".html", ".htm"):
        raise InputError(f"cannot write a report to '{target}'; end the name in .html")
    with drafted(target) as draft:
        draft.write_text(html, encoding="utf-8")
    return target


@cache
def _template() -> Template:
    source = (resources.files(__package__) / "page.html").read_text(encoding="utf-8")
    return Environment(autoescape=True).from_string(source)


@cache
def _own(name: str) -> Markup:
    return Markup((resources.files(__package__) / name).read_text(encoding="utf-8"))


def label(words: object) -> str:
    """Text for a figure. Figures set text as text: nothing in it is read as markup."""
    return str(words)
