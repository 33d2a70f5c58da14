"""Graph -> C99: one function of straight-line code, no allocation, no globals, no libc beyond sin, cos and sqrt."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ..errors import InputError
from ..graph import Graph, Port

_KEYWORDS = """auto break case char const continue default do double else enum extern float for goto if inline int
long register restrict return short signed sizeof static struct switch typedef union unsigned void volatile while
main sin cos tanh fabs sqrt"""
_SIGNS = {"add": "+", "sub": "-", "mul": "*", "div": "/"}


def identifier(text: str) -> str:
    """A C identifier that resembles the text: letters, digits and underscores, never a keyword, at most 40 long."""
    word = re.sub(r"[^A-Za-z0-9]+", "_", text).strip("_")[:40].lower()
    if not word or word[0].isdigit():
        word = f"robot_{word}".rstrip("_")
    return f"{word}_robot" if word in _KEYWORDS.split() else word


@dataclass(frozen=True, slots=True)
class Dialect:
    """double or float, and whether temporaries are reused so that the stack they take is bounded."""

    prefix: str
    single: bool = False
    bounded: bool = False

    @property
    def real(self) -> str:
        return "float" if self.single else "double"

    def call(self, name: str) -> str:
        return f"{name}f" if self.single else name

    def number(self, value: float) -> str:
        """A literal that reads back as the same value."""
        return f"{value!r}f" if self.single else repr(float(value))


def signature(name: str, inputs: Sequence[Port], outputs: Sequence[Port], dialect: Dialect) -> str:
    """The prototype of a quantity's function, without semicolon."""
    real = dialect.real
    given = [f"const {real} {p.name}[restrict {p.size}]" for p in inputs]
    made = [f"{real} {output_name(p, inputs)}[restrict {p.size}]" for p in outputs]
    body = ",\n    ".join([*given, *made])
    return f"void {dialect.prefix}_{name}(\n    {body})"


def output_name(port: Port, inputs: Sequence[Port]) -> str:
    """An output's parameter name, kept apart from the inputs'."""
    taken = {p.name.lower() for p in inputs}
    return f"{port.name}_out" if port.name.lower() in taken else port.name


@dataclass(frozen=True, slots=True)
class Code:
    """A function's text and the bytes of its temporaries."""

    text: str
    stack: int


def function(graph: Graph, name: str, dialect: Dialect) -> Code:
    """The C function of a graph."""
    writer = _Bounded(graph, dialect) if dialect.bounded else _Plain(graph, dialect)
    lines = writer.lines()
    outputs = [
        f"    {output_name(port, graph.inputs)}[{j}] = {'-' if ref.negative else ''}{writer.read(ref.node)};"
        for port, refs in zip(graph.outputs, graph.results, strict=True)
        for j, ref in enumerate(refs)
    ]
    head = signature(name, graph.inputs, graph.outputs, dialect)
    used = {node.args[0] for node in graph.nodes if node.op == "input"}
    idle = [f"    (void){p.name};" for k, p in enumerate(graph.inputs) if k not in used]
    text = "\n".join([head, "{", *writer.declarations(), *idle, *lines, *outputs, "}", ""])
    return Code(text, writer.stack())


class _Plain:
    """One constant local a node."""

    def __init__(self, graph: Graph, dialect: Dialect):
        self.graph, self.dialect = graph, dialect
        self.pairs: dict[int, dict[str, int]] = {}  # argument -> sin and cos of it
        for k, node in enumerate(graph.nodes):
            if node.op in ("sin", "cos"):
                self.pairs.setdefault(node.args[0], {})[node.op] = k

    def declarations(self) -> list[str]:
        return []

    def stack(self) -> int:
        """Bytes that the temporaries take if the compiler keeps them all."""
        named = sum(node.op not in ("input", "const") for node in self.graph.nodes)
        return named * (4 if self.dialect.single else 8)

    def read(self, k: int) -> str:
        node = self.graph.nodes[k]
        if node.op == "input":
            return f"{self.graph.inputs[node.args[0]].name}[{node.args[1]}]"
        if node.op == "const":
            return self.dialect.number(node.value)
        return self.local(k)

    def local(self, k: int) -> str:
        return f"v{k}"

    def assign(self, k: int, value: str) -> str:
        return f"    const {self.dialect.real} {self.local(k)} = {value};"

    def lines(self) -> list[str]:
        found = []
        for k, node in enumerate(self.graph.nodes):
            if node.op not in ("input", "const"):
                found += self.node(k)
        return found

    def node(self, k: int) -> list[str]:
        node = self.graph.nodes[k]
        args = [self.read(a) for a in node.args]
        if node.op in _SIGNS:
            return [self.assign(k, f"{args[0]} {_SIGNS[node.op]} {args[1]}")]
        if node.op == "sign":
            zero = self.dialect.number(0.0)
            return [
                self.assign(
                    k, f"({self.dialect.real})(({args[0]} > {zero}) - ({args[0]} < {zero}))"
                )
            ]
        if node.op in ("sqrt", "tanh"):
            return [self.assign(k, f"{self.dialect.call(node.op)}({args[0]})")]
        if node.op == "abs":
            return [self.assign(k, f"{self.dialect.call('fabs')}({args[0]})")]
        return self.angle(k)

    def angle(self, k: int) -> list[str]:
        """sin and cos of one argument, together where both are wanted."""
        node = self.graph.nodes[k]
        pair = self.pairs[node.args[0]]
        argument = self.read(node.args[0])
        if len(pair) == 1:
            return [self.assign(k, f"{self.dialect.call(node.op)}({argument})")]
        if k != min(pair.values()):
            return []
        s, c = self.local(pair["sin"]), self.local(pair["cos"])
        return [
            *self.open_pair(s, c),
            f"    {self.dialect.prefix}_sincos({argument}, &{s}, &{c});",
        ]

    def open_pair(self, s: str, c: str) -> list[str]:
        return [f"    {self.dialect.real} {s};", f"    {self.dialect.real} {c};"]


class _Bounded(_Plain):
    """Temporaries in an array whose places are used again as soon as a value is no longer needed."""

    def __init__(self, graph: Graph, dialect: Dialect):
        super().__init__(graph, dialect)
        self.place = self._places()
        self.size = 1 + max(self.place.values(), default=-1)

    def _places(self) -> dict[int, int]:
        nodes = self.graph.nodes
        last = {a: k for k, node in enumerate(nodes) if node.op != "input" for a in node.args}
        end = len(nodes)
        for refs in self.graph.results:
            last |= {r.node: end for r in refs}
        born = {k: k for k in range(len(nodes))}
        for pair in self.pairs.values():
            for k in pair.values():
                born[k] = min(pair.values())
        free: list[int] = []
        place: dict[int, int] = {}
        top = 0
        leaving: dict[int, list[int]] = {}
        for k in sorted(range(end), key=lambda k: born[k]):
            if nodes[k].op in ("input", "const"):
                continue
            for gone in leaving.pop(born[k], []):
                free.append(gone)
            if free:
                place[k] = free.pop()
            else:
                place[k], top = top, top + 1
            # a place may be taken again by the node after the last reader: outputs of a call must not overlap
            leaving.setdefault(last[k] + 1, []).append(place[k])
            for moment in [m for m in leaving if m <= born[k]]:
                free += leaving.pop(moment)
        return place

    def declarations(self) -> list[str]:
        return [f"    {self.dialect.real} w[{max(self.size, 1)}];"]

    def stack(self) -> int:
        return max(self.size, 1) * (4 if self.dialect.single else 8)

    def local(self, k: int) -> str:
        return f"w[{self.place[k]}]"

    def assign(self, k: int, value: str) -> str:
        return f"    {self.local(k)} = {value};"

    def open_pair(self, s: str, c: str) -> list[str]:
        return []


def sincos(dialect: Dialect) -> str:
    """A static function for sin and cos of one angle with one range reduction; the library's beyond 1e5 rad."""
    real, prefix = dialect.real, dialect.prefix
    head = f"static void {prefix}_sincos({real} x, {real} *s, {real} *c)\n{{\n"
    if dialect.single:
        return head + "    *s = sinf(x);\n    *c = cosf(x);\n}\n"
    return (
        head
        + """    if (!(x > -1.0e5 && x < 1.0e5)) {
        *s = sin(x);
        *c = cos(x);
    } else {
        /* x = k pi/2 + r, |r| <= pi/4, pi/2 in three parts; then two minimax polynomials in r^2 */
        const double t = x * 0.6366197723675814 + 6755399441055744.0;
        const double k = t - 6755399441055744.0;
        const int quadrant = (int)k & 3;
        const double r =
            ((x - k * 1.5707963267341256) - k * 6.077100506303966e-11) - k * 2.0222662487959506e-21;
        const double z = r * r;
        const double sine = r + (r * z) * (-1.6666666666666632e-1 + z * (8.33333333332249e-3
            + z * (-1.984126982985795e-4 + z * (2.755731370707007e-6 + z * (-2.5050760253406863e-8
            + z * 1.58969099521155e-10)))));
        const double cosine = (1.0 - 0.5 * z) + (z * z) * (4.16666666666666e-2 + z * (-1.3888888888874110e-3
            + z * (2.480158728947673e-5 + z * (-2.7557314351390663e-7 + z * (2.087572321298175e-9
            + z * -1.1359647557788195e-11)))));
        const double a = ((quadrant & 1) != 0) ? cosine : sine;
        const double b = ((quadrant & 1) != 0) ? sine : cosine;
        *s = ((quadrant & 2) != 0) ? -a : a;
        *c = (((quadrant + 1) & 2) != 0) ? -b : b;
    }
}
"""
    )


def check_prefix(prefix: str) -> str:
    """The prefix itself if it can stand before C names."""
    if identifier(prefix) != prefix:
        raise InputError(f"{prefix!r} cannot begin C names; try {identifier(prefix)!r}")
    return prefix
