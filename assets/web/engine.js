// The kernels of dprl in a browser: assets/engine.wasm plays a run that dprl/wasm/pack.py has packed.
/**
 * @typedef {object} Pack a run before its first user, see dprl/wasm/pack.py
 * @property {string} kernel which is called
 * @property {(string | {buffer: number} | {function: string})[]} words its arguments
 * @property {(Uint8Array | number)[]} buffers the arrays, or how many bytes of zeros
 * @property {{calls: {kernel: string, words: any[]}[], memory: number, keep: number, gain: number} | null} [drawn]
 *   noise drawn before
 */
/**
 * Play a packed run to its end.
 * @param {WebAssembly.Module} module assets/engine.wasm, compiled
 * @param {string[]} kernels their names, in the order of their numbers: `kernels` of assets/engine.json
 * @param {Pack} pack the run
 * @param {[number, Uint8Array][]} [noise] what was drawn before a run of the same seed: it does not depend on epsilon
 * @returns {Promise<{bytes: (buffer: number) => Uint8Array, milliseconds: number, noise: [number, Uint8Array][]}>} what
 *   each buffer holds at the end, and what was drawn before the run
 */
export default async function play(module, kernels, pack, noise = []) {
  const exports = /** @type {any} */ ((await WebAssembly.instantiate(module, {})).exports);
  exports._initialize();
  const numbers = new Map([...kernels, "next_uint64", "next_uint32", "next_double"].map((name, i) => [name, i]));
  const place = (bytes) => {
    const at = exports.allocate(Math.max(bytes.length, 8));
    new Uint8Array(exports.memory.buffer, at, bytes.length).set(bytes);  // memory moves when it grows
    return at;
  };
  const contents = pack.buffers.map((content) => typeof content === "number" ? new Uint8Array(content) : content);
  const places = contents.map(place);
  const word = (value) => {
    if (typeof value === "string") return BigInt.asUintN(64, BigInt(value));
    if ("buffer" in value) return BigInt(places[value.buffer]);
    return BigInt(exports.address(numbers.get(value.function)));
  };
  const run = (kernel, words) => {
    const failed = exports.call(numbers.get(kernel), place(new Uint8Array(BigUint64Array.from(words, word).buffer)));
    if (failed) throw new Error(`${kernel} did not end well.`);
  };
  const bytes = (i) => new Uint8Array(exports.memory.buffer, places[i], contents[i].length).slice();
  const begun = performance.now();
  if (pack.drawn && !noise.length) {
    const { calls, memory, keep, gain } = pack.drawn;
    for (const { kernel, words } of calls) run(kernel, words);
    const [draws, kept, gained] = [memory, keep, gain].map((i) =>
      new Float64Array(exports.memory.buffer, places[i], contents[i].length / 8));
    correlate(draws, kept, gained);
    const changed = new Set(calls.flatMap(({ words }) => words.flatMap(({ buffer }) => buffer ?? [])));
    noise = [...changed].map((i) => [i, bytes(i)]);
  } else {
    for (const [i, content] of noise) new Uint8Array(exports.memory.buffer, places[i]).set(content);
  }
  run(pack.kernel, pack.words);
  return { bytes, milliseconds: performance.now() - begun, noise };
}
/**
 * Noise of each release from independent draws, as `correlate` of privacy/mechanisms/optimal.py has it, bit for bit.
 * @param {Float64Array} memory [M, cells] the draws, and then the noise
 * @param {Float64Array} keep [M, chains]
 * @param {Float64Array} gain [M, chains]
 */
function correlate(memory, keep, gain) {
  const CHAINS = 8, releases = keep.length / CHAINS, cells = memory.length / releases;
  const buffers = new Float64Array(CHAINS * cells);
  for (let i = 0; i < releases; i++) {
    for (let c = 0; c < cells; c++) {
      const draw = memory[i * cells + c];
      let noise = 0;
      for (let j = 0; j < CHAINS; j++) {
        const now = buffers[j * cells + c] * keep[i * CHAINS + j] + gain[i * CHAINS + j] * draw;
        buffers[j * cells + c] = now;
        noise = j ? noise + now : now;
      }
      memory[i * cells + c] = noise;
    }
  }
}
