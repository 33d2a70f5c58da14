"""A graph as a function of JAX arrays: jittable, vmappable, differentiable. The only door to JAX (extra `[jax]`)."""

from __future__ import annotations

from collections.abc import Callable

from ..border.extras import extra
from ..border.kinds import Foreign
from ..errors import DynarmError
from .graph import Graph
from .ops import OPERATIONS


def jax_function(graph: Graph) -> Callable[..., Foreign]:
    """The graph's outputs from JAX arrays (..., *shape) in the order of its inputs; one array, or a tuple of them.

    Precision is JAX's own: float32 unless `jax.config.update("jax_enable_x64", True)` was called.
    """
    try:
        import jax.numpy as jnp
    except ImportError:
        raise DynarmError(f"JAX is not installed; {extra('jax')}") from None
    operations = {
        name: getattr(jnp, op.jax) if isinstance(op.jax, str) else op.jax
        for name, op in OPERATIONS.items()
        if name in {node.op for node in graph.nodes}
    }

    def function(*inputs: Foreign) -> Foreign:
        arrays = [jnp.asarray(x) for x in inputs]
        leads = [
            a.shape[: a.ndim - len(p.shape)] for a, p in zip(arrays, graph.inputs, strict=True)
        ]
        batch = jnp.broadcast_shapes(*leads)
        flat = [a.reshape(*lead, -1) for a, lead in zip(arrays, leads, strict=True)]
        values: list[Foreign] = []
        for node in graph.nodes:
            if node.op == "input":
                values.append(flat[node.args[0]][..., node.args[1]])
            elif node.op == "const":
                values.append(node.value)
            else:
                values.append(operations[node.op](*(values[a] for a in node.args)))
        made = []
        for port, refs in zip(graph.outputs, graph.results, strict=True):
            entries = [-values[r.node] if r.negative else values[r.node] for r in refs]
            stacked = jnp.stack([jnp.broadcast_to(jnp.asarray(x), batch) for x in entries], axis=-1)
            made.append(stacked.reshape(batch + port.shape))
        return made[0] if len(made) == 1 else tuple(made)

    return function
