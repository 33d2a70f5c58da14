"""A formulation's operations by the equations that they come from.

While a formulation is traced, every operation is noted with the equation that asks for it first: the number that stands
beside the statement in the paper's file, or beside the one that called it; where there is none, what the statement
computes by its name. What is factored afterwards is recognised by its value; what factoring has made anew belongs to
the equation that needs it first.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import FrameType

import numpy as np

from ..dynamics.table import formulation
from ..graph.graph import Builder, Graph, Ref
from ..robot.arm import Arm
from ..robot.frames.chain import chain_of
from .choice import factored, traced
from .scene import PLAIN

NUMBER = re.compile(r"\(([A-Z]?\d{1,3}(?:\.\d{1,2})?[a-z]?)\)")
ROOMS = ("papers", "own")
POSE = "R, s"
_FREE = ("input", "const")
_STATE = 0.7390851332151607  # a state that no robot is told apart at


@dataclass(frozen=True, slots=True)
class EquationShare:
    """Multiplications and additions of one equation by its number, or of a statement without by what it computes."""

    equation: str
    mul: int
    add: int


class NotedBuilder(Builder):
    """Collects operations with the equation that each was first asked for by."""

    __slots__ = ("notes",)

    def __init__(self) -> None:
        super().__init__(True)
        self.notes: list[str] = []

    def _put(
        self, op: str, args: tuple[int, ...], value: float = 0.0, negative: bool = False
    ) -> Ref:
        ref = super()._put(op, args, value, negative)
        if len(self.notes) < len(self.nodes):
            self.notes.append("" if op in _FREE else _asked_by(sys._getframe(1)))
        return ref


def by_equation(arm: Arm, quantity: str, name: str) -> tuple[EquationShare, ...]:
    """The operations of a formulation's simplified graph by equation, in the order in which they are first needed."""
    chosen = {quantity: formulation(quantity, name, chain_of(arm))}
    build = NotedBuilder()
    drawn = traced(arm, quantity, chosen, PLAIN, None, share=True, build=build)
    simple = factored(drawn)
    notes = _carried(drawn, _kept(build, drawn), simple)
    shares: dict[str, list[int]] = {}
    for node, note in zip(simple.nodes, notes, strict=True):
        if node.op in ("mul", "add", "sub"):
            share = shares.setdefault(note, [0, 0])
            share[0 if node.op == "mul" else 1] += 1
    return tuple(EquationShare(note, *share) for note, share in shares.items())


def _kept(build: NotedBuilder, drawn: Graph) -> list[str]:
    """The notes of the nodes that the finished graph has: those that its results need, in order."""
    place = {node: k for k, node in enumerate(build.nodes)}
    new: list[int] = []
    for op, args, value in drawn.nodes:
        own = args if op == "input" else tuple(new[a] for a in args)
        new.append(place[(op, own, value)])  # type: ignore[index]
    return [build.notes[k] for k in new]


def _carried(drawn: Graph, notes: Sequence[str], simple: Graph) -> list[str]:
    """The notes of a factored graph's nodes."""
    known: dict[str, str] = {}
    for value, note in zip(_values(drawn), notes, strict=True):
        known.setdefault(_print(value), note)
    carried = [known.get(_print(value), "") for value in _values(simple)]
    for k in range(len(simple.nodes) - 1, -1, -1):
        node = simple.nodes[k]
        if node.op in _FREE:
            continue
        for a in node.args:
            if not carried[a] and simple.nodes[a].op not in _FREE:
                carried[a] = carried[k]
    return carried


def _print(value: float) -> str:
    return f"{abs(value):.9e}"


def _values(graph: Graph) -> list[float]:
    """Every node's value at one state."""
    sizes = [port.size for port in graph.inputs]
    given = [np.sin(1 + _STATE * np.arange(1, size + 1) * (k + 1)) for k, size in enumerate(sizes)]
    return [float(x) for x in graph.node_values(given)]


# ---- where an operation comes from


def _asked_by(frame: FrameType | None) -> str:
    """The equation beside the innermost statement that has one; else what the innermost statement computes."""
    first = ""
    while frame is not None:
        path = Path(frame.f_code.co_filename)
        if path.parent.name in ROOMS:
            number, name = _statements(str(path)).get(frame.f_lineno, ("", ""))
            if number:
                return number
            first = first or name
        frame = frame.f_back
    return first or POSE


@lru_cache
def _statements(path: str) -> dict[int, tuple[str, str]]:
    """By line: the equations beside the statement that it belongs to, and what that computes."""
    source = Path(path).read_text(encoding="utf-8")
    lines = source.splitlines()
    told: dict[int, tuple[str, str]] = {}
    for function in ast.walk(ast.parse(source)):
        if not isinstance(function, ast.FunctionDef):
            continue
        for node in ast.walk(function):
            if not isinstance(node, ast.stmt) or hasattr(node, "body"):
                continue
            span = range(node.lineno, (node.end_lineno or node.lineno) + 1)
            beside = {k: NUMBER.findall(lines[k - 1].partition("#")[2]) for k in span}
            every = list(dict.fromkeys(x for numbers in beside.values() for x in numbers))
            name = _computed(node) or function.name.strip("_").replace("_", " ")
            for k in span:
                numbers = ", ".join(f"({x})" for x in beside[k] or every)
                told[k] = numbers, name
    return told


def _computed(node: ast.stmt) -> str:
    """The names that a statement gives values to."""
    targets = node.targets if isinstance(node, ast.Assign) else []
    names = [x.id for t in targets for x in ast.walk(t) if isinstance(x, ast.Name)]
    return ", ".join(names)
