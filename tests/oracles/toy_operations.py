"""Operations that the graph does not have, one record each, and a function written with one of them.

Run as a script it prints, as JSON, how far JAX's values are from NumPy's: JAX gets a process to itself.
"""

from __future__ import annotations

import json
from collections.abc import Callable

import numpy as np

from dynarm.graph.graph import Graph, Port, apply
from dynarm.graph.ops import Operation, Parity, Way, extended, library_function
from dynarm.graph.trace import trace_function

FLOOR = Operation(
    name="floor",
    numpy=np.floor,
    casadi="floor",
    jax="floor",
    c="floor({0})",
    c_single="floorf({0})",
    way=Way.INTRINSIC,
    word="floor",
    parity=Parity.NEITHER,
    opcode="OP_FLOOR",
)
TOYS = {
    "atan": library_function("atan", np.arctan, Parity.ODD, jax="arctan", opcode="OP_ATAN"),
    "expm1": library_function("expm1", np.expm1, Parity.NEITHER, opcode="OP_EXPM1"),
    "cosh": library_function(
        "cosh",
        np.cosh,
        Parity.EVEN,
        derivative=lambda x: 0.5 * (apply("exp", x) - apply("exp", -x)),
    ),
    "cbrt": library_function(
        "cbrt",
        np.cbrt,
        Parity.ODD,
        casadi=lambda x: x.sign() * x.fabs() ** (1 / 3),
        derivative=lambda x: 1 / (3 * apply("cbrt", x) * apply("cbrt", x)),
    ),
    "floor": FLOOR,
}
NAMES = (*TOYS, "exp", "sqrt")  # those of the table that are neither even nor odd take part
PLAIN: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "atan": np.arctan,
    "expm1": np.expm1,
    "cosh": np.cosh,
    "cbrt": np.cbrt,
    "floor": np.floor,
    "exp": np.exp,
    "sqrt": np.sqrt,
}
SLOPES = {
    "atan": lambda x: 1 / (1 + x * x),
    "expm1": np.exp,
    "cosh": np.sinh,
    "cbrt": lambda x: 1 / (3 * np.cbrt(x) ** 2),
    "floor": np.zeros_like,
    "exp": np.exp,
    "sqrt": lambda x: 0.5 / np.sqrt(x),
}


def written(f, a, b):
    """Five values that need f with either sign before and behind it, and f of f; a > 0 > b."""
    return [f(a), f(-b), -f(-(a * b)), 2.0 - f(-b) * b, f(f(a) + 1.0) - f(-b)]


def table(name: str):
    """The context in which the graph has the operation."""
    return extended(*(TOYS[name],) if name in TOYS else ())


def graph_of(name: str) -> Graph:
    """The graph of `written`, traced through symbols."""
    return trace_function(
        [Port("x", (2,))], [Port("y", (5,))], lambda x: written(lambda s: apply(name, s), *x)
    )


def samples(count: int = 21) -> np.ndarray:
    rng = np.random.default_rng(4)
    return rng.uniform(0.3, 1.9, (count, 2)) * [1, -1]


def wanted(name: str, x: np.ndarray) -> np.ndarray:
    """The same by NumPy's own function."""
    return np.stack(written(PLAIN[name], x[:, 0], x[:, 1]), axis=-1)


def main() -> None:
    import jax

    from dynarm.graph.jax_bridge import jax_function

    jax.config.update("jax_enable_x64", True)
    errors = {}
    for name in NAMES:
        with table(name):
            values = jax.jit(jax_function(graph_of(name)))(samples())
        right = wanted(name, samples())
        errors[name] = float(np.abs(values - right).max() / max(1.0, np.abs(right).max()))
    print(json.dumps(errors))


if __name__ == "__main__":
    main()
