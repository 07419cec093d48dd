// Parts of pages without a server: unpacking, controls and charts.
import { add } from "./parts.js";
export const at = (id) => /** @type {HTMLElement} */ (document.getElementById(id));
// The digits in which dprl/player/page.py encodes bytes.
const SIGNS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%/()*+-;,=.?@^_`{|}~";
/** Decodes base85: five digits for four bytes. The first digit is the number of padding bytes at the end. */
function bytesOf(/** @type {string} */ text) {
  const places = new Uint8Array(128), view = new DataView(new ArrayBuffer((text.length - 1) / 5 * 4));
  Array.from(SIGNS, (sign, i) => { places[sign.charCodeAt(0)] = i; });
  for (let i = 1; i < text.length; i += 5) {
    let word = 0;
    for (let j = i; j < i + 5; j++) word = word * 85 + places[text.charCodeAt(j)];
    view.setUint32((i - 1) / 5 * 4, word);
  }
  return view.buffer.slice(0, view.byteLength - Number(text[0]));
}
/** Removes a packed element from the page and returns its content as bytes. */
export async function unpacked(id) {
  const bytes = bytesOf(at(id).textContent ?? "");
  at(id).remove();
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
}
/** Runs a script, and resolves when it has run. @param {ArrayBuffer} text */
export function loaded(text) {
  return new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
    script.onload = resolve;
    script.onerror = () => reject(new Error("the charts cannot be opened"));
    document.head.append(script);
  });
}
/**
 * Adds a slider over `words`, or a menu of them, and returns a function that sets its place and, optionally, its words.
 * It is hidden while there are fewer than two words. `moved` is called with the place that the reader chooses.
 * @param {Element} parent
 * @param {{id: string, label: string, words?: string[], note?: string, menu?: boolean}} options
 * @param {(place: number) => void} moved
 */
export function control(parent, { id, label, words = [], note = "", menu = false }, moved) {
  const box = add(parent, "div", "", { class: "control" });
  add(box, "label", label, { for: id });
  const output = menu ? null : add(box, "output", "", { for: id });
  const input = add(box, menu ? "select" : "input", "", menu ? { id } : { id, type: "range", min: "0", step: "1" });
  if (note) {
    add(box, "p", note, { class: "note", id: `${id}-note` });
    input.setAttribute("aria-describedby", `${id}-note`);
  }
  const say = () => {
    if (!output) return;
    output.textContent = words[Number(input.value)];
    input.setAttribute("aria-valuetext", output.textContent);
  };
  input.addEventListener("input", () => { say(); moved(Number(input.value)); });
  return (place, others = words) => {
    const same = others.join("\n") === words.join("\n");
    words = others;
    if (menu && !(same && input.childElementCount)) {
      input.replaceChildren();
      words.forEach((word, i) => add(input, "option", word, { value: String(i) }));
    } else if (!menu) input.max = String(words.length - 1);
    input.value = String(place);
    box.hidden = words.length < 2;
    say();
  };
}
/** Draws a chart into the first child of a figure. */
export function drawChart(id, data, layout, config) {
  const plot = /** @type {HTMLElement} */ (at(id).firstElementChild);
  plot.style.height = `${layout.height}px`;  // Plotly forgets it when the window changes
  Plotly.react(plot, data, layout, config);
}
