// What a page that needs no server holds of runs: one seed at one epsilon in full, and what others differ in.
// dprl/player/content.py writes it, dprl/simulation/replay.py says what it is.
/**
 * @typedef {{zeros: number} | {at: number, size: number, bends?: 1} | {by: number, at: number, size: number}} Content
 *   an array: so many zeros; bytes of the data, which may be `bends`; or the first one's times a number, and by how
 *   many units of the last place it is off
 * @typedef {object} Stop what differs at one epsilon
 * @property {number | null} epsilon
 * @property {[number, string][]} words
 * @property {[number, Content][]} buffers
 * @typedef {object} Family a run at all its budgets and seeds
 * @property {string} kernel
 * @property {any[]} words
 * @property {any} drawn
 * @property {string[]} names of its buffers
 * @property {Record<string, number[]>} shapes
 * @property {number} seconds that a seed takes natively, about
 * @property {Content[]} buffers
 * @property {[number, Content][][]} seeds
 * @property {Stop[]} stops
 */
/**
 * One seed at one stop, as `play` takes it.
 * @param {Family} family
 * @param {Uint8Array} data
 * @param {number} stop
 * @param {number} seed
 * @returns {import("./engine.js").Pack}
 */
export function packOf(family, data, stop, seed) {
  const bytes = (content) => {
    if ("zeros" in content) return content.zeros;
    const found = data.slice(content.at, content.at + content.size);
    return content.bends ? straight(found) : found;
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
/** Words as they were before `bends` of dprl/player/content.py. @param {Uint8Array} bent */
function straight(bent) {
  const words = bent.length / 8, bytes = new Uint8Array(bent.length);
  for (let i = 0; i < bent.length; i++) bytes[i % words * 8 + Math.floor(i / words)] = bent[i];
  const found = new BigUint64Array(bytes.buffer);
  let step = 0n, last = 0n;
  found.forEach((bend, i) => {
    step = BigInt.asUintN(64, step + bend);
    last = BigInt.asUintN(64, last + step);
    found[i] = last;
  });
  return bytes;
}
/**
 * An array times a number, each moved by so many units in the last place.
 * @param {Uint8Array} base
 * @param {number} by
 * @param {Uint8Array} off one signed byte each
 */
function scaled(base, by, off) {
  const numbers = new Float64Array(base.buffer).map((value) => value * by);
  const bits = new BigInt64Array(numbers.buffer);
  new Int8Array(off.buffer).forEach((units, i) => { bits[i] += BigInt(units); });
  return new Uint8Array(numbers.buffer);
}
/**
 * What a run has come to.
 * @param {Family} family
 * @param {(buffer: number) => Uint8Array} bytes of its buffers at the end
 * @param {boolean} closely with counts and policy
 */
export function resultOf(family, bytes, closely) {
  const buffer = (name) => bytes(family.names.indexOf(name)).buffer;
  const points = Number(new BigInt64Array(buffer("state.position"))[3]);
  const episodes = Float64Array.from(new BigInt64Array(buffer("record.users")).subarray(0, points), Number);
  const regret = new Float64Array(buffer("record.regret")).slice(0, points);
  if (!closely) return { episodes, regret };
  // arrays that are one have the name of the first
  const truth = family.names.includes("state.sums") ? "state.sums" : "state.counts";
  const noisy = family.names.includes("state.noisy") ? "state.noisy" : truth;
  return {
    episodes, regret,
    counts: new Float64Array(buffer(truth)), noisy: new Float64Array(buffer(noisy)), policy: buffer("state.policy"),
  };
}
