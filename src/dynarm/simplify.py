"""A graph with fewer operations for the same values: common factors pulled out of sums, constants gathered.

    a b + a c        -> a (b + c)            one multiplication less
    k1 (k2 x)        -> (k1 k2) x            one multiplication less

Both touch only operations whose results nobody else uses, so nothing that is shared is computed twice. Values change by
rounding only.
"""

from __future__ import annotations

from collections import Counter

from .graph import Builder, Graph, Ref

Term = tuple[bool, tuple[int, ...]]  # sign and factors (nodes of the old graph) of a product


def simplify(graph: Graph) -> Graph:
    """The graph after factoring, as often as that helps."""
    while True:
        found = _Pass(graph).run()
        if found.count().total >= graph.count().total:
            return graph
        graph = found


class _Pass:
    """One walk over the nodes of a graph that rebuilds it with factored sums."""

    def __init__(self, graph: Graph):
        self.graph = graph
        self.nodes = graph.nodes
        self.build = Builder()
        self.new: dict[int, Ref] = {}
        self.uses = Counter(r.node for refs in graph.results for r in refs)
        self.users: dict[int, int] = {}  # for nodes used once: their user
        for k, node in enumerate(self.nodes):
            if node.op != "input":
                for a in node.args:
                    self.uses[a] += 1
                    self.users[a] = k

    def run(self) -> Graph:
        for k, node in enumerate(self.nodes):
            if node.op == "input":
                self.new[k] = self.build.input(*node.args)
            elif node.op == "const":
                self.new[k] = self.build.const(node.value)
            elif not self._inner(k):
                self.new[k] = self._node(k)
        results = [
            [-self.new[r.node] if r.negative else self.new[r.node] for r in refs]
            for refs in self.graph.results
        ]
        return self.build.finish(self.graph.inputs, self.graph.outputs, results)

    def _alone(self, k: int) -> bool:
        return self.uses[k] == 1 and k in self.users

    def _inner(self, k: int) -> bool:
        """Whether a node is used once, by a sum or product that it can be merged into."""
        node = self.nodes[k]
        if not self._alone(k):
            return False
        user = self.nodes[self.users[k]].op
        if node.op == "mul":
            return user in ("add", "sub", "mul")
        return node.op in ("add", "sub") and user in ("add", "sub")

    def _node(self, k: int) -> Ref:
        node = self.nodes[k]
        if node.op in ("add", "sub"):
            return self._sum([(s, self._factors(t)) for s, t in self._terms(k, False)], k)
        if node.op == "mul":
            return self._product(self._factors(k), k)
        return self.build.operation(node.op, [self.new[a] for a in node.args])

    def _terms(self, k: int, negative: bool) -> list[tuple[bool, int]]:
        """The signed terms of a sum, looking into the sums that only it uses."""
        node = self.nodes[k]
        if node.op not in ("add", "sub"):
            return [(negative, k)]
        found = []
        for a, flip in zip(node.args, (False, node.op == "sub"), strict=True):
            sign = negative != flip
            merged = self._inner(a) and self.nodes[a].op in ("add", "sub")
            found += self._terms(a, sign) if merged else [(sign, a)]
        return found

    def _factors(self, k: int) -> tuple[int, ...]:
        """The factors of a product, looking into the products that only it uses; (k,) where it is none of these."""
        node = self.nodes[k]
        if node.op != "mul" or k in self.new:
            return (k,)
        found: tuple[int, ...] = ()
        for a in node.args:
            found += self._factors(a) if self._inner(a) and self.nodes[a].op == "mul" else (a,)
        return found

    def _sum(self, terms: list[Term], k: int | None = None) -> Ref:
        """The sum of products, the factor that most of them share pulled out first."""
        tally = Counter(f for _, factors in terms for f in set(factors) if len(factors) > 1)
        best = max(tally, key=lambda f: (tally[f], self.nodes[f].op != "const"), default=None)
        if best is None or tally[best] < 2:
            return self._plain_sum(terms, k)
        inside, outside = [], []
        for sign, factors in terms:
            if len(factors) > 1 and best in factors:
                rest = list(factors)
                rest.remove(best)
                inside.append((sign, tuple(rest)))
            else:
                outside.append((sign, factors))
        factored = self.build.mul(self.new[best], self._sum(inside))
        return factored if not outside else self.build.add(factored, self._sum(outside))

    def _plain_sum(self, terms: list[Term], k: int | None) -> Ref:
        if k is not None:
            return self._as_it_was(k)
        total: Ref | None = None
        for sign, factors in terms:
            value = self._product(factors)
            value = -value if sign else value
            total = value if total is None else self.build.add(total, value)
        assert total is not None
        return total

    def _as_it_was(self, k: int) -> Ref:
        """A node in its old shape, with the nodes that only it uses."""
        if k in self.new:
            return self.new[k]
        node = self.nodes[k]
        if node.op == "mul":
            return self._product(self._factors(k), k)
        return self.build.operation(node.op, [self._as_it_was(a) for a in node.args])

    def _product(self, factors: tuple[int, ...], k: int | None = None) -> Ref:
        """The product of factors, its constants gathered into one."""
        constants = [f for f in factors if self.nodes[f].op == "const"]
        if k is not None and len(constants) < 2:
            node = self.nodes[k]
            if node.op != "mul" or k in self.new:
                return self._as_it_was(k)
            args = [self._as_it_was(a) for a in node.args]
            return self.build.mul(*args)
        number = 1.0
        for f in constants:
            number *= self.nodes[f].value
        value = self.build.const(number)
        for f in factors:
            if self.nodes[f].op != "const":
                value = self.build.mul(value, self.new[f])
        return value
