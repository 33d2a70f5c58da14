// Functions of one robot: arrays of one sample after the other in, new Float64Arrays out.
// spec: {functions: {name: {inputs: [[name, size], ...], outputs: [[name, size], ...]}}, simd, plain}, binaries as base64.
async function dynarmRobot(spec) {
  const bytes = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const fast = bytes(spec.simd);
  const simd = fast.length > 0 && WebAssembly.validate(fast);
  const made = await WebAssembly.instantiate(simd ? fast : bytes(spec.plain), { math: Math });
  const { memory, ...kernels } = made.instance.exports;
  const robot = { simd, functions: spec.functions };

  function room(size) {
    const missing = size - memory.buffer.byteLength;
    if (missing > 0) memory.grow(Math.ceil(missing / 65536));
  }

  for (const [name, ports] of Object.entries(spec.functions)) {
    const { inputs, outputs } = ports;
    const wanted = inputs.map(([port, size]) => `${port} (${size})`).join(", ");
    robot[name] = (...given) => {
      if (given.length !== inputs.length) {
        throw new RangeError(`${name} takes ${inputs.length} arrays: ${wanted}; ${given.length} came`);
      }
      const count = given[0].length / inputs[0][1];
      inputs.forEach(([port, size], k) => {
        if (!Number.isInteger(count) || count < 1 || given[k].length !== count * size) {
          throw new RangeError(`${name}: ${port} has ${given[k].length} numbers; give ${size} a sample, and as many samples in each of ${wanted}`);
        }
      });
      const sizes = [...inputs, ...outputs].map(([, size]) => size * count);
      const places = [];
      let end = 0;
      for (const size of sizes) {
        places.push(end);
        end += 8 * size;
      }
      room(end);
      given.forEach((x, k) => new Float64Array(memory.buffer, places[k], sizes[k]).set(x));
      kernels[name](count, ...places);
      const results = outputs.map((_, k) => {
        const at = inputs.length + k;
        return new Float64Array(memory.buffer, places[at], sizes[at]).slice();
      });
      if (outputs.length === 1) return results[0];
      return Object.fromEntries(outputs.map(([port], k) => [port, results[k]]));
    };
  }
  return robot;
}
