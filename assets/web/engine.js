// The kernels of dprl in a browser: assets/engine.wasm plays a run that dprl/engine/pack.py has packed.
/**
 * @typedef {object} Pack a run before its first user, see dprl/engine/pack.py
 * @property {string} kernel the name of the kernel to call
 * @property {(string | {buffer: number} | {function: string})[]} words its arguments
 * @property {(Uint8Array | number)[]} buffers the arrays, or their numbers of zero bytes
 * @property {{calls: {kernel: string, words: any[]}[], memory: number, keep: number, gain: number} | null} [drawn]
 *   the calls that draw noise before the run
 */
/**
 * Plays a packed run to its end. The next run reuses the module's memory, so call `bytes` before it starts.
 * @param {WebAssembly.Module} module assets/engine.wasm, compiled
 * @param {string[]} kernels their names, in the order of their numbers: `kernels` of assets/engine.json
 * @param {Pack} pack the run
 * @param {[number, Uint8Array][]} [noise] that an earlier run of the same seed has drawn; epsilon does not affect it
 * @returns {Promise<{bytes: (buffer: number) => Uint8Array, noise: [number, Uint8Array][]}>} the final content of each
 *   buffer, and the noise drawn before the run
 */
export default async function play(module, kernels, pack, noise = []) {
  const instance = last?.module === module ? last : await instantiate(module);
  last = null;  // an instance whose run fails is not used again
  const { exports } = instance;
  for (const at of instance.places.splice(0)) exports.release(at);
  const numbers = new Map([...kernels, "next_uint64", "next_uint32", "next_double"].map((name, i) => [name, i]));
  const place = (content, size) => {
    const at = exports.allocate(Math.max(size, 8));
    const target = new Uint8Array(exports.memory.buffer, at, size);  // created here: memory moves when it grows
    if (typeof content === "number") target.fill(0);
    else target.set(content);
    instance.places.push(at);
    return at;
  };
  const drawn = new Map(noise);
  const sizes = pack.buffers.map((content) => typeof content === "number" ? content : content.length);
  const places = pack.buffers.map((content, i) => place(drawn.get(i) ?? content, sizes[i]));
  const word = (value) => {
    if (typeof value === "string") return BigInt.asUintN(64, BigInt(value));
    if ("buffer" in value) return BigInt(places[value.buffer]);
    return BigInt(exports.address(numbers.get(value.function)));
  };
  const run = (kernel, words) => {
    const args = new Uint8Array(BigUint64Array.from(words, word).buffer);
    const failed = exports.call(numbers.get(kernel), place(args, args.length));
    if (failed) throw new Error(`${kernel} did not end well.`);
  };
  const bytes = (i) => new Uint8Array(exports.memory.buffer, places[i], sizes[i]).slice();
  if (pack.drawn && !noise.length) {
    const { calls, memory, keep, gain } = pack.drawn;
    for (const { kernel, words } of calls) run(kernel, words);
    const [draws, kept, gained] = [memory, keep, gain].map((i) =>
      new Float64Array(exports.memory.buffer, places[i], sizes[i] / 8));
    correlate(draws, kept, gained);
    const changed = new Set(calls.flatMap(({ words }) => words.flatMap(({ buffer }) => buffer ?? [])));
    noise = [...changed].map((i) => [i, bytes(i)]);
  }
  run(pack.kernel, pack.words);
  last = instance;
  return { bytes, noise };
}
/**
 * The instance of the last run, which the next run reuses, and the addresses of its arrays.
 * @type {{module: WebAssembly.Module, exports: any, places: number[]} | null}
 */
let last = null;
async function instantiate(/** @type {WebAssembly.Module} */ module) {
  const exports = /** @type {any} */ ((await WebAssembly.instantiate(module, {})).exports);
  exports._initialize();
  return { module, exports, places: [] };
}
/** Turns independent draws into the noise of each release, bit for bit like `correlate` of
 * dprl/privacy/mechanisms/optimal.py. The noise replaces the draws in `memory` [M, cells]; `keep` and `gain` are
 * [M, chains]. */
function correlate(memory, keep, gain) {
  const CHAINS = 8, releases = keep.length / CHAINS, cells = memory.length / releases;
  const chains = new Float64Array(CHAINS * cells);
  for (let i = 0; i < releases; i++) {  // written out, because a loop over the chains takes twice as long
    const [k0, k1, k2, k3, k4, k5, k6, k7] = keep.subarray(i * CHAINS, (i + 1) * CHAINS);
    const [g0, g1, g2, g3, g4, g5, g6, g7] = gain.subarray(i * CHAINS, (i + 1) * CHAINS);
    for (let place = i * cells, end = place + cells, at = 0; place < end; place++, at += CHAINS) {
      const draw = memory[place];
      memory[place] = (chains[at] = chains[at] * k0 + g0 * draw)
        + (chains[at + 1] = chains[at + 1] * k1 + g1 * draw) + (chains[at + 2] = chains[at + 2] * k2 + g2 * draw)
        + (chains[at + 3] = chains[at + 3] * k3 + g3 * draw) + (chains[at + 4] = chains[at + 4] * k4 + g4 * draw)
        + (chains[at + 5] = chains[at + 5] * k5 + g5 * draw) + (chains[at + 6] = chains[at + 6] * k6 + g6 * draw)
        + (chains[at + 7] = chains[at + 7] * k7 + g7 * draw);
    }
  }
}
