"""What is true of every graph, looked at between the passes that rewrite it: after tracing, factoring, before lowering.

A builder can only make graphs in this normal form, and every pass relies on it. The tests switch the verifier on (the
variable DYNARM_VERIFY in the environment, so that processes they start have it as well); elsewhere it costs nothing.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence

from .graph import Graph, Node
from .ops import LEAVES, OPERATIONS, Parity

ON = bool(os.environ.get("DYNARM_VERIFY"))


def verified(graph: Graph, shared: bool = True) -> Graph:
    """The graph itself; where the verifier is on, an AssertionError tells the first thing that is wrong with it."""
    if ON:
        fault = next(faults(graph, shared), None)
        if fault is not None:
            raise AssertionError(f"the graph of {[p.name for p in graph.outputs]}: {fault}")
    return graph


def faults(graph: Graph, shared: bool = True) -> Iterator[str]:
    """All that is wrong with a graph, the structure first; shared: no operation may stand in it twice."""
    broken = False
    for fault in _structure(graph):
        broken = True
        yield fault
    if broken:
        return  # what follows looks nodes up
    yield from _repetitions(graph.nodes if shared else ())
    for k, node in enumerate(graph.nodes):
        if node.op not in LEAVES:
            for fault in _normal(graph.nodes, node):
                yield f"node {k}, {_shown(node)}: {fault}"
    yield from _uses(graph)


def _shown(node: Node) -> str:
    return f"{node.op}{node.args}" if node.op != "const" else f"const {node.value}"


# ---- structure: every number in the graph names something that is there


def _structure(graph: Graph) -> Iterator[str]:
    for k, node in enumerate(graph.nodes):
        fault = _leaf(graph, node) if node.op in LEAVES else _operation(node, k)
        if fault:
            yield f"node {k}, {_shown(node)}: {fault}"
    if len(graph.results) != len(graph.outputs):
        yield f"{len(graph.outputs)} outputs, and results for {len(graph.results)}"
    for port, refs in zip(graph.outputs, graph.results, strict=False):
        if len(refs) != port.size:
            yield f"output {port.name} has {len(refs)} results, its port {port.size}"
        for ref in refs:
            if not _there(ref.node, len(graph.nodes)):
                yield f"output {port.name} refers to node {ref.node} of {len(graph.nodes)}"


def _there(index: int, size: int) -> bool:
    return 0 <= index < size


def _leaf(graph: Graph, node: Node) -> str:
    if node.op == "const":
        signed = math.copysign(1.0, node.value) < 0 and not math.isnan(node.value)
        return "its sign belongs on the reference" if signed else "has arguments" * bool(node.args)
    if len(node.args) != 2:
        return "an input is a port and an element"
    port, element = node.args
    if not _there(port, len(graph.inputs)):
        return f"there are {len(graph.inputs)} inputs"
    size = graph.inputs[port].size
    return "" if _there(element, size) else f"port {graph.inputs[port].name} has {size} elements"


def _operation(node: Node, k: int) -> str:
    if node.op not in OPERATIONS:
        return "the table has no such operation"
    arity = OPERATIONS[node.op].arity
    if len(node.args) != arity:
        return f"takes {arity} arguments"
    late = [a for a in node.args if not _there(a, k)]
    return f"reads node {late[0]}, which is not before it" if late else ""


# ---- normal form


def _repetitions(nodes: Sequence[Node]) -> Iterator[str]:
    seen: dict[Node, int] = {}
    for k, node in enumerate(nodes):
        first = seen.setdefault(node, k)
        if first != k:
            yield f"node {k}, {_shown(node)}: stands already at {first}"


def _normal(nodes: Sequence[Node], node: Node) -> Iterator[str]:
    """Why the builder would have written this operation differently."""
    numbers = [nodes[a].value if nodes[a].op == "const" else None for a in node.args]
    if None not in numbers and not (node.op == "div" and numbers[1] == 0):
        yield "all arguments are numbers, and it is not folded"
    elif len(numbers) == 2 and _trivial(node.op, numbers[0], numbers[1]):
        yield "an operation with this number is none"
    if len(node.args) < 2 or node.op == "div" or negation(nodes, node):
        return
    low, high = node.args
    if low > high:
        yield "its arguments are not in order"
    if low == high and node.op != "mul":
        yield "its arguments are the same"


def _trivial(op: str, x: float | None, y: float | None) -> bool:
    """Whether one number among two arguments makes an operation void, or a division a product."""
    if op == "add":
        return 0 in (x, y)
    if op == "sub":
        return y == 0
    if op == "mul":
        return 0 in (x, y) or 1 in (x, y)
    if op == "div":
        return x == 0 or (y is not None and y != 0 and math.frexp(y)[0] == 0.5)
    return False


def negation(nodes: Sequence[Node], node: Node) -> bool:
    """Whether a node is 0 - x: how the sign of an argument is written that is neither even nor odd."""
    return node.op == "sub" and nodes[node.args[0]] == Node("const")


def _uses(graph: Graph) -> Iterator[str]:
    """Every node is needed, and a negation only by a function that cannot do without."""
    users: list[list[Node]] = [[] for _ in graph.nodes]
    for node in graph.nodes:
        for a in node.args if node.op not in LEAVES else ():
            users[a].append(node)
    results = {ref.node for refs in graph.results for ref in refs}
    for k, node in enumerate(graph.nodes):
        if not users[k] and k not in results:
            yield f"node {k}, {_shown(node)}: nothing needs it"
        if node.op not in LEAVES and negation(graph.nodes, node):
            others = [u for u in users[k] if OPERATIONS[u.op].parity is not Parity.NEITHER]
            if others or k in results:
                yield f"node {k}, {_shown(node)}: a sign belongs on the reference"
