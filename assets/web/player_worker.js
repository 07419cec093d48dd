// Plays runs in a worker, so that the page stays responsive. engine.js and player_pack.js precede this file.
/** @type {{module: WebAssembly.Module, kernels: string[], families: any[], data: Uint8Array} | undefined} */
let setup;
const MOST_NOISE = 24e6;  // bytes of noise that are kept
/** The noise of runs, by family and seed, the latest used last. @type {Map<string, [number, Uint8Array][]>} */
const noises = new Map();
function keep(key, /** @type {[number, Uint8Array][]} */ noise) {
  noises.delete(key);
  if (noise.length) noises.set(key, noise);
  const size = (one) => one.reduce((sum, [, content]) => sum + content.length, 0);
  let total = [...noises.values()].reduce((sum, one) => sum + size(one), 0);
  for (const [old, one] of noises) {
    if (total <= MOST_NOISE) return;
    noises.delete(old);
    total -= size(one);
  }
}
async function answer(request) {
  try {
    if (request.module) {
      setup = request;
      return;
    }
    const { module, kernels, families, data } = setup;
    const family = families[request.family];
    const { stop, seed } = request, key = `${request.family} ${seed}`;
    const { bytes, noise } = await play(module, kernels, packOf(family, data, stop, seed), noises.get(key));
    keep(key, noise);
    self.postMessage({ key: request.key, ...resultOf(family, bytes, request.closely) });
  } catch (error) {
    self.postMessage({ key: request.key ?? "", failed: String(error) });
  }
}
let queue = Promise.resolve();  // requests run one after the other, because they share the module's memory
self.onmessage = ({ data }) => { queue = queue.then(() => answer(data)); };
