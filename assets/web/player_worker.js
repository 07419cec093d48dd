// Plays runs beside the page, so that the page answers while they go on. Its text follows engine.js and player_pack.js.
/** @type {{module: WebAssembly.Module, kernels: string[], families: any[], data: Uint8Array} | undefined} */
let held;
const MOST_NOISE = 24e6;  // bytes that are kept of noise, the latest used last
/** Noise of the runs that were played, by family and seed. @type {Map<string, [number, Uint8Array][]>} */
const kept = new Map();
/** @param {string} key @param {[number, Uint8Array][]} noise */
function keep(key, noise) {
  kept.delete(key);
  if (noise.length) kept.set(key, noise);
  const size = (one) => one.reduce((sum, [, content]) => sum + content.length, 0);
  let total = [...kept.values()].reduce((sum, one) => sum + size(one), 0);
  for (const [old, one] of kept) {
    if (total <= MOST_NOISE) return;
    kept.delete(old);
    total -= size(one);
  }
}
async function answered(asked) {
  try {
    if (asked.module) {
      held = asked;
      return;
    }
    const { module, kernels, families, data } = held;
    const family = families[asked.family];
    const { stop, seed } = asked, key = `${asked.family} ${seed}`;
    const { bytes, milliseconds, noise } =
      await play(module, kernels, packOf(family, data, stop, seed), kept.get(key));
    keep(key, noise);
    self.postMessage({ key: asked.key, milliseconds, ...resultOf(family, bytes, asked.closely) });
  } catch (error) {
    self.postMessage({ key: asked.key ?? "", failed: String(error) });
  }
}
let before = Promise.resolve();  // one after the other: they share the module's memory
self.onmessage = ({ data }) => { before = before.then(() => answered(data)); };
