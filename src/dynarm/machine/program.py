"""A graph as an ordered program for a machine with fused multiply-adds: instructions, calls, pieces and memory slots.

A product all of whose uses are sums is fused into each of them and vanishes; an addition takes in one product at most,
so the products that vanish form an independent set of the graph whose edges are sums of two products. Which product
joins which sum is decided here, once, and never by the compiler: results are the same bits for every vector width.

Values live in registers inside a piece and in slots of a workspace between pieces. sin, cos and tanh are calls between
pieces, from slots to slots, so that no call interrupts straight-line code.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from ..graph import Graph, Node

CALLS = ("sin", "cos", "tanh")
PIECE = 1200  # instructions in one function: register allocation is more than linear in its length


class Instruction(NamedTuple):
    """dest = op(args). For `fma` the value is (+-a b) + (+-c), signs given by `minus` = (product, addend)."""

    op: str
    dest: int
    args: tuple[int, ...]
    minus: tuple[bool, bool] = (False, False)


class Call(NamedTuple):
    """sin and cos, or tanh, of one slot into others; -1 where a result is not wanted by anybody."""

    op: str
    argument: int
    results: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Piece:
    """Straight-line code: slots to load, instructions, then values to store (slot, value, negated)."""

    loads: dict[int, int]
    instructions: tuple[Instruction, ...]
    stores: tuple[tuple[int, int, bool], ...]


@dataclass(frozen=True, slots=True)
class Program:
    """Pieces and calls in order. Slots: inputs by port, outputs by port, then temporaries."""

    steps: tuple[Piece | Call, ...]
    constants: dict[int, float]
    fixed: tuple[
        tuple[int, float], ...
    ]  # output slots that hold a constant, written once before the loop
    inputs: tuple[int, ...]  # first slot of each input port
    outputs: tuple[int, ...]
    slots: int


def program_of(graph: Graph, fused: bool = True, piece: int = PIECE) -> Program:
    """The graph as pieces of at most `piece` instructions, with multiply-adds fused where the host has them."""
    vanished = fused_products(graph) if fused else frozenset()
    rounds = _rounds(graph)
    bodies: list[list[Instruction]] = []
    calls: dict[int, list[Call]] = {}
    return _Layout(graph, vanished, rounds, piece, bodies, calls).program()


def users_of(graph: Graph) -> list[list[int]]:
    """For each node the nodes that read it."""
    users: list[list[int]] = [[] for _ in graph.nodes]
    for k, node in enumerate(graph.nodes):
        if node.op != "input":
            for a in set(node.args):
                users[a].append(k)
    return users


def fused_products(graph: Graph) -> frozenset[int]:
    """Products that vanish into the sums which use them: a large independent set, by least degree first."""
    nodes, users = graph.nodes, users_of(graph)
    kept = {ref.node for refs in graph.results for ref in refs}
    able = {
        k
        for k, node in enumerate(nodes)
        if node.op == "mul"
        and k not in kept
        and users[k]
        and all(nodes[u].op in ("add", "sub") for u in users[k])
    }
    rivals: dict[int, set[int]] = {k: set() for k in able}
    for node in nodes:
        if node.op in ("add", "sub") and node.args[0] in able and node.args[1] in able:
            rivals[node.args[0]].add(node.args[1])
            rivals[node.args[1]].add(node.args[0])
    heap = [(len(r), k) for k, r in rivals.items()]
    heapq.heapify(heap)
    degree = {k: len(r) for k, r in rivals.items()}
    state: dict[int, bool] = {}
    while heap:
        d, k = heapq.heappop(heap)
        if k in state or d != degree[k]:
            continue
        state[k] = True
        for rival in rivals[k]:
            if rival in state:
                continue
            state[rival] = False
            for other in rivals[rival]:
                if other not in state:
                    degree[other] -= 1
                    heapq.heappush(heap, (degree[other], other))
    return frozenset(k for k, taken in state.items() if taken)


def _rounds(graph: Graph) -> list[int]:
    """For each node the number of calls on the longest path up to it, itself not included."""
    found = []
    for node in graph.nodes:
        if node.op in ("input", "const"):
            found.append(0)
        else:
            found.append(max(found[a] + (graph.nodes[a].op in CALLS) for a in node.args))
    return found


@dataclass(slots=True)
class _Layout:
    graph: Graph
    vanished: frozenset[int]
    rounds: list[int]
    piece: int
    bodies: list[list[Instruction]]
    calls: dict[int, list[Call]]

    def program(self) -> Program:
        graph = self.graph
        inputs, size = [], 0
        for port in graph.inputs:
            inputs.append(size)
            size += port.size
        outputs = []
        for port in graph.outputs:
            outputs.append(size)
            size += port.size
        slot = {
            k: inputs[node.args[0]] + node.args[1]
            for k, node in enumerate(graph.nodes)
            if node.op == "input"
        }
        constants = {k: node.value for k, node in enumerate(graph.nodes) if node.op == "const"}
        batches = self._batches()
        where: dict[int, int] = {}
        for index, batch in enumerate(batches):
            if isinstance(batch, list):
                for ins in batch:
                    where[ins.dest] = index

        def crosses(value: int) -> bool:
            return value not in slot and value not in constants

        for index, batch in enumerate(batches):
            needs: Iterable[int]
            if isinstance(batch, list):
                needs = (a for ins in batch for a in ins.args if where.get(a) != index)
            else:
                needs = (batch.argument, *(r for r in batch.results if r >= 0))
            for value in needs:
                if crosses(value):
                    slot[value] = size
                    size += 1
        stores: dict[int, list[tuple[int, int, bool]]] = {}
        fixed = []
        last = len(batches) - 1
        for port, first, refs in zip(graph.outputs, outputs, graph.results, strict=True):
            for e, ref in enumerate(refs):
                if ref.node in constants:
                    value = constants[ref.node]
                    fixed.append((first + e, -value if ref.negative else value))
                else:
                    stores.setdefault(where.get(ref.node, last), []).append(
                        (first + e, ref.node, ref.negative)
                    )
        steps: list[Piece | Call] = []
        for index, batch in enumerate(batches):
            if isinstance(batch, Call):
                steps.append(
                    Call(
                        batch.op,
                        slot[batch.argument],
                        tuple(slot[r] if r >= 0 else -1 for r in batch.results),
                    )
                )
                continue
            out = [(slot[i.dest], i.dest, False) for i in batch if i.dest in slot] + stores.get(
                index, []
            )
            read = {a for ins in batch for a in ins.args} | {value for _, value, _ in out}
            loads = {a: slot[a] for a in read if a in slot and where.get(a) != index}
            if batch or out:
                steps.append(Piece(loads, tuple(batch), tuple(out)))
        size += 1  # the last slot takes results of calls that nobody wants
        return Program(tuple(steps), constants, tuple(fixed), tuple(inputs), tuple(outputs), size)

    def _batches(self) -> list[list[Instruction] | Call]:
        """Instructions and calls in order; arguments of calls as early as they can be, everything else last."""
        nodes = self.graph.nodes
        last = max((r + (nodes[k].op in CALLS) for k, r in enumerate(self.rounds)), default=0)
        turn = [last] * len(nodes)
        for k in range(len(nodes) - 1, -1, -1):
            node = nodes[k]
            if node.op in CALLS:
                turn[k] = self.rounds[k]
            if node.op not in ("input", "const"):
                for a in node.args:
                    turn[a] = min(turn[a], turn[k])
        bodies: list[list[Instruction]] = [[] for _ in range(last + 1)]
        angles: list[dict[tuple[str, int], list[int]]] = [{} for _ in range(last + 1)]
        for k, node in enumerate(nodes):
            if node.op in ("input", "const") or k in self.vanished:
                continue
            if node.op == "tanh":
                angles[turn[k]][node.op, node.args[0]] = [k]
            elif node.op in CALLS:
                pair = angles[turn[k]].setdefault(("sincos", node.args[0]), [-1, -1])
                pair[node.op == "cos"] = k
            else:
                bodies[turn[k]].append(self._instruction(k, node))
        batches: list[list[Instruction] | Call] = []
        for body, calls in zip(bodies, angles, strict=True):
            count = max(1, -(-len(body) // self.piece))
            for i in range(count):
                batches.append(body[i * len(body) // count : (i + 1) * len(body) // count])
            batches += [
                Call(op, argument, tuple(results)) for (op, argument), results in calls.items()
            ]
        return batches

    def _instruction(self, k: int, node: Node) -> Instruction:
        if node.op in ("add", "sub"):
            x, y = node.args
            minus = node.op == "sub"
            if y in self.vanished:
                return Instruction("fma", k, (*self.graph.nodes[y].args, x), (minus, False))
            if x in self.vanished:
                return Instruction("fma", k, (*self.graph.nodes[x].args, y), (False, minus))
        return Instruction(node.op, k, node.args)
