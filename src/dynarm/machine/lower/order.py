"""Orders of straight-line code: as it was written, one output after another, or by latency; and what an order costs.

The order in which a graph was written is mostly good: recursions keep few values alive. Derivatives and other graphs
that were written layer by layer move less between registers and memory when every output is evaluated depth first.
Long chains of dependent operations (a factorisation, say) leave the processor waiting unless independent work stands
near them; there the longest way to an output goes first.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence

from ...graph.graph import Graph
from ...graph.ops import OPERATIONS
from ..host import USUAL, Tuning
from .fusion import Instruction


def latency(ins: Instruction, tuning: Tuning = USUAL) -> int:
    """Cycles from the start of an instruction to its result."""
    op = OPERATIONS.get(ins.op)  # a multiply-add is of no graph
    return tuning.slow if op is not None and op.slow else tuning.latency


def cycles(order: Sequence[Instruction], tuning: Tuning = USUAL) -> int:
    """Cycles that an order takes on a processor which starts what is ready within a window, loads and stores apart."""
    window, fetch = tuning.window, tuning.fetch
    start: list[int] = []
    done: dict[int, int] = {}
    busy: dict[int, int] = {}
    skip: dict[int, int] = {}  # from a full cycle to one that may have room

    def room(t: int) -> int:
        passed = []
        while t in skip:
            passed.append(t)
            t = skip[t]
        for p in passed:
            skip[p] = t
        return t

    for k, ins in enumerate(order):
        t = max((done.get(a, 0) for a in ins.args), default=0)
        t = room(max(t, k // fetch, start[k - window] if k >= window else 0))
        busy[t] = busy.get(t, 0) + 1
        if busy[t] == tuning.ports:
            skip[t] = t + 1
        start.append(t)
        done[ins.dest] = t + latency(ins, tuning)
    return max(done.values(), default=0)


def outputs_by_rows(graph: Graph) -> list[int]:
    """The nodes that outputs are read from, as they are written."""
    return [ref.node for refs in graph.results for ref in refs]


def outputs_by_columns(graph: Graph) -> list[int]:
    """The same, last column first: columns of derivatives share more than rows, and the last ones are the shortest."""
    nodes = []
    for port, refs in zip(graph.outputs, graph.results, strict=True):
        width = port.shape[-1] if port.shape else 1
        nodes += [ref.node for column in range(width) for ref in refs[column::width]]
    return nodes[::-1]


def depth_first(body: Sequence[Instruction], roots: Sequence[int]) -> list[Instruction]:
    """The same instructions, one root after another, the deeper argument of each first."""
    code = {ins.dest: ins for ins in body}
    depth: dict[int, int] = {}
    for ins in body:
        depth[ins.dest] = 1 + max((depth.get(a, 0) for a in ins.args), default=0)

    def arguments(k: int) -> Iterator[int]:
        return iter(sorted(code[k].args, key=lambda a: -depth.get(a, 0)))

    order: list[Instruction] = []
    seen: set[int] = set()
    for root in (*roots, *code):
        if root in seen or root not in code:
            continue
        seen.add(root)
        stack = [(root, arguments(root))]
        while stack:
            k, rest = stack[-1]
            fresh = next((a for a in rest if a in code and a not in seen), None)
            if fresh is None:
                order.append(code[k])
                stack.pop()
            else:
                seen.add(fresh)
                stack.append((fresh, arguments(fresh)))
    return order


def by_latency(body: Sequence[Instruction], tuning: Tuning = USUAL) -> list[Instruction]:
    """The same instructions, as they become ready, those with the longest way to an output first."""
    code = {ins.dest: ins for ins in body}
    needs = {k: [a for a in set(ins.args) if a in code] for k, ins in code.items()}
    users: dict[int, list[int]] = {k: [] for k in code}
    for k, arguments in needs.items():
        for a in arguments:
            users[a].append(k)
    way: dict[int, int] = {}
    for ins in reversed(body):
        way[ins.dest] = latency(ins, tuning) + max((way[u] for u in users[ins.dest]), default=0)
    rank = {ins.dest: (-way[ins.dest], place) for place, ins in enumerate(body)}
    missing = {k: len(arguments) for k, arguments in needs.items()}
    unread = {k: len(readers) for k, readers in users.items()}
    ready: list[tuple[int, int, int]] = []
    later = [(0, *rank[k], k) for k in code if not missing[k]]
    known = dict.fromkeys(code, 0)  # when the operands are there
    order: list[Instruction] = []
    alive = clock = started = 0

    def relief(item: tuple[int, int, int]) -> tuple[int, tuple[int, int, int]]:
        k = item[2]
        return (unread[k] > 0) - sum(unread[a] == 1 for a in needs[k]), item

    heapq.heapify(later)
    while ready or later:
        while later and later[0][0] <= clock:
            heapq.heappush(ready, heapq.heappop(later)[1:])
        if not ready or started == tuning.ports:
            clock, started = (clock + 1 if ready else later[0][0]), 0
            continue
        if alive < tuning.pressure:
            k = heapq.heappop(ready)[2]
        else:
            chosen = min(ready, key=relief)
            ready.remove(chosen)
            heapq.heapify(ready)
            k = chosen[2]
        order.append(code[k])
        started += 1
        for a in needs[k]:
            unread[a] -= 1
            alive -= unread[a] == 0
        alive += unread[k] > 0
        for u in users[k]:
            missing[u] -= 1
            known[u] = max(known[u], clock + latency(code[k], tuning))
            if not missing[u]:
                heapq.heappush(later, (known[u], *rank[u], u))
    return order
