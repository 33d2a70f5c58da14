"""A graph as instructions of a machine with fused multiply-adds.

A product all of whose uses are sums is fused into each of them and vanishes; an addition takes in one product at most,
so the products that vanish form an independent set of the graph whose edges are the sums of two products. Which product
joins which sum is decided here, once, and never by the compiler: results are the same bits for every vector width.
"""

from __future__ import annotations

import heapq
from typing import NamedTuple

from ...graph.graph import Graph
from ...graph.ops import LEAVES, OPERATIONS


class Instruction(NamedTuple):
    """dest = op(args). `fma` is (+-a b) + (+-c), with minus = (product, addend).

    Two operations move values: `load` (args: a slot of the workspace) and `store` (of dest; minus[0]: its negative).
    """

    op: str
    dest: int
    args: tuple[int, ...]
    minus: tuple[bool, bool] = (False, False)


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
        and all(nodes[u].op in ("add", "sub") for u in users[k])
    }
    rivals: dict[int, set[int]] = {k: set() for k in able}
    for node in nodes:
        if node.op in ("add", "sub") and node.args[0] in able and node.args[1] in able:
            rivals[node.args[0]].add(node.args[1])
            rivals[node.args[1]].add(node.args[0])
    degree = {k: len(r) for k, r in rivals.items()}
    heap = [(d, k) for k, d in degree.items()]
    heapq.heapify(heap)
    taken: dict[int, bool] = {}
    while heap:
        d, k = heapq.heappop(heap)
        if k in taken or d != degree[k]:
            continue
        taken[k] = True
        for rival in rivals[k]:
            if rival in taken:
                continue
            taken[rival] = False
            for other in rivals[rival]:
                if other not in taken:
                    degree[other] -= 1
                    heapq.heappush(heap, (degree[other], other))
    return frozenset(k for k, chosen in taken.items() if chosen)


def negated(graph: Graph) -> frozenset[int]:
    """Sums and differences of which nothing but the negative is wanted, as outputs."""
    users = users_of(graph)
    signs: dict[int, set[bool]] = {}
    for refs in graph.results:
        for ref in refs:
            signs.setdefault(ref.node, set()).add(ref.negative)
    return frozenset(
        k
        for k, wanted in signs.items()
        if wanted == {True} and not users[k] and graph.nodes[k].op in ("add", "sub")
    )


def code_of(graph: Graph, fused: bool) -> tuple[dict[int, Instruction], frozenset[int]]:
    """For each operation that is left its instruction (calls apart), and the nodes computed with the opposite sign."""
    vanished = fused_products(graph) if fused else frozenset()
    opposite = negated(graph)
    code, flipped = {}, set()
    for k, node in enumerate(graph.nodes):
        if k in vanished or node.op in LEAVES or OPERATIONS[node.op].called:
            continue
        ins = _instruction(graph, k, vanished)
        if k in opposite and ins.op == "fma":
            ins = ins._replace(minus=(not ins.minus[0], not ins.minus[1]))
            flipped.add(k)
        elif k in opposite and ins.op == "sub":
            ins = ins._replace(args=ins.args[::-1])
            flipped.add(k)
        code[k] = ins
    return code, frozenset(flipped)


def _instruction(graph: Graph, k: int, vanished: frozenset[int]) -> Instruction:
    node = graph.nodes[k]
    if node.op in ("add", "sub"):
        x, y = node.args
        minus = node.op == "sub"
        if y in vanished:
            return Instruction("fma", k, (*graph.nodes[y].args, x), (minus, False))
        if x in vanished:
            return Instruction("fma", k, (*graph.nodes[x].args, y), (False, minus))
    return Instruction(node.op, k, node.args)
