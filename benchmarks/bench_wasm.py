"""Exported WebAssembly in Node, with vectors and without, beside the exported C on the same robot and states."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import dynarm
from dynarm.machine.emit.wasm_files import description

from . import bench_c
from .contenders import states
from .robots import robot

QUANTITY = "inverse_dynamics"
SAMPLES, REPEATS = 4096, 400
PROGRAM = """
const fs = require("fs");
const [binary, data, repeats] = process.argv.slice(2);
const { inputs, size } = JSON.parse(fs.readFileSync(data));
const made = new WebAssembly.Instance(new WebAssembly.Module(fs.readFileSync(binary)), { math: Math });
const { memory, inverse_dynamics } = made.exports, places = [], count = inputs[0].length / size;
memory.grow(64);
let end = 0;
for (const x of inputs) {
  new Float64Array(memory.buffer, end, x.length).set(x);
  places.push(end);
  end += 8 * x.length;
}
places.push(end);
const times = [];
for (let k = 0; k < Number(repeats); k++) {
  const start = process.hrtime.bigint();
  inverse_dynamics(count, ...places);
  times.push(Number(process.hrtime.bigint() - start) / count);
}
const tau = Array.from(new Float64Array(memory.buffer, end, count * size));
console.log(JSON.stringify({ best: Math.min(...times), tau }));
"""


def run() -> dict[str, Any]:
    """Nanoseconds a sample of exported inverse dynamics of the Panda in Node: best of many batches."""
    node = shutil.which("node")
    if node is None:
        return {"node": "not installed, nothing measured"}
    twin = robot("panda")
    s = states(twin.arm.n, SAMPLES)
    wanted = twin.model.inverse_dynamics(s.q, s.qd, s.x)
    figures: dict[str, Any] = {}
    difference = 0.0
    with tempfile.TemporaryDirectory() as folder:
        made = dynarm.export_wasm(twin.model, Path(folder) / "w", quantities=(QUANTITY,))
        program, data = Path(folder) / "time.cjs", Path(folder) / "data.json"
        program.write_text(PROGRAM)
        given = [x.ravel().tolist() for x in (s.q, s.qd, s.x)]
        data.write_text(json.dumps({"inputs": given, "size": twin.arm.n}))
        for words, end in (("with vectors", "_simd"), ("without vectors", "")):
            binary = made.folder / f"{made.name}{end}.wasm"
            command = [node, str(program), str(binary), str(data), str(REPEATS)]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            told = json.loads(done.stdout)
            figures[f"{words} [ns a sample]"] = float(told["best"])
            figures[f"{words} [bytes]"] = binary.stat().st_size
            off = np.abs(np.reshape(told["tau"], wanted.shape) - wanted).max()
            difference = max(difference, float(off))
    spec = description({QUANTITY: twin.model.graph(QUANTITY)})
    figures["in a page, both as text [bytes]"] = len(spec["simd"]) + len(spec["plain"])
    figures["largest difference to dynarm in Python [N m]"] = difference
    beside = bench_c.run()
    key = "exported C, gcc -O2 [ns a sample]"
    return {**figures, **({key: beside[key]} if key in beside else {})}
