// Plays runs beside the page, so that the page answers while they go on. Its text follows engine.js and player_pack.js.
/** @type {{module: Promise<WebAssembly.Module>, kernels: string[], families: any[], data: Uint8Array} | undefined} */
let held;
self.onmessage = async ({ data: asked }) => {
  try {
    if (asked.module) {
      held = { ...asked, module: WebAssembly.compile(asked.module) };
      return;
    }
    const { module, kernels, families, data } = held;
    const family = families[asked.family];
    const { bytes, milliseconds } = await play(await module, kernels, packOf(family, data, asked.stop, asked.seed));
    self.postMessage({ key: asked.key, milliseconds, ...resultOf(family, bytes, asked.closely) });
  } catch (error) {
    self.postMessage({ key: asked.key ?? "", failed: String(error) });
  }
};
