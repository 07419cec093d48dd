// Reads the runs of a page without a server: one seed at one epsilon in full, and the differences of the others.
// dprl/player/content.py writes them, dprl/simulation/replay.py describes them.
/**
 * @typedef {{zeros: number} | {at: number, size: number, bends?: 1} | {by: number, at: number, size: number}} Content
 *   an array: a number of zero bytes; bytes of the data, transformed if `bends` is set; or the family's array times
 *   a number, where the bytes correct each product by units in the last place
 * @typedef {object} Stop the differences at one epsilon
 * @property {number | null} epsilon
 * @property {[number, string][]} words
 * @property {[number, Content][]} buffers
 * @typedef {object} Family a run at all its budgets and seeds
 * @property {string} kernel
 * @property {any[]} words
 * @property {any} drawn
 * @property {string[]} names of its buffers
 * @property {Record<string, number[]>} shapes
 * @property {number} seconds estimated time of a seed in native code
 * @property {Content[]} buffers
 * @property {[number, Content][][]} seeds
 * @property {Stop[]} stops
 */
/** Returns one seed at one stop for `play`. @param {Family} family @returns {import("./engine.js").Pack} */
export function packOf(family, data, stop, seed) {
  const bytes = (content) => {
    if ("zeros" in content) return content.zeros;
    const part = data.slice(content.at, content.at + content.size);
    return content.bends ? straight(part) : part;
  };
  const words = [...family.words];
  const buffers = family.buffers.map(bytes);
  for (const [number, word] of family.stops[stop].words) words[number] = word;
  for (const [number, content] of [...family.stops[stop].buffers, ...family.seeds[seed]]) {
    buffers[number] = "by" in content
      ? scaled(bytes(family.buffers[number]), content.by, bytes(content)) : bytes(content);
  }
  return { kernel: family.kernel, words, buffers, drawn: family.drawn };
}
/** Reverses `bends` of dprl/player/content.py. @param {Uint8Array} bent */
function straight(bent) {
  const words = bent.length / 8, bytes = new Uint8Array(bent.length);
  for (let i = 0; i < bent.length; i++) bytes[i % words * 8 + Math.floor(i / words)] = bent[i];
  const values = new BigUint64Array(bytes.buffer);
  let step = 0n, last = 0n;
  values.forEach((bend, i) => {
    step = BigInt.asUintN(64, step + bend);
    last = BigInt.asUintN(64, last + step);
    values[i] = last;
  });
  return bytes;
}
/** Multiplies an array by a number, and moves each product by units in the last place: one signed byte each. */
function scaled(base, factor, units) {
  const numbers = new Float64Array(base.buffer).map((value) => value * factor);
  const bits = new BigInt64Array(numbers.buffer);
  new Int8Array(units.buffer).forEach((unit, i) => { bits[i] += BigInt(unit); });
  return new Uint8Array(numbers.buffer);
}
/** Returns the regret of a run that has ended, and its counts and policy for a closer look. `bytes` returns the final
 * content of a buffer. */
export function resultOf(/** @type {Family} */ family, bytes, closely) {
  const buffer = (name) => bytes(family.names.indexOf(name)).buffer;
  const points = Number(new BigInt64Array(buffer("state.position"))[3]);
  const episodes = Float64Array.from(new BigInt64Array(buffer("record.users")).subarray(0, points), Number);
  const regret = new Float64Array(buffer("record.regret")).slice(0, points);
  if (!closely) return { episodes, regret };
  // Arrays that share their memory have the name of the first.
  const truth = family.names.includes("state.sums") ? "state.sums" : "state.counts";
  const noisy = family.names.includes("state.noisy") ? "state.noisy" : truth;
  return {
    episodes, regret,
    counts: new Float64Array(buffer(truth)), noisy: new Float64Array(buffer(noisy)), policy: buffer("state.policy"),
  };
}
