// What pages without a server are made of: packed parts, elements and sliders.
export const at = (id) => /** @type {HTMLElement} */ (document.getElementById(id));
// What dprl/player/page.py writes bytes with.
const SIGNS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%/()*+-;,=.?@^_`{|}~";
/** Bytes that are written with five signs for four, behind how many are not theirs. @param {string} text */
function bytesOf(text) {
  const places = new Uint8Array(128), view = new DataView(new ArrayBuffer((text.length - 1) / 5 * 4));
  Array.from(SIGNS, (sign, i) => { places[sign.charCodeAt(0)] = i; });
  for (let i = 1; i < text.length; i += 5) {
    let word = 0;
    for (let j = i; j < i + 5; j++) word = word * 85 + places[text.charCodeAt(j)];
    view.setUint32((i - 1) / 5 * 4, word);
  }
  return view.buffer.slice(0, view.byteLength - Number(text[0]));
}
/** Packed bytes of the page. @param {string} id */
export async function unpacked(id) {
  const bytes = bytesOf(at(id).textContent ?? "");
  at(id).remove();
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
}
/** A script of its own, which is run. @param {ArrayBuffer} text */
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
 * A new element with a text.
 * @param {Element} parent
 * @param {string} name
 * @param {string} [text]
 * @param {Record<string, string>} [attributes]
 */
export function add(parent, name, text = "", attributes = {}) {
  const made = parent.appendChild(document.createElement(name));
  made.textContent = text;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return /** @type {any} */ (made);
}
/**
 * A slider over words, or a menu of them; returns how to set it.
 * @param {Element} parent
 * @param {{id: string, label: string, words: string[], note?: string, menu?: boolean}} made
 * @param {(place: number) => void} moved
 */
export function control(parent, { id, label, words, note = "", menu = false }, moved) {
  const box = add(parent, "div", "", { class: "control" });
  add(box, "label", label, { for: id });
  const output = menu ? null : add(box, "output", "", { for: id });
  const input = add(box, menu ? "select" : "input", "", menu ? { id } : { id, type: "range", min: "0", step: "1" });
  if (note) {
    add(box, "p", note, { class: "note", id: `${id}-note` });
    input.setAttribute("aria-describedby", `${id}-note`);
  }
  let said = words;
  const say = () => {
    if (!output) return;
    output.textContent = said[Number(input.value)];
    input.setAttribute("aria-valuetext", output.textContent);
  };
  input.addEventListener("input", () => { say(); moved(Number(input.value)); });
  return (place, others = said) => {
    const same = others.join("\n") === said.join("\n");
    said = others;
    if (menu && !(same && input.childElementCount)) {
      input.replaceChildren();
      said.forEach((word, i) => add(input, "option", word, { value: String(i) }));
    } else if (!menu) input.max = String(said.length - 1);
    input.value = String(place);
    box.hidden = said.length < 2;
    say();
  };
}
