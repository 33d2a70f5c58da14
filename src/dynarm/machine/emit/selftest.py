"""The program that an export brings along: every function compared with stored cases, on the target itself."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ...graph.graph import ANGLES, Graph, Port
from ..lower.fusion import users_of
from .c import Dialect

NEAR = 4  # cases with inputs from -1.5 to 1.5
# Further cases: the same poses after many turns, angles of about this size [rad], the last beyond c_angles.FAR.
TURNED = (80.0, 2.0e4, 1.0e6)
TURNED_SINGLE = (80.0, 1.0e3)
TOLERANCE, TOLERANCE_SINGLE = 1e-11, 2e-4


@dataclass(frozen=True, slots=True)
class _Cases:
    """Inputs and outputs of one function, a row a case."""

    given: list[np.ndarray]
    wanted: list[np.ndarray]


def selftest(graphs: Mapping[str, Graph], dialect: Dialect) -> str:
    """A program that compares every function with stored cases and says PASS or FAIL."""
    rng = np.random.default_rng(1)
    rows = [_rows(q, graph, _cases(graph, dialect, rng), dialect) for q, graph in graphs.items()]
    tolerances = ", ".join(repr(x) for x in _tolerances(dialect))
    count = NEAR + len(_turned(dialect))
    return f"""#include "{dialect.prefix}.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Largest relative error allowed, by case: after many turns an angle is known to fewer digits. */
static const double allowed[{count}] = {{{tolerances}}};

{chr(10).join(stored for stored, _ in rows)}

{_comparison(dialect)}
int main(void)
{{
    double worst = 0.0;
    int failures = 0;
    int i;
{chr(10).join(calls for _, calls in rows)}
    printf("%s {len(graphs)} functions, {count} cases each, largest relative error %.1e\\n",
           failures == 0 ? "PASS" : "FAIL", worst);
    return failures == 0 ? 0 : 1;
}}
"""


def _turned(dialect: Dialect) -> tuple[float, ...]:
    return TURNED_SINGLE if dialect.single else TURNED


def _tolerances(dialect: Dialect) -> list[float]:
    """Allowed errors: what rounding allows, and 8 units of the last place of an angle where angles are large."""
    least = TOLERANCE_SINGLE if dialect.single else TOLERANCE
    ulp = 2.0**-23 if dialect.single else 2.0**-52
    return [least] * NEAR + [max(least, 8 * ulp * size) for size in _turned(dialect)]


def _cases(graph: Graph, dialect: Dialect, rng: np.random.Generator) -> _Cases:
    sizes = _turned(dialect)
    near = [rng.uniform(-1.5, 1.5, (NEAR, *p.shape)) + _about(p) for p in graph.inputs]
    given = [np.concatenate([x, x[: len(sizes)]]) for x in near]
    for which, element in sorted(_angles(graph)):
        for k, size in enumerate(sizes):
            angles = given[which].reshape(len(given[which]), -1)
            angles[NEAR + k, element] = _after_turns(angles[k, element], size, rng)
    if dialect.single:
        given = [x.astype(np.float32).astype(float) for x in given]
    return _Cases(given, list(graph.evaluate(*given)))


def _about(port: Port) -> np.ndarray:
    """What inputs are near to: 0, but of gravity downwards, so that what stands on the ground is among the cases."""
    return np.array([0.0, 0.0, -9.81]) if port.name == "gravity" else np.zeros(port.shape)


def _after_turns(angle: float, size: float, rng: np.random.Generator) -> float:
    """About the same angle some turns on, below twice the size; a sum of a few of them is exact even as float."""
    turns = math.ceil(size / (2 * math.pi) * rng.uniform(1.0, 1.5))
    grid = 2.0 ** (math.ceil(math.log2(size)) - 19)
    sign = 1 if rng.random() < 0.5 else -1
    return round((angle + sign * 2 * math.pi * turns) / grid) * grid


def _angles(graph: Graph) -> set[tuple[int, int]]:
    """Elements of inputs that nothing but sin and cos takes, alone or in sums.

    A joint that follows another is in another pose after whole turns of that one, if it follows by a factor or slides.
    """
    users, results = users_of(graph), {ref.node for refs in graph.results for ref in refs}
    turning = [False] * len(graph.nodes)  # whether only sines and cosines come of it
    for k in range(len(graph.nodes) - 1, -1, -1):
        ops = [(graph.nodes[u].op, turning[u]) for u in users[k]]
        turning[k] = (
            k not in results
            and bool(ops)
            and all(op in ANGLES or (op in ("add", "sub") and only) for op, only in ops)
        )
    return {
        (node.args[0], node.args[1])
        for k, node in enumerate(graph.nodes)
        if node.op == "input" and turning[k]
    }


def _rows(quantity: str, graph: Graph, cases: _Cases, dialect: Dialect) -> tuple[str, str]:
    """Stored inputs and outputs of one function, and the loop that compares them."""
    tables = [*cases.given, *cases.wanted]
    names = [f"{quantity}_{k}" for k in range(len(tables))]
    stored = [_table(name, x, dialect) for name, x in zip(names, tables, strict=True)]
    inputs = len(cases.given)
    made = [f"        {dialect.real} out{k}[{p.size}];" for k, p in enumerate(graph.outputs)]
    args = [f"{label}[i]" for label in names[:inputs]]
    args += [f"out{k}" for k in range(len(cases.wanted))]
    checks = [
        f'        failures += check("{quantity}", i, out{k}, {names[inputs + k]}[i], {p.size}, &worst);'
        for k, p in enumerate(graph.outputs)
    ]
    call = f"        {dialect.prefix}_{quantity}({', '.join(args)});"
    count = len(tables[0])
    loop = [f"    for (i = 0; i < {count}; i++) {{", *made, call, *checks, "    }"]
    return "\n".join(stored), "\n".join(loop)


def _table(name: str, values: np.ndarray, dialect: Dialect) -> str:
    flat = values.reshape(len(values), -1)
    rows = ",\n".join("    {" + ", ".join(map(dialect.number, row)) + "}" for row in flat.tolist())
    return f"static const {dialect.real} {name}[{len(flat)}][{flat.shape[1]}] = {{\n{rows}\n}};"


def _comparison(dialect: Dialect) -> str:
    """The C functions that compare an output with what is stored for it."""
    real = dialect.real
    return f"""/* By its bits: -ffinite-math-only lets a compiler believe that no number is NaN or infinite. */
static int is_number(double x)
{{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return ((bits >> 52) & 0x7ff) != 0x7ff;
}}

static int check(const char *what, int k, const {real} *got, const {real} *want, int n, double *worst)
{{
    double scale = 1.0;
    int failures = 0;
    int i;
    for (i = 0; i < n; i++) {{
        if (fabs((double)want[i]) > scale) {{
            scale = fabs((double)want[i]);
        }}
    }}
    for (i = 0; i < n; i++) {{
        const double error = fabs((double)got[i] - (double)want[i]) / scale;
        if (!is_number((double)got[i]) || error > allowed[k]) {{
            printf("FAIL %s[%d], case %d: %.17g, stored %.17g\\n", what, i, k, (double)got[i], (double)want[i]);
            failures++;
        }}
        if (error > *worst) {{
            *worst = error;
        }}
    }}
    return failures;
}}
"""
