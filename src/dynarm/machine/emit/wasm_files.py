"""The files around a WebAssembly module: a JavaScript module with its types, and a self-test for Node."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from importlib import resources

import numpy as np

from ...border.kinds import Json
from ...graph.graph import Graph
from .wasm import module

CASES = 5  # of the self-test, an odd number: the last sample stands alone
TOLERANCE = 1e-11


def runtime() -> str:
    """The JavaScript function that makes a robot of its description."""
    return (resources.files(__package__) / "wasm_runtime.js").read_text(encoding="utf-8")


def description(graphs: Mapping[str, Graph], vectors: bool = True) -> Json:
    """What `runtime` takes: the ports of each function, and the module for browsers with and without vectors.

    Without vectors there is one module for all browsers: enough where single states are computed.
    """
    return {
        "functions": {
            name: {
                "inputs": [[p.name, p.size] for p in graph.inputs],
                "outputs": [[p.name, p.size] for p in graph.outputs],
            }
            for name, graph in graphs.items()
        },
        "simd": base64.b64encode(module(graphs, simd=True)).decode() if vectors else "",
        "plain": base64.b64encode(module(graphs)).decode(),
    }


def files(name: str, about: str, graphs: Mapping[str, Graph]) -> dict[str, str | bytes]:
    """Name -> content of everything that an export writes."""
    lines = "".join(f"// {line}".rstrip() + "\n" for line in about.splitlines())
    spec = json.dumps(description(graphs), indent=1)
    return {
        f"{name}.wasm": module(graphs),
        f"{name}_simd.wasm": module(graphs, simd=True),
        f"{name}.mjs": f"{lines}\n{runtime()}\nconst spec = {spec};\n\n"
        "/** The robot's functions, ready to be called. */\n"
        "export const load = () => dynarmRobot(spec);\nexport default load;\n",
        f"{name}.d.mts": _types(graphs),
        f"{name}_test.mjs": _selftest(name, graphs),
    }


def _types(graphs: Mapping[str, Graph]) -> str:
    """Declarations for TypeScript."""
    functions = []
    for name, graph in graphs.items():
        takes = ", ".join(f"{p.name}: Numbers" for p in graph.inputs)
        gives = "Float64Array"
        if len(graph.outputs) > 1:
            gives = "{ " + "; ".join(f"{p.name}: Float64Array" for p in graph.outputs) + " }"
        sizes = ", ".join(f"{p.name} {p.size}" for p in (*graph.inputs, *graph.outputs))
        functions.append(f"  /** numbers a sample: {sizes} */\n  {name}({takes}): {gives};")
    body = "\n".join(functions)
    return f"""export type Numbers = ArrayLike<number>;

export interface Robot {{
  /** whether kernels compute two samples at a time */
  readonly simd: boolean;
  /** name and numbers a sample of the inputs and outputs of each function */
  readonly functions: Readonly<Record<string, {{ inputs: [string, number][]; outputs: [string, number][] }}>>;
{body}
}}

export function load(): Promise<Robot>;
export default load;
"""


def _selftest(name: str, graphs: Mapping[str, Graph]) -> str:
    """A program for Node that compares every function with stored cases and says PASS or FAIL."""
    rng = np.random.default_rng(1)
    cases = {}
    for quantity, graph in graphs.items():
        given = [rng.uniform(-1.5, 1.5, (CASES, p.size)) for p in graph.inputs]
        given[0][0] += 2e6 * np.pi  # beyond the kernel's own sin and cos
        shaped = [x.reshape(CASES, *p.shape) for x, p in zip(given, graph.inputs, strict=True)]
        made = [
            np.broadcast_to(x, (CASES, *p.shape))
            for x, p in zip(graph.evaluate(*shaped), graph.outputs, strict=True)
        ]
        cases[quantity] = {
            "given": [x.ravel().tolist() for x in given],
            "wanted": [x.ravel().tolist() for x in made],
        }
    return f"""import {{ load }} from "./{name}.mjs";

// After many turns, in the first sample, an angle is known to fewer digits.
const allowed = (k, size) => (k < size ? 1e-7 : {TOLERANCE});
const cases = {json.dumps(cases)};
const robot = await load();
let worst = 0, failures = 0;
for (const [name, {{ given, wanted }}] of Object.entries(cases)) {{
  const made = robot[name](...given);
  const results = made instanceof Float64Array ? [made] : Object.values(made);
  results.forEach((result, r) => {{
    const size = result.length / {CASES};
    const scale = (k) => {{
      const first = size * Math.floor(k / size);
      return Math.max(1, ...wanted[r].slice(first, first + size).map(Math.abs));
    }};
    result.forEach((x, k) => {{
      const error = Math.abs(x - wanted[r][k]) / scale(k);
      worst = Math.max(worst, k < size ? 0 : error);
      if (!(error <= allowed(k, size))) failures += 1;
    }});
  }});
}}
const word = failures === 0 ? "PASS" : "FAIL";
const told = `${{Object.keys(cases).length}} functions, {CASES} cases each`;
console.log(`${{word}} ${{told}}, largest relative error ${{worst.toExponential(1)}}`);
process.exitCode = failures === 0 ? 0 : 1;
"""
