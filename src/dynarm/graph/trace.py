"""Scalar functions -> graph, and what is done with graphs while they are being traced.

A function over scalars is run on `graph.Symbol`s, which write every operation into a `graph.Builder` once. Derivatives
are CasADi's (`graph/casadi_bridge.py`), which is imported when the first one is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..algebra.vectors import Nested, Scalar
from ..border.forks import IMPORTS
from .graph import Builder, Graph, Port, Ref, Symbol
from .verify import verified


def flatten(nested: Nested) -> list[Scalar]:
    """The scalars of nested lists, in C order."""
    if isinstance(nested, (list, tuple)):
        return [x for item in nested for x in flatten(item)]
    return [nested]


def trace_function(
    inputs: Sequence[Port],
    outputs: Sequence[Port],
    function: Callable[..., Nested],
    share: bool = True,
    build: Builder | None = None,
) -> Graph:
    """The graph of a function over scalars: one flat list of scalars an input, nested lists out.

    share=False keeps every repetition as it was written. build: what collects the operations, if not a plain one.
    """
    build = Builder(share) if build is None else build
    given = [
        [Symbol(build, build.input(k, j)) for j in range(port.size)]
        for k, port in enumerate(inputs)
    ]
    values = function(*given)
    if len(outputs) == 1:
        values = (values,)
    results = [[_ref(build, x) for x in flatten(value)] for value in values]
    for port, refs in zip(outputs, results, strict=True):
        if len(refs) != port.size:
            raise AssertionError(
                f"output {port.name} has {len(refs)} entries, its port {port.size}"
            )
    return verified(build.finish(inputs, outputs, results), share)


def _ref(build: Builder, x: Scalar) -> Ref:
    return x.ref if isinstance(x, Symbol) else build.const(x)


def jacobian(values: Sequence[Scalar], variables: Sequence[Symbol]) -> list[list[Scalar]]:
    """d values_i / d variables_j by automatic differentiation; entries that vanish are 0."""
    with IMPORTS:  # a child forked meanwhile would wait for the end of the import for ever
        from . import casadi_bridge

    return casadi_bridge.jacobian(values, variables)


def substitute(
    values: Sequence[Scalar], old: Sequence[Symbol], new: Sequence[Scalar]
) -> list[Scalar]:
    """The values with old symbols replaced by new expressions."""
    build = old[0].builder
    refs = [_ref(build, v) for v in values]
    replaced = build.replace(refs, [o.ref for o in old], [_ref(build, n) for n in new])
    return [Symbol(build, r) for r in replaced]


def fresh_symbols(like: Symbol, name: int, size: int) -> list[Symbol]:
    """Symbols that stand for something substituted later; `name` keeps them apart from real inputs."""
    return [Symbol(like.builder, like.builder.input(-name, j)) for j in range(size)]
