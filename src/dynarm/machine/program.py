"""A graph as an ordered program: pieces of straight-line code, calls between them, and the slots of a workspace.

Order   The cheapest of those that `order` knows, by cycles and by traffic between registers and memory.
Slots   Values live in registers inside a piece and in slots of a workspace between pieces. Which value leaves the
        registers when they are full is decided here (the one whose next use is farthest), so that compiling
        takes time in proportion to the length of the code.
Calls   sin, cos and tanh run between pieces, from slots to slots, so that no call interrupts straight-line code;
        their arguments are computed as early as can be.
"""

from __future__ import annotations

import bisect
import heapq
import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ..graph import Graph
from .fusion import CALLS, Instruction, instructions
from .order import PORTS, by_latency, cycles, depth_first

# Weights of instructions and of stored outputs, and of what makes one function: some passes of the compiler are more
# than linear in its length, and its scheduler looks at every pair of stores.
STORE, PIECE = 3, 1200
MOVE = 0.12  # cycles that a load or store takes from arithmetic
# One order by latency is tried where the one written takes longer than its instructions need, but not where there are
# so many of them that fetching them takes longer still.
WAITING, LATENT = 1.05, 1200
GROUP = 4  # angles whose sin and cos are computed side by side


class Call(NamedTuple):
    """Values computed together by one call: `sincos` of several arguments (sin, cos in turn), or `tanh`."""

    op: str
    arguments: tuple[int, ...]
    results: tuple[int, ...]  # -1: not wanted


@dataclass(frozen=True, slots=True)
class Program:
    """Pieces and calls in order (calls name slots). Slots: inputs by port, outputs by port, then temporaries."""

    steps: tuple[tuple[Instruction, ...] | Call, ...]
    constants: dict[int, float]
    fixed: tuple[
        tuple[int, float], ...
    ]  # output slots that hold a constant, written once before the loop
    inputs: tuple[int, ...]  # first slot of each input port
    outputs: tuple[int, ...]
    slots: int
    moves: int  # loads and stores

    @property
    def length(self) -> int:
        """Arithmetic instructions, calls apart."""
        return sum(
            ins.op not in ("load", "store")
            for step in self.steps
            if not isinstance(step, Call)
            for ins in step
        )


def program_of(
    graph: Graph, fused: bool = True, registers: int = 22, piece: int = PIECE
) -> Program:
    """The graph as a program for that many registers, in pieces of about that weight."""
    code, flipped = instructions(graph, fused)
    bodies, calls = _rounds(graph, code)
    written = bodies[-1]
    time = cycles(written)
    orders = [(time, written)]
    if len(written) > registers:
        deep = depth_first(graph, written)
        orders.append((cycles(deep), deep))
    if WAITING * len(written) / PORTS < time < LATENT:
        soon = by_latency(written)
        orders.append((cycles(soon), soon))
    best: tuple[float, Program] | None = None
    for time, order in orders:
        program = _Allocation(graph, flipped, registers, piece).run([*bodies[:-1], order], calls)
        cost = time + MOVE * program.moves
        if best is None or cost < best[0]:
            best = cost, program
    assert best is not None
    return best[1]


def _rounds(
    graph: Graph, code: dict[int, Instruction]
) -> tuple[list[list[Instruction]], list[list[Call]]]:
    """Instructions before the first calls, calls, instructions before the next calls ... and all that is left."""
    nodes = graph.nodes
    before: list[int] = []  # calls on the longest path up to a node, itself not included
    for node in nodes:
        args = () if node.op in ("input", "const") else node.args
        before.append(max((before[a] + (nodes[a].op in CALLS) for a in args), default=0))
    last = max((b + (nodes[k].op in CALLS) for k, b in enumerate(before)), default=0)
    turn = [last] * len(nodes)
    for k in range(len(nodes) - 1, -1, -1):
        if nodes[k].op in CALLS:
            turn[k] = before[k]
        if nodes[k].op not in ("input", "const"):
            for a in nodes[k].args:
                turn[a] = min(turn[a], turn[k])
    bodies: list[list[Instruction]] = [[] for _ in range(last + 1)]
    angles: list[dict[int, list[int]]] = [{} for _ in range(last + 1)]
    calls: list[list[Call]] = [[] for _ in range(last + 1)]
    for k, node in enumerate(nodes):
        if k in code:
            bodies[turn[k]].append(code[k])
        elif node.op == "tanh":
            calls[turn[k]].append(Call("tanh", node.args, (k,)))
        elif node.op in CALLS:
            angles[turn[k]].setdefault(node.args[0], [-1, -1])[node.op == "cos"] = k
    for found, place in zip(angles, calls, strict=True):
        for part in _evenly(list(found.items()), GROUP):
            place.append(
                Call(
                    "sincos", tuple(a for a, _ in part), tuple(r for _, pair in part for r in pair)
                )
            )
    return bodies, calls


def _evenly(items: list[Any], most: int) -> list[list[Any]]:
    """Parts of nearly equal length, none longer than `most`."""
    count = -(-len(items) // most)
    return [items[k * len(items) // count : (k + 1) * len(items) // count] for k in range(count)]


@dataclass(slots=True)
class _Allocation:
    """Decides, along the program, which value is in a register, which in which slot."""

    graph: Graph
    flipped: frozenset[int]
    registers: int
    piece: int
    constants: dict[int, float] = field(default_factory=dict)
    uses: dict[int, list[int]] = field(
        default_factory=dict
    )  # places that read a value, the next one last
    held: set[int] = field(default_factory=set)  # values in registers
    place: dict[int, int] = field(default_factory=dict)  # value -> slot
    own: set[int] = field(
        default_factory=set
    )  # values whose slot may be given to others afterwards
    free: list[int] = field(default_factory=list)
    queue: list[tuple[int, int]] = field(default_factory=list)  # (-next use, value)
    out: list[Instruction] = field(default_factory=list)
    slots: int = 0
    moves: int = 0

    def run(
        self, bodies: Sequence[Sequence[Instruction]], calls: Sequence[Sequence[Call]]
    ) -> Program:
        inputs, outputs, wanted, fixed = self._ports()
        parts: list[Sequence[Instruction] | Call] = []
        for body, batch in zip(bodies, calls, strict=True):
            parts += [*_cut(body, wanted, self.piece), *batch]
        self._note_uses(parts, wanted)
        steps: list[tuple[Instruction, ...] | Call] = []
        clock = 0
        for part in parts:
            if isinstance(part, Call):
                steps.append(self._call(part, clock))
                clock += 1
                continue
            self.out = []
            for ins in part:
                self._step(ins, clock, wanted.get(ins.dest, ()))
                clock += 1
            if part is parts[-1]:
                self._copies(wanted)
            self._flush()
            if self.out:
                steps.append(tuple(self.out))
        self.slots += 1  # the last slot takes results of calls that nobody wants
        return Program(tuple(steps), self.constants, fixed, inputs, outputs, self.slots, self.moves)

    def _ports(
        self,
    ) -> tuple[
        tuple[int, ...],
        tuple[int, ...],
        dict[int, list[tuple[int, bool]]],
        tuple[tuple[int, float], ...],
    ]:
        """First slots of inputs and outputs, which slots want which value (and sign), and which hold constants."""
        graph = self.graph
        first = []
        for port in (*graph.inputs, *graph.outputs):
            first.append(self.slots)
            self.slots += port.size
        inputs, outputs = tuple(first[: len(graph.inputs)]), tuple(first[len(graph.inputs) :])
        for k, node in enumerate(graph.nodes):
            if node.op == "input":
                self.place[k] = inputs[node.args[0]] + node.args[1]
            elif node.op == "const":
                self.constants[k] = node.value
        wanted: dict[int, list[tuple[int, bool]]] = {}
        fixed = []
        for start, refs in zip(outputs, graph.results, strict=True):
            for e, ref in enumerate(refs):
                if ref.node in self.constants:
                    value = self.constants[ref.node]
                    fixed.append((start + e, -value if ref.negative else value))
                else:
                    minus = ref.negative != (ref.node in self.flipped)
                    wanted.setdefault(ref.node, []).append((start + e, minus))
        return inputs, outputs, wanted, tuple(fixed)

    def _note_uses(
        self, parts: Sequence[Sequence[Instruction] | Call], wanted: Iterable[int]
    ) -> None:
        clock = 0
        for part in parts:
            for args in [part.arguments] if isinstance(part, Call) else [ins.args for ins in part]:
                for a in args:
                    if a not in self.constants:
                        self.uses.setdefault(a, []).append(clock)
                clock += 1
        for value in wanted:
            if self.graph.nodes[value].op in ("input", *CALLS):
                self.uses.setdefault(value, []).append(clock)  # copied at the end
        for places in self.uses.values():
            places.reverse()

    def _step(self, ins: Instruction, clock: int, wanted: Sequence[tuple[int, bool]]) -> None:
        """One instruction, with the loads before it and the stores after it."""
        args = {a for a in ins.args if a not in self.constants}
        for a in args - self.held:
            self._load(a)
        self.out.append(ins)
        for a in args:
            self._passed(a, clock)
        dest = ins.dest
        for slot, minus in wanted:
            self._store(dest, slot, minus)
            if not minus and dest not in self.place:
                self.place[dest] = slot
        if dest in self.uses:
            self.held.add(dest)
            heapq.heappush(self.queue, (-self.uses[dest][-1], dest))
        while len(self.held) > self.registers:
            self._evict()

    def _passed(self, value: int, clock: int) -> None:
        """A value was read: forget it if this was the last time."""
        places = self.uses[value]
        while places and places[-1] <= clock:
            places.pop()
        if places:
            heapq.heappush(self.queue, (-places[-1], value))
            return
        self.held.discard(value)
        if value in self.own:
            self.own.discard(value)
            self.free.append(self.place[value])

    def _evict(self) -> None:
        while True:
            use, value = heapq.heappop(self.queue)
            if value in self.held and self.uses[value][-1] == -use:
                break
        self._keep(value)
        self.held.discard(value)

    def _keep(self, value: int) -> None:
        """See that a value is in memory."""
        if value not in self.place:
            self._store(value, self._slot(value), False)

    def _slot(self, value: int) -> int:
        if self.free:
            slot = self.free.pop()
        else:
            slot = self.slots
            self.slots += 1
        self.place[value] = slot
        self.own.add(value)
        return slot

    def _load(self, value: int) -> None:
        self.out.append(Instruction("load", value, (self.place[value],)))
        self.held.add(value)
        self.moves += 1

    def _store(self, value: int, slot: int, minus: bool) -> None:
        self.out.append(Instruction("store", value, (slot,), (minus, False)))
        self.moves += 1

    def _flush(self) -> None:
        """At the end of a piece everything that is still needed goes to memory."""
        for value in sorted(self.held):
            self._keep(value)
        self.held.clear()
        self.queue.clear()

    def _call(self, call: Call, clock: int) -> Call:
        arguments = tuple(self.place[a] for a in call.arguments)
        results = tuple(self._slot(r) if r >= 0 else -1 for r in call.results)
        for a in call.arguments:
            self._passed(a, clock)
        self.queue.clear()
        return Call(call.op, arguments, results)

    def _copies(self, wanted: dict[int, list[tuple[int, bool]]]) -> None:
        """Outputs that are inputs or results of calls."""
        for value, places in wanted.items():
            if self.graph.nodes[value].op in ("input", *CALLS):
                if value not in self.held:
                    self._load(value)
                for slot, minus in places:
                    self._store(value, slot, minus)
                self.held.discard(value)


def _cut(
    body: Sequence[Instruction], stores: Mapping[int, Sequence[Any]], piece: int
) -> list[Sequence[Instruction]]:
    """Pieces of about that weight, cut where few values are alive."""
    weights = [1 + STORE * len(stores.get(ins.dest, ())) for ins in body]
    reached = list(itertools.accumulate(weights, initial=0))
    count = -(-reached[-1] // piece)
    if count <= 1:
        return [body]
    last = {a: i for i, ins in enumerate(body) for a in ins.args}
    change = [0] * (len(body) + 1)
    for i, ins in enumerate(body):
        if ins.dest in last:
            change[i + 1] += 1
            change[last[ins.dest]] -= 1
    alive = list(itertools.accumulate(change))
    cuts = [0]
    for k in range(1, count):
        low, high = (
            bisect.bisect_left(reached, (k + side) * reached[-1] // count) for side in (-0.2, 0.2)
        )
        cuts.append(min(range(max(low, cuts[-1] + 1), high + 1), key=lambda i: alive[i]))
    return [body[a:b] for a, b in zip(cuts, [*cuts[1:], len(body)], strict=True)]
