"""A graph without the summands that a motion does not need, as long as its outputs stay within a limit.

Every sum of the graph may lose one of its two summands. What that does to the outputs is estimated to first order, by
the outputs' derivatives along the motion, and those that cost least error for each operation saved are tried first;
what counts is the deviation of all omissions together, computed and not estimated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..graph.graph import Builder, Graph, Ref
from ..graph.simplify import simplify

ROUNDS = 6  # walks over all sums; each begins with what the last one left
SUMS = ("add", "sub")


@dataclass(frozen=True, slots=True)
class Omission:
    """A summand that may go: the sum's node, the place of what stays, its error as a part of the limit."""

    node: int
    stays: int
    error: float


def without_summands(
    graph: Graph, inputs: Sequence[np.ndarray], exact: np.ndarray, limit: np.ndarray
) -> tuple[Graph, int]:
    """The cheapest graph found whose outputs (N, n) stay within limit (n,) of the exact ones, and how many went."""
    gone = 0
    for _ in range(ROUNDS):
        shorter, more = _walk(graph, inputs, exact, limit)
        if not more:
            break
        graph, gone = shorter, gone + more
    factored = simplify(graph)
    if factored.total < graph.total and _within(factored, inputs, exact, limit):
        graph = factored
    return graph, gone


def _within(
    graph: Graph, inputs: Sequence[np.ndarray], exact: np.ndarray, limit: np.ndarray
) -> bool:
    return bool((np.abs(graph.evaluate(*inputs)[0] - exact).max(axis=0) <= limit).all())


def _walk(
    graph: Graph, inputs: Sequence[np.ndarray], exact: np.ndarray, limit: np.ndarray
) -> tuple[Graph, int]:
    """One walk over the sums, the most worthwhile omission first."""
    chosen: dict[int, int] = {}
    best, cost = graph, graph.total
    for one in _candidates(graph, inputs, limit):
        if one.node in chosen:
            continue
        trial = _rebuilt(graph, {**chosen, one.node: one.stays})
        if trial.total < cost and _within(trial, inputs, exact, limit):
            chosen[one.node] = one.stays
            best, cost = trial, trial.total
    return best, len(chosen)


def _candidates(graph: Graph, inputs: Sequence[np.ndarray], limit: np.ndarray) -> list[Omission]:
    """Omissions that are no larger than the limit alone, by error for each operation saved."""
    values = _values(graph, inputs)
    slopes = _slopes(graph, values)
    scale = np.maximum(limit, 1e-300)[:, None]
    told = []
    for k, node in enumerate(graph.nodes):
        if node.op not in SUMS or k not in slopes:
            continue
        for stays in (0, 1):
            lost = values[node.args[1 - stays]]
            error = float((np.abs(slopes[k] * lost).max(axis=1) / scale[:, 0]).max())
            if error <= 2.0:
                saved = graph.total - _rebuilt(graph, {k: stays}).total
                told.append((error / max(saved, 1), k, Omission(k, stays, error)))
    return [one for _, _, one in sorted(told, key=lambda x: (float(f"{x[0]:.5e}"), x[1]))]


def _values(graph: Graph, inputs: Sequence[np.ndarray]) -> list[np.ndarray]:
    values = graph.node_values([np.asarray(x, float) for x in inputs])
    return [np.broadcast_to(x, len(inputs[0])) for x in values]


def _slopes(graph: Graph, values: Sequence[np.ndarray]) -> dict[int, np.ndarray]:
    """By node (n, N): the derivative of every output by it; through sums and products, all that joint forces have."""
    (refs,) = graph.results
    samples = len(values[0])
    slopes: dict[int, np.ndarray] = {}

    def put(k: int, more: np.ndarray) -> None:
        slopes[k] = slopes[k] + more if k in slopes else more

    for i, ref in enumerate(refs):
        one = np.zeros((len(refs), samples))
        one[i] = -1.0 if ref.negative else 1.0
        put(ref.node, one)
    for k in range(len(graph.nodes) - 1, -1, -1):
        node = graph.nodes[k]
        if k not in slopes or node.op not in ("add", "sub", "mul"):
            continue
        x, y = node.args
        if node.op == "mul":
            put(x, slopes[k] * values[y])
            put(y, slopes[k] * values[x])
        else:
            put(x, slopes[k])
            put(y, slopes[k] if node.op == "add" else -slopes[k])
    return slopes


def _rebuilt(graph: Graph, stays: dict[int, int]) -> Graph:
    """The graph in which some sums are one of their summands."""
    build = Builder()
    new: list[Ref] = []
    for k, node in enumerate(graph.nodes):
        if node.op == "input":
            new.append(build.input(*node.args))
        elif node.op == "const":
            new.append(build.const(node.value))
        elif k in stays:
            ref = new[node.args[stays[k]]]
            new.append(-ref if node.op == "sub" and stays[k] == 1 else ref)
        else:
            new.append(build.operation(node.op, [new[a] for a in node.args]))
    results = [
        [-new[r.node] if r.negative else new[r.node] for r in refs] for refs in graph.results
    ]
    return build.finish(graph.inputs, graph.outputs, results)
