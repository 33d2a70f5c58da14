"""A graph with fewer operations for the same values: common factors pulled out of sums, constants gathered.

    a b + a c        -> a (b + c)            one multiplication less
    k1 (k2 x)        -> (k1 k2) x            one multiplication less

Both touch only operations whose results nobody else uses, so nothing that is shared is computed twice. Values change by
rounding only.
"""

from __future__ import annotations

from collections import Counter

from .graph import Builder, Graph, Ref
from .verify import verified

MERGED = {"mul": ("add", "sub", "mul"), "add": ("add", "sub"), "sub": ("add", "sub")}  # into which
Term = tuple[bool, tuple[int, ...]]  # sign and factors (nodes of the old graph) of a product


def simplify(graph: Graph) -> Graph:
    """The graph after factoring, as often as that helps."""
    cost = graph.total
    while True:
        factored = verified(_Pass(graph).run())
        if factored.total >= cost:
            return graph
        graph, cost = factored, factored.total


class _Pass:
    """One walk over the nodes of a graph that rebuilds it with factored sums."""

    def __init__(self, graph: Graph):
        self.graph = graph
        self.nodes = graph.nodes
        self.build = Builder()
        self.new: dict[int, Ref] = {}
        uses = Counter(r.node for refs in graph.results for r in refs)
        user = [""] * len(self.nodes)  # an operation that uses a node
        for op, args, _ in self.nodes:
            if op != "input":
                for a in args:
                    uses[a] += 1
                    user[a] = op
        # Whether a node is used once, by a sum or product that it can be merged into.
        self.inner = [
            user[k] in MERGED.get(node.op, ()) and uses[k] == 1 for k, node in enumerate(self.nodes)
        ]

    def run(self) -> Graph:
        for k, node in enumerate(self.nodes):
            if node.op == "input":
                self.new[k] = self.build.input(*node.args)
            elif node.op == "const":
                self.new[k] = self.build.const(node.value)
            elif not self.inner[k]:
                self.new[k] = self._node(k)
        results = [
            [-self.new[r.node] if r.negative else self.new[r.node] for r in refs]
            for refs in self.graph.results
        ]
        return self.build.finish(self.graph.inputs, self.graph.outputs, results)

    def _node(self, k: int) -> Ref:
        if self.nodes[k].op in ("add", "sub"):
            return self._sum([(s, self._factors(t)) for s, t in self._terms(k)], k)
        return self._as_it_was(k)

    def _terms(self, k: int) -> list[tuple[bool, int]]:
        """The signed terms of a sum, from left to right, looking into the sums that only it uses."""
        terms = []
        todo = [(False, k)]
        while todo:
            sign, j = todo.pop()
            node = self.nodes[j]
            if j != k and not (self.inner[j] and node.op in ("add", "sub")):
                terms.append((sign, j))
                continue
            first, second = node.args
            todo += [(sign != (node.op == "sub"), second), (sign, first)]
        return terms

    def _factors(self, k: int) -> tuple[int, ...]:
        """The factors of a product, looking into the products that only it uses; (k,) where it is none of these."""
        if self.nodes[k].op != "mul" or k in self.new:
            return (k,)
        factors = []
        todo = [k]
        while todo:
            j = todo.pop()
            if j == k or (self.inner[j] and self.nodes[j].op == "mul"):
                todo += reversed(self.nodes[j].args)
            else:
                factors.append(j)
        return tuple(factors)

    def _sum(self, terms: list[Term], k: int | None = None) -> Ref:
        """The sum of products, each time the factor that most of them share pulled out; k: the node that it was."""
        pulled = []
        while _repeated(terms):
            tally = Counter(f for _, factors in terms for f in set(factors) if len(factors) > 1)
            best = max(tally, key=lambda f: (tally[f], self.nodes[f].op != "const"), default=None)
            if best is None or tally[best] < 2:
                break
            inside, outside = [], []
            for sign, factors in terms:
                if len(factors) > 1 and best in factors:
                    rest = list(factors)
                    rest.remove(best)
                    inside.append((sign, tuple(rest)))
                else:
                    outside.append((sign, factors))
            pulled.append(self.build.mul(self.new[best], self._sum(inside)))
            terms = outside
        if not pulled and k is not None:
            return self._as_it_was(k)
        total = self._plain_sum(terms) if terms else pulled.pop()
        for part in reversed(pulled):
            total = self.build.add(part, total)
        return total

    def _plain_sum(self, terms: list[Term]) -> Ref:
        """The sum of products as they stand."""
        values = (-v if sign else v for sign, v in ((s, self._product(f)) for s, f in terms))
        total = next(values)
        for value in values:
            total = self.build.add(total, value)
        return total

    def _as_it_was(self, k: int) -> Ref:
        """A node in its old shape, with the nodes that only it uses; their constant factors are gathered."""
        whole = self.nodes[k]
        if not any([self.inner[a] for a in whole.args]):
            return self.build.operation(whole.op, [self.new[a] for a in whole.args])
        own: dict[int, Ref] = {}
        todo = [(k, False)]
        while todo:  # arguments first, from left to right
            j, ready = todo.pop()
            node = self.nodes[j]
            if ready:
                args = [own[a] if a in own else self.new[a] for a in node.args]
                own[j] = self.build.operation(node.op, args)
            elif node.op == "mul" and self._constants(factors := self._factors(j)) > 1:
                own[j] = self._product(factors)
            else:
                todo += [(j, True), *((a, False) for a in reversed(node.args) if a not in self.new)]
        return own[k]

    def _constants(self, factors: tuple[int, ...]) -> int:
        return sum(self.nodes[f].op == "const" for f in factors)

    def _product(self, factors: tuple[int, ...]) -> Ref:
        """The product of factors, its constants gathered into one."""
        number = 1.0
        for f in factors:
            if self.nodes[f].op == "const":
                number *= self.nodes[f].value
        value = self.build.const(number)
        for f in factors:
            if self.nodes[f].op != "const":
                value = self.build.mul(value, self.new[f])
        return value


def _repeated(terms: list[Term]) -> bool:
    """Whether any factor stands twice in products: only then one can be pulled out."""
    listed = [f for _, factors in terms if len(factors) > 1 for f in factors]
    return len(set(listed)) < len(listed)
