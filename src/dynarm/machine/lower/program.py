"""A graph as an ordered program: pieces of straight-line code, calls between them, and the slots of a workspace.

Order   The cheapest of those that `order` knows, by cycles and by traffic between registers and memory.
Slots   Values live in registers inside a piece and in slots of a workspace between pieces. Which value leaves the
        registers when they are full is decided here (the one whose next use is farthest), so that compiling
        takes time in proportion to the length of the code.
Calls   Functions such as sin, cos and tanh run between pieces, from slots to slots, so that no call interrupts
        straight-line code; their arguments are computed as early as can be.
"""

from __future__ import annotations

import bisect
import heapq
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

from ...graph.graph import Graph, Ref
from ...graph.ops import CALLED, LEAVES, OPERATIONS, Way, named
from ...graph.verify import verified
from ..host import USUAL, Tuning
from .fusion import Instruction, code_of
from .order import by_latency, cycles, depth_first, outputs_by_columns, outputs_by_rows


class Call(NamedTuple):
    """Values computed together by one call: `sincos` of several arguments (sin, cos in turn), or a single function."""

    op: str
    arguments: tuple[int, ...]
    results: tuple[int, ...]  # -1: not wanted


@dataclass(frozen=True, slots=True)
class Program:
    """Pieces and calls in order; calls name slots.

    Inputs have the first slots. Outputs that are equal, constants of one value, and an input that is an output share
    a slot, however often they are wanted.
    """

    steps: tuple[tuple[Instruction, ...] | Call, ...]
    constants: dict[int, float]
    fixed: tuple[tuple[int, float], ...]  # slots of constant outputs, written once before the loop
    inputs: tuple[int, ...]  # first slot of each input port
    outputs: tuple[tuple[int, ...], ...]  # for each output port the slots of its elements
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

    def tile(self, tuning: Tuning = USUAL) -> int:
        """How many blocks of samples go through each piece in turn: more than one where code is fetched from afar."""
        return 1 if self.length + self.moves <= tuning.cached else tuning.tile


def program_of(graph: Graph, fused: bool = True, tuning: Tuning = USUAL) -> Program:
    """The graph as a program for a processor tuned like that, with multiply-adds if it has them."""
    code, flipped = code_of(verified(graph, shared=False), fused)
    bodies, calls = _rounds(graph, code, tuning.angles)

    def allocated(order: list[Instruction], piece: int) -> Program:
        allocation = _Allocation(graph, flipped, tuning.registers, piece, tuning.store)
        return allocation.run([*bodies[:-1], order], calls)

    orders = list(_orders(graph, bodies[-1], tuning))
    programs = [allocated(order, tuning.piece) for order in orders]
    best = min(range(len(orders)), key=lambda k: _cost(orders[k], programs[k], tuning))
    tiled = programs[best].tile(tuning) > 1
    if tiled and tuning.piece > tuning.brief and _waits(orders[best], tuning):
        return allocated(orders[best], tuning.brief)
    return programs[best]


def _orders(
    graph: Graph, written: list[Instruction], tuning: Tuning = USUAL
) -> Iterator[list[Instruction]]:
    """The order that was written, and others worth a look; of a very long program only the one that mostly wins."""
    if len(written) > tuning.very_long:
        yield depth_first(written, outputs_by_rows(graph))
        return
    yield written
    yield depth_first(written, outputs_by_rows(graph))
    if len(written) > tuning.long:
        yield depth_first(written, outputs_by_columns(graph))
    elif _waits(written, tuning):
        yield by_latency(written, tuning)


def _waits(order: Sequence[Instruction], tuning: Tuning = USUAL) -> bool:
    """Whether an order takes longer than its instructions' own time."""
    return cycles(order, tuning) > tuning.waiting * len(order) / tuning.ports


def _cost(order: Sequence[Instruction], program: Program, tuning: Tuning = USUAL) -> float:
    """What an order costs: traffic to memory, and waiting for results where fetching the code is not slower still."""
    if len(order) > tuning.long:
        return program.moves + tuning.slot * program.slots
    return cycles(order, tuning) + tuning.move * program.moves


def _rounds(
    graph: Graph, code: dict[int, Instruction], together: int
) -> tuple[list[list[Instruction]], list[list[Call]]]:
    """Instructions before the first calls, calls, instructions before the next calls ... and all that is left.

    together: angles whose sin and cos are one call.
    """
    nodes, called = graph.nodes, named(*CALLED)
    before: list[int] = []  # calls on the longest path up to a node, itself not included
    for node in nodes:
        args = () if node.op in LEAVES else node.args
        before.append(max((before[a] + (nodes[a].op in called) for a in args), default=0))
    last = max((b + (nodes[k].op in called) for k, b in enumerate(before)), default=0)
    turn = [last] * len(nodes)
    for k in range(len(nodes) - 1, -1, -1):
        if nodes[k].op in called:
            turn[k] = before[k]
        if nodes[k].op not in LEAVES:
            for a in nodes[k].args:
                turn[a] = min(turn[a], turn[k])
    bodies: list[list[Instruction]] = [[] for _ in range(last + 1)]
    angles: list[dict[int, list[int]]] = [{} for _ in range(last + 1)]
    calls: list[list[Call]] = [[] for _ in range(last + 1)]
    for k, node in enumerate(nodes):
        if k in code:
            bodies[turn[k]].append(code[k])
        elif node.op not in called:
            continue
        elif OPERATIONS[node.op].way is Way.ANGLE:
            angles[turn[k]].setdefault(node.args[0], [-1, -1])[node.op == "cos"] = k
        else:
            calls[turn[k]].append(Call(node.op, node.args, (k,)))
    for pairs, place in zip(angles, calls, strict=True):
        for part in _evenly(list(pairs.items()), together):
            results = tuple(r for _, pair in part for r in pair)
            place.append(Call("sincos", tuple(a for a, _ in part), results))
    return bodies, calls


Item = TypeVar("Item")


def _evenly(items: list[Item], most: int) -> list[list[Item]]:
    """Parts of nearly equal length, none longer than `most`."""
    count = -(-len(items) // most)
    return [items[k * len(items) // count : (k + 1) * len(items) // count] for k in range(count)]


Wanted = Mapping[int, set[bool]]  # nodes that are outputs, with the signs in which they are stored


@dataclass(slots=True)
class _Allocation:
    """Decides, along the program, which value is in a register, which in which slot."""

    graph: Graph
    flipped: frozenset[int]
    registers: int
    piece: int
    store: int  # weight of a stored output in a piece
    constants: dict[int, float] = field(default_factory=dict)
    # when a value is read, the next time last
    uses: dict[int, list[int]] = field(default_factory=dict)
    held: set[int] = field(default_factory=set)  # values in registers
    place: dict[int, int] = field(default_factory=dict)  # value -> slot
    kept: dict[tuple[int, bool], int] = field(default_factory=dict)  # output and sign -> slot
    # values whose slot is given away after their last use
    own: set[int] = field(default_factory=set)
    free: list[int] = field(default_factory=list)
    queue: list[tuple[int, int]] = field(default_factory=list)  # (-next use, value)
    out: list[Instruction] = field(default_factory=list)
    slots: int = 0
    moves: int = 0

    def run(
        self, bodies: Sequence[Sequence[Instruction]], calls: Sequence[Sequence[Call]]
    ) -> Program:
        inputs = self._inputs()
        wanted: dict[int, set[bool]] = {}
        for refs in self.graph.results:
            for ref in refs:
                if ref.node not in self.constants:
                    wanted.setdefault(ref.node, set()).add(self._sign(ref))
        parts: list[Sequence[Instruction] | Call] = []
        for body, batch in zip(bodies, calls, strict=True):
            parts += [*_cut(body, wanted, self.piece, self.store), *batch]
        self._note_uses(parts, wanted)
        fixed, numbers = self._numbers()
        steps = self._steps(parts, wanted)
        outputs = tuple(
            tuple(numbers[r] if r in numbers else self.kept[r.node, self._sign(r)] for r in refs)
            for refs in self.graph.results
        )
        return Program(steps, self.constants, fixed, inputs, outputs, self.slots, self.moves)

    def _sign(self, ref: Ref) -> bool:
        return ref.negative != (ref.node in self.flipped)

    def _inputs(self) -> tuple[int, ...]:
        """The first slot of each input port."""
        first = []
        for port in self.graph.inputs:
            first.append(self.slots)
            self.slots += port.size
        for k, node in enumerate(self.graph.nodes):
            if node.op == "input":
                self.place[k] = self.kept[k, False] = first[node.args[0]] + node.args[1]
            elif node.op == "const":
                self.constants[k] = node.value
        return tuple(first)

    def _numbers(self) -> tuple[tuple[tuple[int, float], ...], dict[Ref, int]]:
        """Slots for the constants among the outputs, which nothing else may use."""
        fixed, places = [], {}
        for ref in {ref: None for refs in self.graph.results for ref in refs}:
            if ref.node in self.constants:
                number = self.constants[ref.node]
                fixed.append((self.slots, -number if ref.negative else number))
                places[ref] = self.slots
                self.slots += 1
        return tuple(fixed), places

    def _steps(
        self, parts: Sequence[Sequence[Instruction] | Call], wanted: Wanted
    ) -> tuple[tuple[Instruction, ...] | Call, ...]:
        steps: list[tuple[Instruction, ...] | Call] = []
        clock = 0
        for number, part in enumerate(parts):
            if isinstance(part, Call):
                steps.append(self._call(part, clock, wanted))
                clock += 1
                continue
            self.out = []
            for ins in part:
                self._step(ins, clock, wanted.get(ins.dest, ()))
                clock += 1
            if number == len(parts) - 1:
                self._copies(wanted)
            self._flush()
            if self.out:
                steps.append(tuple(self.out))
        return tuple(steps)

    def _note_uses(self, parts: Sequence[Sequence[Instruction] | Call], wanted: Wanted) -> None:
        clock = 0
        moved = {"input", *named(*CALLED)}  # values that no instruction stores
        for part in parts:
            for args in [part.arguments] if isinstance(part, Call) else [ins.args for ins in part]:
                for a in args:
                    if a not in self.constants:
                        self.uses.setdefault(a, []).append(clock)
                clock += 1
        for value in wanted:
            if True in wanted[value] and self.graph.nodes[value].op in moved:
                self.uses.setdefault(value, []).append(clock)  # its negative is stored at the end
        for places in self.uses.values():
            places.reverse()

    def _step(self, ins: Instruction, clock: int, signs: Iterable[bool]) -> None:
        """One instruction, with the loads before it and the stores after it."""
        args = {a for a in ins.args if a not in self.constants}
        for a in args - self.held:
            self._load(a)
        self.out.append(ins)
        for a in args:
            self._passed(a, clock)
        dest = ins.dest
        for minus in sorted(signs):
            slot = self.kept[dest, minus] = self._fresh()
            self._store(dest, slot, minus)
            if not minus:
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

    def _fresh(self) -> int:
        if self.free:
            return self.free.pop()
        self.slots += 1
        return self.slots - 1

    def _slot(self, value: int) -> int:
        """A slot for a value, as long as it is needed."""
        slot = self.place[value] = self._fresh()
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

    def _call(self, call: Call, clock: int, wanted: Wanted) -> Call:
        arguments = tuple(self.place[a] for a in call.arguments)
        results = range(self.slots, self.slots + len(call.results))  # side by side: one address
        self.slots += len(results)
        for r, slot in zip(call.results, results, strict=True):
            if r < 0:
                self.free.append(slot)  # nothing else is stored before this call is over
                continue
            self.place[r] = slot
            if False in wanted.get(r, ()):
                self.kept[r, False] = slot
            else:
                self.own.add(r)
        for a in call.arguments:
            self._passed(a, clock)
        self.queue.clear()
        return Call(call.op, arguments, tuple(results))

    def _copies(self, wanted: Wanted) -> None:
        """Outputs that are negatives of inputs or of results of calls."""
        for value, signs in wanted.items():
            if True in signs and (value, True) not in self.kept:
                if value not in self.held:
                    self._load(value)
                self.kept[value, True] = self._fresh()
                self._store(value, self.kept[value, True], True)
                self.held.discard(value)


def _cut(
    body: Sequence[Instruction], stores: Wanted, piece: int, store: int = USUAL.store
) -> list[Sequence[Instruction]]:
    """Pieces of about that weight, cut where few values are alive."""
    weights = [1 + store * len(stores.get(ins.dest, ())) for ins in body]
    reached = list(itertools.accumulate(weights, initial=0))
    count = -(-reached[-1] // piece)
    if count <= 1:
        return [body]
    last = {a: i for i, ins in enumerate(body) for a in ins.args}
    change = [0] * (len(body) + 1)
    for i, ins in enumerate(body):
        if ins.dest in last:
            change[i + 1] += 1
            change[last[ins.dest] + 1] -= 1
    alive = list(itertools.accumulate(change))
    cuts = [0]
    for k in range(1, count):
        low, high = (
            bisect.bisect_left(reached, (k + side) * reached[-1] // count) for side in (-0.2, 0.2)
        )
        cuts.append(min(range(max(low, cuts[-1] + 1), high + 1), key=lambda i: alive[i]))
    return [body[a:b] for a, b in zip(cuts, [*cuts[1:], len(body)], strict=True)]
