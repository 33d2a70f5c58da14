"""WebAssembly: modules compute in Node what the graph computes, with and without vectors, for any number of samples."""

from __future__ import annotations

import json
import shutil
import subprocess

import numpy as np
import pytest

import dynarm
from dynarm.errors import InputError
from dynarm.graph.graph import Port
from dynarm.graph.trace import trace_function
from dynarm.machine.emit import wasm
from dynarm.machine.emit.wasm_words import signed, unsigned
from dynarm.robot.frames.generic import generic_arm

NODE = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="Node is not installed")
PROGRAM = """
const fs = require("fs");
const [binary, data] = process.argv.slice(2);
const { name, count, inputs, outputs } = JSON.parse(fs.readFileSync(data));
const made = new WebAssembly.Instance(new WebAssembly.Module(fs.readFileSync(binary)), { math: Math });
const { memory } = made.exports;
memory.grow(64);
const places = [];
let end = 0;
for (const x of inputs) {
  new Float64Array(memory.buffer, end, x.length).set(x.map(Number));
  places.push(end);
  end += 8 * x.length;
}
const starts = [];
for (const size of outputs) { starts.push(end); places.push(end); end += 8 * size * count; }
new Float64Array(memory.buffer, end, 4).fill(7);
made.exports[name](count, ...places);
const guard = [...new Float64Array(memory.buffer, end, 4)];
const results = outputs.map((size, k) => [...new Float64Array(memory.buffer, starts[k], size * count)].map(String));
console.log(JSON.stringify({ results, guard }));
"""


def in_node(folder, graph, given, simd):
    """The outputs of a graph for inputs (N, size), by its module in Node; what lies behind them stays as it was."""
    (folder / "run.cjs").write_text(PROGRAM)
    (folder / "m.wasm").write_bytes(wasm.module({"f": graph}, simd))
    data = {
        "name": "f",
        "count": len(given[0]),
        "inputs": [[repr(float(v)).replace("inf", "Infinity") for v in x.ravel()] for x in given],
        "outputs": [port.size for port in graph.outputs],
    }
    (folder / "data.json").write_text(json.dumps(data))
    command = [NODE, str(folder / "run.cjs"), str(folder / "m.wasm"), str(folder / "data.json")]
    told = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    assert told["guard"] == [7.0] * 4
    return [
        np.array([float(v.replace("Infinity", "inf")) for v in flat]).reshape(
            len(given[0]), port.size
        )
        for flat, port in zip(told["results"], graph.outputs, strict=True)
    ]


@needs_node
@pytest.mark.parametrize("simd", [False, True])
@pytest.mark.parametrize("count", [1, 2, 7])
@pytest.mark.parametrize(
    "quantity", ["inverse_dynamics", "forward_dynamics", "mass_matrix_and_bias"]
)
def test_a_module_computes_what_the_graph_computes(tmp_path, quantity, count, simd):
    graph = dynarm.compile(generic_arm(4, 2)).graph(quantity)
    rng = np.random.default_rng(count)
    given = [rng.uniform(-3, 3, (count, p.size)) for p in graph.inputs]
    for made, wanted in zip(in_node(tmp_path, graph, given, simd), graph.evaluate(*given)):
        scale = max(1.0, np.abs(wanted).max())
        assert np.abs(made - wanted.reshape(made.shape)).max() <= 1e-13 * scale


@needs_node
@pytest.mark.parametrize("simd", [False, True])
def test_every_operation_of_the_table(tmp_path, simd):
    """Those with an instruction and those that Math is asked for; negatives, a constant and an input as outputs."""
    from dynarm.graph.ops import OPERATIONS

    unary = [op.name for op in OPERATIONS.values() if op.arity == 1]

    def formulas(x):
        (v, w) = x
        known = [dynarm_function(name, v) for name in unary]
        return [[*known, v + w, v - w, v * w, v / w, -(v * w), v, 0.25]]

    ports = [Port("x", (2,))], [Port("y", (len(unary) + 7,))]
    graph = trace_function(*ports, formulas)
    assert {node.op for node in graph.nodes} >= {*unary, "add", "sub", "mul", "div"}
    x = np.array([[0.3, 2.0], [1.7, -0.4], [3.0, 1e-3], [4.5, 80.0], [1e6, 3.0]])
    x[4, 0] = 600.0
    (made,) = in_node(tmp_path, graph, [x], simd)
    (wanted,) = graph.evaluate(x)
    assert np.abs(made / wanted - 1).max() < 4e-15


def dynarm_function(name, scalar):
    """A function of one argument by the name of its operation, on a symbol."""
    from dynarm.graph.ops import OPERATIONS

    word = OPERATIONS[name].casadi
    return getattr(scalar, word if isinstance(word, str) else name)()


@needs_node
@pytest.mark.parametrize("simd", [False, True])
def test_sin_and_cos_near_and_far(tmp_path, simd):
    """A few units of the last place up to 1e5 and beyond; NaN and infinity stay in their own sample."""
    graph = trace_function(
        [Port("x", (1,))], [Port("y", (2,))], lambda x: [[x[0].sin(), x[0].cos()]]
    )
    rng = np.random.default_rng(3)
    x = np.concatenate(
        [
            rng.uniform(-10, 10, 400),
            rng.uniform(-99_000, 99_000, 400),
            [0.0, -0.0, 1e-300, 99_999.9, 1e5, 1e9, -3e12, np.pi / 2, np.pi, np.inf, 0.5, np.nan],
        ]
    ).reshape(-1, 1)
    (made,) = in_node(tmp_path, graph, [x], simd)
    with np.errstate(invalid="ignore"):
        wanted = np.hstack([np.sin(x), np.cos(x)])
    assert (np.isnan(made) == np.isnan(wanted)).all()
    known = ~np.isnan(wanted)
    assert (np.abs(made - wanted)[known] <= 4 * np.spacing(np.abs(wanted[known]))).all()


@needs_node
def test_exported_modules_test_themselves(tmp_path):
    model = dynarm.compile(dynarm.load("stanford"))
    made = dynarm.export_wasm(model, tmp_path / "w")
    names = {f"stanford{end}" for end in (".mjs", ".d.mts", ".wasm", "_simd.wasm", "_test.mjs")}
    assert {p.name for p in made.folder.iterdir()} == names
    done = subprocess.run(
        [NODE, "stanford_test.mjs"], cwd=made.folder, capture_output=True, text=True
    )
    assert done.returncode == 0 and done.stdout.startswith("PASS 11 functions"), done.stdout
    # a wrong case is noticed
    test = made.folder / "stanford_test.mjs"
    lines = test.read_text().split("\n")
    at = next(k for k, line in enumerate(lines) if line.startswith("const cases = "))
    cases = json.loads(lines[at].removeprefix("const cases = ").removesuffix(";"))
    cases["inverse_dynamics"]["wanted"][0][-1] += 1e-6
    lines[at] = f"const cases = {json.dumps(cases)};"
    test.write_text("\n".join(lines))
    assert subprocess.run([NODE, test.name], cwd=made.folder, capture_output=True).returncode == 1


@needs_node
def test_the_javascript_module_says_what_is_wrong_and_takes_batches(tmp_path):
    model = dynarm.compile(dynarm.load("two_link"))
    made = dynarm.export_wasm(model, tmp_path / "w", quantities=["inverse_dynamics", "gravity"])
    program = """
import { load } from "./two_link.mjs";
const robot = await load();
const tell = (f) => { try { f(); return "nothing"; } catch (error) { return `${error.name}: ${error.message}`; } };
console.log(JSON.stringify([
  tell(() => robot.gravity([0, 0, 0])), tell(() => robot.inverse_dynamics([0, 0])),
  [...robot.gravity([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])], robot.simd,
]));
"""
    (made.folder / "ask.mjs").write_text(program)
    done = subprocess.run(
        [NODE, "ask.mjs"], cwd=made.folder, capture_output=True, text=True, check=True
    )
    odd, few, batch, simd = json.loads(done.stdout)
    assert odd.startswith("RangeError: gravity: q has 3 numbers; give 2 a sample")
    assert few.startswith("RangeError: inverse_dynamics takes 3 arrays: q (2), qd (2), qdd (2); 1")
    q = np.array([[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]])
    assert np.allclose(np.reshape(batch, (3, 2)), model.gravity(q), rtol=1e-14)
    assert simd is True


def test_numbers_of_the_format():
    assert unsigned(624485) == bytes([0xE5, 0x8E, 0x26]) and unsigned(0) == b"\0"
    assert signed(-123456) == bytes([0xC0, 0xBB, 0x78]) and signed(64) == bytes([0xC0, 0x00])


def test_too_many_values_are_refused(monkeypatch):
    monkeypatch.setattr(wasm, "MOST", 10)
    graph = dynarm.compile(dynarm.load("two_link")).graph("inverse_dynamics")
    with pytest.raises(InputError, match=r"'f' has .* values, more than a browser takes"):
        wasm.module({"f": graph})
