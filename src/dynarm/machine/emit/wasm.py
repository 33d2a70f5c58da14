"""Graphs -> WebAssembly: one module of straight-line functions that loop over samples, no toolchain.

A function takes the number of samples and the address of each input and output, arrays of one sample after the other
as NumPy has them in C order, and returns nothing. Memory is the module's own, exported as `memory`. Kernels for two
samples at a time (f64x2) take the last sample twice where the number is odd, so every number of samples is right.

sin and cos are computed as in exported C: a Cody-Waite reduction in three parts and two polynomials, up to |x| = 1e5;
beyond, JavaScript's Math is asked, as it is for functions that no instruction computes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ...errors import InputError
from ...graph.graph import ANGLES, Graph, Port
from ...graph.ops import LEAVES, OPERATIONS
from .elementary import COS, HALF_PI_SPLIT, MAGIC, SIN
from .wasm_words import (
    ADD_I32,
    AND_I32,
    BRANCH_IF,
    ELSE,
    END,
    F64,
    I32,
    IF,
    LOOP,
    SUB_I32,
    Width,
    call,
    get,
    integer,
    listed,
    put,
    section,
    text,
    unsigned,
)

FAR = 1e5  # [rad] beyond which Math is asked
MOST = 50_000  # locals of a function that browsers take
DROP, RETURN, GREATER, NOT_ABOVE = b"\x1a", b"\x0f", b"\x4a", b"\x4c"


def module(graphs: Mapping[str, Graph], simd: bool = False) -> bytes:
    """The binary of a module that exports a function for each graph, and its memory."""
    width = Width(simd)
    asked = sorted({n.op for g in graphs.values() for n in g.nodes if _asks(n.op)})
    angles = any(node.op in ANGLES for g in graphs.values() for node in g.nodes)
    imports = [*(sorted(ANGLES) if angles else []), *asked]
    places = {name: k for k, name in enumerate(imports)}
    places["sincos"] = len(imports)
    types = _Types()
    bodies, kinds = [], []
    if angles:
        kinds.append(types.of([width.kind], [width.kind] * 2))
        bodies.append(_sincos(width, places))
    for name, graph in graphs.items():
        kinds.append(types.of([I32] * (1 + len(graph.inputs) + len(graph.outputs)), []))
        bodies.append(_Kernel(name, graph, width, places).body())
    from_math = [
        text("math") + text(name) + b"\x00" + unsigned(types.of([F64] * _arity(name), [F64]))
        for name in imports
    ]
    first = len(imports) + angles
    exported = [text("memory") + b"\x02" + unsigned(0)]
    exported += [text(q) + b"\x00" + unsigned(first + k) for k, q in enumerate(graphs)]
    parts = (
        section(1, listed(types.known)),
        section(2, listed(from_math)),
        section(3, listed(unsigned(k) for k in kinds)),
        section(5, listed([b"\x00" + unsigned(1)])),
        section(7, listed(exported)),
        section(10, listed(unsigned(len(body)) + body for body in bodies)),
    )
    return b"\0asm\1\0\0\0" + b"".join(parts)


def _asks(op: str) -> bool:
    """Whether an operation is left to JavaScript's Math."""
    return op not in LEAVES and op not in ANGLES and not OPERATIONS[op].wasm


def _arity(name: str) -> int:
    return OPERATIONS[name].arity


@dataclass(slots=True)
class _Types:
    """The signatures of a module, each once."""

    known: list[bytes] = field(default_factory=list)

    def of(self, takes: Sequence[bytes], gives: Sequence[bytes]) -> int:
        kind = b"\x60" + listed(takes) + listed(gives)
        if kind not in self.known:
            self.known.append(kind)
        return self.known.index(kind)


def _sincos(width: Width, places: Mapping[str, int]) -> bytes:
    """x -> sin x, cos x."""
    x, t, k, r, z, s, c = map(get, range(7))
    number, word, bits = width.number, width.word, width.bits

    def series(factors: Sequence[float]) -> bytes:
        code = number(factors[0])
        for factor in factors[1:]:
            code = code + z + word("f64.mul") + number(factor) + word("f64.add")
        return code

    near = (
        x
        + number(2 / 3.141592653589793)
        + word("f64.mul")
        + number(MAGIC)
        + word("f64.add")
        + put(1)
    )
    near += t + number(MAGIC) + word("f64.sub") + put(2) + x
    for part in HALF_PI_SPLIT:
        near += k + number(part) + word("f64.mul") + word("f64.sub")
    near += put(3) + r + r + word("f64.mul") + put(4)
    # r + (r z) P(z) and (1 - z/2) + (z z) Q(z)
    near += r + r + z + word("f64.mul") + series(SIN) + word("f64.mul") + word("f64.add") + put(5)
    near += number(1.0) + number(0.5) + z + word("f64.mul") + word("f64.sub")
    near += z + z + word("f64.mul") + series(COS[:-2]) + word("f64.mul") + word("f64.add") + put(6)
    odd = bits("and", t, 1)
    sine = width.flipped(width.chosen(c, s, odd), bits("shl", bits("and", t, 2), 62))
    quarter = bits("add", t, 1)
    cosine = width.flipped(width.chosen(s, c, odd), bits("shl", bits("and", quarter, 2), 62))
    near += sine + cosine + put(6) + put(5)
    lanes = [width.lane(x, k) for k in range(width.lanes)]
    far = b"".join(
        width.joined([lane + call(places[name]) for lane in lanes]) + put(place)
        for name, place in (("sin", 5), ("cos", 6))
    )
    is_near = width.everywhere(x + word("f64.abs") + number(FAR) + word("f64.lt"))
    return _locals(6, width) + is_near + IF + near + ELSE + far + END + s + c + END


def _locals(count: int, width: Width, addresses: int = 0) -> bytes:
    """Declarations: addresses and then numbers."""
    kinds = [unsigned(addresses) + I32] if addresses else []
    return listed([*kinds, unsigned(count) + width.kind])


class _Kernel:
    """The function of one graph. Locals: samples left, an address a port, with lanes a second one, then numbers."""

    def __init__(self, name: str, graph: Graph, width: Width, places: Mapping[str, int]):
        self.graph, self.width, self.places = graph, width, places
        self.ports: list[Port] = [*graph.inputs, *graph.outputs]
        # second addresses, whether they differ
        self.extra = len(self.ports) + 1 if width.simd else 0
        self.next = self.first = 1 + len(self.ports) + self.extra
        self.uses = Counter(a for n in graph.nodes if n.op != "input" for a in n.args)
        for refs in graph.results:
            self.uses.update({ref.node: 2 for ref in refs})  # stored from a local
        self.values: dict[int, bytes] = {}  # the words that put a node's value on the stack
        self.code = bytearray()
        self.before = bytearray()  # outside the loop
        self.write()
        if self.next > MOST:
            raise InputError(
                f"'{name}' has {self.next} values, more than a browser takes; export other quantities of this robot"
            )

    def body(self) -> bytes:
        width, n = self.width, get(0)
        nothing = n + integer(0) + NOT_ABOVE + IF + RETURN + END
        step = b"".join(
            get(k) + integer(8 * port.size * width.lanes) + ADD_I32 + put(k)
            for k, port in enumerate(self.ports, 1)
        )
        again = n + integer(width.lanes) + SUB_I32 + put(0) + n + integer(0) + GREATER
        loop = LOOP + self.addresses() + bytes(self.code) + step + again + BRANCH_IF + b"\0" + END
        declared = _locals(self.next - self.first, width, self.extra)
        return declared + nothing + bytes(self.before) + loop + END

    def addresses(self) -> bytes:
        """Where the second lane's sample is: the next one, or once more the last."""
        if not self.width.simd:
            return b""
        differs = 1 + 2 * len(self.ports)
        code = integer(0) + get(0) + integer(1) + GREATER + SUB_I32 + put(differs)
        for k, port in enumerate(self.ports, 1):
            second = get(k) + get(differs) + integer(8 * port.size) + AND_I32 + ADD_I32
            code += second + put(k + len(self.ports))
        return code

    def samples(self, port: int) -> list[bytes]:
        """The addresses of each lane's sample."""
        lanes = range(self.width.lanes)
        return [get(1 + port + k * len(self.ports)) for k in lanes]

    def write(self) -> None:
        pairs: dict[int, dict[str, int]] = {}
        for k, node in enumerate(self.graph.nodes):
            if node.op in ANGLES:
                pairs.setdefault(node.args[0], {})[node.op] = k
        for k, node in enumerate(self.graph.nodes):
            if node.op == "const":
                self.constant(k)
            elif node.op in ANGLES:
                self.angle(k, pairs[node.args[0]])
            else:
                self.keep(k, self.value(k))
        for p, refs in enumerate(self.graph.results, len(self.graph.inputs)):
            for j, ref in enumerate(refs):
                self.store(p, j, ref.node, ref.negative)

    def value(self, k: int) -> bytes:
        """The words that compute a node."""
        node, width = self.graph.nodes[k], self.width
        if node.op == "input":
            return width.load(self.samples(node.args[0]), 8 * node.args[1])
        operands = [self.values[a] for a in node.args]
        if OPERATIONS[node.op].wasm:
            return b"".join(operands) + width.word(OPERATIONS[node.op].wasm)
        kept = [self.local(operand) for operand in operands]
        asked = call(self.places[node.op])
        return width.joined(
            [b"".join(width.lane(x, lane) for x in kept) + asked for lane in range(width.lanes)]
        )

    def local(self, value: bytes) -> bytes:
        """A new local that holds a value from now on."""
        self.code += value + put(self.next)
        self.next += 1
        return get(self.next - 1)

    def keep(self, k: int, value: bytes) -> None:
        """A value that is read once is computed where that happens; others are kept."""
        self.values[k] = value if self.uses[k] == 1 else self.local(value)

    def constant(self, k: int) -> None:
        value = self.width.number(self.graph.nodes[k].value)
        if self.uses[k] > 1:
            self.before += value + put(self.next)
            value = get(self.next)
            self.next += 1
        self.values[k] = value

    def angle(self, k: int, pair: Mapping[str, int]) -> None:
        """sin and cos of one argument by one call, when the first of them comes."""
        if k != min(pair.values()):
            return
        self.code += self.values[self.graph.nodes[k].args[0]] + call(self.places["sincos"])
        for op in ("cos", "sin"):  # the last result is on top
            if op not in pair:
                self.code += DROP
                continue
            self.code += put(self.next)
            self.values[pair[op]] = get(self.next)
            self.next += 1

    def store(self, port: int, element: int, node: int, negative: bool) -> None:
        value = self.values[node]
        if negative:
            value += self.width.word("f64.neg")
        self.code += self.width.store(self.samples(port), 8 * element, value)
