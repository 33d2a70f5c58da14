"""What `import dynarm` offers, and every class that the reference shows beside it, with their methods."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import dynarm
import dynarm.mobile
import dynarm.simulation

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"
SECTION = re.compile(r"^(Parameters|Attributes|Returns|Examples)\n-{6,}\n", re.M)
ENTRY = re.compile(r"^(\*{0,2}\w+) : (\S.*)\n {4}(\S.*)", re.M)


def public() -> dict[str, object]:
    """{name: thing} of the three packages' own lists and of the reference's pages, each thing once."""
    names: dict[str, object] = {}
    for package in (dynarm, dynarm.mobile, dynarm.simulation):
        for name in package.__all__:
            names[f"{package.__name__}.{name}"] = getattr(package, name)
    for page in sorted(REFERENCE.glob("*.md")):
        for path in re.findall(r"^::: ([\w.]+)", page.read_text(encoding="utf-8"), re.M):
            module, _, name = path.rpartition(".")
            names[path] = getattr(importlib.import_module(module), name)
    once = {id(thing): name for name, thing in reversed(names.items())}
    return {name: names[name] for name in sorted(once.values())}


def members(kind: type) -> Iterator[tuple[str, object]]:
    """The public methods and properties of a class, those of its parents in this library included."""
    seen = set()
    for parent in kind.__mro__:
        for name, value in vars(parent).items() if parent.__module__.startswith("dynarm") else ():
            if not name.startswith("_") and name not in seen:
                seen.add(name)
                yield name, value


def function_of(value: object) -> Callable[..., object] | None:
    """The function behind a method, whatever decorates it; None for what is no method."""
    value = value.__func__ if isinstance(value, staticmethod | classmethod) else value
    function = inspect.unwrap(value) if callable(value) else None
    return function if inspect.isfunction(function) else None


@dataclass(frozen=True)
class Told:
    """A docstring: the text before its sections, the entries of each by name, and the examples' text."""

    text: str
    entries: dict[str, str]
    returns: str
    examples: str


def told(thing: object) -> Told:
    parts = SECTION.split(inspect.cleandoc(thing.__doc__ or ""))
    sections = dict(zip(parts[1::2], parts[2::2], strict=True))
    assert len(sections) == len(parts) // 2, "a section stands twice"
    rows = sections.get("Parameters", "") + sections.get("Attributes", "")
    entries = {name.lstrip("*"): kind for name, kind, _ in ENTRY.findall(rows)}
    return Told(parts[0], entries, sections.get("Returns", ""), sections.get("Examples", ""))


def arguments(thing: Callable[..., object]) -> list[str]:
    """The names that a docstring has to explain; of an exception without a signature none."""
    try:
        names = list(inspect.signature(thing).parameters)
    except ValueError:
        return []
    return [name for name in names if name not in ("self", "cls") and not name.startswith("_")]
