// The kernels of dprl in a browser: assets/engine.wasm plays a run that dprl/wasm/pack.py has packed.
/**
 * Play a packed run to its end.
 * @param {WebAssembly.Module} module assets/engine.wasm, compiled
 * @param {string[]} kernels their names, in the order of their numbers: `kernels` of assets/engine.json
 * @param {{kernel: string, words: (string | {buffer: number} | {function: string})[],
 *          buffers: {name: string, bytes: string}[]}} pack the run
 * @returns {Promise<{bytes: string[], milliseconds: number}>} of each buffer its bytes at the end, in base64
 */
export default async function play(module, kernels, pack) {
  const { exports } = await WebAssembly.instantiate(module, {});
  exports._initialize();
  const numbers = new Map([...kernels, "next_uint64", "next_uint32", "next_double"].map((name, i) => [name, i]));
  const place = (bytes) => {
    const at = exports.allocate(Math.max(bytes.length, 8));
    new Uint8Array(exports.memory.buffer, at, bytes.length).set(bytes);  // memory moves when it grows
    return at;
  };
  const contents = pack.buffers.map(({ bytes }) => Uint8Array.from(atob(bytes), (letter) => letter.charCodeAt(0)));
  const places = contents.map(place);
  const word = (value) => {
    if (typeof value === "string") return BigInt.asUintN(64, BigInt(value));
    if ("buffer" in value) return BigInt(places[value.buffer]);
    return BigInt(exports.address(numbers.get(value.function)));
  };
  const words = place(new Uint8Array(BigUint64Array.from(pack.words, word).buffer));
  const begun = performance.now();
  const failed = exports.call(numbers.get(pack.kernel), words);
  const milliseconds = performance.now() - begun;
  if (failed) throw new Error(`${pack.kernel} did not end well.`);
  const bytes = places.map((at, i) => {
    let text = "";
    for (const byte of new Uint8Array(exports.memory.buffer, at, contents[i].length)) text += String.fromCharCode(byte);
    return btoa(text);
  });
  return { bytes, milliseconds };
}
